//! What may happen on this machine, seen from outside: the rules, the workspace boundary, the trust in a project.

use std::fs;

use proto::hello::Role;
use proto::item::CallStatus;
use proto::{Body, ErrorName, Pid};
use serde_json::{Value, json};
use testkit::Script;
use tests::House;

/// Runs a script in a fresh house with these arguments; how its calls ended, with their words.
fn results(house: &House, arguments: &[&str]) -> Vec<(CallStatus, String)> {
    let mut all = vec!["run"];
    all.extend(arguments);
    all.push("go");
    let _ = house.reasonix(&all);
    let logs = house.logs();
    let log = logs.last().expect("a session");
    log.check()
        .results()
        .into_iter()
        .map(|result| (result.status, result.text))
        .collect()
}

fn statuses(house: &House, arguments: &[&str]) -> Vec<CallStatus> {
    results(house, arguments)
        .into_iter()
        .map(|(status, _)| status)
        .collect()
}

#[test]
fn read_only_calls_run_without_approval() {
    let script = Script::new()
        .runs("ls -la")
        .runs("grep -n o a.txt")
        .calls("read_file", &json!({"path": "a.txt"}))
        .says("Done.");
    let house = House::playing(&script);
    house.files("//- a.txt\nhello\n");
    assert_eq!(statuses(&house, &[]), [CallStatus::Ok; 3]);
    let decided: Vec<_> = house
        .log(Pid(1))
        .bodies()
        .into_iter()
        .filter_map(|body| match body {
            Body::PolicyDecided(decided) => Some(decided.read_only),
            _ => None,
        })
        .collect();
    assert_eq!(decided, [true; 3]);
}

#[test]
fn an_allow_rule_covers_its_command_and_nothing_that_hides_beside_it() {
    let hiding = [
        "echo hello; touch made",
        "echo hello && touch made",
        "echo hello | tee made",
        "echo hello > made",
        "echo $(touch made)",
        "echo `touch made`",
        "echo hello\ntouch made",
        "sh -c 'touch made'",
        "env echo hello; $TOUCH made",
        "PATH=.:$PATH echo hello; touch made",
    ];
    let script = hiding
        .iter()
        .fold(Script::new(), |script, command| script.runs(command));
    let house = House::playing(&script.runs("echo plain").says("Done."));
    house.turn_off_sandbox();
    let statuses = statuses(&house, &["--allow", "Bash(echo:*)"]);
    assert_eq!(
        statuses[..hiding.len()],
        [CallStatus::Denied; 10],
        "{:?}",
        house.log(Pid(1)).results()
    );
    assert_eq!(statuses[hiding.len()], CallStatus::Ok);
    assert!(!house.project().join("made").exists());
}

#[test]
fn a_deny_rule_finds_its_command_anywhere_in_the_line() {
    let hidden = [
        "true && rm a.txt",
        "sh -c 'rm a.txt'",
        "env X=1 rm a.txt",
        "echo $(rm a.txt)",
        "find . -name a.txt -exec rm {} +",
        "/bin/rm a.txt",
    ];
    let script = hidden
        .iter()
        .fold(Script::new(), |script, command| script.runs(command))
        .says("Done.");
    let house = House::playing(&script);
    house.files("//- a.txt\nkept\n");
    let statuses = statuses(
        &house,
        &[
            "--deny",
            "Bash(rm:*)",
            "--on-ask",
            "allow",
            "--approval-mode",
            "yolo",
        ],
    );
    assert_eq!(
        statuses,
        [CallStatus::Denied; 6],
        "{:?}",
        house.log(Pid(1)).results()
    );
    assert_eq!(house.read("a.txt"), "kept\n");
}

#[test]
fn file_tools_stay_in_the_workspace() {
    let house = House::new();
    let outside = house.root().join("outside");
    fs::create_dir(&outside).expect("a directory");
    fs::write(outside.join("a.txt"), "kept").expect("a file outside");
    std::os::unix::fs::symlink(&outside, house.project().join("link")).expect("a link");
    std::os::unix::fs::symlink(outside.join("a.txt"), house.project().join("file-link"))
        .expect("a link");
    let write = |path: &str| json!({"path": path, "content": "overwritten"});
    let absolute = outside.join("a.txt");
    let paths = [
        "../outside/a.txt",
        &absolute.to_string_lossy(),
        "link/a.txt",
        "file-link",
        "link/new.txt",
        "a/../../outside/a.txt",
    ];
    let script = paths.iter().fold(Script::new(), |script, path| {
        script.calls("write_file", &write(path))
    });
    house.cassette(
        &script
            .calls("write_file", &write("inside/new.txt"))
            .says("Done.")
            .jsonl(),
    );
    let results = results(&house, &["--on-ask", "allow", "--approval-mode", "yolo"]);
    for ((status, text), path) in results.iter().zip(paths) {
        assert_ne!(*status, CallStatus::Ok, "{path}: {text}");
    }
    assert_eq!(
        fs::read_to_string(outside.join("a.txt")).expect("the file"),
        "kept"
    );
    assert!(!outside.join("new.txt").exists());
    assert_eq!(
        house.read("inside/new.txt"),
        "overwritten",
        "and inside it works: {results:?}"
    );
}

#[test]
fn nobody_reads_the_home_of_reasonix() {
    let house = House::new();
    let config = house.home_file("config.toml");
    let log = house.home().join("logs").join("reasonixd.log");
    let script = Script::new()
        .calls("read_file", &json!({"path": config}))
        .calls("read_file", &json!({"path": log}))
        .calls(
            "grep",
            &json!({"pattern": "provider", "path": house.home()}),
        )
        .says("Done.");
    house.cassette(&script.jsonl());
    for (status, text) in results(&house, &["--on-ask", "allow", "--approval-mode", "yolo"]) {
        assert_ne!(status, CallStatus::Ok, "{text}");
        assert!(!text.contains("cassette.jsonl"), "{text}");
    }
}

#[test]
fn a_session_in_the_users_home_still_does_not_reach_the_home_of_reasonix() {
    let house = House::new();
    let script = Script::new()
        .calls(
            "write_file",
            &json!({"path": "home/config.toml", "content": "stolen"}),
        )
        .calls("read_file", &json!({"path": "home/config.toml"}))
        .says("Done.");
    house.cassette(&script.jsonl());
    let before = fs::read_to_string(house.home_file("config.toml")).expect("the config");
    let root = house.root().to_string_lossy().into_owned();
    for (status, text) in results(&house, &["--in-home", "--on-ask", "allow", "--cwd", &root]) {
        assert_ne!(status, CallStatus::Ok, "{text}");
    }
    assert_eq!(
        fs::read_to_string(house.home_file("config.toml")).expect("the config"),
        before
    );
}

#[test]
fn a_projects_rules_tighten_at_once_and_loosen_only_when_it_is_trusted() {
    let script = Script::new()
        .runs("touch made")
        .runs("cat kept.txt")
        .says("Done.");
    let house = House::playing(&script);
    house.turn_off_sandbox();
    house.files("//- reasonix.toml\n[permissions]\nallow = [\"Bash(touch:*)\"]\ndeny = [\"Bash(cat:*)\"]\n//- kept.txt\nx\n");
    assert_eq!(
        statuses(&house, &[]),
        [CallStatus::Denied, CallStatus::Denied],
        "held back; in force"
    );
    let notice = house
        .log(Pid(1))
        .bodies()
        .into_iter()
        .find_map(|body| match body {
            Body::Notice(notice) => Some(notice.text),
            _ => None,
        });
    assert!(
        notice.as_deref().is_some_and(|text| text.contains("touch")),
        "one notice lists the withheld settings: {notice:?}"
    );

    let mut raw = house.raw_as(Role::Drive);
    let cwd = json!({"cwd": house.project()});
    let shown = raw.call("trust.get", &cwd).expect("trust.get");
    assert_eq!(shown["trusted"], false);
    let trust = |hash: &Value| json!({"cwd": house.project(), "trusted": true, "hash": hash});
    let stale = raw
        .call("trust.set", &trust(&"0".repeat(64).into()))
        .expect_err("a stale hash");
    assert_eq!(stale.name, ErrorName::Stale);
    raw.call("trust.set", &trust(&shown["hash"]))
        .expect("trust.set");
    assert_eq!(
        statuses(&house, &[]),
        [CallStatus::Ok, CallStatus::Denied],
        "trusted; a deny is a deny"
    );
    fs::remove_file(house.project().join("made")).expect("it was made");

    // A later change is somebody else's text again.
    house
        .files("//- reasonix.toml\n[permissions]\nallow = [\"Bash(touch:*)\", \"Bash(curl:*)\"]\n");
    assert_eq!(
        raw.call("trust.get", &cwd).expect("trust.get")["trusted"],
        false
    );
    assert_eq!(statuses(&house, &[])[0], CallStatus::Denied);
}

#[test]
fn a_projects_own_provider_counts_only_when_it_is_trusted() {
    let house = House::new();
    fs::write(
        house.project().join("cassette.jsonl"),
        Script::new().says("From the project.").jsonl(),
    )
    .expect("a cassette");
    house.files("//- reasonix.toml\n[[providers]]\nname = \"theirs\"\nkind = \"replay\"\nmodel = \"cassette.jsonl\"\n");
    let refused = house.reasonix(&["run", "go"]).expect_code(78);
    assert!(refused.err.contains("trust"), "{refused:?}");
    let mut raw = house.raw_as(Role::Drive);
    let shown = raw
        .call("trust.get", &json!({"cwd": house.project()}))
        .expect("trust.get");
    raw.call(
        "trust.set",
        &json!({"cwd": house.project(), "trusted": true, "hash": shown["hash"]}),
    )
    .expect("trust.set");
    assert_eq!(
        house.reasonix(&["run", "go"]).expect_code(0).out,
        "From the project.\n"
    );
}

#[test]
fn unreadable_rules_are_reported_and_never_loosen() {
    let house = House::playing(&Script::new().runs("touch made").says("Done."));
    house.turn_off_sandbox();
    house.settings("[permissions]\nallow = [\"Bash(touch made\", \"Nonsense(x)\", \"Bash(*)(\"]");
    assert_eq!(statuses(&house, &[]), [CallStatus::Denied]);
    let notices: Vec<_> = house
        .log(Pid(1))
        .bodies()
        .into_iter()
        .filter_map(|body| match body {
            Body::Notice(notice) => Some(notice.text),
            _ => None,
        })
        .collect();
    assert!(!notices.is_empty(), "a notice is shown");
    assert!(!house.project().join("made").exists());
}

#[test]
fn unknown_tools_and_invalid_arguments_never_run() {
    let script = Script::new()
        .calls("shell_exec", &json!({"command": "touch made"}))
        .line(json!({"tool_calls": [{"name": "bash", "arguments": "{\"command\": \"touch made"}]}))
        .calls("bash", &json!({"command": ["touch", "made"]}))
        .calls("bash", &json!({}))
        .says("Done.");
    let house = House::playing(&script);
    let results = results(&house, &["--on-ask", "allow"]);
    assert_eq!(results[0].0, CallStatus::Refused, "{results:?}");
    assert_eq!(results[3].0, CallStatus::Refused, "{results:?}");
    assert_eq!(results.len(), 4, "each has its result");
    // Truncated arguments may be repaired if only one repair is possible; then they are judged like all others.
    let log = house.log(Pid(1));
    assert!(log.count("tool.started") <= 2, "{:?}", log.kinds());
}
