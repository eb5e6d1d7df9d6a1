//! Text of servers, without what a terminal or a reader would be misled by. Pure.

/// The text without escape sequences, control characters but line ends and tabs, and characters that are invisible or change
/// the direction of writing.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.peek() {
                Some('[') => {
                    chars.next();
                    // Parameters, then one final character.
                    while chars
                        .next_if(|c| matches!(c, '\u{20}'..='\u{3f}'))
                        .is_some()
                    {}
                    chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
                }
                Some(']' | 'P' | '_' | '^' | 'X') => {
                    // A string, to its end or the line's.
                    while chars
                        .next_if(|c| !matches!(c, '\u{7}' | '\u{1b}' | '\n'))
                        .is_some()
                    {}
                    chars.next_if(|c| *c == '\u{7}');
                }
                Some(_) | None => {}
            },
            '\n' | '\t' => out.push(c),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            c if c.is_control() || is_hidden(c) => {}
            c => out.push(c),
        }
    }
    out
}

/// Whether a character is not seen, or changes how others are.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}' | '\u{fff9}'..='\u{fffb}')
}

/// At most so many bytes of a text, and whether it was cut.
#[must_use]
pub fn cut(text: &str, bytes_max: usize) -> (&str, bool) {
    if text.len() <= bytes_max {
        return (text, false);
    }
    let end = text.floor_char_boundary(bytes_max);
    (text.get(..end).unwrap_or_default(), true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_and_hidden_characters_go_and_text_stays() {
        for (text, wanted) in [
            ("a\u{1b}[31mred\u{1b}[0m", "ared"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]8;;http://x\u{1b}\\y", "\\y"),
            ("a\r\nb\rc", "a\nb\nc"),
            ("x\u{202e}y\u{200b}z\u{0}", "xyz"),
            ("\u{1b}", ""),
            ("äöü\t1", "äöü\t1"),
        ] {
            assert_eq!(clean(text), wanted, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_control_character_is_left(text in "\\PC*|[\\x00-\\x9f]{0,60}") {
            let cleaned = clean(&text);
            prop_assert!(cleaned.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
            prop_assert_eq!(clean(&cleaned), cleaned.clone());
            let (part, was_cut) = cut(&cleaned, 10);
            prop_assert!(part.len() <= 10 && was_cut == (part.len() < cleaned.len()));
        }
    }
}
