//! Every error name of the protocol, produced.

use proto::hello::Role;
use proto::{ErrorName, Failure, SessionId, frame};
use serde_json::{Value, json};
use testkit::Script;
use tests::interactions::{raw_decide, raw_first};
use tests::raw::answer;
use tests::{Gate, House, Raw, until};

/// Whether this build can produce an error.
enum Production {
    /// It was produced.
    Now(Box<Failure>),
    /// Nothing in this build can produce it, because of this.
    NotYet(&'static str),
}

#[test]
fn every_error_of_the_table_is_produced_with_a_hint() {
    for name in ErrorName::ALL {
        match produce(*name) {
            Production::Now(failure) => {
                assert_eq!(failure.name, *name, "{failure:?}");
                assert!(
                    !failure.message.is_empty() && !failure.hint.is_empty(),
                    "what happened and what to do: {failure:?}"
                );
            }
            Production::NotYet(reason) => assert!(!reason.is_empty()),
        }
    }
}

/// No `_` arm: a new name asks to be produced here.
fn produce(name: ErrorName) -> Production {
    let failure = match name {
        ErrorName::ConfirmNeeded => {
            let (house, mut raw) = started(&Script::new().says("Hello."));
            raw.call("session.create", &create(&house, "allow"))
                .expect("create");
            raw.call("session.wait", &json!({"session": "1"}))
                .expect("its end");
            raw.call("session.delete", &json!({"session": "1"}))
        }
        ErrorName::BudgetExceeded => {
            let answers = Script::new().says("1").says("2").says("3").says("4");
            let (house, mut raw) = started(&answers);
            let mut params = house.create(&"words ".repeat(4_000));
            params.options.kind = Some(proto::state::Kind::Interactive);
            let params = serde_json::to_value(&params).expect("JSON");
            let pid = raw.call("session.create", &params).expect("create")["pid"].to_string();
            let wait = json!({"session": pid});
            raw.call("session.wait", &wait).expect("its end");
            for _ in 0..3 {
                let prompt = json!({"session": pid, "text": "words ".repeat(4_000)});
                raw.call("session.prompt", &prompt).expect("taken");
                raw.call("session.wait", &wait).expect("its end");
            }
            let set = json!({"session": pid, "budget": {"steps": 4}});
            raw.call("session.set", &set).expect("set");
            raw.call("session.compact", &json!({"session": pid}))
        }
        ErrorName::Internal => return Production::NotYet("a bug of ours; none is known"),
        ErrorName::NotReady => {
            let house = House::new();
            house.daemon();
            house.raw().call("session.list", &json!({}))
        }
        ErrorName::ProtocolMismatch => {
            let house = House::new();
            house.daemon();
            house.raw().call("daemon.hello", &json!({"client": {"name": "x", "version": "1"}, "protocol": [0, 0], "role": "drive"}))
        }
        ErrorName::NotFound => {
            let house = House::new();
            house.daemon();
            house
                .raw_as(Role::Watch)
                .call("session.get", &json!({"session": "99"}))
        }
        ErrorName::Ambiguous => {
            let (house, mut raw) = started(&Script::new().says("Hello."));
            for last in ["1", "2"] {
                let session = format!("0189aaaa-0000-7000-8000-00000000000{last}");
                raw.call(
                    "session.create",
                    &json!({"session": session, "cwd": house.project()}),
                )
                .expect("create");
            }
            raw.call("session.get", &json!({"session": "0189aaaa"}))
        }
        ErrorName::Busy => {
            let (house, mut raw) =
                started(&Script::new().runs(&Gate::command("gate")).says("Done."));
            let gate = Gate::new(&house, "gate");
            raw.call("session.create", &create(&house, "allow"))
                .expect("create");
            gate.wait();
            raw.call(
                "session.prompt",
                &json!({"session": "1", "text": "now!", "when": "now"}),
            )
        }
        ErrorName::AlreadyResolved => {
            let (house, mut raw) = started(&Script::new().runs("touch made").says("Done."));
            let answer = asked(&house, &mut raw);
            raw.call("interaction.answer", &answer)
                .expect("the first answer");
            raw.call("interaction.answer", &answer)
        }
        ErrorName::Stale => {
            let (house, mut raw) = started(&Script::new().runs("touch made").says("Done."));
            let mut answer = asked(&house, &mut raw);
            answer["shown_hash"] = "0".repeat(64).into();
            raw.call("interaction.answer", &answer)
        }
        ErrorName::NotAllowed => {
            let house = House::new();
            house.daemon();
            house
                .raw_as(Role::Watch)
                .call("session.prompt", &json!({"session": "1", "text": "x"}))
        }
        ErrorName::InvalidConfig => {
            let house = House::new();
            house.daemon();
            house
                .raw_as(Role::Drive)
                .call("session.create", &create(&house, "allow"))
        }
        ErrorName::ProviderFailed | ErrorName::OutOfCredit => {
            let fault = match name {
                ErrorName::OutOfCredit => "http:402",
                _ => "http:401",
            };
            let house = House::playing(&Script::new().fails(fault));
            house.daemon();
            let done = house
                .reasonix(&["run", "--output-format", "json", "x"])
                .expect_code(1)
                .json();
            let error = &done["error"];
            let text = |member: &str| error[member].as_str().unwrap_or_default().to_owned();
            let name = ErrorName::ALL
                .iter()
                .copied()
                .find(|name| name.as_str() == text("name"))
                .expect("a name");
            Err(Failure::new(name, text("message"), text("hint")))
        }
        ErrorName::ShuttingDown => {
            // The session's command does not mind TERM: the daemon has to wait for it before it kills it.
            let (house, mut raw) = started(
                &Script::new()
                    .runs("trap '' TERM; touch gate.here; while :; do sleep 0.01; done")
                    .says("Done."),
            );
            raw.call("session.create", &create(&house, "allow"))
                .expect("create");
            Gate::new(&house, "gate").wait();
            raw.call("daemon.shutdown", &json!({"mode": "now"}))
                .expect("shut down");
            until("the daemon to take no more work", || {
                let answer = raw.call(
                    "session.prompt",
                    &json!({"session": "1", "text": "one more"}),
                );
                answer.is_err().then_some(answer)
            })
        }
        ErrorName::Limit => {
            let house = House::new();
            house.daemon();
            let mut raw = house.raw_as(Role::Drive);
            let _ = raw.bytes(&vec![b'x'; frame::INBOUND_MAX + 1]);
            answer(&raw.frame().expect("an error"))
        }
        ErrorName::CursorStale => {
            let (house, mut raw) = started(&Script::new().says("Hello."));
            raw.call("session.create", &create(&house, "allow"))
                .expect("create");
            raw.call(
                "session.attach",
                &json!({"session": "1", "subscription": "s", "after_seq": 1, "epoch": 7}),
            )
        }
        ErrorName::Storage => {
            let (house, mut raw) = started(&Script::new().says("Hello."));
            // A file cannot contain anything.
            let sessions = house.home().join("sessions");
            std::fs::remove_dir_all(&sessions).expect("remove it");
            std::fs::write(&sessions, "").expect("a file in its place");
            let answer = raw.call("session.create", &create(&house, "allow"));
            std::fs::remove_file(&sessions).expect("remove it");
            answer
        }
        ErrorName::RequestIdReused => {
            let (house, mut raw) = started(&Script::new().says("Hello.").says("Again."));
            raw.call("session.create", &create(&house, "allow"))
                .expect("create");
            let request = SessionId::new().to_string();
            raw.call(
                "session.prompt",
                &json!({"session": "1", "text": "one thing", "request_id": request}),
            )
            .expect("a prompt");
            raw.call(
                "session.prompt",
                &json!({"session": "1", "text": "another thing", "request_id": request}),
            )
        }
        ErrorName::Blocked => {
            let house = House::playing(&Script::new().says("Hello."));
            let refuses = r#"{"hooks": {"UserPromptSubmit": [{"command": "exit 2"}]}}"#;
            std::fs::write(house.home_file("settings.json"), refuses).expect("a hook");
            house.daemon();
            let mut raw = house.raw_as(Role::Drive);
            raw.call("session.create", &create(&house, "allow"))
        }
        ErrorName::InvalidParams => {
            let house = House::new();
            house.daemon();
            house
                .raw_as(Role::Drive)
                .call("session.prompt", &json!({"session": "1", "text": 5}))
        }
    };
    Production::Now(Box::new(failure.expect_err("a refusal")))
}

fn started(script: &Script) -> (House, Raw) {
    let house = House::playing(script);
    house.daemon();
    let raw = house.raw_as(Role::Drive);
    (house, raw)
}

fn create(house: &House, on_ask: &str) -> Value {
    let mut params = serde_json::to_value(house.create("work")).expect("JSON");
    params["on_ask"] = on_ask.into();
    params
}

/// The answer to the one interaction of a new session.
fn asked(house: &House, raw: &mut Raw) -> Value {
    raw.call("session.create", &create(house, "wait"))
        .expect("create");
    raw_decide(&raw_first(raw), "deny")
}
