//! Calls that an answer makes without declaring them: as JSON objects or in tags, in its words or its reasoning.
//!
//! Two passes, after the original Reasonix: blocks of DSML (DeepSeek's own markup) and of its relatives in XML; then, in
//! what is left, JSON objects of three shapes. One look at each byte, and no more than [`SCANNED_MAX`] of them.

use proto::item::ToolCall;
use serde_json::{Map, Value};

use super::{canonical, canonical_text};

/// Calls that are taken from one answer.
pub const TAKEN_MAX: usize = 4;

/// Bytes that are looked at, of the reasoning and of the words each: the newest. A call stands at the end.
pub const SCANNED_MAX: usize = 64 * 1024;

/// A call that was not declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScavengedCall {
    /// A tool that there is.
    pub tool: String,
    /// Its arguments, as JSON.
    pub arguments: String,
}

/// Calls in these words that are not among the declared ones, each once, in order.
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
    // What was said counts before what was thought: of a call in both, the one that was said is taken.
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

/// The end of a text that is too long to be looked at.
fn newest(text: &str) -> &str {
    let from = text.len().saturating_sub(SCANNED_MAX);
    let from = (from..=text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len());
    &text[from..]
}

/// The bars that stand in DSML: ASCII, and U+FF5C.
const MARKS: [&str; 3] = ["|DSML|", "｜DSML｜", ""];

/// Takes the calls out of tags; returns the text without them.
fn tagged(text: &str, calls: &mut Vec<Call>) -> String {
    let mut rest = String::new();
    let mut at = 0;
    // What is not closed from one place on is not closed from a later one on: nothing is looked for twice in vain.
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

/// A block that begins here: its call, and its length. One that is not closed is none.
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

/// Braces that are taken for the beginning of an object and are not: after so many the rest is prose.
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

/// The length of what stands between this brace and the one that closes it.
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

/// The call that a JSON object is, in one of the three shapes that models write. Without arguments it is none: data
/// often has a name.
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
