//! The scripted endpoint of a soak: it streams, calls tools, breaks off, and writes summaries.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::model::{Answer, Fault, Model, Request, Script, Usage};

use crate::Chance;
use crate::house::faulty_server;

/// Tokens of the model's window: small, so that sessions are compacted every few turns.
const WINDOW: &str = "context_window = 24000";
/// Turns of calls in a row at most: then it says something.
const CALLS_MAX: usize = 6;

/// Starts it.
pub(super) fn start(seed: u64) -> Model {
    let mut chance = Chance::of(seed ^ 0x5eed);
    Model::start(Script::by(move |request| answer(&mut chance, request)))
}

/// Its entry of `[[providers]]`.
pub(super) fn entry(model: &Model) -> String {
    model
        .entry("vendor", None)
        .replace("context_window = 100000", WINDOW)
}

/// The user's MCP servers: one that works, and one that exits a second after each start.
pub(super) fn servers() -> Value {
    let server = |fault| json!({"command": faulty_server(), "args": [fault]});
    json!({"mcpServers": {"adds": server("ok"), "mortal": server("mortal")}})
}

/// The project's files.
pub(super) fn files() -> String {
    let page: String = (0..400)
        .map(|line| format!("line {line} of a page that is read again and again\n"))
        .collect();
    format!("//- page.txt\n{page}")
}

fn answer(chance: &mut Chance, request: &Request) -> Answer {
    let usage = Usage {
        prompt: request.body.len() as u64 / 4,
        cached: 0,
        output: 50,
        reasoning: 0,
    };
    if request.last_text().contains("Write a summary") {
        return Answer::text("A summary: it went on.").usage(usage);
    }
    let turn = request
        .messages()
        .iter()
        .rev()
        .take_while(|message| message["role"] != "user")
        .filter(|message| message["role"] == "assistant")
        .count();
    let words = "Words that come one after the other, and are shown as they come. ";
    let answer = match chance.below(if turn < CALLS_MAX { 13 } else { 3 }) {
        0 => Answer::text(words.repeat(4)).paced(16, Duration::from_millis(5)),
        1 => Answer::text(words.repeat(120)).reasoning(&words.repeat(3)),
        2 => Answer::text(words).paced(8, Duration::from_millis(20)),
        3 => Answer::call("read_file", json!({"path": "page.txt"}))
            .and_call("ls", json!({"path": "."})),
        4 => bash("echo one; sleep 0.2", false),
        // It leaves a process running.
        5 => bash(
            "sleep 31 & (setsid sleep 32 &) ; sleep 0.1; echo left",
            false,
        ),
        6 => bash("sleep 2; echo late", true),
        7 => bash("seq 1 4000; sleep 0.1", false),
        9 => Answer::call("mcp__adds__add", json!({"a": 2, "b": 3})),
        // It goes away now and then.
        10 => Answer::call("mcp__mortal__add", json!({"a": 1, "b": 1})),
        11 => Answer::call(
            "task",
            json!({"agent": "explore", "prompt": "look", "description": "a look",
                "background": chance.once_in(3)}),
        ),
        8 => bash("sleep 1", false).and_call("read_file", json!({"path": "page.txt"})),
        _ => Answer::call(
            "write_file",
            json!({"path": format!("made{}.txt", chance.below(20)), "content": words.repeat(10)}),
        ),
    };
    let answer = answer.usage(usage);
    match chance.below(40) {
        0 => answer.fault(Fault::Reset),
        1 => answer.fault(Fault::Eof),
        2 => answer.fault(Fault::Stall),
        3 => answer.fault(Fault::status(500)),
        4 => answer.fault(Fault::Malformed),
        5 => answer.fault(Fault::HangUp),
        _ => answer,
    }
}

fn bash(command: &str, background: bool) -> Answer {
    Answer::call(
        "bash",
        json!({"command": command, "run_in_background": background}),
    )
}
