//! An interactive run, at a pseudo-terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fake::{Call, Fake, FakeAction, SESSION, attached, durable, sync};
use crate::program::{Running, reasonix, terminal};

const PROMPT: &str = "01890000-0000-7000-8000-0000000000aa";

/// The output of the terminal so far.
#[derive(Clone, Default)]
pub struct Screen(Arc<(Mutex<String>, Condvar)>);

impl Screen {
    pub fn read(mut ours: File) -> Self {
        let screen = Self::default();
        let to = screen.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count) = ours.read(&mut buffer) {
                if count == 0 {
                    break;
                }
                to.0.0
                    .lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&buffer[..count]));
                to.0.1.notify_all();
            }
        });
        screen
    }

    /// All that has appeared.
    pub fn text(&self) -> String {
        self.0.0.lock().unwrap().clone()
    }

    pub fn wait_for(&self, words: &str) {
        self.wait_behind(0, words);
    }

    /// Waits for words after this many bytes; returns their end.
    pub fn wait_behind(&self, seen: usize, words: &str) -> usize {
        let until = Instant::now() + Duration::from_secs(20);
        let mut text = self.0.0.lock().unwrap();
        loop {
            if let Some(at) = text[seen..].find(words) {
                return seen + at + words.len();
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "`{words}` never appeared in {text:?}");
            text = self.0.1.wait_timeout(text, left).unwrap().0;
        }
    }
}

fn approval(scopes: &Value) -> Value {
    json!({"interaction_id": "3.1", "session": 3, "call": "c", "shown_hash": "h1", "opened_at": "2026-01-01T00:00:00.000Z",
        "request": {"type": "approval", "tool": "bash", "subject": "rm \u{200b}x",
        "preview": {"type": "line", "text": ""}, "rule": "fallback", "scopes": scopes}})
}

pub fn daemon() -> Fake {
    Fake::start(|call: &Call| match call.method.as_str() {
        "session.create" => vec![FakeAction::Answer(
            json!({"session": SESSION, "pid": 3, "model": "m"}),
        )],
        "session.attach" => vec![FakeAction::Answer(attached(0)), FakeAction::Event(sync(0))],
        "session.prompt" => vec![FakeAction::Answer(
            json!({"prompt_id": PROMPT, "position": 0, "seq": 1}),
        )],
        _ => vec![FakeAction::Answer(json!({}))],
    })
}

/// An interactive run whose prompt was given; also its subscription, and the terminal's ends.
pub fn start(fake: &Fake) -> (Running, String, File, Screen) {
    let (ours, theirs) = terminal();
    let mut command = reasonix(&fake.home(), &["run", "p"]);
    command
        .stdin(Stdio::from(theirs.try_clone().unwrap()))
        .stderr(Stdio::from(theirs))
        .env("TERM", "dumb");
    let running = Running::start(&mut command);
    // The program alone holds its end now: the terminal ends with it.
    drop(command);
    let keys = File::from(ours.try_clone().unwrap());
    let screen = Screen::read(File::from(ours));
    let subscription = fake.wait_for("session.attach", 1)["subscription"]
        .as_str()
        .unwrap()
        .to_owned();
    let prompt = fake.wait_for("session.prompt", 1);
    assert_eq!(prompt["text"], "p");
    assert_eq!(
        fake.params("session.create")[0].get("prompt"),
        None,
        "the person is attached before the turn begins"
    );
    fake.event(
        &subscription,
        &durable(
            1,
            None,
            "prompt.queued",
            &json!({"prompt_id": PROMPT, "text": "p", "by": "x"}),
        ),
    );
    fake.event(
        &subscription,
        &durable(2, Some(1), "turn.started", &json!({"prompt_id": PROMPT})),
    );
    (running, subscription, keys, screen)
}

pub fn finish(fake: &Fake, subscription: &str, seq: u64, running: Running) {
    let usage = json!({"requests": 0, "prompt_tokens": 0, "cached_tokens": 0, "output_tokens": 0,
                       "reasoning_tokens": 0, "cost_micros": 0, "unknown_cost_calls": 0});
    let ended = json!({"outcome": "completed", "text": "Done.", "usage": usage, "steps": 1, "tool_calls": 1, "duration_ms": 1});
    fake.event(subscription, &durable(seq, Some(1), "turn.ended", &ended));
    let done = running.done();
    assert_eq!(
        (done.code, done.out.as_str()),
        (Some(0), "Done.\n"),
        "{done:?}"
    );
}

#[test]
fn a_question_is_asked_at_the_terminal_and_what_was_typed_before_is_no_answer() {
    let fake = daemon();
    let (running, subscription, mut keys, screen) = start(&fake);
    keys.write_all(b"y\n").unwrap();
    // The terminal echoes it: it is in the line buffer now.
    screen.wait_for("y\r\n");
    fake.event(
        &subscription,
        &durable(3, Some(1), "interaction.opened", &approval(&json!([]))),
    );
    screen.wait_for("rm \\u{200b}x");
    screen.wait_for("? y once");
    assert!(fake.params("interaction.answer").is_empty());
    keys.write_all(b"n keep it\n").unwrap();
    let answer = fake.wait_for("interaction.answer", 1);
    assert_eq!(
        (&answer["answer"]["decision"], &answer["answer"]["note"]),
        (&json!("deny"), &json!("keep it")),
        "the old `y` did not count"
    );
    assert_eq!(answer["shown_hash"], "h1");
    assert_eq!(fake.params("interaction.answer").len(), 1);
    finish(&fake, &subscription, 4, running);
}

#[test]
fn an_answer_from_elsewhere_closes_the_question() {
    let fake = daemon();
    let (running, subscription, _keys, screen) = start(&fake);
    let scopes = json!([{"rule": "Bash(rm:*)", "words": "every rm"}]);
    fake.event(
        &subscription,
        &durable(3, Some(1), "interaction.opened", &approval(&scopes)),
    );
    screen.wait_for("every rm");
    screen.wait_for("? y once");
    let resolved = json!({"interaction_id": "3.1", "call": "c",
        "answer": {"type": "approval", "decision": "allow_once"}, "by": "somebody else"});
    fake.event(
        &subscription,
        &durable(4, Some(1), "interaction.resolved", &resolved),
    );
    screen.wait_for("allowed once by somebody else");
    finish(&fake, &subscription, 5, running);
    assert!(fake.params("interaction.answer").is_empty());
}

#[test]
fn a_lost_connection_is_told_at_once_and_once() {
    let mut attaches = 0;
    let fake = Fake::start(move |call: &Call| match call.method.as_str() {
        "session.create" => vec![FakeAction::Answer(
            json!({"session": SESSION, "pid": 3, "model": "m"}),
        )],
        "session.attach" => {
            attaches += 1;
            let seq = if attaches == 1 { 0 } else { 2 };
            vec![
                FakeAction::Answer(attached(seq)),
                FakeAction::Event(sync(seq)),
            ]
        }
        "session.prompt" => vec![FakeAction::Answer(
            json!({"prompt_id": PROMPT, "position": 0, "seq": 1}),
        )],
        "session.interrupt" => vec![FakeAction::Close],
        _ => vec![FakeAction::Answer(json!({}))],
    });
    let (running, _, _keys, screen) = start(&fake);
    running.signal(rustix::process::Signal::INT);
    screen.wait_for("· reconnected");
    let subscription = fake.wait_for("session.attach", 2)["subscription"].clone();
    finish(&fake, subscription.as_str().unwrap(), 3, running);
    let text = screen.0.0.lock().unwrap().clone();
    assert_eq!(
        text.matches("· connection lost, reconnecting…").count(),
        1,
        "{text}"
    );
}
