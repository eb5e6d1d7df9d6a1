use std::time::Instant;

use proptest::prelude::*;
use proto::hello::Role;
use unicode_segmentation::UnicodeSegmentation;

use super::*;
use crate::messages::Language;
use crate::model::LaunchContext;
use crate::model::composer::menu::{MenuContext, Reads};

fn model(rows: u16) -> Model {
    let place = LaunchContext::of("/proj");
    let look = ViewOptions {
        rows,
        ..ViewOptions::default()
    };
    Model::new(look, place, Instant::now())
}

fn rows(panel: &Panel) -> Vec<String> {
    let rows = panel.rows.iter();
    rows.map(|row| row.to_string().trim_end().to_owned())
        .collect()
}

fn drawn(model: &Model, width: usize, most: usize) -> (Vec<String>, Option<(u16, u16)>) {
    let panel = panel(&model.composer, model, width, most);
    (rows(&panel), panel.cursor)
}

#[test]
fn text_is_wrapped_after_its_mark_with_the_cursor_at_the_caret() {
    let mut model = model(24);
    model.composer.set("one two three");
    assert_eq!(
        drawn(&model, 13, 12),
        (vec!["> one two".into(), "  three".into()], Some((1, 7)))
    );
    model.composer.set("中文中文中文");
    assert_eq!(
        drawn(&model, 12, 12),
        (vec!["> 中文中文".into(), "  中文".into()], Some((1, 6)))
    );
    model.composer.set("abcdefg");
    assert_eq!(
        drawn(&model, 10, 12),
        (vec!["> abcdefg".into()], Some((0, 9))),
        "a full row"
    );
    model.composer.set("a\n\n");
    assert_eq!(drawn(&model, 10, 12).1, Some((2, 2)));
    model.composer.set_vim(true);
    let composer = &mut model.composer;
    composer
        .vim
        .as_mut()
        .unwrap()
        .enter_normal(&mut composer.buffer);
    assert_eq!(drawn(&model, 10, 12).0[0], ": a");
}

#[test]
fn composer_grows_to_its_row_limit_and_keeps_the_caret_visible() {
    let text: Vec<String> = (0..30).map(|n| n.to_string()).collect();
    let mut model = model(24);
    model.composer.set(&text.join("\n"));
    let (rows, cursor) = drawn(&model, 40, 12);
    assert_eq!(
        (rows.len(), rows.last().unwrap().as_str(), cursor),
        (8, "  29", Some((7, 4)))
    );
    model.look.rows = 12;
    assert_eq!(drawn(&model, 40, 6).0.len(), 6);
    model.composer.buffer.go(0);
    let (rows, cursor) = drawn(&model, 40, 6);
    assert_eq!((rows[0].as_str(), cursor), ("> 0", Some((0, 2))));
    assert_eq!(drawn(&model, 40, 0), (vec![], None));
}

#[test]
fn empty_composer_shows_a_hint_that_fits_its_width() {
    let mut model = model(24);
    let (rows, cursor) = drawn(&model, 80, 12);
    assert!(rows[0].starts_with("> Ask"), "{rows:?}");
    assert_eq!(cursor, Some((0, 2)));
    model.look.language = Language::Chinese;
    assert!(drawn(&model, 80, 12).0[0].contains("文件"));
    for language in [Language::English, Language::Chinese] {
        model.look.language = language;
        assert!(wrap::width(&drawn(&model, 40, 12).0[0]) <= 40);
    }
}

#[test]
fn composer_without_prompt_rights_states_the_role() {
    let mut model = model(24);
    let mut begins = |role, language, width| {
        model.place.role = role;
        model.look.language = language;
        drawn(&model, width, 12).0.remove(0)
    };
    let (english, chinese) = (Language::English, Language::Chinese);
    let table = [
        (
            Role::Watch,
            english,
            80,
            "> Watching only: this client cannot prompt or answer.",
        ),
        (Role::Watch, english, 40, "> Watching only. "),
        (
            Role::Watch,
            chinese,
            80,
            "> 仅旁观：此客户端不能提问或答复。",
        ),
        (Role::Watch, chinese, 40, "> 仅旁观。"),
        (
            Role::Approve,
            english,
            80,
            "> Answering only: this client cannot prompt.",
        ),
        (Role::Approve, english, 40, "> Answering only. "),
        (Role::Approve, chinese, 80, "> 仅可答复：此客户端不能提问。"),
        (Role::Approve, chinese, 40, "> 仅可答复。"),
    ];
    for (role, language, width, words) in table {
        let row = begins(role, language, width);
        assert!(row.starts_with(words), "{row}");
        assert!(wrap::width(&row) <= width, "{row}");
    }
}

fn open(model: &mut Model, text: &str) {
    model.composer.set(text);
    model.composer.menu = Menu::default();
    let around = MenuContext {
        cwd: &model.place.cwd,
        home: None,
        role: Role::Drive,
    };
    for read in model.composer.menu.refresh(text, text.len(), around) {
        if let Reads::Directory(directory) = read {
            let names = (0..20).map(|n| format!("f{n:02}")).collect();
            model.composer.menu.listed(directory, names);
        }
    }
}

#[test]
fn commands_are_listed_below_with_descriptions() {
    let mut model = model(24);
    open(&mut model, "/the");
    assert_eq!(
        drawn(&model, 80, 12).0,
        [
            "> /the",
            "> /theme [NAME]  change the colours: auto, dark, light, 16 or none"
        ]
    );
    open(&mut model, "/que");
    assert!(drawn(&model, 80, 12).0[1].ends_with("needs a session"));
}

#[test]
fn a_long_menu_scrolls_and_says_where_it_is() {
    let mut model = model(24);
    open(&mut model, "@");
    let (rows, cursor) = drawn(&model, 40, 12);
    assert_eq!((rows.len(), cursor), (9, Some((0, 3))));
    assert_eq!(
        (rows[1].as_str(), rows[8].as_str()),
        ("> f00  1 of 20", "  f07")
    );
    model.composer.menu.step(false);
    let (rows, _) = drawn(&model, 40, 5);
    assert_eq!((rows.len(), rows[4].as_str()), (5, "> f19  20 of 20"));
}

proptest! {
    #[test]
    fn the_cursor_is_after_the_text_left_of_it(
        text in "([a-c ,]|e\u{301}|中|👩\u{200d}👧|❤\u{fe0f}|🇩🇪|\t|\n){0,40}",
        width in 8usize..30,
        at in 0usize..200,
    ) {
        let mut model = model(90);
        model.composer.set(&text);
        model.composer.buffer.go(at);
        let panel = panel(&model.composer, &model, width, 60);
        let (row, column) = panel.cursor.unwrap();
        let (row, column) = (usize::from(row), usize::from(column));
        prop_assert!(column < width);
        if text.is_empty() {
            return Ok(());
        }
        // All that is drawn is the text, tabs as blanks, broken into rows that fit.
        let cells = |text: &str| text.graphemes(true).map(wrap::width).sum::<usize>();
        let drawn: Vec<String> = panel.rows.iter().map(ToString::to_string).collect();
        for row in &drawn {
            prop_assert!(cells(row) < width, "{row:?} in {width}");
        }
        if drawn.len() >= 30 {
            return Ok(());
        }
        let flat = |text: &str| text.replace('\n', "").replace('\t', "    ");
        let body = |row: &String| row.get(MARK..).unwrap_or_default().to_owned();
        let all: String = drawn.iter().map(body).collect();
        prop_assert_eq!(all, flat(&text));
        // The text drawn before the cursor is the text before the caret.
        let (mut left, mut used) = (String::new(), MARK);
        for cluster in body(&drawn[row]).graphemes(true) {
            if used >= column {
                break;
            }
            used += wrap::width(cluster);
            left.push_str(cluster);
        }
        prop_assert_eq!(used, column);
        // As the cells are counted by what draws them.
        let area = ratatui::layout::Rect::new(0, 0, 40, 1);
        let mut cells = ratatui::buffer::Buffer::empty(area);
        let (end, _) = cells.set_line(0, 0, &Line::from(format!("> {left}")), 40);
        prop_assert_eq!(usize::from(end), column);
        let above: String = drawn[..row].iter().map(body).collect();
        prop_assert_eq!(above + &left, flat(model.composer.buffer.before()));
    }

    #[test]
    fn composer_panel_keeps_to_its_row_limit_at_any_width(text in "([a-c]|中|\n){0,20}", width in 0usize..8, most in 0usize..4) {
        let mut model = model(24);
        model.composer.set(&text);
        model.composer.paste(&"x\n".repeat(20), Language::English);
        let panel = panel(&model.composer, &model, width, most);
        prop_assert!(panel.rows.len() <= most);
    }

    #[test]
    fn rows_up_and_down_come_back(text in "([a-c ]|中|\n){1,40}", width in 4usize..20, at in 0usize..60) {
        let mut composer = Composer::new(false);
        composer.set(&text);
        composer.buffer.go(at);
        let before = composer.buffer.caret();
        if composer.row(true, width) {
            prop_assert!(composer.row(false, width));
            let laid = Rows::new(composer.buffer.as_str(), &composer.chips, width);
            let (row, column) = laid.place(before);
            let (again, found) = laid.place(composer.buffer.caret());
            prop_assert_eq!((row, column), (again, found));
        }
    }
}
