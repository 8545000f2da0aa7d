//! Results of the entry for a caller.

use super::bindings::{ObjectResponse, ResponseParts};
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

impl From<BundleAnswer> for EntryOutcome {
    fn from(answer: BundleAnswer) -> EntryOutcome {
        match answer {
            BundleAnswer::Part(part) => EntryOutcome::Answer(part),
            BundleAnswer::Feed(connection) => EntryOutcome::Response(connection),
            BundleAnswer::Reply(reply) => EntryOutcome::Reply(reply),
        }
    }
}
