//! Renders conversations as the request object of `docs/command-provider.md`. Pure: equal input
//! yields equal bytes.

use contract::{Asked, Codec, Prefix, RequestBuffer, ToolChoice, ToolDeclaration};
use proto::item::{AssistantMessage, Item};
use serde_json::json;

use super::KIND;
use crate::json::{on_one_line, quoted, schemas};
use crate::options::ProviderOptions;
use crate::registry::OpenError;
use crate::{body, extra, result_images, user_text};

/// Members that the request writes itself.
const RESERVED: &[&str] = &[
    "version",
    "model",
    "effort",
    "max_output_tokens",
    "tools",
    "tool_choice",
    "system",
    "cache_key",
    "messages",
];

/// The codec of one entry.
pub(super) struct Lines {
    extra: String,
    sends_reasoning: bool,
}

impl Lines {
    /// Checks the members that the entry adds to requests.
    pub(super) fn new(options: &ProviderOptions) -> Result<Self, OpenError> {
        let mut extra = String::new();
        if let Some(effort) = extra::effort(options, &[])? {
            extra = format!("\"effort\":{effort}");
        }
        if options.max_output_tokens != 0 {
            let limit = format!("\"max_output_tokens\":{}", options.max_output_tokens);
            extra::join(&mut extra, &limit);
        }
        extra::join(&mut extra, &extra::members(options, RESERVED)?);
        extra::unused(
            options.vision.is_some(),
            options,
            "vision",
            "requests of this kind have no place for images",
        )?;
        Ok(Self {
            extra,
            sends_reasoning: options.sends_reasoning,
        })
    }

    fn assistant(&self, message: &AssistantMessage) -> Option<String> {
        if message.text.is_empty() && message.calls.is_empty() {
            return None;
        }
        let mut out = json!({"role": "assistant", "content": message.text});
        if self.sends_reasoning && !message.reasoning.is_empty() {
            out["reasoning"] = json!(message.reasoning);
        }
        let calls = message
            .calls
            .iter()
            .map(|call| json!({"id": call.id.0, "name": call.name, "arguments": call.arguments}));
        if !message.calls.is_empty() {
            out["tool_calls"] = calls.collect();
        }
        let mut out = out.to_string();
        let thoughts = message.thoughts.iter();
        let thoughts = thoughts.filter(|thought| thought.kind == KIND);
        let thoughts: Vec<_> = thoughts.map(|thought| on_one_line(&thought.data)).collect();
        if !thoughts.is_empty() {
            out.pop();
            out.push_str(&format!(",\"thoughts\":[{}]}}", thoughts.join(",")));
        }
        Some(out)
    }
}

impl Codec for Lines {
    fn prefix(&self, model: &str, system: &str, tools: &[ToolDeclaration]) -> Prefix {
        let system = match system {
            "" => String::new(),
            text => quoted(text),
        };
        Prefix {
            model: model.to_owned(),
            system,
            tools: schemas(
                tools,
                |name, description, schema| json!({"name": name, "description": description, "parameters": schema}),
            ),
            extra: self.extra.clone(),
        }
    }

    fn render(&self, item: &Item) -> Option<String> {
        match item {
            Item::User(message) => Some(user_text::user(message).to_string()),
            Item::Assistant(message) => self.assistant(message),
            Item::Tool(message) => {
                // The request has no place for images.
                let text = result_images::text(message, Some(false));
                let result = json!({
                    "role": "tool", "tool_call_id": message.call.0, "name": message.tool,
                    "status": message.status, "content": text,
                });
                Some(result.to_string())
            }
        }
    }

    fn assemble(&self, asked: &Asked<'_>) -> RequestBuffer {
        let prefix = asked.prefix;
        let mut head = format!("{{\"version\":1,\"model\":{}", quoted(&prefix.model));
        body::push_members(
            &mut head,
            &[
                ("", "", &prefix.extra, ""),
                ("\"tools\":", "[", &prefix.tools, "]"),
                ("\"system\":", "", &prefix.system, ""),
            ],
        );
        let key = quoted(asked.cache_key);
        head.push_str(&format!(",\"cache_key\":{key},\"messages\":["));
        let mut body = body::with_messages(
            &head,
            "",
            asked.fragments.iter().map(|fragment| fragment.bytes),
        );
        body.extend_from_slice(match asked.tool_choice {
            ToolChoice::Auto => b",\"tool_choice\":\"auto\"}\n",
            ToolChoice::None => b",\"tool_choice\":\"none\"}\n",
        });
        body
    }
}

#[cfg(test)]
mod tests;
