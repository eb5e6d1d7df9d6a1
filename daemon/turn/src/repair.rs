//! Repair of malformed tool calls. Pure and deterministic: equal answers are repaired equally.
//!
//! Each answer passes through these steps, in this order (chapter 30, *Tool-call repair*): [`scavenge`] takes up calls that
//! are only written in its text; [`close`] completes truncated arguments. Once per session, when the tool set is frozen,
//! [`flatten`] flattens deep schemas; a call's arguments are nested again before it is judged. The tools themselves convert scalars of a wrong type when they read their arguments.
//!
//! The session supplies its tools as [`RepairTools`]; without them nothing is repaired. `call_repair` runs the steps in a
//! turn.

pub mod close;
pub mod flatten;
pub mod scavenge;

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use flatten::FlatSchema;

/// The facts about a session's tools that repairs need, by tool name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepairTools(pub BTreeMap<String, RepairTool>);

/// The facts about one tool that repairs need.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepairTool {
    /// The tool only reads files, so it may run with truncated arguments.
    pub may_run_truncated: bool,
    /// The flat form of its parameters, if the model sees them flat.
    pub flat: Option<FlatSchema>,
}

/// Canonical JSON for comparing values: keys sorted, no whitespace.
pub(crate) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

/// The canonical form of arguments as the model wrote them; text that is not JSON is only trimmed.
pub(crate) fn canonical_text(arguments: &str) -> String {
    match serde_json::from_str::<Value>(arguments) {
        Ok(value) => canonical(&value),
        Err(_) => arguments.trim().to_owned(),
    }
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            text.push('{');
            for (place, (name, value)) in fields.into_iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                let _ = write!(text, "{}:", Value::from(name.as_str()));
                write_canonical(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                write_canonical(item, text);
            }
            text.push(']');
        }
        scalar => {
            let _ = write!(text, "{scalar}");
        }
    }
}
