//! What one vendor alone demands of a chat-completions request, beyond `strict`. Pure.

use serde_json::{Value, json};

use super::wire::seal;

/// A vendor's own demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VendorRule {
    /// Moonshot: an answer with calls has its reasoning in `reasoning_content`, and an empty one is none; the temperature is 1.
    Kimi,
    /// Google: each call has the signature that it came with in `extra_content`.
    Gemini,
    /// llama.cpp: `content` is a text, beside calls too. Its template fails on null, with a 500.
    LlamaCpp,
    /// Mistral: no user message after another one or after a tool result; call ids have nine letters and digits.
    Mistral,
}

impl VendorRule {
    /// The status of a refusal.
    pub(crate) fn status(self) -> u16 {
        match self {
            Self::Kimi | Self::Gemini | Self::Mistral => 400,
            Self::LlamaCpp => 500,
        }
    }

    /// What the vendor adds to a call.
    pub(crate) fn extra_content(self, call: &str) -> Option<Value> {
        let signature = seal(call);
        (self == Self::Gemini).then(|| json!({"google": {"thought_signature": signature}}))
    }

    /// A body without what only this vendor knows, for the rules of all.
    pub(crate) fn without_own(self, mut body: Value) -> Value {
        let messages = body["messages"].as_array_mut().into_iter().flatten();
        // An index would put a member there that is missing.
        let calls = messages.filter_map(|message| message.get_mut("tool_calls")?.as_array_mut());
        for call in calls.flatten().filter_map(Value::as_object_mut) {
            if self == Self::Gemini {
                call.remove("extra_content");
            }
        }
        body
    }

    /// Checks a body.
    ///
    /// # Errors
    /// Why it is refused, in words.
    pub(crate) fn check(self, body: &Value) -> Result<(), String> {
        let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
        if self == Self::Mistral {
            let is_wrong = |pair: &&[Value]| {
                pair[1]["role"] == "user"
                    && (pair[0]["role"] == "user" || pair[0]["role"] == "tool")
            };
            if let Some(pair) = messages.windows(2).find(is_wrong) {
                let role = &pair[0]["role"];
                return Err(format!("Unexpected role 'user' after role {role}"));
            }
            return messages.iter().try_for_each(check_ids);
        }
        if self == Self::Kimi && body.get("temperature").is_some_and(|set| set != 1) {
            return Err("invalid temperature: only 1 is allowed for this model".to_owned());
        }
        for message in messages
            .iter()
            .filter(|message| message["role"] == "assistant")
        {
            self.check_answer(message)?;
        }
        Ok(())
    }

    fn check_answer(self, message: &Value) -> Result<(), String> {
        let mut calls = message["tool_calls"].as_array().into_iter().flatten();
        match self {
            Self::Kimi => {
                let reasoning = message["reasoning_content"].as_str().unwrap_or_default();
                match calls.next().is_some() && reasoning.is_empty() {
                    true => Err("thinking is enabled but reasoning_content is missing in assistant tool call message".to_owned()),
                    false => Ok(()),
                }
            }
            Self::Gemini => {
                let is_signed = |call: &Value| {
                    let id = call["id"].as_str().unwrap_or_default();
                    call.get("extra_content") == self.extra_content(id).as_ref()
                };
                match calls.all(is_signed) {
                    true => Ok(()),
                    false => Err("Function call is missing a thought_signature".to_owned()),
                }
            }
            Self::LlamaCpp => match message["content"].is_string() {
                true => Ok(()),
                false => Err("Value is not callable: null".to_owned()),
            },
            Self::Mistral => Ok(()),
        }
    }
}

/// Mistral's rule for the ids of calls, in an answer and in a result.
fn check_ids(message: &Value) -> Result<(), String> {
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    let ids = calls
        .map(|call| &call["id"])
        .chain(message.get("tool_call_id"));
    for id in ids {
        let id = id.as_str().unwrap_or_default();
        if id.len() != 9 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(format!(
                "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9."
            ));
        }
    }
    Ok(())
}
