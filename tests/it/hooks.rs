//! Hooks with real shells: their input, their effects, and that they leave no process. The examples of
//! `docs/hooks.md` are read from there and run as they are written.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use proto::Body;
use proto::hello::Role;
use proto::hook::{HookEvent, HookFinished, HookOutcome};
use proto::item::CallStatus;
use proto::methods::{HookList, HookReload, SessionCreate, SessionInterrupt, SessionPrompt};
use proto::params::hook::{ListParams, ReloadParams};
use proto::params::session::{OneParams, PromptParams, When};
use proto::state::OnAsk;
use proto::{ErrorName, Pid, RequestId};
use serde_json::{Value, json};
use testkit::Script;
use testkit::model::{Answer, Model, Usage};
use tests::follow::{from_the_start, to, to_end_of_turn, to_rest};
use tests::house::client_program;
use tests::interactions::{allow_once, answer, next_opened};
use tests::log::Log;
use tests::{Done, House, skip, soon, until};

/// The hooks of one event, as a settings file.
fn hooks(event: &str, hooks: &Value) -> String {
    json!({"hooks": {event: hooks}}).to_string()
}

/// Hooks of the user's own.
fn own(house: &House, settings: &str) {
    fs::write(house.home_file("settings.json"), settings).expect("write the hooks");
}

/// Hooks of the project.
fn theirs(house: &House, settings: &str) {
    house.files(&format!("//- .reasonix/settings.json\n{settings}\n"));
}

fn run(house: &House) -> Done {
    house.reasonix(&["run", "--on-ask", "allow", "do it"])
}

fn finished(log: &Log) -> Vec<HookFinished> {
    let hook = |body| match body {
        Body::HookFinished(finished) => Some(finished),
        _ => None,
    };
    log.bodies().into_iter().filter_map(hook).collect()
}

/// The one hook that has run.
fn only(log: &Log) -> HookFinished {
    let finished = finished(log);
    assert_eq!(finished.len(), 1, "{finished:?}");
    finished[0].clone()
}

fn jq() -> bool {
    skip::works(&["jq", "--version"])
}

/// A process of this house's with this argument runs.
fn runs(argument: &str) -> bool {
    let entries = fs::read_dir("/proc").expect("processes");
    let arguments = entries
        .flatten()
        .map(|entry| fs::read(entry.path().join("cmdline")).unwrap_or_default());
    let mut arguments = arguments.filter(|line| !line.is_empty());
    arguments.any(|line| {
        line.split(|byte| *byte == 0)
            .any(|word| word == argument.as_bytes())
    })
}

/// A prompt that waits its turn.
fn prompt(pid: Pid, text: &str) -> PromptParams {
    PromptParams {
        untyped: Vec::new(),
        on_ask: None,
        session: pid.to_string(),
        text: text.to_owned(),
        when: When::Queue,
        credentials: BTreeMap::new(),
        env: BTreeMap::new(),
        request_id: Some(RequestId::new()),
    }
}

// The examples, as they are written.

/// The example under this title in the documentation.
fn example(title: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/hooks.md");
    let page = fs::read_to_string(page).expect("the page on hooks");
    let (_, rest) = page
        .split_once(&format!("## {title}\n"))
        .expect("the title is there");
    let (_, json) = rest.split_once("```json\n").expect("an example");
    let (json, _) = json.split_once("```").expect("its end");
    json.to_owned()
}

/// A directory of programs that come first in `PATH`.
fn programs(house: &House) -> (PathBuf, String) {
    let bin = house.root().join("bin");
    fs::create_dir_all(&bin).expect("a directory of programs");
    let path = format!("{}:{}", bin.display(), house.environment()["PATH"]);
    (bin, path)
}

fn with_path(house: &House, path: &str, arguments: &[&str]) -> Done {
    tests::program::run(house.command(arguments).env("PATH", path))
}

#[test]
fn the_example_that_blocks_dangerous_commands_works_as_written() {
    if skip::unless(jq(), "jq") {
        return;
    }
    let script = Script::new()
        .runs("rm -rf build")
        .runs("echo fine")
        .says("Done.");
    let house = House::playing(&script);
    theirs(&house, &example("Block dangerous commands"));
    house.files("//- build/kept\nstill here\n");
    house.daemon();
    let _ = house.reasonix(&["trust", "--yes"]).expect_code(0);
    let _ = run(&house).expect_code(0);
    assert_eq!(house.read("build/kept"), "still here\n");
    let log = house.log(Pid(1));
    let results = log.results();
    assert_eq!(results[0].status, CallStatus::Denied);
    assert!(
        results[0].text.contains("denied: dangerous command"),
        "{}",
        results[0].text
    );
    assert_eq!(results[1].status, CallStatus::Ok);
    let outcomes: Vec<_> = finished(&log).iter().map(|hook| hook.outcome).collect();
    assert_eq!(outcomes, [HookOutcome::Block, HookOutcome::Pass]);
    // A call that was blocked is in no question and no decision.
    assert_eq!(log.count("policy.decided"), 1);
    let shown = house.reasonix(&["strace", "1"]).expect_code(0);
    assert!(shown.out.contains("hook PreToolUse"), "{}", shown.out);
}

#[test]
fn the_example_that_formats_after_an_edit_works_as_written() {
    if skip::unless(jq(), "jq") {
        return;
    }
    let script = Script::new()
        .calls(
            "write_file",
            &json!({"path": "a.js", "content": "let a=1\n"}),
        )
        .says("Written.")
        .when("a.js");
    let house = visible_house();
    house.cassette(&script.jsonl());
    own(&house, &example("Format after an edit"));
    let (bin, path) = programs(&house);
    let prettier = bin.join("prettier");
    let text = "#!/bin/sh\n[ \"$1\" = --write ] && printf 'let a = 1;\\n' > \"$2\"\n";
    fs::write(&prettier, text).expect("a formatter");
    fs::set_permissions(&prettier, fs::Permissions::from_mode(0o755)).expect("it can be run");
    house.daemon();
    let _ = with_path(&house, &path, &["run", "--on-ask", "allow", "do it"]).expect_code(0);
    assert_eq!(house.read("a.js"), "let a = 1;\n");
    assert_eq!(only(&house.log(Pid(1))).event, HookEvent::PostToolUse);
    let text = house.log(Pid(1)).results()[0].text.clone();
    assert!(text.contains("Changed by somebody else"), "{text}");
    // What the formatter made of it belongs to the call.
    let _ = house.reasonix(&["rewind", "1", "0"]).expect_code(0);
    assert!(!house.project().join("a.js").exists());
}

#[test]
fn the_example_of_a_daily_ceiling_works_as_written() {
    if skip::unless(jq(), "jq") {
        return;
    }
    // Three dollars, and then eight: as a text, eleven would be less than five.
    let costs = |tokens: u64| {
        Answer::text("Done.").usage(Usage {
            prompt: tokens,
            ..Usage::default()
        })
    };
    let model = Model::start([costs(3_000_000), costs(8_000_000)]);
    let house = House::new();
    house.provider(&format!(
        "{}price = {{ input = 1.0, output = 1.0 }}\n",
        model.entry("model", None)
    ));
    let (bin, path) = programs(&house);
    symlink(client_program(), bin.join("reasonix")).expect("reasonix on the path");
    own(&house, &example("A daily cost ceiling"));
    house.daemon();
    let ask = |words: &str| with_path(&house, &path, &["run", words]);
    let spent = || house.reasonix(&["stats", "--today", "--json"]).json()["totalCostUsd"].as_f64();
    for (number, before) in [(1, 0.0), (2, 3.0)] {
        assert_eq!(spent(), Some(before));
        let _ = ask(&format!("do it {number}")).expect_code(0);
        let hook = only(&house.log(Pid(number)));
        assert_eq!((hook.outcome, hook.reason), (HookOutcome::Pass, None));
    }
    assert_eq!(spent(), Some(11.0));
    let refused = ask("do it again").expect_code(3);
    assert!(
        refused.err.contains("the daily cap is reached"),
        "{refused:?}"
    );
    assert_eq!(house.logs().len(), 2, "no session was made for it");
    assert_eq!(model.count(), 2, "nothing was asked");
    let counted = house.reasonix(&["stats", "--by", "hook"]).expect_code(0);
    assert!(
        counted.out.contains("RUNS") && counted.out.contains("UserPromptSubmit"),
        "{counted:?}"
    );
    let json = house.reasonix(&["stats", "--by", "hook", "--json"]).json();
    assert_eq!(
        json["hooks"][0]["runs"], 2,
        "the refused prompt made no session: {json}"
    );
    assert_eq!(json["hooks"][0]["blocked"], 0, "{json}");
}

#[test]
fn the_example_that_commits_works_as_written() {
    if skip::unless(jq() && skip::works(&["git", "--version"]), "jq and git") {
        return;
    }
    let script = Script::new()
        .calls("read_file", &json!({"path": "a.txt"}))
        .calls("write_file", &json!({"path": "a.txt", "content": "two\n"}))
        .says("The file has a second line now.");
    let house = House::playing(&script);
    own(&house, &example("Commit after each turn"));
    house.files("//- a.txt\none\n");
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(arguments)
            .current_dir(house.project())
            .env("HOME", house.user_home())
            .output();
        let done = done.expect("git");
        assert!(done.status.success(), "{done:?}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let _ = git(&["init", "-q"]);
    let _ = git(&["config", "user.name", "Ann"]);
    let _ = git(&["config", "user.email", "ann@example.org"]);
    let _ = git(&["add", "-A"]);
    let _ = git(&["commit", "-qm", "first"]);
    house.daemon();
    // The run is over when its hooks are.
    let _ = run(&house).expect_code(0);
    assert_eq!(
        git(&["log", "-1", "--format=%s"]).trim(),
        "reasonix: The file has a second line now."
    );
    assert_eq!(git(&["status", "--porcelain"]), "");
    let log = house.log(Pid(1));
    let kinds = log.kinds();
    let place = |kind: &str| kinds.iter().position(|known| *known == kind);
    assert!(place("turn.ended") < place("hook.finished"), "{kinds:?}");
    assert!(
        place("hook.finished") < place("session.exited"),
        "{kinds:?}"
    );
}

// The protocol, with real shells.

#[test]
fn exit_codes_mean_what_the_table_says_and_no_key_is_seen() {
    let dump = "cat > input; env > seen; exit 1";
    let script = Script::new().runs("echo one").says("Done.");
    let house = House::playing(&script);
    let blocks = json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "exit 2"}]});
    own(
        &house,
        &json!({"hooks": {
            "PreToolUse": [
                {"command": dump},
                {"match": "[", "command": "exit 2"},
                {"match": "ash", "command": "exit 2"},
                {"match": "run_command", "command": "echo 'not you' >&2; exit 2", "description": "mine"},
                blocks
            ],
            "Stop": [{"command": "exit 2"}, {"command": "exec bash -c 'exit 7'"}, {"command": "kill -9 $$"}]
        }})
        .to_string(),
    );
    house.daemon();
    let done = tests::program::run(
        house
            .command(&["run", "--on-ask", "allow", "do it"])
            .env("OPENAI_API_KEY", "sk-none")
            .env("MY_TOKEN", "secret"),
    )
    .expect_code(0);
    assert!(
        done.err.contains("not a regular expression"),
        "{}",
        done.err
    );
    let log = house.log(Pid(1));
    let runs: Vec<_> = finished(&log)
        .into_iter()
        .map(|hook| (hook.hook, hook.outcome, hook.reason.unwrap_or_default()))
        .collect();
    let row = |hook: &str, outcome, reason: &str| (hook.to_owned(), outcome, reason.to_owned());
    assert_eq!(
        runs,
        [
            row(dump, HookOutcome::Warn, "it exited with 1"),
            row("mine", HookOutcome::Block, "not you"),
            row("exit 2", HookOutcome::Warn, "it exited with 2"),
            row(
                "exec bash -c 'exit 7'",
                HookOutcome::Warn,
                "it exited with 7"
            ),
            row("kill -9 $$", HookOutcome::Warn, "it was killed by signal 9"),
        ]
    );
    assert_eq!(
        log.results()[0].text.lines().next(),
        Some("The PreToolUse hook `mine` blocked it: not you")
    );
    let line = house.read("input");
    assert_eq!(line.lines().count(), 1);
    let line: Value = serde_json::from_str(&line).expect("one JSON");
    assert_eq!(line["toolArgs"]["command"], "echo one");
    assert_eq!(
        (&line["tool_name"], &line["toolName"]),
        (&json!("Bash"), &json!("bash"))
    );
    let seen = house.read("seen");
    assert!(seen.contains("CLAUDE_PROJECT_DIR="), "{seen}");
    assert!(
        !seen.contains("sk-none") && !seen.contains("MY_TOKEN"),
        "{seen}"
    );
}

#[test]
fn a_hook_sees_the_tool_that_a_call_leads_to_and_is_asked_once() {
    let script = Script::new()
        .calls(
            "tool_call",
            &json!({"name": "make_dir", "arguments": {"path": "made"}}),
        )
        .says("Made.");
    let house = House::playing(&script);
    own(
        &house,
        &hooks(
            "PreToolUse",
            &json!([{"match": "make_dir", "command": "cat >> input"}]),
        ),
    );
    house.daemon();
    let mut params = house.create("make it");
    params.options.on_ask = Some(OnAsk::Wait);
    house.block_on(async {
        let client = house.client("ann", Role::Drive).await;
        let made = client.call::<SessionCreate>(&params).await.expect("create");
        let mut follow = from_the_start(&client, made.pid).await;
        // Judged again after the answer, without a second question.
        let open = next_opened(&mut follow).await;
        answer(&client, &allow_once(&open)).await.expect("answer");
        to_rest(&mut follow).await;
    });
    assert!(house.project().join("made").is_dir());
    assert_eq!(house.read("input").lines().count(), 1);
    assert!(house.read("input").contains("\"toolName\":\"make_dir\""));
}

#[test]
fn a_hook_that_hangs_dies_with_its_children_and_blocks() {
    // No other run of this test sleeps so long.
    let seconds = 100_000 + std::process::id();
    let hangs = format!(
        "trap '' TERM; sleep {seconds}.1 & setsid sleep {seconds}.2 & \
         (setsid sh -c 'trap \"\" TERM; sleep {seconds}.3; :' &) ; sleep {seconds}.4; sleep {seconds}.5"
    );
    let house = House::playing(&Script::new().runs("echo one > made").says("Done."));
    own(
        &house,
        &hooks("PreToolUse", &json!([{"command": hangs, "timeout": 700}])),
    );
    house.daemon();
    let _ = run(&house).expect_code(0);
    assert!(
        !house.project().join("made").exists(),
        "what timed out blocks"
    );
    let hook = only(&house.log(Pid(1)));
    assert_eq!(hook.outcome, HookOutcome::Timeout);
    assert!(hook.duration_ms >= 700, "{hook:?}");
    for nth in 1..=5 {
        let argument = format!("{seconds}.{nth}");
        assert!(!runs(&argument), "`sleep {argument}` runs on");
    }
}

#[test]
fn a_flood_and_a_deaf_hook_and_a_large_call_hinder_nobody() {
    let content = "ä\"\n".repeat(300_000);
    let script = Script::new()
        .calls("write_file", &json!({"path": "big", "content": content}))
        .says("Done.");
    let house = House::playing(&script);
    own(
        &house,
        &hooks(
            "PreToolUse",
            &json!([
                {"command": "yes flood | head -c 50000000; yes flood | head -c 50000000 >&2", "timeout": 30000},
                {"command": "exit 0"},
                {"command": "exec <&-; sleep 0.1"},
                {"command": "wc -c > size"},
            ]),
        ),
    );
    house.daemon();
    let _ = run(&house).expect_code(0);
    let log = house.log(Pid(1));
    let outcomes: Vec<_> = finished(&log).iter().map(|hook| hook.outcome).collect();
    assert_eq!(outcomes, [HookOutcome::Pass; 4]);
    assert_eq!(house.read("big").len(), content.len());
    let size: usize = house.read("size").trim().parse().expect("a number");
    assert!(size > 2 * content.len(), "{size}");
}

// Prompts.

#[tokio::test]
async fn a_prompt_that_is_refused_enters_nothing() {
    let house = House::playing(&Script::new().says("One.").says("Two."));
    let refuses = "grep -q secret && { echo 'no secrets, please' >&2; exit 2; } || exit 0";
    own(
        &house,
        &hooks("UserPromptSubmit", &json!([{"command": refuses}])),
    );
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let refused = client
        .call::<SessionCreate>(&house.create("a secret"))
        .await
        .expect_err("the first prompt is asked about too");
    assert_eq!(
        refused.failure().expect("a failure").name,
        ErrorName::Blocked
    );
    let params = house.create("plain");
    let made = client.call::<SessionCreate>(&params).await.expect("create");
    let mut follow = from_the_start(&client, made.pid).await;
    to_rest(&mut follow).await;
    let say = |text: &str| prompt(made.pid, text);
    let refused = client
        .call::<SessionPrompt>(&say("my secret"))
        .await
        .expect_err("it is refused");
    let failure = refused.failure().expect("a failure");
    assert_eq!(failure.name, ErrorName::Blocked);
    assert!(failure.message.contains("no secrets, please"), "{failure}");
    let said = say("plain again");
    let first = client.call::<SessionPrompt>(&said).await.expect("prompt");
    let again = client.call::<SessionPrompt>(&said).await.expect("a repeat");
    assert_eq!(first.prompt_id, again.prompt_id);
    to_end_of_turn(&mut follow).await;
    let log = house.log(made.pid);
    assert_eq!(log.count("prompt.queued"), 2);
    let all = format!("{:?}", log.bodies());
    assert!(!all.contains("my secret"), "{all}");
    let outcomes: Vec<_> = finished(&log).iter().map(|hook| hook.outcome).collect();
    assert_eq!(
        outcomes,
        [HookOutcome::Pass, HookOutcome::Block, HookOutcome::Pass]
    );
}

#[tokio::test]
async fn an_interrupt_is_acknowledged_at_once_and_ends_the_hook() {
    let house = House::playing(&Script::new().says("One.").runs("echo hi").says("Two."));
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let made = client
        .call::<SessionCreate>(&house.create("begin"))
        .await
        .expect("create");
    let session = made.pid.to_string();
    let mut follow = from_the_start(&client, made.pid).await;
    to_rest(&mut follow).await;
    // Hooks that came later count when they were read again.
    let settings = json!({"hooks": {
        "UserPromptSubmit": [{"command": "grep -q slowly && sleep 41414.1; exit 0", "timeout": 60000}],
        "PreToolUse": [{"command": "sleep 41414.2", "timeout": 60000}],
    }});
    own(&house, &settings.to_string());
    let reload = ReloadParams {
        session: session.clone(),
    };
    let read = client.call::<HookReload>(&reload).await.expect("reload");
    assert_eq!(read.hooks.len(), 2);
    let say = |text: &str| prompt(made.pid, text);
    let (slow, one) = (
        say("slowly"),
        OneParams {
            session: session.clone(),
        },
    );
    let prompting = client.call::<SessionPrompt>(&slow);
    let interrupting = async {
        soon_runs("41414.1").await;
        let began = Instant::now();
        let stopped = client.call::<SessionInterrupt>(&one).await;
        assert!(stopped.expect("interrupt").delivered);
        began.elapsed()
    };
    let (prompted, took) = tokio::join!(prompting, interrupting);
    let failure = prompted.expect_err("it was interrupted");
    assert_eq!(
        failure.failure().expect("a failure").name,
        ErrorName::Blocked
    );
    assert!(took < Duration::from_secs(2), "{took:?}");
    until("the hook of the prompt is gone", || {
        (!runs("41414.1")).then_some(())
    });

    let _ = client
        .call::<SessionPrompt>(&say("go"))
        .await
        .expect("prompt");
    soon_runs("41414.2").await;
    let stopped = client.call::<SessionInterrupt>(&one).await;
    assert!(stopped.expect("interrupt").delivered);
    to_end_of_turn(&mut follow).await;
    until("the hook of the call is gone", || {
        (!runs("41414.2")).then_some(())
    });
    let log = house.log(made.pid);
    assert!(!log.kinds().contains(&"tool.started"), "{:?}", log.kinds());
}

async fn soon_runs(argument: &str) {
    soon("a hook", async {
        while !runs(argument) {
            tests::wait::step().await;
        }
    })
    .await;
}

// The end of a turn, and waiting.

#[tokio::test]
async fn queued_prompts_start_after_the_hooks_of_the_turn_before() {
    let house = House::playing(&Script::new().says("One.").says("Two."));
    let slow = json!([{"command": "cat > ended; until test -e go; do sleep 0.05; done"}]);
    own(&house, &hooks("Stop", &slow));
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let made = client
        .call::<SessionCreate>(&house.create("one"))
        .await
        .expect("create");
    let mut follow = from_the_start(&client, made.pid).await;
    to_end_of_turn(&mut follow).await;
    let next = prompt(made.pid, "two");
    let _ = client.call::<SessionPrompt>(&next).await.expect("prompt");
    assert_eq!(house.log(made.pid).count("turn.started"), 1);
    fs::write(house.project().join("go"), "").expect("let it go");
    let events = to_end_of_turn(&mut follow).await;
    let kinds: Vec<_> = events.iter().map(|event| event.kind.as_str()).collect();
    let place = |kind: &str| kinds.iter().position(|known| *known == kind);
    assert!(place("hook.finished") < place("turn.started"), "{kinds:?}");
    to(&mut follow, "the second hook", |event| {
        event.kind == "hook.finished"
    })
    .await;
    let input: Value = serde_json::from_str(&house.read("ended")).expect("one JSON");
    assert_eq!(
        (
            &input["lastAssistantText"],
            &input["turn"],
            &input["outcome"]
        ),
        (&json!("Two."), &json!(2), &json!("completed"))
    );
}

#[tokio::test]
async fn a_notification_hook_runs_when_a_session_waits_for_the_user() {
    let house = House::playing(&Script::new().runs("touch made").says("Done."));
    own(
        &house,
        &hooks("Notification", &json!([{"command": "cat > input"}])),
    );
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let made = client
        .call::<SessionCreate>(&house.create("make it"))
        .await
        .expect("create");
    let mut follow = from_the_start(&client, made.pid).await;
    to(&mut follow, "the hook", |event| {
        event.kind == "hook.finished"
    })
    .await;
    let input: Value = serde_json::from_str(&house.read("input")).expect("one JSON");
    assert_eq!(input["notificationType"], "approval");
    assert_eq!(input["message"], "May `bash` run: touch made?");
}

// Settings and trust.

#[test]
fn a_run_trusts_a_project_for_itself_alone() {
    let script = Script::new()
        .runs("touch made")
        .says("One.")
        .says("Two.")
        .runs("touch made")
        .says("Three.");
    let house = House::playing(&script);
    house.turn_off_sandbox();
    let stop = json!([{"command": "echo ran >> ran"}]);
    theirs(&house, &hooks("Stop", &stop));
    house.files("//- reasonix.toml\n[permissions]\nallow = [\"Bash(touch:*)\"]\n");
    house.daemon();
    let refused = house.reasonix(&["run", "--trust", "--detach", "go"]);
    assert_eq!(refused.code(), Some(64), "{refused:?}");
    let said = house.reasonix(&["run", "--trust", "go"]).expect_code(0);
    assert!(said.err.contains("trusted until the run ends"), "{said:?}");
    assert!(
        said.err.contains("hook Stop: \"echo ran >> ran\""),
        "{said:?}"
    );
    assert!(house.project().join("made").exists(), "its rules count");
    assert_eq!(house.read("ran"), "ran\n", "its hooks run");
    assert!(!house.home_file("trust.json").exists(), "nothing is stored");
    std::fs::remove_file(house.project().join("made")).expect("it was made");
    // The session that it has left follows, as a new one does.
    until("the end of the connection", || {
        let status = house.reasonix(&["hooks", "-s", "1", "--json"]);
        let listed = status.expect_code(0).json();
        (listed["hooks"][0]["trusted"] != json!(true)).then_some(())
    });
    let _ = house.reasonix(&["run", "-s", "1", "go on"]).expect_code(0);
    let _ = house.reasonix(&["run", "again"]);
    assert_eq!(house.read("ran"), "ran\n");
    assert!(!house.project().join("made").exists());
}

#[test]
fn a_projects_hooks_run_only_as_they_were_trusted() {
    let script = Script::new()
        .says("One.")
        .says("Two.")
        .says("Three.")
        .says("Four.");
    let house = House::playing(&script);
    let first = json!([{"command": "echo ran >> ran"}]);
    theirs(&house, &hooks("Stop", &first));
    house.daemon();
    let said = run(&house).expect_code(0);
    assert!(
        said.err.contains("hook Stop: \"echo ran >> ran\""),
        "{said:?}"
    );
    assert!(
        !house.project().join("ran").exists(),
        "not before it is trusted"
    );
    let shown = house.reasonix(&["trust", "--show"]).expect_code(0);
    assert!(
        shown.out.contains("hook Stop: \"echo ran >> ran\""),
        "{shown:?}"
    );
    let _ = house.reasonix(&["trust", "--yes"]).expect_code(0);
    let _ = run(&house).expect_code(0);
    assert_eq!(house.read("ran"), "ran\n");
    let listed = house.reasonix(&["hooks", "--json"]).expect_code(0).json();
    assert_eq!(listed["hooks"][0]["trusted"], true);
    // Any other line has to be looked at again.
    let second = json!([{"command": "echo other >> ran"}]);
    theirs(&house, &hooks("Stop", &second));
    let _ = run(&house).expect_code(0);
    assert_eq!(house.read("ran"), "ran\n");
    let listed = house.reasonix(&["hooks", "--json"]).expect_code(0).json();
    assert_eq!(listed["hooks"][0]["trusted"], false);
    // Nor does a link lead to hooks that somebody trusts elsewhere.
    let settings = house.project().join(".reasonix/settings.json");
    fs::rename(&settings, house.root().join("elsewhere")).expect("move it");
    symlink(house.root().join("elsewhere"), &settings).expect("link it");
    let listed = house.reasonix(&["hooks", "--json"]).expect_code(0).json();
    assert_eq!(listed["hooks"], json!([]));
    assert!(
        listed["problems"][0]
            .as_str()
            .expect("a problem")
            .contains("link")
    );
}

/// A house whose files sandboxed commands see at their own paths.
fn visible_house() -> House {
    House::below(Path::new("/var/tmp"))
}

#[test]
fn a_hook_that_the_agent_can_rewrite_runs_in_the_sandbox() {
    // By its file, through a runner that reads its file, and by a link in the place of its output.
    for (name, command) in [
        ("check.sh", "sh ./check.sh"),
        ("Makefile", "make -s check"),
        ("log", "cat >> log"),
    ] {
        if name == "Makefile" && skip::unless(skip::works(&["make", "--version"]), "make") {
            continue;
        }
        let house = visible_house();
        let mark = house.user_home().join("mark");
        let touch = format!("touch {}", mark.display());
        let script = match name {
            "log" => Script::new().runs(&format!("ln -sf {} log", mark.display())),
            "Makefile" => Script::new().calls(
                "write_file",
                &json!({"path": name, "content": format!("check:\n\t{touch}\n")}),
            ),
            _ => Script::new().calls("write_file", &json!({"path": name, "content": touch})),
        };
        house.cassette(&script.says("Done.").jsonl());
        own(&house, &hooks("Stop", &json!([{"command": command}])));
        house.daemon();
        let _ = run(&house).expect_code(0);
        let ran = only(&house.log(Pid(1)));
        assert!(!mark.exists(), "{command}: it reached outside: {ran:?}");
        assert_eq!(ran.outcome, HookOutcome::Warn, "{command}: {ran:?}");
    }
}

#[test]
fn a_hook_outside_the_sandbox_does_not_run_a_file_that_changed_since_it_was_trusted() {
    let house = visible_house();
    let mark = house.user_home().join("mark");
    let touch = format!("touch {}", mark.display());
    let script = Script::new()
        .runs(&format!("echo {touch}2 > check.sh"))
        .says("Done.");
    house.cassette(&script.jsonl());
    house.files(&format!("//- check.sh\n{touch}\n"));
    let hook = json!([{"command": "sh ./check.sh", "sandbox": false}]);
    let settings = json!({"hooks": {"UserPromptSubmit": hook, "Stop": hook}});
    theirs(&house, &settings.to_string());
    house.daemon();
    let shown = house.reasonix(&["trust", "--show"]).expect_code(0).out;
    assert!(
        shown.contains("outside the sandbox") && shown.contains("check.sh (SHA-256 "),
        "{shown}"
    );
    let _ = house.reasonix(&["trust", "--yes"]).expect_code(0);
    let _ = run(&house).expect_code(0);
    let ran = finished(&house.log(Pid(1)));
    let outcomes: Vec<_> = ran.iter().map(|hook| hook.outcome).collect();
    assert_eq!(outcomes, [HookOutcome::Pass, HookOutcome::Error]);
    assert!(mark.exists(), "as it was trusted it runs outside");
    // The agent has rewritten the file: it does not run in this session, nor in the next one.
    let why = ran[1].reason.clone().unwrap_or_default();
    assert!(
        why.contains("check.sh") && why.contains("reasonix trust"),
        "{why}"
    );
    let _ = run(&house).expect_code(0);
    assert!(
        finished(&house.log(Pid(2))).is_empty(),
        "it is asked about again"
    );
    assert!(!mark.with_file_name("mark2").exists());
}

#[tokio::test]
async fn a_malformed_file_is_one_notice_and_no_hook() {
    let house = House::playing(&Script::new().says("One."));
    own(&house, "{\"hooks\": {");
    theirs(&house, "[]");
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let made = client
        .call::<SessionCreate>(&house.create("one"))
        .await
        .expect("create");
    let mut follow = from_the_start(&client, made.pid).await;
    to_rest(&mut follow).await;
    let log = house.log(made.pid);
    let notices: Vec<_> = log
        .bodies()
        .into_iter()
        .filter_map(|body| match body {
            Body::Notice(notice) if notice.text.contains("settings.json") => Some(notice.text),
            _ => None,
        })
        .collect();
    assert_eq!(notices.len(), 2, "{notices:?}");
    let list = ListParams {
        session: Some(made.pid.to_string()),
        cwd: None,
    };
    let listed = client.call::<HookList>(&list).await.expect("list");
    assert!(listed.hooks.is_empty());
    assert_eq!(listed.problems.len(), 2);
    // Fixed and read again, the hook runs, and its outcome is reported.
    own(&house, &hooks("Stop", &json!([{"command": "exit 5"}])));
    let reload = ReloadParams {
        session: made.pid.to_string(),
    };
    let _ = client.call::<HookReload>(&reload).await.expect("reload");
    let next = prompt(made.pid, "again");
    let _ = client.call::<SessionPrompt>(&next).await.expect("prompt");
    to(&mut follow, "the hook", |event| {
        event.kind == "hook.finished"
    })
    .await;
    let listed = client.call::<HookList>(&list).await.expect("list");
    let last = listed.hooks[0].last.clone().expect("it has run");
    assert_eq!(last.outcome, HookOutcome::Warn);
}
