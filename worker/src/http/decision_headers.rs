//! Headers of the answers to validations and qualifications: who decided, by which rules, and with which instant and seed.

use scrip::Context;
use scrip::text::hex;

/// Header with the instant and the seed of a decision, with which a client makes equal bytes. They reveal no secret: no redemption and no
/// code comes from this seed.
pub const CONTEXT: &str = "scrip-context";
/// Header with the one that decided.
pub const ANSWERED: &str = "scrip-answered";
/// Header with the revision of the rules.
pub const REVISION: &str = "scrip-revision";

/// The one that decides about a request of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnsweredBy {
    /// The entry, by copies of the rules.
    Edge,
    /// The object of the project.
    Object,
}

impl AnsweredBy {
    /// Returns the value of the header.
    fn name(self) -> &'static str {
        match self {
            AnsweredBy::Edge => "edge",
            AnsweredBy::Object => "object",
        }
    }
}

/// Returns the header with the context of a decision.
pub fn context_header(context: &Context) -> (&'static str, String) {
    // Neither an instant nor hexadecimal digits need escapes.
    (CONTEXT, format!(r#"{{"now":"{}","seed":"{}"}}"#, context.now, hex(&context.seed)))
}

/// Returns the further headers of the answer to a client.
pub fn client_headers(answered: AnsweredBy, revision: &str) -> [(&'static str, String); 2] {
    [(ANSWERED, answered.name().to_owned()), (REVISION, revision.to_owned())]
}
