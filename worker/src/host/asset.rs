//! Answers requests for files. A binding serves the files, on Cloudflare, in `wrangler dev` and in plain
//! workerd.

use super::bindings::ObjectResponse;
use crate::http::file::type_of;
use crate::http::request::Request;
use js_sys::Uint8Array;

/// Returns the response with a file.
pub(super) fn answer(path: &str, request: &Request, bytes: Uint8Array) -> ObjectResponse {
    let bytes = if request.method == "HEAD" { Uint8Array::new_with_length(0) } else { bytes };
    let kind = type_of(path);
    let lines = format!("content-type\n{kind}\ncache-control\nno-cache\nx-content-type-options\nnosniff\n");
    ObjectResponse { status: 200, lines, bytes }
}
