//! The tokens of logins to MCP servers: where they go, how they end, and clients that were registered by hand.

use std::io::Read as _;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::json;
use testkit::model::{Answer, Model, Request, Script};
use tests::{House, Running, until};

use crate::mcp::{calling, result_of, servers};
use crate::mcp_login::{ProtectedServer, begun, get, logged_in, open_login_address, stored};
use crate::scripted::{house, run};

/// A model that is not needed.
fn idle() -> Model {
    Model::start(Script::by(|_: &Request| Answer::text("Done.")))
}

/// Waits until the server has no login.
fn needs_login(house: &House) {
    until("that it needs a login", || {
        let listed = house.reasonix(&["mcp", "list"]).expect_code(0);
        listed.out.contains("needs login").then_some(())
    });
}

#[test]
fn a_logout_during_a_refresh_leaves_no_tokens_here_and_none_at_the_server() {
    let house = house(&idle());
    let closed = ProtectedServer::start();
    // Less than half a minute counts as expired: each request wants a new one.
    closed.authority().expires_in = 1;
    closed.authority().revoked = Some(Vec::new());
    closed.configure(&house);
    logged_in(&house);
    let before = closed.authority().grants.len();
    let refreshing = closed.refreshing.lock().expect("the refreshes");
    let testing = house.start(&["mcp", "restart", "web"]);
    let _ = testing.done().expect_code(0);
    until("a refresh", || {
        (closed.authority().grants.len() > before).then_some(())
    });
    let done = house.reasonix(&["mcp", "logout", "web"]).expect_code(0);
    assert!(done.err.contains("revoked"), "{done:?}");
    assert!(!stored(&house).contains("canary"));
    drop(refreshing);
    let newest = closed.authority().refresh.clone();
    until("that the newest tokens are revoked", || {
        let authority = closed.authority();
        let revoked = authority.revoked.as_ref()?;
        revoked.contains(&newest).then_some(())
    });
    needs_login(&house);
    assert!(!stored(&house).contains("canary"), "{}", stored(&house));
}

/// Logs in to a server whose tokens expire at once: each request refreshes them.
fn logged_in_with_expiring_tokens(house: &House) -> ProtectedServer {
    let closed = ProtectedServer::start();
    // Less than half a minute counts as expired.
    closed.authority().expires_in = 1;
    closed.configure(house);
    logged_in(house);
    closed
}

/// Starts a request, and waits until the server has got its refresh, whose answer it holds back.
fn refreshing(house: &House, closed: &ProtectedServer) -> Running {
    let before = closed.authority().grants.len();
    let testing = house.start(&["mcp", "test", "web"]);
    until("a refresh", || {
        (closed.authority().grants.len() > before).then_some(())
    });
    testing
}

#[test]
fn a_restart_during_a_refresh_keeps_the_login() {
    let house = house(&idle());
    let closed = logged_in_with_expiring_tokens(&house);
    let held_back = closed.refreshing.lock().expect("the refreshes");
    let testing = refreshing(&house, &closed);
    // The server has given new tokens, and refreshes with those before them no more. Nobody waits for its answer now.
    let restarted = house.reasonix(&["mcp", "restart", "web"]);
    let _ = restarted.expect_code(0);
    let _ = testing.done();
    drop(held_back);
    let tested = house.reasonix(&["mcp", "test", "web"]).expect_code(0);
    assert!(tested.out.contains("ready"), "{tested:?}");
}

#[test]
fn stop_of_the_daemon_waits_for_a_refresh() {
    let house = house(&idle());
    let closed = logged_in_with_expiring_tokens(&house);
    let held_back = closed.refreshing.lock().expect("the refreshes");
    let testing = refreshing(&house, &closed);
    let stopping = house.start(&["daemon", "stop"]);
    until("the end to begin", || {
        house.daemon_log().contains("stopping").then_some(())
    });
    drop(held_back);
    let _ = stopping.done().expect_code(0);
    let _ = testing.done();
    assert!(stored(&house).contains(&closed.authority().refresh));
    let tested = house.reasonix(&["mcp", "test", "web"]).expect_code(0);
    assert!(tested.out.contains("ready"), "{tested:?}");
}

#[test]
fn a_refresh_goes_to_no_address_where_others_could_read_it() {
    let house = house(&idle());
    let closed = logged_in_with_expiring_tokens(&house);
    // Reached like another machine: neither HTTPS nor one of the names of this one.
    let elsewhere = TcpListener::bind("127.0.0.2:0").expect("a port");
    let address = elsewhere.local_addr().expect("its address");
    let came = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&came);
    std::thread::spawn(move || {
        for mut stream in elsewhere.incoming().flatten() {
            let mut part = [0; 4096];
            let count = stream.read(&mut part).unwrap_or_default();
            let text = String::from_utf8_lossy(&part[..count]).into_owned();
            kept.lock().expect("what came").push_str(&text);
        }
    });
    closed.authority().token_endpoint = Some(format!("http://{address}/token"));
    // The next daemon looks at the metadata again. A kill could lose a refresh that is on its way.
    let _ = house.reasonix(&["daemon", "stop"]).expect_code(0);
    let tested = house.reasonix(&["mcp", "test", "web"]).expect_code(1);
    assert_eq!(*came.lock().expect("what came"), "");
    let words = format!("{}{}", tested.out, tested.err);
    assert!(words.contains("not safe"), "{words}");
    // The login is as good as before when the server is.
    closed.authority().token_endpoint = None;
    let _ = house.reasonix(&["mcp", "restart", "web"]).expect_code(0);
    let tested = house.reasonix(&["mcp", "test", "web"]).expect_code(0);
    assert!(tested.out.contains("ready"), "{tested:?}");
}

#[test]
fn a_logout_revokes_the_tokens_where_the_server_can() {
    let house = house(&idle());
    let closed = ProtectedServer::start();
    closed.configure(&house);
    logged_in(&house);
    let done = house.reasonix(&["mcp", "logout", "web"]).expect_code(0);
    assert!(done.err.contains("cannot revoke"), "{done:?}");

    closed.authority().revoked = Some(Vec::new());
    logged_in(&house);
    let tokens = {
        let authority = closed.authority();
        [authority.refresh.clone(), authority.access.clone()]
    };
    let done = house.reasonix(&["mcp", "logout", "web"]).expect_code(0);
    assert!(done.err.contains("revoked"), "{done:?}");
    assert_eq!(closed.authority().revoked.as_deref(), Some(&tokens[..]));
    assert!(!stored(&house).contains("canary"));

    // What is removed is logged out of.
    logged_in(&house);
    let newest = closed.authority().refresh.clone();
    let _ = house.reasonix(&["mcp", "remove", "web"]).expect_code(0);
    let revoked = closed.authority().revoked.clone().unwrap_or_default();
    assert!(revoked.contains(&newest), "{revoked:?}");
}

#[test]
fn a_client_that_was_registered_by_hand_logs_in_and_its_secret_is_a_variable() {
    let model = calling("mcp__web__greet", json!({"name": "Ann"}));
    let house = house(&model);
    let closed = ProtectedServer::start();
    closed.authority().client = Some(("hand-made", "secret-canary"));
    closed.authority().revoked = Some(Vec::new());
    closed.configure(&house);
    let refused = house.reasonix(&["mcp", "login", "web"]).expect_code(77);
    assert!(refused.err.contains("client_id"), "{refused:?}");

    let entry = |secret: &str| {
        let client = json!({"client_id": "hand-made", "client_secret": secret});
        servers(
            &house,
            &json!({"web": {"url": closed.url, "oauth": client}}),
        );
    };
    entry("secret-canary");
    let listed = house.reasonix(&["mcp", "list"]).expect_code(0);
    let words = format!("{}{}", listed.out, listed.err);
    assert!(words.contains("`client_secret` must be"), "{words}");
    assert!(!words.contains("secret-canary"), "{words}");

    entry("${HAND_MADE}");
    let _ = house.reasonix(&["daemon", "stop"]).expect_code(0);
    let mut daemon = house.program(&tests::house::daemon_program());
    daemon.arg("serve").env("HAND_MADE", "secret-canary");
    house.adopt(daemon.spawn().expect("a daemon"));
    let _ = house.wait_for_daemon();
    logged_in(&house);
    run(&house, &["--allow", "mcp__web"], "Greet.").expect(0, "completed");
    assert_eq!(result_of(&model), "Hello, Ann.");
    // Refreshing and revoking need the secret too.
    closed.authority().expires_in = 1;
    logged_in(&house);
    let tested = house.reasonix(&["mcp", "test", "web"]).expect_code(0);
    assert!(tested.out.contains("ready"), "{tested:?}");
    let _ = house.reasonix(&["mcp", "logout", "web"]).expect_code(0);
    let revoked = closed.authority().revoked.clone().unwrap_or_default();
    // Those of a refresh that was on its way come on top.
    assert!(revoked.len() >= 2, "{revoked:?}");
}

#[test]
fn the_browser_comes_back_to_the_port_that_the_client_was_registered_with() {
    let house = house(&idle());
    let closed = ProtectedServer::start();
    closed.authority().client = Some(("hand-made", ""));
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("its address").port()
    };
    let client = json!({"clientId": "hand-made", "callbackPort": port});
    servers(
        &house,
        &json!({"web": {"url": closed.url, "oauth": client}}),
    );
    let (login, address) = begun(&house);
    let redirect = open_login_address(&address);
    assert!(
        redirect.starts_with(&format!("http://localhost:{port}/callback?")),
        "{redirect}"
    );
    let (head, _) = get(&redirect);
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let done = login.done();
    // A client without a secret is not accepted here.
    assert!(done.err.contains("failed"), "{done:?}");
}

#[test]
fn a_program_has_no_login_and_nobody_is_told_to_try_again() {
    let house = house(&idle());
    servers(&house, &json!({"program": {"command": "true"}}));
    for verb in ["login", "logout"] {
        let refused = house.reasonix(&["mcp", verb, "program"]).expect_code(77);
        assert!(refused.err.contains("is a program"), "{refused:?}");
        assert!(refused.err.contains("`env`"), "{refused:?}");
        assert!(!refused.err.contains("again"), "{refused:?}");
    }
}
