//! Decides where chance and the clock come from: the runtime, once a request. Nothing else draws them.

use js_sys::Date;
use scrip::Context;
use scrip::time::Instant;

use crate::store::sql::Fault;

/// The moment and the seed of one event.
pub(super) fn context() -> Result<Context, Fault> {
    let mut seed = [0; 32];
    fill(&mut seed)?;
    Ok(Context { now: now()?, seed })
}

/// The moment, by the runtime's clock.
pub(super) fn now() -> Result<Instant, Fault> {
    Instant::from_millis(Date::now() as i64)
        .ok_or_else(|| Fault::new("the clock stands outside the years 1970 to 9999"))
}

/// `v-` and 18 hexadecimal digits.
pub(super) fn request_id() -> Result<String, Fault> {
    let mut random = [0; 9];
    fill(&mut random)?;
    let mut id = String::from("v-");
    for byte in random {
        id.extend([byte >> 4, byte & 15].into_iter().filter_map(|digit| char::from_digit(digit.into(), 16)));
    }
    Ok(id)
}

fn fill(bytes: &mut [u8]) -> Result<(), Fault> {
    getrandom::fill(bytes).map_err(|error| Fault::new(format!("no randomness: {error}")))
}
