use std::time::Duration;

use client::prompt::Prompt;
use proto::hello::Role;
use proto::params::history::{RewindOutput, RewindParams, What};
use proto::params::session::{ListOutput, Signal};
use proto::record::{FileState, RewoundFile, RewoundResult};
use proto::state::State;
use proto::{Body, Pid, Seq, Stamp};

use super::*;
use crate::effect::{Answer, ErrorReport};
use crate::keymap::{BINDINGS, key as named};
use crate::messages::Language;
use crate::model::list::Content;
use crate::model::list::fixtures::{self, ALL, answer, approval, id, listed, prompt_id, summary};
use crate::update::scene::{self, record};

fn model() -> Model {
    fixtures::model(80, 24, Language::English)
}

/// Presses keys by their names, one after the other; the effects of the last.
fn press(model: &mut Model, names: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for name in names.split(' ') {
        effects = key(model, &named(name).unwrap()).unwrap_or_default();
    }
    effects
}

/// A call fails.
fn fails(model: &mut Model, call: Call, what: &str, hint: &str) {
    let trouble = ErrorReport::new(what, hint);
    take(model, Answer::Failed { call, trouble });
}

fn sessions() -> Call {
    Call::Sessions(ListParams::default())
}

fn at(model: &Model) -> Option<Key> {
    current(model)
}

fn opened(what: ListOf) -> Model {
    let mut model = model();
    open(&mut model, what);
    let calls = vec![approval(1, 2, "rm -r target"), approval(2, 4, "ls")];
    if let Some(answer) = answer(what, calls) {
        take(&mut model, answer);
    }
    model
}

/// The place of the mark, and the last that there is.
fn place(model: &Model) -> (usize, usize) {
    let dialog = dialog(model).unwrap();
    let rows = rows(dialog, model);
    (dialog.position(&rows), rows.len() - 1)
}

/// A key, pressed in a list that was opened for it, and what must be so then.
fn does(action: Action, name: &str, what: ListOf) {
    let case = format!("`{name}` in {what:?}");
    let mut model = opened(what);
    let from = match action {
        Action::Previous | Action::First | Action::PageUp | Action::MoveUp => "end",
        Action::Next | Action::Last | Action::PageDown | Action::MoveDown => "home",
        _ => name,
    };
    if from != name {
        press(&mut model, from);
    }
    let (before, last) = place(&model);
    assert!(last > 0, "{case}: too short to scroll");
    let effects = press(&mut model, name);
    let done = match action {
        Action::Previous => place(&model).0 == last.saturating_sub(1),
        Action::Next => place(&model).0 == before + 1,
        Action::First => place(&model).0 == 0,
        Action::Last => place(&model).0 == last,
        Action::PageUp => place(&model).0 < last,
        Action::PageDown => place(&model).0 > 0,
        Action::Filter => dialog(&model).unwrap().filter.open,
        Action::Close => model.dialog.is_none(),
        Action::Accept => match what {
            ListOf::Queue => matches!(called(&effects), Call::Unqueue { edit: Some(_), .. }),
            ListOf::Turns => matches!(called(&effects), Call::Rewind(params) if params.dry_run),
            ListOf::Skills => model.dialog.is_none() && model.composer.text() == "/deploy ",
            _ => matches!(effects[..], [Effect::Follow { follow: 1, .. }]),
        },
        Action::Pause => {
            matches!(called(&effects), Call::Signal(params) if params.signal == Signal::Pause)
        }
        Action::Kill => matches!(model.dialog, Some(Dialog::Confirm(_))),
        Action::Approve => matches!(effects[..], [Effect::Follow { follow: 1, .. }]),
        Action::Edit => matches!(called(&effects), Call::Unqueue { edit: Some(_), .. }),
        Action::Drop => matches!(called(&effects), Call::Unqueue { edit: None, .. }),
        Action::MoveUp => {
            let to = u64::try_from(last).unwrap() - 1;
            matches!(called(&effects), Call::Reorder(params) if params.position == to)
        }
        Action::MoveDown => {
            matches!(called(&effects), Call::Reorder(params) if params.position == 1)
        }
        Action::SteerNow => {
            matches!(called(&effects), Call::EditQueued(params) if params.steer == Some(true))
        }
        other => panic!("{other:?} has a key in lists, and no script"),
    };
    assert!(done, "{case}: {effects:?}");
}

#[test]
fn every_key_of_the_table_does_what_it_says_in_its_list() {
    for row in BINDINGS {
        let lists: &[ListOf] = match row.context {
            Context::List => &ALL,
            Context::Processes => &[ListOf::Processes],
            Context::Queue => &[ListOf::Queue],
            _ => continue,
        };
        // Typing in the list of models filters it.
        for what in lists.iter().filter(|what| **what != ListOf::Models) {
            for name in row.keys {
                does(row.action, name, *what);
            }
        }
    }
}

#[test]
fn a_key_that_is_no_key_of_lists_is_left_to_others() {
    let mut model = opened(ListOf::Inbox);
    assert_eq!(key(&mut model, &named("ctrl-c").unwrap()), None);
    press(&mut model, "/");
    assert_eq!(key(&mut model, &named("ctrl-c").unwrap()), None);
}

#[test]
fn waiting_sessions_come_first_and_the_mark_is_on_another_session() {
    let mut model = opened(ListOf::Sessions { here: false });
    let dialog = dialog(&model).unwrap();
    let keys: Vec<Key> = rows(dialog, &model)
        .into_iter()
        .map(|row| row.key)
        .collect();
    let expected: Vec<Key> = std::iter::once(Key::New)
        .chain([2, 4, 5, 3, 1].map(|pid| Key::Session(id(pid))))
        .collect();
    assert_eq!(keys, expected);
    assert_eq!(at(&model), Some(Key::Session(id(2))));
    press(&mut model, "j k up down j j");
    assert_eq!(at(&model), Some(Key::Session(id(5))));
    press(&mut model, "home k");
    assert_eq!(at(&model), Some(Key::New));
    press(&mut model, "end j pageup pagedown");
    assert_eq!(at(&model), Some(Key::Session(id(1))));
}

#[test]
fn the_mark_stays_on_its_row_when_the_list_changes() {
    let mut model = opened(ListOf::Sessions { here: false });
    press(&mut model, "end k");
    assert_eq!(at(&model), Some(Key::Session(id(3))));
    let mut changed = listed();
    changed.sessions.push(summary(9, "new", 0));
    for session in &mut changed.sessions {
        session.state = State::Idle;
        session.pending_interactions = 0;
    }
    take(&mut model, Answer::Sessions(changed));
    assert_eq!(at(&model), Some(Key::Session(id(3))));
    // When it goes, the row in its place is marked.
    let mut fewer = listed();
    fewer.sessions.retain(|session| session.pid != Pid(3));
    take(&mut model, Answer::Sessions(fewer));
    assert_eq!(at(&model), Some(Key::Session(id(1))));
    let none = ListOutput {
        sessions: Vec::new(),
        next: None,
    };
    take(&mut model, Answer::Sessions(none));
    assert_eq!(at(&model), Some(Key::New));
}

#[test]
fn enter_is_ignored_until_a_row_moved_under_the_mark_was_visible() {
    let mut model = opened(ListOf::Sessions { here: false });
    press(&mut model, "end k");
    assert_eq!(at(&model), Some(Key::Session(id(3))));
    let mut half = listed();
    half.sessions.retain(|session| session.pid != Pid(3));
    model.now += Duration::from_secs(2);
    take(&mut model, Answer::Sessions(half.clone()));
    // Enter was pressed for the old row.
    assert_eq!(press(&mut model, "enter"), []);
    assert!(model.dialog.is_some());
    fails(&mut model, sessions(), "it has gone", "");
    take(&mut model, Answer::Sessions(listed()));
    let effects = press(&mut model, "enter");
    let session = id(3).to_string();
    assert_eq!(effects, [Effect::Follow { follow: 1, session }]);

    // The row in its place is accepted once it has been seen, wherever it moves.
    let mut model = opened(ListOf::Sessions { here: false });
    press(&mut model, "end k");
    take(&mut model, Answer::Sessions(half.clone()));
    assert_eq!(at(&model), Some(Key::Session(id(1))));
    half.sessions.push(summary(9, "new", 0));
    half.sessions.push(summary(8, "new", 0));
    take(&mut model, Answer::Sessions(half));
    model.now += SLID;
    let effects = press(&mut model, "enter");
    let session = id(1).to_string();
    assert_eq!(effects, [Effect::Follow { follow: 1, session }]);
}

#[test]
fn a_number_finds_the_session_of_that_number_first() {
    let mut model = model();
    open(&mut model, ListOf::Sessions { here: false });
    let mut sessions = vec![
        summary(21, "talk of 2", 1),
        summary(12, "two", 2),
        summary(2, "old", 500),
        summary(30, "2 things", 3),
    ];
    sessions.iter_mut().for_each(|session| session.turns = 4);
    let list = ListOutput {
        sessions,
        next: None,
    };
    take(&mut model, Answer::Sessions(list));
    press(&mut model, "/ 2");
    let shown = rows(dialog(&model).unwrap(), &model);
    let keys: Vec<Key> = shown.into_iter().map(|row| row.key).collect();
    let expected = [2, 21].map(|pid| Key::Session(id(pid)));
    assert_eq!(keys[..2], expected);
    assert_eq!(keys.len(), 4);
    assert_eq!(at(&model), Some(Key::Session(id(2))));
    press(&mut model, "1");
    assert_eq!(at(&model), Some(Key::Session(id(21))));
    press(&mut model, "backspace");
    assert_eq!(at(&model), Some(Key::Session(id(2))));
}

#[test]
fn a_deleted_session_is_reported_by_its_number() {
    let mut model = opened(ListOf::Sessions { here: false });
    press(&mut model, "enter");
    let ended = crate::event::SessionUpdate::Ended(ErrorReport::new(
        format!("Session {} no longer exists.", id(2)),
        "List sessions with `reasonix ls`.",
    ));
    crate::update::daemon::session_update(&mut model, 1, ended);
    let Link::Ended(trouble) = &model.link else {
        panic!("{:?}", model.link)
    };
    assert_eq!(trouble.what, "Session 2 no longer exists.");
    let entries = model.transcript.entries.iter();
    let mut texts: String = entries.map(|entry| format!("{:?}", entry.kind)).collect();
    // A refused send shows a notice that does not repeat the reason.
    model.composer.set("again");
    let sent = crate::update::submit::send(&mut model, proto::params::session::When::Queue);
    assert_eq!(
        (sent, model.composer.text().as_str()),
        (Vec::new(), "again")
    );
    texts.push_str(&model.toast.as_ref().unwrap().words);
    let above = crate::view::status::above(&model, 80).rows;
    texts.extend(above.iter().map(ToString::to_string));
    assert!(!texts.contains(&id(2).to_string()), "{texts}");
    assert_eq!(texts.matches("no longer exists").count(), 1, "{texts}");
}

#[test]
fn enter_goes_to_another_session_and_closes_on_this_one() {
    let mut model = opened(ListOf::Sessions { here: false });
    let effects = press(&mut model, "enter");
    let session = id(2).to_string();
    assert_eq!(effects, [Effect::Follow { follow: 1, session }]);
    assert!(model.dialog.is_none() && model.session.is_none());
    assert_eq!(model.link, crate::model::Link::Replaying);
    assert_eq!(model.transcript.generation, 1);
    assert_eq!(model.seen.get(&id(4)), Some(&Seq(9)));

    let mut model = opened(ListOf::Sessions { here: false });
    assert_eq!(press(&mut model, "j enter"), []);
    assert!(model.dialog.is_none() && model.session.is_some());
}

#[test]
fn enter_on_the_first_row_begins_a_new_session() {
    let mut model = opened(ListOf::Sessions { here: true });
    assert_eq!(press(&mut model, "g enter"), [Effect::Unfollow]);
    assert!(model.session.is_none() && model.dialog.is_none());
    assert_eq!((model.follow, &model.link), (1, &crate::model::Link::None));
}

#[test]
fn enter_keeps_a_list_filter_and_esc_clears_then_closes_it() {
    let mut model = opened(ListOf::Sessions { here: false });
    press(&mut model, "/ p a r s e r");
    assert_eq!(at(&model), Some(Key::Session(id(3))));
    press(&mut model, "enter");
    let filter = &dialog(&model).unwrap().filter;
    assert!(!filter.open && filter.input.text() == "parser");
    press(&mut model, "esc");
    assert_eq!(dialog(&model).unwrap().filter.input.text(), "");
    press(&mut model, "/ q j esc");
    assert!(dialog(&model).is_some_and(|dialog| dialog.filter.open));
    press(&mut model, "esc");
    assert!(dialog(&model).is_some_and(|dialog| !dialog.filter.open));
    press(&mut model, "q");
    assert!(model.dialog.is_none());
}

#[test]
fn a_filter_is_edited_by_characters_and_words_and_takes_pastes() {
    let mut model = opened(ListOf::Sessions { here: false });
    assert_eq!(paste(&mut model, "lost"), []);
    press(&mut model, "/");
    paste(&mut model, "one two\n解析👩‍👩‍👧\u{1b}[2J");
    let text = |model: &Model| dialog(model).unwrap().filter.input.text().to_owned();
    assert_eq!(text(&model), "one two 解析👩‍👩‍👧");
    press(&mut model, "backspace");
    assert_eq!(text(&model), "one two 解析");
    press(&mut model, "ctrl-w");
    assert_eq!(text(&model), "one two ");
    press(&mut model, "ctrl-u");
    assert_eq!(text(&model), "");
}

#[test]
fn changing_lists_are_requested_again_each_minute_but_turns_are_not() {
    // The overview says earlier that something has changed.
    let ms = 60_000;
    for what in [
        ListOf::Sessions { here: false },
        ListOf::Inbox,
        ListOf::Agents,
        ListOf::Processes,
    ] {
        let mut model = opened(what);
        dialog_mut(&mut model).unwrap().selected = None;
        model.now += Duration::from_millis(ms - 1);
        assert_eq!(tick(&mut model), [], "{what:?}");
        model.now += Duration::from_millis(1);
        assert_eq!(tick(&mut model).len(), 1, "{what:?}");
        // One call at a time, but one that is lost does not end it.
        model.now += Duration::from_secs(3);
        assert_eq!(tick(&mut model), [], "{what:?}");
        model.now += Duration::from_secs(2);
        assert_eq!(tick(&mut model).len(), 1, "{what:?}");
    }
    let mut model = opened(ListOf::Turns);
    model.now += Duration::from_secs(60);
    assert_eq!(tick(&mut model), []);
}

#[test]
fn last_messages_are_read_once_when_the_mark_rests() {
    let mut model = opened(ListOf::Sessions { here: false });
    assert_eq!(tick(&mut model), []);
    model.now += REST;
    let session = id(2).to_string();
    let asked = Effect::Call(Call::Preview {
        session: session.clone(),
    });
    assert_eq!(tick(&mut model), [asked]);
    assert_eq!(tick(&mut model), []);
    fails(&mut model, Call::Preview { session }, "no", "");
    model.now += REST;
    assert_eq!(tick(&mut model), []);
    assert!(model.toast.is_none());
}

#[test]
fn answers_for_a_list_that_is_gone_are_dropped() {
    let mut model = opened(ListOf::Inbox);
    take(&mut model, Answer::Sessions(listed()));
    let (session, undo) = (String::new(), false);
    fails(&mut model, Call::Checkpoints { session, undo }, "gone", "");
    assert!(matches!(dialog(&model).unwrap().content, Content::Inbox(_)));
    assert!(model.toast.is_none());
    model.dialog = None;
    fails(&mut model, sessions(), "gone", "");
    assert!(model.dialog.is_none() && model.toast.is_none());
}

#[test]
fn a_failure_is_reported_and_the_old_rows_stay() {
    let mut model = opened(ListOf::Processes);
    let call = Call::Processes(process::ListParams::default());
    fails(&mut model, call, "no daemon", "start it");
    assert_eq!(model.toast.as_ref().unwrap().words, "no daemon · start it");
    assert!(at(&model).is_some());
}

fn called(effects: &[Effect]) -> &Call {
    match effects {
        [Effect::Call(call)] => call,
        other => panic!("{other:?}"),
    }
}

#[test]
fn enter_twice_on_a_turn_rewinds_before_it_and_restores_its_prompt() {
    let mut model = opened(ListOf::Turns);
    assert_eq!(at(&model), Some(Key::Turn(4)));
    let effects = press(&mut model, "j enter");
    let dry = RewindParams {
        session: id(4).to_string(),
        to_turn: Some(1),
        dry_run: true,
        ..RewindParams::default()
    };
    assert_eq!(called(&effects), &Call::Rewind(dry));
    let effects = press(&mut model, "enter");
    let Call::Rewind(done) = called(&effects) else {
        panic!("{effects:?}")
    };
    assert_eq!(
        (done.to_turn, done.what, done.force),
        (Some(1), What::Both, false)
    );
    assert!(!done.dry_run && done.request_id.is_some());
    assert_eq!(model.composer.text(), "写一些测试");
    assert!(model.dialog.is_none());
}

#[test]
fn untyped_parts_of_a_rewound_prompt_stay_untyped() {
    use crate::model::transcript::tests::scene::event;
    let mut model = opened(ListOf::Turns);
    let mut prompt = Prompt::typed("Read:\n");
    prompt.push_untyped("@secret", proto::TextOrigin::Quoted);
    let queued = serde_json::json!({"prompt_id": prompt_id(1), "text": prompt.text, "untyped": prompt.untyped, "by": "ann"});
    let message =
        serde_json::json!({"item": "m1.0", "prompt_id": prompt_id(1), "text": prompt.text});
    for (seq, kind, data) in [(1, "prompt.queued", queued), (2, "message.user", message)] {
        model.transcript.fold(&event(Some(seq), kind, &data));
    }
    press(&mut model, "G enter enter");
    assert_eq!(model.composer.prompt(), prompt);
}

#[test]
fn files_alone_leave_the_composer_and_a_draft_is_never_lost() {
    let mut model = opened(ListOf::Turns);
    let effects = press(&mut model, "G enter j j enter");
    let Call::Rewind(done) = called(&effects) else {
        panic!("{effects:?}")
    };
    assert_eq!((done.to_turn, done.what), (Some(0), What::Code));
    assert!(model.composer.is_empty());

    let mut model = opened(ListOf::Turns);
    model.composer.set("a draft");
    press(&mut model, "enter enter");
    assert_eq!(model.composer.text(), "a draft");

    let mut model = opened(ListOf::Turns);
    let effects = press(&mut model, "enter");
    let Call::Rewind(params) = called(&effects).clone() else {
        panic!("{effects:?}")
    };
    fails(&mut model, Call::Rewind(params), "A turn is running.", "");
    press(&mut model, "enter");
    assert!(model.composer.is_empty());
}

#[test]
fn files_changed_by_others_are_taken_only_when_that_is_chosen() {
    let mut model = opened(ListOf::Turns);
    let effects = press(&mut model, "enter");
    let Call::Rewind(params) = called(&effects).clone() else {
        panic!("{effects:?}")
    };
    let file = RewoundFile {
        path: "/a/one.rs".to_owned(),
        result: RewoundResult::ChangedSince,
        before: FileState::Absent,
        after: FileState::Absent,
    };
    let output = RewindOutput {
        seq: None,
        turn: 2,
        turns: 1,
        files: vec![file],
        notes: Vec::new(),
    };
    let other = RewindParams {
        to_turn: Some(0),
        ..params.clone()
    };
    fails(&mut model, Call::Rewind(other), "another turn", "");
    assert!(
        dialog(&model)
            .unwrap()
            .restore
            .as_ref()
            .unwrap()
            .effect
            .is_none()
    );
    take(&mut model, Answer::Rewound { params, output });
    press(&mut model, "j j j");
    assert_eq!(at(&model), Some(Key::Choice(Choice::Force)));
    let effects = press(&mut model, "enter");
    let Call::Rewind(done) = called(&effects) else {
        panic!("{effects:?}")
    };
    assert!(done.force && done.what == What::Both);
}

#[test]
fn escape_goes_back_to_the_turns_and_then_closes() {
    let mut model = opened(ListOf::Turns);
    press(&mut model, "j enter esc");
    assert_eq!(at(&model), Some(Key::Turn(2)));
    assert_eq!(press(&mut model, "enter end enter"), []);
    assert_eq!(at(&model), Some(Key::Turn(2)));
    press(&mut model, "esc");
    assert!(model.dialog.is_none());
}

#[test]
fn the_newest_rewind_is_taken_back() {
    let mut model = opened(ListOf::Turns);
    press(&mut model, "home enter");
    let effects = press(&mut model, "enter");
    let Call::Rewind(done) = called(&effects) else {
        panic!("{effects:?}")
    };
    assert!(done.undo && done.to_turn.is_none() && !done.dry_run);
}

#[test]
fn lists_of_a_session_need_one() {
    for what in [ListOf::Turns, ListOf::Queue] {
        let mut model = model();
        model.session = None;
        assert_eq!(open(&mut model, what), []);
        assert!(model.dialog.is_none() && model.toast.is_some());
    }
}

#[test]
fn prompts_that_wait_are_moved_dropped_steered_and_edited() {
    let mut model = opened(ListOf::Queue);
    assert_eq!(press(&mut model, "K"), []);
    let effects = press(&mut model, "J");
    let Call::Reorder(params) = called(&effects) else {
        panic!("{effects:?}")
    };
    assert_eq!((params.prompt_id, params.position), (prompt_id(1), 1));
    let effects = press(&mut model, "s");
    let Call::EditQueued(params) = called(&effects) else {
        panic!("{effects:?}")
    };
    assert_eq!(params.steer, Some(true));
    assert_eq!(params.text, "first\nwith a second line");
    let effects = press(&mut model, "j d");
    let Call::Unqueue { params, edit, .. } = called(&effects) else {
        panic!("{effects:?}")
    };
    assert_eq!((params.prompt_id, edit), (prompt_id(2), &None));
    assert_eq!(press(&mut model, "end shift-down"), []);
    let effects = press(&mut model, "home e");
    let Call::Unqueue { params, edit, .. } = called(&effects) else {
        panic!("{effects:?}")
    };
    assert_eq!(params.prompt_id, prompt_id(1));
    // It is written again once it is taken back: it may have started meanwhile.
    assert_eq!(edit, &Some(Prompt::typed("first\nwith a second line")));
    assert_eq!(model.composer.text(), "");
    assert!(model.dialog.is_none());
}

/// The lines that records about queued prompts add after these keys.
fn lines_after(keys: &str, moved: Option<u64>) -> usize {
    let mut model = opened(ListOf::Queue);
    press(&mut model, keys);
    if let Some(moved) = moved {
        super::queue::put_before(&mut model, prompt_id(moved), &[prompt_id(2)]);
    }
    let removed = Body::PromptUnqueued(proto::record::PromptUnqueued {
        prompt_id: prompt_id(1),
    });
    let moved = Body::PromptMoved(proto::record::PromptMoved {
        prompt_id: prompt_id(9),
        position: 0,
        by: "ann".to_owned(),
        request_id: None,
    });
    let records = vec![record(30, &removed), record(31, &moved)];
    scene::take(&mut model, records);
    model.transcript.entries.len()
}

#[test]
fn editing_a_queued_prompt_adds_no_lines_about_its_removal_and_move() {
    assert_eq!(lines_after("home d", None), 2);
    assert_eq!(lines_after("home e", None), 1);
    assert_eq!(lines_after("home e", Some(9)), 0);
}

#[test]
fn removal_of_a_prompt_is_shown_if_this_client_failed_to_take_it_out() {
    let mut model = opened(ListOf::Queue);
    let effects = press(&mut model, "home e");
    let call = called(&effects).clone();
    let trouble = ErrorReport::new("It has started.", "");
    let follow = model.follow;
    crate::update::answers::take(&mut model, follow, Answer::Failed { call, trouble });
    let before = model.transcript.entries.len();
    let removed = Body::PromptUnqueued(proto::record::PromptUnqueued {
        prompt_id: prompt_id(1),
    });
    scene::take(&mut model, vec![record(30, &removed)]);
    assert_eq!(model.transcript.entries.len(), before + 1);
}

#[test]
fn a_prompt_that_was_taken_out_to_be_edited_keeps_its_place() {
    use crate::model::Link;
    use crate::update::answers;
    use proto::params::session::When;

    let id = prompt_id;
    // The prompt is taken out of the queue, written anew and sent; others wait then.
    let sent_again = |taken: &str, others: &[u64]| {
        let mut model = opened(ListOf::Queue);
        model.link = Link::Live;
        let effects = press(&mut model, taken);
        let follow = model.follow;
        let unqueue = called(&effects).clone();
        answers::take(&mut model, follow, Answer::Done(unqueue));
        model.composer.buffer.insert(" and more");
        let effects = crate::update::submit::send(&mut model, When::Queue);
        let Call::Prompt { following, .. } = called(&effects).clone() else {
            panic!("{effects:?}")
        };
        let all = fixtures::queued();
        let mut waiting: Vec<_> = all
            .iter()
            .filter(|queued| others.iter().any(|other| id(*other) == queued.prompt_id))
            .cloned()
            .collect();
        waiting.push(proto::params::session::QueuedPrompt {
            prompt_id: id(9),
            ..all[0].clone()
        });
        let session = model.session.as_mut().unwrap();
        session.queue = client::queue::Queue::new(Seq(20), waiting);
        if following.is_empty() {
            return None;
        }
        let answer = Answer::QueuedAgain {
            prompt: id(9),
            following,
        };
        let effects = answers::take(&mut model, follow, answer);
        match effects.as_slice() {
            [] => None,
            [Effect::Call(Call::Reorder(params))] => {
                assert_eq!(params.prompt_id, id(9));
                Some(params.position)
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(sent_again("e", &[2, 3]), Some(0));
    assert_eq!(sent_again("j e", &[1, 3]), Some(1));
    assert_eq!(sent_again("j e", &[3]), Some(0), "the first has started");
    assert_eq!(sent_again("e", &[3]), Some(0), "the second has started");
    assert_eq!(
        sent_again("j e", &[1]),
        None,
        "those behind it have started"
    );
    assert_eq!(sent_again("end e", &[1, 2]), None, "it was the last");
}

#[test]
fn editing_a_prompt_that_waits_never_costs_a_draft() {
    let mut model = opened(ListOf::Queue);
    model.composer.set("a draft");
    assert_eq!(press(&mut model, "enter"), []);
    assert_eq!(model.composer.text(), "a draft");
    assert!(model.toast.is_some() && model.dialog.is_some());
}

#[test]
fn running_sessions_are_paused_resumed_and_ended_after_a_yes() {
    let mut model = opened(ListOf::Processes);
    let signal = |effects: &[Effect]| match called(effects) {
        Call::Signal(params) => (params.session.clone(), params.signal),
        other => panic!("{other:?}"),
    };
    let effects = press(&mut model, "p");
    assert_eq!(signal(&effects), (id(2).to_string(), Signal::Pause));
    let effects = press(&mut model, "end p");
    assert_eq!(signal(&effects), (id(5).to_string(), Signal::Resume));
    assert_eq!(press(&mut model, "x"), []);
    let Some(Dialog::Confirm(confirm)) = &model.dialog else {
        panic!("{:?}", model.dialog)
    };
    let crate::model::confirm::ConfirmedAction::Do(yes) = &confirm.then else {
        panic!("{:?}", confirm.then)
    };
    assert_eq!(signal(yes), (id(5).to_string(), Signal::Term));
}

#[test]
fn a_command_in_the_background_is_ended_and_one_of_a_turn_is_not() {
    let mut model = opened(ListOf::Processes);
    assert_eq!(press(&mut model, "j j j x"), []);
    assert!(model.toast.take().unwrap().words.contains("session 4"));
    assert_eq!(press(&mut model, "p"), []);
    let effects = press(&mut model, "j x");
    assert_eq!(called(&effects), &Call::KillProcess(Pid(7)));
    assert_eq!(press(&mut model, "enter"), []);
    assert!(model.dialog.is_none());
}

#[test]
fn opening_a_question_in_a_list_attaches_to_its_session() {
    let mut model = opened(ListOf::Processes);
    let effects = press(&mut model, "a");
    let session = "2".to_owned();
    assert_eq!(effects, [Effect::Follow { follow: 1, session }]);
    let mut model = opened(ListOf::Processes);
    assert_eq!(press(&mut model, "end a"), []);
    assert!(model.dialog.is_some() && model.toast.is_some());

    // Oldest first: the question came before the approvals.
    let mut model = opened(ListOf::Inbox);
    let effects = press(&mut model, "enter");
    let session = "5".to_owned();
    assert_eq!(effects, [Effect::Follow { follow: 1, session }]);
    let mut model = opened(ListOf::Inbox);
    assert_eq!(press(&mut model, "end enter"), []);
    assert!(model.dialog.is_none() && model.session.is_some());
}

#[test]
fn client_without_prompt_rights_cannot_change_queue_processes_or_turns() {
    for (what, names) in [
        (ListOf::Queue, "e"),
        (ListOf::Queue, "enter"),
        (ListOf::Queue, "J"),
        (ListOf::Processes, "p"),
        (ListOf::Processes, "x"),
        (ListOf::Turns, "enter enter"),
    ] {
        let mut model = opened(what);
        model.place.role = Role::Approve;
        assert_eq!(press(&mut model, names), [], "{names} in {what:?}");
        assert!(model.toast.is_some() && model.composer.is_empty());
        assert!(matches!(model.dialog, Some(Dialog::List(_))));
    }
}

#[test]
fn a_session_whose_subscription_ended_is_followed_again() {
    for (what, names) in [
        (ListOf::Sessions { here: false }, "j enter"),
        (ListOf::Inbox, "end enter"),
    ] {
        let mut model = opened(what);
        model.link = Link::Ended(ErrorReport::new("it has gone", ""));
        let effects = press(&mut model, names);
        assert!(
            matches!(effects[..], [Effect::Follow { follow: 1, .. }]),
            "{what:?}: {effects:?}"
        );
    }
}

#[test]
fn list_reopens_after_its_confirmation_is_answered() {
    for answer in ["y", "n", "esc"] {
        let mut model = opened(ListOf::Processes);
        model.session = None;
        model.link = Link::None;
        model.top = true;
        press(&mut model, "end x");
        model.now += Duration::from_secs(1);
        let effects = crate::update::scene::press(&mut model, &[answer]);
        let ends = matches!(effects[..], [Effect::Call(Call::Signal(_)), ..]);
        assert_eq!(ends, answer == "y", "{effects:?}");
        assert_eq!(at(&model), Some(Key::Session(id(5))), "`{answer}`");
        assert!(dialog(&model).unwrap().due <= model.now, "requested again");
        let effects = crate::update::scene::press(&mut model, &["q"]);
        assert!(matches!(effects[..], [Effect::Leave(_)]), "{effects:?}");
    }
}

#[test]
fn a_key_that_is_held_down_ends_one_thing() {
    let mut model = opened(ListOf::Processes);
    press(&mut model, "j j j j");
    let mut ended = Vec::new();
    // As a terminal repeats it: once after half a second, then fast.
    for ms in [0, 500, 30, 30, 30, 400, 30] {
        model.now += Duration::from_millis(ms);
        ended.extend(press(&mut model, "x"));
    }
    assert_eq!(ended, [Effect::Call(Call::KillProcess(Pid(7)))]);
    model.now += Duration::from_millis(700);
    assert_eq!(press(&mut model, "x").len(), 1);
    // Another key in between: it was let go.
    assert_eq!(press(&mut model, "k j x").len(), 1);
    let mut model = opened(ListOf::Queue);
    let before = press(&mut model, "d");
    assert_eq!((before.len(), press(&mut model, "d").len()), (1, 0));
}

fn names(model: &Model) -> Vec<String> {
    let rows = rows(dialog(model).unwrap(), model);
    rows.into_iter()
        .map(|row| row.cells[0].text.clone())
        .collect()
}

/// The list of models of a session that asks `near/coder`.
fn models() -> Model {
    let mut model = model();
    model.session.as_mut().unwrap().options.model = Some("near/coder".to_owned());
    open(&mut model, ListOf::Models);
    take(&mut model, answer(ListOf::Models, Vec::new()).unwrap());
    model
}

#[test]
fn a_model_is_found_by_its_letters_and_chosen() {
    let mut model = models();
    let all = names(&model);
    assert_eq!(all[..2], ["near/chat", "near/coder"]);
    assert!(!all.contains(&"builtin/unseen".to_owned()), "it has no key");
    assert_eq!(at(&model), Some(Key::Model("near/coder".to_owned())));
    assert_eq!(press(&mut model, "enter"), [], "it is the present one");
    assert!(model.dialog.is_none());
    let mut model = models();
    press(&mut model, "k j g l l m");
    assert!(names(&model).is_empty(), "letters are written");
    press(&mut model, "ctrl-u l l m");
    assert_eq!(names(&model), ["local/llama"]);
    let effects = press(&mut model, "enter");
    assert!(
        matches!(called(&effects), Call::Set(set) if set.options.model.as_deref() == Some("local/llama"))
    );
    assert!(model.dialog.is_none());
    let mut model = models();
    press(&mut model, "l l m esc");
    assert!(model.dialog.is_none(), "Esc leaves");
    let mut model = models();
    let effects = press(&mut model, "up enter");
    assert!(
        matches!(called(&effects), Call::Set(set) if set.options.model.as_deref() == Some("near/chat"))
    );
}

#[test]
fn a_model_says_what_it_costs_and_whether_its_key_is_there() {
    let model = models();
    let rows = rows(dialog(&model).unwrap(), &model);
    let row = |name: &str| {
        let row = rows.iter().find(|row| row.cells[0].text == name).unwrap();
        let texts: Vec<&str> = row.cells.iter().map(|cell| cell.text.as_str()).collect();
        format!("{}{}", row.mark.0, texts.join(","))
    };
    assert_eq!(row("near/chat"), " near/chat,$0.27/1.1,128k,key");
    assert_eq!(row("near/coder"), "●near/coder,,,key");
    assert_eq!(row("far/large"), " far/large,$0.27/1.1,128k,key");
    assert_eq!(row("none/locked"), " none/locked,$0.27/1.1,128k,no key");
    assert_eq!(row("local/llama"), " local/llama,$0.27/1.1,128k,");
}

#[test]
fn model_chosen_without_a_session_applies_to_the_next_session() {
    let mut model = model();
    model.session = None;
    open(&mut model, ListOf::Models);
    take(&mut model, answer(ListOf::Models, Vec::new()).unwrap());
    press(&mut model, "l l m");
    assert_eq!(press(&mut model, "enter"), []);
    assert_eq!(model.place.model, "local/llama");
    let template = &model.place.template.options;
    assert_eq!(template.model.as_deref(), Some("local/llama"));
}

#[test]
fn a_skill_begins_the_prompt_and_what_cannot_be_used_says_why() {
    let mut model = opened(ListOf::Skills);
    model.composer.set("to production");
    press(&mut model, "down");
    press(&mut model, "enter");
    let words = &model.toast.as_ref().unwrap().words;
    assert!(
        words.contains("hidden by `/code/deploy/project/SKILL.md`"),
        "{words}"
    );
    press(&mut model, "down");
    press(&mut model, "enter");
    let words = &model.toast.as_ref().unwrap().words;
    assert!(words.contains("`/review` runs the command"), "{words}");
    press(&mut model, "end");
    press(&mut model, "enter");
    let words = &model.toast.as_ref().unwrap().words;
    assert!(words.contains("SKILL.md:2"), "{words}");
    press(&mut model, "home");
    assert!(press(&mut model, "enter").is_empty());
    assert!(model.dialog.is_none());
    assert_eq!(model.composer.text(), "/deploy to production");
}

#[test]
fn a_search_keeps_its_order_and_opens_the_session_of_a_hit() {
    let mut model = model();
    let effects = search(&mut model, "parser line");
    assert!(matches!(
        effects.as_slice(),
        [Effect::Call(Call::Search(params))] if params.query == "parser line" && params.limit == 100
    ));
    take(&mut model, Answer::Hits(fixtures::hits()));
    assert_eq!(at(&model), Some(Key::Hit(id(3), Seq(7))));
    press(&mut model, "end");
    let effects = press(&mut model, "enter");
    let opens = effects.iter().any(
        |effect| matches!(effect, Effect::Follow { session, .. } if *session == id(1).to_string()),
    );
    assert!(opens, "{effects:?}");
}

#[test]
fn lists_of_sessions_show_the_overview_as_soon_as_it_comes() {
    let overview = |sessions: Vec<SessionSummary>| crate::model::overview::Overview {
        sessions,
        change: 9,
        ..Default::default()
    };
    let mut model = opened(ListOf::Processes);
    let mut one = crate::model::list::fixtures::summary(4, "one", 1);
    one.activity = "bash make".to_owned();
    model.overview = overview(vec![one]);
    assert_eq!(super::overview(&mut model), []);
    let shown = rows(dialog(&model).unwrap(), &model);
    assert_eq!(shown.len(), 1);
    assert!(shown[0].cells.iter().any(|cell| cell.text == "bash make"));

    let mut model = opened(ListOf::Agents);
    let pid = model.session.as_ref().unwrap().pid.0;
    let agent = crate::model::list::fixtures::agent;
    let all = vec![
        agent(12, pid, "general", "bash make"),
        agent(20, pid, "plan", ""),
    ];
    model.overview = overview(all);
    let effects = super::overview(&mut model);
    // Two of the known ones work no longer: how they ended is asked for.
    assert!(
        matches!(called(&effects), Call::Processes(list) if list.all),
        "{effects:?}"
    );
    let shown = rows(dialog(&model).unwrap(), &model);
    let names: Vec<_> = shown.iter().map(|row| row.cells[1].text.as_str()).collect();
    assert_eq!((names[0], names.last()), ("general", Some(&"plan")));
    let mut model = opened(ListOf::Turns);
    model.overview = overview(Vec::new());
    assert_eq!(super::overview(&mut model), []);
}

#[test]
fn list_at_rest_is_not_woken_before_its_ages_grow() {
    let mut model = opened(ListOf::Processes);
    let mut old = crate::model::list::fixtures::summary(4, "one", 1);
    old.active_at = Stamp(model.clock.0 - 3_600_000);
    old.state = State::Idle;
    model.overview.sessions = vec![old.clone()];
    super::overview(&mut model);
    let rests = wakes(&model).expect("minutes grow") - model.now;
    assert_eq!(rests, Duration::from_secs(30));
    // One that works shows seconds.
    old.state = State::Running;
    model.overview.sessions = vec![old];
    super::overview(&mut model);
    assert_eq!(wakes(&model), Some(model.now + Duration::from_secs(1)));
    let before = dialog(&model).unwrap().at;
    model.now += Duration::from_secs(1);
    model.clock = Stamp(model.clock.0 + 1_000);
    assert_eq!(tick(&mut model), [], "nothing is asked for");
    let dialog = dialog(&model).unwrap();
    assert_eq!(dialog.at, Stamp(before.0 + 1_000), "ages have grown");
    assert_eq!(wakes(&model), Some(model.now + Duration::from_secs(1)));
}

#[test]
fn stored_sessions_are_asked_for_when_the_overview_says_that_something_changed() {
    let mut model = opened(ListOf::Sessions { here: true });
    let effects = super::overview(&mut model);
    assert!(matches!(called(&effects), Call::Sessions(_)), "{effects:?}");
}
