//! What the strictest of the vendors refuses in a chat-completions request.
//!
//! Every rule here is some vendor's: one alone would let most of them pass. Pure.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::wire::{data_url_fits, only};

/// Members of a request that are known. A vendor that does not know a member refuses it.
const MEMBERS: &[&str] = &[
    "model",
    "messages",
    "tools",
    "tool_choice",
    "stream",
    "stream_options",
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "reasoning_effort",
    "parallel_tool_calls",
    "thinking",
    "response_format",
];

/// The types that a schema may name.
const TYPES: &[&str] = &[
    "object", "array", "string", "integer", "number", "boolean", "null",
];

type Refused = Result<(), String>;

/// Checks a body.
///
/// # Errors
/// Why it is refused, in words.
pub fn check(body: &[u8]) -> Refused {
    let request: Value =
        serde_json::from_slice(body).map_err(|error| format!("the body is no JSON: {error}"))?;
    only(&request, MEMBERS)?;
    if !filled(&request["model"]) {
        return Err("`model` is missing".to_owned());
    }
    if request
        .get("stream")
        .is_some_and(|stream| !stream.is_boolean())
    {
        return Err("`stream` is no boolean".to_owned());
    }
    if request.get("stream_options").is_some() && request["stream"] != true {
        return Err("`stream_options` without `stream`".to_owned());
    }
    tools(&request)?;
    let messages = request["messages"].as_array();
    conversation(messages.ok_or("`messages` is no array")?)
}

fn filled(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}

fn conversation(messages: &[Value]) -> Refused {
    // Calls of the newest answer that have no result, in order.
    let mut open: Vec<&str> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let wrong = |why: String| format!("message {index}: {why}");
        let role = message["role"].as_str().unwrap_or_default();
        if let (Some(call), true) = (open.first(), role != "tool") {
            return Err(wrong(format!(
                "`{role}` stands where the result of `{call}` must"
            )));
        }
        match role {
            "system" if index == 0 => text(message).map_err(wrong)?,
            "system" => return Err(wrong("a system message behind the first".to_owned())),
            "user" => text(message).map_err(wrong)?,
            "assistant" if index == 0 || messages[index - 1]["role"] == "system" => {
                return Err(wrong("the assistant speaks first".to_owned()));
            }
            "assistant" => open = assistant(message).map_err(wrong)?,
            "tool" => result(message, &mut open).map_err(wrong)?,
            other => return Err(wrong(format!("unknown role `{other}`"))),
        }
    }
    if let Some(call) = open.first() {
        return Err(format!("`{call}` has no result"));
    }
    match messages.last().map(|last| &last["role"]) {
        Some(role) if role == "user" || role == "tool" => Ok(()),
        Some(role) => Err(format!("the last message is of role {role}")),
        None => Err("there is no message".to_owned()),
    }
}

/// A message of words: a text that says something, or such parts.
fn text(message: &Value) -> Refused {
    only(message, &["role", "content", "name"])?;
    let part = |part: &Value| match part["type"].as_str() {
        Some("text") => filled(&part["text"]),
        Some("image_url") if message["role"] == "user" => {
            data_url_fits(&part["image_url"]["url"]).is_ok()
        }
        _ => false,
    };
    let fits = match &message["content"] {
        Value::Array(parts) => !parts.is_empty() && parts.iter().all(part),
        content => filled(content),
    };
    match fits {
        true => Ok(()),
        false => Err("has no content".to_owned()),
    }
}

/// An answer: the ids of its calls.
fn assistant(message: &Value) -> Result<Vec<&str>, String> {
    only(
        message,
        &["role", "content", "reasoning_content", "tool_calls"],
    )?;
    let reasoning = message.get("reasoning_content");
    if reasoning.is_some_and(|text| !text.is_string()) {
        return Err("`reasoning_content` is no text".to_owned());
    }
    let calls = match message.get("tool_calls") {
        None => &[][..],
        Some(Value::Array(calls)) if !calls.is_empty() => calls,
        Some(_) => return Err("`tool_calls` is no array with calls".to_owned()),
    };
    match message.get("content") {
        Some(Value::Null | Value::String(_)) if !calls.is_empty() => {}
        Some(Value::String(text)) if !text.is_empty() || reasoning.is_some_and(filled) => {}
        Some(Value::String(_) | Value::Null) | None => {
            return Err("an assistant message without content and calls".to_owned());
        }
        Some(_) => return Err("`content` is neither text nor null".to_owned()),
    }
    let mut ids = Vec::new();
    for call in calls {
        let id = call["id"].as_str().filter(|id| !id.is_empty());
        let id = id.ok_or("a call without an id")?;
        if ids.contains(&id) {
            return Err(format!("two calls of the id `{id}`"));
        }
        if call["type"] != "function" || !name_fits(&call["function"]["name"]) {
            return Err(format!("`{id}` is no call of a function"));
        }
        if !call["function"]["arguments"].is_string() {
            return Err(format!("the arguments of `{id}` are no text"));
        }
        ids.push(id);
    }
    Ok(ids)
}

/// A result: of the first call that has none.
fn result(message: &Value, open: &mut Vec<&str>) -> Refused {
    only(message, &["role", "content", "tool_call_id", "name"])?;
    let id = message["tool_call_id"].as_str().unwrap_or_default();
    if open.first() != Some(&id) {
        return Err(match open.first() {
            Some(wanted) => format!("the result of `{id}` where that of `{wanted}` must stand"),
            None => format!("a result of `{id}`, which no call asks for"),
        });
    }
    if !filled(&message["content"]) {
        return Err(format!("the result of `{id}` has no content"));
    }
    open.remove(0);
    Ok(())
}

fn name_fits(name: &Value) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.as_str()
        .is_some_and(|name| (1..=64).contains(&name.len()) && name.chars().all(fits))
}

fn tools(request: &Value) -> Refused {
    let choice = request.get("tool_choice");
    let tools = match (request.get("tools"), choice) {
        (None, Some(_)) => return Err("`tool_choice` without `tools`".to_owned()),
        (None, None) => return Ok(()),
        (Some(tools), _) => tools.as_array().filter(|tools| !tools.is_empty()),
    };
    let mut names = HashSet::new();
    for (index, tool) in tools
        .ok_or("`tools` is no array with tools")?
        .iter()
        .enumerate()
    {
        let function = &tool["function"];
        let name = &function["name"];
        if tool["type"] != "function" || !name_fits(name) {
            return Err(format!("tool {index} is no function with a name"));
        }
        if !names.insert(name) {
            return Err(format!("two tools of the name {name}"));
        }
        if !filled(&function["description"]) {
            return Err(format!("tool {name} has no description"));
        }
        let parameters = &function["parameters"];
        if parameters["type"] != "object" {
            return Err(format!("the parameters of tool {name} are no object"));
        }
        schema(parameters).map_err(|why| format!("tool {name}: {why}"))?;
    }
    match choice {
        Some(choice)
            if !["auto", "none", "required"]
                .iter()
                .any(|word| choice == word) =>
        {
            Err(format!("unknown `tool_choice` {choice}"))
        }
        _ => Ok(()),
    }
}

/// A schema that even those take who turn it into a grammar.
fn schema(schema: &Value) -> Refused {
    let members = schema
        .as_object()
        .ok_or_else(|| format!("{schema} is no schema"))?;
    if let Some(keyword) = members.keys().find(|keyword| keyword.starts_with('$')) {
        return Err(format!("`{keyword}` in a schema"));
    }
    let kinds = match schema.get("type") {
        None => &[][..],
        Some(Value::Array(kinds)) => kinds,
        Some(kind) => std::slice::from_ref(kind),
    };
    let known = |kind: &Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    if !kinds.iter().all(known) {
        return Err(format!("unknown type {:?}", schema.get("type")));
    }
    let empty = Map::new();
    let properties = match schema.get("properties") {
        None => &empty,
        Some(properties) => properties.as_object().ok_or("`properties` is no object")?,
    };
    for name in schema["required"].as_array().into_iter().flatten() {
        if !name
            .as_str()
            .is_some_and(|name| properties.contains_key(name))
        {
            return Err(format!("{name} is required and no property"));
        }
    }
    properties.values().try_for_each(self::schema)?;
    if kinds.iter().any(|kind| kind == "array") && schema.get("items").is_none() {
        return Err("an array without `items`".to_owned());
    }
    schema.get("items").map_or(Ok(()), self::schema)
}
