//! Characters that reorder or hide others where they are shown. Pure.
//!
//! One list for everything that is made to be read: by clients, and in what the daemon writes for people.

/// Whether a character shows nothing itself and changes what is seen of others. Those that have their use in ordinary
/// text, such as the joiner inside an emoji, are none.
#[must_use]
pub fn hidden(character: char) -> bool {
    matches!(
        character,
        '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}
