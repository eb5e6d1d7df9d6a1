//! Which interaction comes up when, and what is kept of one that is left.

use proto::ErrorName;

use super::super::dialogs::ASKING_MAX;
use super::*;
use crate::model::{Link, Tone};

#[test]
fn oldest_question_opens_first_and_each_ignores_early_keys() {
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
fn answer_from_another_client_closes_the_question_and_is_reported() {
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
fn changed_content_hash_opens_the_question_again() {
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
        let mut trouble = ErrorReport::new("it went wrong", "");
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
fn questions_open_after_the_replay_and_close_with_the_session() {
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
fn number_of_saved_dialog_states_of_left_sessions_is_bounded() {
    let mut scene = Scene::fresh(Vec::new(), Vec::new());
    for n in 0..40 {
        let before = std::mem::take(&mut scene.model.asking);
        scene = Scene::of(vec![approval(1, "ls")], Vec::new());
        scene.model.asking = before;
        leave(&mut scene.model);
        assert_eq!(scene.model.asking.len(), (n + 1).min(ASKING_MAX));
    }
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
