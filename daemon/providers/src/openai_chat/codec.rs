//! Conversations as chat-completions bytes. Pure, and the same bytes for the same input for ever.
//!
//! What an assistant said goes back byte for byte as it came: its text, and the arguments of its calls as the JSON
//! text that they were. `session` renders each message once; `assemble` only copies.

use contract::{Asked, Codec, Prefix, ToolSpec};
use proto::item::{AssistantMessage, Item, ToolMessage};

use crate::json::{push_string, schemas};
use crate::options::Options;
use crate::registry::OpenError;
use crate::{body, extra, said};

/// Members that `assemble` writes itself.
const RESERVED: &[&str] = &[
    "model",
    "messages",
    "tools",
    "tool_choice",
    "stream",
    "stream_options",
];

/// Renders for one entry.
pub(super) struct Chat {
    extra: String,
    sends_reasoning: bool,
}

impl Chat {
    /// Checks what the entry adds to requests.
    pub(super) fn new(options: &Options) -> Result<Self, OpenError> {
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
        })
    }

    /// Whether nothing of an answer goes back: it is reasoning alone, or nothing at all.
    fn is_silent(&self, message: &AssistantMessage) -> bool {
        let thinks = self.sends_reasoning && !message.reasoning.is_empty();
        message.text.is_empty() && message.calls.is_empty() && !thinks
    }

    fn assistant(&self, message: &AssistantMessage) -> String {
        let mut out = String::from("{\"role\":\"assistant\",\"content\":");
        if message.text.is_empty() && !message.calls.is_empty() {
            out.push_str("null");
        } else {
            push_string(&mut out, &message.text);
        }
        if self.sends_reasoning {
            out.push_str(",\"reasoning_content\":");
            push_string(&mut out, &message.reasoning);
        }
        for (index, call) in message.calls.iter().enumerate() {
            out.push_str(if index == 0 {
                ",\"tool_calls\":[{\"id\":"
            } else {
                ",{\"id\":"
            });
            push_string(&mut out, &call.id.0);
            out.push_str(",\"type\":\"function\",\"function\":{\"name\":");
            push_string(&mut out, &call.name);
            out.push_str(",\"arguments\":");
            push_string(&mut out, &call.arguments);
            out.push_str("}}");
        }
        out.push_str(if message.calls.is_empty() { "}" } else { "]}" });
        out
    }

    fn tool(message: &ToolMessage) -> String {
        let mut out = String::from("{\"role\":\"tool\",\"tool_call_id\":");
        push_string(&mut out, &message.call.0);
        out.push_str(",\"content\":");
        push_string(&mut out, &message.text);
        out.push('}');
        out
    }
}

impl Codec for Chat {
    fn prefix(&self, model: &str, system: &str, tools: &[ToolSpec]) -> Prefix {
        let mut message = String::new();
        if !system.is_empty() {
            message.push_str("{\"role\":\"system\",\"content\":");
            push_string(&mut message, system);
            message.push('}');
        }
        Prefix {
            model: model.to_owned(),
            system: message,
            tools: schemas(
                tools,
                [
                    "{\"type\":\"function\",\"function\":{\"name\":",
                    ",\"parameters\":",
                    "}}",
                ],
            ),
            extra: self.extra.clone(),
        }
    }

    fn render(&self, item: &Item) -> Option<String> {
        Some(match item {
            // Vendors refuse an answer without words and calls, and with it every later request of the session.
            Item::Assistant(message) if self.is_silent(message) => return None,
            Item::User(message) => said::user(message),
            Item::Assistant(message) => self.assistant(message),
            Item::Tool(message) => Self::tool(message),
        })
    }

    fn json_mode(&self) -> &'static str {
        match self.extra.contains("\"response_format\"") {
            true => "",
            false => "\"response_format\":{\"type\":\"json_object\"}",
        }
    }

    fn temperature(&self, hundredths: u32) -> Option<String> {
        extra::temperature(&self.extra, hundredths)
    }

    /// The cache key has no place here: vendors of this kind find prefixes by their bytes.
    fn assemble(&self, asked: &Asked<'_>) -> Vec<u8> {
        let prefix = asked.prefix;
        // What never changes stands first, and the messages grow behind it: so each body is, byte for byte, the
        // beginning of the next one up to the end of its messages.
        let mut head = String::from("{\"model\":");
        push_string(&mut head, &prefix.model);
        head.push_str(",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
        body::push_members(
            &mut head,
            &[
                ("", "", &prefix.extra, ""),
                ("\"tools\":", "[", &prefix.tools, "]"),
            ],
        );
        head.push_str(",\"messages\":[");
        let mut body = body::with_messages(&head, &prefix.system, asked.fragments);
        body::close(&mut body, asked);
        body
    }
}

#[cfg(test)]
mod tests;
