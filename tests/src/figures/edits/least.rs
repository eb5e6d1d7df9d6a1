//! The least agent that can follow a script: a loop that posts the conversation, reads the answer and does its calls. No
//! settings, no permissions, no log.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use super::of_children;
use crate::figures::endpoint::Endpoint;
use crate::figures::floors::post;

/// The cost of one session.
pub struct SessionCost {
    /// Microseconds of processors, the commands' with it.
    pub processor: u64,
    pub elapsed: Duration,
}

/// Follows the endpoint's script to its end.
pub fn session(endpoint: &Endpoint, project: &Path) -> SessionCost {
    let time = || {
        let own = clock_gettime(ClockId::ThreadCPUTime);
        of_children() * 1e6 + own.tv_sec as f64 * 1e6 + own.tv_nsec as f64 / 1e3
    };
    let (before, begun) = (time(), Instant::now());
    run(endpoint, project);
    SessionCost {
        processor: (time() - before) as u64,
        elapsed: begun.elapsed(),
    }
}

fn run(endpoint: &Endpoint, project: &Path) {
    let stream = endpoint.connect();
    let mut messages = json!({"role": "user", "content": "edit them"}).to_string();
    loop {
        let body =
            format!("{{\"model\":\"test-model\",\"stream\":true,\"messages\":[{messages}]}}");
        let (text, calls) = heard(&post(&stream, body.as_bytes()));
        let mut said = json!({"role": "assistant", "content": text});
        if calls.is_empty() {
            return;
        }
        said["tool_calls"] = calls.values().cloned().collect();
        messages.push_str(&format!(",{said}"));
        for call in calls.values() {
            let result =
                json!({"role": "tool", "tool_call_id": call["id"], "content": tool(call, project)});
            messages.push_str(&format!(",{result}"));
        }
    }
}

/// The text of an answer, and its calls.
fn heard(answer: &[u8]) -> (String, BTreeMap<u64, Value>) {
    let answer = String::from_utf8_lossy(answer);
    let (mut text, mut calls) = (String::new(), BTreeMap::new());
    for data in answer
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
    {
        let Ok(event) = serde_json::from_str::<Value>(data) else {
            continue;
        };
        let delta = &event["choices"][0]["delta"];
        text.push_str(delta["content"].as_str().unwrap_or_default());
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            calls.insert(call["index"].as_u64().unwrap_or_default(), call.clone());
        }
    }
    (text, calls)
}

fn tool(call: &Value, project: &Path) -> String {
    let function = &call["function"];
    let arguments = function["arguments"].as_str().unwrap_or_default();
    let arguments: Value = serde_json::from_str(arguments).expect("arguments in JSON");
    let word = |name: &str| arguments[name].as_str().unwrap_or_default();
    let path = project.join(word("path"));
    let read = || fs::read_to_string(&path).expect("a file");
    match function["name"].as_str() {
        Some("read_file") => read(),
        Some("edit_file") => {
            let text = read().replacen(word("old_string"), word("new_string"), 1);
            fs::write(&path, text).expect("written");
            "ok".to_owned()
        }
        Some("grep") => output(
            Command::new("grep")
                .args(["-rnE", word("pattern")])
                .arg(&path),
        ),
        _ => output(
            Command::new("/bin/bash")
                .args(["-c", word("command")])
                .current_dir(project),
        ),
    }
}

fn output(command: &mut Command) -> String {
    let output = command.output().expect("a command that starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
