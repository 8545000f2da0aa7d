//! Decides how a trial says what it ran: one JSON line in the file that `SCRIP_TALLY` names.
//! It must not know who adds the lines up.

use std::io::Write;

use serde_json::Value;

/// Appends one line, when anybody asked for it.
pub fn record(line: &Value) {
    let Ok(path) = std::env::var("SCRIP_TALLY") else {
        return;
    };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    let mut file = file.unwrap_or_else(|error| panic!("the tally `{path}` cannot be opened: {error}"));
    writeln!(file, "{line}").unwrap_or_else(|error| panic!("the tally `{path}` cannot be written: {error}"));
}
