//! Decides how a test sets the moment and the seed of its request. It exists in the `rehearsal` build alone.

use scrip::Context;
use scrip::time::Instant;

use super::chance;
use crate::http::intake::header;
use crate::http::request::Request;
use crate::store::sql::Fault;

const NOW_HEADER: &str = "scrip-rehearsal-now";

/// The context, with what the headers `scrip-rehearsal-now` (ISO 8601 or milliseconds) and `scrip-rehearsal-seed`
/// (hexadecimal) say in place of clock and chance.
pub(super) fn context_of(request: &Request, mut context: Context) -> Result<Context, Fault> {
    if let Some(text) = header(request, NOW_HEADER) {
        let moment = text.parse().ok().map_or_else(|| Instant::parse(text), Instant::from_millis);
        context.now = moment.ok_or_else(|| Fault::new(format!("`{text}` is no moment")))?;
    }
    if let Some(text) = header(request, "scrip-rehearsal-seed") {
        context.seed = chance::read_seed(text)?;
    }
    Ok(context)
}

/// Whether a request has a clock of its own: then the test runs what is due, and no alarm of the real clock may.
pub(super) fn has_own_clock(request: &Request) -> bool {
    header(request, NOW_HEADER).is_some()
}
