//! JSON text that must come out the same, byte for byte, for ever.
//!
//! Frozen prefixes and fragments are compared by bytes with what was sent before, so writing does not depend on how
//! some version of a library likes to escape. Called by the codecs.

use serde_json::Value;

/// Appends a string with its quotes. Escapes what JSON demands and nothing else, so that it holds no raw newline.
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

/// Appends a value with the keys of all its objects sorted.
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

#[cfg(test)]
mod tests;
