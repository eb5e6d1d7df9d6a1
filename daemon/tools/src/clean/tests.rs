//! Scenes.

use proptest::prelude::*;

use super::*;

/// Stripped and folded, in pieces of `chunk` bytes.
fn cleaned(bytes: &[u8], chunk: usize) -> String {
    let (mut strip, mut fold) = (ControlStripper::default(), LineFolder::default());
    let mut out = String::new();
    for piece in bytes.chunks(chunk) {
        out += &fold.push(&strip.push(piece));
    }
    out += &fold.push(&strip.finish());
    out + &fold.finish()
}

#[test]
fn escape_sequences_are_gone_however_they_are_cut() {
    let long = format!("\x1bP{}end\n", "q".repeat(5000));
    for (printed, wanted) in [
        ("\x1b[1;31mred\x1b[0m\n", "red\n"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b(Bplain\x1b=\x1b>", "plain"),
        ("\u{9b}31mred\u{9d}title\u{9c}!", "red!"),
        ("bell\x07 null\0 del\x7f tab\t", "bell null del tab\t"),
        ("\x1b[2J\x1b[1;1Hhome", "home"),
        ("a\x1b[31\x18b", "ab"),
        ("中文 🦀\n", "中文 🦀\n"),
        ("unfinished \x1b[31", "unfinished "),
    ] {
        for chunk in [1, 2, 3, 1000] {
            assert_eq!(
                cleaned(printed.as_bytes(), chunk),
                wanted,
                "{printed:?} by {chunk}"
            );
        }
    }
    assert!(
        cleaned(long.as_bytes(), 100).ends_with("end\n"),
        "a string that never ends swallows no output"
    );
}

#[test]
fn progress_is_folded_to_its_last_state() {
    for (printed, wanted) in [
        ("10%\r50%\r100%\ndone\n", "100%\ndone\n"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("10%\r100%", "100%"),
        ("working\r", "working"),
        ("spin |\x08/\x08-\n", "spin -\n"),
        ("x\r\r\n", "x\n"),
    ] {
        for chunk in [1, 2, 1000] {
            assert_eq!(
                cleaned(printed.as_bytes(), chunk),
                wanted,
                "{printed:?} by {chunk}"
            );
        }
    }
    assert_eq!(live("10%\r50%\r\nx\x08"), "10%\n50%\nx");
}

#[test]
fn bytes_that_are_no_text_are_marked() {
    assert_eq!(cleaned(b"a\xffb\xe4\xb8", 1), "a\u{fffd}b\u{fffd}");
}

proptest! {
    /// No control byte passes, whatever is printed, and the pieces do not matter.
    #[test]
    fn nothing_that_drives_a_terminal_passes(bytes in prop::collection::vec(any::<u8>(), 0..200), chunk in 1_usize..20) {
        let text = cleaned(&bytes, chunk);
        prop_assert!(text.chars().all(|char| !char.is_control() || char == '\n' || char == '\t'));
        prop_assert_eq!(text, cleaned(&bytes, 1000));
    }
}
