//! The order of messages for servers that demand that user and assistant alternate: consecutive user messages become one,
//! and an answer separates tool results from the user's next message. Pure: works on the rendered messages.
//!
//! Mistral's API refuses a user message after a tool result (`invalid_request_message_order`, code 3230). The chat
//! templates of Mistral, Gemma and Llama 2 refuse two user messages in a row.

use std::borrow::Cow;

use contract::Fragment;
use contract::codec::FragmentRole;

/// The bytes around the text of a user message, as `user_text::user` renders it.
const HEAD: &[u8] = br#"{"role":"user","content":""#;
const TAIL: &[u8] = br#""}"#;
/// An empty line between two texts, as JSON.
const SEPARATOR: &[u8] = br"\n\n";
/// The answer after tool results that the model did not comment on: the turn was interrupted, or the user steered.
const ACKNOWLEDGEMENT: &[u8] = br#"{"role":"assistant","content":"Understood."}"#;

/// The messages in an order that such servers accept.
pub(super) fn arrange<'a>(fragments: &[Fragment<'a>]) -> Vec<Cow<'a, [u8]>> {
    let mut arranged: Vec<Cow<'a, [u8]>> = Vec::with_capacity(fragments.len());
    let mut previous_role = None;
    for fragment in fragments {
        let is_user = fragment.role == FragmentRole::User;
        let text = user_text(fragment.bytes).filter(|_| is_user);
        match (previous_role, arranged.last_mut(), text) {
            (Some(FragmentRole::User), Some(previous), Some(text)) => append(previous, text),
            (Some(FragmentRole::Tool), ..) if is_user => {
                arranged.push(Cow::Borrowed(ACKNOWLEDGEMENT));
                arranged.push(Cow::Borrowed(fragment.bytes));
            }
            _ => arranged.push(Cow::Borrowed(fragment.bytes)),
        }
        previous_role = Some(fragment.role);
    }
    arranged
}

/// The text of a user message, still escaped.
fn user_text(message: &[u8]) -> Option<&[u8]> {
    message.strip_prefix(HEAD)?.strip_suffix(TAIL)
}

/// Appends a text to the user message before it.
fn append(message: &mut Cow<'_, [u8]>, text: &[u8]) {
    let message = message.to_mut();
    message.truncate(message.len() - TAIL.len());
    for part in [SEPARATOR, text, TAIL] {
        message.extend_from_slice(part);
    }
}
