//! A front end of one's own: this whole file, with nothing of ours but the socket's path and lines of JSON, makes a
//! session, follows it, answers its question and hears how its turn ends. A test holds it to a hundred lines.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::Script;
use tests::House;

/// A connection: calls go out, answers and events come in.
struct Tiny {
    stream: BufReader<UnixStream>,
    calls: u64,
    events: VecDeque<Value>,
}

impl Tiny {
    fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).expect("a daemon");
        let patience = Some(Duration::from_secs(60));
        stream.set_read_timeout(patience).expect("patience");
        let mut tiny = Self {
            stream: BufReader::new(stream),
            calls: 0,
            events: VecDeque::new(),
        };
        let me = json!({"name": "tiny", "version": "0", "kind": "script", "pid": std::process::id(), "interactive": true});
        tiny.call(
            "daemon.hello",
            &json!({"client": me, "protocol": [1, 1], "role": "drive"}),
        );
        tiny
    }

    fn frame(&mut self) -> Value {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("a line in time");
        serde_json::from_str(&line).expect("JSON")
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.calls += 1;
        let call = json!({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params});
        writeln!(self.stream.get_mut(), "{call}").expect("say it");
        loop {
            let mut frame = self.frame();
            if frame["id"] == self.calls {
                assert!(frame["error"].is_null(), "{method}: {frame}");
                return frame["result"].take();
            }
            self.events.push_back(frame);
        }
    }

    fn event(&mut self, kind: &str) -> Value {
        loop {
            let mut frame = self.events.pop_front().unwrap_or_else(|| self.frame());
            if frame["params"]["event"]["kind"] == kind {
                return frame["params"]["event"]["data"].take();
            }
        }
    }
}

#[test]
fn a_client_of_a_hundred_lines_drives_a_turn() {
    assert!(include_str!("small_client.rs").lines().count() <= 100);
    let house = House::playing(&Script::new().runs("touch made").says("It is made."));
    house.turn_off_sandbox();
    house.daemon();
    let mut tiny = Tiny::connect(&house.socket());
    let session = "0198c0de-0000-7000-8000-00000000c0de";
    tiny.call(
        "session.create",
        &json!({"session": session, "cwd": house.project(), "env": {}, "prompt": "Make it."}),
    );
    tiny.call(
        "session.attach",
        &json!({"session": session, "subscription": "mine", "after_seq": 0, "ephemeral": false}),
    );
    let open = tiny.event("interaction.opened");
    assert_eq!(open["request"]["subject"], "touch made");
    tiny.call(
        "interaction.answer",
        &json!({"interaction_id": open["interaction_id"], "shown_hash": open["shown_hash"],
            "answer": {"type": "approval", "decision": "allow_once"}}),
    );
    let ended = tiny.event("turn.ended");
    assert_eq!(
        (&ended["outcome"], &ended["text"]),
        (&json!("completed"), &json!("It is made."))
    );
    assert!(house.project().join("made").exists());
}
