//! What the tests against a scripted endpoint share: a house whose provider is a `Model`, and runs whose event stream
//! is read to its last line.

use serde_json::Value;
use testkit::model::Model;
use tests::{Done, House, Running, processes, until};

/// Settings with which failures are over in milliseconds.
pub const FAST_RETRIES: &str =
    "[network]\nidle_seconds = 30\n[internal]\nretry_base_ms = 10\nretry_tries = 4\n";

/// A house whose only provider is this model, with a daemon that runs.
pub fn house(model: &Model) -> House {
    let house = House::new();
    house.settings(FAST_RETRIES);
    house.provider(&model.entry("model", None));
    house.daemon();
    house
}

/// What `run --output-format jsonl` printed.
#[derive(Debug)]
pub struct RunOutput {
    pub code: Option<i32>,
    pub events: Vec<Value>,
    /// The last line.
    pub result: Value,
}

impl RunOutput {
    /// Reads a run's output: the result is the last line, there is one, and its numbers rise.
    pub fn of(done: &Done) -> Self {
        let mut events = done.lines();
        let result = events
            .pop()
            .unwrap_or_else(|| panic!("no line came: {done:?}"));
        assert_eq!(
            result["kind"], "result",
            "the last line is the result: {done:?}"
        );
        assert!(
            events.iter().all(|event| event["kind"] != "result"),
            "one result: {done:?}"
        );
        let numbers: Vec<_> = events
            .iter()
            .filter_map(|event| event["seq"].as_u64())
            .collect();
        assert!(
            numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]),
            "numbers without a gap: {numbers:?}"
        );
        Self {
            code: done.code(),
            events,
            result,
        }
    }

    /// The same, where the test wants this exit code and outcome.
    pub fn expect(self, code: i32, outcome: &str) -> Self {
        let what = (self.code, self.result["outcome"].as_str());
        assert_eq!(what, (Some(code), Some(outcome)), "{self:#?}");
        self
    }

    pub fn text(&self) -> &str {
        self.result["text"].as_str().unwrap_or_default()
    }

    pub fn pid(&self) -> String {
        self.result["pid"].to_string()
    }

    /// The data of all events of a kind.
    pub fn all(&self, kind: &str) -> Vec<&Value> {
        self.events
            .iter()
            .filter(|event| event["kind"] == kind)
            .map(|event| &event["data"])
            .collect()
    }

    /// The streamed pieces of text, until they were taken back.
    pub fn streamed(&self) -> Vec<String> {
        let mut tries = vec![String::new()];
        for event in &self.events {
            match event["kind"].as_str() {
                Some("delta.text") => {
                    let text = event["data"]["text"].as_str().unwrap_or_default();
                    if let Some(last) = tries.last_mut() {
                        last.push_str(text);
                    }
                }
                Some("message.partial") => tries.push(String::new()),
                // A client that attaches in the middle learns the progress here.
                Some("sync") => {
                    if let (Some(last), Some(text)) =
                        (tries.last_mut(), event["data"]["live"][0]["text"].as_str())
                    {
                        text.clone_into(last);
                    }
                }
                _ => {}
            }
        }
        tries
    }
}

/// Waits until a run (of events) has shown words of the answer in progress: as they came, or at once on attaching.
pub fn shown(running: &Running, words: &str) {
    running.line(&format!("`{words}` to be shown"), |line| {
        (line.contains("\"kind\":\"delta.text\"") || line.contains("\"kind\":\"sync\""))
            && line.contains(words)
    });
}

/// Commands of this house's project whose command line holds a text.
pub fn commands(house: &House, text: &str) -> Vec<u32> {
    let here = |pid: &u32| {
        std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == house.project())
    };
    processes::saying(text)
        .into_iter()
        .map(|process| process.pid)
        .filter(here)
        .collect()
}

/// Waits until this very command runs: a shell that is about to start it has its words as well.
pub fn command_runs(house: &House, command: &str) {
    until(&format!("`{command}` to run"), || {
        let mut all = processes::saying(command).into_iter();
        let found = all.find(|process| process.command.starts_with(command))?;
        commands(house, command).contains(&found.pid).then_some(())
    });
}

/// Waits until no such command runs any more (I12).
pub fn command_is_gone(house: &House, text: &str) {
    until(&format!("`{text}` to be gone"), || {
        commands(house, text).is_empty().then_some(())
    });
}

/// Runs a prompt to its end; further arguments before it.
pub fn run(house: &House, arguments: &[&str], prompt: &str) -> RunOutput {
    let line = [&["run", "--output-format", "jsonl"], arguments, &[prompt]].concat();
    RunOutput::of(&house.reasonix(&line))
}
