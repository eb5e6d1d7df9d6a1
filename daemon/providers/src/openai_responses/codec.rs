//! Renders conversations as Responses requests. Pure: equal input always yields equal bytes.
//!
//! A fragment is the input items of one neutral item, comma-joined. An answer may have several,
//! including its encrypted reasoning, unchanged. The vendor stores nothing (`store: false`), so
//! each request contains everything.

use contract::{Asked, Codec, Prefix, ToolDeclaration};
use proto::item::{AssistantMessage, Item};
use serde_json::{Value, json};

use super::KIND;
use crate::ids;
use crate::json::{on_one_line, quoted, schemas};
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

    fn assistant(message: &AssistantMessage) -> Option<String> {
        let mut answer_pieces = answer_pieces(message, KIND);
        // The vendor refuses reasoning that its result does not follow.
        while matches!(answer_pieces.last(), Some(AnswerPiece::Thought(_))) {
            answer_pieces.pop();
        }
        let pieces = answer_pieces.into_iter().map(|piece| match piece {
            AnswerPiece::Text(text) => message_of("assistant", "output_text", text).to_string(),
            AnswerPiece::Call(call) => json!({
                "type": "function_call", "call_id": ids::fit(&call.id.0, ID_MAX), "name": call.name,
                "arguments": call.arguments,
            })
            .to_string(),
            AnswerPiece::Thought(thought) => on_one_line(&thought.data).into_owned(),
        });
        let out = pieces.collect::<Vec<_>>().join(",");
        Some(out).filter(|out| !out.is_empty())
    }
}

fn message_of(role: &str, kind: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

impl Codec for Responses {
    fn prefix(&self, model: &str, system: &str, tools: &[ToolDeclaration]) -> Prefix {
        let system = match system {
            "" => String::new(),
            text => quoted(text),
        };
        Prefix {
            model: model.to_owned(),
            system,
            // The vendor defaults to strict, which requires other schemas.
            tools: schemas(tools, |name, description, schema| {
                json!({
                    "type": "function", "name": name, "description": description,
                    "parameters": schema, "strict": false,
                })
            }),
            extra: self.extra.clone(),
        }
    }

    fn render(&self, item: &Item) -> Option<String> {
        match item {
            Item::User(message) => {
                let text = user_text::render(message);
                Some(message_of("user", "input_text", &text).to_string())
            }
            Item::Assistant(message) => Self::assistant(message),
            Item::Tool(message) => {
                let call = ids::fit(&message.call.0, ID_MAX);
                let output = json!({
                    "type": "function_call_output", "call_id": call, "output": message.text,
                });
                Some(output.to_string())
            }
        }
    }

    fn temperature(&self, hundredths: u32) -> Option<String> {
        extra::temperature(&self.extra, hundredths)
    }

    fn assemble(&self, asked: &Asked<'_>) -> Vec<u8> {
        let prefix = asked.prefix;
        let mut head = format!("{{\"model\":{}", quoted(&prefix.model));
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
            head.push_str(&format!(
                ",\"prompt_cache_key\":{}",
                quoted(asked.cache_key)
            ));
        }
        head.push_str(",\"input\":[");
        let mut body = body::with_messages(&head, "", asked.fragments);
        body::close(&mut body, asked);
        body
    }
}

#[cfg(test)]
mod tests;
