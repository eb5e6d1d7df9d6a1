//! An MCP server over streamable HTTP: a small one of these tests, on loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::{Value, json};
use testkit::model::{Answer, Model, Request, Script};
use tests::until;

use crate::mcp::{again, calling, calling_each_turn, offered, result_of, servers};
use crate::scripted::{house, run};

/// A request that came: its method and target, its headers with names in lower case, its body as text and as JSON.
#[derive(Clone, Debug)]
pub(crate) struct HttpRequest {
    pub method: String,
    pub target: String,
    pub headers: Vec<String>,
    pub text: String,
    pub body: Value,
}

impl HttpRequest {
    pub fn has(&self, header: &str) -> bool {
        self.headers.iter().any(|line| line == header)
    }

    pub fn rpc(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }
}

/// The id of the one session.
const SESSION: &str = "session-1";

/// Serves until the test's process ends. Returns its address, and what comes.
fn serve() -> (String, Arc<Mutex<Vec<HttpRequest>>>) {
    let (base, came) = serve_with(|came, _| answer(came));
    (format!("{base}/mcp"), came)
}

/// A server at one address, where nothing listens after a stop.
struct Stoppable {
    address: SocketAddr,
    is_stopped: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Stoppable {
    fn start(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).expect("its port");
        let address = listener.local_addr().expect("an address");
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&is_stopped);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                if let Some(came) = read(&stream) {
                    let _ = (&stream).write_all(answer(&came).as_bytes());
                }
            }
        });
        Self {
            address,
            is_stopped,
            thread,
        }
    }

    fn stop(self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        // Wakes it.
        drop(TcpStream::connect(self.address));
        self.thread.join().expect("the server");
    }
}

/// Serves these answers until the test's process ends. They are given the server's own address.
pub(crate) fn serve_with(
    answer: impl Fn(&HttpRequest, &str) -> String + Send + Sync + 'static,
) -> (String, Arc<Mutex<Vec<HttpRequest>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    let shared = Arc::new((base.clone(), answer));
    let all = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&all);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (kept, shared) = (Arc::clone(&kept), Arc::clone(&shared));
            std::thread::spawn(move || {
                if let Some(came) = read(&stream) {
                    let answer = (shared.1)(&came, &shared.0);
                    kept.lock().expect("the requests").push(came);
                    let _ = (&stream).write_all(answer.as_bytes());
                }
            });
        }
    });
    (base, all)
}

fn read(stream: &TcpStream) -> Option<HttpRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, target) = (words.next()?, words.next()?);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end() {
            "" => break,
            line => {
                let (name, value) = line.split_once(':')?;
                headers.push(format!("{}: {}", name.to_lowercase(), value.trim()));
            }
        }
    }
    let length = headers
        .iter()
        .find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(Some(0), |length| length.parse().ok())?];
    reader.read_exact(&mut body).ok()?;
    let text = String::from_utf8(body).ok()?;
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    Some(HttpRequest {
        method,
        target,
        headers,
        text,
        body,
    })
}

/// A response with this status, these lines of headers and this body.
pub(crate) fn with(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// What the small server answers.
pub(crate) fn answer(came: &HttpRequest) -> String {
    let json_type = "Content-Type: application/json\r\n";
    if came.method != "POST" {
        // No stream of its own, and nothing to keep of a session that ends.
        return with("405 Method Not Allowed", "", "");
    }
    let Some(id) = came.body.get("id") else {
        return with("202 Accepted", "", "");
    };
    let result = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    let is_known = came.has(&format!("mcp-session-id: {SESSION}"));
    match came.rpc() {
        "initialize" => {
            let version = &came.body["params"]["protocolVersion"];
            let body = result(
                json!({"protocolVersion": version, "capabilities": {"tools": {}},
                "serverInfo": {"name": "small", "version": "1"}}),
            );
            with(
                "200 OK",
                &format!("{json_type}Mcp-Session-Id: {SESSION}\r\n"),
                &body,
            )
        }
        "tools/list" | "tools/call" if !is_known => with("400 Bad Request", "", "no session"),
        "tools/list" => {
            let tools = [json!({"name": "greet", "description": "Greets.",
                "inputSchema": {"type": "object"}})];
            with("200 OK", json_type, &result(json!({"tools": tools})))
        }
        "tools/call" => {
            let name = came.body["params"]["arguments"]["name"]
                .as_str()
                .unwrap_or_default();
            let content = json!({"content": [{"type": "text", "text": format!("Hello, {name}.")}]});
            let event = format!(
                "id: 1\r\nevent: message\r\ndata: {}\r\n\r\n",
                result(content)
            );
            with("200 OK", "Content-Type: text/event-stream\r\n", &event)
        }
        _ => {
            let error = json!({"code": -32601, "message": "no such method"});
            let body = json!({"jsonrpc": "2.0", "id": id, "error": error});
            with("200 OK", json_type, &body.to_string())
        }
    }
}

#[test]
fn a_server_over_streamable_http_has_tools_and_gets_its_session_and_headers_back() {
    let (url, came) = serve();
    let model = calling("mcp__web__greet", json!({"name": "Ann"}));
    let house = house(&model);
    let headers = json!({"Authorization": "Bearer sesame-opens", "X-Team": "blue"});
    servers(
        &house,
        &json!({"web": {"type": "http", "url": url, "headers": headers}}),
    );
    run(&house, &["--allow", "mcp__web"], "Greet.").expect(0, "completed");
    assert_eq!(offered(&model.requests()[0]), ["mcp__web__greet"]);
    assert_eq!(result_of(&model), "Hello, Ann.");
    let came = came.lock().expect("the requests").clone();
    for wanted in ["initialize", "tools/list", "tools/call"] {
        let found = came.iter().find(|came| came.rpc() == wanted);
        let found = found.unwrap_or_else(|| panic!("{wanted}: {came:#?}"));
        assert!(
            found.has("authorization: Bearer sesame-opens"),
            "{found:#?}"
        );
        assert!(found.has("x-team: blue"), "{found:#?}");
    }
    let listed = house.reasonix(&["mcp", "list"]).expect_code(0);
    assert!(!listed.out.contains("sesame-opens"), "{listed:?}");
    model.assert_prefix();
}

#[test]
fn a_call_whose_stream_breaks_off_is_resumed_after_the_last_event() {
    let pending = Mutex::new(Value::Null);
    let (base, came) = serve_with(move |came, _| {
        let stream = |body: &str| with("200 OK", "Content-Type: text/event-stream\r\n", body);
        let mut pending = pending.lock().expect("the call");
        match (came.method.as_str(), came.rpc()) {
            // The stream ends before the result.
            ("POST", "tools/call") => {
                *pending = came.body["id"].clone();
                stream("id: event-7\r\nretry: 10\r\ndata: \r\n\r\n")
            }
            ("GET", _) if came.has("last-event-id: event-7") => {
                let content = json!({"content": [{"type": "text", "text": "Resumed."}]});
                let result = json!({"jsonrpc": "2.0", "id": *pending, "result": content});
                stream(&format!(
                    "id: event-8\r\nevent: message\r\ndata: {result}\r\n\r\n"
                ))
            }
            _ => answer(came),
        }
    });
    let model = calling("mcp__web__greet", json!({"name": "Ann"}));
    let house = house(&model);
    servers(&house, &json!({"web": {"url": format!("{base}/mcp")}}));
    run(&house, &["--allow", "mcp__web"], "Greet.").expect(0, "completed");
    assert_eq!(result_of(&model), "Resumed.");
    let came = came.lock().expect("the requests").clone();
    let calls = came.iter().filter(|came| came.rpc() == "tools/call");
    assert_eq!(calls.count(), 1, "nothing runs twice");
    let resumed = came.iter().find(|came| came.has("last-event-id: event-7"));
    let resumed = resumed.expect("a request to go on");
    assert!(
        resumed.has(&format!("mcp-session-id: {SESSION}")),
        "{resumed:#?}"
    );
}

#[test]
fn a_server_that_refuses_the_common_handshake_gets_the_newest_one() {
    let (base, came) = serve_with(|came, _| match came.rpc() {
        "initialize" => with("400 Bad Request", "", "no such method"),
        "server/discover" => {
            let result = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"});
            let body = json!({"jsonrpc": "2.0", "id": came.body["id"], "result": result});
            let json_type = "Content-Type: application/json\r\n";
            with("200 OK", json_type, &body.to_string())
        }
        _ => {
            let mut known = came.clone();
            known.headers.push(format!("mcp-session-id: {SESSION}"));
            answer(&known)
        }
    });
    let model = calling("mcp__web__greet", json!({"name": "Ann"}));
    let house = house(&model);
    servers(&house, &json!({"web": {"url": format!("{base}/mcp")}}));
    run(&house, &["--allow", "mcp__web"], "Greet.").expect(0, "completed");
    assert_eq!(result_of(&model), "Hello, Ann.");
    let came = came.lock().expect("the requests").clone();
    let first: Vec<_> = came.iter().take(2).map(HttpRequest::rpc).collect();
    assert_eq!(first, ["initialize", "server/discover"]);
    let version = &came[0].body["params"]["protocolVersion"];
    assert_eq!(version, "2025-11-25", "the newest that has this handshake");
}

/// How a server that was restarted answers to a session that it does not know.
#[derive(Clone, Copy, Debug)]
enum Unknown {
    NotFound,
    PlainText,
    ErrorWithoutId,
    ErrorOfRequest,
    Gone,
}

impl Unknown {
    fn answer(self, came: &HttpRequest) -> String {
        let json_type = "Content-Type: application/json\r\n";
        let error = |id: &Value, code: i32, message: &str| {
            let error = json!({"code": code, "message": message});
            json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
        };
        match self {
            Self::NotFound => with("404 Not Found", "", ""),
            Self::PlainText => with(
                "400 Bad Request",
                "Content-Type: text/plain\r\n",
                "Bad Request: No valid session ID provided",
            ),
            Self::ErrorWithoutId => {
                let body = error(
                    &Value::Null,
                    -32_000,
                    "Bad Request: No valid session ID provided",
                );
                with("400 Bad Request", json_type, &body)
            }
            Self::ErrorOfRequest => {
                let body = error(&came.body["id"], -32_001, "Session not found");
                with("200 OK", json_type, &body)
            }
            Self::Gone => with("410 Gone", "", ""),
        }
    }
}

/// A server that is restarted before the first call of a tool: it gives numbered sessions, and knows the newest only.
/// `again`: it starts another session after that.
fn restarted(unknown: Unknown, again: bool) -> (String, Arc<Mutex<Vec<HttpRequest>>>) {
    let (sessions, was_called) = (AtomicUsize::new(0), Mutex::new(false));
    let (base, came) = serve_with(move |came, _| {
        let mut was_called = was_called.lock().expect("the calls");
        match came.rpc() {
            "initialize" if *was_called && !again => {
                with("503 Service Unavailable", "", "starting")
            }
            "initialize" => {
                let number = sessions.fetch_add(1, Ordering::SeqCst) + 1;
                let numbered = format!("Mcp-Session-Id: number-{number}");
                answer(came).replace(&format!("Mcp-Session-Id: {SESSION}"), &numbered)
            }
            "tools/list" | "tools/call" | "notifications/initialized" => {
                let number = sessions.load(Ordering::SeqCst);
                let restarts =
                    came.rpc() == "tools/call" && !std::mem::replace(&mut *was_called, true);
                match came.has(&format!("mcp-session-id: number-{number}")) && !restarts {
                    true => {
                        let mut known = came.clone();
                        known.headers.push(format!("mcp-session-id: {SESSION}"));
                        answer(&known)
                    }
                    false => unknown.answer(came),
                }
            }
            _ => answer(came),
        }
    });
    (format!("{base}/mcp"), came)
}

fn count(came: &Mutex<Vec<HttpRequest>>, method: &str) -> usize {
    let came = came.lock().expect("the requests");
    came.iter().filter(|came| came.rpc() == method).count()
}

#[test]
fn restarted_server_that_does_not_know_the_session_gets_another_one_and_the_call_once_more() {
    for unknown in [
        Unknown::NotFound,
        Unknown::PlainText,
        Unknown::ErrorWithoutId,
        Unknown::ErrorOfRequest,
        Unknown::Gone,
    ] {
        let (url, came) = restarted(unknown, true);
        let model = calling("mcp__web__greet", json!({"name": "Ann"}));
        let house = house(&model);
        servers(&house, &json!({"web": {"url": url, "timeout_seconds": 20}}));
        run(&house, &["--allow", "mcp__web"], "Greet.").expect(0, "completed");
        assert_eq!(result_of(&model), "Hello, Ann.", "{unknown:?}");
        assert_eq!(count(&came, "initialize"), 2, "{unknown:?}");
        assert_eq!(count(&came, "tools/call"), 2, "{unknown:?}");
    }
}

#[test]
fn server_that_starts_no_other_session_has_failed_and_the_cause_is_said() {
    let (url, came) = restarted(Unknown::PlainText, false);
    let model = calling("mcp__web__greet", json!({"name": "Ann"}));
    let house = house(&model);
    servers(&house, &json!({"web": {"url": url, "timeout_seconds": 20}}));
    run(&house, &["--allow", "mcp__web"], "Greet.").expect(0, "completed");
    let said = result_of(&model);
    assert!(
        said.contains("no other one could be started") && said.contains("503"),
        "{said}"
    );
    assert_eq!(count(&came, "tools/call"), 1, "it is not sent again");
    let listed = until("the server to be shown as failed", || {
        let listed = house
            .reasonix(&["mcp", "list", "--json"])
            .expect_code(0)
            .out;
        let listed: Value = serde_json::from_str(&listed).expect("JSON");
        let server = listed["servers"][0].clone();
        (server["state"] != "ready" && !server["reason"].is_null()).then_some(server)
    });
    let reason = listed["reason"].as_str().unwrap_or_default().to_owned();
    assert!(reason.contains("503"), "{listed}");
}

#[test]
fn call_whose_stream_a_restarted_server_does_not_know_ends_at_once() {
    let (base, came) = serve_with(|came, _| match (came.method.as_str(), came.rpc()) {
        ("POST", "tools/call") => {
            let event = "id: event-7\r\nretry: 10\r\ndata: \r\n\r\n";
            with("200 OK", "Content-Type: text/event-stream\r\n", event)
        }
        ("GET", _) if came.has("last-event-id: event-7") => with("404 Not Found", "", ""),
        _ => answer(came),
    });
    let model = calling("mcp__web__greet", json!({"name": "Ann"}));
    let house = house(&model);
    let entry = json!({"url": format!("{base}/mcp"), "timeout_seconds": 20});
    servers(&house, &json!({"web": entry}));
    run(&house, &["--allow", "mcp__web"], "Greet.").expect(0, "completed");
    let said = result_of(&model);
    assert!(
        said.contains("broke while the call ran") && said.contains("may have had effects"),
        "{said}"
    );
    assert_eq!(count(&came, "tools/call"), 1, "nothing runs twice");
}

#[test]
fn server_that_cannot_be_reached_is_said_in_plain_words() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let model = Model::start([Answer::text("Hello.")]);
    let house = house(&model);
    servers(
        &house,
        &json!({"web": {"url": format!("http://{address}/mcp")}}),
    );
    let tested = house.reasonix(&["mcp", "test", "web"]).expect_code(1);
    for wanted in ["cannot connect to", "Connection refused"] {
        assert!(tested.err.contains(wanted), "{wanted}: {tested:?}");
    }
    assert!(!tested.err.contains("::"), "no names of types: {tested:?}");
}

#[test]
fn value_of_a_variable_is_a_secret_only_if_it_is_called_like_one() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener
        .local_addr()
        .expect("an address")
        .port()
        .to_string();
    drop(listener);
    let model = Model::start([Answer::text("Hello.")]);
    let house = house(&model);
    servers(
        &house,
        &json!({"plain": {"url": "http://127.0.0.1:${WEB_PORT}/mcp"},
            "secret": {"url": "http://127.0.0.1:${WEB_PORT}/${WEB_TOKEN}",
                "headers": {"X-Token": "${WEB_TOKEN}"}},
            "pat": {"url": "http://127.0.0.1:${WEB_PORT}/${WEB_PAT}"}}),
    );
    for name in ["plain", "secret", "pat"] {
        let mut command = house.command(&["mcp", "test", name]);
        let tested = tests::program::run(
            command
                .env("WEB_PORT", &port)
                .env("WEB_TOKEN", "one-of-the-users")
                .env("WEB_PAT", "one-of-the-users-too"),
        );
        let tested = tested.expect_code(1);
        let address = format!("127.0.0.1:{port}/");
        assert!(tested.err.contains(&address), "{name}: {tested:?}");
        assert!(!tested.err.contains("one-of-the-users"), "{tested:?}");
    }
}

#[test]
fn question_on_the_stream_of_a_call_belongs_to_that_call_whatever_other_sessions_did() {
    let (call, said) = (Mutex::new(Value::Null), Mutex::new(Value::Null));
    let (base, _) = serve_with(move |came, _| {
        let stream = |body: &str| with("200 OK", "Content-Type: text/event-stream\r\n", body);
        match (came.method.as_str(), came.rpc()) {
            ("POST", "tools/call") if came.body["params"]["arguments"]["name"] == "Bob" => {
                *call.lock().expect("the call") = came.body["id"].clone();
                let schema = json!({"type": "object", "properties": {}});
                let params = json!({"message": "Who are you?", "requestedSchema": schema});
                let asks = json!({"jsonrpc": "2.0", "id": "ask-1", "method": "elicitation/create",
                    "params": params});
                // The stream ends, and goes on once the question is answered.
                stream(&format!(
                    "id: event-7\r\nretry: 10\r\ndata: \r\n\r\nevent: message\r\ndata: {asks}\r\n\r\n"
                ))
            }
            ("POST", "") if came.body["id"] == "ask-1" => {
                *said.lock().expect("the answer") = came.body.clone();
                with("202 Accepted", "", "")
            }
            ("GET", _) if came.has("last-event-id: event-7") => {
                let said = until("the answer to the question", || {
                    let said = said.lock().expect("the answer").clone();
                    (!said.is_null()).then_some(said)
                });
                let content = json!({"content": [{"type": "text", "text": said.to_string()}]});
                let id = call.lock().expect("the call").clone();
                let result = json!({"jsonrpc": "2.0", "id": id, "result": content});
                stream(&format!("event: message\r\ndata: {result}\r\n\r\n"))
            }
            _ => answer(came),
        }
    });
    let model = Model::start(Script::by(|request: &Request| {
        let text = request.last_text();
        let name = if text.contains("Bob") { "Bob" } else { "Ann" };
        match request.answered() {
            0 => Answer::call("mcp__web__greet", json!({"name": name})),
            _ => Answer::text(text.to_owned()),
        }
    }));
    let house = house(&model);
    let entry = json!({"url": format!("{base}/mcp"), "timeout_seconds": 20});
    servers(&house, &json!({"web": entry}));
    for (prompt, wanted) in [
        ("Greet Ann.", "Hello, Ann."),
        ("Greet Bob.", "\"action\":\"cancel\""),
    ] {
        run(&house, &["--allow", "mcp__web"], prompt).expect(0, "completed");
        let said = result_of(&model);
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn a_server_whose_address_stops_answering_is_unreachable_in_lists_until_it_answers() {
    let server = Stoppable::start(SocketAddr::from(([127, 0, 0, 1], 0)));
    let address = server.address;
    let model = calling_each_turn("mcp__web__greet", json!({"name": "Ann"}));
    let house = house(&model);
    servers(
        &house,
        &json!({"web": {"url": format!("http://{address}/mcp")}}),
    );
    let ran = run(&house, &["--allow", "mcp__web"], "Greet.").expect(0, "completed");
    assert_eq!(result_of(&model), "Hello, Ann.");
    server.stop();
    let failed = again(&house, &model, &ran);
    for words in ["cannot be reached", "refused", "had no effect"] {
        assert!(failed.contains(words), "{words}: {failed}");
    }
    until("the lists to say so, with the cause", || {
        let listed = house.reasonix(&["mcp", "list"]).expect_code(0);
        let said = listed.out.contains("does not answer") && listed.err.contains("refused");
        said.then_some(())
    });
    let _server = Stoppable::start(address);
    // Nobody calls it: it is looked for.
    until("it to be ready again", || {
        let listed = house.reasonix(&["mcp", "list"]).expect_code(0);
        (listed.out.contains("ready") && !listed.err.contains("refused")).then_some(())
    });
    assert_eq!(again(&house, &model, &ran), "Hello, Ann.");
}

/// It answers a call with the beginning of a stream, and is gone.
#[test]
fn call_in_flight_ends_when_nobody_listens_at_the_address_any_more() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let server = std::thread::spawn(move || {
        loop {
            let (stream, _) = listener.accept().expect("a connection");
            let Some(came) = read(&stream) else { continue };
            let is_call = came.rpc() == "tools/call";
            let answer = match is_call {
                true => {
                    let event = "id: event-7\r\nretry: 10\r\ndata: \r\n\r\n";
                    with("200 OK", "Content-Type: text/event-stream\r\n", event)
                }
                false => answer(&came),
            };
            if is_call {
                drop(listener);
                let _ = (&stream).write_all(answer.as_bytes());
                return;
            }
            let _ = (&stream).write_all(answer.as_bytes());
        }
    });
    let model = calling("mcp__web__greet", json!({"name": "Ann"}));
    let house = house(&model);
    // Its limit is far longer than the test may take.
    let entry = json!({"url": format!("http://{address}/mcp"), "timeout_seconds": 3600});
    servers(&house, &json!({"web": entry}));
    run(&house, &["--allow", "mcp__web"], "Greet.").expect(0, "completed");
    server.join().expect("the server");
    let said = result_of(&model);
    for words in ["cannot be reached", "refused", "may have had effects"] {
        assert!(said.contains(words), "{words}: {said}");
    }
}
