use std::time::Instant;

use super::*;
use crate::messages::Language;
use crate::model::Dialog;
use crate::model::interaction::scene::Scene;

#[test]
fn the_effect_is_shown_with_the_keys() {
    let mut scene = Scene::fresh(Vec::new(), Vec::new());
    scene.model.dialog = Some(Dialog::Confirm(Confirm {
        title: crate::messages::dialog::Msg::TitleConfirm,
        words: vec![
            "The session `a\u{1b}[2Jb` was deleted for good, with all it holds.".to_owned(),
        ],
        then: crate::model::confirm::ConfirmedAction::Do(Vec::new()),
        scroll: 0,
        seen: crate::model::seen::ReadProgress::default(),
        is_refused: false,
        since: Instant::now(),
        drawn: false,
        back: None,
    }));
    let rows = scene.rows(80, 24);
    assert_eq!(
        &rows[1..],
        [
            "The session `ab` was deleted for good, with all it holds.",
            "y yes · n no",
        ]
    );
    scene.model.look.language = Language::Chinese;
    let rows = scene.rows(40, 12);
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[3], "y 是 · n 否");
}
