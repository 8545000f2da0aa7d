//! Decides how a test sets the moment and the seed of its request. It exists in the `rehearsal` build alone.

use scrip::Context;
use scrip::time::Instant;

use crate::service::Request;
use crate::store::sql::Fault;

/// The context, with what the headers `scrip-rehearsal-now` (ISO 8601 or milliseconds) and `scrip-rehearsal-seed`
/// (hexadecimal, padded with zeros on the right) say in place of clock and chance.
pub(super) fn context_of(request: &Request, mut context: Context) -> Result<Context, Fault> {
    let header =
        |wanted: &str| request.headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    if let Some(text) = header("scrip-rehearsal-now") {
        let moment = text.parse().ok().map_or_else(|| Instant::parse(text), Instant::from_millis);
        context.now = moment.ok_or_else(|| Fault::new(format!("`{text}` is no moment")))?;
    }
    if let Some(text) = header("scrip-rehearsal-seed") {
        context.seed =
            read_seed(text).ok_or_else(|| Fault::new(format!("`{text}` is no seed of at most 64 digits")))?;
    }
    Ok(context)
}

fn read_seed(text: &str) -> Option<[u8; 32]> {
    let digits: Option<Vec<u8>> = text.chars().map(|digit| u8::try_from(digit.to_digit(16)?).ok()).collect();
    let mut seed = [0; 32];
    let digits = digits?;
    if digits.len() > 64 {
        return None;
    }
    for (byte, pair) in seed.iter_mut().zip(digits.chunks(2)) {
        let high = pair.first().copied().unwrap_or(0);
        let low = pair.get(1).copied().unwrap_or(0);
        *byte = high << 4 | low;
    }
    Some(seed)
}
