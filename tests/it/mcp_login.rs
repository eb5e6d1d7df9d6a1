//! Logins to MCP servers: the small server over HTTP, closed to all but the bearers of a token, with an authorization
//! server beside it; and a browser that these tests play.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use proto::params::mcp::{LoginFinishParams, LoginParams};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use testkit::model::{Answer, Gate, Model, Place, Request, Script};
use tests::{House, Running, Terminal, until};

use crate::mcp::{calling, offered, result_of, servers};
use crate::mcp_http::{HttpRequest, answer, serve_with, with};
use crate::scripted::{house, run};

const JSON: &str = "Content-Type: application/json\r\n";

/// What the authorization server knows, and how it behaves.
#[derive(Default)]
pub(crate) struct Authority {
    /// Codes that were not redeemed, with the parameters of the address that they were given at.
    codes: BTreeMap<String, BTreeMap<String, String>>,
    /// Tokens are numbered.
    issued: usize,
    /// The newest of those for requests; those before it are accepted too, until they are revoked.
    pub access: String,
    accepted: Vec<String>,
    /// The only one that a refresh may use.
    pub refresh: String,
    /// Of the tokens that it gives.
    pub expires_in: u64,
    /// Users refuse.
    refuses: bool,
    /// A scope that calls need, and those that the newest login has.
    needs: &'static str,
    granted: String,
    /// Grants that were asked for, in order.
    pub grants: Vec<String>,
    /// Where it takes requests for tokens, if not at its own address.
    pub token_endpoint: Option<String>,
    /// Tokens that were revoked. `None`: it revokes none.
    pub revoked: Option<Vec<String>>,
    /// The client that was registered by hand, and its secret. `None`: it registers clients.
    pub client: Option<(&'static str, &'static str)>,
}

/// A server with its authorization server.
pub(crate) struct ProtectedServer {
    pub url: String,
    authority: Arc<Mutex<Authority>>,
    /// Refreshes wait as long as a test has it.
    pub refreshing: Arc<Mutex<()>>,
}

impl ProtectedServer {
    pub fn start() -> Self {
        let authority = Arc::new(Mutex::new(Authority {
            expires_in: 3600,
            ..Authority::default()
        }));
        let refreshing = Arc::new(Mutex::new(()));
        let (shared, held) = (Arc::clone(&authority), Arc::clone(&refreshing));
        let (base, _) = serve_with(move |came, base| {
            let answer = {
                let mut authority = shared.lock().expect("the authority");
                authority.answer(came, base)
            };
            if came.text.contains("grant_type=refresh_token") {
                drop(held.lock());
            }
            answer
        });
        let url = format!("{base}/mcp");
        Self {
            url,
            authority,
            refreshing,
        }
    }

    pub fn authority(&self) -> MutexGuard<'_, Authority> {
        self.authority.lock().expect("the authority")
    }

    pub fn configure(&self, house: &House) {
        servers(house, &json!({"web": {"url": self.url}}));
    }
}

impl Authority {
    fn answer(&mut self, came: &HttpRequest, base: &str) -> String {
        let (path, query) = came.target.split_once('?').unwrap_or((&came.target, ""));
        let ok = |body: Value| with("200 OK", JSON, &body.to_string());
        match (came.method.as_str(), path) {
            ("GET", "/.well-known/oauth-protected-resource/mcp") => ok(json!({
                "resource": format!("{base}/mcp"), "authorization_servers": [base],
                "scopes_supported": ["tools"],
            })),
            ("GET", "/.well-known/oauth-authorization-server") => ok(self.metadata(base)),
            ("POST", "/register") => {
                let redirects = &came.body["redirect_uris"];
                ok(json!({"client_id": "client-1", "redirect_uris": redirects}))
            }
            ("GET", "/authorize") => self.authorize(&pairs(query)),
            ("POST", "/token") => self.token(came),
            ("POST", "/revoke") => {
                assert!(self.is_client(came), "{came:?}");
                let token = pairs(&came.text)["token"].clone();
                self.revoked.get_or_insert_default().push(token);
                with("200 OK", "", "")
            }
            (_, "/mcp") if self.accepts(came) => {
                if came.rpc() == "tools/call" && !self.granted.contains(self.needs) {
                    let challenge = format!(
                        "WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"tools {}\"\r\n",
                        self.needs
                    );
                    return with("403 Forbidden", &challenge, "");
                }
                answer(came)
            }
            (_, "/mcp") => {
                let metadata = format!("{base}/.well-known/oauth-protected-resource/mcp");
                let challenge =
                    format!("WWW-Authenticate: Bearer resource_metadata=\"{metadata}\"\r\n");
                with("401 Unauthorized", &challenge, "")
            }
            _ => with("404 Not Found", "", ""),
        }
    }

    /// Sends the browser back, as if the user had said yes or no.
    fn authorize(&mut self, asked: &BTreeMap<String, String>) -> String {
        assert_eq!(asked["code_challenge_method"], "S256");
        let code = format!("code-{}", self.codes.len() + self.issued);
        let (redirect, state) = (&asked["redirect_uri"], &asked["state"]);
        let to = match self.refuses {
            true => format!(
                "{redirect}?error=access_denied&error_description=Not%20today&state={state}"
            ),
            false => format!("{redirect}?code={code}&state={state}"),
        };
        self.codes.insert(code, asked.clone());
        with("302 Found", &format!("Location: {to}\r\n"), "")
    }

    fn metadata(&self, base: &str) -> Value {
        let token = self.token_endpoint.clone();
        let mut metadata = json!({
            "issuer": base, "authorization_endpoint": format!("{base}/authorize"),
            "token_endpoint": token.unwrap_or_else(|| format!("{base}/token")),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        });
        if self.client.is_none() {
            metadata["registration_endpoint"] = format!("{base}/register").into();
        }
        if self.revoked.is_some() {
            metadata["revocation_endpoint"] = format!("{base}/revoke").into();
        }
        metadata
    }

    /// Whether a request has a token that is accepted.
    fn accepts(&self, came: &HttpRequest) -> bool {
        let has = |token: &String| came.has(&format!("authorization: Bearer {token}"));
        self.accepted.iter().any(has)
    }

    /// Whether a request is from the client that is known.
    fn is_client(&self, came: &HttpRequest) -> bool {
        match self.client {
            Some((id, secret)) => {
                let basic = BASE64_STANDARD.encode(format!("{id}:{secret}"));
                came.has(&format!("authorization: Basic {basic}"))
            }
            None => pairs(&came.text)["client_id"] == "client-1",
        }
    }

    fn token(&mut self, came: &HttpRequest) -> String {
        let asked = &pairs(&came.text);
        let refused = || with("400 Bad Request", JSON, "{\"error\": \"invalid_grant\"}");
        let grant = asked["grant_type"].clone();
        self.grants.push(grant.clone());
        let is_right = match grant.as_str() {
            "authorization_code" => {
                let Some(code) = self.codes.remove(&asked["code"]) else {
                    return refused();
                };
                self.granted = code["scope"].clone();
                let verifier = Sha256::digest(asked["code_verifier"].as_bytes());
                code["code_challenge"] == BASE64_URL_SAFE_NO_PAD.encode(verifier)
                    && code["redirect_uri"] == asked["redirect_uri"]
                    && code["resource"] == asked["resource"]
            }
            "refresh_token" => asked["refresh_token"] == self.refresh,
            _ => false,
        };
        if !is_right || !self.is_client(came) {
            return refused();
        }
        self.issued += 1;
        self.access = format!("access-canary-{}", self.issued);
        self.accepted.push(self.access.clone());
        self.refresh = format!("refresh-canary-{}", self.issued);
        let tokens = json!({
            "access_token": self.access, "token_type": "Bearer",
            "expires_in": self.expires_in, "refresh_token": self.refresh, "scope": "tools",
        });
        with("200 OK", JSON, &tokens.to_string())
    }

    /// From now on no token is accepted.
    fn revoke(&mut self) {
        self.accepted.clear();
        self.refresh.clear();
    }
}

/// The parameters of a query or a form.
pub(crate) fn pairs(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), decoded(value)))
        .collect()
}

fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).expect("two digits"));
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).expect("text").replace('+', " ")
}

/// What a `GET` of this address returns: its status line and headers, and its body.
pub(crate) fn get(address: &str) -> (String, String) {
    let rest = address.strip_prefix("http://").expect("http");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("connect");
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("ask");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.to_owned())
}

/// Opens the login's address as a browser does, and returns where it is sent.
pub(crate) fn open_login_address(address: &str) -> String {
    let (head, _) = get(address);
    let mut lines = head.lines();
    let location = lines.find_map(|line| line.strip_prefix("Location: "));
    location.unwrap_or_else(|| panic!("{head}")).to_owned()
}

/// Begins a login, and returns it with its address.
pub(crate) fn begun(house: &House) -> (Running, String) {
    let login = house.start(&["mcp", "login", "web"]);
    let address = login.err_line("the address", |line| line.starts_with("http"));
    (login, address)
}

pub(crate) fn logged_in(house: &House) {
    let (login, address) = begun(house);
    let (head, _) = get(&open_login_address(&address));
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let _ = login.done().expect_code(0);
}

/// The text of the store.
pub(crate) fn stored(house: &House) -> String {
    fs::read_to_string(house.home_file("credentials.toml")).expect("the store")
}

/// The files below a directory that have this text.
fn holding(directory: &Path, text: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory").flatten();
    let files = entries.flat_map(|entry| match entry.path() {
        path if path.is_dir() => holding(&path, text),
        path => {
            let bytes = fs::read(&path).unwrap_or_default();
            let has = bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes());
            has.then_some(path).into_iter().collect()
        }
    });
    files.collect()
}

#[test]
fn a_login_in_the_browser_opens_the_server_and_tokens_are_in_the_credential_store_only() {
    let model = calling("mcp__web__greet", json!({"name": "Ann"}));
    let house = House::new();
    house.settings(&format!(
        "{}[daemon]\nlog = \"debug\"\n",
        crate::scripted::FAST_RETRIES
    ));
    house.provider(&model.entry("model", None));
    house.daemon();
    let closed = ProtectedServer::start();
    closed.configure(&house);
    let tested = house.reasonix(&["mcp", "test", "web"]).expect_code(1);
    assert!(tested.out.contains("needs login"), "{tested:?}");
    assert!(
        tested.err.contains("`reasonix mcp login web`"),
        "{tested:?}"
    );

    let (login, address) = begun(&house);
    let redirect = open_login_address(&address);
    let forged = redirect.replace("state=", "state=x");
    let (head, _) = get(&forged);
    assert!(head.starts_with("HTTP/1.1 404 "), "{head}");
    let (head, body) = get(&redirect);
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert!(!body.contains("code-"), "nothing comes back: {body}");
    let done = login.done().expect_code(0);
    assert!(
        done.err.contains("logged in to `web` (tools: 1)"),
        "{done:?}"
    );

    run(&house, &["--allow", "mcp__web"], "Greet.").expect(0, "completed");
    assert_eq!(offered(&model.requests()[0]), ["mcp__web__greet"]);
    assert_eq!(result_of(&model), "Hello, Ann.");
    let listed = house.reasonix(&["mcp", "list", "--json"]).expect_code(0);
    let _ = house.reasonix(&["daemon", "stop"]).expect_code(0);
    let store = house.home_file("credentials.toml");
    for token in ["access-canary-1", "refresh-canary-1"] {
        assert_eq!(holding(house.root(), token), std::slice::from_ref(&store));
        assert!(!listed.out.contains(token) && !done.out.contains(token));
    }
    assert_eq!(holding(&house.home(), "code-0"), [] as [PathBuf; 0]);
}

#[test]
fn tokens_that_expire_are_refreshed_and_the_next_daemon_has_the_newest() {
    let model = calling("mcp__web__greet", json!({"name": "Ann"}));
    let house = house(&model);
    let closed = ProtectedServer::start();
    // Less than half a minute counts as expired: each request wants a new one.
    closed.authority().expires_in = 1;
    closed.configure(&house);
    logged_in(&house);
    run(&house, &["--allow", "mcp__web"], "Greet.").expect(0, "completed");
    assert_eq!(result_of(&model), "Hello, Ann.");
    // A kill could lose a refresh that is on its way.
    let _ = house.reasonix(&["daemon", "stop"]).expect_code(0);
    let tested = house.reasonix(&["mcp", "test", "web"]).expect_code(0);
    assert!(tested.out.contains("ready"), "{tested:?}");
    let grants = closed.authority().grants.clone();
    assert_eq!(grants[0], "authorization_code");
    assert!(grants.len() > 2, "{grants:?}");
    assert!(grants[1..].iter().all(|grant| grant == "refresh_token"));
    until("the newest token in the store", || {
        let newest = closed.authority().refresh.clone();
        stored(&house).contains(&newest).then_some(())
    });
}

#[test]
fn a_login_that_is_refused_or_answered_for_another_one_gives_nothing() {
    let model = Model::start(Script::by(|_: &Request| Answer::text("Done.")));
    let house = house(&model);
    let closed = ProtectedServer::start();
    closed.configure(&house);
    closed.authority().refuses = true;
    let (login, address) = begun(&house);
    get(&open_login_address(&address));
    let refused = login.done().expect_code(77);
    let words = "failed: access_denied: Not today";
    assert!(refused.err.contains(words), "{refused:?}");
    assert!(closed.authority().grants.is_empty());
    closed.authority().refuses = false;

    // The daemon checks too: a client may pass on what it is given.
    let client = house.block_on(house.client("test", proto::hello::Role::Drive));
    let begin = LoginParams {
        name: "web".to_owned(),
        redirect_uri: "http://127.0.0.1:9/callback".to_owned(),
        ..LoginParams::default()
    };
    let login = client.call::<proto::methods::McpLogin>(&begin);
    let begun = house.block_on(login).expect("a login");
    let redirect = open_login_address(&begun.authorization_url);
    let finish = |redirected: &str| {
        let params = LoginFinishParams {
            name: "web".to_owned(),
            redirected: redirected.to_owned(),
            ..LoginFinishParams::default()
        };
        house.block_on(client.call::<proto::methods::McpLoginFinish>(&params))
    };
    let forged = redirect.replace("state=", "state=x");
    for other in [
        &*forged,
        "not an address",
        "http://127.0.0.1:9/callback?code=1",
    ] {
        let error = finish(other).expect_err("another login");
        let failure = error.failure().expect("a failure");
        assert_eq!(failure.name, proto::ErrorName::InvalidParams, "{failure:?}");
    }
    assert!(closed.authority().grants.is_empty());
    let elsewhere = LoginParams {
        redirect_uri: "http://example.com:80/callback".to_owned(),
        ..begin
    };
    let elsewhere = house.block_on(client.call::<proto::methods::McpLogin>(&elsewhere));
    elsewhere.expect_err("a redirect to another machine");
    // The login still waits.
    let server = finish(&redirect).expect("logged in");
    assert_eq!(server.state, "ready");
    let error = finish(&redirect).expect_err("a code counts once");
    assert!(error.failure().is_some(), "{error:?}");
}

#[test]
fn a_pasted_address_does_as_well_and_a_logout_deletes_the_login() {
    let model = Model::start(Script::by(|_: &Request| Answer::text("Done.")));
    let house = house(&model);
    let closed = ProtectedServer::start();
    closed.configure(&house);
    let opened = house.root().join("opened");
    let browser = house.root().join("browser");
    let script = format!(
        "#!/bin/sh\necho \"$1\" > {0}.new && mv {0}.new {0}\n",
        opened.display()
    );
    fs::write(&browser, script).expect("a browser");
    let mut mode = fs::metadata(&browser).expect("its mode").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    fs::set_permissions(&browser, mode).expect("its mode");
    let mut command = house.command(&["mcp", "login", "web"]);
    command
        .env("BROWSER", &browser)
        .stdin(std::process::Stdio::inherit());
    let mut terminal = Terminal::start(command, 100, 30);
    terminal.wait_text("paste the address");
    let address = until("the browser", || fs::read_to_string(&opened).ok());
    let redirect = open_login_address(address.trim());
    terminal.type_text("http://127.0.0.1/other?state=1\r");
    terminal.wait_text("belongs to another login");
    terminal.type_text(&format!("{redirect}\r"));
    terminal.wait_text("logged in to `web`");
    assert_eq!(terminal.exit_code(), 0);

    let done = house.reasonix(&["mcp", "logout", "web"]).expect_code(0);
    assert!(done.err.contains("deleted"), "{done:?}");
    assert!(!stored(&house).contains("canary"));
    until("that it needs a login", || {
        let listed = house.reasonix(&["mcp", "list"]).expect_code(0);
        listed.out.contains("needs login").then_some(())
    });
    let again = house.reasonix(&["mcp", "logout", "web"]).expect_code(0);
    assert!(
        again.err.contains("there is no login to `web`"),
        "{again:?}"
    );

    // Without a terminal the browser that the environment names is opened as well.
    fs::remove_file(&opened).expect("what was opened");
    let mut command = house.command(&["mcp", "login", "web"]);
    let login = Running::start(command.env("BROWSER", &browser));
    let address = until("the browser", || fs::read_to_string(&opened).ok());
    let (head, _) = get(&open_login_address(address.trim()));
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let done = login.done().expect_code(0);
    assert!(!done.err.contains("already works"), "{done:?}");
    let again = house.start(&["mcp", "login", "web"]);
    let words = "`web` already works";
    let _ = again.err_line("that it is ready", |line| line.contains(words));

    // What is removed takes its login along.
    assert!(stored(&house).contains("canary"));
    let _ = house.reasonix(&["mcp", "remove", "web"]).expect_code(0);
    assert!(!stored(&house).contains("canary"));
}

#[test]
fn a_login_that_ends_while_a_session_runs_is_said_and_comes_back_with_the_next_one() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(Script::by(move |request: &Request| {
        let greet = |name: &str| Answer::call("mcp__web__greet", json!({"name": name}));
        match request.answered() {
            0 => greet("Ann"),
            1 => greet("Bob").held(Place::Before, &held),
            _ => Answer::text(request.last_text().to_owned()),
        }
    }));
    let house = house(&model);
    let closed = ProtectedServer::start();
    closed.configure(&house);
    logged_in(&house);
    let session = house.start(&["run", "--allow", "mcp__web", "Greet both."]);
    until("the first result", || gate.is_reached().then_some(()));
    closed.authority().revoke();
    gate.open();
    let _ = session.done().expect_code(0);
    let result = result_of(&model);
    assert!(result.contains("`reasonix mcp login web`"), "{result}");
    until("that it needs a login", || {
        let listed = house.reasonix(&["mcp", "list"]).expect_code(0);
        listed.out.contains("needs login").then_some(())
    });
    logged_in(&house);
    let listed = house.reasonix(&["mcp", "list"]).expect_code(0);
    assert!(listed.out.contains("ready"), "{listed:?}");
}

#[test]
fn a_test_of_a_server_whose_login_has_ended_says_that_it_needs_one() {
    let house = house(&Model::start(Script::by(|_| Answer::text("Done."))));
    let closed = ProtectedServer::start();
    closed.configure(&house);
    logged_in(&house);
    let _ = house.reasonix(&["mcp", "test", "web"]).expect_code(0);
    closed.authority().revoke();
    let tested = house.reasonix(&["mcp", "test", "web"]).expect_code(1);
    let words = format!("{}{}", tested.out, tested.err);
    assert!(words.contains("needs login"), "{words}");
    assert!(words.contains("`reasonix mcp login web`"), "{words}");
    let listed = house.reasonix(&["mcp", "list"]).expect_code(0);
    assert!(listed.out.contains("needs login"), "{listed:?}");
    logged_in(&house);
    let _ = house.reasonix(&["mcp", "test", "web"]).expect_code(0);
}

#[test]
fn a_test_of_a_server_that_refuses_the_authorization_of_its_entry_says_so() {
    let house = house(&Model::start(Script::by(|_| Answer::text("Done."))));
    let closed = ProtectedServer::start();
    closed.authority().accepted.push("own".to_owned());
    let entry = json!({"url": closed.url, "headers": {"Authorization": "Bearer own"}});
    servers(&house, &json!({"web": entry}));
    let _ = house.reasonix(&["mcp", "test", "web"]).expect_code(0);
    closed.authority().revoke();
    let tested = house.reasonix(&["mcp", "test", "web"]).expect_code(1);
    let words = format!("{}{}", tested.out, tested.err);
    assert!(
        words.contains("does not accept the `Authorization` of its entry"),
        "{words}"
    );
}

#[test]
fn a_call_that_needs_more_rights_says_so_and_the_next_login_asks_for_them() {
    let model = calling("mcp__web__greet", json!({"name": "Ann"}));
    let house = house(&model);
    let closed = ProtectedServer::start();
    closed.authority().needs = "admin";
    closed.configure(&house);
    logged_in(&house);
    assert_eq!(closed.authority().granted, "tools");
    run(&house, &["--allow", "mcp__web"], "Greet.").expect(0, "completed");
    let result = result_of(&model);
    assert!(result.contains("`reasonix mcp login web`"), "{result}");
    logged_in(&house);
    assert_eq!(closed.authority().granted, "tools admin");
    run(&house, &["--allow", "mcp__web"], "Greet.").expect(0, "completed");
    assert_eq!(result_of(&model), "Hello, Ann.");
}
