//! Recognises requests for a file (the demo, the package, the page of the description) and decides the media type of a file.

use crate::http::query::decode;
use crate::http::request::Request;

/// First segments of paths that belong to the API.
const API: [&str; 8] = ["v1", "v2", "client", "management", "test-hooks", "openapi.json", "health", "metrics"];

/// Page with a path of its own: the description.
const DOCS: (&str, &str) = ("/docs", "/docs/index.html");

/// Maximum length of a file's path, in bytes as sent.
const LONGEST_PATH: usize = 1_024;
/// Maximum length of a file or folder name in bytes: the limit of file systems.
const LONGEST_SEGMENT: usize = 255;
/// The one file name without an extension. Other names without one are folders, and folders are not listed.
const WITHOUT_ENDING: &str = "LICENSE";

/// Types by the end of the name.
const TYPES: [(&str, &str); 12] = [
    (".html", "text/html; charset=utf-8"),
    (".mjs", "text/javascript; charset=utf-8"),
    (".js", "text/javascript; charset=utf-8"),
    (".css", "text/css; charset=utf-8"),
    (".wasm", "application/wasm"),
    (".json", "application/json"),
    (".svg", "image/svg+xml"),
    (".png", "image/png"),
    (".ico", "image/x-icon"),
    (".txt", "text/plain; charset=utf-8"),
    (".md", "text/markdown; charset=utf-8"),
    (".ts", "text/plain; charset=utf-8"),
];

/// Returns the path of the file that a request is for, if it is for one. Impossible file names are not looked up.
pub fn path_of(request: &Request) -> Option<String> {
    if request.method != "GET" && request.method != "HEAD" {
        return None;
    }
    let path = request.path.as_str();
    let first = path.trim_start_matches('/').split('/').next().unwrap_or("");
    if API.contains(&first) {
        return None;
    }
    if path == DOCS.0 {
        return Some(DOCS.1.to_owned());
    }
    let path = if path.ends_with('/') { format!("{path}index.html") } else { path.to_owned() };
    let mut segments = path.strip_prefix('/')?.split('/');
    let fits = path.len() <= LONGEST_PATH && segments.all(is_name);
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_file = name.contains('.') || name == WITHOUT_ENDING;
    (is_file && fits).then_some(path)
}

/// Returns the media type of a file.
pub fn type_of(path: &str) -> &'static str {
    TYPES.iter().find(|(end, _)| path.ends_with(end)).map_or("application/octet-stream", |(_, kind)| kind)
}

/// Returns true if a path segment can name a file or folder: it decodes, is not `..` or hidden, and contains no separator.
fn is_name(segment: &str) -> bool {
    let name = decode(segment);
    // Text that does not decode keeps its `%`, and bytes that are not text become U+FFFD.
    let has_other =
        |character: char| matches!(character, '/' | '\\' | '%' | char::REPLACEMENT_CHARACTER) || character.is_control();
    !name.is_empty() && name.len() <= LONGEST_SEGMENT && !name.starts_with('.') && !name.contains(has_other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(method: &str, path: &str) -> Option<String> {
        path_of(&Request { method: method.into(), path: path.into(), ..Request::default() })
    }

    #[test]
    fn files_are_found_by_their_paths() {
        for (target, file) in [
            ("/", "/index.html"),
            ("/docs", "/docs/index.html"),
            ("/docs/", "/docs/index.html"),
            ("/pkg/scrip.wasm", "/pkg/scrip.wasm"),
            ("/pkg/LICENSE", "/pkg/LICENSE"),
            ("/a%20b.html", "/a%20b.html"),
            ("/%C3%A4.html", "/%C3%A4.html"),
        ] {
            assert_eq!(path("GET", target).as_deref(), Some(file), "{target}");
            assert_eq!(path("POST", target), None, "{target}");
        }
        assert_eq!(path("GET", &format!("/{}.js", "a".repeat(252))).map(|path| path.len()), Some(256));
    }

    #[test]
    fn impossible_paths_are_no_files() {
        for target in [
            "",
            "/%zz.js",
            "/%.js",
            "/a.js%",
            "/%ff.js",
            "/%c0%af.js",
            "/a%00.js",
            "/a%0a.js",
            "/%2e%2e/a.js",
            "/../a.js",
            "/.a.js",
            "/a%2fb.js",
            "/a%5cb.js",
            "/a\\b.js",
            "//a.js",
            "/a//b.js",
            "/pkg",
            "/pkg/LICENSES",
            "/v1/a.js",
            "/health/a.js",
        ] {
            assert_eq!(path("GET", target), None, "{target}");
        }
        assert_eq!(path("GET", &format!("/{}.js", "a".repeat(253))), None);
        assert_eq!(path("GET", &format!("/{}.js", "%C3%A4".repeat(127))), None);
        assert_eq!(path("GET", &format!("/{}a.js", "a/".repeat(600))), None);
    }
}
