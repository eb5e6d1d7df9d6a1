//! What an endpoint without a list of models is asked instead: one prompt, as small as its kind takes.

use serde_json::{Value, json};

use crate::anthropic;

/// The path of a prompt after the base URL, and its body.
pub(super) fn smallest(kind: &str, base: &str, model: &str) -> (&'static str, Value) {
    let messages = json!([{"role": "user", "content": "hi"}]);
    match kind {
        "anthropic" => (
            anthropic::path(base),
            json!({"model": model, "max_tokens": 1, "messages": messages}),
        ),
        // It refuses fewer.
        "openai-responses" => (
            "/responses",
            json!({"model": model, "max_output_tokens": 16, "input": "hi", "store": false}),
        ),
        _ => (
            "/chat/completions",
            json!({"model": model, "max_tokens": 1, "messages": messages}),
        ),
    }
}
