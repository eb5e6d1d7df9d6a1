//! A long tool result cut to its head and its tail.

use proto::Seq;
use proto::item::ToolMessage;

/// Results of more characters are shortened (contract, chapter 60).
const LONG: usize = 2_000;
/// Characters that stay of the beginning, and of the end.
const HEAD: usize = 1_000;
const TAIL: usize = 500;

/// The result with the middle of its text left out; `None`: it is short enough. `at`: the record that holds all of it.
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

/// The byte at which so many characters end.
fn cut(text: &str, chars: usize) -> usize {
    let found = text.char_indices().nth(chars);
    found.map_or(text.len(), |(at, _)| at)
}
