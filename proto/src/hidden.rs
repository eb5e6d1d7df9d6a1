//! Characters that reorder or hide others when shown. Pure.
//!
//! One list for everything that is made to be read: by clients, and in what the daemon writes for people.

/// Whether a character shows nothing itself and changes how others are shown: Unicode's
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

/// Whether a character looks like nothing, or like a blank, and has its use in ordinary text: written out only where
/// each byte matters.
#[must_use]
pub fn invisible(character: char) -> bool {
    matches!(
        character,
        '\u{a0}'
            | '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{1680}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{2000}'..='\u{200d}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{2800}'
            | '\u{3000}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{fffc}'
    )
}
