use super::*;
use client::messages::Message;

/// All of help.
fn lines(look: &ViewOptions, width: usize) -> Vec<Line<'static>> {
    (0..SECTIONS)
        .flat_map(|index| section(index, look, width))
        .collect()
}

fn text(lines: &[Line<'static>]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

fn look(language: Language) -> ViewOptions {
    ViewOptions {
        language,
        ..ViewOptions::default()
    }
}

#[test]
fn every_key_and_command_is_in_help_and_in_the_reference() {
    let page = markdown();
    for language in [Language::English, Language::Chinese] {
        let rows = text(&lines(&look(language), 120));
        let is_listed = |left: &str, right: &str| {
            rows.iter()
                .any(|row| row.trim_start().starts_with(left) && row.trim_end().ends_with(right))
        };
        for row in BINDINGS {
            assert!(is_listed(&names(row), language.say(row.about())), "{row:?}");
            let key = row.keys.first().map(|name| code(&written(name)));
            assert!(page.contains(&key.unwrap_or_default()), "{row:?}");
            assert!(page.contains(&escaped(row.about().english())), "{row:?}");
        }
        for row in COMMANDS {
            assert!(is_listed(&command(row), language.say(row.about)), "{row:?}");
            assert!(page.contains(&code(&command(row))), "{row:?}");
        }
    }
}

#[test]
fn every_context_of_the_table_has_a_section() {
    for row in BINDINGS {
        let known = Context::ALL.contains(&row.context);
        assert!(known, "{:?}", row.context);
    }
}

#[test]
fn columns_are_aligned_at_80_and_stacked_at_40() {
    let wide = text(&section(2, &look(Language::English), 80));
    assert_eq!(wide.get(1).map(String::as_str), Some("Everywhere"));
    assert_eq!(
        wide.get(2).map(String::as_str),
        Some("  Ctrl-C  interrupt the turn; twice: quit now")
    );
    assert_eq!(
        wide.get(5).map(String::as_str),
        Some("  F1      show keys and commands")
    );
    let narrow = text(&section(2, &look(Language::English), 40));
    assert_eq!(narrow.get(2).map(String::as_str), Some("  Ctrl-C"));
    assert_eq!(
        narrow.get(3).map(|row| row.trim_end()),
        Some("    interrupt the turn; twice: quit now")
    );
}

#[test]
fn no_row_is_wider_than_the_screen() {
    for language in [Language::English, Language::Chinese] {
        for width in [8, 20, 40, 71, 72, 80, 200] {
            for row in text(&lines(&look(language), width)) {
                assert!(wrap::width(&row) <= width, "{width}: {row}");
            }
        }
    }
}

#[test]
fn a_bar_within_a_cell_does_not_end_it() {
    assert!(markdown().contains("`/approval-mode [ask\\|auto\\|yolo]`"));
}
