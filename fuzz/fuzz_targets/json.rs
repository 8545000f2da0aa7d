//! Decides whether any bytes are JSON for the engine exactly when they are for the JSON library, and whether what the
//! engine puts down is read as the same again. It must not know what is read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scrip::json::{Bounds, FaultKind, read};

const BOUNDS: Bounds = Bounds { deepest: 64, longest: usize::MAX, most: usize::MAX };

fuzz_target!(|bytes: &[u8]| {
    let theirs = serde_json::from_slice::<serde_json::Value>(bytes);
    match read(bytes, BOUNDS) {
        Ok(node) => {
            let kept = node.kept();
            let text = serde_json::to_vec(&kept).unwrap();
            assert_eq!(read(&text, BOUNDS).map(|again| again.kept()), Ok(kept));
            assert!(theirs.is_ok());
        }
        Err(fault) if fault.kind == FaultKind::Deep => {}
        // The two may differ on what is the last number that a double can be.
        Err(_) => assert!(theirs.is_err() || bytes.windows(3).any(|three| three == b"308" || three == b"797")),
    }
});
