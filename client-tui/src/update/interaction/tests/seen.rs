//! A yes counts only if all of the body was on the screen (I24).

use super::*;

fn hidden_tail() -> String {
    format!("echo start\n{}rm -rf tail", "echo filler\n".repeat(200))
}

fn asking(command: &str) -> Scene {
    Scene::of(vec![approval(1, command)], Vec::new())
}

#[test]
fn approval_keys_are_ignored_until_the_end_of_the_command_was_shown() {
    for yes in ["y", "s", "a", "e"] {
        let mut scene = asking(&hidden_tail());
        assert_eq!(scene.press(&[yes]), [], "{yes}");
        assert_eq!(part(&scene), &InputFocus::Answer);
        let text = scene.text(80, 24);
        assert!(text.contains("more lines to read first"), "{text}");
    }
    // A no is one at once.
    assert_eq!(
        sent(&asking(&hidden_tail()).press(&["n", "enter"])).decision,
        ApprovalDecision::Deny
    );
}

#[test]
fn a_yes_counts_after_all_of_it_was_scrolled_through() {
    let mut scene = asking(&hidden_tail());
    scene.press(&["pagedown"; 60]);
    assert!(scene.text(80, 24).contains("rm -rf tail"));
    scene.later(300);
    let effects = scene.press(&["y"]);
    assert_eq!(sent(&effects).decision, ApprovalDecision::AllowOnce);
}

#[test]
fn the_notice_of_an_early_yes_counts_down_and_goes_at_the_end() {
    let left = |scene: &Scene| {
        let words = &scene.model.toast.as_ref()?.words;
        let number = words.split_once(": ")?.1.split(' ').next()?;
        number.parse::<usize>().ok()
    };
    let mut scene = asking(&hidden_tail());
    scene.press(&["y"]);
    let first = left(&scene).expect("a notice");
    scene.press(&["pagedown"]);
    assert!(left(&scene).expect("a notice") < first);
    scene.press(&["pagedown"; 60]);
    assert_eq!(scene.model.toast, None);
    assert!(!scene.text(80, 24).contains("Not answered yet"));
    // Read to the end in the pager.
    let mut scene = asking(&hidden_tail());
    scene.press(&["y"]);
    scene.later(300);
    let mut read = vec!["v"];
    read.extend(["pagedown"; 60]);
    read.push("q");
    scene.press(&read);
    scene.tick();
    assert_eq!(scene.model.toast, None);
    // A no needs no reading.
    let mut scene = asking(&hidden_tail());
    scene.press(&["y", "n"]);
    assert_eq!(scene.model.toast, None);
}

#[test]
fn a_yes_counts_after_the_pager_showed_the_end() {
    let mut scene = asking(&hidden_tail());
    scene.press(&["v"]);
    assert!(matches!(scene.model.dialog, Some(Dialog::Pager(_))));
    scene.press(&["q"]);
    scene.later(300);
    assert_eq!(scene.press(&["y"]), []);
    let mut read = vec!["v"];
    read.extend(["pagedown"; 60]);
    read.push("q");
    scene.later(300);
    scene.press(&read);
    scene.tick();
    scene.later(300);
    let effects = scene.press(&["y"]);
    assert_eq!(sent(&effects).decision, ApprovalDecision::AllowOnce);
}

#[test]
fn blank_lines_hide_nothing_they_are_counted() {
    let command = format!("echo start{}rm -rf tail", "\n".repeat(200));
    let mut scene = asking(&command);
    let text = scene.text(80, 24);
    assert!(text.contains("… 199 blank lines"), "{text}");
    assert!(text.contains("rm -rf tail"), "{text}");
    assert_eq!(
        sent(&scene.press(&["y"])).decision,
        ApprovalDecision::AllowOnce
    );
}

#[test]
fn in_a_window_too_small_to_read_it_says_so_and_takes_no_yes() {
    for rows in 4..=30 {
        let mut scene = asking("echo one\necho two\necho three\necho four");
        let text = scene.text(80, rows);
        let shown = ["one", "two", "three", "four"]
            .iter()
            .filter(|word| text.contains(&format!("echo {word}")))
            .count();
        let effects = scene.press(&["y"]);
        match shown {
            4 if !text.contains("more lines") => {
                assert_eq!(sent(&effects).decision, ApprovalDecision::AllowOnce)
            }
            0 => {
                assert!(text.contains("too small"), "{rows}: {text}");
                assert_eq!(effects, [], "{rows}: {text}");
                // The notice is whole in the narrowest window, too.
                let narrow = scene.text(20, 6).replace('\n', " ");
                assert!(narrow.contains("press v to read it"), "{narrow}");
            }
            _ => assert_eq!(effects, [], "{rows}: {text}"),
        }
    }
}

#[test]
fn approval_is_ignored_after_a_width_change_before_rereading() {
    let mut scene = asking(&"echo a long line that is broken at narrow widths; ".repeat(60));
    scene.press(&["down"; 5]);
    scene.model.look.columns = 40;
    scene.later(300);
    assert_eq!(scene.press(&["y"]), []);
}
