use std::path::Path;

use super::record::{Record, SaveOutcome};
use super::*;
use crate::config::{ConfigScope, Servers};

fn server(entry: &str) -> ServerConfig {
    let text = format!("{{\"mcpServers\": {{\"web\": {entry}}}}}");
    let servers = Servers::from_json(&text, Path::new("/mcp.json"), ConfigScope::User);
    servers.servers.into_iter().next().expect("a server")
}

#[test]
fn a_login_belongs_to_one_address_and_to_servers_without_their_own_authorization() {
    let name = |entry: &str| login_of(&server(entry)).map(|(_, name)| name);
    let first = name(r#"{"url": "https://a.example/mcp"}"#).unwrap();
    let same = name(r#"{"url": "https://a.example/mcp", "headers": {"X-Team": "blue"}}"#).unwrap();
    let other = name(r#"{"url": "https://b.example/mcp"}"#).unwrap();
    assert_eq!(first, same);
    assert_ne!(first, other);
    assert!(first.starts_with(LOGIN_PREFIX));
    let own = r#"{"url": "https://a.example/mcp", "headers": {"authorization": "Bearer x"}}"#;
    assert!(name(own).unwrap_err().contains("Authorization"));
    assert!(name(r#"{"command": "x"}"#).unwrap_err().contains("`url`"));
}

#[test]
fn browsers_are_sent_to_safe_addresses_and_back_to_this_machine_only() {
    for address in [
        "https://auth.example/authorize?state=s1",
        "http://127.0.0.1:9/authorize?a=b&state=s1",
    ] {
        assert_eq!(browser_state(address).as_deref(), Ok("s1"), "{address}");
    }
    for address in [
        "http://auth.example/authorize?state=s1",
        "javascript:alert(1)?state=s1",
        "file:///etc/passwd?state=s1",
        "https://auth.example/authorize",
    ] {
        assert!(browser_state(address).is_err(), "{address}");
    }
    assert!(check_redirect("http://127.0.0.1:4000/callback").is_ok());
    for address in [
        "http://example.com:80/callback",
        "https://127.0.0.1:4000/callback",
        "http://127.0.0.1/callback",
        "callback",
    ] {
        assert!(check_redirect(address).is_err(), "{address}");
    }
}

#[test]
fn codes_and_tokens_go_to_safe_addresses_only() {
    let check = |token: &str, registration: Option<&str>| {
        let mut text = serde_json::json!({
            "authorization_endpoint": "https://auth.example/authorize",
            "token_endpoint": token,
        });
        if let Some(registration) = registration {
            text["registration_endpoint"] = registration.into();
        }
        check_endpoints(&serde_json::from_value(text).unwrap())
    };
    assert!(check("https://auth.example/token", None).is_ok());
    assert!(
        check(
            "http://127.0.0.1:9/token",
            Some("http://localhost:9/register")
        )
        .is_ok()
    );
    assert!(check("http://auth.example/token", None).is_err());
    let open = Some("http://auth.example/register");
    assert!(check("https://auth.example/token", open).is_err());
}

/// A store that counts how often it is asked.
#[derive(Default)]
struct Counting(Mutex<(BTreeMap<String, Secret>, usize)>);

impl LoginStore for Counting {
    fn load(&self, name: &str) -> Option<Secret> {
        let mut inner = self.0.lock().unwrap();
        inner.1 += 1;
        inner.0.get(name).cloned()
    }

    fn save(&self, name: &str, text: Option<&Secret>) -> Result<(), String> {
        let mut inner = self.0.lock().unwrap();
        match text {
            Some(text) => inner.0.insert(name.to_owned(), text.clone()),
            None => inner.0.remove(name),
        };
        Ok(())
    }
}

#[test]
fn the_store_is_asked_once_for_a_login_and_what_is_kept_is_blotted_out_of_texts() {
    let store = Arc::new(Counting::default());
    let tokens = serde_json::from_str(
        r#"{"access_token": "access-canary", "token_type": "bearer", "refresh_token": "refresh-canary"}"#,
    );
    let record = Record {
        credentials: rmcp::transport::auth::StoredCredentials::new(
            "id".into(),
            Some(tokens.unwrap()),
            vec![],
            None,
        ),
        client_secret: Some("client-canary".into()),
        redirect_uri: "http://127.0.0.1:1/callback".into(),
    };
    Logins::new(store.clone())
        .keep("mcp-login-1", Purpose::LogIn, record)
        .unwrap();
    let logins = Logins::new(store.clone());
    for _ in 0..3 {
        let (_, record) = logins.record("mcp-login-1").expect("a login");
        assert_eq!(record.client_secret.as_deref(), Some("client-canary"));
        assert!(logins.record("mcp-login-2").is_none());
    }
    // A store that had none is asked again.
    assert_eq!(store.0.lock().unwrap().1, 1 + 3);
    let text = "access-canary refresh-canary client-canary";
    assert!(!contract::scrub(text).contains("canary"));
    assert!(logins.take("mcp-login-1").unwrap().is_some());
    assert!(logins.record("mcp-login-1").is_none());
    assert!(store.0.lock().unwrap().0.is_empty());
}

fn record(access: &str) -> Record {
    let tokens = serde_json::json!({"access_token": access, "token_type": "bearer"});
    let tokens = serde_json::from_value(tokens).unwrap();
    Record {
        credentials: rmcp::transport::auth::StoredCredentials::new(
            "id".into(),
            Some(tokens),
            vec![],
            None,
        ),
        client_secret: None,
        redirect_uri: "http://127.0.0.1:1/callback".into(),
    }
}

#[test]
fn a_refresh_is_kept_for_the_login_that_it_began_with_and_no_other() {
    let store = Arc::new(Counting::default());
    let logins = Logins::new(store.clone());
    let name = "mcp-login-1";
    let stored = || {
        let inner = store.0.lock().unwrap();
        inner.0.get(name).map(|text| text.expose().to_owned())
    };
    logins.keep(name, Purpose::LogIn, record("one")).unwrap();
    let (first, _) = logins.record(name).unwrap();
    let refresh = |login, access| {
        logins
            .keep(name, Purpose::Use(login), record(access))
            .unwrap()
    };
    assert_eq!(refresh(Some(first), "two"), SaveOutcome::Stored);
    assert!(stored().unwrap().contains("two"));
    assert_eq!(refresh(None, "three"), SaveOutcome::Ended);

    let taken = logins.take(name).unwrap().unwrap();
    assert_eq!(taken.tokens().access.as_deref(), Some("two"));
    assert_eq!(refresh(Some(first), "three"), SaveOutcome::Ended);
    assert_eq!(stored(), None);
    assert!(logins.take(name).unwrap().is_none());

    logins.keep(name, Purpose::LogIn, record("four")).unwrap();
    assert_eq!(refresh(Some(first), "three"), SaveOutcome::Ended);
    assert!(stored().unwrap().contains("four"));
}
