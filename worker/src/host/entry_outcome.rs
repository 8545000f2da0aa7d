//! Results of the entry for a caller.

use super::bindings::{ObjectCallFailure, ObjectResponse, ResponseParts};
use super::bundle_calls::BundleAnswer;
use crate::http::request::Reply;
use worker::worker_sys::web_sys;

/// Result for the caller.
pub(super) enum EntryOutcome {
    /// The answer of an object, passed on untouched.
    Answer(ObjectResponse),
    /// First part of a response; its object sends the next ones as the caller reads.
    Parts(ResponseParts),
    /// Open connection to the feed, or a file.
    Response(web_sys::Response),
    /// Reply of the entry itself.
    Reply(Reply),
}

impl EntryOutcome {
    /// Returns the answer of an object, if it is one.
    pub(super) fn answer_mut(&mut self) -> Option<&mut ObjectResponse> {
        match self {
            EntryOutcome::Answer(answer) => Some(answer),
            EntryOutcome::Parts(_) | EntryOutcome::Response(_) | EntryOutcome::Reply(_) => None,
        }
    }
}

impl From<BundleAnswer> for EntryOutcome {
    fn from(answer: BundleAnswer) -> EntryOutcome {
        match answer {
            BundleAnswer::Part(part) => EntryOutcome::Answer(part),
            BundleAnswer::Feed(connection) => EntryOutcome::Response(connection),
            BundleAnswer::Reply(reply) => EntryOutcome::Reply(reply),
        }
    }
}

/// Returns true if neither the object nor the rules have decided: it failed, or was too busy.
pub(super) fn is_unanswered(outcome: &Result<EntryOutcome, ObjectCallFailure>) -> bool {
    const TOO_MANY: u16 = 429;
    match outcome {
        Ok(EntryOutcome::Answer(answer)) => answer.status >= TOO_MANY,
        Ok(EntryOutcome::Reply(reply)) => reply.status >= TOO_MANY,
        Ok(EntryOutcome::Parts(_) | EntryOutcome::Response(_)) => false,
        Err(_) => true,
    }
}
