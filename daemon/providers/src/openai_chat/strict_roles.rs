//! The order of messages for servers that demand that user and assistant alternate: consecutive user messages become one,
//! and an answer separates tool results from the user's next message. Pure: works on the rendered messages.
//!
//! Mistral's API refuses a user message after a tool result (`invalid_request_message_order`, code 3230). The chat
//! templates of Mistral, Gemma and Llama 2 refuse two user messages in a row.

use std::borrow::Cow;

use contract::codec::FragmentRole;

use crate::openai_chat::image_messages::ChatMessage;

/// The bytes around the text of a user message, as `user_text::user` renders it.
const HEAD: &[u8] = br#"{"role":"user","content":""#;
const TAIL: &[u8] = br#""}"#;
/// An empty line between two texts, as JSON.
const SEPARATOR: &[u8] = br"\n\n";
/// The answer after tool results that the model did not comment on: the turn was interrupted, or the user steered.
const ACKNOWLEDGEMENT: &[u8] = br#"{"role":"assistant","content":"Understood."}"#;

/// The messages in an order that such servers accept.
pub(super) fn arrange(messages: Vec<ChatMessage<'_>>) -> Vec<Cow<'_, [u8]>> {
    let mut arranged: Vec<Cow<'_, [u8]>> = Vec::with_capacity(messages.len());
    let mut previous_role = None;
    for ChatMessage { role, bytes } in messages {
        let is_user = role == FragmentRole::User;
        let text = user_text(&bytes).filter(|_| is_user);
        let follows_user = previous_role == Some(FragmentRole::User);
        let previous = arranged.last_mut().filter(|_| follows_user);
        match (previous, text) {
            (Some(previous), Some(text)) if user_text(previous).is_some() => append(previous, text),
            // After results, or after their images.
            _ if is_user && (follows_user || previous_role == Some(FragmentRole::Tool)) => {
                arranged.push(Cow::Borrowed(ACKNOWLEDGEMENT));
                arranged.push(bytes);
            }
            _ => arranged.push(bytes),
        }
        previous_role = Some(role);
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
