use std::time::{Duration, Instant};

use client::queue::Queue;
use proptest::prelude::*;
use proto::params::interaction::InteractionKind;
use proto::params::session::QueuedPrompt;
use proto::record::{ChildKind, ChildSpawned, Todo, TodoStatus};
use proto::state::{State, WaitingFor};
use proto::{Body, CallId, Pid, PromptId, Seq, SessionId};
use ratatui::style::Style;
use unicode_segmentation::UnicodeSegmentation;

use super::*;
use crate::effect::{Effect, ErrorReport};
use crate::event::Event;
use crate::keymap::key;
use crate::messages::Language;
use crate::model::{LaunchContext, Link, Tone, ViewOptions};
use crate::update::scene::{record, take};
use crate::update::update;

fn model(state: State, waiting_for: Option<WaitingFor>) -> Model {
    let place = LaunchContext {
        home: Some("/user/ann".into()),
        model: "vendor/some-chat".to_owned(),
        ..LaunchContext::of("/user/ann/code")
    };
    let mut model = Model::new(ViewOptions::default(), place, Instant::now());
    model.now += Duration::from_secs(72);
    let mut session = Session::new(SessionId::default(), Pid(12));
    session.options.name = Some("tidy up".to_owned());
    session.cwd = "/user/ann/code/shop".to_owned();
    session.options.model = Some("vendor/some-chat".to_owned());
    session.state = state;
    session.waiting_for = waiting_for;
    session.context_tokens = 34_500;
    session.context_window = 128_000;
    session.turns = 3;
    session.usage.requests = 9;
    session.usage.prompt_tokens = 1_200_000;
    session.usage.cached_tokens = 984_000;
    session.usage.output_tokens = 12_345;
    session.usage.cost_micros = 123_456;
    session.began = Some(proto::Stamp(model.clock.0 - 12_000));
    model.session = Some(session);
    model.link = Link::Live;
    model
}

fn row(model: &Model, width: usize) -> String {
    let panel = panel(model, width);
    assert_eq!(panel.rows.len(), 1);
    panel.rows.iter().map(ToString::to_string).collect()
}

fn above_of(model: &Model, width: usize) -> Vec<String> {
    above(model, width)
        .rows
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// Words with their blanks made one.
fn collapse_blanks(row: &str) -> String {
    row.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn check(model: &mut Model, width: usize, english: &str, chinese: &str) {
    for (language, wanted) in [(Language::English, english), (Language::Chinese, chinese)] {
        model.look.language = language;
        let row = row(model, width);
        assert_eq!(collapse_blanks(&row), wanted);
        assert!(wrap_width(&row) <= width, "{row}");
    }
}

fn wrap_width(row: &str) -> usize {
    crate::render::wrap::width(row)
}

#[test]
fn a_wide_row_has_all_and_a_narrow_one_the_most_important() {
    let mut model = model(State::Running, None);
    check(
        &mut model,
        200,
        "⠋ working ask · some-chat · context 26% · cache 82% · 1.2M tokens · $0.12 · 12 tidy up · ~/code/shop",
        "⠋ 工作中 ask · some-chat · 上下文 26% · 缓存 82% · 1.2M 词元 · $0.12 · 12 tidy up · ~/code/shop",
    );
    check(
        &mut model,
        80,
        "⠋ working ask · some-chat · context 26% · cache 82% · $0.12 · 12 tidy up",
        "⠋ 工作中 ask · some-chat · 上下文 26% · 缓存 82% · $0.12 · 12 tidy up",
    );
    check(
        &mut model,
        40,
        "⠋ working ask · some-chat · context 26%",
        "⠋ 工作中 ask · some-chat · 上下文 26%",
    );
    check(&mut model, 10, "⠋ working", "⠋ 工作中");
    check(&mut model, 5, "⠋", "⠋");
}

#[test]
fn every_state_has_a_mark_and_a_word() {
    let states = [
        (State::Idle, None, "· idle", "· 空闲"),
        (State::Running, None, "⠋ working", "⠋ 工作中"),
        (
            State::Waiting,
            Some(WaitingFor::Interaction(InteractionKind::Approval)),
            "? needs answer",
            "? 等待你处理",
        ),
        (
            State::Waiting,
            Some(WaitingFor::Interaction(InteractionKind::Questions)),
            "? needs answer",
            "? 等待你处理",
        ),
        (
            State::Waiting,
            Some(WaitingFor::Retry),
            "⠋ retrying",
            "⠋ 等待重试",
        ),
        (
            State::Waiting,
            Some(WaitingFor::Credentials),
            "? needs a key",
            "? 需要密钥",
        ),
        (State::Paused, None, "‖ paused", "‖ 已暂停"),
        (State::Exited, None, "■ ended", "■ 已结束"),
    ];
    for (state, waiting_for, english, chinese) in states {
        begins(&mut model(state, waiting_for), english, chinese);
    }
    let mut model = model(State::Running, None);
    model.link = Link::Lost(model.now);
    begins(&mut model, "⠋ reconnecting…", "⠋ 重新连接中…");
    model.link = Link::Replaying;
    begins(&mut model, "⠋ loading…", "⠋ 载入中…");
    model.link = Link::Ended(ErrorReport::new("gone", ""));
    begins(&mut model, "■ ended", "■ 已结束");
}

/// The row begins with these texts at every width, in both languages, and has the approval mode if there is room.
fn begins(model: &mut Model, english: &str, chinese: &str) {
    for (language, wanted) in [(Language::English, english), (Language::Chinese, chinese)] {
        model.look.language = language;
        for width in [16, 40, 80, 200] {
            let row = row(model, width);
            assert!(row.starts_with(wanted), "{width}: {row}");
            assert!(wrap_width(&row) <= width, "{width}: {row}");
            assert!(width < 40 || row.contains("ask"), "{width}: {row}");
        }
    }
}

#[test]
fn before_the_first_prompt_it_says_where_and_with_what() {
    let mut model = model(State::Idle, None);
    model.session = None;
    model.link = Link::None;
    check(
        &mut model,
        80,
        "· idle ask · some-chat · ~/code",
        "· 空闲 ask · some-chat · ~/code",
    );
    assert!(above_of(&model, 80).is_empty());
    assert!(summary(&model).is_empty());
    assert_eq!(title(&model), "reasonix");
}

#[test]
fn unknown_figures_are_left_out() {
    let mut model = model(State::Idle, None);
    let session = model.session.as_mut().unwrap();
    session.context_window = 0;
    session.usage = proto::outcome::UsageTotals::default();
    assert_eq!(
        collapse_blanks(&row(&model, 200)),
        "· idle ask · some-chat · 12 tidy up · ~/code/shop"
    );
    let session = model.session.as_mut().unwrap();
    session.usage.requests = 2;
    session.usage.cost_micros = 5_000;
    session.usage.unknown_cost_calls = 1;
    assert!(row(&model, 200).contains("$0.0050+"));
}

#[test]
fn queue_others_and_role_stand_at_the_left() {
    let mut model = model(State::Running, None);
    model.place.role = Role::Watch;
    let session = model.session.as_mut().unwrap();
    session.queue = queue(3);
    session.read_only = Some("disk full".to_owned());
    session.options.approval_mode = Some(ApprovalMode::Yolo);
    session.context_tokens = 120_000;
    session.others = 2;
    check(
        &mut model,
        92,
        "⠋ working · 3 queued · +2 · watching · read-only yolo · some-chat · context 93% · $0.12",
        "⠋ 工作中 · 排队 3 · +2 · 旁观 · 只读 yolo · some-chat · 上下文 93% · 缓存 82% · $0.12",
    );
    let panel = panel(&model, 92);
    let style = |words: &str| -> Style {
        let mut spans = panel.rows.iter().flat_map(|row| &row.spans);
        spans
            .find(|span| span.content.contains(words))
            .unwrap()
            .style
    };
    let warning = model.look.theme.style(TextRole::Warning);
    assert_eq!(style("yolo"), warning);
    assert_eq!(style("93%"), warning);
}

fn queue(count: usize) -> Queue {
    let prompt = |index: usize| QueuedPrompt {
        untyped: Vec::new(),
        on_ask: None,
        prompt_id: PromptId::default(),
        text: format!("prompt\n{index}"),
        steer: index == 1,
        by: "ann".to_owned(),
    };
    Queue::new(Seq(1), (0..count).map(prompt).collect())
}

fn todos(statuses: &[TodoStatus]) -> Vec<Todo> {
    let todo = |(index, status): (usize, &TodoStatus)| Todo {
        content: format!("do {index}"),
        active_form: format!("doing {index}"),
        status: *status,
    };
    statuses.iter().enumerate().map(todo).collect()
}

use TodoStatus::{Completed, InProgress, Pending};

#[test]
fn a_turn_that_runs_says_how_long_with_what_and_how_to_stop_it() {
    let mut model = model(State::Running, None);
    let session = model.session.as_mut().unwrap();
    session.running = vec![(CallId::from("c"), "bash".to_owned())];
    model.beat = 3;
    assert_eq!(
        above_of(&model, 80),
        ["", "⠸ working · 12 s · running bash · Esc interrupts"]
    );
    assert_eq!(above_of(&model, 30), ["", "⠸ working · Esc interrupts"]);
    model.look.language = Language::Chinese;
    assert_eq!(
        above_of(&model, 80),
        ["", "⠸ 工作中 · 12 s · 正在运行 bash · Esc 中断"]
    );
    model.place.role = Role::Watch;
    assert_eq!(
        above_of(&model, 80),
        ["", "⠸ 工作中 · 12 s · 正在运行 bash"]
    );
}

#[test]
fn retry_row_cuts_the_cause_and_keeps_the_count() {
    let mut model = model(State::Waiting, Some(WaitingFor::Retry));
    let session = model.session.as_mut().unwrap();
    "`deepseek` cannot be reached: connection refused by the proxy at 10.0.0.1 (attempt 2 of 8)"
        .clone_into(&mut session.cause);
    session.retry = Some((model.clock, 5_000));
    let rows = |width| above_of(&model, width).remove(1);
    assert_eq!(rows(40), "⠋ `deepse… (attempt 2 of 8) · in 5 s");
    assert_eq!(
        rows(80),
        "⠋ `deepseek` cannot be reached: connection refuse… (attempt 2 of 8) · in 5 s"
    );
}

#[test]
fn a_client_that_comes_later_counts_down_from_when_the_wait_began() {
    let mut model = model(State::Running, None);
    let asked = model.clock;
    let waits = format!(
        r#"{{"seq":7,"session":12,"at":"{asked}","turn":1,"kind":"session.state","data":{{"state":"waiting","waiting_for":"retry","cause":"busy (attempt 2 of 8)","retry_in_ms":250000}}}}"#
    );
    let event: proto::Event = serde_json::from_str(&waits).unwrap();
    model.clock = proto::Stamp(asked.0 + 60_000);
    let shown = |model: &mut Model| {
        model.session.as_mut().unwrap().fold(&event.clone().into());
        above_of(model, 80).remove(1)
    };
    let row = "⠋ busy (attempt 2 of 8) · in 3m 10s · Esc interrupts";
    assert_eq!(shown(&mut model), row);
    // The same if the snapshot has the state, and the record is only replayed.
    let session = model.session.as_mut().unwrap();
    session.seq = Seq(9);
    "busy (attempt 2 of 8)".clone_into(&mut session.cause);
    session.retry = None;
    assert_eq!(shown(&mut model), row);
}

#[test]
fn the_reason_for_waiting_is_shown() {
    let mut model = model(State::Waiting, Some(WaitingFor::Retry));
    let session = model.session.as_mut().unwrap();
    let event: proto::Event = serde_json::from_str(
        r#"{"seq":1,"session":12,"at":"2026-01-01T00:00:00.000Z","turn":1,"kind":"session.state","data":{"state":"waiting","waiting_for":"retry","cause":"429 from deepseek,\u001b[2J try 2 of 8","retry_in_ms":5000}}"#,
    )
    .unwrap();
    session.fold(&event.into());
    assert_eq!(
        above_of(&model, 80),
        [
            "",
            "⠋ 429 from deepseek, try 2 of 8 · in 5 s · Esc interrupts"
        ]
    );
    let session = model.session.as_mut().unwrap();
    session.waiting_for = Some(WaitingFor::Credentials);
    assert_eq!(
        above_of(&model, 120),
        [
            "",
            "? needs a key · set the key in your environment or with `reasonix setup`, then attach again"
        ]
    );
    let session = model.session.as_mut().unwrap();
    session.waiting_for = Some(WaitingFor::Interaction(InteractionKind::Questions));
    let question = serde_json::from_str(
        r#"{"interaction_id":"12.1","session":12,"call":"c","shown_hash":"h","opened_at":"2026-01-01T00:00:00.000Z",
            "request":{"type":"questions","questions":[]}}"#,
    );
    session.open = vec![question.unwrap()];
    assert_eq!(above_of(&model, 80), ["", "? 1 open question · Ctrl-Q"]);
    assert_eq!(title(&model), "? tidy up — reasonix");
    model.link = Link::Lost(model.now - Duration::from_secs(3));
    assert_eq!(
        above_of(&model, 80)[1],
        "⠋ connection lost; reconnecting… · 3 s"
    );
    model.link = Link::Stopped(model.now - Duration::from_secs(3));
    assert_eq!(
        above_of(&model, 80)[1],
        "⠋ the daemon was stopped; waiting until it is started again · 3 s"
    );
    model.link = Link::Away(model.now - Duration::from_secs(4));
    assert_eq!(
        above_of(&model, 80)[1],
        "⠋ no answer from the daemon; the session continues when it is back · 4 s"
    );
}

#[test]
fn things_to_do_are_shown_around_the_one_that_is_done_now() {
    let mut model = model(State::Idle, None);
    let mut set = |statuses: &[TodoStatus]| {
        model.session.as_mut().unwrap().todos = todos(statuses);
        above_of(&model, 80)
    };
    assert_eq!(
        set(&[Completed, InProgress, Pending]),
        ["", "To do 1/3", "☑ do 0", "▶ doing 1", "☐ do 2"]
    );
    assert_eq!(set(&[Completed; 3]), ["", "☑ all items done (3)"]);
    let mut many = [Pending; 20];
    many[..10].fill(Completed);
    many[10] = InProgress;
    let rows = set(&many);
    assert_eq!(rows.len(), 11);
    assert_eq!(rows[2..5], ["☑ do 8", "☑ do 9", "▶ doing 10"]);
    assert_eq!(rows[10], "… 12 more");
    model.look.rows = 12;
    assert_eq!(above_of(&model, 80), ["To do 10/20 · doing 10"]);
    model.look.todos = false;
    assert!(above_of(&model, 80).is_empty());
}

#[test]
fn rewind_shows_the_to_do_list_that_is_in_force() {
    let rewound = |todos: Option<Vec<Todo>>| {
        Body::SessionRewound(proto::record::SessionRewound {
            to_turn: 0,
            what: proto::params::history::What::Conversation,
            undoes: None,
            shown: Some(Vec::new()),
            todos,
            files: Vec::new(),
            by: "ann".into(),
            request_id: None,
        })
    };
    let mut model = model(State::Idle, None);
    let mut then = |seq, todos| {
        take(&mut model, vec![record(seq, &rewound(todos))]);
        model.session.as_ref().unwrap().todos.len()
    };
    assert_eq!(then(1, Some(todos(&[Pending]))), 1);
    assert_eq!(then(2, None), 1);
    assert_eq!(then(3, Some(Vec::new())), 0);
}

#[test]
fn a_finished_list_of_things_to_do_goes_with_the_next_prompt() {
    let list = |statuses: &[TodoStatus]| {
        let todos = todos(statuses);
        Body::TodoUpdated(proto::record::TodoUpdated { todos })
    };
    let prompt = |voice: &str| {
        let data = serde_json::json!({"item": "m1", "text": "go on", "voice": voice});
        Body::decode(
            "message.user",
            &serde_json::value::to_raw_value(&data).unwrap(),
        )
        .unwrap()
    };
    let mut model = model(State::Idle, None);
    let mut then = |seq, body: &Body| {
        take(&mut model, vec![record(seq, body)]);
        above_of(&model, 80)
    };
    let done = ["", "☑ all items done (2)"];
    assert_eq!(then(1, &list(&[Completed; 2])), done);
    assert_eq!(then(2, &prompt("daemon")), done);
    assert!(then(3, &prompt("steer")).is_empty());
    assert_eq!(then(4, &list(&[Completed; 2])), done);
    // One that is not finished stays.
    then(5, &list(&[Completed, Pending]));
    assert_eq!(
        then(6, &prompt("prompt")),
        ["", "To do 1/2", "☑ do 0", "☐ do 1"]
    );
}

#[test]
fn background_queue_and_toast_have_their_rows() {
    let mut model = model(State::Idle, None);
    let child = |kind, command: &str| ChildSpawned {
        pid: Pid(13),
        kind,
        call: CallId::from("c"),
        command: command.to_owned(),
        user: None,
    };
    let session = model.session.as_mut().unwrap();
    session.children = vec![
        child(ChildKind::Shell, "npm run dev"),
        child(ChildKind::Command, "ls"),
        child(ChildKind::Shell, "cargo watch"),
    ];
    session.queue = queue(5);
    model.toast(Tone::Good, "copied");
    assert_eq!(
        above_of(&model, 80),
        [
            "",
            "2 background commands: npm run dev; cargo watch",
            "queued: prompt 0",
            "queued for this turn: prompt 1",
            "queued: prompt 2",
            "… 2 more",
            "✓ copied",
        ]
    );
    // It may be between two turns.
    model.session.as_mut().unwrap().state = State::Paused;
    assert!(above_of(&model, 80).contains(&"queued: prompt 1".to_owned()));
    model.session.as_mut().unwrap().state = State::Idle;
    model.look.rows = 12;
    assert_eq!(above_of(&model, 80), ["5 queued", "✓ copied"]);
    model.now += crate::model::TOAST;
    assert_eq!(above_of(&model, 80), ["5 queued"]);
}

#[test]
fn the_title_names_the_session_or_its_first_words() {
    let mut model = model(State::Running, None);
    assert_eq!(title(&model), "● tidy up — reasonix");
    let session = model.session.as_mut().unwrap();
    session.options.name = None;
    session.state = State::Idle;
    assert_eq!(title(&model), "reasonix");
    model
        .transcript
        .entries
        .push(crate::model::transcript::Entry {
            id: 0,
            seq: None,
            turn: None,
            kind: crate::model::transcript::EntryKind::User {
                text: "fix \u{1b}]0;evil\u{7}the build\nplease".to_owned(),
                untyped: Vec::new(),
                steer: false,
                from: None,
                attached: Vec::new(),
            },
        });
    assert_eq!(title(&model), "fix the build — reasonix");
}

#[test]
fn the_exit_report_shows_usage_and_the_resume_command() {
    let mut model = model(State::Running, None);
    assert_eq!(
        summary(&model),
        [
            "session 12 · tidy up · 3 turns · 1m 12s here",
            "tokens: 1.2M in, 12k out · cache 82% · cost: $0.12",
            "attach again: reasonix attach 12 · it keeps running",
        ]
    );
    model.look.language = Language::Chinese;
    assert_eq!(
        summary(&model)[0],
        "会话 12 · tidy up · 3 个回合 · 在此 1m 12s"
    );
}

#[test]
fn a_turn_that_is_being_interrupted_does_not_keep_running() {
    let mut model = model(State::Running, None);
    let mut press = |name: &str| {
        let now = model.now + Duration::from_secs(1);
        let event = Event::Key(key(name).unwrap());
        let effects = update(&mut model, event, now);
        effects.into_iter().find_map(|effect| match effect {
            Effect::Leave(report) => report.words.last().cloned(),
            _ => None,
        })
    };
    assert_eq!(press("ctrl-c"), None);
    let last = press("ctrl-c");
    assert_eq!(last.as_deref(), Some("attach again: reasonix attach 12"));
    // The next turn does.
    let session = model.session.as_mut().unwrap();
    session.state = State::Idle;
    let started = Body::TurnStarted(proto::record::TurnStarted {
        prompt_id: PromptId::new(),
    });
    take(&mut model, vec![record(1, &started)]);
    model.session.as_mut().unwrap().state = State::Running;
    let last = summary(&model).pop();
    assert!(last.unwrap().ends_with("it keeps running"));
    let question = crate::model::interaction::scene::approval(1, "ls");
    model.session.as_mut().unwrap().open.push(question);
    let last = summary(&model).pop();
    assert!(last.unwrap().ends_with("it waits for your answer"));
}

#[test]
fn a_page_that_is_scrolled_up_says_that_there_is_more_below() {
    let mut model = model(State::Idle, None);
    model.scroll = 3;
    assert!(
        !row(&model, 80).contains('↓'),
        "in the terminal's own scrollback"
    );
    model.look.fullscreen = true;
    assert!(row(&model, 80).contains("↓ more below"));
    assert!(row(&model, 40).contains("↓ more below"));
    model.look.language = Language::Chinese;
    assert!(row(&model, 80).contains("↓ 下方还有内容"));
    model.scroll = 0;
    assert!(!row(&model, 80).contains('↓'));
}

proptest! {
    #[test]
    fn no_row_is_wider_than_the_screen(
        width in 2_usize..120,
        rows in 5_u16..40,
        words in "\\PC{0,40}",
        chinese in any::<bool>(),
        busy in any::<bool>(),
        count in 0_usize..12,
    ) {
        fits(width, rows, &words, chinese, busy, count);
    }
}

/// A blank with combining marks is one character of three cells, and gets its own row.
#[test]
fn no_row_with_marks_that_join_is_wider_than_the_screen() {
    fits(2, 16, "\u{11cb1}\u{1930}", false, false, 0);
}

fn fits(width: usize, rows: u16, words: &str, chinese: bool, busy: bool, count: usize) {
    let state = if busy { State::Running } else { State::Idle };
    let mut model = model(state, None);
    model.look.rows = rows;
    model.look.language = if chinese {
        Language::Chinese
    } else {
        Language::English
    };
    model.toast(Tone::Error, words.to_owned());
    let session = model.session.as_mut().unwrap();
    session.options.name = Some(words.to_owned());
    words.clone_into(&mut session.cwd);
    session.running = vec![(CallId::from("c"), words.to_owned())];
    session.queue = queue(count);
    session.todos = todos(&vec![Pending; count]);
    for todo in &mut session.todos {
        words.clone_into(&mut todo.content);
    }
    let mut all = above(&model, width).rows;
    all.extend(panel(&model, width).rows);
    for row in all {
        let alone = row.to_string().graphemes(true).count() == 1;
        assert!(row.width() <= width || alone, "{width}: {row:?}");
        for span in &row.spans {
            assert!(!span.content.chars().any(char::is_control));
        }
    }
}

#[test]
fn only_running_work_spins() {
    let spins = |waiting_for| {
        let session = model(State::Waiting, Some(waiting_for)).session;
        session.unwrap().works()
    };
    assert!(spins(WaitingFor::Retry));
    for waiting_for in [
        WaitingFor::Interaction(InteractionKind::Approval),
        WaitingFor::Interaction(InteractionKind::Questions),
        WaitingFor::Interaction(InteractionKind::Plan),
        WaitingFor::Credentials,
    ] {
        assert!(!spins(waiting_for), "{waiting_for:?}");
    }
    assert!(model(State::Running, None).session.unwrap().works());
    assert!(!model(State::Idle, None).session.unwrap().works());
}

#[test]
fn the_end_of_the_vendors_cache_is_counted_down_in_its_last_minutes() {
    let mut model = model(State::Idle, None);
    let used = model.clock;
    let at = |model: &mut Model, ms: i64| {
        model.clock = proto::Stamp(used.0 + ms);
        collapse_blanks(&row(model, 160))
    };
    let untold = at(&mut model, 290_000);
    assert!(!untold.contains("expire"), "{untold}");
    let session = model.session.as_mut().expect("a session");
    (session.cache_used, session.cache_ttl_ms) = (Some(used), Some(300_000));
    for (ms, words) in [
        (0, None),
        (179_000, None),
        (180_000, Some("cache expires in 2:00")),
        (299_500, Some("cache expires in 0:01")),
        (300_000, Some("cache expired")),
    ] {
        let row = at(&mut model, ms);
        let shown = row.contains("cache expire");
        assert!(
            words.map_or(!shown, |words| row.contains(words)),
            "{ms}: {row}"
        );
    }
    let session = model.session.as_mut().expect("a session");
    session.expired_cache_cost = Some("$0.1200".to_owned());
    let priced = at(&mut model, 300_000);
    assert!(
        priced.contains("cache expired, next prompt about $0.1200 ·"),
        "{priced}"
    );
    let session = model.session.as_ref().expect("a session");
    let changes = |ms: i64| session.cache_changes_in(proto::Stamp(used.0 + ms));
    assert_eq!(changes(0), Some(180_000));
    assert_eq!(changes(200_000), Some(1_000));
    assert_eq!(changes(299_700), Some(300));
    assert_eq!(changes(300_000), None);
}

#[test]
fn cost_after_cache_expiry_comes_with_the_snapshot_and_goes_with_what_changes_it() {
    use proto::params::forecast::Forecast;
    use proto::record::SessionSet;
    let mut summary = crate::model::list::fixtures::summary(7, "", 0);
    summary.cold = Some(Box::new(Forecast {
        cost_micros: Some(120_000),
        ..Forecast::default()
    }));
    let snapshot = proto::live::Snapshot {
        seq: proto::Seq(10),
        epoch: 1,
        session: summary,
        queue: Vec::new(),
        todos: Vec::new(),
        away: None,
    };
    let after = |body: Body| {
        let mut model = model(State::Idle, None);
        let session = model.session.as_mut().expect("a session");
        session.snapshot(&snapshot, proto::Stamp(0));
        assert_eq!(session.expired_cache_cost.as_deref(), Some("$0.1200"));
        crate::update::scene::take(&mut model, vec![crate::update::scene::record(11, &body)]);
        model.session.expect("a session").expired_cache_cost
    };
    let set = |options| {
        Body::SessionSet(SessionSet {
            options,
            ..SessionSet::default()
        })
    };
    let model_changes = proto::SessionOptions {
        model: Some("other/model".to_owned()),
        ..proto::SessionOptions::default()
    };
    assert_eq!(after(set(model_changes)), None);
    assert_eq!(
        after(Body::CacheReset(proto::reset::CacheReset::default())),
        None
    );
    let name_changes = proto::SessionOptions {
        name: Some("name".to_owned()),
        ..proto::SessionOptions::default()
    };
    assert_eq!(after(set(name_changes)).as_deref(), Some("$0.1200"));
}

#[test]
fn another_model_shows_with_its_window_and_for_a_stand_in_until_the_turn_ends() {
    use proto::record::SessionSet;
    let mut model = model(State::Idle, None);
    let mut seq = 0;
    let mut take = |model: &mut Model, body: Body| {
        seq += 1;
        let event = crate::update::scene::record(seq, &body);
        crate::update::scene::take(model, vec![event]);
        collapse_blanks(&row(model, 80))
    };
    let set = |name: &str, stand_in| {
        Body::SessionSet(SessionSet {
            options: proto::SessionOptions {
                model: Some(name.to_owned()),
                ..proto::SessionOptions::default()
            },
            stand_in,
            ..SessionSet::default()
        })
    };
    let row = take(&mut model, set("vendor/other", None));
    assert!(row.contains("other · context 26%"), "{row}");
    let wire = proto::reset::Wire {
        provider: "vendor".to_owned(),
        model: "other".to_owned(),
        context_window: 345_000,
        ..proto::reset::Wire::default()
    };
    let reset = Body::CacheReset(proto::reset::CacheReset {
        wire: Some(wire),
        ..proto::reset::CacheReset::default()
    });
    let row = take(&mut model, reset);
    assert!(row.contains("other · context 10%"), "{row}");
    let down = proto::Failure::new(proto::ErrorName::ProviderFailed, "down", "");
    let row = take(&mut model, set("vendor/spare", Some(down)));
    assert!(row.contains("spare"), "{row}");
    let ended = proto::outcome::TurnEnded {
        outcome: proto::outcome::OutcomeKind::Completed,
        reason: None,
        text: String::new(),
        error: None,
        usage: proto::outcome::UsageTotals::default(),
        tree_usage: None,
        steps: 1,
        tool_calls: 0,
        duration_ms: 10,
        denied: Vec::new(),
        hooks: false,
        supervised: false,
    };
    let row = take(&mut model, Body::TurnEnded(ended));
    assert!(row.contains("other"), "{row}");
}

/// A model whose session 12 has three sub-agents, while two other sessions wait.
fn with_agents() -> Model {
    use crate::model::list::fixtures::{NOW, agent, approval, summary};
    let mut model = model(State::Running, None);
    model.clock = NOW;
    let mut waits = agent(15, 12, "review", "");
    waits.state = State::Waiting;
    waits.pending_interactions = 1;
    waits.waiting_for = Some(WaitingFor::Interaction(InteractionKind::Approval));
    model.overview.sessions = vec![
        summary(12, "here", 1),
        agent(13, 12, "general", "bash cargo test --workspace"),
        agent(14, 13, "explore", ""),
        waits,
        summary(30, "elsewhere", 1),
    ];
    model.overview.open = vec![
        approval(1, 15, "a"),
        approval(2, 30, "b"),
        approval(3, 30, "c"),
    ];
    model
}

#[test]
fn each_sub_agent_at_work_has_a_row_and_a_small_screen_one_for_all() {
    let mut model = with_agents();
    let rows = |model: &Model, width| {
        let rows = above_of(model, width).into_iter();
        rows.filter(|row| {
            row.contains("general") || row.contains("explore") || row.contains("review")
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(
        rows(&model, 80),
        [
            "▶ general 13 · bash cargo test --workspace · 65s · 4 steps · $0.01",
            "└ ▶ explore 14 · thinking · 65s · 4 steps · $0.01",
            "? review 15 · waiting: approval · 65s · 4 steps · $0.01",
        ]
    );
    for row in rows(&model, 40) {
        assert!(wrap_width(&row) <= 40, "{row}");
    }
    assert!(rows(&model, 40)[0].starts_with("▶ general 13 · bash cargo"));
    model.overview.sessions[2].description = "Find the slow tests".to_owned();
    assert_eq!(
        rows(&model, 80)[1],
        "└ ▶ explore 14 Find the slow tests · thinking · 65s · 4 steps · $0.01"
    );
    for row in rows(&model, 40) {
        assert!(wrap_width(&row) <= 40, "{row}");
    }
    model.look.language = Language::Chinese;
    assert!(rows(&model, 80)[1].contains("思考中"));
    model.look.language = Language::English;
    model.look.rows = 12;
    let small = above_of(&model, 40).join("\n");
    assert!(small.contains("3 sub-agents at work: /agents"), "{small}");
    assert!(!small.contains("general"), "{small}");
}

#[test]
fn what_waits_elsewhere_has_one_row_and_questions_of_its_agents_are_not_elsewhere() {
    let mut model = with_agents();
    let all = |model: &Model| above_of(model, 80).join("\n");
    assert!(
        all(&model).contains("? 2 questions wait in other sessions: /inbox"),
        "{}",
        all(&model)
    );
    model.overview.open.pop();
    assert!(all(&model).contains("? 1 question waits in another session: /inbox"));
    model.look.language = Language::Chinese;
    assert!(all(&model).contains("另一会话中有 1 项等待处理：/inbox"));
    model.look.language = Language::English;
    model.overview.open.pop();
    assert!(!all(&model).contains("/inbox"));
    // Before the first prompt there is no session.
    model = with_agents();
    model.session = None;
    model.link = Link::None;
    assert!(all(&model).contains("3 questions wait in other sessions"));
}

#[test]
fn a_goal_shows_its_turn_checks_cost_and_why_it_continued() {
    use proto::budget::Spent;
    use proto::params::goal::{GoalChecked, GoalLine};
    use proto::record::ContinueReason;
    let mut model = model(State::Running, None);
    let mut line = GoalLine {
        text: "make the tests pass".to_owned(),
        turn: 2,
        max_turns: 5,
        why: Some(ContinueReason::Refused),
        detail: "the todo list has open items".to_owned(),
        checks: 1,
        checked: None,
        spent: Spent {
            cost_micros: 20_000,
            tokens: 3_000,
            ..Spent::default()
        },
    };
    let mut goal = crate::model::goal::Goal::from(&line);
    model.session.as_mut().unwrap().goal = Some(goal.clone());
    let shown = above_of(&model, 120).join("\n");
    assert!(
        shown.contains("◎ goal: make the tests pass · turn 2 of 5 · "),
        "{shown}"
    );
    assert!(
        shown.contains("not checked yet · $0.02 · the todo list has open items"),
        "{shown}"
    );
    assert!(row(&model, 120).contains("◎ 2/5"));
    line.checked = Some(GoalChecked {
        at: proto::Stamp(1),
        passed: false,
        missing: vec!["the check commands did not succeed".to_owned()],
    });
    goal.learn(&line);
    model.session.as_mut().unwrap().goal = Some(goal.clone());
    let shown = above_of(&model, 120).join("\n");
    assert!(
        shown.contains("not complete: the check commands did not succeed · $0.02"),
        "{shown}"
    );
    model.look.language = Language::Chinese;
    let shown = above_of(&model, 120).join("\n");
    assert!(
        shown.contains("未完成：检查命令没有成功 · $0.02"),
        "{shown}"
    );
    // What is said of another turn is not taken.
    line.turn = 3;
    line.checked = None;
    goal.learn(&line);
    assert!(goal.checked.is_some());
}

#[test]
fn effort_and_samples_are_in_the_status_line_while_they_are_set() {
    let mut model = model(State::Idle, None);
    let options = &mut model.session.as_mut().unwrap().options;
    options.effort = Some("high".to_owned());
    options.samples = Some(3);
    check(
        &mut model,
        200,
        "· idle ask · some-chat · effort high · 3 samples · context 26% · cache 82% · 1.2M tokens · $0.12 · 12 tidy up · ~/code/shop",
        "· 空闲 ask · some-chat · 推理强度 high · 3 个采样 · 上下文 26% · 缓存 82% · 1.2M 词元 · $0.12 · 12 tidy up · ~/code/shop",
    );
    model.session.as_mut().unwrap().options.samples = Some(1);
    assert!(!row(&model, 200).contains("samples"));
}
