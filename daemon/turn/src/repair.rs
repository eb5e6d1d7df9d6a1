//! What models get wrong in their calls, and what can be made of it: pure, and the same for each answer that is the same.
//!
//! On each answer, in this order (chapter 30, *Tool-call repair*): calls that it did not declare are taken up
//! ([`scavenge`]), arguments that were cut off are closed ([`close`]), calls that go in circles are held back
//! ([`storm`]). Once per session, when the tool set is frozen, deep schemas are shown flat ([`flatten`]), and a call's
//! arguments are nested again before it is judged. Scalars of a wrong type are repaired where tools read their arguments.
//!
//! What a session's tools are is said from outside ([`RepairTools`]); without it nothing is repaired. `call_repair` puts the passes
//! into the turn.

pub mod close;
pub mod flatten;
pub mod scavenge;
pub mod storm;

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use flatten::FlatSchema;

/// What has to be known of a session's tools before calls are repaired, by their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepairTools(pub BTreeMap<String, RepairTool>);

/// One tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepairTool {
    /// It only looks at files: half of what it was asked does no harm.
    pub may_run_half: bool,
    /// How its parameters are shown, where that is not as they are.
    pub flat: Option<FlatSchema>,
}

/// JSON by which two values are equal if they mean the same: keys sorted, no blanks.
pub(crate) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

/// The same of arguments as a model wrote them; text that is no JSON stands for itself.
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
