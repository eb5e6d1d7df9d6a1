//! An MCP server whose faults are its arguments, without any library: for tests of what servers do wrong.
//!
//! ```text
//! test-mcp-server [hang | crash | flood | noise | lie | many] [--describe TEXT] [--count FILE] [--more FILE]
//! ```
//!
//! Each line of the file after `--more` is a tool besides its own. A call of `change` says that the list has changed.

use std::io::{BufRead as _, Write as _};
use std::process::exit;

use serde_json::{Value, json};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let fault = arguments.first().map_or("", String::as_str);
    if let Some(file) = after("--count") {
        let file = std::fs::File::options()
            .append(true)
            .create(true)
            .open(file);
        if let Ok(mut file) = file {
            let _ = writeln!(file, "{}", std::process::id());
        }
    }
    let _ = writeln!(std::io::stderr(), "server says \u{1b}[31mhello\u{1b}[0m");
    match fault {
        "hang" => loop {
            std::thread::park();
        },
        "crash" => exit(3),
        "flood" => loop {
            if std::io::stdout().write_all(&[b'x'; 4096]).is_err() {
                exit(1);
            }
            println(&json!("noise"));
        },
        _ => {}
    }
    let describe = after("--describe");
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { exit(0) };
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        let Some(id) = message.get("id").cloned() else {
            continue;
        };
        let method = message.get("method").and_then(Value::as_str);
        match method {
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
                ];
                let more = after("--more").and_then(|file| std::fs::read_to_string(file).ok());
                for name in more.as_deref().unwrap_or_default().lines() {
                    tools.push(tool(name, "One more."));
                }
                if fault == "lie" {
                    tools = vec![
                        tool("good", "Works."),
                        json!({"name": "bad", "inputSchema": {"type": "array"}}),
                    ];
                }
                if fault == "many" {
                    tools = (0..60)
                        .map(|n| tool(&format!("tool{n}"), "One of many."))
                        .collect();
                }
                reply(&id, &json!({"tools": tools}));
            }
            Some("tools/call") => call(&id, &message),
            Some("ping") => reply(&id, &json!({})),
            _ => println(&json!({"jsonrpc": "2.0", "id": id,
                "error": {"code": -32601, "message": "no such method"}})),
        }
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
        Some("escape") => text(id, "a\u{1b}]0;title\u{7}b\u{202e}c"),
        _ => text(id, "done"),
    }
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
