//! URLs and routes.

use super::*;

#[test]
fn an_address_ends_in_the_path_of_its_kind() {
    for (base, expected) in [
        (
            "https://api.acme.test",
            "https://api.acme.test/chat/completions",
        ),
        (
            "https://api.acme.test/",
            "https://api.acme.test/chat/completions",
        ),
        (
            " https://api.acme.test/v1/ ",
            "https://api.acme.test/v1/chat/completions",
        ),
        (
            "https://a.test/v1/chat/completions",
            "https://a.test/v1/chat/completions",
        ),
        (
            "https://a.test/x?api-version=1#y",
            "https://a.test/x/chat/completions?api-version=1",
        ),
        (
            "http://[::1]:8080/v1",
            "http://[::1]:8080/v1/chat/completions",
        ),
    ] {
        assert_eq!(
            address(base, "/chat/completions").map(String::from),
            Ok(expected.to_owned())
        );
    }
}

#[test]
fn loopback_takes_no_proxy_and_plain_http_no_certificates() {
    let route = |base: &str| {
        ClientRoute::of(
            &Url::parse(base).expect("an address"),
            Duration::from_secs(1),
        )
    };
    for (base, tls, proxied) in [
        ("http://127.0.0.1:1/", false, false),
        ("http://localhost/", false, false),
        ("http://[::1]/", false, false),
        ("http://0.0.0.0:8080/", false, false),
        ("http://[::]:8080/", false, false),
        ("http://[::ffff:127.0.0.1]/", false, false),
        ("http://models.localhost/", false, false),
        ("http://localhost.acme.test/", false, true),
        ("http://10.0.0.1/", false, true),
        ("https://api.acme.test/", true, true),
    ] {
        assert_eq!(
            (route(base).tls, route(base).proxied),
            (tls, proxied),
            "{base}"
        );
    }
}

#[test]
fn the_name_of_this_machine_is_loopback() {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("the machine's name");
    let name = name.trim();
    for host in [name.to_owned(), format!("{name}.local")] {
        let url = Url::parse(&format!("http://{host}:1/v1")).expect("an address");
        assert!(is_loopback(&url), "{host}");
    }
}

#[test]
fn every_route_gives_a_client() {
    for tls in [false, true] {
        for proxied in [false, true] {
            let route = ClientRoute {
                connect: Duration::from_secs(1),
                tls,
                proxied,
            };
            assert!(route.build().is_ok(), "{tls} {proxied}");
        }
    }
}
