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

#[tokio::test]
async fn a_refused_connection_to_this_machine_is_a_server_that_does_not_run() {
    // Bound and dropped: nobody listens there.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let options = crate::fake::options("openai", &format!("http://127.0.0.1:{port}/v1"));
    let endpoint = Endpoint::new(&options, "/chat/completions", Auth::Bearer).expect("an endpoint");
    let site = ErrorContext {
        entry: std::sync::Arc::new(crate::failure::EntryInfo::of(options)),
        key: None,
    };
    let error = endpoint.send(Vec::new(), None, &site).await.err();
    let error = error.expect("no answer");
    assert_eq!(error.kind, contract::provider::ErrorKind::NotRunning);
    assert!(error.hint.contains("start the server"), "{}", error.hint);
}
