//! Tokens of a text, estimated and never counted: which tokens a vendor makes of it, only the vendor knows.
//!
//! A quarter of a token for an ASCII character, half of one for a letter beyond, one for an ideograph. The estimate of
//! two texts is never below that of both together.

/// An upper estimate of a text's tokens.
#[must_use]
pub fn tokens(text: &str) -> usize {
    quarters(text).div_ceil(4)
}

/// The same in quarters of a token.
#[must_use]
pub fn quarters(text: &str) -> usize {
    text.chars().map(weight).sum()
}

/// A character in quarters of a token.
#[must_use]
pub fn weight(char: char) -> usize {
    match char {
        '\0'..='\u{7f}' => 1,
        '\u{80}'..='\u{2dff}' => 2,
        _ => 4,
    }
}
