//! An MCP server over streamable HTTP: a small one of these tests, on loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::mcp::{calling, offered, result_of, servers};
use crate::scripted::{house, run};

/// A request that came: its method and target, its headers with names in lower case, its body as text and as JSON.
#[derive(Clone, Debug)]
pub(crate) struct Came {
    pub method: String,
    pub target: String,
    pub headers: Vec<String>,
    pub text: String,
    pub body: Value,
}

impl Came {
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
fn serve() -> (String, Arc<Mutex<Vec<Came>>>) {
    let (base, came) = serve_with(|came, _| answer(came));
    (format!("{base}/mcp"), came)
}

/// Serves these answers until the test's process ends. They are given the server's own address.
pub(crate) fn serve_with(
    answer: impl Fn(&Came, &str) -> String + Send + Sync + 'static,
) -> (String, Arc<Mutex<Vec<Came>>>) {
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

fn read(stream: &TcpStream) -> Option<Came> {
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
    Some(Came {
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
pub(crate) fn answer(came: &Came) -> String {
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
fn a_server_that_answers_unknown_methods_with_nothing_gets_the_older_handshake() {
    let (base, came) = serve_with(|came, _| match came.rpc() {
        "server/discover" => {
            let body = json!({"jsonrpc": "2.0", "id": came.body["id"], "result": {}});
            let json_type = "Content-Type: application/json\r\n";
            with("200 OK", json_type, &body.to_string())
        }
        _ => answer(came),
    });
    let model = calling("mcp__web__greet", json!({"name": "Ann"}));
    let house = house(&model);
    servers(&house, &json!({"web": {"url": format!("{base}/mcp")}}));
    run(&house, &["--allow", "mcp__web"], "Greet.").expect(0, "completed");
    assert_eq!(result_of(&model), "Hello, Ann.");
    let came = came.lock().expect("the requests").clone();
    let started = came.iter().find(|came| came.rpc() == "initialize");
    let version = &started.expect("a handshake").body["params"]["protocolVersion"];
    assert_eq!(version, "2025-11-25", "the newest that has this handshake");
}
