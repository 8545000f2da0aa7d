//! Tests that any bytes are JSON for the engine exactly when they are JSON for the library, and that the text which the engine writes is
//! read as the same value again.

use scrip::json::{Bounds, SyntaxErrorKind, read};

const BOUNDS: Bounds = Bounds { deepest: 64, longest: usize::MAX, most: usize::MAX };

/// Checks the properties of some bytes.
pub fn run(bytes: &[u8]) {
    let of_library = serde_json::from_slice::<serde_json::Value>(bytes);
    match read(bytes, BOUNDS) {
        Ok(node) => {
            let kept = node.owned();
            let text = serde_json::to_vec(&kept).unwrap();
            assert_eq!(read(&text, BOUNDS).map(|again| again.owned()), Ok(kept));
            assert!(of_library.is_ok());
        }
        Err(fault) if fault.kind == SyntaxErrorKind::Deep => {}
        // The library keeps the digits of any number; the engine accepts only numbers that a double can represent.
        Err(_) => assert!(of_library.is_err() || has_infinite(bytes)),
    }
}

/// Returns true if a text contains a number that seems larger than any double.
fn has_infinite(bytes: &[u8]) -> bool {
    let mut parts = bytes.split(|byte| !matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    parts.any(|part| std::str::from_utf8(part).is_ok_and(|part| part.parse::<f64>().is_ok_and(f64::is_infinite)))
}
