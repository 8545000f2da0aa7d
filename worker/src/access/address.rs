//! Decides which address a request came from, by the headers that can be trusted.
//!
//! Any client may send any header. Cloudflare's own is trusted if the host runs there; otherwise the one header that the setup
//! names, because the operator's proxy sets it. `X-Forwarded-For` is trusted only if it is that one.

use crate::http::request::Request;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Header in which the host passes an address that it has verified. The host removes a header of this name that a caller sends.
pub const VERIFIED_ADDRESS: &str = "scrip-address";

/// Maximum length of a header's name.
pub const NAME_MAX: usize = 100;

/// Maximum length of a text that is parsed as an address list.
const TEXT_MAX: usize = 1_000;

/// Returns the address of a request, or `None` if no trusted header names it.
pub fn of(request: &Request, named: Option<&str>) -> Option<String> {
    let last = |name: &str| request.headers.iter().rfind(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let text = last(VERIFIED_ADDRESS).or_else(|| last(named?)).filter(|text| text.len() <= TEXT_MAX)?;
    // A proxy appends the address of its caller to the received list.
    read(text.rsplit(',').next()?.trim()).map(to_text)
}

/// Returns true if a setup may use this header name.
pub fn is_header(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !name.is_empty() && name.len() <= NAME_MAX && name.bytes().all(allowed)
}

/// Reads an address with or without its port.
fn read(text: &str) -> Option<IpAddr> {
    let bare = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    text.parse().ok().or_else(|| text.parse().ok().map(|socket: SocketAddr| socket.ip())).or_else(bare)
}

/// Formats an address. An IPv6 subscriber has a whole network of the last 64 bits, which counts as one address.
fn to_text(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [first, second, third, fourth, ..] = address.segments();
            format!("{}/64", Ipv6Addr::new(first, second, third, fourth, 0, 0, 0, 0))
        }
    }
}
