//! Invariants for any text of a model: a fuzzing target, see `tests/fuzz/README.md`.

use serde_json::{Map, Value};

use crate::repair::close::{close, repair_json};
use crate::repair::flatten::flatten;
use crate::repair::scavenge::{TAKEN_MAX, scavenge};

/// Call repair: its output is valid, and it finds only real calls.
pub fn repair(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    closing(&text);
    let (reasoning, said) = text.split_once('\0').unwrap_or(("", &text));
    let found = scavenge(reasoning, said, &[], |tool| tool != "unknown");
    assert!(found.len() <= TAKEN_MAX);
    for (place, call) in found.iter().enumerate() {
        assert!(serde_json::from_str::<Map<String, Value>>(&call.arguments).is_ok());
        assert!(!found[..place].contains(call));
        assert_ne!(call.tool, "unknown");
    }
    if let Some((schema, arguments)) = text.split_once('\u{1}') {
        flattening(schema, arguments);
    }
}

/// Truncated JSON becomes valid JSON, and complete JSON is unchanged.
fn closing(text: &str) {
    let closed = close(text);
    let value = serde_json::from_str::<Value>(&closed.json);
    assert!(value.is_ok(), "{closed:?}");
    assert_eq!(
        closed.whole,
        text.trim().is_empty() || serde_json::from_str::<Value>(text.trim()).is_ok()
    );
    if closed.whole && !text.trim().is_empty() {
        assert_eq!(closed.json, text.trim());
    }
    if let Some(repaired) = repair_json(text) {
        assert!(serde_json::from_str::<Map<String, Value>>(&repaired).is_ok());
        assert!(!closed.whole && repaired == closed.json);
    }
}

/// Flattened arguments are nested again, and nested ones are unchanged.
fn flattening(schema: &str, arguments: &str) {
    let Ok(schema) = serde_json::from_str::<Value>(schema) else {
        return;
    };
    let Some(flat) = flatten(&schema) else { return };
    assert_eq!(flat.schema.is_object(), schema.is_object());
    if let Ok(arguments) = serde_json::from_str::<Value>(arguments) {
        let nested = flat.nest(arguments.clone());
        assert_eq!(nested.is_object(), arguments.is_object());
        if !flat.is_used_by(&arguments.to_string()) && !arguments.is_object() {
            assert_eq!(nested, arguments);
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/fuzz/seeds.rs"]
mod seeds;

#[test]
fn seeds_of_repair() {
    seeds::each("repair", repair);
}
