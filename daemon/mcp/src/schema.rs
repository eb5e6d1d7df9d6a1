//! Schemas of tools as providers take them: one that they would refuse fails every request of a session, whichever tool
//! it calls. What only says too much is made simpler, so that it allows more; the server checks its arguments itself. Pure.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::text::clean;

/// How deep a schema may be nested.
const DEPTH_MAX: usize = 32;
/// The longest name of a property that providers take.
const KEY_MAX: usize = 64;
/// The types that there are.
const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];
/// Keywords whose value is a schema.
const SCHEMA: [&str; 9] = [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
];
/// Keywords whose value is a list of schemas.
const SCHEMAS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
/// Keywords whose value is an object of schemas.
const NAMED: [&str; 5] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
];

/// The schema as an object with properties, keys sorted. The error says why providers would refuse it.
pub(crate) fn usable(schema: &Map<String, Value>) -> Result<Value, String> {
    // First of all: what comes after this calls itself for each level.
    let schema = sorted(Value::Object(schema.clone()), DEPTH_MAX);
    let Some(Value::Object(mut schema)) = schema else {
        return Err("its schema is nested too deeply".to_owned());
    };
    schema.remove("$schema");
    resolve_top(&mut schema)?;
    is_object(&schema)?;
    merge_alternatives(&mut schema)?;
    schema.insert("type".to_owned(), json!("object"));
    schema
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()));
    if !schema.get("required").is_none_or(is_names) {
        return Err("`required` of its schema is not a list of names".to_owned());
    }
    let mut schema = Value::Object(schema);
    let whole = schema.clone();
    check(&mut schema, &whole)?;
    // Merging and simplifying may have put something at the end.
    sorted(schema, DEPTH_MAX + 2).ok_or_else(|| "its schema is nested too deeply".to_owned())
}

fn is_object(schema: &Map<String, Value>) -> Result<(), String> {
    match schema.get("type") {
        None => Ok(()),
        Some(Value::String(kind)) if kind == "object" => Ok(()),
        Some(_) => Err("its schema is not of an object".to_owned()),
    }
}

/// A schema that is only a reference is what it refers to.
fn resolve_top(schema: &mut Map<String, Value>) -> Result<(), String> {
    let Some(place) = schema.get("$ref").cloned() else {
        return Ok(());
    };
    let whole = Value::Object(schema.clone());
    let Some(target) = referred(&place, &whole)?.as_object() else {
        return Err("its schema is not of an object".to_owned());
    };
    schema.remove("$ref");
    for (name, value) in target {
        schema.entry(name.clone()).or_insert_with(|| value.clone());
    }
    // A reference to another one, or to itself.
    match schema.contains_key("$ref") {
        true => Err("its schema is only a reference".to_owned()),
        false => Ok(()),
    }
}

fn is_names(required: &Value) -> bool {
    required
        .as_array()
        .is_some_and(|names| names.iter().all(Value::is_string))
}

/// Providers refuse alternatives at the top: one object takes the properties of all of them, and requires what all of
/// them require. Its description says which belong together.
fn merge_alternatives(schema: &mut Map<String, Value>) -> Result<(), String> {
    let whole = Value::Object(schema.clone());
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let branches = match schema.remove(keyword) {
            None => continue,
            Some(Value::Array(branches)) if !branches.is_empty() => branches,
            Some(_) => return Err(format!("`{keyword}` of its schema is no list of schemas")),
        };
        let mut required: Vec<BTreeSet<String>> = Vec::new();
        for branch in &branches {
            let branch = match branch.get("$ref") {
                Some(place) => referred(place, &whole)?,
                None => branch,
            };
            let Some(branch) = branch.as_object() else {
                return Err(format!("`{keyword}` of its schema is no list of schemas"));
            };
            is_object(branch)?;
            let mut nested = ["allOf", "anyOf", "oneOf", "$ref"].iter();
            if nested.any(|inner| branch.contains_key(*inner)) {
                return Err(
                    "the alternatives of its schema have alternatives themselves".to_owned(),
                );
            }
            merge_properties(schema, branch)?;
            required.push(names(branch.get("required")));
        }
        if keyword != "allOf" {
            describe(schema, keyword, &required);
        }
        let first = required.first().cloned().unwrap_or_default();
        let common = required
            .into_iter()
            .fold(first, |all, names| match keyword {
                "allOf" => all.union(&names).cloned().collect(),
                _ => all.intersection(&names).cloned().collect(),
            });
        if !common.is_empty() {
            let mut all = names(schema.get("required"));
            all.extend(common);
            schema.insert("required".to_owned(), json!(all));
        }
    }
    // These, too, are refused there.
    schema.remove("not");
    schema.remove("enum");
    Ok(())
}

fn names(required: Option<&Value>) -> BTreeSet<String> {
    let names = required.and_then(Value::as_array).into_iter().flatten();
    names
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect()
}

/// Adds the properties of an alternative. One that is there already may be either.
fn merge_properties(
    schema: &mut Map<String, Value>,
    branch: &Map<String, Value>,
) -> Result<(), String> {
    let wrong = || "`properties` of its schema is not an object".to_owned();
    let added = match branch.get("properties") {
        None => return Ok(()),
        Some(added) => added.as_object().ok_or_else(wrong)?,
    };
    let all = schema.entry("properties").or_insert_with(|| json!({}));
    let all = all.as_object_mut().ok_or_else(wrong)?;
    for (name, value) in added {
        match all.get_mut(name) {
            None => {
                all.insert(name.clone(), value.clone());
            }
            Some(known) if known == value => {}
            Some(known) => *known = json!({"anyOf": [known.take(), value]}),
        }
    }
    Ok(())
}

/// Says in the description which properties each alternative requires.
fn describe(schema: &mut Map<String, Value>, keyword: &str, required: &[BTreeSet<String>]) {
    if required.iter().all(BTreeSet::is_empty) {
        return;
    }
    let sets = required.iter().map(|names| {
        let names = names.iter().map(|name| format!("`{name}`"));
        let names = names.collect::<Vec<_>>().join(" and ");
        match names.is_empty() {
            true => "none of them".to_owned(),
            false => names,
        }
    });
    let sets = sets.collect::<Vec<_>>().join(", or ");
    let how = match keyword {
        "oneOf" => "Exactly one of these is needed",
        _ => "At least one of these is needed",
    };
    let said = schema.get("description").and_then(Value::as_str);
    let said = said.map(|said| format!("{said}\n")).unwrap_or_default();
    let text = format!("{said}{how}: {sets}.");
    schema.insert("description".to_owned(), json!(text));
}

/// What a reference refers to.
fn referred<'a>(place: &Value, whole: &'a Value) -> Result<&'a Value, String> {
    let place = place.as_str().unwrap_or_default();
    let found = match place.strip_prefix('#') {
        Some(pointer) => whole.pointer(pointer),
        None => None,
    };
    found.ok_or_else(|| format!("its schema refers to {place:?}, which is not in it"))
}

/// Checks a schema and those within, and simplifies what providers take in one form only.
fn check(schema: &mut Value, whole: &Value) -> Result<(), String> {
    let Value::Object(schema) = schema else {
        return match schema {
            Value::Bool(_) => Ok(()),
            _ => Err("a part of its schema is no schema".to_owned()),
        };
    };
    if let Some(place) = schema.get("$ref") {
        referred(place, whole)?;
    }
    check_type(schema)?;
    check_values(schema)?;
    for keyword in SCHEMA {
        if let Some(inner) = schema.get_mut(keyword) {
            check(inner, whole)?;
        }
    }
    for keyword in SCHEMAS {
        let inner = match schema.get_mut(keyword) {
            None => continue,
            Some(Value::Array(inner)) if !inner.is_empty() => inner,
            Some(_) => return Err(format!("`{keyword}` of its schema is no list of schemas")),
        };
        for inner in inner {
            check(inner, whole)?;
        }
    }
    for keyword in NAMED {
        let Some(inner) = schema.get_mut(keyword) else {
            continue;
        };
        let Value::Object(inner) = inner else {
            return Err(format!("`{keyword}` of its schema is not an object"));
        };
        for (name, inner) in inner {
            if keyword == "properties" && !is_key(name) {
                return Err(format!(
                    "the property {name:?} of its schema has a name that providers refuse (letters, digits, `_`, `.` and `-`, at most {KEY_MAX})"
                ));
            }
            if !inner.is_object() && !inner.is_boolean() {
                return Err(format!("the property {name:?} of its schema is no schema"));
            }
            check(inner, whole)?;
        }
    }
    Ok(())
}

fn is_key(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    (1..=KEY_MAX).contains(&name.len()) && name.chars().all(is_plain)
}

/// The types are known, and an array says what is in it.
fn check_type(schema: &mut Map<String, Value>) -> Result<(), String> {
    let kinds: Vec<&Value> = match schema.get("type") {
        None => Vec::new(),
        Some(Value::Array(kinds)) if !kinds.is_empty() => kinds.iter().collect(),
        Some(kind) => vec![kind],
    };
    let is_known = |kind: &&Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    if let Some(kind) = kinds.iter().find(|kind| !is_known(kind)) {
        return Err(format!("its schema has {kind} as a type, which is none"));
    }
    let is_array = kinds.iter().any(|kind| kind.as_str() == Some("array"));
    // The form of earlier versions of JSON Schema.
    if schema.get("items").is_some_and(Value::is_array)
        && let Some(places) = schema.insert("items".to_owned(), json!({}))
        && places.as_array().is_some_and(|places| !places.is_empty())
    {
        schema.insert("prefixItems".to_owned(), places);
    }
    if is_array {
        schema.entry("items").or_insert_with(|| json!({}));
    }
    Ok(())
}

/// A choice has choices. What is malformed and only restricts the values is left out.
fn check_values(schema: &mut Map<String, Value>) -> Result<(), String> {
    match schema.get("enum") {
        None => {}
        Some(Value::Array(values)) if !values.is_empty() => {}
        Some(_) => return Err("an `enum` of its schema has no values".to_owned()),
    }
    if schema
        .get("pattern")
        .is_some_and(|pattern| !is_pattern(pattern))
    {
        schema.remove("pattern");
    }
    // `required: true` and `exclusiveMinimum: true` are of earlier versions of JSON Schema.
    if !schema.get("required").is_none_or(is_names) {
        schema.remove("required");
    }
    for keyword in ["exclusiveMinimum", "exclusiveMaximum"] {
        if !schema.get(keyword).is_none_or(Value::is_number) {
            schema.remove(keyword);
        }
    }
    Ok(())
}

fn is_pattern(pattern: &Value) -> bool {
    let Some(pattern) = pattern.as_str() else {
        return false;
    };
    match regex::Regex::new(pattern) {
        Ok(_) => true,
        // Those of JSON Schema have these as well.
        Err(regex::Error::Syntax(reason)) => {
            reason.contains("look-around") || reason.contains("backreference")
        }
        Err(_) => false,
    }
}

/// The same with sorted keys and cleaned texts. `None`: nested more deeply than `depth`.
fn sorted(value: Value, depth: usize) -> Option<Value> {
    let below = depth.checked_sub(1)?;
    Some(match value {
        Value::Object(map) => {
            let mut pairs: Vec<_> = map.into_iter().collect();
            pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
            let pairs = pairs
                .into_iter()
                .map(|(name, value)| Some((clean(&name), sorted(value, below)?)));
            Value::Object(pairs.collect::<Option<_>>()?)
        }
        Value::Array(values) => {
            let values = values.into_iter().map(|value| sorted(value, below));
            Value::Array(values.collect::<Option<_>>()?)
        }
        Value::String(text) => Value::String(clean(&text)),
        value @ (Value::Null | Value::Bool(_) | Value::Number(_)) => value,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(schema: &Value) -> Result<Value, String> {
        usable(schema.as_object().unwrap())
    }

    fn property(schema: &Value) -> Result<Value, String> {
        of(&json!({"type": "object", "properties": {"a": schema}}))
            .map(|schema| schema["properties"]["a"].clone())
    }

    #[test]
    fn alternatives_at_the_top_become_one_object_that_says_them() {
        let merged = of(
            &json!({"type": "object", "description": "A page.", "required": ["c"],
            "properties": {"c": {"type": "string"}, "a": {"type": "string"}},
            "oneOf": [
                {"required": ["a", "x"], "properties": {"x": {"type": "integer"}}},
                {"$ref": "#/$defs/second"},
            ],
            "$defs": {"second": {"type": "object", "required": ["b", "x"], "properties": {
                "b": {"type": "string"}, "x": {"type": "string"}}}}}),
        );
        let merged = merged.unwrap();
        assert_eq!(
            merged["properties"],
            json!({"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"},
                "x": {"anyOf": [{"type": "integer"}, {"type": "string"}]}})
        );
        assert_eq!(merged["required"], json!(["c", "x"]));
        assert_eq!(
            merged["description"],
            "A page.\nExactly one of these is needed: `a` and `x`, or `b` and `x`."
        );
        assert!(merged.get("oneOf").is_none());
        let referred = of(&json!({"$ref": "#/$defs/A", "$defs": {"A": {"required": ["a"]}}}));
        assert_eq!(referred.unwrap()["required"], json!(["a"]));
        let all = of(&json!({"allOf": [{"required": ["a"]}, {"required": ["b"]}],
            "not": {"required": ["z"]}}));
        assert_eq!(
            all.unwrap(),
            json!({"type": "object", "properties": {}, "required": ["a", "b"]})
        );
        for refused in [
            json!({"anyOf": [{"type": "string"}]}),
            json!({"anyOf": []}),
            json!({"anyOf": [{"$ref": "#/nowhere"}]}),
            json!({"anyOf": [{"oneOf": [{}]}]}),
            json!({"$ref": "#"}),
        ] {
            assert!(of(&refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn what_providers_refuse_is_refused_with_its_reason() {
        for (schema, reason) in [
            (
                json!({"properties": {"a b$%": {}}}),
                "the property \"a b$%\" of its schema has a name that providers refuse",
            ),
            (
                json!({"properties": {"k".repeat(65): {}}}),
                "has a name that providers refuse",
            ),
            (
                json!({"properties": {"a": {"$ref": "#/nowhere"}}}),
                "its schema refers to \"#/nowhere\", which is not in it",
            ),
            (
                json!({"properties": {"a": {"items": {"$ref": "https://other.example/x"}}}}),
                "its schema refers to \"https://other.example/x\"",
            ),
            (
                json!({"properties": {"a": {"type": "strng"}}}),
                "its schema has \"strng\" as a type, which is none",
            ),
            (
                json!({"properties": {"a": {"anyOf": [{"enum": []}]}}}),
                "an `enum` of its schema has no values",
            ),
            (
                json!({"properties": {"a": 7}}),
                "the property \"a\" of its schema is no schema",
            ),
            (
                json!({"properties": []}),
                "`properties` of its schema is not an object",
            ),
        ] {
            let refused = of(&schema).unwrap_err();
            assert!(refused.contains(reason), "{refused}");
        }
    }

    #[test]
    fn what_can_be_said_in_a_form_that_providers_take_stays_usable() {
        for (schema, wanted) in [
            (
                json!({"type": "array"}),
                json!({"type": "array", "items": {}}),
            ),
            (
                json!({"type": ["array", "null"]}),
                json!({"type": ["array", "null"], "items": {}}),
            ),
            (
                json!({"type": "array", "items": [{"type": "string"}]}),
                json!({"type": "array", "items": {}, "prefixItems": [{"type": "string"}]}),
            ),
            (
                json!({"type": "string", "pattern": "(["}),
                json!({"type": "string"}),
            ),
            (
                json!({"type": "string", "required": true}),
                json!({"type": "string"}),
            ),
            (
                json!({"type": "number", "exclusiveMinimum": true}),
                json!({"type": "number"}),
            ),
        ] {
            assert_eq!(property(&schema).unwrap(), wanted);
        }
        for kept in [
            json!({"pattern": "^(?!x)a\\/b$", "type": "string"}),
            json!({"$ref": "#/$defs/~1x"}),
            json!(true),
        ] {
            let schema = json!({"$defs": {"/x": {"type": "string"}}, "properties": {"a": kept}});
            assert_eq!(of(&schema).unwrap()["properties"]["a"], kept);
        }
    }

    fn any_schema() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!({})),
            Just(json!({"type": "array"})),
            Just(json!({"type": "string", "pattern": "(["})),
            Just(json!({"$ref": "#/properties/a"})),
            Just(json!({"enum": []})),
            Just(json!({"type": 7})),
            Just(json!(null)),
        ];
        leaf.prop_recursive(4, 24, 3, |inner| {
            prop_oneof![
                (inner.clone(), "[a b]{1,2}", "(anyOf|oneOf|allOf|items)").prop_map(
                    |(inner, name, keyword)| json!({"properties": {name: inner.clone()}, keyword: [inner]})
                ),
                (inner.clone(), inner).prop_map(|(a, b)| json!({"properties": {"a": a}, "not": b})),
            ]
        })
    }

    proptest! {
        #[test]
        fn usable_schema_is_unchanged_by_a_second_pass(schema in any_schema()) {
            let Value::Object(schema) = schema else { return Ok(()) };
            let Ok(usable) = usable(&schema) else { return Ok(()) };
            prop_assert_eq!(&usable["type"], "object");
            for keyword in ["anyOf", "oneOf", "allOf", "not", "enum"] {
                prop_assert!(usable.get(keyword).is_none());
            }
            prop_assert_eq!(of(&usable), Ok(usable.clone()));
        }
    }
}
