//! Decides how a test sets the moment and the seed of its request. It exists in the `rehearsal` build alone.

use scrip::time::Instant;

use super::chance;
use crate::intake::header;
use crate::service::Request;
use crate::store::sql::Fault;

/// The moment in the header `scrip-rehearsal-now` (ISO 8601 or milliseconds).
pub(super) fn now_of(request: &Request) -> Result<Option<Instant>, Fault> {
    let Some(text) = header(request, "scrip-rehearsal-now") else { return Ok(None) };
    let moment = text.parse().ok().map_or_else(|| Instant::parse(text), Instant::from_millis);
    moment.ok_or_else(|| Fault::new(format!("`{text}` is no moment"))).map(Some)
}

/// The seed in the header `scrip-rehearsal-seed`.
pub(super) fn seed_of(request: &Request) -> Result<Option<[u8; 32]>, Fault> {
    header(request, "scrip-rehearsal-seed").map(chance::read_seed).transpose()
}
