mod command;
mod fields;

use proto::params::interaction::Interaction;

use super::*;
use crate::messages::Language;
use crate::model::Dialog;
use crate::model::interaction::scene::{
    Scene, approval, approval_with, ask, change, plan, question, scope,
};

const DIFF: &str = "@@ -1,2 +1,2 @@\n fn main() {\n-\told(\u{202e}1);\n+\tnew(\u{1b}[31m2);\r\n";

const SIZES: [(u16, u16); 2] = [(80, 24), (40, 12)];

/// Everything that the dialog shows, of each width and in each language, with rows put together that were one line. It
/// is scrolled through in each size on the way.
fn everything(open: &Interaction) -> Vec<String> {
    let mut all = Vec::new();
    for (columns, rows) in SIZES {
        for language in [Language::English, Language::Chinese] {
            let mut scene = Scene::of(vec![open.clone()], Vec::new());
            scene.model.look.language = language;
            for _ in 0..40 {
                scene.panel(columns, rows);
                scene.press(&["down"]);
            }
            all.push(scene.text(columns, 400).replace("\n┆ ", ""));
        }
    }
    all
}

/// The text from elsewhere, without marks and row breaks.
fn put_together(rows: &[String]) -> String {
    let rows = rows.iter();
    rows.filter_map(|row| row.strip_prefix("│ ").or_else(|| row.strip_prefix("┆ ")))
        .collect()
}

#[test]
fn a_command_is_shown_whole_with_why_and_all_keys_in_words() {
    let mut scene = Scene::of(vec![approval(1, "cargo test --all")], Vec::new());
    let rows = scene.rows(80, 24);
    assert!(
        rows[0].starts_with("── Run this command? ──"),
        "{}",
        rows[0]
    );
    assert_eq!(
        &rows[1..],
        [
            "│ cargo test --all",
            "asked because no rule allows it",
            "y yes",
            "s yes, this exact command for the session",
            "a always allow: this exact command",
            "n no, and say why",
            "e edit the command first",
            "p choose the scope · Esc answer later",
        ]
    );
    assert_eq!(
        scene.rows(40, 12)[1..],
        [
            "│ cargo test --all",
            "asked because no rule allows it",
            "s yes, this exact command for the",
            "  session",
            "a always allow: this exact command",
            "y yes · s session · a always · n no",
            "e edit · p scope · Esc later",
        ]
    );
    scene.model.look.language = Language::Chinese;
    assert_eq!(
        scene.rows(80, 24)[1..],
        [
            "│ cargo test --all",
            "询问原因：没有规则允许",
            "y 允许",
            "s 允许，本会话内：仅这条命令",
            "a 始终允许：仅这条命令",
            "n 拒绝，并说明原因",
            "e 先修改命令",
            "p 选择范围 · Esc 稍后回答",
        ]
    );
    assert_eq!(
        scene.rows(40, 12)[1..],
        [
            "│ cargo test --all",
            "询问原因：没有规则允许",
            "y 允许",
            "s 允许，本会话内：仅这条命令",
            "a 始终允许：仅这条命令",
            "n 拒绝，并说明原因",
            "e 先修改命令",
            "p 选择范围 · Esc 稍后回答",
        ]
    );
    assert_eq!(
        scene.rows(40, 11)[1..],
        [
            "│ cargo test --all",
            "询问原因：没有规则允许",
            "s 允许，本会话内：仅这条命令",
            "a 始终允许：仅这条命令",
            "y 允许 · s 本会话 · a 始终 · n 拒绝",
            "e 修改 · p 范围 · Esc 稍后",
        ]
    );
}

#[test]
fn the_cause_of_a_question_is_shown_in_the_interface_language() {
    let found = approval_with(1, "make", |open| {
        open.rule = "the call was written as text, not made as a tool call".to_owned();
    });
    let outside = approval_with(2, "make", |open| {
        open.escape = Some("it needs the network, which the sandbox blocks".to_owned());
    });
    for (open, english, chinese) in [
        (found, "written as text", "写在回答的文字中"),
        (outside, "it needs the network", "它需要网络"),
    ] {
        let mut scene = Scene::of(vec![open], Vec::new());
        assert!(scene.text(80, 24).contains(english));
        scene.model.look.language = Language::Chinese;
        let text = scene.text(80, 24);
        assert!(text.contains(chinese) && !text.contains(english), "{text}");
    }
}

#[test]
fn a_long_command_is_wrapped_and_hidden_rows_are_counted() {
    let command = format!("echo {} && rm -rf ~", "x".repeat(900));
    let mut scene = Scene::of(vec![approval(1, &command)], Vec::new());
    assert_eq!(put_together(&scene.rows(80, 24)), command);
    let rows = scene.rows(40, 12);
    assert!(rows.iter().any(|row| row.starts_with('↓')), "{rows:?}");
    for text in everything(&approval(1, &command)) {
        assert!(text.contains("&& rm -rf ~"), "{text}");
    }
}

#[test]
fn invisible_characters_are_spelled_out_and_foreign_text_is_marked() {
    let command = "ls \u{202e}x\u{1b}[2K\u{7}\u{200b}\ny yes\tz";
    for text in everything(&approval(1, command)) {
        for written in ["\\u{202e}", "\\u{1b}", "\\u{7}", "\\u{200b}", "│ y yes\\tz"] {
            assert!(text.contains(written), "{written}: {text}");
        }
    }
    for text in everything(&change(1, DIFF)) {
        for written in ["\\u{202e}", "\\u{1b}", "\\u{d}", "src/a.rs", "+1 −1"] {
            assert!(text.contains(written), "{written}: {text}");
        }
    }
    let open = approval_with(1, "a", |open| {
        open.tool = "mcp__x\u{1b}]0;t\u{7}".to_owned();
        open.kind = proto::item::ToolKind::Other;
        open.rule = "a\nb\u{1b}".to_owned();
        open.scopes = vec![scope("x\u{202e}\ny", "R\u{9b}")];
    });
    for text in everything(&open) {
        for written in ["\\u{1b}", "a\\u{a}b", "\\u{202e}", "\\u{9b}"] {
            assert!(text.contains(written), "{written}: {text}");
        }
    }
}

#[test]
fn a_scope_that_is_too_long_for_its_key_is_shown_whole_above() {
    let words = "long words ".repeat(60);
    let open = approval_with(1, "a", |open| {
        open.scopes = vec![scope("this", &format!("Bash({words}to the end:*)"))];
    });
    for (columns, rows) in SIZES {
        let mut scene = Scene::of(vec![open.clone()], Vec::new());
        let mut seen = scene.text(columns, rows);
        assert!(seen.contains("y yes · s session · a always"), "{seen}");
        for _ in 0..40 {
            scene.press(&["pagedown"]);
            seen = scene.text(columns, rows).replace('\n', " ");
        }
        assert!(seen.contains("to the end"), "{seen}");
    }
}

#[test]
fn a_scope_is_shown_in_the_users_language() {
    let mut labels = Vec::new();
    for rule in ["Edit", "Bash(make all)", "Bash(git add:*)", "Other(x)"] {
        let open = approval_with(1, "a", |open| {
            open.scopes = vec![scope("as the daemon says", rule)];
        });
        let mut scene = Scene::of(vec![open], Vec::new());
        scene.model.look.language = Language::Chinese;
        let rows = scene.rows(200, 24);
        let mut covers = rows.iter().filter_map(|row| row.split_once("本会话内："));
        labels.push(covers.next().unwrap().1.to_owned());
    }
    assert_eq!(
        labels,
        [
            "编辑工作区中的文件",
            "仅这条命令",
            "git add（参数不限）",
            "as the daemon says · Other(x)",
        ]
    );
}

#[test]
fn the_position_among_several_questions_is_shown() {
    let asks = vec![ask("Which?", &["a", "b"], false)];
    let mut scene = Scene::of(
        vec![approval(1, "a"), change(3, DIFF)],
        vec![question(2, asks)],
    );
    assert!(scene.rows(40, 12)[0].ends_with(" 1 of 3 ──"));
    scene.press(&["esc"]);
    scene.later(300);
    assert!(scene.rows(40, 12)[0].ends_with(" 2 of 3 ──"));
    scene.press(&["esc"]);
    let title = scene.rows(40, 12).remove(0);
    assert!(title.contains("Change this file?") && title.ends_with(" 3 of 3 ──"));
}

#[test]
fn the_scopes_are_listed_and_the_note_has_the_cursor() {
    for (columns, rows) in SIZES {
        let mut scene = Scene::of(vec![approval(1, "a")], Vec::new());
        scene.press(&["p", "j"]);
        let text = scene.text(columns, rows);
        assert!(text.contains("› cargo test (any arguments)"), "{text}");
        assert!(text.contains("Enter select") && text.contains("Esc back"));
        scene.press(&["esc", "n", "w", "h", "y"]);
        let panel = scene.panel(columns, rows);
        let (row, column) = panel.cursor.unwrap();
        assert_eq!(panel.rows[usize::from(row)].to_string(), "› why");
        assert_eq!(column, 5);
        assert!(panel.rows.iter().any(|row| row.to_string() == "│ a"));
    }
}

#[test]
fn viewers_see_who_answers_and_no_answer_keys() {
    let mut scene = Scene::of(vec![approval(1, "a")], Vec::new());
    scene.model.place.role = proto::hello::Role::Watch;
    let text = scene.text(40, 12);
    assert!(text.contains("are watching") && text.contains("│ a"));
    assert!(!text.contains("y yes"));
}

#[test]
fn it_draws_in_any_size() {
    for (columns, rows) in [(1, 4), (7, 5), (20, 6), (200, 60)] {
        for keys in [&[][..], &["n", "a"], &["p"], &["e"]] {
            let mut scene = Scene::of(vec![change(1, DIFF)], Vec::new());
            scene.press(keys);
            scene.model.look.columns = columns;
            scene.model.look.rows = rows;
            let dialog = scene.model.dialog.as_ref().unwrap();
            let room = usize::from(rows - 3);
            let mut cache = crate::render::Cache::default();
            let panel =
                crate::view::dialog_panel(dialog, &scene.model, &mut cache, columns.into(), room);
            assert!(panel.rows.len() <= room, "{columns}x{rows} {keys:?}");
        }
    }
}

#[test]
fn a_failed_answer_is_reported_above_the_question() {
    let mut scene = Scene::of(vec![approval(1, "a")], Vec::new());
    scene.model.trouble(&crate::effect::ErrorReport::new(
        "it is stale",
        "look again",
    ));
    assert_eq!(scene.rows(40, 12)[1], "✗ it is stale · look again");
    scene.later(7_000);
    scene.tick();
    assert_eq!(scene.rows(40, 12)[1], "│ a");
}

/// The rows of the body, as the dialog has them.
fn made(scene: &Scene, columns: u16) -> Rc<Vec<Line<'static>>> {
    match &scene.model.dialog {
        Some(Dialog::Interaction(dialog)) => {
            Layout::new(dialog, &scene.model, columns.into(), 24).body
        }
        other => panic!("no approval: {other:?}"),
    }
}

#[test]
fn the_body_is_rendered_once_however_often_it_is_drawn() {
    let long: String = (0..3_000).map(|n| format!("+line {n}\n")).collect();
    let diff = format!("@@ -0,0 +1,3000 @@\n{long}");
    let mut scene = Scene::of(vec![change(1, &diff)], Vec::new());
    scene.panel(80, 24);
    let first = made(&scene, 80);
    for _ in 0..3 {
        scene.press(&["down", "pagedown", "up"]);
        scene.panel(80, 24);
    }
    assert!(Rc::ptr_eq(&first, &made(&scene, 80)));
    scene.model.look.theme = crate::theme::Theme::Light;
    assert!(!Rc::ptr_eq(&first, &made(&scene, 80)));
    scene.panel(40, 24);
    assert!(!Rc::ptr_eq(&first, &made(&scene, 40)));
}

#[test]
fn every_row_of_the_change_has_the_foreign_mark() {
    let mut scene = Scene::of(vec![change(1, DIFF)], Vec::new());
    let rows = scene.rows(80, 24);
    assert_eq!(rows[1..3], ["│ src/a.rs", "│ +1 −1"]);
}

#[test]
fn a_plan_is_rendered_with_every_character_and_what_a_yes_means() {
    let open = plan(
        9,
        "# The plan\n\n1. write **it**\n2. hide\u{202e} nothing \u{1b}[31m",
    );
    let mut scene = Scene::fresh(Vec::new(), Vec::new());
    scene.session().open = vec![open];
    scene.tick();
    let text = scene.text(80, 24);
    for words in [
        "Carry out this plan?",
        "The plan",
        "1. write it",
        "\\u{202e}",
        "\\u{1b}[31m",
        "Approving ends plan mode.",
        "y approve; run calls without asking",
        "c approve; keep asking to confirm calls",
        "n reject and keep planning",
        "Esc answer later",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    scene.later(300);
    scene.press(&["n"]);
    let text = scene.text(80, 24);
    assert!(text.contains("Keep planning. What is missing?"), "{text}");
    scene.press(&["esc"]);
    scene.model.look.language = Language::Chinese;
    let text = scene.text(40, 12);
    assert!(text.contains("执行这个计划？"), "{text}");
}

#[test]
fn a_way_out_of_the_sandbox_is_offered_for_once_alone() {
    let open = approval_with(1, "touch /etc/x", |open| {
        open.escape = Some("it writes where it may not\u{202e}".to_owned());
        open.scopes = Vec::new();
        open.editable = false;
    });
    for (columns, rows) in SIZES {
        let mut scene = Scene::of(vec![open.clone()], Vec::new());
        let mut seen = String::new();
        for _ in 0..20 {
            seen += &scene.text(columns, rows).replace('\n', " ");
            scene.press(&["pagedown"]);
        }
        assert!(seen.contains("outside the sandbox?"), "{seen}");
        assert!(
            seen.contains("y yes, once, outside") || seen.contains("y once"),
            "{seen}"
        );
        assert!(seen.contains("may have blocked it"), "{seen}");
        assert!(seen.contains("\\u{202e}"), "{seen}");
        for other in ["session", "always", "asked because", "edit"] {
            assert!(!seen.contains(other), "{other}: {seen}");
        }
    }
    let mut scene = Scene::of(vec![open], Vec::new());
    scene.model.look.language = Language::Chinese;
    let seen = scene.text(100, 30);
    for words in ["在沙箱外运行一次？", "被沙箱阻止", "在沙箱外仅此一次"] {
        assert!(seen.contains(words), "{words}: {seen}");
    }
}
