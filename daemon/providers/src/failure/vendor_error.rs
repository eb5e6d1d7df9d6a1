//! Finds what a vendor says in the body of a refusal, or in an event in place of an answer.
//!
//! Knows the members that vendors and gateways use, and decides nothing. Called by `failure` and the kinds.

use std::time::Duration;

use serde_json::Value;

use super::context_length::is_context_length;
use super::is_invalid_call;
use crate::retry_after;

/// A vendor's error.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct VendorError {
    pub code: String,
    pub kind: String,
    pub message: String,
    /// The context window, as llama.cpp names it in a refusal.
    pub window: Option<u64>,
    /// How long to wait, as Google names it in a member.
    pub wait: Option<Duration>,
}

impl VendorError {
    /// The most telling of its texts.
    pub(crate) fn words(&self) -> &str {
        let texts = [&*self.message, &*self.code, &*self.kind];
        let found = texts.into_iter().find(|text| !text.is_empty());
        found.unwrap_or("no reason given")
    }

    /// How long to wait before another try, where the error itself says so. By the longer, if it says so twice: Google rounds
    /// one of them down.
    pub(super) fn named_wait(&self) -> Option<Duration> {
        self.wait.max(retry_after::in_words(&self.message))
    }

    /// Finds the error in a response text: OpenAI's error object or a variant, or any text.
    pub(crate) fn from_text(text: &str) -> Self {
        let parsed = serde_json::from_str::<Value>(text).ok();
        let found = parsed
            .as_ref()
            .and_then(|value| Some(Self::from_value(value)?.or_titled(value)));
        found.unwrap_or_else(|| Self {
            // An HTML page is not a readable message.
            message: if text.trim_start().starts_with('<') {
                "a web page".to_owned()
            } else {
                text.to_owned()
            },
            ..Self::default()
        })
    }

    /// Without a message, the words that other documents have in its place: a problem document's title with its errors, or a
    /// reason. Not for events of an answer, where such members may be about anything.
    fn or_titled(mut self, value: &Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        if let Some(words) = text("title")
            .or(text("reason"))
            .filter(|_| self.message.is_empty())
        {
            let errors = value.get("errors");
            let errors = errors.map_or_else(String::new, |errors| format!(" {errors}"));
            self.message = format!("{words}{errors}");
        }
        self
    }

    /// Finds the error in a JSON value, if any.
    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        let value = value.get(0).unwrap_or(value);
        let error = match value.get("error") {
            Some(Value::Null | Value::Bool(false)) | None => value,
            Some(error) => error.get(0).unwrap_or(error),
        };
        if let Value::String(message) = error {
            let message = match value.get("error_description").and_then(Value::as_str) {
                Some(description) => format!("{message}: {description}"),
                None => message.clone(),
            };
            return Some(Self {
                message,
                ..Self::default()
            });
        }
        let text = |key: &str| match error.get(key) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(value @ (Value::Number(_) | Value::Array(_) | Value::Object(_))) => {
                Some(value.to_string())
            }
            _ => None,
        };
        let mut message = text("message")
            .or_else(|| text("msg"))
            .or_else(|| text("detail"));
        // OpenRouter wraps the error of the underlying vendor. What that says of the request holds for ours.
        let mut kind = text("type").unwrap_or_default();
        if let Some(raw) = error.pointer("/metadata/raw") {
            let raw = match raw {
                Value::String(raw) => raw.clone(),
                other => other.to_string(),
            };
            let wrapped = Self::from_text(&raw);
            message = Some(format!("{}: {raw}", message.unwrap_or_default()));
            if is_invalid_call(&wrapped) || is_context_length(&wrapped) {
                kind = [wrapped.code, wrapped.kind]
                    .into_iter()
                    .find(|name| !name.is_empty())
                    .unwrap_or(kind);
            }
        }
        // Groq: what the model wrote, and the vendor could not read.
        if let Some(Value::String(wrote)) = error.get("failed_generation")
            && !wrote.trim().is_empty()
        {
            message = Some(format!(
                "{} (the model wrote: {wrote})",
                message.unwrap_or_default()
            ));
        }
        // Anthropic names some causes here alone.
        let detail = error.pointer("/details/error_code");
        let detail = detail.and_then(Value::as_str).map(str::to_owned);
        let found = Self {
            code: text("code")
                .or(detail)
                .or_else(|| text("status"))
                .unwrap_or_default(),
            kind,
            message: message.unwrap_or_default(),
            window: error.get("n_ctx").and_then(Value::as_u64),
            wait: retry_after::in_details(error),
        };
        (found != Self::default()).then_some(found)
    }
}
