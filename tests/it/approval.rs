//! Questions about tool calls: who may answer, what an answer is bound to, and what becomes of them where nobody is.

use client::Client;
use proto::hello::Role;
use proto::item::{CallStatus, Display};
use proto::methods::{ApprovalAnswer, ApprovalList, SessionCreate, SessionGet, SessionWait};
use proto::params::approval::{AnswerParams, Approval, Decision, ListParams, Scope};
use proto::params::session::{OneParams, Until, WaitParams};
use proto::record::Unattended;
use proto::state::{Kind, OnAsk, Posture, State, WaitingFor};
use proto::{Body, ErrorName, Failure, Pid, RequestId};
use serde_json::json;
use testkit::Script;
use tests::follow::{body, durable, from_the_start, to_rest};
use tests::{House, soon, until};

fn touching() -> Script {
    Script::new().runs("touch made").says("It is made.")
}

fn yes(approval: &Approval) -> AnswerParams {
    AnswerParams {
        approval_id: approval.approval_id.clone(),
        shown_hash: approval.shown_hash.clone(),
        decision: Decision::AllowOnce,
        scope: None,
        note: None,
        request_id: Some(RequestId::new()),
    }
}

async fn answer(client: &Client, params: &AnswerParams) -> Result<(), Failure> {
    let answered = client.call::<ApprovalAnswer>(params).await;
    answered.map(|_| ()).map_err(|error| error.failure().unwrap_or_else(|| panic!("no answer at all: {error}")).clone())
}

/// The one open question of a session.
async fn asked(client: &Client, pid: Pid) -> Approval {
    let mut follow = from_the_start(client, pid).await;
    match body(&mut follow, "approval.requested").await {
        Body::ApprovalRequested(approval) => approval,
        other => panic!("a question, not {other:?}"),
    }
}

#[tokio::test]
async fn one_answers_and_all_others_see_who_it_was() {
    let house = House::playing(&touching());
    house.daemon();
    let one = house.client("one", Role::Drive).await;
    let two = house.client("two", Role::Approve).await;
    let three = house.client("three", Role::Watch).await;
    let pid = one.call::<SessionCreate>(&house.create("make it")).await.expect("create").pid;
    let mut follows = Vec::new();
    for client in [&one, &two, &three] {
        follows.push(from_the_start(client, pid).await);
    }
    let approval = asked(&one, pid).await;
    assert_eq!((approval.tool.as_str(), approval.subject.as_str()), ("bash", "touch made"));
    assert!(!approval.scopes.is_empty(), "{approval:?}");
    let summary = one.call::<SessionGet>(&OneParams { session: pid.to_string() }).await.expect("get");
    assert_eq!((summary.state, summary.waiting_for), (State::Waiting, Some(WaitingFor::Approval)));
    assert_eq!(summary.pending_approvals, 1);

    let watcher = answer(&three, &yes(&approval)).await.expect_err("a watcher only watches");
    assert_eq!(watcher.name, ErrorName::NotAllowed);
    let blind = AnswerParams { shown_hash: "0".repeat(64), ..yes(&approval) };
    assert_eq!(answer(&two, &blind).await.expect_err("not what was shown").name, ErrorName::Stale);
    let foreign = Scope { rule: "Bash".into(), words: "everything".into() };
    let wide = AnswerParams { decision: Decision::AllowSession, scope: Some(foreign), ..yes(&approval) };
    assert_eq!(answer(&two, &wide).await.expect_err("a scope that was not offered").name, ErrorName::InvalidParams);
    assert!(!house.project().join("made").exists(), "nothing has run yet");

    let first = yes(&approval);
    answer(&two, &first).await.expect("the first answer counts");
    let late = answer(&one, &AnswerParams { decision: Decision::Deny, ..yes(&approval) }).await.expect_err("too late");
    assert_eq!(late.name, ErrorName::AlreadyResolved);
    assert_eq!(late.details.get("by"), Some(&json!("two")));
    assert_eq!(late.details.get("decision"), Some(&json!("allow_once")));
    assert!(late.details.contains_key("at"), "{late:?}");
    // The same answer again, as after a lost connection, is no second one.
    answer(&two, &first).await.expect("a repeat of the same wish");

    let mut seen = Vec::new();
    for follow in &mut follows {
        seen.push(durable(&to_rest(follow).await));
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
    assert!(house.project().join("made").exists());
    let log = house.log(pid);
    let resolved: Vec<_> = log.check().bodies().into_iter().filter_map(|body| match body {
        Body::ApprovalResolved(resolved) => Some((resolved.decision, resolved.by, resolved.unattended)),
        _ => None,
    }).collect();
    assert_eq!(resolved, [(Decision::AllowOnce, "two".to_owned(), false)]);
    let gone = one.call::<ApprovalList>(&ListParams::default()).await.expect("list");
    assert_eq!(gone.approvals, []);
}

#[tokio::test]
async fn a_no_reaches_the_model_with_its_reason() {
    let house = House::playing(&Script::new().runs("touch made").says("Left alone.").when("not on a Friday"));
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let pid = client.call::<SessionCreate>(&house.create("make it")).await.expect("create").pid;
    let approval = asked(&client, pid).await;
    let no = AnswerParams { decision: Decision::Deny, note: Some("not on a Friday".into()), ..yes(&approval) };
    answer(&client, &no).await.expect("a no");
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    let log = house.log(pid);
    let results = log.check().results();
    assert_eq!(results[0].status, CallStatus::Denied);
    assert!(results[0].text.contains("not on a Friday"), "{}", results[0].text);
    assert!(!house.project().join("made").exists());
    let Some(Body::Assistant(last)) = log.bodies().into_iter().rfind(|body| body.kind() == "message.assistant") else {
        panic!("no answer: {:?}", log.kinds());
    };
    assert_eq!(last.text, "Left alone.");
}

#[tokio::test]
async fn a_yes_for_the_session_covers_what_it_said_and_no_more() {
    let house = House::playing(&Script::new().runs("touch made").runs("touch made").runs("touch other").says("Done."));
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let pid = client.call::<SessionCreate>(&house.create("make it")).await.expect("create").pid;
    let approval = asked(&client, pid).await;
    let narrowest = approval.scopes.first().cloned();
    answer(&client, &AnswerParams { decision: Decision::AllowSession, scope: narrowest, ..yes(&approval) }).await.expect("a yes");
    let second = until("the question about the other command", || {
        let log = house.log(pid);
        log.bodies().into_iter().filter_map(|body| match body {
            Body::ApprovalRequested(approval) => Some(approval),
            _ => None,
        }).nth(1)
    });
    assert_eq!(second.subject, "touch other", "the second `touch made` was covered");
    answer(&client, &AnswerParams { decision: Decision::Deny, ..yes(&second) }).await.expect("a no");
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    let statuses: Vec<_> = house.log(pid).check().results().iter().map(|result| result.status).collect();
    assert_eq!(statuses, [CallStatus::Ok, CallStatus::Ok, CallStatus::Denied]);
}

#[tokio::test]
async fn an_edit_is_shown_as_its_diff_before_anything_changes() {
    let edit = json!({"path": "a.txt", "old_string": "old", "new_string": "new"});
    let house = House::playing(&Script::new().calls("read_file", &json!({"path": "a.txt"})).calls("edit_file", &edit).says("Done."));
    house.files("//- a.txt\nan old line\n");
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let pid = client.call::<SessionCreate>(&house.create("edit")).await.expect("create").pid;
    let approval = asked(&client, pid).await;
    let Display::Diff { diff, added, removed, .. } = &approval.preview else { panic!("a diff, not {:?}", approval.preview) };
    assert!(diff.contains("-an old line") && diff.contains("+an new line"), "{diff}");
    assert_eq!((*added, *removed), (1, 1));
    assert_eq!(house.read("a.txt"), "an old line\n");
    answer(&client, &yes(&approval)).await.expect("a yes");
    until("the edit", || (house.read("a.txt") == "an new line\n").then_some(()));
}

#[tokio::test]
async fn an_open_question_survives_the_death_of_the_daemon() {
    let house = House::playing(&touching());
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let pid = client.call::<SessionCreate>(&house.create("make it")).await.expect("create").pid;
    let approval = asked(&client, pid).await;
    house.kill_daemon();
    house.wait_for_daemon();
    let open = client.call::<ApprovalList>(&ListParams::default()).await.expect("list").approvals;
    assert_eq!(open, [approval.clone()], "the same question, with the same hash");
    answer(&client, &yes(&approval)).await.expect("a yes");
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    assert!(house.project().join("made").exists());
    let log = house.log(pid);
    assert_eq!(log.check().count("tool.started"), 1, "it ran once");
    assert_eq!(log.count("approval.requested"), 1, "it was asked once");
}

#[test]
fn what_nobody_can_answer_is_denied_and_the_run_is_blocked() {
    let house = House::playing(&Script::new().runs("touch made").says("I could not."));
    let done = house.reasonix(&["run", "--output-format", "json", "make it"]).expect_code(3);
    let result = done.json();
    assert_eq!(result["outcome"], "blocked");
    assert_eq!(result["denied"][0]["tool"], "bash");
    assert_eq!(result["denied"][0]["subject"], "touch made");
    let why = result["denied"][0]["why"].as_str().unwrap_or_default();
    assert!(why.contains("--allow") && why.contains("nobody"), "why, and what would allow it: {why}");
    assert!(!house.project().join("made").exists());
    let log = house.log(Pid(1));
    let decided = log.check().bodies().into_iter().find_map(|body| match body {
        Body::PolicyDecided(decided) => Some(decided),
        _ => None,
    });
    assert_eq!(decided.and_then(|decided| decided.unattended), Some(Unattended::Denied));
    assert_eq!(log.count("tool.started"), 0);
}

#[test]
fn a_denial_that_did_not_stop_the_run_is_still_told() {
    let house = House::playing(&Script::new().runs("touch made").calls("write_file", &json!({"path": "made", "content": "x"})).says("Otherwise."));
    let done = house.reasonix(&["run", "--output-format", "json", "make it"]).expect_code(0);
    let result = done.json();
    assert_eq!((&result["outcome"], &result["denied"][0]["subject"]), (&json!("completed"), &json!("touch made")));
    assert_eq!(house.read("made"), "x", "file tools are held to the workspace, and need nobody");
}

#[test]
fn the_rule_that_the_denial_names_lets_the_run_through() {
    let house = House::playing(&Script::new().runs("touch made").says("Done."));
    let blocked = house.reasonix(&["run", "--output-format", "json", "make it"]).expect_code(3).json();
    let why = blocked["denied"][0]["why"].as_str().unwrap_or_default().to_owned();
    let rule = why.split("--allow '").nth(1).and_then(|rest| rest.split('\'').next()).expect("a rule to be used as it stands");
    let _ = house.reasonix(&["run", "--allow", rule, "make it"]).expect_code(0);
    assert!(house.project().join("made").exists());
}

#[test]
fn a_deny_rule_wins_over_everything_that_allows() {
    for arguments in [
        &["run", "--deny", "Bash(touch:*)", "--on-ask", "allow", "make it"][..],
        &["run", "--deny", "Bash(touch:*)", "--posture", "yolo", "make it"],
        &["run", "--deny", "Bash(touch:*)", "--allow", "Bash(touch made)", "--allow", "Bash", "make it"],
    ] {
        let house = House::playing(&Script::new().runs("touch made").says("I may not."));
        let _ = house.reasonix(arguments);
        assert!(!house.project().join("made").exists(), "{arguments:?}");
        let log = house.log(Pid(1));
        assert_eq!(log.check().results()[0].status, CallStatus::Denied, "{arguments:?}");
        assert_eq!(log.count("tool.started"), 0, "{arguments:?}");
    }
}

#[test]
fn postures_say_what_needs_nobody() {
    // What a command does where no rule speaks: asked (and so denied), or run.
    for (arguments, made) in [
        (&["--posture", "ask"][..], false),
        (&["--posture", "yolo"], true),
        (&["--on-ask", "deny"], false),
        (&["--on-ask", "allow"], true),
        (&["--ask", "Bash(touch:*)", "--posture", "auto"], false),
        (&["--ask", "Bash(touch:*)", "--posture", "yolo"], true),
    ] {
        let house = House::playing(&touching());
        let mut all = vec!["run"];
        all.extend(arguments);
        all.push("make it");
        let done = house.reasonix(&all);
        assert_eq!(house.project().join("made").exists(), made, "{arguments:?}: {done:?}");
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
    assert_eq!(listed[0]["subject"], "touch made");
    let allowed = house.reasonix(&["inbox", "allow", &id]).expect_code(0);
    assert!(allowed.err.contains("touch made"), "the person sees what it is about: {allowed:?}");
    assert_eq!(running.done().expect_code(0).out, "It is made.\n");
    let again = house.reasonix(&["inbox", "allow", &id]).expect_code(1);
    assert!(again.err.contains("reasonix inbox"), "who answered first: {again:?}");
    assert!(house.project().join("made").exists());
}

#[test]
fn a_run_that_parks_leaves_and_goes_on_when_it_is_answered() {
    let house = House::playing(&touching());
    let parked = house.reasonix(&["run", "--on-ask", "park", "make it"]).expect_code(75);
    assert_eq!(parked.out, "1\n", "the session to come back to");
    let waiting = house.start(&["wait", "1"]);
    let id = house.reasonix(&["inbox", "-q"]).expect_code(0).out.trim().to_owned();
    let _ = house.reasonix(&["inbox", "allow", &id]).expect_code(0);
    let _ = waiting.done().expect_code(0);
    assert!(house.project().join("made").exists());
    assert_eq!(house.log(Pid(1)).check().kinds().last().copied(), Some("session.exited"));
}

#[tokio::test]
async fn when_the_last_person_leaves_a_headless_run_does_not_wait_for_nobody() {
    let house = House::playing(&touching());
    house.daemon();
    let mut options = house.client_options("person");
    options.interactive = true;
    let person = Client::connect(options).await.expect("connect");
    let mut params = house.create("make it");
    (params.kind, params.on_ask, params.prompt) = (Kind::Headless, Some(OnAsk::Sandboxed), None);
    let created = person.call::<SessionCreate>(&params).await.expect("create");
    let mut follow = from_the_start(&person, created.pid).await;
    let prompt = json!({"session": created.pid.to_string(), "text": "make it"});
    person.call_raw("session.prompt", &prompt).await.expect("prompt");
    let Body::ApprovalRequested(approval) = body(&mut follow, "approval.requested").await else { panic!("a question") };
    drop(follow);
    drop(person);
    let watcher = house.client("watcher", Role::Watch).await;
    let wait = WaitParams { session: created.pid.to_string(), until: Until::Exit, timeout_ms: None };
    let waited = soon("the run to be blocked", watcher.call::<SessionWait>(&wait)).await.expect("wait");
    assert_eq!(waited.exit_code, 3);
    let log = house.log(created.pid);
    let resolved = log.check().bodies().into_iter().find_map(|body| match body {
        Body::ApprovalResolved(resolved) => Some(resolved),
        _ => None,
    });
    let resolved = resolved.expect("an answer");
    assert_eq!((resolved.approval_id, resolved.decision, resolved.unattended), (approval.approval_id, Decision::Deny, true));
    assert!(!house.project().join("made").exists());
}

#[tokio::test]
async fn an_interactive_session_without_anybody_waits() {
    let house = House::playing(&touching());
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let mut params = house.create("make it");
    params.posture = Some(Posture::Ask);
    let pid = client.call::<SessionCreate>(&params).await.expect("create").pid;
    drop(client);
    let later = house.client("later", Role::Approve).await;
    let approval = asked(&later, pid).await;
    assert!(!house.project().join("made").exists());
    answer(&later, &yes(&approval)).await.expect("a yes");
    until("the command", || house.project().join("made").exists().then_some(()));
}

#[tokio::test]
async fn a_turn_that_is_interrupted_takes_its_questions_with_it() {
    let house = House::playing(&touching());
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let pid = client.call::<SessionCreate>(&house.create("make it")).await.expect("create").pid;
    let approval = asked(&client, pid).await;
    client.call_raw("session.interrupt", &json!({"session": pid.to_string()})).await.expect("interrupt");
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    let late = answer(&client, &yes(&approval)).await.expect_err("nothing is open any more");
    assert_eq!(late.name, ErrorName::AlreadyResolved);
    house.log(pid).check();
    assert!(!house.project().join("made").exists());
}

#[test]
fn a_command_that_was_started_by_a_tool_can_look_but_not_answer() {
    let house = House::new();
    let program = tests::house::client_program();
    let command = format!(
        "{program} inbox -q > seen; {program} inbox allow $(cat seen) > said 2>&1; echo code $?; {program} run --detach x >> said 2>&1; echo code $?",
        program = program.display()
    );
    house.cassette(&Script::new().runs("touch made").when("make it").runs(&command).when("look").says("Over.").jsonl());
    house.daemon();
    // One session waits for its answer; another one's command tries to give it.
    let waiting = house.start(&["run", "--on-ask", "wait", "make it"]);
    let id = until("a question in the inbox", || house.reasonix(&["inbox", "-q"]).expect_code(0).out.lines().next().map(str::to_owned));
    let _ = house.reasonix(&["run", "--on-ask", "allow", "look"]).expect_code(0);
    assert_eq!(house.read("seen").trim(), id, "it may look");
    let said = house.read("said");
    assert!(said.contains("takes the role `approve`") && said.contains("takes the role `drive`"), "{said}");
    let log = house.log(Pid(2));
    assert!(log.results()[0].text.contains("code 77\ncode 77"), "{}", log.results()[0].text);
    assert!(!house.project().join("made").exists());
    let _ = house.reasonix(&["inbox", "deny", &id]).expect_code(0);
    let _ = waiting.done();
    assert_eq!(house.logs().len(), 2, "and it made no session");
}
