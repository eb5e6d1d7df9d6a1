//! Writes JSON with stable bytes.
//!
//! Prefixes and fragments must match earlier bytes, so the output must not depend on a library's
//! version. Called by the codecs.

use std::borrow::Cow;
use std::ffi::CString;

use contract::ToolDeclaration;
use serde_json::Value;
use serde_json::value::RawValue;

/// Appends a quoted string. Escapes only what JSON requires, so the output contains no raw newline.
pub(crate) fn push_string(out: &mut String, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.reserve(text.len() + 2);
    out.push('"');
    let mut plain = 0;
    for (index, byte) in text.bytes().enumerate() {
        let escaped = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0x00..=0x1f => "\\u00",
            _ => continue,
        };
        out.push_str(&text[plain..index]);
        out.push_str(escaped);
        if escaped.len() > 2 {
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
        plain = index + 1;
    }
    out.push_str(&text[plain..]);
    out.push('"');
}

/// The tool schemas sorted by name, so that a prefix does not depend on their order: one object
/// each, without brackets. `how` is the text before the name, between description and schema, and
/// at the end.
pub(crate) fn schemas(tools: &[ToolDeclaration], how: [&str; 3]) -> String {
    let [before, schema, after] = how;
    let mut tools: Vec<&ToolDeclaration> = tools.iter().collect();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    let mut out = String::new();
    for tool in tools {
        out.push_str(if out.is_empty() { "" } else { "," });
        out.push_str(before);
        push_string(&mut out, &tool.name);
        out.push_str(",\"description\":");
        push_string(&mut out, &tool.description);
        out.push_str(schema);
        push_sorted(&mut out, &tool.schema);
        out.push_str(after);
    }
    out
}

/// Appends a value with the keys of all objects sorted.
pub(crate) fn push_sorted(out: &mut String, value: &Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
        Value::String(text) => push_string(out, text),
        Value::Array(values) => {
            out.push('[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                push_sorted(out, value);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| key.as_str());
            out.push('{');
            for (index, (key, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                push_string(out, key);
                out.push(':');
                push_sorted(out, value);
            }
            out.push('}');
        }
    }
}

/// The JSON text of a call's arguments: the content of the string, or the object itself.
pub(crate) fn text_of(raw: &RawValue) -> Cow<'_, str> {
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'"') => match text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'))
        {
            // Without escapes, borrow.
            Some(inner) if !inner.contains('\\') => Cow::Borrowed(inner),
            _ => Cow::Owned(serde_json::from_str(text).unwrap_or_else(|_| lossy(text))),
        },
        Some(b'n') | None => Cow::Borrowed(""),
        Some(_) => Cow::Borrowed(text),
    }
}

/// The content of a string with a lone surrogate, which becomes replacement characters.
fn lossy(text: &str) -> String {
    // `CString` is the type of `serde` that takes the bytes of a string.
    let bytes = serde_json::from_str::<CString>(text).unwrap_or_default();
    String::from_utf8_lossy(bytes.as_bytes()).into_owned()
}

/// JSON text without raw line ends. They are insignificant outside strings and cannot be inside.
pub(crate) fn on_one_line(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', '\r']) {
        Cow::Owned(text.replace(['\n', '\r'], ""))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests;
