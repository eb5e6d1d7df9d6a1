//! An answer as the events of chat completions.

use serde_json::{Value, json};

use super::answer::{Answer, Usage};
use super::vendor_rule::VendorRule;

/// The events of an answer, in three parts: what is said, what ends it, and `[DONE]`.
pub struct Events {
    pub said: Vec<String>,
    pub end: Vec<String>,
}

/// Writes an answer out. `number` is the request's: ids are made from it.
pub(crate) fn events(
    answer: &Answer,
    number: usize,
    usage: Option<Usage>,
    rule: Option<VendorRule>,
) -> Events {
    let chunk = |delta: Value, finish: Value| {
        event(&json!({
            "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 1_700_000_000,
            "model": super::NAME, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }))
    };
    let mut said = vec![chunk(
        json!({"role": "assistant", "content": ""}),
        Value::Null,
    )];
    for (key, text) in [
        ("reasoning_content", &answer.reasoning),
        ("content", &answer.text),
    ] {
        for piece in pieces(text, answer.chunk_bytes) {
            said.push(chunk(json!({ key: piece }), Value::Null));
        }
    }
    for (index, call) in answer.calls.iter().enumerate() {
        let id = call.id_in(number, index);
        let mut head = json!({"index": index, "id": id, "type": "function", "function": {"name": call.name, "arguments": ""}});
        if let Some(extra) = rule.and_then(|rule| rule.extra_content(&id)) {
            head["extra_content"] = extra;
        }
        said.push(chunk(json!({"tool_calls": [head]}), Value::Null));
        for piece in pieces(&call.arguments, answer.chunk_bytes) {
            let more = json!({"index": index, "function": {"arguments": piece}});
            said.push(chunk(json!({"tool_calls": [more]}), Value::Null));
        }
    }
    let natural = if answer.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    let finish = answer.finish.as_deref().unwrap_or(natural);
    let mut end = vec![chunk(json!({}), json!(finish))];
    if let Some(usage) = usage {
        end.push(event(&json!({
            "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 1_700_000_000,
            "model": super::NAME, "choices": [], "usage": {
                "prompt_tokens": usage.prompt, "completion_tokens": usage.output,
                "total_tokens": usage.prompt + usage.output,
                "prompt_tokens_details": {"cached_tokens": usage.cached},
                "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
            },
        })));
    }
    if answer.done {
        end.push("data: [DONE]\n\n".to_owned());
    }
    Events { said, end }
}

fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// Pieces of about this many bytes, whole characters each.
pub(super) fn pieces(text: &str, bytes: usize) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let mut end = bytes.clamp(1, rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (piece, more) = rest.split_at(end);
        pieces.push(piece);
        rest = more;
    }
    pieces
}
