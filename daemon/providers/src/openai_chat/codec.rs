//! Renders conversations as chat-completions requests. Pure: equal input always yields equal bytes.
//!
//! An assistant's text and the JSON text of its calls' arguments are sent back byte for byte.
//! `session` renders each message once. `assemble` only copies.

use std::borrow::Cow;

use contract::{Asked, Codec, Prefix, RequestBuffer, ToolDeclaration};
use proto::CallId;
use proto::item::{AssistantMessage, Item};
use serde_json::{Value, json};

use crate::ids;
use crate::json::{quoted, schemas};
use crate::openai_chat::vendor_rules::VendorRules;
use crate::openai_chat::{image_messages, strict_roles, vendor_members};
use crate::options::ProviderOptions;
use crate::registry::OpenError;
use crate::{body, extra, result_images, user_text};

/// Members that `assemble` writes itself.
const RESERVED: &[&str] = &[
    "model",
    "messages",
    "tools",
    "tool_choice",
    "stream",
    "stream_options",
];

/// The codec of one entry.
pub(super) struct Chat {
    extra: String,
    sends_reasoning: bool,
    strict_roles: bool,
    vision: Option<bool>,
    rules: VendorRules,
}

impl Chat {
    /// Checks the members that the entry adds to requests.
    pub(super) fn new(options: &ProviderOptions) -> Result<Self, OpenError> {
        let mut extra = String::new();
        if let Some(effort) = extra::effort(options, &["reasoning_effort"])? {
            extra = format!("\"reasoning_effort\":{effort}");
        }
        extra::join(&mut extra, &extra::members(options, RESERVED)?);
        extra::no_command(options)?;
        extra::unused(
            options.max_output_tokens != 0,
            options,
            "max_output_tokens",
            "servers of this kind disagree on its name: put `max_tokens` or `max_completion_tokens` into `extra`",
        )?;
        Ok(Self {
            extra,
            sends_reasoning: options.sends_reasoning,
            strict_roles: options.strict_roles,
            vision: options.vision,
            rules: VendorRules::of(options),
        })
    }

    /// Whether an answer is not sent back: it is empty or has only reasoning.
    fn is_silent(&self, message: &AssistantMessage) -> bool {
        let thinks = self.sends_reasoning && !message.reasoning.is_empty();
        message.text.is_empty() && message.calls.is_empty() && !thinks
    }

    /// A call's id as this vendor takes it. Ids of other vendors are in a session that has changed its provider.
    fn call_id<'a>(&self, id: &'a CallId) -> Cow<'a, str> {
        match self.rules.short_call_ids {
            true => ids::nine(&id.0).into(),
            false => Cow::Borrowed(&id.0),
        }
    }

    fn assistant(&self, message: &AssistantMessage) -> Value {
        let calls = message.calls.iter().map(|call| {
            let function = json!({"name": call.name, "arguments": call.arguments});
            json!({"id": self.call_id(&call.id), "type": "function", "function": function})
        });
        let mut calls: Vec<Value> = calls.collect();
        // Never null: llama.cpp's Python server fails on it, and every vendor takes an empty text beside calls.
        let mut out = json!({"role": "assistant", "content": message.text});
        if self.sends_reasoning {
            let is_missing = self.rules.fills_reasoning && message.reasoning.is_empty();
            out["reasoning_content"] = match is_missing {
                true => json!(" "),
                false => json!(message.reasoning),
            };
        }
        vendor_members::give_back(&message.thoughts, &mut out, &mut calls);
        if !calls.is_empty() {
            out["tool_calls"] = Value::Array(calls);
        }
        out
    }
}

impl Codec for Chat {
    fn prefix(&self, model: &str, system: &str, tools: &[ToolDeclaration]) -> Prefix {
        let system = match system {
            "" => String::new(),
            text => json!({"role": "system", "content": text}).to_string(),
        };
        Prefix {
            model: model.to_owned(),
            system,
            tools: schemas(tools, |name, description, schema| {
                let function =
                    json!({"name": name, "description": description, "parameters": schema});
                json!({"type": "function", "function": function})
            }),
            extra: self.extra.clone(),
        }
    }

    fn render(&self, item: &Item) -> Option<String> {
        let rendered = match item {
            // Vendors refuse an answer without text and calls, and with it every later request of
            // the session.
            Item::Assistant(message) if self.is_silent(message) => return None,
            Item::User(message) => user_text::user(message),
            Item::Assistant(message) => self.assistant(message),
            Item::Tool(message) => {
                let text = result_images::text(message, self.vision);
                let call = self.call_id(&message.call);
                let result = json!({"role": "tool", "tool_call_id": call, "content": text});
                let mut rendered = result.to_string();
                let images = result_images::sent(message, self.vision);
                image_messages::append(&mut rendered, message, &call, images);
                return Some(rendered);
            }
        };
        Some(rendered.to_string())
    }

    fn sends_images(&self) -> bool {
        self.vision == Some(true)
    }

    fn json_mode(&self) -> &'static str {
        match self.extra.contains("\"response_format\"") {
            true => "",
            false => "\"response_format\":{\"type\":\"json_object\"}",
        }
    }

    fn temperature(&self, hundredths: u32) -> Option<String> {
        match self.rules.fixes_temperature {
            true => None,
            false => extra::temperature(&self.extra, hundredths),
        }
    }

    /// Only what the entry names: servers disagree on the member's name, and some refuse the other.
    fn with_output_limit(&self, extra: &str, tokens: u64) -> Option<String> {
        let names = ["max_completion_tokens", "max_tokens"];
        let name = names
            .into_iter()
            .find(|name| extra.contains(&format!("\"{name}\"")))?;
        extra::with_output_limit(extra, name, tokens, extra.contains("\"reasoning_effort\""))
    }

    /// Uses no cache key: vendors of this kind find prefixes by their bytes.
    fn assemble(&self, asked: &Asked<'_>) -> RequestBuffer {
        let prefix = asked.prefix;
        // Constant members come first and the messages follow. So each body, up to the end of its
        // messages, is a prefix of the next one.
        let mut head = format!("{{\"model\":{}", quoted(&prefix.model));
        head.push_str(",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
        body::push_members(
            &mut head,
            &[
                ("", "", &prefix.extra, ""),
                ("\"tools\":", "[", &prefix.tools, "]"),
            ],
        );
        head.push_str(",\"messages\":[");
        let messages = image_messages::arrange(asked.fragments);
        let mut body = match self.strict_roles {
            true => {
                let messages = strict_roles::arrange(messages);
                body::with_messages(&head, &prefix.system, messages.iter().map(AsRef::as_ref))
            }
            false => {
                let messages = messages.iter().map(|message| &*message.bytes);
                body::with_messages(&head, &prefix.system, messages)
            }
        };
        body::close(&mut body, asked);
        body
    }
}

#[cfg(test)]
mod tests;
