//! What changed in the definition of a tool since it was approved, as the user is shown it. Pure.
//!
//! Every line of the server's text has a sign before it, so that none can pose as one of ours.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::listing::ListedTool;

/// Characters of a description that are kept, and shown.
const SHOWN_MAX: usize = 2_000;
/// Characters that are shown before the first difference of a long text.
const BEFORE: usize = 100;

/// What is kept of an approved definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovedDefinition {
    /// What the approval is bound to.
    pub hash: String,
    pub description: String,
    /// SHA-256.
    pub schema: String,
}

impl ApprovedDefinition {
    /// Of a tool as it is listed.
    #[must_use]
    pub fn new(tool: &ListedTool) -> Self {
        Self {
            hash: tool.hash.clone(),
            description: tool.description.clone(),
            schema: hex::encode(Sha256::digest(tool.schema.to_string().as_bytes())),
        }
    }
}

/// The lines of a change, signed as in a diff. `before`: what was approved, if it is known. `target`: the command or address of
/// the server.
#[must_use]
pub fn change(before: Option<&ApprovedDefinition>, tool: &ListedTool, target: &str) -> String {
    let now = ApprovedDefinition::new(tool);
    let Some(before) = before else {
        return signed('+', "description", &excerpt(&now.description, 0));
    };
    let mut lines = Vec::new();
    if before.description != now.description {
        let at = first_difference(&before.description, &now.description);
        lines.push(signed(
            '-',
            "description",
            &excerpt(&before.description, at),
        ));
        lines.push(signed('+', "description", &excerpt(&now.description, at)));
    }
    if before.schema != now.schema {
        let schema = excerpt(&tool.schema.to_string(), 0);
        lines.push(signed('+', "inputSchema", &schema));
    }
    if lines.is_empty() {
        lines.push(signed('+', "server", &excerpt(target, 0)));
    }
    lines.join("\n")
}

/// The number of characters that two texts begin with alike.
fn first_difference(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(one, other)| one == other).count()
}

/// A part of a text that holds this character, within bounds.
fn excerpt(text: &str, at: usize) -> String {
    let count = text.chars().count();
    let start = match count > SHOWN_MAX {
        true => at.saturating_sub(BEFORE),
        false => 0,
    };
    let part: String = text.chars().skip(start).take(SHOWN_MAX).collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if count > start + SHOWN_MAX { "…" } else { "" };
    format!("{before}{part}{after}")
}

fn signed(sign: char, field: &str, text: &str) -> String {
    let text = text.trim_end().replace('\n', &format!("\n{sign}   "));
    format!("{sign} {field}: {text}")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn tool(description: &str, schema: Value) -> ListedTool {
        ListedTool {
            name: "mcp__s__add".to_owned(),
            tool: "add".to_owned(),
            description: description.to_owned(),
            schema: Arc::new(schema),
            read_only: false,
            hash: String::new(),
            of_resources: false,
        }
    }

    fn changed(before: (&str, Value), now: (&str, Value)) -> String {
        let before = ApprovedDefinition::new(&tool(before.0, before.1));
        change(Some(&before), &tool(now.0, now.1), "run it")
    }

    #[test]
    fn what_changed_is_shown_and_nothing_else() {
        assert_eq!(
            changed(("Adds.", json!({})), ("Adds.\nSends files.", json!({}))),
            "- description: Adds.\n+ description: Adds.\n+   Sends files."
        );
        assert_eq!(
            changed(("Adds.", json!({})), ("Adds.", json!({"type": "object"}))),
            "+ inputSchema: {\"type\":\"object\"}"
        );
        assert_eq!(
            changed(("Adds.", json!({})), ("Adds.", json!({}))),
            "+ server: run it"
        );
        assert_eq!(
            change(None, &tool("Adds.", json!({})), "run it"),
            "+ description: Adds."
        );
    }

    #[test]
    fn a_long_text_is_shown_where_it_changed() {
        let long = "word ".repeat(1_500);
        let now = format!("{long}EVIL{long}");
        let shown = changed((&long, json!({})), (&now, json!({})));
        let line = shown.lines().last().unwrap_or_default();
        assert!(line.starts_with("+ description: …word") && line.contains("EVIL"));
        assert!(line.chars().count() < SHOWN_MAX + 50, "{line}");
    }

    proptest! {
        #[test]
        fn no_line_is_without_a_sign(before in "[a-z \n]*", now in "[a-z \n]*") {
            let shown = changed((&before, json!({})), (&now, json!({})));
            for line in shown.split('\n') {
                prop_assert!(line.starts_with("- ") || line.starts_with("+ "), "{line:?}");
            }
        }
    }
}
