//! Uploaded files: the body itself, or a part of a form as RFC 7578 defines it.
//!
//! The body is complete here and this code is synchronous. Maintained libraries for such forms read streams, with a runtime and
//! tables of encodings. A complete body only needs a search for its delimiters.

use crate::http::reply::{ErrorBody, invalid_payload};
use crate::http::request::Request;
use crate::http::request_checks::header;
use memchr::memmem;
use scrip::wire::problem::shortened;

/// Maximum number of parts of a form.
const PARTS_MAX: usize = 20;
/// Maximum length of a delimiter in characters (RFC 2046).
const BOUNDARY_MAX: usize = 70;

/// Returns the file of a request.
pub fn file(request: &Request) -> Result<&[u8], ErrorBody> {
    let media = header(request, "content-type").unwrap_or_default();
    if !is_form(media) {
        return Ok(&request.body);
    }
    let parts = form(request, media)?;
    let mut files = parts.iter().filter(|(name, _)| name == "file");
    match (files.next(), files.next()) {
        (Some((_, file)), None) => Ok(file),
        (None, _) => Err(invalid_payload("Payload must have required property 'file'")),
        (Some(_), Some(_)) => Err(invalid_payload("Property .file must NOT be sent more than once")),
    }
}

/// Reads a boolean of a form next to the file. `None` if the form has none, or if the body is the file itself.
pub fn flag(request: &Request, wanted: &str) -> Result<Option<bool>, ErrorBody> {
    let media = header(request, "content-type").unwrap_or_default();
    if !is_form(media) {
        return Ok(None);
    }
    let parts = form(request, media)?;
    let Some((_, value)) = parts.iter().find(|(name, _)| name == wanted) else { return Ok(None) };
    match String::from_utf8_lossy(value).trim() {
        "" => Ok(None),
        "true" => Ok(Some(true)),
        "false" => Ok(Some(false)),
        other => {
            let message = format!("Property .{wanted} must be true or false (actual value is `{}`)", shortened(other));
            Err(invalid_payload(message))
        }
    }
}

fn is_form(media: &str) -> bool {
    media.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("multipart/form-data")
}

/// Returns the parts of a request that is a form.
fn form<'r>(request: &'r Request, media: &str) -> Result<Vec<(String, &'r [u8])>, ErrorBody> {
    let boundary = parameter(media, "boundary").unwrap_or_default();
    if boundary.is_empty() || boundary.len() > BOUNDARY_MAX {
        let message = format!(
            "the header `content-type` must have a `boundary` of 1 to {BOUNDARY_MAX} characters (actual value is `{}`)",
            shortened(media)
        );
        return Err(invalid_payload(message));
    }
    parts(&request.body, &boundary)
}

/// Returns the parts of a form: names and contents.
fn parts<'r>(body: &'r [u8], boundary: &str) -> Result<Vec<(String, &'r [u8])>, ErrorBody> {
    let broken = |problem: &str| {
        invalid_payload(format!("Payload is no multipart/form-data with the boundary `{boundary}`: {problem}"))
    };
    let delimiter = format!("\r\n--{boundary}");
    // The body may start with the first delimiter.
    let opening = delimiter.trim_start_matches("\r\n").as_bytes();
    let mut rest = match body.strip_prefix(opening) {
        Some(rest) => rest,
        None => split(body, delimiter.as_bytes()).ok_or_else(|| broken("it does not occur"))?.1,
    };
    let mut parts = Vec::new();
    while !rest.starts_with(b"--") {
        if parts.len() >= PARTS_MAX {
            return Err(broken(&format!("it has more than {PARTS_MAX} parts")));
        }
        let (padding, behind) = split(rest, b"\r\n").ok_or_else(|| broken("it ends behind a delimiter"))?;
        if !padding.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
            return Err(broken("something stands behind a delimiter"));
        }
        let place = parts.len();
        let (part, behind) =
            split(behind, delimiter.as_bytes()).ok_or_else(|| broken(&format!("part {place} has no end")))?;
        let (head, content) = split(part, b"\r\n\r\n").ok_or_else(|| broken(&format!("part {place} has no head")))?;
        let name = name(head).ok_or_else(|| broken(&format!("part {place} has no name")))?;
        parts.push((name, content));
        rest = behind;
    }
    Ok(parts)
}

/// Returns the bytes before and after a delimiter.
fn split<'r>(bytes: &'r [u8], by: &[u8]) -> Option<(&'r [u8], &'r [u8])> {
    let at = memmem::find(bytes, by)?;
    Some((bytes.get(..at)?, bytes.get(at.checked_add(by.len())?..)?))
}

/// Returns the name of a part from its head.
fn name(head: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(head);
    let lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let mut value = lines.filter(|(name, _)| name.trim().eq_ignore_ascii_case("content-disposition"));
    parameter(value.next()?.1, "name")
}

/// Returns a parameter of a header's value, with or without quotes.
fn parameter(value: &str, wanted: &str) -> Option<String> {
    let mut rest = value.split_once(';')?.1;
    loop {
        let (name, behind) = rest.split_once('=')?;
        let behind = behind.trim_start();
        let (value, next) = match behind.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let (value, next) = behind.split_once(';').unwrap_or((behind, ""));
                (value.trim().to_owned(), next)
            }
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = next.trim_start_matches([';', ' ', '\t']);
    }
}

/// Returns a quoted text without its quotes, and the rest after it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, text.get(at.checked_add(1)?..)?)),
            '\\' => value.push(characters.next()?.1),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;

    fn request(media: &str, body: &str) -> Request {
        let headers = vec![("content-type".into(), media.into())];
        Request { headers, body: body.into(), ..Request::default() }
    }

    fn problem_text(media: &str, body: &str) -> Result<String, String> {
        let request = request(media, body);
        match file(&request) {
            Ok(file) => Ok(String::from_utf8(file.to_vec()).unwrap()),
            Err(error) => Err(error.details.clone().unwrap()),
        }
    }

    #[test]
    fn a_file_is_the_body_or_a_part_of_it() {
        assert_eq!(problem_text("text/csv", "a,b\r\n"), Ok("a,b\r\n".into()));
        let form = "multipart/form-data; boundary=\"x y\"";
        let head = "Content-Disposition: form-data; filename=\"a;b=\\\"c.csv\"; name=\"file\"\r\nContent-Type: text/csv\r\n\r\n";
        let body = format!(
            "before\r\n--x y \r\n{head}code\r\nA--x\r\n\r\n--x y\r\ncontent-disposition: form-data; name=webhooks_enable\r\n\r\n\r\n--x y--\r\nbehind"
        );
        assert_eq!(problem_text(form, &body), Ok("code\r\nA--x\r\n".into()));
        let first = format!("--b\r\n{head}x\r\n--b--");
        assert_eq!(problem_text("Multipart/Form-Data; charset=utf-8; boundary=b", &first), Ok("x".into()));
    }

    #[test]
    fn malformed_forms_are_refused_with_the_position() {
        let form = "multipart/form-data; boundary=b";
        let broken = |problem: &str| Err(format!("Payload is no multipart/form-data with the boundary `b`: {problem}"));
        assert_eq!(problem_text(form, ""), broken("it does not occur"));
        assert_eq!(problem_text(form, "--c\r\n"), broken("it does not occur"));
        assert_eq!(problem_text(form, "--b"), broken("it ends behind a delimiter"));
        assert_eq!(problem_text(form, "--bc\r\n\r\n--b--"), broken("something stands behind a delimiter"));
        assert_eq!(problem_text(form, "--b\r\nx"), broken("part 0 has no end"));
        assert_eq!(problem_text(form, "--b\r\nx\r\n--b--"), broken("part 0 has no head"));
        assert_eq!(problem_text(form, "--b\r\nx: y\r\n\r\nz\r\n--b--"), broken("part 0 has no name"));
        let part = "--b\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nx\r\n";
        assert_eq!(
            problem_text(form, &format!("{part}{part}--b--")),
            Err("Property .file must NOT be sent more than once".into())
        );
        assert_eq!(problem_text(form, &format!("{}--b--", part.repeat(21))), broken("it has more than 20 parts"));
        assert_eq!(problem_text(form, "--b--"), Err("Payload must have required property 'file'".into()));
        assert!(
            problem_text("multipart/form-data", "--b--")
                .is_err_and(|message| message.contains("must have a `boundary`"))
        );
        assert!(problem_text("multipart/form-data; boundary=", "").is_err());
    }
}
