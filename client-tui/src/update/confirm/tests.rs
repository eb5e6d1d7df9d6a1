use super::*;
use crate::model::approval::scene::Scene;
use crate::model::confirm::Confirm;

fn scene(waited: u64) -> Scene {
    let mut scene = Scene::fresh(Vec::new(), Vec::new());
    scene.model.dialog = Some(Dialog::Confirm(Confirm {
        words: vec!["It is gone for good.".to_owned()],
        then: crate::model::confirm::Then::Do(vec![Effect::Bell]),
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
            assert!(scene.model.dialog.is_none(), "`{name}`");
            match row.action {
                Action::Yes => assert_eq!(effects, [Effect::Bell], "`{name}`"),
                Action::No => assert_eq!(effects, [], "`{name}`"),
                other => panic!("{other:?} has a key in a yes or no, and no script"),
            }
        }
    }
}
