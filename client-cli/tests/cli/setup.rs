//! Setting up a provider: by flags, at a terminal, at the first run.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use proto::{ErrorName, Failure};
use rustix::process::Signal;
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use serde_json::{Value, json};

use crate::fake::{Call, Fake, FakeAction, SESSION, attached, durable, sync};
use crate::program::{Running, reasonix, run, terminal};
use crate::settings::{probed, provider};
use crate::terminal::Screen;

const KEY: &str = "sk-secret-123";

/// A daemon with two shipped providers; the key `KEY` works, all others are wrong. `reachable`: whether anything answers.
fn daemon(reachable: bool) -> Fake {
    let mut set_up = false;
    Fake::start(move |call: &Call| match call.method.as_str() {
        "provider.list" => vec![FakeAction::Answer(json!({
            "providers": [provider("deep", false, true), provider("other", false, true)]}))],
        "provider.probe" => {
            let key = match call.params["key"].as_str() {
                _ if !reachable => "unknown",
                Some(KEY) => "works",
                Some(_) => "wrong",
                None if call.params["name"] == "local" => "not_needed",
                None => "missing",
            };
            vec![FakeAction::Answer(probed(key, reachable))]
        }
        "credential.set" => vec![FakeAction::Answer(
            json!({"kept_in": "/h/credentials.toml"}),
        )],
        "provider.set" => {
            set_up = true;
            vec![FakeAction::Answer(json!({"file": "/h/config.toml",
                "value": {"key": "default_model", "value": "deep", "origin": "/h/config.toml"}}))]
        }
        "session.create" if !set_up => vec![FakeAction::Refuse(Failure::new(
            ErrorName::InvalidConfig,
            "No provider is configured.",
            "add one",
        ))],
        "session.create" => vec![FakeAction::Answer(
            json!({"session": SESSION, "pid": 3, "model": "m"}),
        )],
        "session.attach" => vec![FakeAction::Answer(attached(0)), FakeAction::Event(sync(0))],
        "session.prompt" => vec![FakeAction::Answer(
            json!({"prompt_id": SESSION, "position": 0, "seq": 1}),
        )],
        _ => vec![FakeAction::Answer(json!({}))],
    })
}

/// Nothing of the settings was changed.
fn untouched(fake: &Fake) -> bool {
    fake.params("credential.set").is_empty() && fake.params("provider.set").is_empty()
}

#[test]
fn by_flags_a_key_is_read_tried_stored_and_never_printed() {
    let fake = daemon(true);
    let mut command = reasonix(
        &fake.home(),
        &["setup", "--provider", "deep", "--key-stdin", "--json"],
    );
    let mut running = Running::start(command.stdin(Stdio::piped()));
    running.say(&format!("{KEY}\n"));
    drop(running.child.stdin.take());
    let done = running.done();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(
        serde_json::from_str::<Value>(&done.out).unwrap(),
        json!({"provider": "deep", "model": "deep-large", "file": "/h/config.toml", "key_kept_in": "/h/credentials.toml", "notices": []})
    );
    assert!(!done.err.contains(KEY), "{}", done.err);
    assert_eq!(
        fake.params("credential.set"),
        [json!({"variable": "DEEP_API_KEY", "value": KEY})]
    );
    assert_eq!(
        fake.params("provider.set"),
        [json!({"name": "deep", "default": "deep-large", "make_default": true})]
    );
}

#[test]
fn by_flags_what_does_not_work_is_told_and_changes_nothing() {
    let fake = daemon(true);
    let mut command = reasonix(
        &fake.home(),
        &["setup", "--provider", "deep", "--key-stdin"],
    );
    let mut running = Running::start(command.stdin(Stdio::piped()));
    running.say("sk-other\n");
    drop(running.child.stdin.take());
    let done = running.done();
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(
        done.err.contains("the key was rejected") && !done.err.contains("sk-other"),
        "{}",
        done.err
    );
    assert!(!done.err.contains('\u{1b}'));
    for (arguments, code, words) in [
        (
            ["setup", "--provider", "deep"].as_slice(),
            64,
            "--key-stdin",
        ),
        (&["setup", "--provider", "dep"], 64, "Did you mean `deep`?"),
        (
            &["setup", "--provider", "deep", "--key-env", "NOT_SET"],
            1,
            "provider `deep` needs a key",
        ),
        (&["setup"], 64, "without a terminal"),
        (&["login", "deep"], 64, "--key-stdin"),
        (&["login", "dep"], 64, "Did you mean `deep`?"),
    ] {
        let done = run(&mut reasonix(&fake.home(), arguments));
        assert_eq!(done.code, Some(code), "{arguments:?}: {done:?}");
        assert!(done.err.contains(words), "{arguments:?}: {}", done.err);
    }
    assert!(untouched(&fake));
    let fake = daemon(false);
    let keyless = [
        "setup",
        "--provider",
        "local",
        "--base-url",
        "http://127.0.0.1:1/v1",
        "--no-key",
    ];
    let done = run(&mut reasonix(&fake.home(), &keyless));
    assert_eq!(done.code, Some(1));
    for words in ["no answer", "check the address", "--no-probe"] {
        assert!(done.err.contains(words), "{words}: {}", done.err);
    }
    assert!(untouched(&fake));
}

#[test]
fn by_flags_an_endpoint_of_ones_own_and_keys_in_variables() {
    let fake = daemon(true);
    let keyless = [
        "setup",
        "--provider",
        "local",
        "--base-url",
        "http://127.0.0.1:1/v1",
        "--no-key",
        "--model",
        "deep-new",
    ];
    let done = run(&mut reasonix(&fake.home(), &keyless));
    assert_eq!(done.code, Some(0), "{done:?}");
    let mut command = reasonix(
        &fake.home(),
        &["setup", "--provider", "deep", "--key-env", "MY_KEY"],
    );
    let done = run(command.env("MY_KEY", KEY));
    assert_eq!(done.code, Some(0), "{done:?}");
    let mut command = reasonix(&fake.home(), &["setup", "--provider", "deep"]);
    let done = run(command.env("DEEP_API_KEY", KEY));
    assert_eq!(
        done.code,
        Some(0),
        "a key that is there is enough: {done:?}"
    );
    assert_eq!(
        fake.params("provider.set"),
        [
            json!({"name": "local", "base_url": "http://127.0.0.1:1/v1", "default": "deep-new",
                   "api_key_env": "", "make_default": true}),
            json!({"name": "deep", "default": "deep-large", "api_key_env": "MY_KEY", "make_default": true}),
            json!({"name": "deep", "default": "deep-large", "make_default": true}),
        ]
    );
    assert!(
        fake.params("credential.set").is_empty(),
        "nothing is stored that a variable contains"
    );
}

#[test]
fn by_flags_the_address_where_prompts_are_taken_is_used() {
    for (arguments, code) in [
        (
            ["setup", "--provider", "mine", "--model", "deep-new"].as_slice(),
            0,
        ),
        // A script that only brings a key changes no address.
        (&["login", "deep", "--key-stdin"], 1),
    ] {
        let fake = Fake::start(|call: &Call| match call.method.as_str() {
            "provider.list" => vec![FakeAction::Answer(json!({
                "providers": [provider("deep", true, false)], "default_model": "deep/deep-large"}))],
            "provider.probe" if call.params["base_url"] == "https://deep.example/v1" => {
                vec![FakeAction::Answer(probed("not_needed", true))]
            }
            "provider.probe" => {
                let mut elsewhere = probed("unknown", false);
                elsewhere["better_base_url"] = json!("https://deep.example/v1");
                vec![FakeAction::Answer(elsewhere)]
            }
            "provider.set" => vec![FakeAction::Answer(json!({"file": "/h/config.toml",
                "value": {"key": "default_model", "value": "mine", "origin": "/h/config.toml"}}))],
            _ => vec![FakeAction::Answer(json!({}))],
        });
        let mut command = reasonix(&fake.home(), arguments);
        if code == 0 {
            command.args(["--no-key", "--base-url", "https://deep.example"]);
        }
        let (ours, theirs) = std::io::pipe().unwrap();
        std::io::Write::write_all(&mut { theirs }, KEY.as_bytes()).unwrap();
        let done = run(command.stdin(ours));
        assert_eq!(done.code, Some(code), "{done:?}");
        let used = done.err.contains("· using `https://deep.example/v1`");
        assert_eq!(used, code == 0, "{}", done.err);
        let set = fake.params("provider.set");
        match code {
            0 => assert_eq!(set[0]["base_url"], "https://deep.example/v1"),
            _ => assert!(untouched(&fake), "{}", done.err),
        }
    }
}

/// A command at a terminal.
struct Typist {
    running: Running,
    ours: OwnedFd,
    keys: File,
    screen: Screen,
    /// Up to where the screen has been read.
    seen: usize,
}

impl Typist {
    fn start(fake: &Fake, arguments: &[&str]) -> Self {
        let (ours, theirs) = terminal();
        let mut command = reasonix(&fake.home(), arguments);
        command
            .stdin(Stdio::from(theirs.try_clone().unwrap()))
            .stderr(Stdio::from(theirs))
            .env("TERM", "dumb");
        let running = Running::start(&mut command);
        drop(command);
        let keys = File::from(ours.try_clone().unwrap());
        let screen = Screen::read(File::from(ours.try_clone().unwrap()));
        Self {
            running,
            ours,
            keys,
            screen,
            seen: 0,
        }
    }

    /// Types a line once it is asked for, again if it was asked for before: earlier input is dropped.
    fn say(&mut self, asked: &str, line: &str) {
        self.seen = self.screen.wait_behind(self.seen, asked);
        self.keys.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn echoes(&self) -> bool {
        tcgetattr(&self.ours)
            .unwrap()
            .local_modes
            .contains(LocalModes::ECHO)
    }
}

#[test]
fn at_a_terminal_it_asks_for_provider_key_and_model_and_shows_no_key() {
    let fake = daemon(true);
    let mut typist = Typist::start(&fake, &["setup"]);
    typist.say("Provider (number or name): ", "dep");
    typist.screen.wait_for("Did you mean `deep`?");
    typist.say("Provider (number or name): ", "1");
    typist.say("API key (not shown): ", "sk-wrong");
    typist
        .screen
        .wait_for("a prompt of one token is sent, which may cost a little");
    typist.screen.wait_for("rejected: 401 no");
    typist.say("API key (not shown): ", KEY);
    typist.say("Model (number or name) [deep-large]: ", "3");
    typist
        .screen
        .wait_for("stored the key in /h/credentials.toml");
    assert!(typist.echoes());
    let text = typist.screen.text();
    let done = typist.running.done();
    assert_eq!(done.code, Some(0), "{done:?} {text}");
    assert!(!text.contains(KEY) && !text.contains("sk-wrong"), "{text}");
    assert!(!text.contains("\u{1b}[31m"), "{text}");
    assert_eq!(
        fake.params("credential.set"),
        [json!({"variable": "DEEP_API_KEY", "value": KEY})]
    );
    assert_eq!(
        fake.params("provider.set"),
        [json!({"name": "deep", "default": "deep-new", "make_default": true})]
    );
}

#[test]
fn ctrl_c_at_the_key_leaves_the_settings_and_the_terminal_as_they_were() {
    let fake = daemon(true);
    let mut typist = Typist::start(&fake, &["setup"]);
    typist.say("Provider (number or name): ", "deep");
    typist.screen.wait_for("API key (not shown): ");
    assert!(!typist.echoes());
    typist.running.signal(Signal::INT);
    typist.screen.wait_for("nothing was changed");
    assert!(typist.echoes());
    let done = typist.running.done();
    assert_eq!(done.code, Some(130), "{done:?}");
    assert!(untouched(&fake));
}

#[test]
fn where_nothing_answers_a_person_may_keep_it_anyway() {
    for (answer, kept) in [("y", true), ("", false)] {
        let fake = daemon(false);
        let mut typist = Typist::start(
            &fake,
            &["setup", "--provider", "deep", "--model", "deep-small"],
        );
        typist.say("API key (not shown): ", KEY);
        typist.say("Keep it anyway? [y/N]", answer);
        let screen = typist.screen.clone();
        let done = typist.running.done();
        assert_eq!(done.code == Some(0), kept, "{done:?} {}", screen.text());
        assert_eq!(!untouched(&fake), kept);
    }
}

#[test]
fn a_key_alone_is_stored_by_login_and_forgotten_again() {
    let fake = daemon(true);
    let mut typist = Typist::start(&fake, &["login", "deep"]);
    typist.say("API key (not shown): ", KEY);
    typist.screen.wait_for("the key of deep is stored");
    assert_eq!(typist.running.done().code, Some(0));
    let done = run(&mut reasonix(
        &fake.home(),
        &["login", "deep", "--forget", "--json"],
    ));
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(
        fake.params("credential.set"),
        [
            json!({"variable": "DEEP_API_KEY", "value": KEY}),
            json!({"variable": "DEEP_API_KEY"})
        ]
    );
    assert!(fake.params("provider.set").is_empty());
}

#[test]
fn the_first_run_offers_to_set_up_and_goes_on_with_its_prompt() {
    let fake = daemon(true);
    let mut typist = Typist::start(&fake, &["run", "do it"]);
    typist.say("Set one up now? [Y/n]", "");
    typist.say("Provider (number or name): ", "deep");
    typist.say("API key (not shown): ", KEY);
    typist.say("Model (number or name)", "");
    let prompt = fake.wait_for("session.prompt", 1);
    assert_eq!(prompt["text"], "do it");
    let subscription = fake.wait_for("session.attach", 1)["subscription"].clone();
    let subscription = subscription.as_str().unwrap();
    let usage = json!({"requests": 0, "prompt_tokens": 0, "cached_tokens": 0, "output_tokens": 0,
                       "reasoning_tokens": 0, "cost_micros": 0, "unknown_cost_calls": 0});
    fake.event(
        subscription,
        &durable(1, Some(1), "turn.started", &json!({"prompt_id": SESSION})),
    );
    fake.event(
        subscription,
        &durable(
            2,
            Some(1),
            "turn.ended",
            &json!({"outcome": "completed", "text": "Done.", "usage": usage,
            "steps": 1, "tool_calls": 0, "duration_ms": 1}),
        ),
    );
    let done = typist.running.done();
    assert_eq!(
        (done.code, done.out.as_str()),
        (Some(0), "Done.\n"),
        "{done:?}"
    );
}

#[test]
fn a_question_is_broken_between_words_where_the_terminal_is_narrow() {
    let fake = daemon(true);
    let (ours, theirs) = terminal();
    let size = Winsize {
        ws_row: 24,
        ws_col: 40,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&theirs, size).unwrap();
    let screen = Screen::read(File::from(ours.try_clone().unwrap()));
    let mut command = reasonix(&fake.home(), &["run", "hi"]);
    command
        .stdin(Stdio::from(theirs.try_clone().unwrap()))
        .stderr(Stdio::from(theirs));
    let running = Running::start(&mut command);
    drop(command);
    screen.wait_for("No provider is configured yet. Set one\r\nup now? [Y/n] ");
    File::from(ours).write_all(b"n\n").unwrap();
    assert_ne!(running.done().code, Some(0));
}

#[test]
fn the_first_run_without_a_terminal_says_what_would_be_enough() {
    let fake = daemon(true);
    let done = run(&mut reasonix(&fake.home(), &["run", "do it"]));
    assert_eq!(done.code, Some(78), "{done:?}");
    for words in ["reasonix setup", "`DEEP_API_KEY`", "`OTHER_API_KEY`"] {
        assert!(done.err.contains(words), "{words}: {}", done.err);
    }
    let mut typist = Typist::start(&fake, &["run", "do it"]);
    typist.say("Set one up now? [Y/n]", "n");
    let done = typist.running.done();
    assert_eq!(done.code, Some(78), "{done:?}");
    assert!(untouched(&fake));
}

/// A daemon whose provider `deep` is configured and has a key; of another address it knows none.
fn configured() -> Fake {
    Fake::start(|call: &Call| match call.method.as_str() {
        "provider.list" => vec![FakeAction::Answer(json!({
            "providers": [provider("deep", true, false), provider("other", false, true)],
            "default_model": "deep/deep-alias"}))],
        "provider.probe" => {
            let moved = call.params["base_url"].is_string();
            vec![FakeAction::Answer(probed(
                if moved { "missing" } else { "works" },
                true,
            ))]
        }
        "provider.set" => vec![FakeAction::Answer(json!({"file": "/h/config.toml",
            "value": {"key": "default_model", "value": "deep", "origin": "/h/config.toml"}}))],
        _ => vec![FakeAction::Answer(json!({}))],
    })
}

#[test]
fn when_it_is_run_again_enter_keeps_what_is_there() {
    let fake = configured();
    let mut typist = Typist::start(&fake, &["setup"]);
    typist.say("Provider (number or name) [deep]: ", "");
    typist.say("URL [https://deep.example/v1]: ", "");
    typist.say("Enter keeps the present one): ", "");
    typist.say("Model (number or name) [deep-alias]: ", "");
    let done = typist.running.done();
    assert_eq!(done.code, Some(0), "{done:?} {}", typist.screen.text());
    assert!(fake.params("credential.set").is_empty());
    assert_eq!(fake.params("provider.probe")[0]["base_url"], Value::Null);
    assert_eq!(
        fake.params("provider.set"),
        [json!({"name": "deep", "default": "deep-alias", "make_default": true})]
    );
}

#[test]
fn the_address_of_a_configured_provider_can_be_changed() {
    let fake = configured();
    let mut typist = Typist::start(&fake, &["setup"]);
    typist.say("Provider (number or name) [deep]: ", "deep");
    typist.say("URL [https://deep.example/v1]: ", "deep.example");
    typist.screen.wait_for("a URL starts with https://");
    typist.say("URL [https://deep.example/v1]: ", "https://two.example/v1");
    typist.say("Enter keeps the present one): ", "");
    typist.say("Model (number or name) [deep-alias]: ", "deep-new");
    let done = typist.running.done();
    let text = typist.screen.text();
    assert_eq!(done.code, Some(0), "{done:?} {text}");
    assert!(text.contains("from the first prompt on"), "{text}");
    assert!(fake.params("credential.set").is_empty());
    assert_eq!(
        fake.params("provider.set"),
        [
            json!({"name": "deep", "base_url": "https://two.example/v1", "default": "deep-new",
            "make_default": true})
        ]
    );
}
