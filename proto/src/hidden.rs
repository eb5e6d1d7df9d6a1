//! Characters that reorder or hide others where they are shown. Pure.
//!
//! One list for everything that is made to be read: by clients, and in what the daemon writes for people.

/// Whether a character shows nothing itself and changes what is seen of others: Unicode's
/// `Default_Ignorable_Code_Point` and the format characters (`Cf`) that draw nothing. Those that have their use in
/// ordinary text, such as the joiner inside an emoji, are none.
#[must_use]
pub fn hidden(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}
