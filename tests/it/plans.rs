//! Plan mode and sessions that only read: what changes anything is refused, until a person has approved a plan; and
//! nothing but a person lifts it.

use client::Client;
use proto::hello::Role;
use proto::item::CallStatus;
use proto::methods::{SessionCreate, SessionGet, SessionPrompt, SessionSet, SessionStep};
use proto::params::interaction::{
    AnswerParams, Interaction, InteractionAnswer, InteractionKind, InteractionRequest, PlanDecision,
};
use proto::params::session::{
    CreateParams, OneParams, PromptParams, SessionSummary, SetParams, StepParams, StepPart, When,
};
use proto::state::{Mode, State, WaitingFor};
use proto::{Body, ErrorName, Pid, RequestId, SessionOptions};
use serde_json::{Value, json};
use testkit::Script;
use tests::follow::{from_the_start, to_rest};
use tests::interactions::{answer, answer_with, approval, first_opened, list, next_opened};
use tests::{House, until};

const PLAN: &str = "1. write the file\n2. look at it";

fn write(path: &str) -> (&'static str, Value) {
    ("write_file", json!({"path": path, "content": "x"}))
}

/// The model tries to write, plans, and writes when it may.
fn planning() -> Script {
    let (tool, early) = write("early");
    let (_, made) = write("made");
    let (_, again) = write("again");
    Script::new()
        .calls(tool, &early)
        .calls("exit_plan_mode", &json!({"plan": PLAN}))
        .calls(tool, &made)
        .says("It is made.")
        .calls(tool, &again)
        .says("Once more.")
}

async fn get(client: &Client, pid: Pid) -> SessionSummary {
    let session = pid.to_string();
    let summary = client.call::<SessionGet>(&OneParams { session }).await;
    summary.expect("get")
}

async fn set(client: &Client, pid: Pid, change: SetParams) {
    let params = SetParams {
        session: pid.to_string(),
        ..change
    };
    client.call::<SessionSet>(&params).await.expect("set");
}

async fn prompt(client: &Client, pid: Pid, text: &str) {
    let params = PromptParams {
        untyped: Vec::new(),
        on_ask: None,
        session: pid.to_string(),
        text: text.to_owned(),
        when: When::Queue,
        credentials: Default::default(),
        env: Default::default(),
        request_id: Some(RequestId::new()),
    };
    client.call::<SessionPrompt>(&params).await.expect("prompt");
}

fn decide(open: &Interaction, decision: PlanDecision, note: Option<&str>) -> AnswerParams {
    let note = note.map(str::to_owned);
    answer_with(open, InteractionAnswer::Plan { decision, note })
}

fn approve(open: &Interaction) -> AnswerParams {
    decide(open, PlanDecision::Approve, None)
}

async fn begun(house: &House, client: &Client) -> (Pid, Interaction) {
    let params = CreateParams {
        options: SessionOptions {
            mode: Some(Mode::Plan),
            ..house.create("make it").options
        },
        ..house.create("make it")
    };
    let created = client.call::<SessionCreate>(&params).await.expect("create");
    (created.pid, first_opened(client, created.pid).await)
}

#[tokio::test]
async fn a_plan_approved_elsewhere_is_carried_out_unasked_and_the_next_turn_asks_again() {
    let house = House::playing(&planning());
    house.daemon();
    let one = house.client("one", Role::Drive).await;
    let two = house.client("two", Role::Approve).await;
    let three = house.client("three", Role::Watch).await;
    let (pid, open) = begun(&house, &one).await;
    let plan = PLAN.to_owned();
    assert_eq!(open.request, InteractionRequest::Plan { plan });
    let summary = get(&one, pid).await;
    assert_eq!(
        (summary.state, summary.waiting_for, summary.mode),
        (
            State::Waiting,
            Some(WaitingFor::Interaction(InteractionKind::Plan)),
            Mode::Plan
        )
    );
    assert_eq!(summary.pending_interactions, 1);
    assert!(!house.project().join("early").exists(), "plan mode holds");
    assert_eq!(list(&three).await, std::slice::from_ref(&open));

    let watcher = answer(&three, &approve(&open)).await;
    assert_eq!(watcher.expect_err("it watches").name, ErrorName::NotAllowed);
    let blind = AnswerParams {
        shown_hash: "0".repeat(64),
        ..approve(&open)
    };
    let blind = answer(&two, &blind).await;
    assert_eq!(blind.expect_err("not shown").name, ErrorName::Stale);
    assert!(!house.project().join("made").exists());
    let first = approve(&open);
    answer(&two, &first).await.expect("the first answer");
    answer(&two, &first).await.expect("the same request again");
    let late = decide(&open, PlanDecision::Reject, None);
    let late = answer(&one, &late).await.expect_err("too late");
    assert_eq!(late.name, ErrorName::AlreadyResolved);
    assert_eq!(late.details.get("by"), Some(&json!("two")));

    let mut follow = from_the_start(&one, pid).await;
    to_rest(&mut follow).await;
    assert_eq!(house.read("made"), "x", "it ran without a question");
    assert_eq!(get(&one, pid).await.mode, Mode::Normal);
    let log = house.log(pid);
    log.check();
    assert_eq!(log.opened(), [open], "no call was to be approved");
    let results = log.results();
    assert_eq!(results[0].status, CallStatus::Denied);
    assert!(
        results[0].text.contains("the tool that hands it in"),
        "{}",
        results[0].text
    );
    assert!(results[1].text.contains("approved"), "{}", results[1].text);

    prompt(&one, pid, "once more").await;
    let asked = next_opened(&mut follow).await;
    assert_eq!(approval(&asked).tool, "write_file");
    assert_eq!(list(&one).await, [asked], "the window was of that turn");
    assert!(!house.project().join("again").exists());
}

#[tokio::test]
async fn keep_asking_asks_about_calls_after_the_plan() {
    let house = House::playing(&planning());
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let (pid, open) = begun(&house, &client).await;
    let id = open.interaction_id.0.clone();
    let allowed = house.reasonix(&["inbox", "allow", &id, "--keep-asking"]);
    let allowed = allowed.expect_code(0).err;
    assert!(
        allowed.contains("calls are asked about as usual"),
        "{allowed}"
    );
    let mut follow = from_the_start(&client, pid).await;
    let asked = next_opened(&mut follow).await;
    assert_eq!(asked, open, "the plan");
    let asked = next_opened(&mut follow).await;
    assert_eq!(approval(&asked).tool, "write_file");
    assert!(!house.project().join("made").exists());
    assert_eq!(get(&client, pid).await.mode, Mode::Normal);
    drop((client, follow));
    house.kill_daemon_and_parent();
    house.daemon();
    let client = house.client("two", Role::Drive).await;
    assert_eq!(list(&client).await, std::slice::from_ref(&asked));
    // It is an answer to a plan only.
    let call = asked.interaction_id.0.clone();
    let refused = house.reasonix(&["inbox", "allow", &call, "--keep-asking"]);
    let refused = refused.expect_code(64).err;
    assert!(refused.contains("approval request for a call"), "{refused}");
    let _ = house.reasonix(&["inbox", "allow", &call]).expect_code(0);
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    assert_eq!(house.read("made"), "x");
    house.log(pid).check();
}

#[tokio::test]
async fn approve_ask_in_plain_attach_asks_about_calls_after_the_plan() {
    let house = House::playing(&planning());
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let (pid, _) = begun(&house, &client).await;
    let mut attached = house.start(&["attach", "--plain", &pid.to_string()]);
    attached.line("how", |line| line.contains("`/approve ask` carries it out"));
    attached.say("/approve ask\n");
    attached.line("the question about its call", |line| {
        line.contains("allow `write_file` to run?")
    });
    attached.say("/approve ask\n");
    attached.line("an error", |line| {
        line.contains("no plan is waiting for approval")
    });
    assert!(!house.project().join("made").exists());
    attached.say("y\n");
    attached.line("the answer", |line| line.contains("It is made."));
    attached.say("/quit\n");
    let _ = attached.done().expect_code(0);
    assert_eq!(house.read("made"), "x");
}

#[tokio::test]
async fn a_plan_outlives_the_daemon_and_so_does_the_mode() {
    let house = House::playing(&planning());
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let (pid, open) = begun(&house, &client).await;
    drop(client);
    house.kill_daemon_and_parent();
    house.daemon();
    let client = house.client("two", Role::Drive).await;
    assert_eq!(list(&client).await, std::slice::from_ref(&open));
    assert_eq!(get(&client, pid).await.mode, Mode::Plan);
    let no = decide(&open, PlanDecision::Reject, Some("tests first"));
    answer(&client, &no).await.expect("answer");
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    let log = house.log(pid);
    log.check();
    let results = log.results();
    assert!(
        results[1].text.contains("tests first"),
        "{}",
        results[1].text
    );
    assert_eq!(results[2].status, CallStatus::Denied, "it goes on planning");
    assert!(!house.project().join("made").exists());
    assert_eq!(get(&client, pid).await.mode, Mode::Plan);
}

#[tokio::test]
async fn a_session_that_only_reads_does_so_after_a_crash_and_no_plan_lifts_it() {
    let house = House::playing(&planning());
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let params = CreateParams {
        options: SessionOptions {
            mode: Some(Mode::Plan),
            read_only: Some(true),
            ..house.create("make it").options
        },
        ..house.create("make it")
    };
    let pid = client
        .call::<SessionCreate>(&params)
        .await
        .expect("create")
        .pid;
    let open = first_opened(&client, pid).await;
    drop(client);
    house.kill_daemon_and_parent();
    house.daemon();
    let client = house.client("two", Role::Drive).await;
    assert!(get(&client, pid).await.only_reads);
    let approver = house.client("three", Role::Approve).await;
    let lift = SetParams {
        session: pid.to_string(),
        options: SessionOptions {
            read_only: Some(false),
            ..SessionOptions::default()
        },
        ..SetParams::default()
    };
    let lifted = approver.call::<SessionSet>(&lift).await;
    let refused = lifted.expect_err("only who drives lifts it");
    let refused = refused.failure().map(|failure| failure.name);
    assert_eq!(refused, Some(ErrorName::NotAllowed));
    answer(&approver, &approve(&open)).await.expect("answer");
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    let log = house.log(pid);
    let results = log.check().results();
    assert_eq!(results[2].status, CallStatus::Denied);
    assert!(
        results[2].text.contains("only reads"),
        "{}",
        results[2].text
    );
    assert!(!house.project().join("made").exists());
    set(
        &client,
        pid,
        SetParams {
            options: SessionOptions {
                read_only: Some(false),
                approval_mode: Some(proto::state::ApprovalMode::Auto),
                ..SessionOptions::default()
            },
            ..SetParams::default()
        },
    )
    .await;
    prompt(&client, pid, "once more").await;
    to_rest(&mut follow).await;
    assert_eq!(house.read("again"), "x", "a person lifts it");
}

/// Requests of a session, as they were sent.
async fn sent(client: &Client, pid: Pid, steps: u64) -> Vec<Value> {
    let mut all = Vec::new();
    for n in 1..=steps {
        let params = StepParams {
            session: pid.to_string(),
            n,
            part: StepPart::Sent,
            offset: 0,
        };
        let piece = client.call::<SessionStep>(&params).await.expect("step");
        assert_eq!(piece.next, None, "the requests of this test are short");
        all.push(serde_json::from_str(&piece.text).expect("JSON"));
    }
    all
}

#[tokio::test]
async fn mode_changes_are_appended_to_the_conversation_and_change_no_earlier_byte() {
    let script = Script::new()
        .says("One.")
        .says("Two.")
        .says("Three.")
        .says("Four.");
    let house = House::playing(&script);
    house.daemon();
    let client = house.client("one", Role::Drive).await;
    let params = house.create("first");
    let pid = client
        .call::<SessionCreate>(&params)
        .await
        .expect("create")
        .pid;
    let mut follow = from_the_start(&client, pid).await;
    to_rest(&mut follow).await;
    let mode = |mode| SetParams {
        options: SessionOptions {
            mode: Some(mode),
            ..SessionOptions::default()
        },
        ..SetParams::default()
    };
    let only = |only| SetParams {
        options: SessionOptions {
            read_only: Some(only),
            ..SessionOptions::default()
        },
        ..SetParams::default()
    };
    for (change, text) in [
        (mode(Mode::Plan), "second"),
        (only(true), "third"),
        (mode(Mode::Normal), "fourth"),
    ] {
        set(&client, pid, change).await;
        prompt(&client, pid, text).await;
        to_rest(&mut follow).await;
    }
    let requests = sent(&client, pid, 4).await;
    for pair in requests.windows(2) {
        let messages = |request: &Value| request["messages"].as_array().expect("messages").clone();
        let (before, after) = (messages(&pair[0]), messages(&pair[1]));
        assert!(after.len() > before.len());
        assert_eq!(before[..], after[..before.len()], "I1: messages are kept");
        let tools = |request: &Value| request["tools"].to_string();
        assert_eq!(tools(&pair[0]), tools(&pair[1]), "I1: tools stay");
        assert!(tools(&pair[0]).contains("exit_plan_mode"));
    }
    let last = requests[3]["messages"].to_string();
    for (words, times) in [
        ("Plan mode is on: look", 1),
        ("Plan mode is on, and this session only reads", 1),
        ("This session only reads: calls", 1),
    ] {
        assert_eq!(last.matches(words).count(), times, "{words}: {last}");
    }
    house.log(pid).check();
}

#[test]
fn a_run_ends_blocked_with_the_plan_where_nobody_is_there() {
    for on_ask in ["sandboxed", "allow", "deny"] {
        let house = House::playing(
            &Script::new()
                .calls("exit_plan_mode", &json!({"plan": PLAN}))
                .says("That is all."),
        );
        let arguments = ["run", "--plan", "--on-ask", on_ask, "--json", "make it"];
        let done = house.reasonix(&arguments).expect_code(3);
        let result = done.json();
        assert_eq!(result["outcome"], "blocked", "{on_ask}");
        let text = result["text"].as_str().unwrap_or_default();
        assert!(text.contains(PLAN), "the plan is the result: {text}");
        house.log(Pid(1)).check();
    }
}

#[test]
fn a_parked_plan_is_listed_and_answered_by_the_inbox() {
    let house = House::playing(&planning());
    let _ = house
        .reasonix(&["run", "--plan", "--on-ask", "park", "make it"])
        .expect_code(75);
    let inbox = house.reasonix(&["inbox", "--json"]).expect_code(0).json();
    assert_eq!(inbox[0]["request"]["plan"], PLAN);
    let id = inbox[0]["interaction_id"].as_str().unwrap_or_default();
    let line = house.reasonix(&["inbox", "--line"]).expect_code(0);
    assert!(line.out.contains("1 plan"), "{}", line.out);
    let wide = house.reasonix(&["inbox", "allow", id, "--session"]);
    let _ = wide.expect_code(64);
    let allowed = house.reasonix(&["inbox", "allow", id]).expect_code(0);
    assert!(allowed.err.contains("1. write the file"), "{}", allowed.err);
    until("the plan is carried out", || {
        house.project().join("made").exists().then_some(())
    });
}

#[test]
fn a_run_that_only_reads_says_so_and_changes_nothing() {
    let (tool, made) = write("made");
    let script = Script::new()
        .runs("touch made")
        .runs("ls")
        .calls(tool, &made);
    let house = House::playing(&script.says("I could not."));
    let arguments = [
        "run",
        "--read-only",
        "--on-ask",
        "allow",
        "--approval-mode",
        "yolo",
        "go",
    ];
    let done = house.reasonix(&arguments).expect_code(0);
    assert!(done.out.contains("I could not."), "{}", done.out);
    assert!(!house.project().join("made").exists());
    let log = house.log(Pid(1));
    let status: Vec<_> = log.check().results().iter().map(|one| one.status).collect();
    assert_eq!(
        status,
        [CallStatus::Denied, CallStatus::Ok, CallStatus::Denied]
    );
    let listed = house.reasonix(&["ls"]).expect_code(0);
    assert!(listed.out.contains("read-only"), "{}", listed.out);
}

#[tokio::test]
async fn prompt_that_looks_complex_starts_in_plan_mode_where_a_person_works() {
    let script = Script::new()
        .says("Hello.")
        .calls("exit_plan_mode", &json!({"plan": PLAN}))
        .says("It is made.");
    let house = House::playing(&script);
    house.settings("[agent]\nauto_plan = true");
    house.daemon();
    let ann = house.client("ann", Role::Drive).await;
    let created = ann.call::<SessionCreate>(&house.create("hello")).await;
    let pid = created.expect("create").pid;
    let mut follow = from_the_start(&ann, pid).await;
    to_rest(&mut follow).await;
    assert_eq!(get(&ann, pid).await.mode, Mode::Normal);
    let complex = "Refactor the storage module and migrate every caller";
    prompt(&ann, pid, complex).await;
    let open = first_opened(&ann, pid).await;
    assert_eq!(get(&ann, pid).await.mode, Mode::Plan);
    answer(&ann, &approve(&open)).await.expect("approve");
    to_rest(&mut follow).await;
    assert_eq!(get(&ann, pid).await.mode, Mode::Normal);
    let log = house.log(pid);
    log.check();
    let told = |body: &Body| matches!(body, Body::Notice(notice) if notice.text.contains("starts in plan mode"));
    assert_eq!(log.bodies().iter().filter(|body| told(body)).count(), 1);
    let ran = house.reasonix(&["run", "--json", complex]);
    let ran: Value = serde_json::from_str(&ran.expect_code(0).out).expect("a result");
    assert_eq!(ran["text"], "Hello.");
    let run: Pid = serde_json::from_value(ran["pid"].clone()).expect("a pid");
    assert_eq!(get(&ann, run).await.mode, Mode::Normal);
}
