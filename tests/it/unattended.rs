//! Unattended runs: their permissions, and the handling of their questions.

use client::Client;
use proto::hello::Role;
use proto::item::CallStatus;
use proto::methods::{SessionCreate, SessionWait};
use proto::params::session::{Until, WaitParams};
use proto::record::Unattended;
use proto::state::{Kind, OnAsk};
use proto::{Body, Pid};
use serde_json::json;
use testkit::Script;
use tests::follow::{from_the_start, to_rest};
use tests::interactions::{approval, next_opened};
use tests::{House, soon, until};

fn touching() -> Script {
    Script::new().runs("touch made").says("It is made.")
}

#[test]
fn call_that_needs_approval_is_denied_and_blocks_a_run_without_a_client() {
    let house = House::playing(&Script::new().runs("touch made").says("I could not."));
    house.turn_off_sandbox();
    let done = house
        .reasonix(&["run", "--output-format", "json", "make it"])
        .expect_code(3);
    let result = done.json();
    assert_eq!(result["outcome"], "blocked");
    assert_eq!(result["denied"][0]["tool"], "bash");
    assert_eq!(result["denied"][0]["subject"], "touch made");
    let why = result["denied"][0]["why"].as_str().unwrap_or_default();
    assert!(
        why.contains("--allow") && why.contains("no client is attached"),
        "why, and what would allow it: {why}"
    );
    assert!(!house.project().join("made").exists());
    let log = house.log(Pid(1));
    let decided = log
        .check()
        .bodies()
        .into_iter()
        .find_map(|body| match body {
            Body::PolicyDecided(decided) => Some(decided),
            _ => None,
        });
    assert_eq!(
        decided.and_then(|decided| decided.unattended),
        Some(Unattended::Denied)
    );
    assert_eq!(log.count("tool.started"), 0);
}

#[test]
fn a_denial_that_did_not_stop_the_run_is_still_reported() {
    let house = House::playing(
        &Script::new()
            .runs("touch made")
            .calls("write_file", &json!({"path": "made", "content": "x"}))
            .says("Otherwise."),
    );
    house.turn_off_sandbox();
    let done = house
        .reasonix(&["run", "--output-format", "json", "make it"])
        .expect_code(0);
    let result = done.json();
    assert_eq!(
        (&result["outcome"], &result["denied"][0]["subject"]),
        (&json!("completed"), &json!("touch made"))
    );
    assert_eq!(
        house.read("made"),
        "x",
        "file tools are held to the workspace, and need nobody"
    );
}

#[test]
fn the_rule_that_the_denial_names_lets_the_run_through() {
    let house = House::playing(&Script::new().runs("touch made").says("Done."));
    house.turn_off_sandbox();
    let blocked = house
        .reasonix(&["run", "--output-format", "json", "make it"])
        .expect_code(3)
        .json();
    let why = blocked["denied"][0]["why"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let rule = why
        .split("--allow '")
        .nth(1)
        .and_then(|rest| rest.split('\'').next())
        .expect("a rule to be used unchanged");
    let _ = house
        .reasonix(&["run", "--allow", rule, "make it"])
        .expect_code(0);
    assert!(house.project().join("made").exists());
}

#[test]
fn a_deny_rule_wins_over_everything_that_allows() {
    for arguments in [
        &[
            "run",
            "--deny",
            "Bash(touch:*)",
            "--on-ask",
            "allow",
            "make it",
        ][..],
        &[
            "run",
            "--deny",
            "Bash(touch:*)",
            "--approval-mode",
            "yolo",
            "make it",
        ],
        &[
            "run",
            "--deny",
            "Bash(touch:*)",
            "--allow",
            "Bash(touch made)",
            "--allow",
            "Bash",
            "make it",
        ],
    ] {
        let house = House::playing(&Script::new().runs("touch made").says("I may not."));
        let _ = house.reasonix(arguments);
        assert!(!house.project().join("made").exists(), "{arguments:?}");
        let log = house.log(Pid(1));
        assert_eq!(
            log.check().results()[0].status,
            CallStatus::Denied,
            "{arguments:?}"
        );
        assert_eq!(log.count("tool.started"), 0, "{arguments:?}");
    }
}

#[test]
fn a_rule_for_one_run_that_names_no_tool_starts_nothing() {
    let house = House::playing(&touching());
    for (option, rule, meant) in [
        ("--deny", "edit(docs/**)", "`Edit(docs/**)`"),
        ("--ask", "bsh(ls)", "`Bash(ls)`"),
        ("--allow", "bahs", "`bash`"),
    ] {
        let done = house.reasonix(&["run", option, rule, "make it"]);
        assert!(!done.status.success(), "{done:?}");
        let asked = format!("did you mean {meant}?");
        assert!(done.err.contains(&asked), "{done:?}");
    }
    assert!(house.logs().is_empty(), "no session was made");
    // Small letters are no mistake in the name of that family.
    let denied = house.reasonix(&["run", "--deny", "bash(touch:*)", "make it"]);
    assert!(
        denied.err.contains("by the rule `bash(touch:*)`"),
        "{denied:?}"
    );
    assert!(!house.project().join("made").exists());
}

#[test]
fn approval_modes_say_what_needs_nobody() {
    // The verdict for a command without a rule: asked (and so denied), or run.
    for (arguments, made) in [
        (&["--approval-mode", "ask"][..], false),
        (&["--approval-mode", "yolo"], true),
        (&["--on-ask", "deny"], false),
        (&["--on-ask", "allow"], true),
        (
            &["--ask", "Bash(touch:*)", "--approval-mode", "auto"],
            false,
        ),
        (&["--ask", "Bash(touch:*)", "--approval-mode", "yolo"], true),
    ] {
        let house = House::playing(&touching());
        house.turn_off_sandbox();
        let mut all = vec!["run"];
        all.extend(arguments);
        all.push("make it");
        let done = house.reasonix(&all);
        assert_eq!(
            house.project().join("made").exists(),
            made,
            "{arguments:?}: {done:?}"
        );
    }
}

#[test]
fn a_run_that_waits_is_answered_from_the_inbox() {
    let house = House::playing(&touching());
    house.daemon();
    let running = house.start(&["run", "--on-ask", "wait", "make it"]);
    let id = until("a question in the inbox", || {
        let listed = house.reasonix(&["inbox", "-q"]).expect_code(0).out;
        listed.lines().next().map(str::to_owned)
    });
    let listed = house.reasonix(&["inbox", "--json"]).expect_code(0).json();
    assert_eq!(listed[0]["request"]["subject"], "touch made");
    let allowed = house.reasonix(&["inbox", "allow", &id]).expect_code(0);
    assert!(
        allowed.err.contains("touch made"),
        "the user sees the subject: {allowed:?}"
    );
    assert_eq!(running.done().expect_code(0).out, "It is made.\n");
    let again = house.reasonix(&["inbox", "allow", &id]).expect_code(1);
    assert!(
        again.err.contains("reasonix inbox"),
        "who answered first: {again:?}"
    );
    assert!(house.project().join("made").exists());
}

#[test]
fn a_run_that_parks_leaves_and_goes_on_when_it_is_answered() {
    let house = House::playing(&touching());
    let parked = house
        .reasonix(&["run", "--on-ask", "park", "make it"])
        .expect_code(75);
    assert_eq!(parked.out, "1\n", "the session to come back to");
    let waiting = house.start(&["wait", "1"]);
    let id = house
        .reasonix(&["inbox", "-q"])
        .expect_code(0)
        .out
        .trim()
        .to_owned();
    let _ = house.reasonix(&["inbox", "allow", &id]).expect_code(0);
    let _ = waiting.done().expect_code(0);
    assert!(house.project().join("made").exists());
    assert_eq!(
        house.log(Pid(1)).check().kinds().last().copied(),
        Some("session.exited")
    );
}

#[tokio::test]
async fn headless_run_ends_blocked_when_the_last_user_leaves_an_open_question() {
    let house = House::playing(&touching());
    house.turn_off_sandbox();
    house.daemon();
    let mut options = house.client_options("person");
    options.interactive = true;
    let person = Client::connect(options).await.expect("connect");
    let mut params = house.create("make it");
    (params.options.kind, params.options.on_ask, params.prompt) =
        (Some(Kind::Headless), Some(OnAsk::Sandboxed), None);
    let created = person.call::<SessionCreate>(&params).await.expect("create");
    let mut follow = from_the_start(&person, created.pid).await;
    let prompt = json!({"session": created.pid.to_string(), "text": "make it"});
    person
        .call_raw("session.prompt", &prompt)
        .await
        .expect("prompt");
    let open = next_opened(&mut follow).await;
    assert_eq!(approval(&open).subject, "touch made");
    drop(follow);
    drop(person);
    let watcher = house.client("watcher", Role::Watch).await;
    let wait = WaitParams {
        session: created.pid.to_string(),
        until: Until::Exit,
        timeout_ms: None,
    };
    let waited = soon("the run to be blocked", watcher.call::<SessionWait>(&wait))
        .await
        .expect("wait");
    assert_eq!(waited.exit_code, 3);
    let log = house.log(created.pid);
    let resolved = &log.check().resolved()[0];
    assert_eq!(resolved.interaction_id, open.interaction_id);
    assert_eq!((&resolved.answer, resolved.unattended), (&None, true));
    assert_eq!(log.results()[0].status, CallStatus::Denied);
    assert!(!house.project().join("made").exists());
}

#[tokio::test]
async fn a_run_in_a_persons_session_leaves_its_questions_as_they_were() {
    let write = |name: &str| json!({"path": name, "content": "x\n"});
    let house = House::playing(
        &Script::new()
            .says("Hello.")
            .calls("write_file", &write("by_the_run"))
            .says("Done.")
            .calls("write_file", &write("by_the_person"))
            .says("Done."),
    );
    house.daemon();
    let person = house.client("person", Role::Drive).await;
    let created = person.call::<SessionCreate>(&house.create("hello")).await;
    let pid = created.expect("create").pid;
    let mut follow = from_the_start(&person, pid).await;
    to_rest(&mut follow).await;
    // Nobody is there, and the workspace holds the file tools: the run goes through.
    let run = house.reasonix_reading(&["run", "-s", &pid.to_string(), "write"], "");
    assert_eq!(run.code(), Some(0), "{run:?}");
    assert!(house.project().join("by_the_run").exists());
    // The person asks for the same, and is asked.
    let prompt = json!({"session": pid.to_string(), "text": "write"});
    let prompted = person.call_raw("session.prompt", &prompt).await;
    prompted.expect("prompt");
    let open = next_opened(&mut follow).await;
    let subject = &approval(&open).subject;
    assert!(subject.contains("by_the_person"), "{open:?}");
    assert!(!house.project().join("by_the_person").exists());
}
