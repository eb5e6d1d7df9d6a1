//! What one session's load costs another: rounds of one read, alone and beside something that wants the machine.

use std::time::Duration;

use proto::hello::Role;
use proto::state::OnAsk;
use serde_json::{Value, json};
use testkit::Script;

use super::Size;
use super::endpoint::{Endpoint, Round};
use super::table::median;
use crate::wait::until;
use crate::{House, Raw, skip};

/// What else goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConcurrentLoad {
    /// Another client of the same session that reads nothing.
    DeafClient,
    /// A session whose command prints without end.
    Printer,
    /// A session whose command forks without end.
    Forks,
}

/// What the other session's command is. A bomb goes off only where something ends it.
fn command(beside: ConcurrentLoad, full: bool, confinement: &str) -> &'static str {
    // Forty processes at once, and never more.
    const STORM: &str = "end=$(($(date +%s)+20)); while [ $(date +%s) -lt $end ]; do for i in 1 2 3 4 5 6 7 8 9 10; do (:; : | : | :) & done; wait; done";
    match beside {
        ConcurrentLoad::DeafClient => "true",
        ConcurrentLoad::Printer => "yes a line of a printer that does not end",
        ConcurrentLoad::Forks => {
            let bounded = ["pid_max", "NPROC"]
                .iter()
                .any(|bound| confinement.contains(bound));
            if !full || skip::unless(bounded, "a limit that ends a fork bomb") {
                STORM
            } else {
                "bomb() { bomb | bomb & }; bomb; sleep 20"
            }
        }
    }
}

/// p50 of the time from an answer's end to the next request, alone and beside that.
pub fn rounds_beside(
    size: Size,
    endpoint: &Endpoint,
    beside: ConcurrentLoad,
) -> (Duration, Duration) {
    let house = House::new();
    house.provider_config(&endpoint.base_url());
    house.files("//- read_0.txt\nline one\nline two\n");
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let session = create(&house, &mut raw, "test", None);
    let alone = rounds(size, &mut raw, endpoint, &session);
    let mut deaf = house.raw_as(Role::Watch);
    if beside == ConcurrentLoad::DeafClient {
        let attach =
            json!({"session": session, "subscription": "deaf", "after_seq": 0, "ephemeral": true});
        deaf.call("session.attach", &attach).expect("attach");
        // So that its queue is full.
        endpoint.play(vec![Round::Words(size.tokens)]);
        prompt(&mut raw, &session, "go on");
    } else {
        let status = raw.call("daemon.status", &json!({})).expect("a status");
        let full = size.rounds >= super::FULL.rounds;
        let command = command(
            beside,
            full,
            status["confinement"].as_str().unwrap_or_default(),
        );
        let script = (0..200).fold(Script::new(), |script, _| script.runs(command));
        house.cassette(&script.jsonl());
        let loud = create(&house, &mut raw, "replay", Some("go"));
        until("the other session's command", || {
            let list = raw.call("session.read", &json!({"session": loud, "from_seq": 1}));
            let page = list.expect("its events").to_string();
            page.contains("tool.started").then_some(())
        });
    }
    let loaded = rounds(size, &mut raw, endpoint, &session);
    for process in raw.call("process.list", &json!({})).expect("list")["processes"]
        .as_array()
        .expect("processes")
    {
        let kill = json!({"session": process["pid"].to_string(), "signal": "KILL"});
        raw.call("session.signal", &kill).expect("end it");
    }
    drop(deaf);
    (loaded, alone)
}

/// A session in the project whose questions are answered with yes.
pub fn create(house: &House, raw: &mut Raw, model: &str, prompt: Option<&str>) -> Value {
    let mut params = house.create("");
    params.prompt = prompt.map(str::to_owned);
    params.options.model = Some(model.to_owned());
    params.options.on_ask = Some(OnAsk::Allow);
    let params = serde_json::to_value(params).expect("JSON");
    raw.call("session.create", &params).expect("create")["session"].clone()
}

/// A turn with these words as its prompt, waited for.
pub fn prompt(raw: &mut Raw, session: &Value, text: &str) {
    raw.call("session.prompt", &json!({"session": session, "text": text}))
        .expect("prompt");
    raw.call("session.wait", &json!({"session": session}))
        .expect("wait");
}

fn rounds(size: Size, raw: &mut Raw, endpoint: &Endpoint, session: &Value) -> Duration {
    let mut script = vec![Round::Reads(1); size.rounds];
    script.push(Round::Words(24));
    endpoint.play(script);
    prompt(raw, session, "go on");
    median(endpoint.gaps())
}
