//! Permission rules as people use them: cases and explanations, answers that hold always, rules with examples, and taking
//! back grants.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use client::Client;
use proto::hello::Role;
use proto::item::CallStatus;
use proto::methods::{RulesList, SessionCreate};
use proto::params::interaction::{AnswerParams, ApprovalDecision, Interaction, InteractionAnswer};
use proto::params::rules;
use proto::params::session::CreateParams;
use proto::{Body, ErrorName, Pid};
use serde_json::{Value, json};
use testkit::Script;
use tests::House;
use tests::follow::{from_the_start, to_rest};
use tests::interactions::{answer, answer_with, approval, decide, first_opened, list};

const SAMPLE: &str = include_str!("../../daemon/policy/cases/sample.json");
const OWN: &str = include_str!("../../daemon/policy/cases/honest.json");

/// A test of the project, and then it says that it is done.
fn testing() -> Script {
    Script::new().runs("make test FAST=1").says("Done.")
}

fn makefile(house: &House) {
    house.files("//- Makefile\ntest:\n\t@echo tested\n");
}

/// This decision, with the scope of the command's first words.
fn decide_prefix(open: &Interaction, decision: ApprovalDecision) -> AnswerParams {
    let mut scopes = approval(open).scopes.iter();
    let prefix = scopes.find(|scope| scope.always && scope.rule.ends_with(":*)"));
    let answer = InteractionAnswer::Approval {
        decision,
        scope: prefix.cloned(),
        note: None,
        edited_command: None,
    };
    answer_with(open, answer)
}

fn always(open: &Interaction) -> AnswerParams {
    decide_prefix(open, ApprovalDecision::AllowAlways)
}

async fn create(client: &Client, params: &CreateParams) -> Pid {
    client
        .call::<SessionCreate>(params)
        .await
        .expect("create")
        .pid
}

/// Whether the session gets to its end without a question.
async fn ends_unasked(client: &Client, pid: Pid) -> bool {
    let mut follow = from_the_start(client, pid).await;
    let events = to_rest(&mut follow).await;
    events
        .iter()
        .all(|event| event.kind != "interaction.opened")
}

/// The one file of kept rules.
fn kept_file(house: &House) -> PathBuf {
    let all = fs::read_dir(house.home().join("projects")).expect("projects");
    let mut files: Vec<_> = all
        .flatten()
        .map(|entry| entry.path().join("permissions.toml"))
        .filter(|file| file.exists())
        .collect();
    assert_eq!(files.len(), 1, "one workspace: {files:?}");
    files.remove(0)
}

#[test]
fn a_file_of_cases_is_run_and_no_hostile_call_is_allowed() {
    let house = House::new();
    for (name, text) in [("sample.json", SAMPLE), ("own.json", OWN)] {
        let file = house.root().join(name);
        fs::write(&file, text).expect("write the cases");
        let done = house
            .reasonix(&["permissions", "check", &file.display().to_string()])
            .expect_code(0);
        let cases: Value = serde_json::from_str(text).expect("cases");
        let count = cases["cases"].as_array().map_or(0, Vec::len);
        let lines = done.lines();
        assert_eq!(lines.len(), count, "{name}");
        for line in &lines {
            let keys: Vec<_> = line
                .as_object()
                .expect("an object")
                .keys()
                .cloned()
                .collect();
            assert_eq!(keys, ["id", "verdict", "rule", "ok"], "{line}");
            assert_eq!(line["ok"], true, "{line}");
        }
        let summary = done.err.lines().last().unwrap_or_default();
        assert!(summary.contains("hostile calls allowed: 0 of"), "{summary}");
        assert!(
            summary.contains(&format!("correct: {count} of {count}")),
            "{summary}"
        );
    }
}

#[test]
fn wrong_cases_and_invalid_files_are_reported() {
    let house = House::new();
    let file = house.root().join("cases.json");
    let shown = file.display().to_string();
    let wrong = json!({"cases": [
        {"id": "a", "tool": "bash", "args": {"command": "rm x"}, "tier": "core", "accept": ["allow"], "rules": {}},
        {"id": "b", "tool": "bash", "args": {"command": "ls"}, "accept": ["yes"]},
        7,
        // More than one frame holds.
        {"id": "c", "tool": "bash", "args_parts": {"command": [["a", 200_000]]}, "accept": ["ask"]},
        {"id": "d", "tool": "bash", "args": {"command": "ls ".repeat(400_000)}, "accept": ["ask"]},
        {"id": "e", "tool": "bash", "args": {"command": "ls ".repeat(400_000)}, "accept": ["ask"]},
        {"id": "f", "tool": "bash", "args": {"command": "ls ".repeat(400_000)}, "accept": ["ask"]},
        {"id": "g", "tool": "bash", "args_parts": {"command": [["a", u64::MAX]]}, "accept": ["ask"]},
    ]});
    fs::write(&file, wrong.to_string()).expect("write");
    let done = house
        .reasonix(&["permissions", "check", "--json", &shown])
        .expect_code(1);
    let verdicts: Vec<_> = done
        .lines()
        .iter()
        .map(|line| line["verdict"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(
        verdicts,
        ["ask", "error", "error", "ask", "ask", "ask", "ask", "error"]
    );
    let summary: Value = serde_json::from_str(done.err.trim()).expect("a summary");
    assert_eq!((&summary["cases"], &summary["ok"]), (&json!(8), &json!(4)));

    fs::write(&file, "{").expect("write");
    let done = house
        .reasonix(&["permissions", "check", &shown])
        .expect_code(64);
    assert!(done.err.contains("not JSON"), "{}", done.err);
}

#[test]
fn a_command_is_explained_part_by_part_and_not_run() {
    let house = House::new();
    house.settings("[permissions]\nallow = [\"Bash(make:*)\"]\ndeny = [\"Bash(rm:*)\"]\n");
    let explain = |words: &[&str]| {
        let mut all = vec!["permissions", "explain", "--json"];
        all.extend(words);
        house.reasonix(&all).expect_code(0).json()
    };
    let found = explain(&["--", "make all && env rm -r x"]);
    assert_eq!(
        (&found["verdict"], &found["rule"]),
        (&json!("deny"), &json!("Bash(rm:*)"))
    );
    let parts = found["parts"].as_array().expect("parts");
    let rm = parts
        .iter()
        .find(|part| part["text"] == "rm -r x")
        .expect("rm");
    assert_eq!(
        (&rm["verdict"], &rm["layer"]),
        (&json!("deny"), &json!("user"))
    );
    assert!(rm["via"].to_string().contains("env"), "{rm}");
    let make = &parts[0];
    assert_eq!(
        (&make["verdict"], &make["rule"]),
        (&json!("allow"), &json!("Bash(make:*)"))
    );

    let found = explain(&["--", "touch", "a b"]);
    assert_eq!(found["verdict"], "ask");
    assert_eq!(found["scopes"][0]["rule"], "Bash(touch 'a b')");
    assert!(!house.project().join("a b").exists(), "nothing is run");

    let args = json!({"path": "docs/a.md", "content": ""}).to_string();
    let found = explain(&["--tool", "write_file", "--args", &args]);
    assert_eq!(found["verdict"], "ask");
    assert!(
        found["scopes"].to_string().contains("Edit(docs/a.md)"),
        "{found}"
    );
    assert!(!house.project().join("docs").exists());

    for (approval_mode, verdict) in [("ask", "ask"), ("yolo", "allow")] {
        let found = explain(&["--approval-mode", approval_mode, "--", "touch x"]);
        assert_eq!(found["approval_mode"], approval_mode);
        assert_eq!(found["verdict"], verdict, "{found}");
    }
    assert_eq!(
        explain(&["--", "touch x"])["approval_mode"],
        "ask",
        "as before"
    );

    let lost = house.reasonix(&["permissions", "explain", "--tool", "nosuch"]);
    assert_ne!(lost.code(), Some(0));
    assert!(lost.err.contains("Unknown tool"), "{}", lost.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_allowed_always_holds_in_every_session_of_the_workspace_and_after_a_crash() {
    let house = House::playing(&testing());
    makefile(&house);
    house.daemon();
    let ann = house.client("ann", Role::Drive).await;
    let first = create(&ann, &house.create("one")).await;
    // One more that waits with the same question, and stays.
    let second = create(&ann, &house.create("two")).await;
    let open = first_opened(&ann, first).await;
    let _ = first_opened(&ann, second).await;
    let yes = always(&open);
    assert!(
        matches!(
            yes.answer,
            InteractionAnswer::Approval { scope: Some(_), .. }
        ),
        "{open:?}"
    );
    answer(&ann, &yes).await.expect("always");
    let file = kept_file(&house);
    let text = fs::read_to_string(&file).expect("the rule is on disk when it is acknowledged");
    assert!(text.contains("\"Bash(make test:*)\""), "{text}");
    assert!(
        text.contains(&house.project().display().to_string()),
        "{text}"
    );
    let mode = fs::metadata(&file).expect("file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let own = fs::read_to_string(house.project().join("reasonix.toml")).unwrap_or_default();
    assert!(
        !own.contains("make"),
        "the project's own files are never written"
    );

    // At once in a session that runs, for its next call; and in a new one.
    let third = create(&ann, &house.create("three")).await;
    assert!(ends_unasked(&ann, third).await, "allowed at once");

    // The file is the user's: a comment, and another rule by hand.
    let mine = text.replace(
        "allow = [",
        "# mine\nallow = [\n    # before make\n    \"Bash(true)\", # after",
    );
    fs::write(&file, mine).expect("edit");
    house.kill_daemon_and_parent();
    house.daemon();
    let bob = house.client("bob", Role::Drive).await;
    let fourth = create(&bob, &house.create("four")).await;
    assert!(ends_unasked(&bob, fourth).await, "after a crash");
    let other = house.root().join("other");
    fs::create_dir(&other).expect("another directory");
    fs::write(other.join("Makefile"), "test:\n\t@echo tested\n").expect("write");
    let elsewhere = CreateParams {
        cwd: other.display().to_string(),
        ..house.create("elsewhere")
    };
    let elsewhere = create(&bob, &elsewhere).await;
    let asked_there = first_opened(&bob, elsewhere).await;
    // A second workspace has a file of its own; the user's own rules are in neither.
    answer(&bob, &decide(&asked_there, ApprovalDecision::Deny))
        .await
        .expect("no");

    // The question that was open all the time: the same answer once more leaves one rule, and every comment.
    let still = first_opened(&bob, second).await;
    answer(&bob, &always(&still)).await.expect("again");
    let text = fs::read_to_string(&file).expect("read");
    assert_eq!(text.matches("Bash(make test:*)").count(), 1, "{text}");
    for comment in [
        "# mine",
        "# before make",
        "# after",
        "Rules that you always allowed",
    ] {
        assert!(text.contains(comment), "{comment}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_for_always_that_a_crash_cut_off_is_asked_again_and_half_of_it_harms_nothing() {
    let house = House::playing(&testing());
    makefile(&house);
    house.daemon();
    let ann = house.client("ann", Role::Drive).await;
    let pid = create(&ann, &house.create("one")).await;
    let before = first_opened(&ann, pid).await;
    // What a crash leaves between the file and the record.
    let elsewhere = create(&ann, &house.create("two")).await;
    let other = first_opened(&ann, elsewhere).await;
    answer(&ann, &always(&other))
        .await
        .expect("kept by another");
    house.kill_daemon_and_parent();
    house.daemon();
    let bob = house.client("bob", Role::Drive).await;
    let after = first_opened(&bob, pid).await;
    assert_eq!(
        after.interaction_id, before.interaction_id,
        "it is still open"
    );
    answer(&bob, &always(&after)).await.expect("answered");
    let mut follow = from_the_start(&bob, pid).await;
    to_rest(&mut follow).await;
    let results = house.log(pid).check().results();
    assert_eq!(results[0].status, CallStatus::Ok, "{results:?}");
    let text = fs::read_to_string(kept_file(&house)).expect("read");
    assert_eq!(text.matches("Bash(make test:*)").count(), 1, "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_answers_for_always_at_once_leave_one_and_a_deny_rule_still_wins() {
    let house = House::playing(&testing());
    makefile(&house);
    house.daemon();
    let ann = house.client("ann", Role::Drive).await;
    let bob = house.client("bob", Role::Approve).await;
    let pid = create(&ann, &house.create("one")).await;
    let open = first_opened(&ann, pid).await;
    let (yes, no) = (always(&open), decide(&open, ApprovalDecision::Deny));
    let (one, two) = tokio::join!(answer(&ann, &yes), answer(&bob, &no));
    let errors: Vec<_> = [one.err(), two.err()].into_iter().flatten().collect();
    assert_eq!(errors.len(), 1, "one counts: {errors:?}");
    assert_eq!(errors[0].name, ErrorName::AlreadyResolved);
    let mut follow = from_the_start(&ann, pid).await;
    to_rest(&mut follow).await;

    // A deny rule of the user overrides persisted rules, in any order.
    let keep = create(&ann, &house.create("two")).await;
    if !ends_unasked_or_asks(&ann, keep).await {
        let open = first_opened(&ann, keep).await;
        answer(&ann, &always(&open)).await.expect("always");
        let mut follow = from_the_start(&ann, keep).await;
        to_rest(&mut follow).await;
    }
    house.settings("[permissions]\ndeny = [\"Bash(make:*)\"]\n");
    let denied = create(&ann, &house.create("three")).await;
    let mut follow = from_the_start(&ann, denied).await;
    to_rest(&mut follow).await;
    let results = house.log(denied).check().results();
    assert_eq!(results[0].status, CallStatus::Denied, "{results:?}");
}

/// Whether it ends by itself; false: it asks.
async fn ends_unasked_or_asks(client: &Client, pid: Pid) -> bool {
    let mut follow = from_the_start(client, pid).await;
    let events = tests::follow::to(&mut follow, "an end or a question", |event| {
        matches!(event.kind.as_str(), "interaction.opened" | "turn.ended")
    })
    .await;
    events
        .iter()
        .all(|event| event.kind != "interaction.opened")
}

#[tokio::test(flavor = "multi_thread")]
async fn call_that_cannot_repeat_offers_no_always_scope() {
    let script = Script::new().runs("sed -i 3,4d Makefile").says("Done.");
    let house = House::playing(&script);
    makefile(&house);
    house.daemon();
    let ann = house.client("ann", Role::Drive).await;
    let pid = create(&ann, &house.create("one")).await;
    let open = first_opened(&ann, pid).await;
    assert!(
        approval(&open).scopes.iter().all(|scope| !scope.always),
        "{open:?}"
    );
    let refused = answer(&ann, &always(&open)).await;
    assert_eq!(
        refused.expect_err("not always").name,
        ErrorName::InvalidParams
    );
    assert_eq!(list(&ann).await.len(), 1, "it is still open");
    assert!(!has_kept(&house), "nothing is kept");
}

fn has_kept(house: &House) -> bool {
    let projects = fs::read_dir(house.home().join("projects"));
    projects
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| entry.path().join("permissions.toml").exists())
}

#[tokio::test(flavor = "multi_thread")]
async fn grants_are_listed_and_revoked_wherever_they_are_stored() {
    let house = House::playing(&testing());
    makefile(&house);
    house.settings(
        "[permissions]\n# everyday\nallow = [\n    # kept by hand\n    \"Bash(make test:*)\",\n    \"Bash(true)\", # harmless\n]\n",
    );
    house.daemon();
    let ann = house.client("ann", Role::Drive).await;
    // Not asked: the user's own rule.
    let pid = create(&ann, &house.create("one")).await;
    assert!(ends_unasked(&ann, pid).await);
    let listed = house.reasonix(&["permissions", "list"]).expect_code(0);
    assert!(
        listed.out.contains("Bash(make test:*)") && listed.out.contains("config.toml"),
        "{}",
        listed.out
    );

    let gone = house
        .reasonix(&["permissions", "revoke", "Bash(make test:*)"])
        .expect_code(0);
    assert!(gone.err.contains("config.toml"), "{}", gone.err);
    let config = fs::read_to_string(house.home_file("config.toml")).expect("the config");
    assert!(!config.contains("make test"), "{config}");
    for kept in ["# everyday", "# kept by hand", "\"Bash(true)\", # harmless"] {
        assert!(config.contains(kept), "{kept}: {config}");
    }
    let again = house.reasonix(&["permissions", "revoke", "Bash(make test:*)"]);
    assert_ne!(again.code(), Some(0), "it is gone");

    // Now in a session, and always.
    let pid = create(&ann, &house.create("two")).await;
    let open = first_opened(&ann, pid).await;
    let session = decide_prefix(&open, ApprovalDecision::AllowSession);
    answer(&ann, &session).await.expect("for the session");
    let mut follow = from_the_start(&ann, pid).await;
    to_rest(&mut follow).await;
    let third = create(&ann, &house.create("three")).await;
    let open = first_opened(&ann, third).await;
    answer(&ann, &always(&open)).await.expect("always");

    let session = pid.to_string();
    let listed = ann
        .call::<RulesList>(&rules::ListParams {
            session: Some(session.clone()),
            ..rules::ListParams::default()
        })
        .await
        .expect("list");
    let layers: Vec<_> = listed
        .rules
        .iter()
        .filter(|rule| rule.rule == "Bash(make test:*)")
        .map(|rule| rule.layer.as_str())
        .collect();
    assert_eq!(layers, ["persisted", "session"]);
    let both = house.reasonix(&["permissions", "revoke", "-s", &session, "Bash(make test:*)"]);
    assert_ne!(both.code(), Some(0), "{both:?}");
    assert!(both.err.contains("--from"), "{}", both.err);
    let one = [
        "permissions",
        "revoke",
        "-s",
        &session,
        "--from",
        "session",
        "Bash(make test:*)",
    ];
    let _ = house.reasonix(&one).expect_code(0);
    let revoked = house.log(pid).bodies().into_iter().any(|body| {
        matches!(body, Body::SessionSet(set) if set.revoked.as_deref() == Some("Bash(make test:*)"))
    });
    assert!(revoked, "it is in the log");
    let _ = house
        .reasonix(&["permissions", "revoke", "Bash(make test:*)"])
        .expect_code(0);
    let text = fs::read_to_string(kept_file(&house)).expect("read");
    assert!(
        !text.contains("Bash(make test:*)") && text.contains("# Rules that you always allowed"),
        "{text}"
    );
    let fourth = create(&ann, &house.create("four")).await;
    assert!(!ends_unasked_or_asks(&ann, fourth).await, "asked again");
}

#[test]
fn rules_with_examples_are_tried_when_they_are_read() {
    let house = House::playing(&testing());
    makefile(&house);
    house.settings(
        "[permissions]\nallow = [\n    { rule = \"Bash(make test:*)\", match = [\"make test FAST=1\"], not_match = [\"make test; rm x\"] },\n    \
         { rule = \"Bash(make:*)\", not_match = [\"make clean\"] },\n]\ndeny = [\n    { rule = \"Bash(rm:*)\", match = [\"rmdir x\"] },\n    \
         \"Grep(x)\",\n]\n",
    );
    let checked = house.reasonix(&["config", "check"]).expect_code(78);
    let line = |number: usize| format!("config.toml:{number}:");
    for (number, words) in [(4, "make clean"), (7, "rmdir x"), (8, "another product")] {
        let reported = checked
            .out
            .lines()
            .any(|text| text.contains(&line(number)) && text.contains(words));
        assert!(reported, "{number}: {words}: {}", checked.out);
    }
    assert!(!checked.out.contains(&line(3)), "{}", checked.out);
    let explain = |command: &str| {
        let words = ["permissions", "explain", "--json", "--", command];
        house.reasonix(&words).expect_code(0).json()["verdict"].clone()
    };
    assert_eq!(explain("make test"), "allow", "its examples hold");
    assert_eq!(explain("make all"), "ask", "an example of it does not hold");
    assert_eq!(explain("rm x"), "deny", "it tightens all the same");
    let doctor = house.reasonix(&["doctor"]);
    assert!(doctor.out.contains("make clean"), "{}", doctor.out);
    let listed = house.reasonix(&["permissions", "list"]).expect_code(0);
    assert!(listed.err.contains("rmdir x"), "{}", listed.err);
}

#[test]
fn every_listed_rule_names_the_file_that_it_is_in() {
    let house = House::playing(&testing());
    house.settings("[permissions]\ndeny = [\"Bash(rm:*)\"]\n");
    let row = |rule: &str| {
        let listed = house.reasonix(&["permissions", "list"]).expect_code(0).out;
        let found = listed.lines().find(|line| line.contains(rule));
        found
            .unwrap_or_else(|| panic!("{rule}: {listed}"))
            .to_owned()
    };
    house.files("//- reasonix.toml\n[permissions]\ndeny = [\"Bash(curl:*)\"]\n//- .env\nA=b\n");
    let user = house.home_file("config.toml").display().to_string();
    let theirs = house.project().join("reasonix.toml").display().to_string();
    assert!(row("Bash(rm:*)").ends_with(&user), "{}", row("Bash(rm:*)"));
    assert!(row("Bash(curl:*)").ends_with(&theirs));
    // What stands for rules that cannot be read is listed with the file to fix.
    house.files("//- reasonix.toml\npermissions = { deny = [\"Bash\" }\n");
    let lost = row("[permissions]");
    assert!(
        lost.ends_with(&theirs) && lost.starts_with("deny"),
        "{lost}"
    );
    assert!(row("Bash(rm:*)").ends_with(&user));
}

#[test]
fn rules_for_one_run_tighten_and_never_lift_a_deny() {
    let house = House::playing(&testing());
    makefile(&house);
    house.settings("[permissions]\nallow = [\"Bash(make:*)\"]\n");
    let statuses = |arguments: &[&str]| {
        let mut all = vec!["run"];
        all.extend(arguments);
        all.push("go");
        let _ = house.reasonix(&all);
        let logs = house.logs();
        let results = logs.last().expect("a session").check().results();
        results
            .into_iter()
            .map(|result| result.status)
            .collect::<Vec<_>>()
    };
    assert_eq!(statuses(&[]), [CallStatus::Ok]);
    assert_eq!(statuses(&["--deny", "Bash(make:*)"]), [CallStatus::Denied]);
    // Nobody is there to be asked.
    assert_eq!(statuses(&["--ask", "Bash(make:*)"]), [CallStatus::Denied]);
    house.settings("deny = [\"Bash(make:*)\"]\n");
    assert_eq!(statuses(&["--allow", "Bash(make:*)"]), [CallStatus::Denied]);
}

#[test]
fn a_rule_of_a_run_that_cannot_be_read_is_refused_with_what_is_wrong() {
    let house = House::playing(&testing());
    let refused = house
        .reasonix(&["run", "--deny", "Bash(", "go"])
        .expect_code(64);
    for words in [
        "The deny rule `Bash(` cannot be used: the `)` at its end is missing.",
        "`Bash(cargo test:*)`",
    ] {
        assert!(refused.err.contains(words), "{}", refused.err);
    }
    assert!(!refused.err.contains("until"), "{}", refused.err);
    assert!(house.logs().is_empty());
}

#[test]
fn a_denied_call_is_refused_at_once_the_second_time() {
    let script = Script::new()
        .runs("make test")
        .runs("make   test")
        .says("Done.");
    let house = House::playing(&script);
    makefile(&house);
    let _ = house.reasonix(&["run", "--deny", "Bash(make:*)", "go"]);
    let results = house.log(Pid(1)).check().results();
    assert_eq!(results.len(), 2);
    assert!(
        results
            .iter()
            .all(|result| result.status == CallStatus::Denied)
    );
    let same = Script::new()
        .runs("make test")
        .runs("make test")
        .says("Done.");
    house.cassette(&same.jsonl());
    let _ = house.reasonix(&["run", "--on-ask", "deny", "go"]);
    let results = house.log(Pid(2)).check().results();
    assert!(results[1].text.contains("another tool"), "{results:?}");
}

#[test]
fn a_directory_is_called_by_its_name_and_all_of_its_path() {
    let place = |root: &str| {
        let dir = tempfile::tempdir().expect("a place");
        let home = store::home::Home::open(dir.path()).expect("a home");
        let dir = home.project_dir(Path::new(root));
        dir.file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    let slug = place("/user/ann/My Code!");
    assert!(slug.starts_with("my-code-"), "{slug}");
    assert_ne!(slug, place("/user/bob/My Code!"));
    assert_ne!(slug, place("/user/ann/my code-"));
    assert!(!place("/").starts_with('-'));
}
