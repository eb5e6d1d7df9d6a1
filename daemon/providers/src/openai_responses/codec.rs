//! Renders conversations as Responses requests. Pure: equal input always yields equal bytes.
//!
//! A fragment is the input items of one neutral item, comma-joined. An answer may have several,
//! including its encrypted reasoning, unchanged. The vendor stores nothing (`store: false`), so
//! each request contains everything.

use contract::{Asked, Codec, Prefix, RequestBuffer, ServerCompaction, ToolDeclaration};
use proto::item::{AssistantMessage, Image, Item, ToolMessage};
use serde_json::{Value, json};

use super::{KIND, OPEN_REASONING, PHASE};
use crate::ids;
use crate::json::{on_one_line, quoted, schemas};
use crate::options::ProviderOptions;
use crate::registry::OpenError;
use crate::result_images::{self, data_url};
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
    /// Whether reasoning goes back that is not encrypted.
    sends_reasoning: bool,
    /// Whether its models are known to reason.
    reasons: bool,
    vision: Option<bool>,
    /// Whether the entry turns on the vendor's own compaction.
    pub(super) compacts: bool,
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
        Ok(Self {
            extra,
            sends_reasoning: options.sends_reasoning,
            reasons: options.effort.is_some() || !options.efforts.is_empty(),
            vision: options.vision,
            compacts: options.server_compaction,
        })
    }

    fn assistant(&self, message: &AssistantMessage) -> Option<String> {
        let kinds = [KIND, PHASE, OPEN_REASONING];
        let kinds = if self.sends_reasoning {
            &kinds[..]
        } else {
            &kinds[..2]
        };
        let mut answer_pieces = answer_pieces(message, kinds);
        // The vendor refuses reasoning that its result does not follow.
        while matches!(answer_pieces.last(), Some(AnswerPiece::Thought(_))) {
            answer_pieces.pop();
        }
        let (mut out, mut phase, mut texts) = (Vec::new(), None, 0);
        for piece in answer_pieces {
            match piece {
                AnswerPiece::Text(text) => {
                    texts += 1;
                    let id = format!("msg_{}_{texts}", message.item.0.replace('.', "-"));
                    out.push(output_message(&id, text, phase.take()));
                }
                AnswerPiece::Call(call) => {
                    let call = json!({
                        "type": "function_call", "call_id": ids::fit(&call.id.0, ID_MAX),
                        "name": call.name, "arguments": call.arguments,
                    });
                    out.push(call.to_string());
                }
                AnswerPiece::Thought(thought) if thought.kind == PHASE => {
                    phase = serde_json::from_str::<Value>(&thought.data).ok();
                }
                AnswerPiece::Thought(thought) => out.push(on_one_line(&thought.data).into_owned()),
            }
        }
        let out = out.join(",");
        Some(out).filter(|out| !out.is_empty())
    }

    fn tool(&self, message: &ToolMessage) -> String {
        let text = result_images::text(message, self.vision);
        let output = match result_images::sent(message, self.vision) {
            [] => quoted(&text),
            images => output_parts(&text, images),
        };
        let call = quoted(&ids::fit(&message.call.0, ID_MAX));
        format!(r#"{{"type":"function_call_output","call_id":{call},"output":{output}}}"#)
    }
}

/// The parts of a result that is more than a text.
fn output_parts(text: &str, images: &[Image]) -> String {
    let text = json!({"type": "input_text", "text": text}).to_string();
    let images = images.iter().map(|image| {
        let url = data_url(image);
        format!(r#"{{"type":"input_image","image_url":"{url}"}}"#)
    });
    let parts: Vec<_> = [text].into_iter().chain(images).collect();
    format!("[{}]", parts.join(","))
}

/// A message of the model as its answer had it. The id is ours: one of the vendor's would be looked up beside others.
fn output_message(id: &str, text: &str, phase: Option<Value>) -> String {
    let mut message = json!({
        "type": "message", "id": ids::fit(id, ID_MAX), "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    });
    if let Some(Value::Object(phase)) = phase {
        message["phase"] = phase.get("phase").cloned().unwrap_or_default();
    }
    message.to_string()
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
            Item::Assistant(message) => self.assistant(message),
            Item::Tool(message) => Some(self.tool(message)),
        }
    }

    fn sends_images(&self) -> bool {
        self.vision == Some(true)
    }

    fn server_compaction(&self) -> Option<&dyn ServerCompaction> {
        Some(self)
    }

    fn temperature(&self, hundredths: u32) -> Option<String> {
        extra::temperature(&self.extra, hundredths)
    }

    fn with_output_limit(&self, extra: &str, tokens: u64) -> Option<String> {
        extra::with_output_limit(extra, "max_output_tokens", tokens, self.reasons)
    }

    fn assemble(&self, asked: &Asked<'_>) -> RequestBuffer {
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
        let mut body = body::with_messages(
            &head,
            "",
            asked.fragments.iter().map(|fragment| fragment.bytes),
        );
        body::close(&mut body, asked);
        body
    }
}

#[cfg(test)]
mod tests;
