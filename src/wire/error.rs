//! Writes errors as JSON.
//!
//! docs/spec/errors-and-auth.md#1.

use crate::refusal::Refusal;
use crate::shape::fields_of;
use crate::shape::shape;
use crate::shape::{Field, FieldType, KEY, may, must};
use crate::wire::problem::Problem;
use crate::wire::writer::Writer;

/// The members of every refusal.
const MEMBERS: &[Field] = &[
    must("key", FieldType::Text).description("Machine-readable error key. See the list of error keys."),
    must("message", FieldType::Text).description("Short text of the error, for people. Programs decide by `key`."),
    may("details", FieldType::Text)
        .description("Longer text for people, usually with the code, the rule or the field. Absent when the error key is sufficient."),
    may("request_id", FieldType::Text).description("ID of the request, as in the log of the service."),
    may("resource_id", KEY)
        .description("ID or code of the object that the refusal is about. Absent when the refusal is about no object."),
    may("resource_type", FieldType::Text).description("Type of the object in `resource_id`."),
    may(
        "error",
        FieldType::Object(&[must("message", FieldType::Text)
            .description("Text that the author of the validation rule wrote for customers.")]),
    )
    .description("Custom error of the violated validation rule. Absent when the rule declares none."),
];

/// A refusal of a redeemable.
pub const REFUSAL: FieldType = shape!(
    "Refusal",
    "Reason for which a redeemable is not applied.",
    fields_of!(
        &[may("code", FieldType::Int(400, 599)).description("HTTP status that a redemption would be answered with.")],
        MEMBERS
    )
);

/// The answer to a request that cannot be read.
pub const INVALID: FieldType = shape!(
    "Invalid",
    "Error that is returned if a request cannot be read.",
    fields_of!(
        &[must("code", FieldType::Int(400, 599)).description("HTTP status that the service would answer with.")],
        MEMBERS
    )
);

/// Writes a refusal as the next value.
pub(crate) fn write_refusal(out: &mut Writer, refusal: &Refusal, request_id: &str) {
    out.object(|out| {
        out.write_number("code", u64::from(refusal.reason.code()));
        out.write_constant("key", refusal.reason.key());
        out.write_constant("message", refusal.reason.message());
        let details = refusal.details();
        out.text_if("details", Some(&*details).filter(|details| !details.is_empty()));
        out.write_text("request_id", request_id);
        if let Some((kind, id)) = refusal.resource() {
            out.write_text("resource_id", id);
            out.write_constant("resource_type", kind);
        }
        if let Some(message) = refusal.custom_message() {
            out.member("error").object(|out| out.write_text("message", message));
        }
    });
}

/// Returns the JSON of a refusal of a whole request.
pub fn write(refusal: &Refusal, request_id: &str) -> Vec<u8> {
    let mut out = Writer::default();
    write_refusal(&mut out, refusal, request_id);
    out.into_bytes()
}

/// Returns the JSON of a problem of the payload.
pub fn write_problem(problem: &Problem, request_id: &str) -> Vec<u8> {
    Writer::object_of(|out| {
        out.write_number("code", 400);
        out.write_constant("key", "invalid_payload");
        out.write_constant("message", "Invalid payload");
        out.write_text("details", &problem.sentence());
        out.write_text("request_id", request_id);
    })
}
