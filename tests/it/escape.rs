//! Commands that the sandbox stopped: a person may let one run once outside of it, and nobody else may.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use client::Client;
use proto::hello::Role;
use proto::item::CallStatus;
use proto::methods::{SessionCreate, SessionPrompt, SessionSet, SessionSignal};
use proto::params::interaction::{ApprovalDecision, Interaction, InteractionAnswer};
use proto::params::session::{CreateParams, PromptParams, SetParams, Signal, SignalParams, When};
use proto::record::ToolStarted;
use proto::state::{ApprovalMode, Mode};
use proto::{Body, ErrorName, Pid, SessionOptions};
use serde_json::json;
use tempfile::TempDir;
use testkit::Script;
use tests::follow::{from_the_start, to, to_rest};
use tests::interactions::{
    allow_once, answer, answer_with, approval, decide, first_opened, list, next_opened,
};
use tests::{House, log::Log, skip, until};

/// Whether commands are held here by something that says no as this expects it.
fn bubblewrap_is_missing() -> bool {
    let bubblewrap = ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"];
    skip::unless(skip::works(&bubblewrap), "bubblewrap that starts")
}

/// A directory outside the project and the temporary directories.
fn outside() -> TempDir {
    tempfile::Builder::new()
        .prefix("rxout")
        .tempdir_in("/var/tmp")
        .expect("a directory outside")
}

fn touches(place: &Path) -> String {
    format!("touch {}/made", place.display())
}

/// A session whose commands run unasked, because the sandbox holds them.
async fn begun(house: &House, client: &Client) -> Pid {
    let create = CreateParams {
        options: SessionOptions {
            approval_mode: Some(ApprovalMode::Auto),
            ..house.create("make it").options
        },
        ..house.create("make it")
    };
    let made = client.call::<SessionCreate>(&create).await;
    made.expect("create").pid
}

/// The approval of a call that may run outside.
async fn offered(client: &Client, pid: Pid) -> Interaction {
    let open = first_opened(client, pid).await;
    assert!(approval(&open).escape.is_some(), "{open:?}");
    open
}

async fn rest(client: &Client, pid: Pid) {
    to_rest(&mut from_the_start(client, pid).await).await;
}

/// Where the calls of a log were started: `true` outside.
fn starts(log: &Log) -> Vec<bool> {
    let bodies = log.bodies().into_iter();
    let starts = bodies.filter_map(|body| match body {
        Body::ToolStarted(ToolStarted { outside, .. }) => Some(outside),
        _ => None,
    });
    starts.collect()
}

#[tokio::test]
async fn approved_command_runs_once_unsandboxed_and_the_model_sees_both_runs() {
    if bubblewrap_is_missing() {
        return;
    }
    let place = outside();
    let command = format!("cd sub && {}", touches(place.path()));
    let script = Script::new()
        .runs(&command)
        .runs("pwd > ../where")
        .says("It is made.");
    let house = House::playing(&script);
    house.files("//- sub/file\nx");
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let pid = begun(&house, &client).await;
    let open = offered(&client, pid).await;
    let asked = approval(&open);
    assert_eq!(asked.subject, command);
    assert!(asked.scopes.is_empty(), "once, and no more");
    let reason = asked.escape.clone().expect("a reason");
    assert!(reason.contains("outside the workspace"), "{reason}");
    assert!(
        !place.path().join("made").exists(),
        "nobody has said yes yet"
    );
    for decision in [
        ApprovalDecision::AllowSession,
        ApprovalDecision::AllowAlways,
    ] {
        let wide = answer(&client, &decide(&open, decision)).await;
        let failure = wide.expect_err("it is for once");
        assert_eq!(failure.name, ErrorName::InvalidParams);
    }

    answer(&client, &allow_once(&open)).await.expect("a yes");
    rest(&client, pid).await;
    assert!(place.path().join("made").exists());
    let log = house.log(pid);
    assert_eq!(starts(log.check()), [false, true, false]);
    let results = log.results();
    assert_eq!(results[0].status, CallStatus::Ok);
    assert!(
        results[0].text.contains("let it run once more, outside"),
        "{}",
        results[0].text
    );
    // The first run changed no directory: the second started in the same one.
    let here = house.project().join("sub");
    assert_eq!(house.read("where").trim(), here.to_string_lossy());
    let decided = log.bodies().into_iter().filter_map(|body| match body {
        Body::PolicyDecided(decided) => Some(decided.rule),
        _ => None,
    });
    let rules: Vec<_> = decided.collect();
    assert!(
        rules[1].contains("the sandbox may have blocked it"),
        "{rules:?}"
    );

    let exported = house.reasonix(&["export", &pid.to_string()]);
    assert!(exported.out.contains("stopped by the sandbox"));
    assert!(exported.out.contains("Read-only file system"));
    let traced = house.reasonix(&["strace", &pid.to_string()]);
    assert!(traced.out.contains("blocked bash"), "{}", traced.out);
    assert!(traced.out.contains("outside the sandbox"));
}

#[tokio::test]
async fn denied_unsandboxed_run_keeps_the_sandboxed_result_and_is_asked_once_a_turn() {
    if bubblewrap_is_missing() {
        return;
    }
    let place = outside();
    let command = touches(place.path());
    let script = Script::new()
        .runs(&command)
        .runs(&command)
        .says("I cannot.");
    let house = House::playing(&script);
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let pid = begun(&house, &client).await;
    let open = offered(&client, pid).await;
    let shown = house.reasonix(&["inbox"]).out;
    assert!(shown.contains("bash outside the sandbox"), "{shown}");
    let no = InteractionAnswer::Approval {
        decision: ApprovalDecision::Deny,
        scope: None,
        note: Some("put it into the project".into()),
        edited_command: None,
    };
    answer(&client, &answer_with(&open, no))
        .await
        .expect("a no");
    rest(&client, pid).await;
    assert!(!place.path().join("made").exists());
    let log = house.log(pid);
    assert_eq!(starts(log.check()), [false, false]);
    assert_eq!(
        log.count("interaction.opened"),
        1,
        "it is asked once a turn"
    );
    assert_eq!(log.count("tool.blocked"), 1);
    let results = log.results();
    assert_eq!(results[0].status, CallStatus::Failed);
    let text = &results[0].text;
    assert!(text.contains("Read-only file system"), "{text}");
    assert!(
        text.trim_end()
            .ends_with("said no: put it into the project"),
        "{text}"
    );
    assert!(results[1].text.contains("`sandbox.allow_write`"));
}

#[tokio::test]
async fn the_question_outlives_the_daemon_and_anybody_may_answer_it() {
    if bubblewrap_is_missing() {
        return;
    }
    let place = outside();
    let command = format!("echo ran >> {}/made", place.path().display());
    let house = House::playing(&Script::new().runs(&command).says("It is made."));
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let pid = begun(&house, &client).await;
    let open = offered(&client, pid).await;
    house.kill_daemon();
    house.wait_for_daemon();
    let other = house.client("bob", Role::Approve).await;
    assert_eq!(list(&other).await, std::slice::from_ref(&open));
    answer(&other, &allow_once(&open)).await.expect("a yes");
    let client = house.client("ann", Role::Drive).await;
    rest(&client, pid).await;
    let made = std::fs::read_to_string(place.path().join("made"));
    assert_eq!(made.expect("it was made"), "ran\n", "it ran once outside");
    let log = house.log(pid);
    assert_eq!(starts(log.check()), [false, true]);
    assert_eq!(log.count("tool.blocked"), 1, "it ran once within");
    assert!(log.results()[0].text.contains("outside the sandbox"));
}

#[tokio::test]
async fn crash_during_an_unsandboxed_run_reports_unknown_effects() {
    if bubblewrap_is_missing() {
        return;
    }
    let place = outside();
    let command = format!("{} && sleep 600", touches(place.path()));
    let house = House::playing(&Script::new().runs(&command).says("Done."));
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let pid = begun(&house, &client).await;
    let open = offered(&client, pid).await;
    answer(&client, &allow_once(&open)).await.expect("a yes");
    let made = place.path().join("made");
    until("it to run outside", || made.exists().then_some(()));
    house.kill_daemon();
    house.wait_for_daemon();
    let client = house.client("ann", Role::Drive).await;
    rest(&client, pid).await;
    let log = house.log(pid);
    assert_eq!(starts(log.check()), [false, true], "never again");
    let result = &log.results()[0];
    assert_eq!(result.status, CallStatus::Unknown);
    assert!(result.text.contains("stopped this call"), "{}", result.text);
    assert!(
        result.text.contains("while it ran outside"),
        "{}",
        result.text
    );
}

#[tokio::test]
async fn interrupt_of_the_unsandboxed_run_question_keeps_the_sandboxed_result() {
    if bubblewrap_is_missing() {
        return;
    }
    let place = outside();
    let house = House::playing(&Script::new().runs(&touches(place.path())).says("Done."));
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let pid = begun(&house, &client).await;
    offered(&client, pid).await;
    let signal = SignalParams {
        session: pid.to_string(),
        signal: Signal::Int,
        tree: false,
        request_id: None,
    };
    client.call::<SessionSignal>(&signal).await.expect("INT");
    rest(&client, pid).await;
    assert!(!place.path().join("made").exists());
    let log = house.log(pid);
    let result = &log.check().results()[0];
    assert_eq!(result.status, CallStatus::Failed, "it ran, and failed");
    assert!(
        result.text.contains("Read-only file system"),
        "{}",
        result.text
    );
    assert!(list(&client).await.is_empty());
}

/// A session that asks nobody: what the model hears.
async fn unasked(settings: &str, create: impl FnOnce(CreateParams) -> CreateParams, command: &str) {
    let house = House::playing(&Script::new().runs(command).says("I cannot."));
    house.settings(settings);
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let create = create(CreateParams {
        options: SessionOptions {
            approval_mode: Some(ApprovalMode::Auto),
            ..house.create("make it").options
        },
        ..house.create("make it")
    });
    let made = client.call::<SessionCreate>(&create).await;
    let pid = made.expect("create").pid;
    rest(&client, pid).await;
    let log = house.log(pid);
    assert_eq!(log.check().count("interaction.opened"), 0, "{settings}");
    assert_eq!(log.count("tool.blocked"), 0, "{settings}");
    assert_eq!(starts(&log), [false], "{settings}");
    let result = &log.results()[0];
    assert_eq!(result.status, CallStatus::Failed);
    assert!(
        result
            .text
            .contains("The sandbox seems to have stopped it: it writes outside the workspace"),
        "{}",
        result.text
    );
    assert!(result.text.contains("`sandbox.allow_write`"));
}

#[tokio::test]
async fn unsandboxed_run_is_not_offered_when_nothing_may_leave_the_sandbox() {
    if bubblewrap_is_missing() {
        return;
    }
    let place = outside();
    let command = touches(place.path());
    for denied in ["Read(secret/**)", "Edit(/etc/**)"] {
        let rules = format!("[permissions]\ndeny = [\"{denied}\"]");
        unasked(&rules, |create| create, &command).await;
    }
    let yolo = |create: CreateParams| CreateParams {
        options: SessionOptions {
            approval_mode: Some(ApprovalMode::Yolo),
            ..create.options
        },
        ..create
    };
    unasked("", yolo, &command).await;
    // A reader fails as if the sandbox had stopped it: readers run in both.
    let reads = "cat 'Read-only file system'";
    let plan = |create: CreateParams| CreateParams {
        options: SessionOptions {
            mode: Some(Mode::Plan),
            ..create.options
        },
        ..create
    };
    unasked("", plan, reads).await;
    let read_only = |create: CreateParams| CreateParams {
        options: SessionOptions {
            read_only: Some(true),
            ..create.options
        },
        ..create
    };
    unasked("", read_only, reads).await;
    assert!(!place.path().join("made").exists());
}

#[test]
fn without_a_user_the_model_is_notified_and_nothing_is_denied() {
    if bubblewrap_is_missing() {
        return;
    }
    let place = outside();
    let script = Script::new()
        .runs(&touches(place.path()))
        .says("It cannot be made.");
    for on_ask in ["sandboxed", "allow"] {
        let house = House::playing(&script);
        let done = house.reasonix(&["run", "--on-ask", on_ask, "make it"]);
        assert_eq!(done.code(), Some(0), "{on_ask}: {done:?}");
        assert!(!place.path().join("made").exists(), "{on_ask}");
        let logs = house.logs();
        let log = logs.first().expect("a log");
        assert_eq!(log.check().count("interaction.opened"), 0, "{on_ask}");
        assert!(log.results()[0].text.contains("sandbox seems"));
        let ended = log.bodies().into_iter().find_map(|body| match body {
            Body::TurnEnded(ended) => Some(ended.denied),
            _ => None,
        });
        assert!(ended.expect("a turn").is_empty(), "{on_ask}");
    }
}

#[tokio::test]
async fn two_blocked_calls_ask_to_run_unsandboxed_one_after_the_other() {
    if bubblewrap_is_missing() {
        return;
    }
    let place = outside();
    let touch = |name: &str| json!({"command": format!("touch {}/{name}", place.path().display())});
    let script = Script::new()
        .calls_all(&[("bash", touch("one")), ("bash", touch("two"))])
        .says("One of them.");
    let house = House::playing(&script);
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let pid = begun(&house, &client).await;
    let mut follow = from_the_start(&client, pid).await;
    for decision in [ApprovalDecision::Deny, ApprovalDecision::AllowOnce] {
        let open = next_opened(&mut follow).await;
        assert_eq!(list(&client).await.len(), 1, "one after the other");
        answer(&client, &decide(&open, decision))
            .await
            .expect("taken");
    }
    to_rest(&mut follow).await;
    assert!(!place.path().join("one").exists());
    assert!(place.path().join("two").exists());
    let log = house.log(pid);
    assert_eq!(starts(log.check()), [false, false, true]);
    let statuses: Vec<_> = log.results().iter().map(|result| result.status).collect();
    assert_eq!(statuses, [CallStatus::Failed, CallStatus::Ok]);
}

#[tokio::test]
async fn switch_to_plan_mode_during_the_question_prevents_the_unsandboxed_run() {
    if bubblewrap_is_missing() {
        return;
    }
    let place = outside();
    let house = House::playing(&Script::new().runs(&touches(place.path())).says("Done."));
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let pid = begun(&house, &client).await;
    let open = offered(&client, pid).await;
    let plan = SetParams {
        session: pid.to_string(),
        options: SessionOptions {
            mode: Some(Mode::Plan),
            ..SessionOptions::default()
        },
        ..SetParams::default()
    };
    client.call::<SessionSet>(&plan).await.expect("set");
    answer(&client, &allow_once(&open)).await.expect("taken");
    rest(&client, pid).await;
    assert!(!place.path().join("made").exists(), "plan mode holds");
    let log = house.log(pid);
    assert_eq!(starts(log.check()), [false]);
    let text = &log.results()[0].text;
    assert!(
        text.contains("not run outside the sandbox either: plan mode"),
        "{text}"
    );
}

#[tokio::test]
async fn unsandboxed_run_question_is_withdrawn_when_the_last_user_leaves() {
    if bubblewrap_is_missing() {
        return;
    }
    let place = outside();
    let house = House::playing(&Script::new().runs(&touches(place.path())).says("Done."));
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let create = CreateParams {
        prompt: None,
        options: SessionOptions {
            kind: Some(proto::state::Kind::Headless),
            on_ask: Some(proto::state::OnAsk::Sandboxed),
            ..house.create("").options
        },
        ..house.create("")
    };
    let pid = client
        .call::<SessionCreate>(&create)
        .await
        .expect("create")
        .pid;
    let mut options = house.client_options("bob");
    options.interactive = true;
    let approver = Client::connect(options).await.expect("connect");
    let mut follow = from_the_start(&approver, pid).await;
    let prompt = PromptParams {
        untyped: Vec::new(),
        on_ask: None,
        session: pid.to_string(),
        text: "make it".into(),
        when: When::Queue,
        credentials: BTreeMap::new(),
        env: BTreeMap::new(),
        request_id: None,
    };
    client.call::<SessionPrompt>(&prompt).await.expect("prompt");
    let events = to(&mut follow, "a question", |event| {
        ["interaction.opened", "turn.ended"].contains(&event.kind.as_str())
    })
    .await;
    let asked = events.last().expect("an event");
    assert_eq!(asked.kind, "interaction.opened", "{:?}", house.log(pid));
    drop(follow);
    drop(approver);
    let mut follow = from_the_start(&house.client("eve", Role::Watch).await, pid).await;
    let events = to(&mut follow, "the turn's end", |event| {
        event.kind == "turn.ended"
    });
    let events = tokio::time::timeout(Duration::from_secs(60), events).await;
    assert!(events.is_ok());
    let log = house.log(pid);
    let text = &log.results()[0].text;
    assert!(text.contains("Nobody was there to let it run"), "{text}");
    assert!(!place.path().join("made").exists());
}

#[tokio::test]
async fn work_tree_made_outside_becomes_a_directory_of_the_session() {
    if bubblewrap_is_missing() {
        return;
    }
    let place = outside();
    let tree = place.path().canonicalize().expect("a path").join("tree");
    let at = |name: &str| tree.join(name).display().to_string();
    let writes = |name: &str| json!({"path": at(name), "content": "x"});
    let script = Script::new()
        .runs(&format!("git worktree add -q {}", tree.display()))
        .calls("write_file", &writes("by-tool"))
        .runs(&format!("echo x > {}", at("by-command")))
        .says("Done.")
        .calls("write_file", &writes("later"))
        .says("Done again.");
    let house = House::playing(&script);
    house.files("//- file\nx");
    for arguments in [
        &["init", "-q"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=b",
            "commit",
            "-qm",
            "x",
        ],
    ] {
        let git = std::process::Command::new("git")
            .args(arguments)
            .current_dir(house.project())
            .status();
        assert!(git.expect("git").success());
    }
    house.daemon();
    let client = house.client("ann", Role::Drive).await;
    let pid = begun(&house, &client).await;
    let open = offered(&client, pid).await;
    let adds = approval(&open).adds_dir.as_deref();
    assert_eq!(adds, tree.to_str());
    answer(&client, &allow_once(&open)).await.expect("a yes");
    rest(&client, pid).await;
    let log = house.log(pid);
    let results = log.check().results();
    assert!(
        results[0].text.contains("may write in"),
        "{}",
        results[0].text
    );
    for (result, name) in results[1..].iter().zip(["by-tool", "by-command"]) {
        assert_eq!(result.status, CallStatus::Ok, "{}", result.text);
        assert!(tree.join(name).exists(), "{name}");
    }
    // Once, and only the making of the tree was outside.
    assert_eq!(log.count("interaction.opened"), 1);
    house.kill_daemon();
    house.wait_for_daemon();
    let again = house.reasonix(&["send", &pid.to_string(), "go on"]);
    let _ = again.expect_code(0);
    let _ = house.reasonix(&["wait", &pid.to_string()]);
    assert!(tree.join("later").exists());
}
