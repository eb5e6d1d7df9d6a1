//! Arguments that were cut off: the JSON is closed, so that it can be shown and, where nothing can go wrong, run.
//!
//! After the original Reasonix (`src/repair`), with its one weakness repaired: that something was closed is told, so that
//! half a file is never written.

/// Arguments as they can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedJson {
    /// JSON, whatever came.
    pub json: String,
    /// Whether it is what came, up to blanks around it. `false`: the call is truncated.
    pub whole: bool,
}

/// Closes what is open in this text: strings, brackets, a key without a value; a trailing comma goes. What is no
/// beginning of JSON becomes `{}`. A number or a text at the end may be half of one: what is not whole runs only where
/// half of it does no harm. Nothing at all is `{}` too, and whole: calls without arguments come so.
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

/// The arguments closed, where they are an object that breaks off. `None`: they are whole, or no beginning of an object,
/// and stay as they came.
#[must_use]
pub fn repair_json(arguments: &str) -> Option<String> {
    let text = arguments.trim();
    if !text.starts_with('{') || is_json(text) {
        return None;
    }
    closed(text).filter(|json| is_json(json))
}

fn is_json(text: &str) -> bool {
    // As it is read later: half a surrogate pair or a number out of range is none.
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}

/// The text with what is open closed in reverse; `None` where a bracket closes what was not opened.
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
