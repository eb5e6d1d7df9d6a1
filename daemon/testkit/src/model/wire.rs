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

    /// The beta of the API that a body needs.
    pub(crate) fn beta(self, json: &Value) -> Option<&'static str> {
        match self {
            Self::Chat | Self::Responses => None,
            Self::Messages => messages::beta(json),
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

/// The newest message of a request for the vendor's own compaction, as chat completions would have it.
pub const COMPACT: &str = "[compact the conversation]";

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

/// The text of a content that is a text, or parts of which some are texts.
pub(crate) fn text_of(content: &Value) -> Value {
    match content.as_array() {
        Some(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<String>().into()
        }
        None => content.clone(),
    }
}

/// Whether an image is what its media type says: vendors look at its first bytes.
pub(crate) fn image_fits(media_type: &str, base64: &str) -> Result<(), String> {
    let start = match media_type {
        "image/png" => "iVBORw0KGgo",
        "image/jpeg" => "/9j/",
        "image/gif" => "R0lGODl",
        "image/webp" => "UklGR",
        other => return Err(format!("unknown media type `{other}`")),
    };
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    match base64.starts_with(start)
        && base64.len().is_multiple_of(4)
        && base64.bytes().all(is_base64)
    {
        true => Ok(()),
        false => Err(format!("the data is no {media_type}")),
    }
}

/// The same for an image as a URL.
pub(crate) fn data_url_fits(url: &Value) -> Result<(), String> {
    let url = url.as_str().and_then(|url| url.strip_prefix("data:"));
    let (media_type, base64) = url
        .and_then(|url| url.split_once(";base64,"))
        .ok_or("an image that is no data URL")?;
    image_fits(media_type, base64)
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
