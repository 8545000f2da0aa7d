//! Checks of request bodies: size, depth, width, media type, and the JSON object in them. Sizes saturate only in form: the size of a body
//! bounds them.

use crate::http::reply::{self, ErrorBody, error, invalid_payload, transport_error};
use crate::http::request::Request;
use scrip::count::Countable;
use scrip::json::service::settle;
use scrip::text::LONGEST_TEXT;
use scrip::wire::Node;
use scrip::wire::problem::{VALUES_MAX, shortened};
use serde_json::{Map, Value as Json};

/// Name under which the JSON library keeps a number as its digits.
const LIBRARY_NAME: &str = "\"$serde_json::private::Number\"";
/// Maximum nesting depth of arrays and objects.
pub const DEPTH_MAX: usize = 64;
/// Maximum number of elements of one array or object: a static segment may list this number of customers.
pub const ELEMENTS_MAX: usize = 20_000;
/// Maximum number of values, including nested ones, in a list of objects that a job writes.
pub const LISTED_VALUES_MAX: usize = 70_000;
/// Maximum size in bytes of a query string, and of a header.
pub const QUERY_BYTES_MAX: usize = 16_384;

/// Returns the value of a header.
pub fn header<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    request.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// Media kind that the body of a request is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaKind {
    /// JSON.
    Json,
    /// A form.
    Form,
    /// A CSV file, bare or in a form.
    File,
}

/// Refuses requests that the transport cannot serve. They accept neither JSON nor, at the address of a file, its media
/// type, or their body is not of the kind `sent`.
pub fn check_media(request: &Request, sent: MediaKind, file: Option<&str>) -> Result<(), ErrorBody> {
    check_head_media(request, !request.body.is_empty(), sent, file)
}

/// Refuses the same requests by their headers, where the body is elsewhere.
pub fn check_head_media(
    request: &Request,
    has_body: bool,
    sent: MediaKind,
    file: Option<&str>,
) -> Result<(), ErrorBody> {
    let accepts = |range: &str| accepts_json(range) || file.is_some_and(|media| accepts_file(range, media));
    if let Some(accept) = header(request, "accept")
        && !accept.trim().is_empty()
        && !accept.split(',').any(accepts)
    {
        return Err(transport_error(
            406,
            "Not Acceptable",
            format!("the answer is application/json, which `{}` does not accept", shortened(accept)),
        ));
    }
    if let Some(media) = header(request, "content-type").filter(|_| has_body) {
        let bare = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_json = bare == "application/json" || (bare.starts_with("application/") && bare.ends_with("+json"));
        let (expected, fits) = match sent {
            MediaKind::Json => ("application/json", bare.is_empty() || is_json),
            MediaKind::Form => {
                let form = "application/x-www-form-urlencoded";
                (form, bare.is_empty() || is_json || bare == form)
            }
            MediaKind::File => {
                ("multipart/form-data or text/csv", matches!(bare.as_str(), "multipart/form-data" | "text/csv"))
            }
        };
        if !fits {
            return Err(transport_error(
                415,
                "Unsupported Media Type",
                format!("the body must be {expected} and is `{}`", shortened(&bare)),
            ));
        }
    }
    Ok(())
}

/// Header in which the entry passes the address that the request came to.
pub const ORIGIN: &str = "scrip-origin";

/// Returns the address of the service as the caller reached it; empty without a caller.
pub fn origin(request: &Request) -> &str {
    header(request, ORIGIN).unwrap_or_default()
}

/// Returns true if a range accepts a file: by its media type, by a wildcard of its kind, or as a page that a browser opens.
fn accepts_file(range: &str, media: &str) -> bool {
    let bare = range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_of_kind = bare.strip_suffix("/*").is_some_and(|kind| media.split('/').next() == Some(kind));
    bare == media || is_of_kind || matches!(bare.as_str(), "text/plain" | "text/html")
}

fn accepts_json(range: &str) -> bool {
    let bare = range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    matches!(bare.as_str(), "*/*" | "application/*" | "application/json" | "*")
        || (bare.starts_with("application/") && bare.ends_with("+json"))
}

/// Refuses headers that are too long or that leave open where the body ends, before anything is looked up for them.
pub fn check_head(request: &Request) -> Result<(), ErrorBody> {
    check_length(request)?;
    // The host's own headers contain values of the setup.
    let sent = request.headers.iter().filter(|(name, _)| !name.starts_with("scrip-"));
    match sent.into_iter().find(|(_, value)| value.len() > QUERY_BYTES_MAX) {
        None => Ok(()),
        Some((name, value)) => {
            let (name, length) = (shortened(name), value.len());
            let message = format!(
                "the header `{name}` must NOT have more than {QUERY_BYTES_MAX} bytes (actual length is `{length}`)"
            );
            Err(error(400, "header_too_large", "Header too large", message))
        }
    }
}

/// Refuses an invalid length, and one in addition to chunks: a proxy before the service may have used the other one.
fn check_length(request: &Request) -> Result<(), ErrorBody> {
    let Some(length) = header(request, "content-length") else { return Ok(()) };
    let message = if length.is_empty() || !length.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("the header `content-length` must be a whole number (actual value is `{}`)", shortened(length))
    } else if header(request, "transfer-encoding").is_some() {
        "the headers `content-length` and `transfer-encoding` must NOT be sent together".to_owned()
    } else {
        return Ok(());
    };
    Err(error(400, "invalid_headers", "Invalid headers", message))
}

/// Refuses a query that is too long, before it is parsed. Also refuses a body that is nested too deep, or that contains too many
/// elements or a text that is too long.
pub fn check_size(request: &Request, many: bool) -> Result<(), ErrorBody> {
    if request.query.len() > QUERY_BYTES_MAX {
        let details =
            format!("the query is `{}` bytes long, at most {QUERY_BYTES_MAX} bytes are read", request.query.len());
        return Err(reply::error(400, "query_too_large", "Query too large", details));
    }
    check_body_size(&request.body, many)
}

/// Refuses a body that is nested too deep, or that contains too many elements or a text that is too long.
pub fn check_body_size(body: &[u8], many: bool) -> Result<(), ErrorBody> {
    let (longest, values) = scan(body)?;
    let most = if many { LISTED_VALUES_MAX } else { VALUES_MAX };
    if longest > LONGEST_TEXT || values > most {
        // The engine in a client reports the same error, from the same reader.
        Node::read_within(body, most)?;
    }
    Ok(())
}

/// Walks the bytes once, counting depth and elements, with no memory beyond the depth. Returns the length of the longest text in bytes,
/// and the largest possible number of values.
fn scan(body: &[u8]) -> Result<(usize, usize), ErrorBody> {
    let mut counts: Vec<usize> = Vec::new();
    let (mut longest, mut values) = (0, 1_usize);
    let mut text: Option<usize> = None;
    let (mut escaped, mut has_escapes) = (false, false);
    for (place, byte) in body.iter().enumerate() {
        if let Some(start) = text {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => (escaped, has_escapes) = (true, true),
                b'"' => {
                    longest = longest.max(place.remaining_after(start));
                    check_name(body.get(start..=place).unwrap_or_default(), has_escapes)?;
                    (text, has_escapes) = (None, false);
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => text = Some(place),
            b'[' | b'{' => {
                if counts.len() >= DEPTH_MAX {
                    return Err(invalid_payload(format!("Payload must NOT be nested deeper than {DEPTH_MAX} levels")));
                }
                counts.push(1);
                values = values.plus_one();
            }
            b']' | b'}' => {
                counts.pop();
            }
            b',' => {
                values = values.plus_one();
                if let Some(count) = counts.last_mut() {
                    *count = count.plus_one();
                    if *count > ELEMENTS_MAX {
                        return Err(invalid_payload(format!(
                            "Payload must NOT have more than {ELEMENTS_MAX} elements in one array or object"
                        )));
                    }
                }
            }
            _ => {}
        }
    }
    Ok((longest, values))
}

/// Refuses the one text with a special meaning for the JSON library: an object with this member would be parsed as a number.
fn check_name(quoted: &[u8], has_escapes: bool) -> Result<(), ErrorBody> {
    let is_it = match has_escapes {
        false => quoted == LIBRARY_NAME.as_bytes(),
        true => serde_json::from_slice::<String>(quoted).is_ok_and(|text| text == LIBRARY_NAME.trim_matches('"')),
    };
    if is_it { Err(invalid_payload(format!("Payload must NOT hold the text {LIBRARY_NAME}"))) } else { Ok(()) }
}

/// Reads the body's JSON object. No body, or one of white space, is an empty object. If existing clients call without a body
/// (`bodiless`), so is other JSON, as some of them send it.
pub fn object(body: &[u8], bodiless: bool) -> Result<Map<String, Json>, ErrorBody> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    match parse(body)? {
        Json::Object(object) => Ok(object),
        _ if bodiless => Ok(Map::new()),
        other => Err(invalid_payload(format!(
            "Payload must be an object (actual value is `{}`)",
            crate::http::shape::value_text(&other)
        ))),
    }
}

/// Parses the JSON of a body, with its numbers in their stored form.
fn parse(body: &[u8]) -> Result<Json, ErrorBody> {
    let wrong = |message: String| invalid_payload(format!("Payload is not valid JSON: {message}"));
    let mut value = serde_json::from_slice::<Json>(body).map_err(|error| wrong(error.to_string()))?;
    settle(&mut value).ok_or_else(|| wrong("number out of range".to_owned()))?;
    Ok(value)
}

/// Reads the objects of a list body. An absent body has none. If existing clients call without a body (`bodiless`), JSON of
/// another type has none either; an object is taken for an item, and is refused.
pub fn list(body: &[u8], bodiless: bool) -> Result<Vec<Map<String, Json>>, ErrorBody> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Vec::new());
    }
    let wrong = |path: &str, expected: &str, value: &Json| {
        let at = if path.is_empty() { "Payload".to_owned() } else { format!("Property .{path}") };
        invalid_payload(format!(
            "{at} must be {expected} (actual value is `{}`)",
            crate::http::shape::value_text(value)
        ))
    };
    let items = match parse(body)? {
        Json::Array(items) => items,
        value if value.is_object() || !bodiless => return Err(wrong("", "an array", &value)),
        _ => Vec::new(),
    };
    let objects = items.into_iter().enumerate().map(|(place, item)| match item {
        Json::Object(object) => Ok(object),
        other => Err(wrong(&format!("[{place}]"), "an object", &other)),
    });
    objects.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_and_width_are_bounded_before_parsing() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(scan(nested(DEPTH_MAX).as_bytes()).is_ok());
        assert!(scan(nested(DEPTH_MAX + 1).as_bytes()).is_err());
        assert!(scan(format!("\"{}\"", nested(100)).as_bytes()).is_ok(), "brackets in text do not count");
        let wide = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
        assert!(scan(wide(ELEMENTS_MAX).as_bytes()).is_ok());
        assert!(scan(wide(ELEMENTS_MAX + 1).as_bytes()).is_err());
    }

    #[test]
    fn numbers_keep_their_digits_and_have_one_form() {
        let read = |body: &str| object(body.as_bytes(), false).map(|read| Json::Object(read).to_string());
        for (sent, held) in [
            ("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"),
            ("9223372036854775809", "9223372036854775809"),
            ("1.10", "1.1"),
            ("1e2", "100.0"),
            ("-0", "-0.0"),
        ] {
            let kept = read(&format!("{{\"a\":{sent}}}"));
            assert!(kept.as_ref().is_ok_and(|kept| *kept == format!("{{\"a\":{held}}}")), "{sent}: {kept:?}");
        }
        assert!(read("{\"a\":1e309}").is_err());
    }

    #[test]
    fn the_librarys_own_name_for_a_number_is_refused_however_it_is_written() {
        assert!(scan(br#"{"$serde_json::private::Number":"1"}"#).is_err());
        assert!(scan(br#"{"\u0024serde_json::private::Number":"1"}"#).is_err());
        assert!(scan(br#"{"serde_json::private::Number":"$"}"#).is_ok());
    }

    #[test]
    fn a_length_is_one_number_and_alone() {
        let check = |headers: &[(&str, &str)]| {
            let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
            check_head(&Request { headers, ..Request::default() }).map_err(|error| error.code)
        };
        assert_eq!(check(&[("content-length", "18")]), Ok(()));
        assert_eq!(check(&[("transfer-encoding", "chunked")]), Ok(()));
        for length in ["", " ", "-5", "+5", "0x12", "18abc", "18, 18", "1e3"] {
            assert_eq!(check(&[("content-length", length)]), Err(400), "`{length}`");
        }
        assert_eq!(check(&[("content-length", "18"), ("transfer-encoding", "chunked")]), Err(400));
    }

    #[test]
    fn an_empty_body_is_an_empty_object() {
        assert!(object(b"", false).is_ok_and(|read| read.is_empty()));
        assert!(object(b" \n", false).is_ok_and(|read| read.is_empty()));
        assert!(object(b"5", true).is_ok_and(|read| read.is_empty()));
        assert!(object(b"5", false).is_err_and(|error| error.details.as_deref() == Some("Payload must be an object (actual value is `5`)")));
        assert!(object(b"{\"a\":", true).is_err());
    }

    #[test]
    fn files_have_media_types_of_their_own() {
        let request = |accept: &str, media: &str| Request {
            headers: vec![("accept".into(), accept.into()), ("content-type".into(), media.into())],
            body: b"code\n".to_vec(),
            ..Request::default()
        };
        for media in ["text/csv", "text/csv; charset=utf-8", "multipart/form-data; boundary=x"] {
            assert_eq!(check_media(&request("*/*", media), MediaKind::File, None), Ok(()), "{media}");
        }
        for media in ["application/json", "text/plain", "application/octet-stream"] {
            assert!(check_media(&request("*/*", media), MediaKind::File, None).is_err_and(|error| error.code == 415));
        }
        assert_eq!(check_media(&request("text/csv", "application/json"), MediaKind::Json, Some("text/csv")), Ok(()));
        assert!(
            check_media(&request("text/csv", "application/json"), MediaKind::Json, None)
                .is_err_and(|error| error.code == 406)
        );
    }

    #[test]
    fn media_types() {
        let request = |accept: &str, media: &str| Request {
            headers: vec![("accept".into(), accept.into()), ("content-type".into(), media.into())],
            body: b"{}".to_vec(),
            ..Request::default()
        };
        assert!(
            check_media(
                &request("application/json, text/plain, */*", "application/json; charset=utf-8"),
                MediaKind::Json,
                None
            )
            .is_ok()
        );
        assert!(
            check_media(&request("text/html", "application/json"), MediaKind::Json, None)
                .is_err_and(|error| error.code == 406)
        );
        assert!(
            check_media(&request("*/*", "text/plain"), MediaKind::Json, None).is_err_and(|error| error.code == 415)
        );
        assert!(check_media(&request("*/*", "application/x-www-form-urlencoded"), MediaKind::Form, None).is_ok());
        assert!(
            check_media(&request("*/*", "application/x-www-form-urlencoded"), MediaKind::Json, None)
                .is_err_and(|error| error.code == 415)
        );
    }
}
