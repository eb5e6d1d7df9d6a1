//! Conversations as the request object of `docs/command-provider.md`. Pure, and the same bytes for the same input.

use contract::{Asked, Codec, Prefix, ToolChoice, ToolSpec};
use proto::item::{AssistantMessage, CallStatus, Item, ToolMessage};

use super::KIND;
use crate::json::{on_one_line, push_string, schemas};
use crate::options::Options;
use crate::registry::OpenError;
use crate::{body, extra, said};

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

/// Renders for one entry.
pub(super) struct Lines {
    extra: String,
    sends_reasoning: bool,
}

impl Lines {
    /// Checks what the entry adds to requests.
    pub(super) fn new(options: &Options) -> Result<Self, OpenError> {
        let mut extra = String::new();
        if let Some(effort) = extra::effort(options, &[])? {
            extra = format!("\"effort\":{effort}");
        }
        if options.max_output_tokens != 0 {
            let limit = format!("\"max_output_tokens\":{}", options.max_output_tokens);
            extra::join(&mut extra, &limit);
        }
        extra::join(&mut extra, &extra::members(options, RESERVED)?);
        Ok(Self {
            extra,
            sends_reasoning: options.sends_reasoning,
        })
    }

    fn assistant(&self, message: &AssistantMessage) -> Option<String> {
        if message.text.is_empty() && message.calls.is_empty() {
            return None;
        }
        let mut out = String::from("{\"role\":\"assistant\",\"content\":");
        push_string(&mut out, &message.text);
        if self.sends_reasoning && !message.reasoning.is_empty() {
            out.push_str(",\"reasoning\":");
            push_string(&mut out, &message.reasoning);
        }
        for (at, call) in message.calls.iter().enumerate() {
            out.push_str(if at == 0 { ",\"tool_calls\":[" } else { "," });
            out.push_str("{\"id\":");
            push_string(&mut out, &call.id.0);
            out.push_str(",\"name\":");
            push_string(&mut out, &call.name);
            out.push_str(",\"arguments\":");
            push_string(&mut out, &call.arguments);
            out.push('}');
        }
        out.push_str(if message.calls.is_empty() { "" } else { "]" });
        let mut thoughts = String::new();
        for thought in message
            .thoughts
            .iter()
            .filter(|thought| thought.kind == KIND)
        {
            thoughts.push_str(if thoughts.is_empty() { "" } else { "," });
            thoughts.push_str(&on_one_line(&thought.data));
        }
        if !thoughts.is_empty() {
            out.push_str(",\"thoughts\":[");
            out.push_str(&thoughts);
            out.push(']');
        }
        out.push('}');
        Some(out)
    }

    fn tool(message: &ToolMessage) -> String {
        let mut out = String::from("{\"role\":\"tool\",\"tool_call_id\":");
        push_string(&mut out, &message.call.0);
        out.push_str(",\"name\":");
        push_string(&mut out, &message.tool);
        out.push_str(",\"status\":");
        push_string(&mut out, status(message.status));
        out.push_str(",\"content\":");
        push_string(&mut out, &message.text);
        out.push('}');
        out
    }
}

/// The word for how a call ended, as the log has it.
fn status(status: CallStatus) -> &'static str {
    match status {
        CallStatus::Ok => "ok",
        CallStatus::Failed => "failed",
        CallStatus::Denied => "denied",
        CallStatus::Interrupted => "interrupted",
        CallStatus::Unknown => "unknown",
        CallStatus::Refused => "refused",
    }
}

impl Codec for Lines {
    fn prefix(&self, model: &str, system: &str, tools: &[ToolSpec]) -> Prefix {
        let mut text = String::new();
        if !system.is_empty() {
            push_string(&mut text, system);
        }
        Prefix {
            model: model.to_owned(),
            system: text,
            tools: schemas(tools, ["{\"name\":", ",\"parameters\":", "}"]),
            extra: self.extra.clone(),
        }
    }

    fn render(&self, item: &Item) -> Option<String> {
        match item {
            Item::User(message) => Some(said::user(message)),
            Item::Assistant(message) => self.assistant(message),
            Item::Tool(message) => Some(Self::tool(message)),
        }
    }

    fn assemble(&self, asked: &Asked<'_>) -> Vec<u8> {
        let prefix = asked.prefix;
        let mut head = String::from("{\"version\":1,\"model\":");
        push_string(&mut head, &prefix.model);
        body::push_members(
            &mut head,
            &[
                ("", "", &prefix.extra, ""),
                ("\"tools\":", "[", &prefix.tools, "]"),
                ("\"system\":", "", &prefix.system, ""),
            ],
        );
        head.push_str(",\"cache_key\":");
        push_string(&mut head, asked.cache_key);
        head.push_str(",\"messages\":[");
        let mut body = body::with_messages(&head, "", asked.fragments);
        body.extend_from_slice(match asked.tool_choice {
            ToolChoice::Auto => b",\"tool_choice\":\"auto\"}\n",
            ToolChoice::None => b",\"tool_choice\":\"none\"}\n",
        });
        body
    }
}

#[cfg(test)]
mod tests;
