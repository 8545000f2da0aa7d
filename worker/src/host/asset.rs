//! Answers requests for files. A binding serves the files, on Cloudflare, in `wrangler dev` and in plain
//! workerd.

use crate::http::file::type_of;

/// Returns the headers of the response with a file.
pub(super) fn header_lines(path: &str) -> String {
    let kind = type_of(path);
    format!("content-type\n{kind}\ncache-control\nno-cache\nx-content-type-options\nnosniff\n")
}
