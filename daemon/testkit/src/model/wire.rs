//! The wires that the model speaks, by the path of a request. Scripts and tests see every request as chat completions
//! would have it; what came stands in its bytes.

use serde_json::{Value, json};

use super::answer::{Answer, Usage};
use super::sse::Events;
use super::vendor_rule::VendorRule;
use super::{messages, prefix, responses, sse, strict};

/// A wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wire {
    /// `/chat/completions`
    #[default]
    Chat,
    /// `/responses`
    Responses,
    /// `/messages`
    Messages,
}

impl Wire {
    /// By the path of a request.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or(path);
        [Self::Chat, Self::Responses, Self::Messages]
            .into_iter()
            .find(|wire| path.ends_with(wire.path()))
    }

    fn path(self) -> &'static str {
        match self {
            Self::Chat => "/chat/completions",
            Self::Responses => "/responses",
            Self::Messages => "/messages",
        }
    }

    /// The kind of provider that speaks it.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Self::Chat => "openai",
            Self::Responses => "openai-responses",
            Self::Messages => "anthropic",
        }
    }

    /// A body as chat completions would have it.
    pub(crate) fn as_chat(self, json: Value) -> Value {
        match self {
            Self::Chat => json,
            Self::Responses => responses::as_chat(&json),
            Self::Messages => messages::as_chat(&json),
        }
    }

    /// Why a strict vendor refuses a body.
    pub(crate) fn check(self, body: &[u8]) -> Result<(), String> {
        if self == Self::Chat {
            return strict::check(body);
        }
        let json: Value = serde_json::from_slice(body)
            .map_err(|error| format!("the body is no JSON: {error}"))?;
        match self {
            Self::Chat => {}
            Self::Responses => responses::check(&json)?,
            Self::Messages => messages::check(&json)?,
        }
        strict::check(self.as_chat(json).to_string().as_bytes())
    }

    pub(crate) fn events(
        self,
        answer: &Answer,
        number: usize,
        usage: Option<Usage>,
        rule: Option<VendorRule>,
    ) -> Events {
        match self {
            Self::Chat => sse::events(answer, number, usage, rule),
            Self::Responses => responses::events(answer, number, usage),
            Self::Messages => messages::events(answer, number, usage),
        }
    }

    /// Checks that each body extends the one before it.
    pub fn check_prefix<'a>(
        self,
        bodies: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<(), String> {
        match self {
            Self::Chat => prefix::check(bodies),
            Self::Responses => prefix::check_parts(bodies, responses::parts),
            Self::Messages => prefix::check_parts(bodies, messages::parts),
        }
    }
}

/// A seal over a text: whoever sends it back with another text has changed it.
pub(crate) fn seal(text: &str) -> String {
    let sum = text.bytes().fold(7_u64, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    format!("seal+{sum:x}/==")
}

/// A body as chat completions has it, with these messages. `schema`: the member of a tool with its parameters.
pub(crate) fn chat(body: &Value, messages: Vec<Value>, schema: &str, choice: &Value) -> Value {
    let mut chat = json!({"model": body["model"], "stream": body["stream"], "messages": messages});
    let tools = body["tools"].as_array().into_iter().flatten().map(|tool| {
        json!({"type": "function", "function": {
            "name": tool["name"], "description": tool["description"], "parameters": tool[schema],
        }})
    });
    let tools: Vec<Value> = tools.collect();
    if !tools.is_empty() {
        chat["tools"] = tools.into();
        chat["tool_choice"] = choice.clone();
    }
    chat
}

/// Whether only these members are there.
pub(crate) fn only(value: &Value, members: &[&str]) -> Result<(), String> {
    let object = value
        .as_object()
        .ok_or_else(|| format!("{value} is no object"))?;
    match object.keys().find(|key| !members.contains(&key.as_str())) {
        Some(key) => Err(format!("unknown member `{key}`")),
        None => Ok(()),
    }
}
