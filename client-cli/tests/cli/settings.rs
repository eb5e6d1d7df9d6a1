//! Settings, models, trust, checks of providers, and the output for shells.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::fake::{Call, Fake, FakeAction};
use crate::program::{Running, reasonix, run, terminal};
use crate::terminal::Screen;

pub fn provider(name: &str, has_key: bool, shipped: bool) -> Value {
    json!({
        "name": name, "kind": "openai", "base_url": format!("https://{name}.example/v1"),
        "models": [format!("{name}-small"), format!("{name}-large")], "default": format!("{name}-large"),
        "api_key_env": format!("{}_API_KEY", name.to_uppercase()), "has_key": has_key,
        "key_from": if has_key { "stored" } else { "" }, "shipped": shipped,
        "origin": if shipped { "default" } else { "/home/me/.reasonix/config.toml" },
    })
}

/// What a provider says.
pub fn probed(key: &str, reachable: bool) -> Value {
    let text = match (key, reachable) {
        (_, false) => "deep.example:443: no answer",
        ("wrong", true) => "deep.example:443: the key was rejected: 401 no\u{1b}[31m",
        ("missing", true) => "",
        _ => "some words",
    };
    json!({"host": "deep.example:443", "reachable": reachable, "key": key, "duration_ms": 230,
           "models": ["deep-small", "deep-large", "deep-new"], "text": text, "hint": if reachable { "" } else { "check the address" }})
}

fn daemon(default: Option<&'static str>, key: &'static str) -> Fake {
    Fake::start(move |call: &Call| match call.method.as_str() {
        "provider.list" => vec![FakeAction::Answer(json!({
            "providers": [provider("deep", true, false), provider("other", false, true)], "default_model": default}))],
        "provider.probe" => vec![FakeAction::Answer(probed(key, true))],
        "doctor.run" => vec![FakeAction::Answer(json!({"checks": []}))],
        "config.check" => vec![FakeAction::Answer(json!({
            "values": [
                {"key": "agent.max_steps", "value": 0, "origin": "default"},
                {"key": "agent.compact_ratio", "value": 0.8, "origin": "default"},
                {"key": "language", "value": "au\u{1b}to", "origin": "/p/reasonix.toml"}],
            "problems": if default.is_none() { vec!["line 3: `colour` is no setting"] } else { Vec::new() },
            "held_back": []}))],
        "config.set" => vec![FakeAction::Answer(
            json!({"file": "/h/config.toml", "notices": ["/p says\n otherwise"],
            "value": {"key": call.params["key"], "value": call.params["value"], "origin": "/h/config.toml"}}),
        )],
        _ => vec![FakeAction::Answer(json!({}))],
    })
}

#[test]
fn models_are_listed_with_their_keys_and_the_default() {
    let fake = daemon(Some("deep"), "works");
    let done = run(&mut reasonix(&fake.home(), &["models"]));
    assert_eq!(done.code, Some(0), "{done:?}");
    let line = |words: &str| {
        done.out
            .lines()
            .find(|line| line.contains(words))
            .unwrap()
            .to_owned()
    };
    assert!(line("deep/deep-large").starts_with('*') && line("deep/deep-large").contains("stored"));
    assert!(!line("deep/deep-small").starts_with('*'));
    assert!(line("other/other-small").contains("missing (OTHER_API_KEY)"));
    let mut command = reasonix(&fake.home(), &["models", "--json"]);
    let rows: Value = serde_json::from_str(&run(command.env("OTHER_API_KEY", "k")).out).unwrap();
    assert_eq!(
        (&rows[2]["usable"], &rows[2]["key"]),
        (&json!(true), &json!("set here (OTHER_API_KEY)"))
    );
    let done = run(&mut reasonix(&fake.home(), &["models", "--refresh", "-q"]));
    assert!(done.out.contains("deep/deep-new\n"), "{done:?}");
    assert!(done.err.contains("230 ms; the key works"), "{}", done.err);
    assert_eq!(
        fake.params("provider.probe").len(),
        1,
        "one that has no key is not asked"
    );
}

#[test]
fn a_limit_in_money_names_the_default_model_that_it_cannot_count() {
    let set = |fake: &Fake, arguments: &[&str]| {
        let mut all = vec!["config", "set"];
        all.extend(arguments);
        run(&mut reasonix(&fake.home(), &all))
    };
    let fake = daemon(Some("deep"), "works");
    let notice = "The price of `deep/deep-large` is unknown: its requests do not count toward `budget.day.usd`";
    let done = set(&fake, &["budget.day.usd", "5"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.err.contains(&format!("! {notice}")), "{}", done.err);
    assert!(
        done.err.contains("config set budget.day.tokens N"),
        "{}",
        done.err
    );
    let json: Value =
        serde_json::from_str(&set(&fake, &["budget.day.usd", "5", "--json"]).out).unwrap();
    assert!(
        json["notices"][1].as_str().unwrap().starts_with(notice),
        "{json}"
    );
    for (arguments, default) in [
        // No limit, another unit, and no model that could be meant.
        (["budget.day.usd", "0"], Some("deep")),
        (["budget.day.tokens", "5"], Some("deep")),
        (["budget.day.usd", "5"], None),
    ] {
        let done = set(&daemon(default, "works"), &arguments);
        assert!(!done.err.contains("price"), "{arguments:?}: {}", done.err);
    }
    let priced = Fake::start(|call: &Call| match call.method.as_str() {
        "provider.list" => {
            let mut provider = provider("deep", true, false);
            provider["facts"] = json!([{"model": "deep-large", "context_window": 0, "max_output_tokens": 0,
                "price": {"input": 1, "output": 1}}]);
            vec![FakeAction::Answer(
                json!({"providers": [provider], "default_model": "deep"}),
            )]
        }
        _ => vec![FakeAction::Answer(json!({"file": "/h/config.toml",
            "value": {"key": "budget.day.usd", "value": 5, "origin": "/h/config.toml"}}))],
    });
    let done = set(&priced, &["budget.day.usd", "5"]);
    assert_eq!(done.err, "· `budget.day.usd` is 5 now (/h/config.toml)\n");
}

#[test]
fn doctor_asks_providers_and_fails_where_the_default_one_does() {
    for (default, key, code, level) in [
        (Some("deep/deep-large"), "works", 0, "ok"),
        (Some("deep"), "wrong", 1, "FAILED"),
        (Some("elsewhere"), "wrong", 0, "warning"),
    ] {
        let fake = daemon(default, key);
        // As the real one's.
        let socket = fake.home().join("run/reasonixd.sock");
        std::fs::set_permissions(socket, std::fs::Permissions::from_mode(0o600)).unwrap();
        let mut command = reasonix(&fake.home(), &["doctor", "--probe"]);
        let done = run(&mut command);
        let line = done
            .out
            .lines()
            .find(|line| line.contains("provider deep"))
            .unwrap();
        assert!(
            line.starts_with(level) && line.contains("deep.example:443"),
            "{line}"
        );
        let reported = line.contains("answered in ") && line.contains(" ms; the key works");
        assert_eq!(reported, key == "works", "{line}");
        assert!(!done.out.contains('\u{1b}'));
        // What else is checked here may warn; only this may fail.
        assert_eq!(done.code, Some(code), "{done:?}");
    }
    let fake = daemon(Some("deep"), "wrong");
    run(&mut reasonix(&fake.home(), &["doctor"]));
    assert!(
        fake.params("provider.probe").is_empty(),
        "only when it is asked for"
    );
}

#[test]
fn a_setting_is_shown_with_where_it_comes_from_and_near_names() {
    let fake = daemon(Some("deep"), "works");
    let config = |arguments: &[&str]| {
        let mut all = vec!["config"];
        all.extend(arguments);
        run(&mut reasonix(&fake.home(), &all))
    };
    let one = config(&["get", "language"]);
    assert_eq!(
        (one.out.as_str(), one.err.as_str()),
        ("auo\n", "· from /p/reasonix.toml\n")
    );
    let table = config(&["get", "agent"]);
    assert!(
        table.out.contains("agent.max_steps") && !table.out.contains("language"),
        "{}",
        table.out
    );
    assert!(config(&[]).out.contains("language"));
    let wrong = config(&["get", "agent.max_step"]);
    assert_eq!(wrong.code, Some(64));
    assert!(
        wrong.err.contains("Did you mean `agent.max_steps`?"),
        "{}",
        wrong.err
    );
    let json: Value = serde_json::from_str(&config(&["get", "--json", "language"]).out).unwrap();
    assert_eq!(json["origin"], "/p/reasonix.toml");
    assert_eq!(config(&["check"]).code, Some(0));
    assert!(config(&["path"]).out.ends_with("/config.toml\n"));
    let fake = daemon(None, "works");
    let done = run(&mut reasonix(&fake.home(), &["config", "check"]));
    assert_eq!(done.code, Some(78));
    assert!(done.out.contains("`colour` is no setting"), "{}", done.out);
}

#[test]
fn a_setting_is_written_as_toml_or_as_text_and_taken_out_again() {
    let fake = daemon(Some("deep"), "works");
    for arguments in [
        ["config", "set", "agent.max_steps", "50"].as_slice(),
        &["config", "set", "agent.temperature", "-0.5"],
        &["config", "set", "default_model", "deep/deep-large"],
        &["config", "unset", "language"],
    ] {
        let done = run(&mut reasonix(&fake.home(), arguments));
        assert_eq!(done.code, Some(0), "{done:?}");
        assert!(
            done.err.contains("/h/config.toml") && done.err.contains("! /p says  otherwise\n"),
            "{done:?}"
        );
    }
    let values: Vec<_> = fake
        .params("config.set")
        .into_iter()
        .map(|params| params.get("value").cloned())
        .collect();
    assert_eq!(
        values,
        [
            Some(json!(50)),
            Some(json!(-0.5)),
            Some(json!("deep/deep-large")),
            None
        ]
    );
}

fn project(trusted: bool) -> Fake {
    let output = move |trusted: bool| json!({"directory": "/p", "trusted": trusted, "held_back": if trusted { Vec::new() } else { vec!["allow = [\"Bash\u{202e}\"]"] }, "hash": "h1"});
    Fake::start(move |call: &Call| match call.method.as_str() {
        "trust.get" => vec![FakeAction::Answer(output(trusted))],
        "trust.set" => vec![FakeAction::Answer(output(call.params["trusted"] == true))],
        _ => vec![FakeAction::Answer(json!({}))],
    })
}

#[test]
fn trust_shows_what_is_held_back_and_is_bound_to_what_was_shown() {
    let fake = project(false);
    // If nobody can be asked and nothing was trusted, that is a failure.
    for (arguments, code) in [(&["trust"][..], 64), (&["trust", "--show"], 0)] {
        let shown = run(&mut reasonix(&fake.home(), arguments));
        assert_eq!(shown.code, Some(code), "{shown:?}");
        assert!(
            shown.out.contains("allow = [\"Bash\\u{202e}\"]"),
            "{}",
            shown.out
        );
        assert!(shown.err.contains("--yes"), "{}", shown.err);
    }
    assert!(fake.params("trust.set").is_empty(), "nobody has said yes");
    run(&mut reasonix(&fake.home(), &["trust", "--yes"]));
    run(&mut reasonix(&fake.home(), &["trust", "--no", "/"]));
    let sent = fake.params("trust.set");
    assert_eq!(
        (&sent[0]["trusted"], &sent[0]["hash"]),
        (&json!(true), &json!("h1"))
    );
    assert_eq!(
        (&sent[1]["trusted"], &sent[1]["cwd"]),
        (&json!(false), &json!("/"))
    );
}

#[test]
fn at_a_terminal_trust_is_asked_for_and_no_is_the_default() {
    for (typed, yes) in [("y\n", true), ("\n", false)] {
        let fake = project(false);
        let (ours, theirs) = terminal();
        let mut command = reasonix(&fake.home(), &["trust"]);
        command
            .stdin(Stdio::from(theirs.try_clone().unwrap()))
            .stderr(Stdio::from(theirs));
        let running = Running::start(&mut command);
        drop(command);
        let mut keys = File::from(ours.try_clone().unwrap());
        let screen = Screen::read(File::from(ours));
        screen.wait_for("[y/N]");
        keys.write_all(typed.as_bytes()).unwrap();
        let done = running.done();
        assert_eq!(done.code, Some(0), "{done:?}");
        assert_eq!(!fake.params("trust.set").is_empty(), yes);
    }
}

#[test]
fn shells_get_their_words_and_man_its_pages() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let done = run(&mut reasonix(home.path(), &["completions", shell]));
        assert_eq!(done.code, Some(0), "{shell}");
        assert!(
            done.out.contains("reasonix") && done.out.contains("inbox"),
            "{shell}"
        );
    }
    let page = run(&mut reasonix(home.path(), &["man"])).out;
    assert!(
        page.contains(".TH reasonix") && page.contains("run"),
        "{page}"
    );
    let page = run(&mut reasonix(home.path(), &["man", "daemon", "stop"]));
    assert!(page.out.contains(".TH reasonix-daemon-stop"), "{page:?}");
    let wrong = run(&mut reasonix(home.path(), &["man", "inbx"]));
    assert!(wrong.err.contains("Did you mean `inbox`?"), "{}", wrong.err);
}

#[test]
fn alone_without_a_terminal_it_names_what_works_without_one() {
    let fake = Fake::start(|_: &Call| vec![FakeAction::Answer(json!({}))]);
    for words in [&[][..], &["chat"], &["top"], &["attach", "3"]] {
        let done = Running::start(&mut reasonix(&fake.home(), words)).done();
        assert_eq!(done.code, Some(64), "{words:?}: {}", done.err);
        let hint = [
            "`reasonix run",
            "`reasonix ps`",
            "`reasonix attach --plain`",
        ];
        assert!(
            hint.iter().any(|hint| done.err.contains(hint)),
            "{words:?}: {}",
            done.err
        );
    }
    let done = Running::start(&mut reasonix(&fake.home(), &["--model", "m", "ls"])).done();
    assert_eq!(done.code, Some(64), "{}", done.err);
    assert!(done.err.contains("after its name"), "{}", done.err);
    assert!(fake.params("session.list").is_empty(), "nobody was asked");
}
