use super::*;
use crate::model::confirm::Confirm;
use crate::model::interaction::scene::Scene;

fn scene(waited: u64) -> Scene {
    let mut scene = Scene::fresh(Vec::new(), Vec::new());
    scene.model.dialog = Some(Dialog::Confirm(Confirm {
        title: crate::messages::dialog::Msg::TitleConfirm,
        words: vec!["It is gone for good.".to_owned()],
        then: crate::model::confirm::ConfirmedAction::Do(vec![Effect::Bell]),
        scroll: 0,
        seen: crate::model::seen::ReadProgress::default(),
        is_refused: false,
        since: scene.now,
        drawn: false,
        back: None,
    }));
    scene.later(waited);
    scene
}

#[test]
fn only_y_is_a_yes() {
    let mut yes = scene(300);
    assert_eq!(yes.press(&["y"]), [Effect::Bell]);
    assert!(yes.model.dialog.is_none());
    for no in ["n", "esc"] {
        let mut scene = scene(300);
        assert_eq!(scene.press(&[no]), []);
        assert!(scene.model.dialog.is_none(), "{no}");
    }
    let mut open = scene(300);
    assert_eq!(open.press(&["enter", "space", "Y", "x", "y"]), []);
    assert_eq!(open.paste("y"), []);
    assert!(open.model.dialog.is_some());
}

#[test]
fn keys_of_the_first_300_ms_and_a_burst_do_nothing_but_esc_leaves() {
    let mut scene = scene(299);
    assert_eq!(scene.press(&["y", "n"]), []);
    scene.later(299);
    assert_eq!(scene.press(&["y"]), []);
    assert!(scene.model.dialog.is_some());
    scene.press(&["esc"]);
    assert!(scene.model.dialog.is_none());
}

#[test]
fn every_key_of_the_table_does_what_it_says() {
    let rows = keymap::BINDINGS.iter();
    for row in rows.filter(|row| row.context == Context::Confirm) {
        for name in row.keys {
            let mut scene = scene(300);
            let effects = scene.press(&[name]);
            let moves = super::scrolls(row.action);
            assert_eq!(scene.model.dialog.is_some(), moves, "`{name}`");
            match row.action {
                Action::Yes => assert_eq!(effects, [Effect::Bell], "`{name}`"),
                Action::No => assert_eq!(effects, [], "`{name}`"),
                _ if moves => assert_eq!(effects, [], "`{name}`"),
                other => panic!("{other:?} has a key in a yes or no, and no script"),
            }
        }
    }
}

#[test]
fn scrolling_reaches_the_last_row_and_no_further() {
    let mut scene = scene(300);
    let Some(Dialog::Confirm(confirm)) = &mut scene.model.dialog else {
        panic!("a yes or no is open")
    };
    confirm.words = (1..=60)
        .map(|line| format!("line {line} of the text"))
        .collect();
    let shows = |scene: &mut Scene, words: &str| {
        scene.rows(60, 20).iter().any(|row| row.starts_with(words))
    };
    assert!(shows(&mut scene, "line 1 ") && !shows(&mut scene, "line 60 "));
    assert!(shows(&mut scene, "y yes"), "the keys are always shown");
    for _ in 0..9 {
        assert_eq!(scene.press(&["pagedown"]), []);
    }
    assert!(shows(&mut scene, "line 60 ") && !shows(&mut scene, "line 1 "));
    scene.press(&[
        "up", "up", "pageup", "pageup", "pageup", "pageup", "pageup", "pageup", "pageup",
    ]);
    assert!(shows(&mut scene, "line 1 "));
    assert_eq!(scene.press(&["esc"]), []);
    assert!(scene.model.dialog.is_none(), "that is a no");
}

#[test]
fn a_yes_counts_only_after_all_words_were_on_the_screen() {
    let mut scene = scene(300);
    if let Some(Dialog::Confirm(confirm)) = &mut scene.model.dialog {
        confirm.words = (0..500).map(|line| format!("rule {line}")).collect();
    }
    assert_eq!(scene.press(&["y"]), []);
    assert!(scene.text(80, 24).contains("Read to the end first"));
    scene.press(&["pagedown"; 40]);
    assert_eq!(scene.press(&["y"]), [Effect::Bell]);
}

#[test]
fn a_window_that_shows_no_words_takes_no_yes_and_says_so() {
    let mut scene = scene(300);
    if let Some(Dialog::Confirm(confirm)) = &mut scene.model.dialog {
        confirm.words = (0..9).map(|line| format!("rule {line}")).collect();
    }
    scene.model.look.rows = 7;
    scene.press(&["pagedown"; 20]);
    assert_eq!(scene.press(&["y"]), []);
    let panel = crate::view::draw(
        &scene.model,
        &crate::view::transcript::Printed::default(),
        &mut crate::render::Cache::default(),
        0,
    );
    let text: Vec<_> = panel.rows.iter().map(ToString::to_string).collect();
    assert!(text.join("\n").contains("too small"), "{text:?}");
}
