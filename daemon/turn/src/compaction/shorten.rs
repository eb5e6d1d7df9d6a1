//! Shortens a long tool result to its head and its tail.

use proto::Seq;
use proto::item::ToolMessage;

/// Results with more characters than this are shortened (contract, chapter 60).
const LONG: usize = 2_000;
/// Characters to keep of the beginning, and of the end.
const HEAD: usize = 1_000;
const TAIL: usize = 500;

/// Returns the result without the middle of its text; `None`: it is short enough. `at`: the record with the full result.
pub fn shorten(message: &ToolMessage, at: Option<Seq>) -> Option<ToolMessage> {
    let count = message.text.chars().count();
    if count <= LONG {
        return None;
    }
    let (head, tail) = (cut(&message.text, HEAD), cut(&message.text, count - TAIL));
    let left_out = count - HEAD - TAIL;
    let whole = match at {
        Some(seq) => format!("; the whole is record {seq} of this session's log"),
        None => String::new(),
    };
    let text = format!(
        "{}\n[{left_out} characters were left out here to save room{whole}. Look again if you need them.]\n{}",
        &message.text[..head],
        &message.text[tail..]
    );
    Some(ToolMessage {
        text,
        ..message.clone()
    })
}

/// The byte offset after `chars` characters.
fn cut(text: &str, chars: usize) -> usize {
    let found = text.char_indices().nth(chars);
    found.map_or(text.len(), |(at, _)| at)
}
