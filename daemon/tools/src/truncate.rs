//! The one function that cuts a text for a model, to a length in estimated tokens.

use contract::estimate::{quarters, weight};

pub(crate) use contract::estimate::tokens;

/// The text to truncate; its middle may be missing already.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextPieces<'a> {
    pub head: &'a str,
    /// Bytes between head and tail that were not kept.
    pub missing: u64,
    pub tail: &'a str,
}

impl<'a> TextPieces<'a> {
    /// A text that is all there.
    pub(crate) fn whole(text: &'a str) -> Self {
        Self {
            head: text,
            missing: 0,
            tail: "",
        }
    }
}

/// A text that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TruncatedText {
    pub text: String,
    /// Something was left out.
    pub cut: bool,
}

/// Cuts to at most `tokens_max` tokens, note included: keeps head and tail, at line ends where one is near, never inside
/// a character. `hint` says how to get the rest.
pub(crate) fn cut(pieces: TextPieces<'_>, tokens_max: usize, hint: &str) -> TruncatedText {
    let TextPieces {
        head,
        missing,
        tail,
    } = pieces;
    let room = tokens_max * 4;
    if missing == 0 && quarters(head) + quarters(tail) <= room {
        return TruncatedText {
            text: format!("{head}{tail}"),
            cut: false,
        };
    }
    // The longest that the note can become, so that it always fits.
    let all = missing + (head.len() + tail.len()) as u64;
    let note_max = quarters(&note(all, all, hint)) + 2;
    if note_max > room {
        return TruncatedText {
            text: front(hint, room).to_owned(),
            cut: true,
        };
    }
    let room = room - note_max;
    // A text that is all there is cut in its middle; of one that is not, each piece gets its half.
    let (front_text, back_text) = if missing == 0 && tail.is_empty() {
        (head, head)
    } else {
        (head, tail)
    };
    let kept_head = front(front_text, room / 2);
    let room_back = room - quarters(kept_head);
    let kept_tail = back(back_text, room_back);
    let left_out_bytes = all - (kept_head.len() + kept_tail.len()) as u64;
    let middle = if missing == 0 && tail.is_empty() {
        lines(&head[kept_head.len()..head.len() - kept_tail.len()])
    } else {
        lines(&head[kept_head.len()..]) + lines(&tail[..tail.len() - kept_tail.len()])
    };
    let end = if kept_head.is_empty() || kept_head.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    // Lines are not counted if the middle was not kept.
    let note = note(left_out_bytes, if missing > 0 { 0 } else { middle }, hint);
    TruncatedText {
        text: format!("{kept_head}{end}{note}\n{kept_tail}"),
        cut: true,
    }
}

fn note(bytes: u64, lines: u64, hint: &str) -> String {
    let lines = if lines > 0 {
        format!("{lines} lines, ")
    } else {
        String::new()
    };
    format!("[… {lines}{bytes} bytes left out; {hint}]")
}

fn lines(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u64
}

/// The beginning of a text, within `room` quarters of a token.
fn front(text: &str, room: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find_map(|(at, char)| {
        used += weight(char);
        (used > room).then_some(at)
    });
    let Some(end) = end else { return text };
    // Back to a line's end, unless that would give away much.
    match text[..end].rfind('\n') {
        Some(line) if line + 1 >= end - end / 4 => &text[..=line],
        _ => &text[..end],
    }
}

/// The end of a text, within `room` quarters of a token.
fn back(text: &str, room: usize) -> &str {
    let mut used = 0;
    let start = text.char_indices().rev().find_map(|(at, char)| {
        used += weight(char);
        (used > room).then_some(at + char.len_utf8())
    });
    let Some(start) = start else { return text };
    let kept = text.len() - start;
    match text[start..].find('\n') {
        Some(line) if line < kept / 4 => &text[start + line + 1..],
        _ => &text[start..],
    }
}

#[cfg(test)]
mod tests;
