mod command;
mod fields;
mod seen;

use proto::hello::Role;
use proto::params::interaction::{AnswerParams, PlanDecision, Scope};

use super::*;
use crate::effect::Answer;
use crate::effect::Trouble;
use crate::event::Event;
use crate::model::interaction::scene::{
    Scene, approval, approval_with, ask, change, plan, question,
};
use crate::update::update;

/// An answer to an approval, as it is sent.
#[derive(Debug)]
struct Sent {
    id: String,
    shown_hash: String,
    decision: ApprovalDecision,
    scope: Option<Scope>,
    note: Option<String>,
}

fn params_of(effects: &[Effect]) -> &AnswerParams {
    match effects {
        [Effect::Call(Call::Answer(params))] => params,
        other => panic!("no answer: {other:?}"),
    }
}

fn sent(effects: &[Effect]) -> Sent {
    let params = params_of(effects);
    assert!(params.request_id.is_some());
    match params.answer.clone() {
        InteractionAnswer::Approval {
            decision,
            scope,
            note,
            edited_command: None,
        } => Sent {
            id: params.interaction_id.0.clone(),
            shown_hash: params.shown_hash.clone(),
            decision,
            scope,
            note,
        },
        other => panic!("no decision about a call: {other:?}"),
    }
}

fn shown(scene: &Scene) -> &str {
    match &scene.model.dialog {
        Some(Dialog::Interaction(dialog)) => &dialog.interaction.interaction_id.0,
        _ => "",
    }
}

fn part(scene: &Scene) -> &InputFocus {
    match &scene.model.dialog {
        Some(Dialog::Interaction(dialog)) => &dialog.part,
        other => panic!("no approval: {other:?}"),
    }
}

fn one() -> Scene {
    Scene::of(vec![approval(1, "cargo test --all")], Vec::new())
}

#[test]
fn yes_once_carries_the_hash_of_what_was_shown_and_no_scope() {
    let effects = one().press(&["y"]);
    let params = sent(&effects);
    assert_eq!(params.id, "7.1");
    assert_eq!(params.shown_hash, "hash1");
    assert_eq!(params.decision, ApprovalDecision::AllowOnce);
    assert_eq!((&params.scope, &params.note), (&None, &None));
}

#[test]
fn yes_for_the_session_takes_the_first_scope_or_the_chosen_one() {
    let effects = one().press(&["s"]);
    assert_eq!(sent(&effects).decision, ApprovalDecision::AllowSession);
    let rule = |effects: &[Effect]| sent(effects).scope.clone().unwrap().rule;
    assert_eq!(rule(&effects), "Bash(cargo test --all)");
    let mut scene = one();
    assert_eq!(scene.press(&["p", "down", "down", "y", "s", "enter"]), []);
    assert_eq!(part(&scene), &InputFocus::Answer);
    assert_eq!(rule(&scene.press(&["s"])), "Bash(cargo test:*)");
    let mut scene = one();
    scene.press(&["p", "j", "esc"]);
    assert_eq!(rule(&scene.press(&["s"])), "Bash(cargo test --all)");
}

#[test]
fn without_scopes_there_is_no_yes_for_the_session() {
    let open = approval_with(1, "x", |approval| approval.scopes.clear());
    let mut scene = Scene::of(vec![open], Vec::new());
    assert_eq!(scene.press(&["s", "p", "s"]), []);
    assert_eq!(part(&scene), &InputFocus::Answer);
}

#[test]
fn no_takes_a_note_and_esc_in_it_answers_nothing() {
    let effects = one().press(&["n", "u", "s", "e", "space", "y", "enter"]);
    assert_eq!(sent(&effects).decision, ApprovalDecision::Deny);
    assert_eq!(sent(&effects).note.as_deref(), Some("use y"));
    assert_eq!(sent(&one().press(&["n", "enter"])).note, None);
    let mut scene = one();
    assert_eq!(scene.press(&["n", "x", "esc"]), []);
    assert_eq!((part(&scene), shown(&scene)), (&InputFocus::Answer, "7.1"));
}

#[test]
fn there_is_no_default() {
    let mut scene = one();
    assert_eq!(
        scene.press(&["enter", "space", "tab", "q", "up", "down"]),
        []
    );
    assert_eq!(scene.press(&["pageup", "pagedown", "j", "k", "Y", "S"]), []);
    assert_eq!(shown(&scene), "7.1");
}

#[test]
fn keys_of_the_first_300_ms_and_a_burst_however_long_answer_nothing() {
    let mut scene = Scene::fresh(vec![approval(1, "x")], Vec::new());
    scene.later(299);
    assert_eq!(scene.press(&["y", "s", "n", "e", "p", "enter"]), []);
    for _ in 0..20 {
        scene.later(299);
        assert_eq!(scene.press(&["y"]), []);
    }
    assert_eq!((part(&scene), shown(&scene)), (&InputFocus::Answer, "7.1"));
    scene.later(300);
    assert_eq!(scene.press(&["y"]).len(), 1);
}

#[test]
fn words_that_begin_later_answer_nothing_by_a_letter_in_them() {
    for words in [&["m", "y"][..], &["k", "y"], &["enter", "s"]] {
        let mut scene = Scene::of(vec![approval(1, "x")], Vec::new());
        assert_eq!(scene.press(words), [], "{words:?}");
        scene.later(300);
        assert_eq!(scene.press(&["y"]).len(), 1, "{words:?}");
    }
}

#[test]
fn scrolling_and_postponing_need_no_quiet_time() {
    let long = (0..40).map(|n| format!("echo {n}\n")).collect::<String>();
    let mut scene = Scene::fresh(vec![approval(1, &long)], Vec::new());
    scene.press(&["y", "down", "pagedown"]);
    assert!(scene.text(80, 24).contains('↑'));
    scene.press(&["esc"]);
    assert!(scene.model.dialog.is_none());
    // Keys that cannot be letters keep nothing back.
    let mut scene = one();
    assert_eq!(scene.press(&["down", "pagedown", "y"]).len(), 1);
}

#[test]
fn a_key_that_is_held_down_answers_nothing() {
    let mut scene = one();
    let mut held = keymap::key("y").unwrap();
    held.kind = KeyEventKind::Repeat;
    assert_eq!(
        update(&mut scene.model, Event::Key(held), scene.now),
        Vec::new()
    );
    assert_eq!(shown(&scene), "7.1");
}

#[test]
fn a_paste_answers_nothing_and_in_a_note_it_stands_on_one_line() {
    let mut scene = one();
    assert_eq!(scene.paste("y\ny\n"), []);
    assert_eq!((part(&scene), shown(&scene)), (&InputFocus::Answer, "7.1"));
    scene.press(&["n"]);
    assert_eq!(scene.paste("not\nso\u{1b}[2J"), []);
    assert_eq!(part(&scene), &InputFocus::Words(Input::new("not so")));
}

#[test]
fn the_oldest_comes_first_whatever_it_is_and_each_has_its_own_guard() {
    let asks = vec![ask("Which?", &["a", "b"], false)];
    let open = vec![approval(1, "x"), approval(3, "z")];
    let mut scene = Scene::of(open, vec![question(2, asks)]);
    assert_eq!(sent(&scene.press(&["y", "y"])).id, "7.1");
    assert_eq!(shown(&scene), "7.2");
    scene.later(300);
    scene.press(&["esc"]);
    assert_eq!(shown(&scene), "7.3");
}

#[test]
fn a_postponed_question_comes_back_on_request() {
    let mut scene = Scene::of(vec![approval(1, "x"), approval(2, "y")], Vec::new());
    scene.press(&["esc"]);
    scene.later(300);
    assert_eq!(scene.press(&["esc"]), []);
    assert!(scene.model.dialog.is_none());
    assert!(scene.model.toast.take().unwrap().words.contains("Ctrl-Q"));
    scene.tick();
    assert!(scene.model.dialog.is_none());
    assert!(reopen(&mut scene.model));
    assert_eq!(shown(&scene), "7.1");
    scene.later(300);
    scene.press(&["y"]);
    assert!(scene.model.dialog.is_none());
    assert!(reopen(&mut scene.model));
    assert_eq!(shown(&scene), "7.2");
    scene.session().open.clear();
    scene.tick();
    assert!(!reopen(&mut scene.model) && scene.model.dialog.is_none());
}

#[test]
fn the_notice_of_a_postponed_question_goes_with_it() {
    let mut scene = one();
    scene.press(&["esc"]);
    assert!(scene.model.toast.is_some());
    scene.press(&["ctrl-q"]);
    assert_eq!((shown(&scene), &scene.model.toast), ("7.1", &None));
    let mut scene = one();
    scene.press(&["esc"]);
    answer_elsewhere(&mut scene);
    assert_eq!(scene.model.toast, None);
    // Of another one it is so still.
    let mut scene = Scene::of(vec![approval(1, "x"), approval(2, "y")], Vec::new());
    scene.press(&["esc"]);
    assert!(scene.model.toast.is_some() && shown(&scene) == "7.2");
}

#[test]
fn choices_survive_postponing_and_covering_the_question() {
    for cover in [&["esc", "ctrl-q"][..], &["f1", "esc"], &["ctrl-p", "esc"]] {
        let mut scene = one();
        scene.press(&["p", "down", "enter"]);
        scene.press(cover);
        scene.later(300);
        let effects = scene.press(&["s"]);
        let rule = sent(&effects).scope.clone().unwrap().rule;
        assert_eq!(rule, "Bash(cargo test:*)", "{cover:?}");
    }
}

fn answer_elsewhere(scene: &mut Scene) {
    let answered = serde_json::json!({
        "interaction_id": "7.1", "call": "c1", "by": "phone\u{1b}[31m",
        "answer": {"type": "approval", "decision": "deny"},
    });
    scene.report("interaction.resolved", answered);
}

#[test]
fn answered_elsewhere_it_closes_and_says_by_whom() {
    let mut scene = one();
    answer_elsewhere(&mut scene);
    assert!(scene.model.dialog.is_none());
    let words = scene.model.toast.take().unwrap().words;
    assert_eq!(words, "phone answered: denied");
    // An answer from here is not reported.
    let mut scene = one();
    scene.press(&["y"]);
    answer_elsewhere(&mut scene);
    assert_eq!(scene.model.toast, None);
    let asks = vec![ask("Which?", &["a", "b"], false)];
    let mut scene = Scene::of(Vec::new(), vec![question(1, asks)]);
    let answered = serde_json::json!({
        "interaction_id": "7.1", "call": "c1", "by": "phone",
        "answer": {"type": "questions", "replies": [{"labels": ["a"]}]},
    });
    scene.report("interaction.resolved", answered);
    assert!(scene.model.dialog.is_none());
    let words = scene.model.toast.take().unwrap().words;
    assert_eq!(words, "phone answered the question");
}

#[test]
fn who_answered_a_question_is_not_reported_in_the_next_one() {
    // The next one waits already.
    let mut scene = Scene::of(vec![approval(1, "x"), approval(2, "y")], Vec::new());
    answer_elsewhere(&mut scene);
    assert_eq!((shown(&scene), &scene.model.toast), ("7.2", &None));
    // It comes a moment later.
    let mut scene = one();
    answer_elsewhere(&mut scene);
    assert!(scene.model.toast.is_some());
    let next = serde_json::to_value(approval(2, "y")).unwrap();
    scene.report("interaction.opened", next);
    assert_eq!((shown(&scene), &scene.model.toast), ("7.2", &None));
    // Nor is anything else that was said before.
    let mut scene = one();
    answer_elsewhere(&mut scene);
    scene.model.toast(Tone::Warning, "unknown command /foo");
    let next = serde_json::to_value(approval(2, "y")).unwrap();
    scene.report("interaction.opened", next);
    assert_eq!((shown(&scene), &scene.model.toast), ("7.2", &None));
    // The failure is reported there.
    let mut scene = one();
    answer_elsewhere(&mut scene);
    scene.model.toast(Tone::Error, "no disk");
    let next = serde_json::to_value(approval(2, "y")).unwrap();
    scene.report("interaction.opened", next);
    assert!(scene.model.toast.is_some() && shown(&scene) == "7.2");
}

#[test]
fn a_question_of_the_session_opens_at_once() {
    let mut scene = Scene::fresh(Vec::new(), Vec::new());
    let asked = serde_json::to_value(approval(1, "x")).unwrap();
    scene.report("interaction.opened", asked);
    assert_eq!(shown(&scene), "7.1");
}

#[test]
fn other_content_is_another_question() {
    let mut scene = one();
    scene.press(&["n"]);
    scene.session().open[0].shown_hash = "other".to_owned();
    scene.tick();
    assert_eq!(part(&scene), &InputFocus::Answer);
    assert_eq!(scene.press(&["y"]), []);
    scene.later(300);
    assert_eq!(sent(&scene.press(&["y"])).shown_hash, "other");
    scene.session().open[0].shown_hash = "again".to_owned();
    scene.tick();
    assert_eq!(shown(&scene), "7.1");
}

#[test]
fn an_answer_is_not_asked_for_again_unless_it_failed() {
    let mut scene = one();
    let effects = scene.press(&["y"]);
    scene.tick();
    assert!(scene.model.dialog.is_none());
    let failed = |name| {
        let Effect::Call(call) = effects[0].clone() else {
            panic!("no call");
        };
        let mut trouble = Trouble::new("it went wrong", "");
        trouble.name = Some(name);
        Event::Answered {
            follow: 0,
            answer: Answer::Failed { call, trouble },
        }
    };
    update(
        &mut scene.model,
        failed(ErrorName::AlreadyResolved),
        scene.now,
    );
    assert!(scene.model.dialog.is_none());
    update(&mut scene.model, failed(ErrorName::Stale), scene.now);
    assert_eq!(shown(&scene), "7.1");
    let toast = scene.model.toast.take().unwrap();
    assert_eq!(
        (toast.tone, toast.words.as_str()),
        (Tone::Error, "it went wrong")
    );
}

#[test]
fn who_only_watches_answers_nothing() {
    let mut scene = one();
    scene.model.place.role = Role::Watch;
    assert_eq!(scene.press(&["y", "s", "n", "e", "p", "enter"]), []);
    assert_eq!(part(&scene), &InputFocus::Answer);
    scene.press(&["esc"]);
    assert!(scene.model.dialog.is_none());
    let mut scene = one();
    scene.model.place.role = Role::Approve;
    assert_eq!(scene.press(&["y"]).len(), 1);
}

#[test]
fn nothing_comes_up_while_the_past_is_replayed_and_all_goes_with_the_session() {
    let mut scene = Scene::fresh(Vec::new(), Vec::new());
    scene.session().open.push(approval(1, "x"));
    scene.model.link = Link::Replaying;
    scene.tick();
    assert!(scene.model.dialog.is_none());
    scene.model.link = Link::Live;
    scene.tick();
    assert_eq!(shown(&scene), "7.1");
    scene.model.session = None;
    scene.tick();
    assert!(scene.model.dialog.is_none());
}

/// A key, pressed in a question that is longer than the screen, and what must be so then.
fn does(action: Action, name: &str) {
    let long = (0..40).map(|n| format!("echo {n}\n")).collect::<String>();
    let open = approval_with(1, &long, |approval| approval.following = 299);
    let mut scene = Scene::of(vec![open], Vec::new());
    let row = |scene: &Scene| match &scene.model.dialog {
        Some(Dialog::Interaction(dialog)) => dialog.scroll.unwrap_or_default(),
        other => panic!("no approval: {other:?}"),
    };
    scene.press(&["pagedown", "down"]);
    let before = row(&scene);
    if action == Action::Accept {
        scene.press(&["n", "x"]);
    }
    if let Some(Dialog::Interaction(dialog)) = &mut scene.model.dialog {
        dialog.seen.read_all();
    }
    let effects = scene.press(&[name]);
    let done = match action {
        Action::ReadAll => matches!(scene.model.dialog, Some(Dialog::Pager(_))),
        Action::AllowOnce => sent(&effects).decision == ApprovalDecision::AllowOnce,
        Action::AllowSession => sent(&effects).decision == ApprovalDecision::AllowSession,
        Action::AllowAlways => sent(&effects).decision == ApprovalDecision::AllowAlways,
        Action::Deny => matches!(part(&scene), InputFocus::Words(_)),
        Action::DenyRest => sent(&effects).decision == ApprovalDecision::DenyRest,
        Action::EditCommand => matches!(part(&scene), InputFocus::Command(_)),
        Action::EditScope => matches!(part(&scene), InputFocus::Scopes(_)),
        Action::ScrollUp => row(&scene) + 1 == before,
        Action::ScrollDown => row(&scene) == before + 1,
        Action::PageUp => row(&scene) + 1 < before,
        Action::PageDown => row(&scene) > before + 1,
        Action::Accept => sent(&effects).decision == ApprovalDecision::Deny,
        Action::SetAside => scene.model.dialog.is_none() && scene.model.toast.is_some(),
        other => panic!("{other:?} has a key in approvals, and no script"),
    };
    assert!(done, "`{name}`: {effects:?}");
}

#[test]
fn one_no_for_all_calls_of_an_answer_is_offered_where_there_are_others() {
    let with = |following| {
        let open = approval_with(1, "touch x", |approval| approval.following = following);
        Scene::of(vec![open], Vec::new())
    };
    let mut scene = with(299);
    assert!(
        scene
            .text(80, 24)
            .contains("r no, also to the others that need approval (299 more)")
    );
    assert!(scene.text(40, 10).contains("299 more"));
    let mut alone = with(0);
    assert!(!alone.text(80, 24).contains("others"));
    assert!(alone.press(&["r"]).is_empty() && alone.model.dialog.is_some());
}

#[test]
fn every_key_of_the_table_does_what_it_says() {
    let rows = keymap::BINDINGS.iter();
    for row in rows.filter(|row| row.context == Context::Approval) {
        for name in row.keys {
            does(row.action, name);
        }
    }
}

#[test]
fn it_scrolls_to_its_end_and_no_further() {
    let long = (0..40).map(|n| format!("echo {n}\n")).collect::<String>();
    let mut scene = Scene::of(vec![approval(1, &long)], Vec::new());
    for _ in 0..30 {
        scene.press(&["pagedown"]);
    }
    assert!(scene.text(80, 24).contains("asked because"));
    scene.press(&["up"]);
    assert!(!scene.text(80, 24).contains("asked because"));
    scene.press(&["down", "k", "k", "j", "j"]);
    assert!(scene.text(80, 24).contains("asked because"));
    for _ in 0..30 {
        scene.press(&["pageup"]);
    }
    assert!(scene.text(80, 24).contains("│ echo 0\n"));
}

#[test]
fn choices_and_postponed_questions_survive_leaving_the_session() {
    use crate::event::SessionUpdate;
    use crate::update::daemon;
    let attach = |scene: &mut Scene, session, pid| {
        let attached = SessionUpdate::Attached { session, pid };
        let follow = scene.model.follow;
        update(
            &mut scene.model,
            Event::Session {
                follow,
                update: attached,
            },
            scene.now,
        );
    };
    let open = || vec![approval(1, "ls"), approval(2, "pwd")];
    let mut scene = Scene::of(open(), Vec::new());
    let (seven, pid) = (scene.session().id, scene.session().pid);
    scene.press(&["esc"]);
    scene.later(300);
    scene.press(&["n", "w", "h", "y"]);
    assert_eq!(shown(&scene), "7.2");
    for inbox in [false, true] {
        daemon::go_to(&mut scene.model, "8");
        attach(&mut scene, proto::SessionId::new(), proto::Pid(8));
        scene.tick();
        assert!(scene.model.dialog.is_none());
        if inbox {
            come_up_again(&mut scene.model, pid);
        }
        daemon::go_to(&mut scene.model, "7");
        attach(&mut scene, seven, pid);
        scene.tick();
        assert!(scene.model.dialog.is_none(), "the past is being replayed");
        scene.session().open = open();
        scene.model.link = Link::Live;
        scene.tick();
        // Who goes there to answer sees the oldest.
        let expected = if inbox { "7.1" } else { "7.2" };
        assert_eq!(shown(&scene), expected);
        if !inbox {
            assert!(matches!(part(&scene), InputFocus::Words(note) if note.text() == "why"));
        }
    }
}

#[test]
fn without_a_connection_nothing_is_answered_and_the_question_stays() {
    let mut scene = one();
    let lost = crate::model::Link::Lost(scene.model.now);
    scene.model.link = lost.clone();
    assert_eq!(scene.press(&["y"]), []);
    assert_eq!(shown(&scene), "7.1");
    assert!(scene.model.toast.is_some(), "a toast says so");
    // Words of a no stay as well.
    assert_eq!(scene.press(&["n", "w", "h", "y", "enter"]), []);
    scene.model.link = crate::model::Link::Live;
    let effects = scene.press(&["enter"]);
    assert_eq!(sent(&effects).note.as_deref(), Some("why"));
    let asks = vec![ask("Which?", &["a", "b"], false)];
    let mut scene = Scene::of(Vec::new(), vec![question(2, asks)]);
    scene.model.link = lost.clone();
    assert_eq!(scene.press(&["1", "enter"]), []);
    assert!(matches!(
        &scene.model.dialog,
        Some(Dialog::Interaction(dialog)) if dialog.context() == Context::Question
    ));
    scene.model.link = crate::model::Link::Live;
    let effects = scene.press(&["enter"]);
    let params = params_of(&effects);
    assert!(matches!(params.answer, InteractionAnswer::Questions { .. }));
}

#[test]
fn of_sessions_that_were_left_only_the_newest_are_kept() {
    let mut scene = Scene::fresh(Vec::new(), Vec::new());
    for n in 0..40 {
        let before = std::mem::take(&mut scene.model.asking);
        scene = Scene::of(vec![approval(1, "ls")], Vec::new());
        scene.model.asking = before;
        leave(&mut scene.model);
        assert_eq!(scene.model.asking.len(), (n + 1).min(ASKING_MAX));
    }
}

/// With a plan open, just drawn.
fn planned() -> Scene {
    let mut scene = Scene::fresh(Vec::new(), Vec::new());
    scene.session().open = vec![plan(9, "# Do it\n\n1. look")];
    scene.tick();
    scene
}

fn plan_sent(effects: &[Effect]) -> (PlanDecision, Option<&str>) {
    let params = params_of(effects);
    assert_eq!(params.interaction_id.0, "7.9");
    assert_eq!(params.shown_hash, "hash9");
    match &params.answer {
        InteractionAnswer::Plan { decision, note } => (*decision, note.as_deref()),
        other => panic!("no decision about a plan: {other:?}"),
    }
}

#[test]
fn a_plan_is_answered_by_yes_or_by_feedback() {
    let mut scene = planned();
    scene.later(300);
    let effects = scene.press(&["y"]);
    assert_eq!(plan_sent(&effects), (PlanDecision::Approve, None));
    assert!(scene.model.dialog.is_none());
    scene.tick();
    assert!(scene.model.dialog.is_none(), "it was answered from here");

    let mut scene = planned();
    scene.later(300);
    assert_eq!(scene.press(&["s", "e", "p"]), [], "a plan has no scopes");
    scene.later(300);
    assert_eq!(scene.press(&["n", "t", "e", "s", "t", "s"]), []);
    let effects = scene.press(&["enter"]);
    assert_eq!(plan_sent(&effects), (PlanDecision::Reject, Some("tests")));
}

#[test]
fn keys_and_pastes_from_before_a_plan_was_drawn_do_not_approve_it() {
    let mut scene = planned();
    assert_eq!(scene.press(&["y"]), [], "typed ahead");
    scene.later(299);
    assert_eq!(scene.press(&["y"]), [], "still typed ahead");
    assert_eq!(scene.paste("y"), []);
    assert_eq!(scene.press(&["enter"]), [], "there is no default");
    scene.later(300);
    assert_eq!(
        plan_sent(&scene.press(&["y"])),
        (PlanDecision::Approve, None)
    );
}

#[test]
fn a_plan_that_was_answered_elsewhere_closes_with_who_it_was() {
    let mut scene = planned();
    scene.session().options.mode = Some(proto::state::Mode::Plan);
    let resolved = serde_json::json!({
        "interaction_id": "7.9", "call": "c9", "by": "ann", "answer": {"type": "plan", "decision": "approve"},
    });
    scene.report("interaction.resolved", resolved);
    assert!(scene.model.dialog.is_none());
    let toast = scene.model.toast.as_ref().map(|toast| toast.words.clone());
    assert_eq!(toast.as_deref(), Some("ann answered: plan approved"));
    assert_eq!(
        scene.session().options.mode,
        Some(proto::state::Mode::Normal)
    );
}
