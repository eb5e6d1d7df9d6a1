//! Invisible and misleading characters. Called by `shell`.

/// Control characters, and characters without width or that change the text direction. Blank, tab and newline are not
/// included.
pub(crate) fn is_unseen(c: char) -> bool {
    if matches!(c, '\t' | '\n') {
        return false;
    }
    c.is_control() || (c != ' ' && c.is_whitespace()) || proto::hidden(c) || proto::invisible(c)
}
