//! Reports what a test program ran: one JSON line in the file that `SCRIP_TEST_REPORT` names.

use std::io::Write;
use std::path::Path;

use serde_json::Value;

/// Appends one line if a report was requested.
pub fn record(line: &Value) {
    if let Some(path) = std::env::var_os("SCRIP_TEST_REPORT") {
        append(Path::new(&path), line);
    }
}

/// Appends one line to a file that other processes append to as well. It is a single write, because partial writes of several processes
/// would mix.
pub fn append(path: &Path, line: &Value) {
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    let mut file =
        file.unwrap_or_else(|error| panic!("the test report `{}` cannot be opened: {error}", path.display()));
    let written = file.write_all(format!("{line}\n").as_bytes());
    written.unwrap_or_else(|error| panic!("the test report `{}` cannot be written: {error}", path.display()));
}
