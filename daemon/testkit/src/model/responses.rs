//! The wire of OpenAI's Responses: what it refuses, what it streams, and what of a request must stay.

use serde_json::{Value, json};

use super::answer::{Answer, Usage};
use super::prefix::Parts;
use super::sse::{Events, pieces};
use super::wire::{COMPACT, chat, data_url_fits, only, seal, text_of};

/// A body as chat completions would have it.
pub fn as_chat(body: &Value) -> Value {
    let mut messages: Vec<Value> = Vec::new();
    if body["instructions"].is_string() {
        messages.push(json!({"role": "system", "content": body["instructions"]}));
    }
    for item in body["input"].as_array().into_iter().flatten() {
        let text: String = item["content"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|part| part["text"].as_str())
            .collect();
        match item["type"].as_str().unwrap_or_default() {
            "function_call_output" => messages.push(json!({
                "role": "tool", "tool_call_id": item["call_id"], "content": text_of(&item["output"]),
            })),
            "compaction" => {
                messages.push(json!({"role": "user", "content": item["encrypted_content"]}));
            }
            "compaction_trigger" => messages.push(json!({"role": "user", "content": COMPACT})),
            "message" if item["role"] == "user" => {
                messages.push(json!({"role": "user", "content": text}));
            }
            kind => {
                let said = said(&mut messages);
                match kind {
                    "message" => said["content"] = text.into(),
                    "reasoning" => {
                        said["reasoning_content"] = item["summary"][0]["text"].clone();
                    }
                    _ => {
                        let call = json!({"id": item["call_id"], "type": "function", "function": {
                            "name": item["name"], "arguments": item["arguments"],
                        }});
                        match said["tool_calls"].as_array_mut() {
                            Some(calls) => calls.push(call),
                            None => said["tool_calls"] = json!([call]),
                        }
                    }
                }
            }
        }
    }
    chat(body, messages, "parameters", &body["tool_choice"])
}

/// The assistant's message that is being put together.
fn said(messages: &mut Vec<Value>) -> &mut Value {
    let is_there = messages
        .last()
        .is_some_and(|last| last["role"] == "assistant");
    if !is_there {
        messages.push(json!({"role": "assistant", "content": ""}));
    }
    let last = messages.len() - 1;
    &mut messages[last]
}

/// What this vendor refuses and chat completions does not.
pub fn check(body: &Value) -> Result<(), String> {
    only(
        body,
        &[
            "model",
            "input",
            "instructions",
            "tools",
            "tool_choice",
            "stream",
            "store",
            "include",
            "prompt_cache_key",
            "reasoning",
            "max_output_tokens",
            "temperature",
        ],
    )?;
    if body["store"] != false || body["include"] != json!(["reasoning.encrypted_content"]) {
        return Err("nothing is to be kept, and reasoning is to come encrypted".to_owned());
    }
    // Requests beside the conversation have no tools, and no cache to find.
    let has_tools = body["tools"].is_array();
    if has_tools && body["prompt_cache_key"].as_str().is_none_or(str::is_empty) {
        return Err("`prompt_cache_key` is missing".to_owned());
    }
    for known in body["tools"].as_array().into_iter().flatten() {
        only(
            known,
            &["type", "name", "description", "parameters", "strict"],
        )?;
    }
    let input = body["input"].as_array().ok_or("`input` is no array")?;
    for (index, item) in input.iter().enumerate() {
        let wrong = |why: String| format!("item {index}: {why}");
        let kind = item["type"].as_str().unwrap_or_default();
        let members: &[&str] = match kind {
            // As its own type of an output message has it, which OpenRouter demands.
            "message" if item["role"] == "assistant" => {
                output_message(item).map_err(wrong)?;
                &["type", "role", "content", "id", "status", "phase"]
            }
            "message" => &["type", "role", "content"],
            "function_call" => &["type", "call_id", "name", "arguments"],
            "function_call_output" => &["type", "call_id", "output"],
            "reasoning" => &["type", "id", "summary", "encrypted_content"],
            "compaction" => &["type", "id", "encrypted_content"],
            "compaction_trigger" if index + 1 == input.len() => &["type"],
            other => return Err(wrong(format!("unknown type `{other}`"))),
        };
        only(item, members).map_err(wrong)?;
        if kind == "function_call_output" {
            for part in item["output"].as_array().into_iter().flatten() {
                output_part(part).map_err(wrong)?;
            }
        }
        if kind == "compaction" && item["encrypted_content"] != seal(&item["id"].to_string()) {
            return Err(wrong("it was not encrypted like that".to_owned()));
        }
        if kind == "reasoning" {
            let text = item["summary"][0]["text"].as_str().unwrap_or_default();
            if item["encrypted_content"] != seal(text) {
                return Err(wrong(format!("`{text}` was not encrypted like that")));
            }
            let next = input.get(index + 1);
            let follows = next
                .is_some_and(|next| next["type"] == "function_call" || next["role"] == "assistant");
            if !follows {
                return Err(wrong("reasoning without what it led to".to_owned()));
            }
        }
    }
    Ok(())
}

/// A part of a result: a text or an image.
fn output_part(part: &Value) -> Result<(), String> {
    match part["type"].as_str() {
        Some("input_text") => only(part, &["type", "text"]),
        Some("input_image") => {
            only(part, &["type", "image_url"])?;
            data_url_fits(&part["image_url"])
        }
        other => Err(format!("unknown part {other:?} of a result")),
    }
}

/// A message of the model, as an answer had it.
fn output_message(message: &Value) -> Result<(), String> {
    let id = message["id"].as_str().unwrap_or_default();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !id.starts_with("msg_") || id.len() > 64 || !id.chars().all(fits) {
        return Err(format!("`{id}` is no id of a message"));
    }
    if message["status"] != "completed" {
        return Err("a message without its status".to_owned());
    }
    let parts = message["content"]
        .as_array()
        .ok_or("`content` is no array")?;
    let is_text = |part: &Value| part["type"] == "output_text" && part["annotations"].is_array();
    match parts.iter().all(is_text) {
        true => Ok(()),
        false => Err("a part of a message that is no text with annotations".to_owned()),
    }
}

/// The events of an answer.
pub fn events(answer: &Answer, number: usize, usage: Option<Usage>) -> Events {
    let mut said = Vec::new();
    let head =
        json!({"id": format!("resp_{number}"), "object": "response", "status": "in_progress"});
    said.push(event("response.created", json!({"response": head})));
    let mut index = 0;
    if !answer.reasoning.is_empty() {
        let item = json!({
            "id": format!("rs_{number}"), "type": "reasoning", "encrypted_content": seal(&answer.reasoning),
            "summary": [{"type": "summary_text", "text": answer.reasoning}],
        });
        for piece in pieces(&answer.reasoning, answer.chunk_bytes) {
            let delta = json!({"output_index": index, "summary_index": 0, "delta": piece});
            said.push(event("response.reasoning_summary_text.delta", delta));
        }
        said.push(event(
            "response.output_item.done",
            json!({"output_index": index, "item": item}),
        ));
        index += 1;
    }
    if !answer.text.is_empty() {
        for piece in pieces(&answer.text, answer.chunk_bytes) {
            let delta = json!({"output_index": index, "content_index": 0, "delta": piece});
            said.push(event("response.output_text.delta", delta));
        }
        let done = json!({"output_index": index, "content_index": 0, "text": answer.text});
        said.push(event("response.output_text.done", done));
        index += 1;
    }
    for (at, call) in answer.calls.iter().enumerate() {
        let id = call.id_in(number, at);
        let item = |arguments: &str| {
            json!({"output_index": index, "item": {
                "id": format!("fc_{number}_{at}"), "type": "function_call", "call_id": id, "name": call.name,
                "arguments": arguments,
            }})
        };
        said.push(event("response.output_item.added", item("")));
        for piece in pieces(&call.arguments, answer.chunk_bytes) {
            let delta = json!({"output_index": index, "delta": piece});
            said.push(event("response.function_call_arguments.delta", delta));
        }
        said.push(event("response.output_item.done", item(&call.arguments)));
        index += 1;
    }
    if answer.compaction.is_some() {
        let id = format!("cmp_{number}");
        let item = json!({"output_index": index, "item": {
            "encrypted_content": seal(&json!(id).to_string()), "created_by": "server", "id": id,
            "type": "compaction",
        }});
        said.push(event("response.output_item.done", item));
    }
    let reason = match answer.finish.as_deref() {
        Some("length") => Some("max_output_tokens"),
        Some("content_filter") => Some("content_filter"),
        _ => None,
    };
    let status = if reason.is_some() {
        "incomplete"
    } else {
        "completed"
    };
    let response = json!({
        "id": format!("resp_{number}"), "object": "response", "status": status, "output": [],
        "incomplete_details": reason.map(|reason| json!({"reason": reason})),
        "usage": usage.map(|usage| json!({
            "input_tokens": usage.prompt, "input_tokens_details": {"cached_tokens": usage.cached},
            "output_tokens": usage.output, "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        })),
    });
    let end = vec![event(
        &format!("response.{status}"),
        json!({"response": response}),
    )];
    Events { said, end }
}

fn event(kind: &str, mut value: Value) -> String {
    value["type"] = kind.into();
    format!("event: {kind}\ndata: {value}\n\n")
}

/// What of a request must stay, and what must only grow.
pub fn parts(body: &[u8]) -> Result<Parts, String> {
    let fixed = ["model", "instructions", "tools", "prompt_cache_key"];
    Parts::of(body, &fixed, "input")
}
