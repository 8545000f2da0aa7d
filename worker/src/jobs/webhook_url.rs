//! Checks the URLs of webhooks: public addresses over TLS only; in development, the local machine too.
//!
//! The runtime parses the URL by its own rules, which accept many notations (`127.1`, `0x7f.1`, full-width digits). Accepted
//! URLs have the one notation that all parsers read identically. Names are resolved only when a delivery is sent: there the
//! platform's network blocks private addresses.

use http::Uri;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Maximum length of a URL in bytes.
pub const BYTES_MAX: usize = 2_048;

/// Name endings that are valid only in a private network.
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
    "svc",
];

/// Ports of mail and shell servers, which would read lines of a request as commands.
const OTHER_PORTS: [u16; 15] = [22, 23, 24, 25, 109, 110, 143, 220, 465, 512, 513, 514, 587, 993, 995];

/// Returns the error of a URL, as the end of a sentence about it; `local` is true in development.
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
    match port.map(str::parse::<u16>) {
        Some(Err(_) | Ok(0)) => return Err("must have a port from 1 to 65535, or none".into()),
        Some(Ok(port)) if OTHER_PORTS.contains(&port) => {
            return Err("must NOT have a port of mail or of a shell".into());
        }
        _ => {}
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

/// Tests if an address is public.
fn is_open(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let special = match address.octets() {
                [0 | 240..=255, ..] => true,
                [100, 64..=127, ..] | [198, 18 | 19, ..] => true,
                // Addresses of protocols, and relays to other networks.
                [192, 0, 0, _] | [192, 88, 99, _] => true,
                // Metadata address of a cloud, which serves secrets to its machines.
                [168, 63, 129, 16] => true,
                _ => false,
            };
            !(special
                || address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_multicast()
                || address.is_documentation())
        }
        // Global unicast addresses, without those of protocols (2001::/23), those with an embedded IPv4 address, and those of examples.
        IpAddr::V6(address) => {
            let [first, second, ..] = address.segments();
            let special = matches!((first, second), (0x2001, 0..=0x1ff | 0xdb8) | (0x2002, _) | (0x3fff, _));
            first & 0xe000 == 0x2000 && !special
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_mail_and_of_shells_are_none() {
        for port in OTHER_PORTS {
            assert!(check(&format!("https://hooks.shop.example:{port}/"), false).is_err(), "{port}");
        }
        assert!([25, 109, 220, 512, 513, 514].iter().all(|port| OTHER_PORTS.contains(port)));
    }

    #[test]
    fn the_open_network_alone_is_a_target() {
        for open in [
            "https://hooks.shop.example/in?x=1",
            "https://hooks.shop.example:8443",
            "https://93.184.216.34/",
            "https://[2606:2800:220:1::1]/",
            "https://[2001:200::1]/",
            "https://168.63.129.17/",
            "https://192.88.98.1/",
            "https://hooks.shop.example:2525/",
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
            "https://168.63.129.16/",
            "https://192.88.99.1/",
            "https://[2001:2::1]/",
            "https://[2001:10::1]/",
            "https://[2001:1ff::1]/",
            "https://kubernetes.default.svc/",
            "https://hooks.shop.example:22/",
            "https://hooks.shop.example:25/",
            "https://hooks.shop.example:587/",
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
            // Another parser may read a name of one label as a number.
            assert!(check(wrong, true).is_err(), "{wrong}");
        }
    }
}
