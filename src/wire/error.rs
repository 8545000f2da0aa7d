//! Decides the JSON of an error. It must not know why it happened.
//!
//! errors-and-auth.md section 1.

use crate::refusal::Refusal;
use crate::wire::out::{Out, Pieces};
use crate::wire::problem::Problem;

/// Writes a refusal as the next value.
pub(crate) fn put_refusal(out: &mut Out, refusal: &Refusal, request_id: &str) {
    out.object(|out| {
        out.put_number("code", u64::from(refusal.reason.code()));
        out.put_word("key", refusal.reason.key());
        out.put_word("message", refusal.reason.message());
        let details = refusal.details();
        out.text_if("details", Some(&*details).filter(|details| !details.is_empty()));
        out.put_text("request_id", request_id);
        if let Some((kind, id)) = refusal.resource() {
            out.put_text("resource_id", id);
            out.put_word("resource_type", kind);
        }
        if let Some(message) = refusal.custom() {
            out.member("error").object(|out| out.put_text("message", message));
        }
    });
}

/// The JSON of a refusal of a whole request.
pub fn write(refusal: &Refusal, request_id: &str) -> Pieces {
    let mut out = Out::default();
    put_refusal(&mut out, refusal, request_id);
    out.into_pieces()
}

/// The JSON of a payload's problem.
pub fn write_problem(problem: &Problem, request_id: &str) -> Pieces {
    Out::object_of(|out| {
        out.put_number("code", 400);
        out.put_word("key", "invalid_payload");
        out.put_word("message", "Invalid payload");
        out.put_text("details", &problem.sentence());
        out.put_text("request_id", request_id);
    })
}
