//! Decides where a request came from, as far as anybody can be believed who says so. It must not know what is counted by it.
//!
//! Any client may send any header. Cloudflare's own is believed where the host says that it runs there, and otherwise the one
//! header that the setup names, because a proxy of one's own sets it. `X-Forwarded-For` is believed only if it is that one.

use crate::http::request::Request;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The header in which the host hands over an address that it vouches for. It takes away what a caller sends under that name.
pub const VOUCHED: &str = "scrip-address";

/// How long the name of a header may be.
pub const NAME_MAX: usize = 100;

/// The longest text that is looked at as an address: a list of a few.
const TEXT_MAX: usize = 1_000;

/// The address of a request; none where nobody says so whom the setup believes.
pub fn of(request: &Request, named: Option<&str>) -> Option<String> {
    let last = |name: &str| request.headers.iter().rfind(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let text = last(VOUCHED).or_else(|| last(named?)).filter(|text| text.len() <= TEXT_MAX)?;
    // A proxy adds what it saw itself at the end of what was sent to it.
    read(text.rsplit(',').next()?.trim()).map(shown)
}

/// Whether a setup may name a header so.
pub fn is_header(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !name.is_empty() && name.len() <= NAME_MAX && name.bytes().all(allowed)
}

/// An address with or without its port.
fn read(text: &str) -> Option<IpAddr> {
    let bare = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    text.parse().ok().or_else(|| text.parse().ok().map(|whole: SocketAddr| whole.ip())).or_else(bare)
}

/// Of IPv6 everybody has a whole network of the last 64 bits: that counts as one address.
fn shown(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [first, second, third, fourth, ..] = address.segments();
            format!("{}/64", Ipv6Addr::new(first, second, third, fourth, 0, 0, 0, 0))
        }
    }
}
