//! Allowed origins of a project: parsing of the setting, and matching of a client's origin against it.

use scrip::wire::Problem;
use scrip::wire::problem::shortened;

/// Returns true if an origin is allowed: an exact match, any with `*`, or any port with `:*` at the end.
pub fn fits(allowed: &str, origin: &str) -> bool {
    let allowed = as_sent(allowed);
    if allowed == "*" || allowed == origin {
        return true;
    }
    let Some(host) = allowed.strip_suffix(":*") else { return false };
    match origin.strip_prefix(host) {
        Some("") => true,
        Some(rest) => rest.strip_prefix(':').is_some_and(is_port),
        None => false,
    }
}

/// Returns the origin as browsers send it, for a site's address as typed: with capitals, a final slash, or the default port.
fn as_sent(allowed: &str) -> String {
    let mut sent = allowed.strip_suffix('/').unwrap_or(allowed).to_ascii_lowercase();
    for (scheme, usual) in [("https://", ":443"), ("http://", ":80")] {
        if sent.starts_with(scheme) && sent.ends_with(usual) {
            // The usual port is the end of the text.
            sent.truncate(sent.len().saturating_sub(usual.len()));
        }
    }
    sent
}

/// Refuses a value that no origin of a browser can match.
pub fn check(allowed: &str, path: String) -> Result<(), Problem> {
    if allowed == "*" || names_any(&as_sent(allowed)) {
        return Ok(());
    }
    let message = format!(
        "must be `*` or the address of a site, such as `https://shop.example` or `http://localhost:*`, without a path (actual value is \
         `{}`)",
        shortened(allowed)
    );
    Err(Problem::at(path, message))
}

/// Tests if a value is a scheme, a host and, if it is not the default, a port: the form in which browsers send origins.
fn names_any(allowed: &str) -> bool {
    let Some((scheme, place)) = allowed.split_once("://") else { return false };
    let is_small = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_lowercase())
        && scheme.bytes().all(|byte| is_small(byte) || b"+-.".contains(&byte));
    // The colons of an IPv6 address are in brackets.
    let after = place.find(']').unwrap_or(0);
    let colon = place.get(after..).and_then(|rest| rest.find(':')).and_then(|at| after.checked_add(at));
    let (host, port) = colon.and_then(|at| place.split_at_checked(at)).unwrap_or((place, ""));
    let is_host = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(|byte| is_small(byte) || b"-._".contains(&byte)),
    };
    let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(|port| port == "*" || is_port(port));
    is_scheme && is_host && is_port
}

fn is_port(text: &str) -> bool {
    (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_and_invalid_origins() {
        let is_taken = |allowed: &str| check(allowed, "o".into()).is_ok();
        for allowed in [
            "*",
            "https://shop.example",
            "https://shop.example/",
            "HTTPS://Shop.example",
            "http://localhost:*",
            "http://127.0.0.1:8787",
            "http://[::1]:3000",
            "https://xn--caf-dma.example",
            "capacitor://localhost",
            "chrome-extension://abcdefgh",
        ] {
            assert!(is_taken(allowed), "{allowed}");
        }
        for refused in [
            "",
            "not a url",
            "shop.example",
            "https://",
            "https://shop.example/a",
            "https://*.shop.example",
            "https://shop.example:",
            "https://shop.example:port",
            "https://shop.example:123456",
            "https://me@shop.example",
            "https://caf\u{e9}.example",
            "http://[::1",
            "http://[shop]",
            "null",
        ] {
            assert!(!is_taken(refused), "{refused}");
        }
        assert!(
            fits("HTTPS://Shop.example:443/", "https://shop.example")
                && !fits("https://shop.example:443", "https://shop.example:444")
        );
    }
}
