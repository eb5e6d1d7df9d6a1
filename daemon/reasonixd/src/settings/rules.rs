//! Rules as a config file has them: a text, or a table with the text and examples of calls that it must and must not match.
//!
//! A rule that does not mean what its author thinks is reported with its line. A rule that tightens holds all the same;
//! one that allows then allows nothing. Called by `value`, and by readers of its result.

use contract::ToolSet;
use policy::{Examples, Layer, List, RuleSet};
use proto::record::Rules;
use serde_json::{Value, json};
use toml_edit::{InlineTable, Item};

use super::value::Refused;

/// What may be in a rule's table.
const MEMBERS: [&str; 3] = ["rule", "match", "not_match"];

/// What a list of rules may be, for people.
const ALLOWED: &str = "a list of rules: strings, or tables such as { rule = \"Bash(npm run test:*)\", match = [\"npm run test:unit\"], not_match = [\"npm run test; rm x\"] }";

/// The rules of a list as JSON, each a text or an object as it was written; or the allowed form.
pub fn read(
    item: &Item,
    list: List,
    tools: &ToolSet,
    refused: &mut Vec<Refused>,
) -> Result<Value, String> {
    // What tightens is not lost for want of brackets; what allows is written as it should be.
    let one = item.as_value().filter(|value| value.is_str());
    let one = one.filter(|_| list != List::Allow);
    let several = item.as_array();
    if one.is_none() && several.is_none() {
        return Err(ALLOWED.to_owned());
    }
    let mut values = Vec::new();
    for value in one.into_iter().chain(several.into_iter().flatten()) {
        let offset = value.span().map_or(0, |span| span.start);
        let written = match (value.as_str(), value.as_inline_table()) {
            (Some(text), _) => plain(text, list),
            (None, Some(table)) => {
                with_examples(table, list).map_err(|why| format!("{why} in a table with a rule"))?
            }
            (None, None) => return Err(ALLOWED.to_owned()),
        };
        let wrong = wrong(&written, tools);
        if let Some(why) = &wrong {
            let (holds, then) = match list {
                List::Allow => (false, "it is ignored until that is fixed"),
                List::Ask | List::Deny => (true, "it is used as read"),
            };
            refused.push(Refused {
                offset,
                why: format!("`{}`: {why}; {then}", written.rule),
                holds,
            });
        }
        if wrong.is_none() || list != List::Allow {
            values.push(shown(&written));
        }
    }
    Ok(values.into())
}

/// The texts of rules that [`read`] has made JSON of.
pub fn texts(value: &Value) -> Vec<String> {
    let values = value.as_array().into_iter().flatten();
    values
        .filter_map(|value| value.as_str().or_else(|| value["rule"].as_str()))
        .map(str::to_owned)
        .collect()
}

/// A rule of a settings call as TOML, if it is a table.
pub fn table(members: &serde_json::Map<String, Value>) -> Option<InlineTable> {
    let mut table = InlineTable::new();
    for (name, value) in members {
        let value = match value {
            Value::String(text) => text.as_str().into(),
            Value::Array(texts) => {
                let texts: Option<Vec<&str>> = texts.iter().map(Value::as_str).collect();
                toml_edit::Value::Array(toml_edit::Array::from_iter(texts?))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
        };
        table.insert(name, value);
    }
    Some(table)
}

fn plain(text: &str, list: List) -> Examples {
    Examples {
        rule: text.to_owned(),
        list,
        matches: Vec::new(),
        not_match: Vec::new(),
    }
}

fn with_examples(table: &InlineTable, list: List) -> Result<Examples, String> {
    if let Some((name, _)) = table.iter().find(|(name, _)| !MEMBERS.contains(name)) {
        return Err(format!("only {}, not `{name}`", MEMBERS.join(", ")));
    }
    let texts = |name: &str| -> Result<Vec<String>, String> {
        let Some(value) = table.get(name) else {
            return Ok(Vec::new());
        };
        let texts = value.as_array().and_then(|texts| {
            let texts = texts.iter().map(|text| text.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<_>>>()
        });
        texts.ok_or_else(|| format!("a list of strings as `{name}`"))
    };
    let rule = table.get("rule").and_then(toml_edit::Value::as_str);
    Ok(Examples {
        matches: texts("match")?,
        not_match: texts("not_match")?,
        ..plain(rule.ok_or("a string as `rule`")?, list)
    })
}

/// Why a rule does not say what its author may think.
fn wrong(written: &Examples, tools: &ToolSet) -> Option<String> {
    let mut rules = Rules::default();
    match written.list {
        List::Allow => rules.allow.push(written.rule.clone()),
        List::Ask => rules.ask.push(written.rule.clone()),
        List::Deny => rules.deny.push(written.rule.clone()),
    }
    let known: Vec<_> = tools.specs().collect();
    let (_, misread) = RuleSet::parse(&[(Layer::User, &rules, true)], &known);
    let mut problems = misread
        .into_iter()
        .chain(written.check(Layer::User, &known));
    problems.next().map(|problem| problem.reason)
}

fn shown(written: &Examples) -> Value {
    if written.matches.is_empty() && written.not_match.is_empty() {
        return Value::from(written.rule.as_str());
    }
    json!({"rule": written.rule, "match": written.matches, "not_match": written.not_match})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::known_tools;

    #[test]
    fn a_rule_for_an_unknown_tool_is_reported_and_holds_only_if_it_tightens() {
        for (list, kept) in [(List::Allow, 0), (List::Ask, 1), (List::Deny, 1)] {
            let file = "rules = [\"edit(docs/**)\"]".parse::<toml_edit::Document<String>>();
            let file = file.unwrap();
            let mut refused = Vec::new();
            let read = read(&file["rules"], list, &known_tools(), &mut refused).unwrap();
            assert_eq!(texts(&read).len(), kept, "{list}");
            let [problem] = refused.as_slice() else {
                panic!("{list}: {} problems", refused.len())
            };
            let meant = "did you mean `Edit(docs/**)`?";
            assert!(problem.why.contains(meant), "{list}: {}", problem.why);
        }
    }
}
