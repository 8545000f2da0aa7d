//! Decides the JSON of an error. It must not know why it happened.
//!
//! errors-and-auth.md section 1.

use crate::refusal::Refusal;
use crate::shape::fields_of;
use crate::shape::shape;
use crate::shape::{Field, KEY, Kind, may, must};
use crate::wire::problem::Problem;
use crate::wire::writer::Writer;

/// The members of every refusal.
const MEMBERS: &[Field] = &[
    must("key", Kind::Text).says("For programs: `voucher_expired`, `not_found`, …"),
    must("message", Kind::Text),
    may("details", Kind::Text).says("Which rule, which code"),
    may("request_id", Kind::Text),
    may("resource_id", KEY),
    may("resource_type", Kind::Text),
    may("error", Kind::Object(&[must("message", Kind::Text)])),
];

/// Why something is not applied.
pub const REFUSAL: Kind = shape!(
    "Refusal",
    "Why something is not applied",
    fields_of!(&[may("code", Kind::Int(400, 599)).says("The HTTP status that redeeming would answer")], MEMBERS)
);

/// What is answered where a request cannot be read.
pub const INVALID: Kind = shape!(
    "Invalid",
    "What is answered instead when the request cannot be read: the error body of the service",
    fields_of!(&[must("code", Kind::Int(400, 599)).says("The HTTP status that the service would send")], MEMBERS)
);

/// Writes a refusal as the next value.
pub(crate) fn put_refusal(out: &mut Writer, refusal: &Refusal, request_id: &str) {
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
pub fn write(refusal: &Refusal, request_id: &str) -> Vec<u8> {
    let mut out = Writer::default();
    put_refusal(&mut out, refusal, request_id);
    out.into_bytes()
}

/// The JSON of a payload's problem.
pub fn write_problem(problem: &Problem, request_id: &str) -> Vec<u8> {
    Writer::object_of(|out| {
        out.put_number("code", 400);
        out.put_word("key", "invalid_payload");
        out.put_word("message", "Invalid payload");
        out.put_text("details", &problem.sentence());
        out.put_text("request_id", request_id);
    })
}
