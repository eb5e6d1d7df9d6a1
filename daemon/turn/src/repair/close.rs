//! Completes truncated arguments: closes the JSON, so that the call can be shown and, if it is harmless, run.
//!
//! Modelled on the original Reasonix (`src/repair`), with one weakness fixed: the result says whether anything was closed,
//! so that half a file is never written.

/// Arguments that are valid JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedJson {
    /// Valid JSON, whatever the input.
    pub json: String,
    /// Whether it equals the input, apart from surrounding whitespace. `false`: the call is truncated.
    pub whole: bool,
}

/// Completes truncated JSON: closes strings and brackets, adds `null` to a key without a value, and removes a trailing
/// comma. Text that does not start like JSON becomes `{}`. The last number or string may be incomplete, so a truncated
/// call runs only if that is harmless. Empty text becomes `{}` and counts as whole: calls without arguments arrive so.
#[must_use]
pub fn close(arguments: &str) -> ClosedJson {
    let text = arguments.trim();
    if text.is_empty() {
        return ClosedJson {
            json: "{}".to_owned(),
            whole: true,
        };
    }
    if is_json(text) {
        return ClosedJson {
            json: text.to_owned(),
            whole: true,
        };
    }
    let json = closed(text).filter(|json| is_json(json));
    ClosedJson {
        json: json.unwrap_or_else(|| "{}".to_owned()),
        whole: false,
    }
}

/// Completes arguments that are a truncated object. `None`: they are complete, or do not start like an object, and stay
/// unchanged.
#[must_use]
pub fn repair_json(arguments: &str) -> Option<String> {
    let text = arguments.trim();
    if !text.starts_with('{') || is_json(text) {
        return None;
    }
    closed(text).filter(|json| is_json(json))
}

fn is_json(text: &str) -> bool {
    // Parses like the later readers do: half a surrogate pair or a number out of range is not valid.
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}

/// Closes open strings and brackets, innermost first; `None` if a bracket closes one that was not opened.
fn closed(text: &str) -> Option<String> {
    let mut open = Vec::new();
    let mut in_string = false;
    let mut escaped = false;
    for letter in text.chars() {
        if in_string {
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match letter {
            '"' => in_string = true,
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' if open.pop() != Some(letter) => return None,
            _ => {}
        }
    }
    let mut json = text.to_owned();
    if in_string {
        json.push('"');
    } else {
        if json.ends_with(',') {
            json.pop();
        }
        if json.trim_end().ends_with(':') {
            json.push_str(" null");
        }
    }
    json.extend(open.into_iter().rev());
    Some(json)
}
