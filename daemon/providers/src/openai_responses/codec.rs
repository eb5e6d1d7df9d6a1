//! Renders conversations as Responses requests. Pure: equal input always yields equal bytes.
//!
//! A fragment is the input items of one neutral item, comma-joined. An answer may have several,
//! including its encrypted reasoning, unchanged. The vendor stores nothing (`store: false`), so
//! each request contains everything.

use contract::{Asked, Codec, Prefix, ToolDeclaration};
use proto::item::{AssistantMessage, Item, ToolCall, ToolMessage, UserMessage};

use super::KIND;
use crate::ids;
use crate::json::{on_one_line, push_string, schemas};
use crate::options::ProviderOptions;
use crate::registry::OpenError;
use crate::thoughts::{AnswerPiece, answer_pieces};
use crate::{body, extra, user_text};

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

/// The longest id that the vendor accepts.
const ID_MAX: usize = 64;

/// The codec of one entry.
pub(super) struct Responses {
    extra: String,
}

impl Responses {
    /// Checks the members that the entry adds to requests.
    pub(super) fn new(options: &ProviderOptions) -> Result<Self, OpenError> {
        extra::no_command(options)?;
        let mut extra = String::new();
        // Models without reasoning refuse it, so an entry may set its own `include`.
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
        push_string(&mut out, &user_text::render(message));
        out.push_str("}]}");
        out
    }

    fn assistant(message: &AssistantMessage) -> Option<String> {
        let mut answer_pieces = answer_pieces(message, KIND);
        // The vendor refuses reasoning that its result does not follow.
        while matches!(answer_pieces.last(), Some(AnswerPiece::Thought(_))) {
            answer_pieces.pop();
        }
        let mut out = String::new();
        for piece in answer_pieces {
            if !out.is_empty() {
                out.push(',');
            }
            match piece {
                AnswerPiece::Text(text) => push_text(&mut out, text),
                AnswerPiece::Call(call) => push_call(&mut out, call),
                AnswerPiece::Thought(thought) => out.push_str(&on_one_line(&thought.data)),
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
    fn prefix(&self, model: &str, system: &str, tools: &[ToolDeclaration]) -> Prefix {
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
                    // The vendor defaults to strict, which requires other schemas.
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
