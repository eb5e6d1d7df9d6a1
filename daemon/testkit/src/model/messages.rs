//! The wire of Anthropic's Messages: what it refuses, what it streams, and what of a request must stay.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::answer::{Answer, Usage};
use super::prefix::Parts;
use super::sse::{Events, pieces};
use super::wire::{COMPACT, chat, image_fits, only, seal, text_of};

/// The mark that moves with each request.
const MARK: &str = ",\"cache_control\":{\"type\":\"ephemeral\"}";

/// A body as chat completions would have it.
pub fn as_chat(body: &Value) -> Value {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut messages = Vec::new();
    let system: String = list(&body["system"])
        .iter()
        .filter_map(|block| block["text"].as_str())
        .collect();
    if !system.is_empty() {
        messages.push(json!({"role": "system", "content": system}));
    }
    for message in list(&body["messages"]) {
        let blocks = list(&message["content"]);
        if message["role"] == "assistant" {
            messages.push(assistant(&blocks));
            continue;
        }
        for block in blocks {
            messages.push(match block["type"].as_str() {
                Some("tool_result") => json!({
                    "role": "tool", "tool_call_id": block["tool_use_id"], "content": text_of(&block["content"]),
                }),
                Some("compaction") => json!({"role": "user", "content": block["content"]}),
                _ => json!({"role": "user", "content": block["text"]}),
            });
        }
    }
    if body["compaction"].is_object() {
        let demand = body["compaction"]["instructions"].as_str();
        let said = format!("{COMPACT}{}", demand.unwrap_or_default());
        messages.push(json!({"role": "user", "content": said}));
    }
    chat(body, messages, "input_schema", &body["tool_choice"]["type"])
}

fn assistant(blocks: &[Value]) -> Value {
    let texts = |kind: &str, member: &str| -> String {
        let those = blocks.iter().filter(|block| block["type"] == kind);
        those.filter_map(|block| block[member].as_str()).collect()
    };
    let calls: Vec<_> = blocks
        .iter()
        .filter(|block| block["type"] == "tool_use")
        .map(|block| {
            json!({"id": block["id"], "type": "function", "function": {
                "name": block["name"], "arguments": block["input"].to_string(),
            }})
        })
        .collect();
    let mut message = json!({"role": "assistant", "content": texts("text", "text")});
    let thinking = texts("thinking", "thinking");
    if !thinking.is_empty() {
        message["reasoning_content"] = thinking.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

/// What this vendor refuses and chat completions does not.
pub fn check(body: &Value) -> Result<(), String> {
    only(
        body,
        &[
            "model",
            "messages",
            "system",
            "tools",
            "tool_choice",
            "stream",
            "max_tokens",
            "thinking",
            "output_config",
            "compaction",
        ],
    )?;
    compaction_fits(body)?;
    if body["max_tokens"].as_u64().is_none_or(|tokens| tokens == 0) {
        return Err("`max_tokens` is missing".to_owned());
    }
    let marks = body.to_string().matches(&MARK[1..]).count();
    if marks > 4 {
        return Err(format!("{marks} cache marks, and 4 are allowed"));
    }
    let mut expected = "user";
    for (index, message) in body["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let wrong = |why: String| format!("message {index}: {why}");
        only(message, &["role", "content"]).map_err(wrong)?;
        if message["role"] != expected {
            return Err(wrong(format!("`{expected}` must stand here")));
        }
        expected = if expected == "user" {
            "assistant"
        } else {
            "user"
        };
        let blocks = message["content"]
            .as_array()
            .filter(|blocks| !blocks.is_empty());
        let blocks = blocks.ok_or_else(|| wrong("has no blocks".to_owned()))?;
        blocks_fit(blocks).map_err(wrong)?;
    }
    Ok(())
}

/// The name of the beta that a body needs.
pub fn beta(body: &Value) -> Option<&'static str> {
    let carries = body["messages"][0]["content"][0]["type"] == "compaction";
    (carries || body.get("compaction").is_some()).then_some("compact-2026-09-04")
}

/// The vendor's own compaction: asked for, or sent back as the very first block.
fn compaction_fits(body: &Value) -> Result<(), String> {
    if let Some(asked) = body.get("compaction") {
        only(asked, &["type", "instructions"])?;
        if asked["type"] != "summarize" {
            return Err("`compaction` is of no known type".to_owned());
        }
        if matches!(body["tool_choice"]["type"].as_str(), Some("any" | "tool")) {
            return Err("`compaction` with a forced tool".to_owned());
        }
    }
    let messages = body["messages"].as_array().into_iter().flatten();
    let blocks = messages.flat_map(|message| message["content"].as_array().into_iter().flatten());
    // The first block of all, and no other.
    match blocks.skip(1).any(|block| block["type"] == "compaction") {
        true => Err("compaction_block_misplaced".to_owned()),
        false => Ok(()),
    }
}

fn blocks_fit(blocks: &[Value]) -> Result<(), String> {
    let mut behind_text = false;
    for block in blocks {
        match block["type"].as_str().unwrap_or_default() {
            "text" => {
                only(block, &["type", "text", "cache_control"])?;
                behind_text = true;
            }
            "tool_result" => {
                only(
                    block,
                    &[
                        "type",
                        "tool_use_id",
                        "content",
                        "is_error",
                        "cache_control",
                    ],
                )?;
                if behind_text {
                    return Err("a result behind words".to_owned());
                }
                result_fits(block)?;
            }
            "tool_use" => {
                only(block, &["type", "id", "name", "input"])?;
                if !block["input"].is_object() {
                    return Err("an input that is no object".to_owned());
                }
            }
            "thinking" => {
                only(block, &["type", "thinking", "signature"])?;
                let text = block["thinking"].as_str().unwrap_or_default();
                if block["signature"] != seal(text) {
                    return Err(format!("`{text}` was not signed like that"));
                }
            }
            "compaction" => {
                only(
                    block,
                    &[
                        "type",
                        "content",
                        "signature",
                        "tool_changes",
                        "cache_control",
                    ],
                )?;
                let text = block["content"].as_str().unwrap_or_default();
                if block["signature"] != seal(text) {
                    return Err("compaction_content_mismatch".to_owned());
                }
            }
            other => return Err(format!("unknown block `{other}`")),
        }
    }
    Ok(())
}

/// The content of a result: a text, or texts and images, but only texts of a call that failed.
fn result_fits(result: &Value) -> Result<(), String> {
    let Some(blocks) = result["content"].as_array() else {
        return Ok(());
    };
    for block in blocks {
        let is_image = block["type"] == "image";
        let members: &[&str] = match is_image {
            true => &["type", "source"],
            false => &["type", "text"],
        };
        only(block, members)?;
        if !is_image {
            continue;
        }
        only(&block["source"], &["type", "media_type", "data"])?;
        if result["is_error"] == true {
            return Err("all content must be type `text` if `is_error` is true".to_owned());
        }
        let source = &block["source"];
        let text = |member: &str| source[member].as_str().unwrap_or_default();
        image_fits(text("media_type"), text("data"))?;
    }
    Ok(())
}

/// The events of an answer.
pub fn events(answer: &Answer, number: usize, usage: Option<Usage>) -> Events {
    let mut said = Vec::new();
    if let Some(text) = &answer.replaced {
        said.push(start(answer, &format!("msg_{number}_replaced"), usage));
        for piece in pieces(text, answer.chunk_bytes) {
            let delta = json!({"type": "text_delta", "text": piece});
            said.push(event(
                &json!({"type": "content_block_delta", "index": 0, "delta": delta}),
            ));
        }
    }
    said.push(start(answer, &format!("msg_{number}"), usage));
    said.push(event(&json!({"type": "ping"})));
    for (index, (begin, deltas)) in blocks(answer, number).into_iter().enumerate() {
        said.push(event(
            &json!({"type": "content_block_start", "index": index, "content_block": begin}),
        ));
        for delta in deltas {
            said.push(event(
                &json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ));
        }
        said.push(event(
            &json!({"type": "content_block_stop", "index": index}),
        ));
    }
    let mut end = vec![event(&message_delta(answer, usage))];
    if answer.done {
        end.push(event(&json!({"type": "message_stop"})));
    }
    Events { said, end }
}

/// The event that begins a message.
fn start(answer: &Answer, id: &str, usage: Option<Usage>) -> String {
    event(&json!({"type": "message_start", "message": {
        "id": id, "type": "message", "role": "assistant", "model": super::NAME,
        "content": [], "stop_reason": null, "usage": usage.map(|usage| match answer.compaction {
            Some(_) => json!({"input_tokens": 0, "output_tokens": 0}),
            None => json!({
            "input_tokens": usage.prompt.saturating_sub(usage.cached), "output_tokens": 1,
            "cache_read_input_tokens": usage.cached, "cache_creation_input_tokens": 0,
            }),
        }),
    }}))
}

/// The blocks of an answer, each with its deltas.
fn blocks(answer: &Answer, number: usize) -> Vec<(Value, Vec<Value>)> {
    let mut blocks = Vec::new();
    if !answer.reasoning.is_empty() {
        let mut deltas: Vec<_> = pieces(&answer.reasoning, answer.chunk_bytes)
            .into_iter()
            .map(|piece| json!({"type": "thinking_delta", "thinking": piece}))
            .collect();
        deltas.push(json!({"type": "signature_delta", "signature": seal(&answer.reasoning)}));
        blocks.push((
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            deltas,
        ));
    }
    if !answer.text.is_empty() {
        let deltas = pieces(&answer.text, answer.chunk_bytes)
            .into_iter()
            .map(|piece| json!({"type": "text_delta", "text": piece}));
        blocks.push((json!({"type": "text", "text": ""}), deltas.collect()));
    }
    for (at, call) in answer.calls.iter().enumerate() {
        let id = call.id_in(number, at);
        let deltas = pieces(&call.arguments, answer.chunk_bytes)
            .into_iter()
            .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
        blocks.push((
            json!({"type": "tool_use", "id": id, "name": call.name, "input": {}}),
            deltas.collect(),
        ));
    }
    if let Some(text) = &answer.compaction {
        // Whole, with its members in an order of the vendor's.
        let begin = json!({
            "content": text, "signature": seal(text), "tool_changes": [], "type": "compaction",
        });
        blocks.push((begin, Vec::new()));
    }
    blocks
}

/// Why the message ends, and what it used.
fn message_delta(answer: &Answer, usage: Option<Usage>) -> Value {
    let natural = match (&answer.compaction, answer.calls.is_empty()) {
        (Some(_), _) => "compaction",
        (None, true) => "end_turn",
        (None, false) => "tool_use",
    };
    let reason = match answer.finish.as_deref() {
        None => natural,
        Some("length") => "max_tokens",
        Some("content_filter") => "refusal",
        Some(other) => other,
    };
    let mut last =
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}});
    match usage {
        // Its own usage is beside that of the answer, of which there is none.
        Some(usage) if answer.compaction.is_some() => {
            last["usage"] = json!({"output_tokens": 0, "iterations": [{
                "type": "compaction", "input_tokens": usage.prompt.saturating_sub(usage.cached),
                "cache_read_input_tokens": usage.cached, "cache_creation_input_tokens": 0,
                "output_tokens": usage.output,
            }]});
        }
        Some(usage) => last["usage"] = json!({"output_tokens": usage.output}),
        None => {}
    }
    last
}

fn event(value: &Value) -> String {
    format!(
        "event: {}\ndata: {value}\n\n",
        value["type"].as_str().unwrap_or_default()
    )
}

/// What of a request must stay, and what must only grow: the blocks, without their marks.
pub fn parts(body: &[u8]) -> Result<Parts, String> {
    #[derive(Deserialize)]
    struct Message<'a> {
        role: &'a str,
        #[serde(borrow)]
        content: Vec<&'a RawValue>,
    }
    let bare = String::from_utf8_lossy(body).replace(MARK, "");
    let mut parts = Parts::of(bare.as_bytes(), &["model", "system", "tools"], "messages")?;
    let mut blocks = Vec::new();
    for message in &parts.items {
        let Message { role, content } =
            serde_json::from_str(message).map_err(|error| error.to_string())?;
        blocks.extend(content.iter().map(|block| format!("{role}: {block}")));
    }
    parts.items = blocks;
    Ok(parts)
}
