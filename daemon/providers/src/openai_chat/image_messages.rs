//! Images of tool results in chat completions: a message of role `tool` may only be a text, so the images of a round are in
//! one user message after its results. Pure: works on the rendered messages.

use std::borrow::Cow;

use contract::Fragment;
use contract::codec::FragmentRole;
use proto::item::{Image, ToolMessage};

use crate::json::quoted;
use crate::result_images::data_url;

/// Between a result and its images in a fragment. A string cannot contain it: there quotes are escaped.
const BETWEEN: &[u8] = br#",{"role":"user","content":["#;
const HEAD: &[u8] = br#"{"role":"user","content":["#;
const TAIL: &[u8] = b"]}";

/// A message of a request.
pub(super) struct ChatMessage<'a> {
    pub role: FragmentRole,
    pub bytes: Cow<'a, [u8]>,
}

/// Appends the images of a result to its fragment. `call`: the call's id as it is sent.
pub(super) fn append(rendered: &mut String, message: &ToolMessage, call: &str, images: &[Image]) {
    if images.is_empty() {
        return;
    }
    let which = format!(
        "[From the program that runs you, not from the user: images of the result of `{}`, call {}.]",
        message.tool, call
    );
    let parts = images.iter().map(|image| {
        let url = data_url(image);
        format!(r#"{{"type":"image_url","image_url":{{"url":"{url}"}}}}"#)
    });
    rendered.push_str(r#",{"role":"user","content":[{"type":"text","text":"#);
    rendered.push_str(&quoted(&which));
    rendered.push('}');
    for part in parts {
        rendered.push(',');
        rendered.push_str(&part);
    }
    rendered.push_str("]}");
}

/// The messages of these fragments: images follow the results of their round.
pub(super) fn arrange<'a>(fragments: &[Fragment<'a>]) -> Vec<ChatMessage<'a>> {
    let mut messages = Vec::with_capacity(fragments.len());
    let mut images: Vec<&[u8]> = Vec::new();
    for fragment in fragments {
        let is_result = fragment.role == FragmentRole::Tool;
        if !is_result {
            flush(&mut messages, &mut images);
        }
        let with_images = is_result.then(|| split(fragment.bytes)).flatten();
        let (bytes, of_result) = match with_images {
            Some((result, of_result)) => (result, Some(of_result)),
            None => (fragment.bytes, None),
        };
        images.extend(of_result);
        messages.push(ChatMessage {
            role: fragment.role,
            bytes: Cow::Borrowed(bytes),
        });
    }
    flush(&mut messages, &mut images);
    messages
}

/// A result, and the content of its user message.
fn split(fragment: &[u8]) -> Option<(&[u8], &[u8])> {
    let fragment = fragment.strip_suffix(TAIL)?;
    let at = fragment
        .windows(BETWEEN.len())
        .position(|bytes| bytes == BETWEEN)?;
    Some((&fragment[..at], &fragment[at + BETWEEN.len()..]))
}

fn flush(messages: &mut Vec<ChatMessage<'_>>, images: &mut Vec<&[u8]>) {
    if images.is_empty() {
        return;
    }
    let content = std::mem::take(images).join(&b","[..]);
    messages.push(ChatMessage {
        role: FragmentRole::User,
        bytes: Cow::Owned([HEAD, &content, TAIL].concat()),
    });
}
