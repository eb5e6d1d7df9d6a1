//! An MCP server whose faults are its arguments, without any library: for tests of what servers do wrong.
//!
//! ```text
//! test-mcp-server [hang | crash | mortal | flood | babble | lie | malformed | many | reach | strict] [--describe TEXT] [--count FILE] [--calls FILE] [--more FILE]
//! ```
//!
//! `mortal` exits a second after its start, and `babble` floods its standard output once it has listed its tools.
//! `--count` and `--calls` add a line to a file at each start and at each call.
//! Each line of the file after `--more` is a tool besides its own. A call of `change` says that the list has changed.
//! `ask` asks the user with an elicitation, `odd` asks the client for something that does not exist, and both answer with
//! what the client said. `link` asks the user to open an address, `gated` wants that before its first call, and `sample` has the model answer a text. `ask_of_two`
//! asks when two calls of it are there. `five` answers when five calls of it are there. `environment` answers with its
//! variables. `chatty` sends 5,000 notifications first. `latin` answers with a byte that is not UTF-8. `structured` answers with the text and the structured content of its arguments.
//! `strict` exits if its first message is another one than `initialize`, as many servers do.
//! `reach` says which paths and addresses of its arguments it reaches.

use std::io::{BufRead as _, Write as _};
use std::process::exit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let fault = arguments.first().map_or("", String::as_str);
    note(after("--count").as_deref(), &std::process::id().into());
    let _ = writeln!(std::io::stderr(), "server says \u{1b}[31mhello\u{1b}[0m");
    match fault {
        "hang" => loop {
            std::thread::park();
        },
        "crash" => exit(3),
        "mortal" => drop(std::thread::spawn(|| {
            std::thread::sleep(std::time::Duration::from_secs(1));
            exit(9);
        })),
        "flood" => flood(),
        _ => {}
    }
    let describe = after("--describe");
    let mut is_begun = false;
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { exit(0) };
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        let Some(id) = message.get("id").cloned() else {
            continue;
        };
        let method = message.get("method").and_then(Value::as_str);
        let is_first = !std::mem::replace(&mut is_begun, true);
        if fault == "strict" && is_first && method != Some("initialize") {
            let _ = writeln!(std::io::stderr(), "expected initialize, got {message}");
            exit(1);
        }
        match method {
            None => answered(&message),
            Some("initialize") => {
                let version = message["params"]["protocolVersion"].clone();
                reply(
                    &id,
                    &json!({"protocolVersion": version, "capabilities": {"tools": {"listChanged": true}},
                    "serverInfo": {"name": "scripted", "version": "1"}}),
                );
            }
            Some("tools/list") => {
                let description = describe_now(describe.as_deref());
                let mut tools = vec![
                    tool("add", &description),
                    tool("slow", "Never answers."),
                    tool("die", "Ends the server."),
                    tool("escape", "Answers with escapes."),
                    tool("chatty", "Sends many notifications."),
                    tool("latin", "Answers in another encoding than UTF-8."),
                    tool("odd", "Asks for what does not exist."),
                    tool("environment", "Answers with its variables."),
                    reader("ask", "Asks the user."),
                    reader("ask_of_two", "Asks the user."),
                    reader("link", "Sends the user to a page."),
                    reader("sample", "Asks the model."),
                    reader("gated", "Works once the user was at a page."),
                    reader("five", "Waits for five calls."),
                    reader("picture", "Answers with an image."),
                ];
                let more = after("--more").and_then(|file| std::fs::read_to_string(file).ok());
                for name in more.as_deref().unwrap_or_default().lines() {
                    tools.push(tool(name, "One more."));
                }
                if fault == "lie" {
                    tools = vec![
                        tool("good", "Works."),
                        json!({"name": "bad", "inputSchema": {"type": "array"}}),
                        json!({"name": "deep", "inputSchema": nested(200)}),
                        json!({"name": "either", "description": "Takes either.", "inputSchema": {"type": "object",
                            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
                            "properties": {"a": {"type": "array"}, "b": {"type": "string"}}}}),
                    ];
                }
                if fault == "malformed" {
                    tools = vec![
                        tool("good", "Works."),
                        json!({"name": "unfinished"}),
                        json!({"name": "odd", "inputSchema": "text"}),
                        json!("nothing"),
                        tool("structured", "Answers with structured content."),
                    ];
                }
                if fault == "reach" {
                    tools = vec![tool("reach", "Says what it reaches.")];
                }
                if fault == "many" {
                    tools = (0..300)
                        .map(|n| tool(&format!("tool{n}"), "One of many."))
                        .collect();
                }
                reply(&id, &json!({"tools": tools}));
                if fault == "babble" {
                    drop(std::thread::spawn(flood));
                }
            }
            Some("tools/call") => {
                note(after("--calls").as_deref(), &message["params"]["name"]);
                call(&id, &message);
            }
            Some("ping") => reply(&id, &json!({})),
            _ => println(&json!({"jsonrpc": "2.0", "id": id,
                "error": {"code": -32601, "message": "no such method"}})),
        }
    }
}

/// Adds a line to a file.
fn note(file: Option<&str>, line: &Value) {
    let Some(file) = file else { return };
    let file = std::fs::File::options()
        .append(true)
        .create(true)
        .open(file);
    if let Ok(mut file) = file {
        let _ = writeln!(file, "{line}");
    }
}

fn flood() -> ! {
    loop {
        if std::io::stdout().write_all(&[b'x'; 4096]).is_err() {
            exit(1);
        }
        println(&json!("noise"));
    }
}

/// The description, read from a file if it is the path of one.
fn describe_now(describe: Option<&str>) -> String {
    let text = describe.unwrap_or("Adds two numbers.");
    std::fs::read_to_string(text).unwrap_or_else(|_| text.to_owned())
}

fn call(id: &Value, message: &Value) {
    let arguments = &message["params"]["arguments"];
    match message["params"]["name"].as_str() {
        Some("add") => {
            let sum = arguments["a"].as_i64().unwrap_or(0) + arguments["b"].as_i64().unwrap_or(0);
            text(id, &sum.to_string());
        }
        Some("slow") => {}
        Some("change") => {
            println(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
            text(id, "changed");
        }
        Some("die") => exit(7),
        Some("ask") => ask(vec![id.clone()], arguments),
        Some("link") => {
            let params = json!({"mode": "url", "message": "Pay there.", "elicitationId": "e-1",
                "url": arguments["url"].as_str().unwrap_or("https://pay.example/now?id=1")});
            request(vec![id.clone()], "elicitation/create", &params);
        }
        Some("gated") => gated(id, arguments),
        Some("sample") => {
            let said =
                json!({"role": "user", "content": {"type": "text", "text": "How much is it?"}});
            let params = json!({"messages": [said], "systemPrompt": "Be brief.",
                "maxTokens": 100, "temperature": 0.5, "includeContext": "allServers"});
            request(vec![id.clone()], "sampling/createMessage", &params);
        }
        Some("ask_of_two") => {
            let both = gathered(id, 2);
            if !both.is_empty() {
                ask(both, arguments);
            }
        }
        Some("five") => {
            // The last one first.
            for (number, id) in gathered(id, 5).iter().enumerate().rev() {
                text(id, &format!("number {number}"));
            }
        }
        Some("odd") => request(vec![id.clone()], "odd/request", &json!({})),
        Some("environment") => {
            let variables = std::env::vars_os().map(|(name, value)| {
                format!("{}={}\n", name.to_string_lossy(), value.to_string_lossy())
            });
            text(id, &variables.collect::<String>());
        }
        Some("picture") => picture(id, arguments),
        Some("reach") => text(id, &reach(arguments)),
        Some("chatty") => {
            let said = json!({"level": "info", "data": "a word of the server ".repeat(10)});
            for _ in 0..5_000 {
                println(
                    &json!({"jsonrpc": "2.0", "method": "notifications/message", "params": said}),
                );
            }
            text(id, "said");
        }
        Some("latin") => {
            let mut out = std::io::stdout();
            let begins = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"caf"#
            );
            let line = [begins.as_bytes(), b"\xe9\"}]}}\n"].concat();
            if out.write_all(&line).and_then(|()| out.flush()).is_err() {
                exit(1);
            }
        }
        Some("structured") => {
            let said = json!({"type": "text", "text": arguments["text"]});
            let content = json!({"content": [said], "structuredContent": arguments["content"]});
            reply(id, &content);
        }
        Some("escape") => text(id, "a\u{1b}]0;title\u{7}b\u{202e}c"),
        _ => text(id, "done"),
    }
}

/// Tries the paths and addresses of the arguments, by what is to be done with them: a line for each.
fn reach(arguments: &Value) -> String {
    let tried = |way: &str| {
        let all = arguments[way].as_array().cloned().unwrap_or_default();
        let lines = all.iter().map(|place| {
            let place = place.as_str().unwrap_or_default();
            let done = match way {
                "write" => std::fs::write(place, "WRITTEN").is_ok(),
                "read" => std::fs::read(place).is_ok_and(|text| !text.is_empty()),
                "connect" => std::os::unix::net::UnixStream::connect(place).is_ok(),
                _ => std::net::TcpStream::connect(place).is_ok(),
            };
            format!("{way} {place}: {}\n", if done { "yes" } else { "no" })
        });
        lines.collect::<String>()
    };
    ["write", "read", "connect", "tcp"].map(tried).concat()
}

/// Wants a link opened first; the second call works.
fn gated(id: &Value, arguments: &Value) {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    if CALLS.fetch_add(1, Ordering::Relaxed) > 0 {
        return text(id, "opened");
    }
    let url = arguments["url"]
        .as_str()
        .unwrap_or("https://pay.example/now?id=1");
    let link = json!({"mode": "url", "elicitationId": "e-1", "url": url, "message": "Pay there."});
    println(
        &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32042,
        "message": "a link has to be opened", "data": {"elicitations": [link]}}}),
    );
}

/// A text, and an image of 3x2 pixels or what the arguments say, which may be called a failure.
fn picture(id: &Value, arguments: &Value) {
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAC0lEQVR4nGNgwAQAABQAAX3+Hu4AAAAASUVORK5CYII=";
    let data = arguments["data"].as_str().unwrap_or(png);
    // Servers get the type wrong.
    let image = json!({"type": "image", "data": data, "mimeType": "image/jpeg"});
    let said = json!({"type": "text", "text": "Look."});
    let failed = arguments["failed"].as_bool() == Some(true);
    reply(id, &json!({"content": [said, image], "isError": failed}));
}

/// Calls that wait: for others, or for the answer to a request of ours, by its id.
static WAITING: Mutex<Vec<Value>> = Mutex::new(Vec::new());
static ASKED: Mutex<Vec<(String, Vec<Value>)>> = Mutex::new(Vec::new());

/// All calls that wait, once there are so many.
fn gathered(id: &Value, count: usize) -> Vec<Value> {
    let Ok(mut waiting) = WAITING.lock() else {
        exit(1)
    };
    waiting.push(id.clone());
    match waiting.len() < count {
        true => Vec::new(),
        false => std::mem::take(&mut *waiting),
    }
}

/// Asks the user for a name and a colour, or only for a yes if `arguments` say so. The calls wait for the answer.
fn ask(calls: Vec<Value>, arguments: &Value) {
    let properties = match arguments["plain"].as_bool() {
        Some(true) => json!({}),
        _ => json!({
            "name": {"type": "string", "title": "Your name", "minLength": 2},
            "colour": {"type": "string", "enum": ["r", "b"], "enumNames": ["Red", "Blue"]},
            "age": {"type": "integer", "minimum": 1},
        }),
    };
    let schema = json!({"type": "object", "properties": properties, "required": ["name"]});
    let params = json!({"message": "Who are\u{1b}]0;x\u{7} you?", "requestedSchema": schema});
    request(calls, "elicitation/create", &params);
}

/// Sends a request to the client. The calls wait for the answer.
fn request(calls: Vec<Value>, method: &str, params: &Value) {
    let Ok(mut asked) = ASKED.lock() else { exit(1) };
    let id = format!("ours-{}", calls[0]);
    println(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    asked.push((id, calls));
}

/// The client has answered a request of ours: the calls that wait for it end with that.
fn answered(message: &Value) {
    let Ok(mut asked) = ASKED.lock() else { exit(1) };
    let is_it = |(id, _): &(String, Vec<Value>)| message["id"] == **id;
    if let Some(place) = asked.iter().position(is_it) {
        let said = match message.get("result") {
            Some(result) => json!({"result": result}),
            None => json!({"error": message["error"]}),
        };
        for call in asked.remove(place).1 {
            text(&call, &said.to_string());
        }
    }
}

/// A schema of so many levels.
fn nested(depth: usize) -> Value {
    (0..depth).fold(
        json!({"type": "object"}),
        |inner, _| json!({"type": "object", "properties": {"a": inner}}),
    )
}

fn reader(name: &str, description: &str) -> Value {
    let mut tool = tool(name, description);
    tool["annotations"] = json!({"readOnlyHint": true});
    tool
}

fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object"}})
}

fn text(id: &Value, text: &str) {
    reply(id, &json!({"content": [{"type": "text", "text": text}]}));
}

fn reply(id: &Value, result: &Value) {
    println(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
}

fn println(message: &Value) {
    let mut out = std::io::stdout();
    if writeln!(out, "{message}")
        .and_then(|()| out.flush())
        .is_err()
    {
        exit(1);
    }
}
