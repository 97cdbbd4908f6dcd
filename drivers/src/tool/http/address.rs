//! The addresses that a listed name may lead to.
//!
//! INVARIANT: a connection is made only to an address that was checked, so a name whose answer
//! changes meanwhile leads nowhere else.
//! It does not read the list; `../http.rs` does.
//! Read next: `exchange.rs`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use duet_runtime::driver::ToolFailure;
use preserves::IOValue;

use super::hosts::Hosts;
use crate::tool::failure::Kind;

/// Chooses the addresses of a host that may be connected to: those of the public network, those
/// that the list names themselves, and those of this machine for `localhost`.
///
/// # Errors
/// `denied` if there are others only.
pub(in crate::tool) fn admitted(
    hosts: &Hosts,
    host: &str,
    found: &[SocketAddr],
) -> Result<Vec<SocketAddr>, ToolFailure> {
    let is_local = is_localhost(host);
    let may = |address: &&SocketAddr| {
        let ip = address.ip().to_canonical();
        !is_inside(ip) || (is_local && ip.is_loopback()) || hosts.include(&written(ip), address.port())
    };
    let admitted: Vec<SocketAddr> = found.iter().filter(may).copied().collect();
    match found.first() {
        Some(inside) if admitted.is_empty() => Err(refusal(host, *inside)),
        Some(_) | None => Ok(admitted),
    }
}

fn refusal(host: &str, address: SocketAddr) -> ToolFailure {
    let (ip, port) = (written(address.ip().to_canonical()), address.port());
    let message = format!(
        "`{host}` leads to {ip}, an address of this machine or of a private network; a person allows it with \
         `--allow-host {ip}:{port}`, a manifest with `(hosts \"{ip}:{port}\")`"
    );
    Kind::Denied.with(message, [("host", IOValue::new(host.to_owned()))])
}

/// Writes an address as it stands in a URL.
fn written(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

/// Whether a name means this machine wherever it is resolved.
///
/// Source: RFC 6761, section 6.3.
fn is_localhost(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    host == "localhost" || host.ends_with(".localhost")
}

/// Whether an address is of this machine, of its link or of a private network.
///
/// Source: the special-purpose address registries of IANA.
fn is_inside(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_inside_v4(ip),
        IpAddr::V6(ip) => is_inside_v6(ip),
    }
}

fn is_inside_v4(ip: Ipv4Addr) -> bool {
    let [first, second, ..] = ip.octets();
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_special = first == 0 || first >= 224 || (first, second) == (198, 18) || (first, second) == (198, 19);
    ip.is_loopback() || ip.is_private() || ip.is_link_local() || is_shared || is_special
}

fn is_inside_v6(ip: Ipv6Addr) -> bool {
    let parts = ip.segments();
    let is_local = matches!(parts[0] & 0xffc0, 0xfe80 | 0xfec0) || parts[0] & 0xfe00 == 0xfc00;
    // Translators and tunnels carry an address of version 4 in one of version 6.
    let within = match parts {
        [0x64, 0xff9b, .., high, low] | [0x2002, high, low, ..] | [0, 0, 0, 0, 0, 0, high, low] => Some([high, low]),
        _ => None,
    };
    let carries_inside = within.is_some_and(|[high, low]| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        is_inside_v4(Ipv4Addr::new(a, b, c, d))
    });
    ip.is_loopback() || ip.is_unspecified() || ip.is_multicast() || is_local || carries_inside
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(listed: &[&str], host: &str, found: &str, is_admitted: bool) {
        let listed: Vec<String> = listed.iter().map(|&name| name.to_owned()).collect();
        let hosts = Hosts::of(&listed).expect("hosts");
        let found: SocketAddr = found.parse().expect("an address");
        assert_eq!(
            admitted(&hosts, host, &[found]).is_ok(),
            is_admitted,
            "{listed:?} {host} {found}"
        );
    }

    #[test]
    fn a_name_leads_inside_only_if_the_address_is_listed_as_such() {
        for inside in [
            "127.0.0.1:80",
            "127.8.9.1:80",
            "0.0.0.0:80",
            "10.1.2.3:80",
            "172.16.0.1:80",
            "192.168.1.1:80",
            "169.254.169.254:80",
            "100.64.0.1:80",
            "198.18.0.1:80",
            "224.0.0.1:80",
            "[::1]:80",
            "[::]:80",
            "[::ffff:127.0.0.1]:80",
            "[::7f00:1]:80",
            "[64:ff9b::a00:1]:80",
            "[2002:7f00:1::]:80",
            "[fe80::1]:80",
            "[fec0::1]:80",
            "[fd00::1]:80",
            "[ff02::1]:80",
        ] {
            check(&["api.example.org"], "api.example.org", inside, false);
        }
        for outside in [
            "93.184.216.34:80",
            "100.128.0.1:80",
            "172.32.0.1:80",
            "[2606:2800:220:1::1]:80",
        ] {
            check(&["api.example.org"], "api.example.org", outside, true);
        }
        check(&["api.example.org", "10.1.2.3"], "api.example.org", "10.1.2.3:80", true);
        check(
            &["api.example.org", "10.1.2.3"],
            "api.example.org",
            "10.1.2.4:80",
            false,
        );
        check(
            &["api.example.org", "10.1.2.3:81"],
            "api.example.org",
            "10.1.2.3:80",
            false,
        );
        check(
            &["api.example.org", "[fd00::1]"],
            "api.example.org",
            "[fd00::1]:80",
            true,
        );
        check(&["api.example.org", "*.2.3"], "api.example.org", "10.1.2.3:80", false);
        check(&["localhost"], "localhost", "127.0.0.1:80", true);
        check(&["localhost"], "LOCALHOST.", "[::1]:80", true);
        check(&["localhost"], "localhost", "10.0.0.1:80", false);
        check(&["nolocalhost"], "nolocalhost", "127.0.0.1:80", false);
    }

    #[test]
    fn of_several_addresses_only_those_outside_are_used() {
        let hosts = Hosts::of(&["api.example.org".to_owned()]).expect("hosts");
        let found = ["10.0.0.1:80", "93.184.216.34:80"].map(|text| text.parse().expect("an address"));
        assert_eq!(admitted(&hosts, "api.example.org", &found), Ok(vec![found[1]]));
    }
}
