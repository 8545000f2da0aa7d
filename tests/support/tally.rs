//! Decides how a trial says what it ran: one JSON line in the file that `SCRIP_TALLY` names.
//! It must not know who adds the lines up.

use std::io::Write;
use std::path::Path;

use serde_json::Value;

/// Appends one line, when anybody asked for it.
pub fn record(line: &Value) {
    if let Some(path) = std::env::var_os("SCRIP_TALLY") {
        append(Path::new(&path), line);
    }
}

/// Appends one line to a file that other processes append to as well: in a single write, because a line that is
/// written piece by piece is torn apart by theirs.
pub fn append(path: &Path, line: &Value) {
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    let mut file = file.unwrap_or_else(|error| panic!("the tally `{}` cannot be opened: {error}", path.display()));
    let written = file.write_all(format!("{line}\n").as_bytes());
    written.unwrap_or_else(|error| panic!("the tally `{}` cannot be written: {error}", path.display()));
}
