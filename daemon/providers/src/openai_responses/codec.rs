//! Conversations as Responses bytes. Pure, and the same bytes for the same input for ever.
//!
//! A fragment is the input items of one neutral item, comma-joined: an answer may be several, its encrypted reasoning
//! among them as it came. The vendor keeps nothing (`store: false`), so all of it goes with each request.

use contract::{Asked, Codec, Prefix, ToolSpec};
use proto::item::{AssistantMessage, Item, ToolCall, ToolMessage, UserMessage};

use super::KIND;
use crate::ids;
use crate::json::{on_one_line, push_string, schemas};
use crate::options::Options;
use crate::registry::OpenError;
use crate::thoughts::{Piece, pieces};
use crate::{body, extra, said};

/// Members that the request writes itself.
const RESERVED: &[&str] = &[
    "model",
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "stream",
    "store",
    "prompt_cache_key",
    "previous_response_id",
    "conversation",
    "max_output_tokens",
];

/// The longest id that the vendor takes.
const ID_MAX: usize = 64;

/// Renders for one entry.
pub(super) struct Responses {
    extra: String,
}

impl Responses {
    /// Checks what the entry adds to requests.
    pub(super) fn new(options: &Options) -> Result<Self, OpenError> {
        extra::no_command(options)?;
        let mut extra = String::new();
        // Models that do not reason refuse it: an entry may have an `include` of its own.
        if !extra::has(options, "include") {
            extra.push_str("\"include\":[\"reasoning.encrypted_content\"]");
        }
        if options.max_output_tokens != 0 {
            let limit = format!("\"max_output_tokens\":{}", options.max_output_tokens);
            extra::join(&mut extra, &limit);
        }
        if let Some(effort) = extra::effort(options, &["reasoning"])? {
            let reasoning = format!("\"reasoning\":{{\"effort\":{effort},\"summary\":\"auto\"}}");
            extra::join(&mut extra, &reasoning);
        }
        extra::join(&mut extra, &extra::members(options, RESERVED)?);
        Ok(Self { extra })
    }

    fn user(message: &UserMessage) -> String {
        let mut out = String::from(
            "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":",
        );
        push_string(&mut out, &said::words(message));
        out.push_str("}]}");
        out
    }

    fn assistant(message: &AssistantMessage) -> Option<String> {
        let mut pieces = pieces(message, KIND);
        // Reasoning is refused where what it led to does not follow.
        while matches!(pieces.last(), Some(Piece::Thought(_))) {
            pieces.pop();
        }
        let mut out = String::new();
        for piece in pieces {
            if !out.is_empty() {
                out.push(',');
            }
            match piece {
                Piece::Text(text) => push_text(&mut out, text),
                Piece::Call(call) => push_call(&mut out, call),
                Piece::Thought(thought) => out.push_str(&on_one_line(&thought.data)),
            }
        }
        Some(out).filter(|out| !out.is_empty())
    }

    fn tool(message: &ToolMessage) -> String {
        let mut out = String::from("{\"type\":\"function_call_output\",\"call_id\":");
        push_string(&mut out, &ids::fit(&message.call.0, ID_MAX));
        out.push_str(",\"output\":");
        push_string(&mut out, &message.text);
        out.push('}');
        out
    }
}

fn push_text(out: &mut String, text: &str) {
    out.push_str(
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":",
    );
    push_string(out, text);
    out.push_str("}]}");
}

fn push_call(out: &mut String, call: &ToolCall) {
    out.push_str("{\"type\":\"function_call\",\"call_id\":");
    push_string(out, &ids::fit(&call.id.0, ID_MAX));
    out.push_str(",\"name\":");
    push_string(out, &call.name);
    out.push_str(",\"arguments\":");
    push_string(out, &call.arguments);
    out.push('}');
}

impl Codec for Responses {
    fn prefix(&self, model: &str, system: &str, tools: &[ToolSpec]) -> Prefix {
        let mut instructions = String::new();
        if !system.is_empty() {
            push_string(&mut instructions, system);
        }
        Prefix {
            model: model.to_owned(),
            system: instructions,
            tools: schemas(
                tools,
                [
                    "{\"type\":\"function\",\"name\":",
                    ",\"parameters\":",
                    // Strict is what the vendor takes for granted, and it demands other schemas.
                    ",\"strict\":false}",
                ],
            ),
            extra: self.extra.clone(),
        }
    }

    fn render(&self, item: &Item) -> Option<String> {
        match item {
            Item::User(message) => Some(Self::user(message)),
            Item::Assistant(message) => Self::assistant(message),
            Item::Tool(message) => Some(Self::tool(message)),
        }
    }

    fn temperature(&self, hundredths: u32) -> Option<String> {
        extra::temperature(&self.extra, hundredths)
    }

    fn assemble(&self, asked: &Asked<'_>) -> Vec<u8> {
        let prefix = asked.prefix;
        let mut head = String::from("{\"model\":");
        push_string(&mut head, &prefix.model);
        head.push_str(",\"stream\":true,\"store\":false");
        body::push_members(
            &mut head,
            &[
                ("", "", &prefix.extra, ""),
                ("\"tools\":", "[", &prefix.tools, "]"),
                ("\"instructions\":", "", &prefix.system, ""),
            ],
        );
        if !asked.cache_key.is_empty() {
            head.push_str(",\"prompt_cache_key\":");
            push_string(&mut head, asked.cache_key);
        }
        head.push_str(",\"input\":[");
        let mut body = body::with_messages(&head, "", asked.fragments);
        body::close(&mut body, asked);
        body
    }
}

#[cfg(test)]
mod tests;
