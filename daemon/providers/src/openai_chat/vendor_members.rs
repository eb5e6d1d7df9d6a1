//! Members that vendors put on an answer or a call, and that belong unchanged into every later request.
//!
//! Gemini signs calls and texts in `extra_content` and refuses a request without it; OpenRouter gives reasoning in
//! `reasoning_details`. They are kept as `Thought`s of this kind: the JSON text of an object with that one member.

use proto::item::Thought;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::gathered::Gathered;
use crate::lenient::Object;

/// The kind of the thoughts. Other kinds of provider omit them.
const KIND: &str = "openai";
/// On a call, or on the message.
const EXTRA_CONTENT: &str = "extra_content";
/// A list on the message, streamed in pieces.
const REASONING_DETAILS: &str = "reasoning_details";
/// Members of a detail that arrive in pieces.
const STREAMED: [&str; 2] = ["text", "summary"];

/// The members of an answer in progress.
#[derive(Default)]
pub(crate) struct VendorMembers {
    details: Vec<Map<String, Value>>,
}

impl VendorMembers {
    /// Takes the members of a piece of the message.
    pub(super) fn take(&mut self, said: &Object<'_>, gathered: &mut Gathered) {
        if let Some(extra) = said.raw(EXTRA_CONTENT) {
            // On the message: after all calls so far.
            let calls = gathered.calls.len();
            keep(gathered, extra, calls);
        }
        for detail in said.list(REASONING_DETAILS) {
            if let Ok(Value::Object(detail)) = serde_json::from_str(detail.get()) {
                gathered.said += detail.len();
                self.add(detail);
            }
        }
    }

    /// Takes the member of a piece of the newest call.
    pub(super) fn take_of_call(call: &Object<'_>, gathered: &mut Gathered) {
        if let Some(extra) = call.raw(EXTRA_CONTENT) {
            let newest = gathered.calls.len().saturating_sub(1);
            keep(gathered, extra, newest);
        }
    }

    /// Joins a piece to the detail that it continues.
    fn add(&mut self, piece: Map<String, Value>) {
        let continues = |last: &Map<String, Value>| {
            let same = |member: &str| last.get(member) == piece.get(member);
            let has_text = STREAMED.iter().any(|member| piece.contains_key(*member));
            same("type") && same("index") && has_text && !piece.contains_key("data")
        };
        let Some(last) = self.details.last_mut().filter(|last| continues(last)) else {
            self.details.push(piece);
            return;
        };
        for (member, value) in piece {
            match (last.get_mut(&member), value) {
                (Some(Value::String(text)), Value::String(more))
                    if STREAMED.contains(&&*member) =>
                {
                    text.push_str(&more);
                }
                (Some(_), Value::Null) => {}
                (_, value) => drop(last.insert(member, value)),
            }
        }
    }

    /// The answer is complete.
    pub(super) fn finish(&mut self, gathered: &mut Gathered) {
        let details = std::mem::take(&mut self.details);
        if !details.is_empty() {
            let data = json!({ REASONING_DETAILS: details }).to_string();
            gathered.thought(KIND, &data, 0);
        }
    }
}

fn keep(gathered: &mut Gathered, extra: &RawValue, calls: usize) {
    let data = format!("{{\"{EXTRA_CONTENT}\":{}}}", extra.get());
    gathered.thought(KIND, &data, calls);
}

/// Puts what was kept back onto a message and its calls.
pub(super) fn give_back(thoughts: &[Thought], message: &mut Value, calls: &mut [Value]) {
    for thought in thoughts.iter().filter(|thought| thought.kind == KIND) {
        let Ok(Value::Object(members)) = serde_json::from_str(&thought.data) else {
            continue;
        };
        let at = usize::try_from(thought.calls_at).unwrap_or(usize::MAX);
        for (member, value) in members {
            let call = calls.get_mut(at).filter(|_| member == EXTRA_CONTENT);
            match call {
                Some(call) => call[member] = value,
                None => message[member] = value,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(value: Value) -> Map<String, Value> {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn pieces_of_a_detail_are_joined_and_others_are_kept_apart() {
        let mut members = VendorMembers::default();
        for piece in [
            json!({"type": "reasoning.text", "index": 0, "id": "a", "text": "It "}),
            json!({"type": "reasoning.text", "index": 0, "id": "a", "text": "is.", "signature": null}),
            json!({"type": "reasoning.text", "index": 0, "text": "", "signature": "s="}),
            json!({"type": "reasoning.encrypted", "index": 0, "data": "x"}),
            json!({"type": "reasoning.encrypted", "index": 0, "data": "y"}),
            json!({"type": "reasoning.text", "index": 1, "text": "So."}),
        ] {
            members.add(detail(piece));
        }
        let expected = [
            json!({"type": "reasoning.text", "index": 0, "id": "a", "text": "It is.", "signature": "s="}),
            json!({"type": "reasoning.encrypted", "index": 0, "data": "x"}),
            json!({"type": "reasoning.encrypted", "index": 0, "data": "y"}),
            json!({"type": "reasoning.text", "index": 1, "text": "So."}),
        ];
        assert_eq!(members.details, expected.map(detail));
    }

    #[test]
    fn members_go_back_to_the_message_or_the_call_that_they_came_with() {
        let thought = |data: &str, calls_at| Thought {
            kind: KIND.to_owned(),
            data: data.to_owned(),
            text_at: 0,
            calls_at,
        };
        let thoughts = [
            thought(
                r#"{"extra_content":{"google":{"thought_signature":"b"}}}"#,
                1,
            ),
            thought(r#"{"reasoning_details":[{"text":"t"}]}"#, 0),
            thought(
                r#"{"extra_content":{"google":{"thought_signature":"m"}}}"#,
                2,
            ),
            thought("not JSON", 0),
        ];
        let (mut message, mut calls) = (json!({}), [json!({"id": 1}), json!({"id": 2})]);
        give_back(&thoughts, &mut message, &mut calls);
        assert_eq!(calls[0], json!({"id": 1}));
        assert_eq!(
            calls[1]["extra_content"]["google"]["thought_signature"],
            "b"
        );
        assert_eq!(message["reasoning_details"][0]["text"], "t");
        assert_eq!(message["extra_content"]["google"]["thought_signature"], "m");
    }
}
