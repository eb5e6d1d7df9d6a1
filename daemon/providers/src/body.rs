//! The bytes of a request: its members, and the messages copied behind them. Called by the codecs.

use contract::{Asked, RequestBuffer, ToolChoice};

/// Appends members that are not empty: each with its name, and the brackets around it.
pub(crate) fn push_members(head: &mut String, members: &[(&str, &str, &str, &str)]) {
    for (name, open, member, close) in members {
        if !member.is_empty() {
            for part in [",", name, open, member, close] {
                head.push_str(part);
            }
        }
    }
}

/// What stands before the messages, with the system's message as the first of them, up to their bracket.
pub(crate) fn with_messages<'a>(
    head: &str,
    system: &str,
    messages: impl Iterator<Item = &'a [u8]> + Clone,
) -> RequestBuffer {
    let length: usize = messages.clone().map(|message| message.len() + 1).sum();
    let mut body = RequestBuffer::with_capacity(head.len() + system.len() + length + 32);
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(system.as_bytes());
    let mut first = system.is_empty();
    for message in messages {
        if !std::mem::take(&mut first) {
            body.push(b',');
        }
        body.extend_from_slice(message);
    }
    body.push(b']');
    body
}

/// Ends a body of OpenAI's kinds.
pub(crate) fn close(body: &mut RequestBuffer, asked: &Asked<'_>) {
    if !asked.prefix.tools.is_empty() {
        body.extend_from_slice(match asked.tool_choice {
            ToolChoice::Auto => b",\"tool_choice\":\"auto\"",
            ToolChoice::None => b",\"tool_choice\":\"none\"",
        });
    }
    body.push(b'}');
}
