//! Request members from the config entry: its extra members, and the effort.

use serde_json::{Map, Value};

use crate::json::{quoted, sorted};
use crate::options::ProviderOptions;
use crate::registry::OpenError;

/// The entry's extra members, comma-joined and sorted by key, so that the order in the config does
/// not matter. Refuses members that the kind writes itself.
pub(crate) fn members(options: &ProviderOptions, reserved: &[&str]) -> Result<String, OpenError> {
    let wrong = |reason: String| OpenError::Extra {
        name: options.name.clone(),
        reason,
    };
    let members: Map<String, Value> = serde_json::from_str(&format!("{{{}}}", options.extra))
        .map_err(|error| wrong(format!("not JSON members: {error}")))?;
    if let Some(key) = members.keys().find(|key| reserved.contains(&key.as_str())) {
        return Err(wrong(format!("`{key}` is written by the request itself")));
    }
    let object = sorted(Value::Object(members)).to_string();
    Ok(object[1..object.len() - 1].to_owned())
}

/// Whether the entry adds a member with this name.
pub(crate) fn has(options: &ProviderOptions, name: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(&format!("{{{}}}", options.extra))
        .is_ok_and(|members| members.contains_key(name))
}

/// Appends members, with a comma if both parts are not empty.
pub(crate) fn join(all: &mut String, more: &str) {
    if !all.is_empty() && !more.is_empty() {
        all.push(',');
    }
    all.push_str(more);
}

/// The effort as a JSON string, if set. Refuses levels that the entry does not list, if it lists
/// any. Refuses extra members (`rivals`) that set the effort in another way.
pub(crate) fn effort(
    options: &ProviderOptions,
    rivals: &[&str],
) -> Result<Option<String>, OpenError> {
    let Some(effort) = &options.effort else {
        return Ok(None);
    };
    if !options.efforts.is_empty() && !options.efforts.contains(effort) {
        return Err(OpenError::Effort {
            name: options.name.clone(),
            effort: effort.clone(),
            valid: options.efforts.join(", "),
        });
    }
    if let Some(rival) = rivals.iter().find(|rival| has(options, rival)) {
        return Err(OpenError::Extra {
            name: options.name.clone(),
            reason: format!("`{rival}` and `effort` exclude each other"),
        });
    }
    Ok(Some(quoted(effort)))
}

/// Refuses a key that this kind does not use, so that no setting is silently ignored.
pub(crate) fn unused(
    is_set: bool,
    options: &ProviderOptions,
    key: &'static str,
    reason: &str,
) -> Result<(), OpenError> {
    if !is_set {
        return Ok(());
    }
    Err(OpenError::Key {
        name: options.name.clone(),
        key,
        reason: reason.to_owned(),
    })
}

/// Refuses keys that only the kind `command` uses.
pub(crate) fn no_command(options: &ProviderOptions) -> Result<(), OpenError> {
    let reason = "only the kind `command` starts a program";
    unused(!options.command.is_empty(), options, "command", reason)
}

/// A member that sets the temperature, in hundredths. `None` if an extra member already sets it.
pub(crate) fn temperature(members: &str, hundredths: u32) -> Option<String> {
    let (whole, part) = (hundredths / 100, hundredths % 100);
    let set = members.contains("\"temperature\"");
    (!set).then(|| format!("\"temperature\":{whole}.{part:02}"))
}

/// Tokens for the reasoning of a model before its answer, beside the limit of the answer.
const REASONING_TOKENS: u64 = 8_192;
/// Vendors refuse a lower limit.
const OUTPUT_MIN: u64 = 16;

/// Members with this one limited to so many tokens of text, and no higher than it is. `reasons`: the model's reasoning counts
/// too.
pub(crate) fn with_output_limit(
    members: &str,
    name: &str,
    tokens: u64,
    reasons: bool,
) -> Option<String> {
    let mut members: Map<String, Value> = serde_json::from_str(&format!("{{{members}}}")).ok()?;
    let budget = members
        .get("thinking")
        .and_then(|thinking| thinking.get("budget_tokens"));
    let room = match (reasons, budget.and_then(Value::as_u64)) {
        (false, _) => 0,
        // The vendor demands a higher limit than this.
        (true, Some(budget)) => budget,
        (true, None) => REASONING_TOKENS,
    };
    let wanted = tokens.max(OUTPUT_MIN).saturating_add(room);
    let limit = members.get(name).and_then(Value::as_u64);
    let limit = limit.map_or(wanted, |limit| limit.min(wanted));
    members.insert(name.to_owned(), limit.into());
    let object = Value::Object(members).to_string();
    Some(object[1..object.len() - 1].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_limited_to_what_is_wanted_and_never_to_more() {
        let limited = |members: &str, tokens, reasons| {
            with_output_limit(members, "max_tokens", tokens, reasons).expect("members")
        };
        assert_eq!(limited("", 100, false), r#""max_tokens":100"#);
        assert_eq!(
            limited(r#""max_tokens":32000,"top_k":1"#, 100, false),
            r#""max_tokens":100,"top_k":1"#
        );
        assert_eq!(
            limited(r#""max_tokens":50"#, 100, false),
            r#""max_tokens":50"#
        );
        assert_eq!(limited("", 100, true), r#""max_tokens":8292"#);
        assert_eq!(limited("", 1, false), r#""max_tokens":16"#);
        let budget = r#""thinking":{"type":"enabled","budget_tokens":16384}"#;
        let with_budget = limited(&format!(r#""max_tokens":32000,{budget}"#), 100, true);
        assert!(
            with_budget.contains(r#""max_tokens":16484"#),
            "{with_budget}"
        );
    }
}
