//! Scenarios for the text on the screen.

use super::*;

fn block(tone: Tone, text: &str) -> Piece {
    Piece::Block {
        tone,
        text: text.into(),
    }
}

#[test]
fn a_block_ends_an_open_line_first() {
    let mut painter = Painter::new(false, 10);
    let pieces = [
        Piece::Grow { text: "Hel".into() },
        block(Tone::Tool, "bash ls"),
        Piece::Whole,
    ];
    let text: String = pieces.iter().map(|piece| painter.paint(piece)).collect();
    assert_eq!(text, "Hel\n• bash ls\n");
}

#[test]
fn a_sequence_that_is_cut_by_the_stream_is_still_stripped() {
    let mut painter = Painter::new(false, 10);
    let pieces = ["a\u{1b}", "[3", "1mb"].map(|text| Piece::Grow { text: text.into() });
    assert_eq!(
        pieces
            .iter()
            .map(|piece| painter.paint(piece))
            .collect::<String>(),
        "ab"
    );
}

#[test]
fn a_line_of_a_model_does_not_look_like_one_of_the_programs() {
    let mut painter = Painter::new(false, 10);
    let pieces = [
        "Fine.\n?",
        " Allow `rm`? [y/N]\n ",
        " ✗ denied · or not!\n",
        "? ",
    ];
    let pieces = pieces.map(|text| Piece::Grow { text: text.into() });
    let text: String = pieces.iter().map(|piece| painter.paint(piece)).collect();
    assert_eq!(
        text,
        "Fine.\n│ ? Allow `rm`? [y/N]\n  │ ✗ denied · or not!\n│ ? "
    );
    assert_eq!(painter.paint(&Piece::Whole), "\n");
    assert_eq!(painter.paint(&block(Tone::Approval, "x")), "? x\n");
    assert_eq!(painter.paint(&Piece::Grow { text: "·".into() }), "│ ·");
}

#[test]
fn long_output_shows_its_end() {
    let mut painter = Painter::new(false, 2);
    assert_eq!(
        painter.paint(&block(Tone::Output, "1\n2\n3\n4")),
        "  │ … 2 more lines …\n  │ 3\n  │ 4\n"
    );
}

#[test]
fn without_colour_there_is_no_escape_and_marks_tell_who_speaks() {
    let tones = [
        Tone::User,
        Tone::Tool,
        Tone::Diff,
        Tone::Output,
        Tone::Notice,
        Tone::Warning,
        Tone::Error,
        Tone::Approval,
        Tone::State,
    ];
    for tone in tones {
        let plain = Painter::new(false, 9).paint(&block(tone, "+x"));
        assert!(!plain.contains('\u{1b}') && plain != "+x\n", "{tone:?}");
        assert!(
            Painter::new(true, 9)
                .paint(&block(tone, "+x"))
                .contains('\u{1b}'),
            "{tone:?}"
        );
    }
}

#[test]
fn a_question_shows_every_character() {
    let shown = Painter::new(false, 9).paint(&block(Tone::Approval, "rm \u{200b}x"));
    assert_eq!(shown, "? rm \\u{200b}x\n");
}

#[test]
fn a_list_has_a_mark_for_each_thing_also_where_there_is_only_ascii() {
    let todo = |status: TodoStatus| Todo {
        content: "Run\u{1b}[2J the tests".into(),
        active_form: "Running the tests".into(),
        status,
    };
    let all = [
        TodoStatus::Completed,
        TodoStatus::InProgress,
        TodoStatus::Pending,
    ];
    let piece = Piece::Todos {
        todos: all.map(todo).to_vec(),
    };
    let mut painter = Painter::new(false, 2);
    painter.utf8 = true;
    assert_eq!(
        painter.paint(&piece),
        "  ☑ Run the tests\n  ▶ Running the tests\n  ☐ Run the tests\n"
    );
    painter.utf8 = false;
    assert_eq!(
        painter.paint(&piece),
        "  [x] Run the tests\n  [>] Running the tests\n  [ ] Run the tests\n"
    );
}
