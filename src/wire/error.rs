//! Decides the JSON of an error. It must not know why it happened.
//!
//! errors-and-auth.md section 1.

use crate::refusal::Refusal;
use crate::wire::out::Out;
use crate::wire::problem::Problem;

/// Writes a refusal as the next value.
pub(crate) fn put_refusal(out: &mut Out, refusal: &Refusal, request_id: &str) {
    out.object(|out| {
        out.member("code").number(u64::from(refusal.reason.code()));
        out.member("key").word(refusal.reason.key());
        out.member("message").word(refusal.reason.message());
        out.text_if("details", Some(&refusal.details).filter(|details| !details.is_empty()));
        out.member("request_id").text(request_id);
        if let Some((kind, id)) = &refusal.resource {
            out.member("resource_id").text(id);
            out.member("resource_type").word(kind);
        }
        if let Some(message) = &refusal.custom {
            out.member("error").object(|out| out.member("message").text(message));
        }
    });
}

/// The JSON of a refusal of a whole request.
pub fn write(refusal: &Refusal, request_id: &str) -> Vec<u8> {
    let mut out = Out::default();
    put_refusal(&mut out, refusal, request_id);
    out.into_bytes()
}

/// The JSON of a payload's problem.
pub fn write_problem(problem: &Problem, request_id: &str) -> Vec<u8> {
    Out::object_of(|out| {
        out.member("code").number(400);
        out.member("key").word("invalid_payload");
        out.member("message").word("Invalid payload");
        out.member("details").text(&problem.sentence());
        out.member("request_id").text(request_id);
    })
}
