//! Where keys and other secrets do not come: into the environment of a command (D8.6).

use proto::Pid;
use serde_json::json;
use testkit::Script;
use tests::House;
use tests::program::run;

/// No name reveals that its value is a key: only the config does.
const ODD_NAME: &str = "ACME_ACCESS";

/// A house whose commands print their environment. Every provider that the config names has its key in the environment.
fn house(settings: &str) -> House {
    let house = House::playing(&Script::new().runs("env").says("Done."));
    house.settings(settings);
    house.provider(&format!(
        "name = \"acme\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\napi_key_env = \"{ODD_NAME}\""
    ));
    house
}

/// What `env` printed in a session that was made with these variables beside the usual ones.
fn seen(house: &House, variables: &[(&str, &str)]) -> String {
    let mut command = house.command(&["run", "--on-ask", "allow", "--model", "replay", "look"]);
    let _ = run(command.envs(variables.iter().copied())).expect_code(0);
    house.log(Pid(1)).check().results().remove(0).text
}

/// The text of the log of the only session.
fn log_text(house: &House) -> String {
    let directory = std::fs::read_dir(house.home().join("sessions")).expect("sessions");
    let only = directory.flatten().next().expect("a session");
    std::fs::read_to_string(only.path().join("log.jsonl")).expect("its log")
}

#[test]
fn a_command_sees_no_key_and_nothing_that_is_named_like_a_secret() {
    let house = house("");
    // The list is the config's and that of the providers which come with the program: none is written down here.
    let mut names: Vec<String> = reasonixd::settings::shipped::all()
        .into_iter()
        .filter_map(|entry| entry.api_key_env)
        .collect();
    assert!(names.len() > 2, "{names:?}");
    names.extend(
        [
            ODD_NAME,
            "NPM_TOKEN",
            "db_password",
            "My_Secret",
            "SIGNING_KEY_2",
            "LD_PRELOAD_NOT",
            "DYLD_LIBRARY_PATH",
        ]
        .map(str::to_owned),
    );
    let variables: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), "canary-4711"))
        .collect();
    let mut harmless = variables.clone();
    harmless.push(("EDITOR", "vi"));
    let text = seen(&house, &harmless);
    assert!(text.contains("EDITOR=vi"), "{text}");
    assert!(!text.contains("canary-4711"), "{text}");
    for name in &names {
        assert!(!text.contains(&format!("{name}=")), "{name}: {text}");
    }

    // `inspect` says which those are, by name alone; and so does the log.
    let shown = house.reasonix(&["inspect", "1", "env"]).expect_code(0).out;
    for name in &names {
        let line = format!("{name} (");
        assert!(shown.contains(&line), "{name}: {shown}");
    }
    assert!(!shown.contains("canary-4711"), "{shown}");
    let log = log_text(&house);
    assert!(!log.contains("canary-4711"), "{log}");
}

#[test]
fn the_user_lets_through_what_is_no_providers_key() {
    let house = house(&format!(
        "tools.shell.pass = [\"NPM_TOKEN\", \"CI_*\", \"{ODD_NAME}\", \"NIX_LD\", \"not a name\"]"
    ));
    let given = [
        ("NPM_TOKEN", "passed-1"),
        ("CI_DEPLOY_KEY", "passed-2"),
        ("NPM_TOKEN_2", "held-1"),
        (ODD_NAME, "held-2"),
    ];
    let text = seen(&house, &given);
    assert!(
        text.contains("NPM_TOKEN=passed-1") && text.contains("CI_DEPLOY_KEY=passed-2"),
        "{text}"
    );
    assert!(!text.contains("held-"), "{text}");
    let log = log_text(&house);
    let created = log.lines().next().expect("a first record");
    assert!(
        !created.contains("passed-"),
        "values are in memory only: {created}"
    );
    let problems = house.reasonix(&["doctor"]).out;
    assert!(
        problems.contains("an entry of `tools.shell.pass` is ignored"),
        "{problems}"
    );
}

#[test]
fn daemon_withholds_secrets_of_raw_clients_and_ignores_a_projects_pass_list() {
    let house = house("");
    house.files("//- reasonix.toml\n[tools.shell]\npass = [\"*\"]\n");
    house.daemon();
    let mut params = house.create("look");
    params.options.model = Some("replay".into());
    params.options.on_ask = Some(proto::state::OnAsk::Allow);
    for (name, value) in [
        ("NPM_TOKEN", "canary-1"),
        (ODD_NAME, "canary-2"),
        ("LD_AUDIT", "canary-3"),
        ("LC_TOKEN", "canary-4"),
    ] {
        params.env.insert(name.into(), value.into());
    }
    let mut raw = house.raw_as(proto::hello::Role::Drive);
    let _ = raw
        .call("session.create", &json!(params))
        .expect("a session");
    let _ = raw
        .call("session.wait", &json!({"session": "1", "until": "turn"}))
        .expect("its end");
    let text = house.log(Pid(1)).check().results().remove(0).text;
    assert!(text.contains("PATH=") && !text.contains("canary"), "{text}");
    let log = log_text(&house);
    assert!(!log.contains("canary"), "{log}");
    let shown = house.reasonix(&["inspect", "1", "env"]).expect_code(0).out;
    for name in ["NPM_TOKEN", ODD_NAME, "LD_AUDIT", "LC_TOKEN"] {
        assert!(shown.contains(&format!("{name} (not passed")), "{shown}");
    }
}
