//! Characters that nobody sees as what they are. Called by `shell`.

/// Control characters, and those that take no room or turn the text's direction. Blank, tab and newline are no
/// such characters.
pub(crate) fn is_unseen(c: char) -> bool {
    if matches!(c, '\t' | '\n') {
        return false;
    }
    c.is_control() || (c != ' ' && c.is_whitespace()) || proto::hidden(c) || proto::invisible(c)
}
