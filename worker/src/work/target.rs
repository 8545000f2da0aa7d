//! Where a webhook may go: into the open network over TLS, and nowhere else; where one develops, to the own machine too. Pure, and it
//! must not know who sends what there.
//!
//! The runtime that follows the address reads it by rules of its own, which know many ways to write one (`127.1`, `0x7f.1`, full-width
//! digits). What passes here is written in the one way that every reader reads alike. What a name means is found out when it is followed:
//! there the platform's network is the fence, which lets nothing out to private addresses.

use http::Uri;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Bytes of an address, at most.
pub const BYTES_MAX: usize = 2_048;

/// Names that mean something in one's own network alone, whatever stands before them.
const OWN: &[&str] = &[
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "lan",
    "home",
    "corp",
    "private",
    "arpa",
    "invalid",
    "onion",
];

/// Says what is wrong with an address, as the end of a sentence about it; `local` is true where one develops.
pub fn check(text: &str, local: bool) -> Result<(), String> {
    if text.len() > BYTES_MAX {
        return Err(format!("must NOT have more than {BYTES_MAX} bytes (actual length is `{}`)", text.len()));
    }
    let address = text.parse::<Uri>().ok().filter(|_| !text.contains('#'));
    let parts = address.as_ref().and_then(|uri| Some((uri.scheme_str()?, uri.authority()?)));
    let Some((scheme, authority)) = parts else {
        return Err("must be an absolute address without a fragment, in letters of ASCII".into());
    };
    match scheme.to_ascii_lowercase().as_str() {
        "https" => {}
        "http" if local => {}
        _ => return Err("must begin with https://".into()),
    }
    if authority.as_str().contains('@') {
        return Err("must NOT have credentials".into());
    }
    let port = authority.as_str().strip_prefix(authority.host()).and_then(|rest| rest.strip_prefix(':'));
    if port.is_some_and(|port| port.parse::<u16>().map_or(true, |port| port == 0)) {
        return Err("must have a port from 1 to 65535, or none".into());
    }
    check_host(authority.host(), local)
}

fn check_host(host: &str, local: bool) -> Result<(), String> {
    let private = || "must NOT be in a private network".to_owned();
    if let Some(literal) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let address: Ipv6Addr = literal.parse().map_err(|_| "must have an IPv6 address in its brackets".to_owned())?;
        return if local || is_open(address.into()) { Ok(()) } else { Err(private()) };
    }
    let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let is_label = |label: &str| (1..=63).contains(&label.len()) && label.bytes().all(is_plain);
    if name.len() > 253 || !name.split('.').all(is_label) {
        return Err("must have a host of letters, digits, `-` and `.`".into());
    }
    let last = name.rsplit('.').next().unwrap_or_default();
    if last.starts_with(|first: char| first.is_ascii_digit()) {
        let address: Ipv4Addr =
            name.parse().map_err(|_| "must have an IPv4 address as four plain numbers".to_owned())?;
        return if local || is_open(address.into()) { Ok(()) } else { Err(private()) };
    }
    if local || (name.contains('.') && !OWN.contains(&last)) { Ok(()) } else { Err(private()) }
}

/// Whether an address is one of the open network.
fn is_open(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [first, second, third, _] = address.octets();
            let special = match (first, second) {
                (0 | 240..=255, _) => true,
                (100, 64..=127) | (198, 18 | 19) => true,
                (192, 0) => third == 0,
                _ => false,
            };
            !(special
                || address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_multicast()
                || address.is_documentation())
        }
        // Global unicast addresses, without those that have an IPv4 address within them and those of examples.
        IpAddr::V6(address) => {
            let [first, second, ..] = address.segments();
            let special = matches!((first, second), (0x2001, 0 | 0xdb8) | (0x2002, _) | (0x3fff, _));
            first & 0xe000 == 0x2000 && !special
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_open_network_alone_is_a_target() {
        for open in [
            "https://hooks.shop.example/in?x=1",
            "https://hooks.shop.example:8443",
            "https://93.184.216.34/",
            "https://[2606:2800:220:1::1]/",
            "HTTPS://xn--bcher-kva.example/",
        ] {
            assert_eq!(check(open, false), Ok(()), "{open}");
        }
        for closed in [
            "http://hooks.shop.example/",
            "ftp://hooks.shop.example/",
            "hooks.shop.example",
            "/in",
            "",
            "https://",
            "https:///in",
            "https://user@hooks.shop.example/",
            "https://user:secret@hooks.shop.example/",
            "https://hooks.shop.example/#part",
            "https://hooks.shop.example:0/",
            "https://hooks.shop.example:99999/",
            "https://hooks.shop.example:/",
            "https://b\u{fc}cher.example/",
            "https://shop/",
            "https://localhost/",
            "https://localhost./",
            "https://a.localhost/",
            "https://LOCALHOST:8443/",
            "https://metadata.google.internal/",
            "https://printer.local/",
            "https://127.0.0.1/",
            "https://127.1/",
            "https://0x7f.0.0.1/",
            "https://0x7f000001/",
            "https://2130706433/",
            "https://017700000001/",
            "https://0.0.0.0/",
            "https://10.0.0.1/",
            "https://172.16.0.1/",
            "https://192.168.1.1/",
            "https://169.254.169.254/",
            "https://100.64.0.1/",
            "https://192.0.0.1/",
            "https://198.18.0.1/",
            "https://224.0.0.1/",
            "https://255.255.255.255/",
            "https://[::1]/",
            "https://[::]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[::ffff:7f00:1]/",
            "https://[fe80::1]/",
            "https://[fc00::1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://[2002:7f00:1::]/",
            "https://[::1%25eth0]/",
            "https://a..b.example/",
            "https://a%2eb.example/",
        ] {
            assert!(check(closed, false).is_err(), "{closed}");
        }
        assert!(check(&format!("https://hooks.shop.example/{}", "a".repeat(BYTES_MAX)), false).is_err());
    }

    #[test]
    fn where_one_develops_the_own_machine_is_one_too() {
        for own in ["http://127.0.0.1:8080/in", "http://localhost:8080/", "http://[::1]:1/", "https://printer.local/"] {
            assert_eq!(check(own, true), Ok(()), "{own}");
        }
        for wrong in ["ftp://127.0.0.1/", "http://user@127.0.0.1/", "http://0x7f000001/x", "http://127.1/"] {
            // A name of one label may look like a number to another reader.
            assert!(check(wrong, true).is_err(), "{wrong}");
        }
    }
}
