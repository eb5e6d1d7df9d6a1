//! How a command looks while it is changed, and which choices are shown.

use super::*;

#[test]
fn the_command_is_edited_below_the_original() {
    let mut scene = Scene::of(vec![approval(1, "cargo test --all")], Vec::new());
    scene.press(&["e", "ctrl-w"]);
    let panel = scene.panel(80, 24);
    let rows: Vec<_> = panel.rows.iter().map(ToString::to_string).collect();
    assert_eq!(
        rows[1..],
        [
            "│ cargo test --all",
            "asked because no rule allows it",
            "Edit the command. It is checked again before it runs.",
            "› cargo test --",
            "Enter run it · Esc back · Ctrl-J new line",
        ]
    );
    assert_eq!(panel.cursor, Some((4, 15)));
    scene.model.look.language = Language::Chinese;
    assert_eq!(
        scene.rows(40, 12)[3..],
        [
            "修改命令。运行前会重新检查。",
            "› cargo test --",
            "Enter 运行 · Esc 返回 · Ctrl-J 换行",
        ]
    );
}

#[test]
fn a_long_command_is_edited_in_any_size_with_the_caret_in_sight() {
    let long = (0..60).map(|n| format!("echo {n} && ")).collect::<String>();
    for (columns, rows) in [(80, 24), (40, 12), (30, 8), (20, 6)] {
        for language in [Language::English, Language::Chinese] {
            let mut scene = Scene::of(vec![approval(1, &long)], Vec::new());
            scene.model.look.language = language;
            scene.press(&["e"]);
            scene.panel(columns, rows);
            scene.press(&["x", "y", "z"]);
            let panel = scene.panel(columns, rows);
            let (row, _) = panel.cursor.unwrap();
            let row = panel.rows[usize::from(row)].to_string();
            assert!(row.ends_with("xyz"), "{columns}x{rows}: {row}");
        }
    }
}

#[test]
fn only_what_a_question_offers_is_shown_in_every_size_and_language() {
    let outside = approval_with(1, "touch /etc/x", |open| {
        open.escape = Some("it needs the network, which the sandbox blocks".to_owned());
        open.scopes = Vec::new();
        open.editable = false;
    });
    let file = change(1, DIFF);
    let keys = |text: &str| {
        let starts = |key: &&str| {
            let key = format!("{key} ");
            let mut rows = text.lines();
            rows.any(|row| row.split(" · ").any(|part| part.starts_with(&key)))
        };
        let all = ["y", "s", "a", "n", "e", "p"].into_iter();
        all.filter(starts).collect::<String>()
    };
    for (columns, rows) in [(80, 24), (40, 24), (40, 12), (30, 9)] {
        for language in [Language::English, Language::Chinese] {
            for (open, offered) in [
                (&approval(1, "make"), "ysanep"),
                (&outside, "yn"),
                (&file, "ysanp"),
            ] {
                let mut scene = Scene::of(vec![open.clone()], Vec::new());
                scene.model.look.language = language;
                let text = scene.text(columns, rows);
                assert_eq!(keys(&text), offered, "{columns}x{rows}:\n{text}");
            }
        }
    }
}

#[test]
fn a_rule_is_offered_with_a_description_of_its_scope() {
    let open = approval_with(1, "npm test", |open| {
        open.rule = "cannot be fully checked: it runs inline Python".to_owned();
        open.scopes = vec![scope("any", "Bash(npm test:*)")];
    });
    let mut scene = Scene::of(vec![open], Vec::new());
    assert_eq!(
        scene.rows(80, 24)[2..6],
        [
            "asked because it runs inline Python",
            "y yes",
            "s yes, npm test (any arguments) for the session",
            "a always allow: npm test (any arguments)",
        ]
    );
}
