//! Finds calls that an answer only writes in its text or reasoning, as JSON objects or in tags, without declaring them.
//!
//! Two passes, modelled on the original Reasonix. The first finds blocks of DSML (DeepSeek's own markup) and similar XML.
//! The second finds JSON objects of three shapes in the rest. Each byte is read once, and at most [`SCANNED_MAX`] bytes.

use proto::item::ToolCall;
use serde_json::{Map, Value};

use super::{canonical, canonical_text};

/// Maximum calls to take from one answer.
pub const TAKEN_MAX: usize = 4;

/// Maximum bytes to scan of the reasoning and of the text, from the end: calls are written at the end.
pub const SCANNED_MAX: usize = 64 * 1024;

/// A call that was not declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScavengedCall {
    /// The name of an existing tool.
    pub tool: String,
    /// Its arguments, as JSON.
    pub arguments: String,
}

/// Finds the calls in an answer that are not among the declared ones, each once, in order.
#[must_use]
pub fn scavenge(
    reasoning: &str,
    text: &str,
    declared: &[ToolCall],
    is_tool: impl Fn(&str) -> bool,
) -> Vec<ScavengedCall> {
    let mut seen: Vec<(String, String)> = declared
        .iter()
        .map(|call| (call.name.clone(), canonical_text(&call.arguments)))
        .collect();
    // The text comes before the reasoning: a call in both is taken from the text.
    let mut found = Vec::new();
    for (tool, arguments) in calls_in(text).into_iter().chain(calls_in(reasoning)) {
        let key = (tool.clone(), canonical_text(&arguments));
        if found.len() == TAKEN_MAX || !is_tool(&tool) || seen.contains(&key) {
            continue;
        }
        seen.push(key);
        found.push(ScavengedCall { tool, arguments });
    }
    found
}

type Call = (String, String);

fn calls_in(text: &str) -> Vec<Call> {
    let text = newest(text);
    let mut calls = Vec::new();
    let rest = tagged(text, &mut calls);
    for object in objects(&rest) {
        calls.extend(call_of(object));
    }
    calls
}

/// The last [`SCANNED_MAX`] bytes of a text.
fn newest(text: &str) -> &str {
    let from = text.len().saturating_sub(SCANNED_MAX);
    let from = (from..=text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len());
    &text[from..]
}

/// DSML marks, with ASCII bars and with U+FF5C, and plain XML.
const MARKS: [&str; 3] = ["|DSML|", "｜DSML｜", ""];

/// Collects the calls in tags; returns the text without them.
fn tagged(text: &str, calls: &mut Vec<Call>) -> String {
    let mut rest = String::new();
    let mut at = 0;
    // A tag that is never closed after one position is never closed after a later one, so its mark is not tried again.
    let mut marks = MARKS.to_vec();
    while let Some(open) = text[at..].find('<').map(|found| at + found) {
        rest.push_str(&text[at..open]);
        let here = &text[open..];
        let opens = |mark: &&str| here[1..].starts_with(&format!("{mark}invoke "));
        let mark = marks.iter().copied().find(opens);
        match mark.map(|mark| (mark, block(here, mark))) {
            Some((_, Some((call, length)))) => {
                calls.extend(call);
                at = open + length;
            }
            unclosed => {
                marks.retain(|mark| unclosed.as_ref().is_none_or(|(dead, _)| dead != mark));
                rest.push('<');
                at = open + 1;
            }
        }
    }
    rest.push_str(&text[at..]);
    rest
}

/// Parses the block that starts here: its call, and its length. `None`: the block is not closed.
fn block(text: &str, mark: &str) -> Option<(Option<Call>, usize)> {
    let inner = text.strip_prefix(&format!("<{mark}invoke"))?;
    let (attributes, inner) = inner.split_once('>')?;
    let closing = format!("</{mark}invoke>");
    let end = inner.find(&closing)?;
    let length = text.len() - inner.len() + end + closing.len();
    let call = attribute(attributes, "name").map(|name| {
        let arguments = parameters(&inner[..end], mark);
        (name, Value::Object(arguments).to_string())
    });
    Some((call, length))
}

fn parameters(block: &str, mark: &str) -> Map<String, Value> {
    let opening = format!("<{mark}parameter");
    let closing = format!("</{mark}parameter>");
    let mut found = Map::new();
    let mut rest = block;
    while let Some((_, behind)) = rest.split_once(&opening) {
        let Some((attributes, behind)) = behind.split_once('>') else {
            break;
        };
        let Some((value, behind)) = behind.split_once(&closing) else {
            break;
        };
        rest = behind;
        let Some(name) = attribute(attributes, "name") else {
            continue;
        };
        let value = value.trim();
        let is_json = attribute(attributes, "string").is_some_and(|flag| flag == "false");
        let parsed = is_json.then(|| serde_json::from_str(value).ok()).flatten();
        let value = parsed.unwrap_or_else(|| Value::String(value.to_owned()));
        found.insert(name, value);
    }
    found
}

/// The value of an attribute in quotes.
fn attribute(attributes: &str, name: &str) -> Option<String> {
    let (_, behind) = attributes.split_once(&format!(" {name}=\""))?;
    let (value, _) = behind.split_once('"')?;
    Some(value.to_owned())
}

/// After this many braces that do not start an object, the rest counts as prose.
const IN_VAIN_MAX: usize = 256;

/// The outermost JSON objects of a text, in order.
fn objects(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut in_vain = 0;
    while let Some(open) = text[at..].find('{').map(|place| at + place) {
        let end = end_of_object(&text[open..]).map(|length| open + length);
        let object = end.and_then(|end| serde_json::from_str::<Value>(&text[open..end]).ok());
        match (object, end) {
            (Some(object), Some(end)) => {
                found.push(object);
                at = end;
            }
            (_, _) if in_vain == IN_VAIN_MAX => break,
            (_, _) => {
                in_vain += 1;
                at = open + 1;
            }
        }
    }
    found
}

/// The length of the object that this brace opens, including its closing brace.
fn end_of_object(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Reads a JSON object as a call, in one of the three shapes that models write. An object without arguments is not a call:
/// ordinary data often has a `name`.
fn call_of(object: Value) -> Option<Call> {
    let Value::Object(object) = object else {
        return None;
    };
    let is_function = object.get("type").is_some_and(|kind| kind == "function");
    let function = object.get("function").filter(|_| is_function);
    let (name, arguments) = match function.and_then(Value::as_object) {
        Some(function) => (function.get("name")?, function.get("arguments")),
        None => match object.get("tool_name") {
            Some(name) => (name, object.get("tool_args")),
            None => (object.get("name")?, object.get("arguments")),
        },
    };
    let arguments = match arguments? {
        Value::String(text) => {
            serde_json::from_str::<Map<String, Value>>(text).ok()?;
            text.clone()
        }
        Value::Object(_) => canonical(arguments?),
        _ => return None,
    };
    Some((name.as_str()?.to_owned(), arguments))
}
