mod command;
mod dialogs;
mod fields;
mod seen;

use proto::hello::Role;
use proto::params::interaction::{AnswerParams, PlanDecision, Scope};

use super::*;
use crate::effect::Answer;
use crate::effect::ErrorReport;
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
fn letters_of_a_sentence_allow_nothing_beyond_one_call() {
    for word in ["always", "say it", "actually, not"] {
        let mut scene = one();
        for letter in word.chars() {
            let name = if letter == ' ' {
                "space".to_owned()
            } else {
                letter.to_string()
            };
            assert_eq!(scene.press_at_once(&[&name]), [], "{word}");
            scene.later(120);
            assert_eq!(scene.tick(), [], "{word}");
        }
        scene.later(300);
        assert_eq!(scene.tick(), [], "{word}");
        assert_eq!(shown(&scene), "7.1");
    }
    let mut scene = one();
    assert_eq!(scene.press_at_once(&["s"]), []);
    scene.later(249);
    assert_eq!(scene.tick(), []);
    scene.later(1);
    assert_eq!(sent(&scene.tick()).decision, ApprovalDecision::AllowSession);
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
fn keys_that_are_not_answers_do_not_answer_an_approval() {
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
fn watcher_cannot_answer_an_approval() {
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
        // Only a plan is approved so.
        Action::ApproveKeepAsking => effects.is_empty() && scene.model.dialog.is_some(),
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
            .contains("r no, also to the others that need approval (up to 299 more)")
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
    let effects = scene.press(&["c"]);
    assert_eq!(plan_sent(&effects), (PlanDecision::ApproveKeepAsking, None));

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
