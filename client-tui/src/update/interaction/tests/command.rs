//! The command that is changed before it runs.

use super::*;

/// The command that is sent in place of the shown one.
fn edited(effects: &[Effect]) -> &str {
    match &params_of(effects).answer {
        InteractionAnswer::Approval {
            decision: ApprovalDecision::AllowOnce,
            scope: None,
            note: None,
            edited_command: Some(command),
        } => command,
        other => panic!("no changed command: {other:?}"),
    }
}

fn editing(command: &str) -> Scene {
    let mut scene = Scene::of(vec![approval(1, command)], Vec::new());
    assert_eq!(scene.press(&["e"]), []);
    scene.later(300);
    scene
}

#[test]
fn enter_sends_the_command_as_it_was_changed_with_the_hash_of_the_shown_one() {
    let mut scene = editing("cargo test --all");
    scene.press(&["ctrl-w", "l", "i", "b"]);
    let effects = scene.press(&["enter"]);
    assert_eq!(edited(&effects), "cargo test --lib");
    assert_eq!(params_of(&effects).shown_hash, "hash1");
    assert!(scene.model.dialog.is_none());
}

#[test]
fn esc_goes_back_to_the_question_and_keeps_the_edits() {
    let mut scene = editing("make");
    assert_eq!(scene.press(&["space", "x", "esc"]), []);
    assert_eq!((part(&scene), shown(&scene)), (&InputFocus::Answer, "7.1"));
    // Typed right after it, a letter answers nothing.
    assert_eq!(scene.press(&["y"]), []);
    scene.later(300);
    scene.press(&["e"]);
    assert!(matches!(part(&scene), InputFocus::Command(edited) if edited.text() == "make x"));
    scene.later(300);
    assert_eq!(edited(&scene.press(&["enter"])), "make x");
}

#[test]
fn nothing_is_sent_within_300_ms_of_opening_nor_by_a_paste_nor_a_held_key() {
    let mut scene = Scene::of(vec![approval(1, "ls")], Vec::new());
    assert_eq!(scene.press(&["e", "c", "h", "o", "enter"]), []);
    scene.later(300);
    assert_eq!(scene.paste("\r\nrm x\n"), []);
    let mut held = keymap::key("enter").unwrap();
    held.kind = KeyEventKind::Repeat;
    assert_eq!(
        update(&mut scene.model, Event::Key(held), scene.now),
        Vec::new()
    );
    assert_eq!(edited(&scene.press(&["enter"])), "lscho\nrm x\n");
}

#[test]
fn an_empty_command_is_not_sent() {
    let mut scene = editing("ls");
    assert_eq!(scene.press(&["ctrl-u", "space", "enter"]), []);
    assert_eq!(shown(&scene), "7.1");
    assert!(scene.text(80, 24).contains("The command is empty"));
    scene.press(&["p", "w", "d"]);
    assert!(!scene.text(80, 24).contains("The command is empty"));
    assert_eq!(edited(&scene.press(&["enter"])), " pwd");
}

#[test]
fn a_command_of_several_lines_stays_one_and_is_walked_through() {
    let mut scene = editing("cat <<X\none\nX");
    scene.press(&["up", "end", "ctrl-j", "t", "w", "o"]);
    assert_eq!(edited(&scene.press(&["enter"])), "cat <<X\none\ntwo\nX");
}

#[test]
fn invisible_characters_are_left_out_of_the_command() {
    let mut scene = editing("ls \u{202e}a\u{200b}\u{1b}[2Kb\tc");
    scene.paste("\u{feff}d");
    assert_eq!(edited(&scene.press(&["enter"])), "ls ab\tcd");
}

#[test]
fn without_a_command_there_is_nothing_to_edit() {
    let outside = approval_with(1, "make", |open| {
        open.escape = Some("it needs the network".to_owned());
        open.editable = false;
    });
    for open in [
        outside,
        plan(1, "1. wait"),
        change(1, "@@ -1 +1 @@\n-a\n+b"),
    ] {
        let mut scene = Scene::of(vec![open], Vec::new());
        assert_eq!(scene.press(&["e", "enter"]), []);
        assert_eq!(part(&scene), &InputFocus::Answer);
    }
}

#[test]
fn watcher_cannot_edit_the_command_of_a_question() {
    let mut scene = Scene::of(vec![approval(1, "ls")], Vec::new());
    scene.model.place.role = Role::Watch;
    assert_eq!(scene.press(&["e"]), []);
    assert_eq!(part(&scene), &InputFocus::Answer);
}
