//! Reads randomness and the clock from the runtime, once a request. No other code reads them.
//!
//! The entry draws the seed and sends it to the object. The id of the request is derived from the seed: it is equal in a
//! refusal of the entry, in the object's response and in the log.

use crate::store::sql::Fault;
use crate::timestamp;
use js_sys::Date;
use scrip::Context;
use scrip::text::{decode_hex, hex};
use scrip::time::Instant;

/// Header with the seed that the entry sends to the object.
pub(super) const SEED_HEADER: &str = "scrip-seed";

/// Draws a new seed.
pub(super) fn seed() -> Result<[u8; 32], Fault> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| Fault::new(format!("no randomness: {error}")))?;
    Ok(seed)
}

/// Returns the time of the runtime's clock, which also measures durations.
pub(super) fn clock_ms() -> i64 {
    Date::now() as i64
}

/// Returns the present time by the clock of a request, which a test may have set. `begun_ms` was the runtime's clock at the time of
/// its context.
pub(super) fn present_ms(context: &Context, begun_ms: i64) -> i64 {
    timestamp::later(context.now.millis(), timestamp::elapsed(begun_ms, clock_ms()))
}

/// Returns the context of an event that begins now.
pub(super) fn context(seed: [u8; 32]) -> Result<Context, Fault> {
    let now = Instant::from_millis(clock_ms());
    let now = now.ok_or_else(|| Fault::new("the clock stands outside the years 1970 to 9999"))?;
    Ok(Context { now, seed, first_number: None })
}

/// Writes a seed as 64 hexadecimal digits.
pub(super) fn write_seed(seed: &[u8; 32]) -> String {
    hex(seed)
}

/// Reads a seed from at most 64 hexadecimal digits; the missing ones are zeros on the right.
pub(super) fn read_seed(text: &str) -> Result<[u8; 32], Fault> {
    if let Some(Ok(seed)) = decode_hex(text).map(<[u8; 32]>::try_from) {
        return Ok(seed);
    }
    let wrong = || Fault::new(format!("`{text}` is no seed: at most 64 hexadecimal digits"));
    let digits: Option<Vec<u8>> = text.chars().map(|digit| u8::try_from(digit.to_digit(16)?).ok()).collect();
    let digits = digits.filter(|digits| digits.len() <= 64).ok_or_else(wrong)?;
    let mut seed = [0; 32];
    for (byte, pair) in seed.iter_mut().zip(digits.chunks(2)) {
        let high = pair.first().copied().unwrap_or(0);
        let low = pair.get(1).copied().unwrap_or(0);
        *byte = high << 4 | low;
    }
    Ok(seed)
}
