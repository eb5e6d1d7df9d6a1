//! JSON as text.
//!
//! Prefixes and fragments must match earlier bytes, so tests fix how a text is written. Called by the
//! codecs.

use std::borrow::Cow;
use std::ffi::CString;

use contract::ToolDeclaration;
use serde_json::Value;
use serde_json::value::RawValue;

/// A quoted string. Escapes only what JSON requires, so it contains no raw newline.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The tool schemas sorted by name, so that a prefix does not depend on their order: one object
/// each, without brackets. `declare` makes it of a name, a description and a schema.
pub(crate) fn schemas(
    tools: &[ToolDeclaration],
    declare: impl Fn(&str, &str, Value) -> Value,
) -> String {
    let mut tools: Vec<&ToolDeclaration> = tools.iter().collect();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    let declared = tools.into_iter().map(|tool| {
        let schema = sorted(Value::clone(&tool.schema));
        declare(&tool.name, &tool.description, schema).to_string()
    });
    declared.collect::<Vec<_>>().join(",")
}

/// A value with the keys of all objects sorted.
pub(crate) fn sorted(mut value: Value) -> Value {
    value.sort_all_objects();
    value
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
