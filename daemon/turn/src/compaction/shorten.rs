//! Shortens a long tool result to its head and its tail.

use proto::Seq;
use proto::item::ToolMessage;

/// Results with more characters than this are shortened (contract, chapter 60).
const LONG: usize = 2_000;
/// Characters to keep of the beginning, and of the end.
const HEAD: usize = 1_000;
const TAIL: usize = 500;

/// Returns the result without the middle of a long text, and without images; `None`: it is short enough. `at`: the record
/// with the full result.
pub fn shorten(message: &ToolMessage, at: Option<Seq>) -> Option<ToolMessage> {
    let text = shortened_text(&message.text, at);
    if text.is_none() && message.images.is_empty() {
        return None;
    }
    let mut text = text.unwrap_or_else(|| message.text.clone());
    if !message.images.is_empty() {
        text.push_str("\n[The image was left out here to save room. Call the tool again if you need to see it.]");
    }
    Some(ToolMessage {
        text,
        images: Vec::new(),
        ..message.clone()
    })
}

/// How many bytes of a request it saves to shorten a result.
pub fn saved(long: &ToolMessage, short: &ToolMessage) -> u64 {
    let size = |message: &ToolMessage| {
        contract::image::weight(&message.images).saturating_add(message.text.len() as u64)
    };
    size(long).saturating_sub(size(short))
}

fn shortened_text(text: &str, at: Option<Seq>) -> Option<String> {
    let count = text.chars().count();
    if count <= LONG {
        return None;
    }
    let (head, tail) = (cut(text, HEAD), cut(text, count - TAIL));
    let left_out = count - HEAD - TAIL;
    let whole = match at {
        Some(seq) => format!("; the whole is record {seq} of this session's log"),
        None => String::new(),
    };
    Some(format!(
        "{}\n[{left_out} characters were left out here to save room{whole}. Look again if you need them.]\n{}",
        &text[..head],
        &text[tail..]
    ))
}

/// The byte offset after `chars` characters.
fn cut(text: &str, chars: usize) -> usize {
    let found = text.char_indices().nth(chars);
    found.map_or(text.len(), |(at, _)| at)
}
