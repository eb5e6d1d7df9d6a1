//! Flattening deep parameters, and nesting them again.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::repair::flatten::flatten;

fn of_strings(count: usize) -> Value {
    let properties: Map<String, Value> = (0..count)
        .map(|number| (format!("p{number}"), json!({"type": "string"})))
        .collect();
    json!({"type": "object", "properties": properties})
}

#[test]
fn small_schemas_are_shown_as_they_are() {
    let nested = json!({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}}});
    for schema in [
        of_strings(2),
        of_strings(10),
        nested,
        json!({}),
        json!(true),
    ] {
        assert_eq!(flatten(&schema), None, "{schema}");
    }
}

/// A flattened schema has nothing left to flatten.
#[test]
fn many_parameters_side_by_side_are_flat_already() {
    assert_eq!(flatten(&of_strings(12)), None);
}

#[test]
fn deep_parameters_are_shown_flat_and_nested_again() {
    let schema = json!({
        "type": "object",
        "description": "whom to greet",
        "properties": {"user": {
            "type": "object",
            "properties": {"profile": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
                "required": ["name"],
            }},
            "required": ["profile"],
        }},
        "required": ["user"],
    });
    let flat = flatten(&schema).expect("it is deep");
    assert_eq!(
        flat.schema,
        json!({
            "type": "object",
            "description": "whom to greet",
            "properties": {"user.profile.name": {"type": "string"}, "user.profile.age": {"type": "integer"}},
            "required": ["user.profile.name"],
        })
    );
    let alice = json!({"user": {"profile": {"name": "alice", "age": 30}}});
    let given = json!({"user.profile.name": "alice", "user.profile.age": 30});
    assert_eq!(flat.nest(given), alice);
    assert_eq!(flat.nest(alice.clone()), alice, "nested ones are taken too");
    let mixed = json!({"user.profile.age": 30, "user": {"profile": {"name": "alice"}}});
    assert_eq!(flat.nest(mixed), alice);
    let in_the_way = json!({"user": 7, "user.profile.name": "alice"});
    assert_eq!(
        flat.nest(in_the_way),
        json!({"user": {"profile": {"name": "alice"}}})
    );
    assert_eq!(flat.nest(json!([1])), json!([1]), "for the tool to refuse");
    assert_eq!(flat.nest(json!({"else": 1})), json!({"else": 1}));
}

#[test]
fn alternatives_and_lists_are_not_flattened() {
    let of = json!({"anyOf": [{"type": "object", "properties": {"x": {}}}], "type": "object", "properties": {"y": {}}});
    let there = json!({"$ref": "#/$defs/x"});
    let list = json!({"type": "array", "items": {"type": "object", "properties": {"x": {"type": "object", "properties": {"y": {}}}}}});
    let schema = json!({"type": "object", "properties": {"deep": {"type": "object", "properties": {"of": of, "there": there, "list": list}}}});
    let flat = flatten(&schema).expect("it is deep");
    let wanted = json!({"deep.of": of, "deep.there": there, "deep.list": list});
    assert_eq!(flat.schema["properties"], wanted);
}

#[test]
fn names_with_dots_stay_distinct_or_nothing_is_flattened() {
    let deep = |inner: Value| json!({"type": "object", "properties": {"b": {"type": "object", "properties": inner}}});
    let leaf = json!({"type": "string"});
    let schema = json!({"type": "object", "properties": {"a": deep(json!({"c": leaf})), "a.b": leaf, "a.b.c": leaf}});
    let flat = flatten(&schema).expect("it is deep");
    let given = json!({"a.b.c": 1, "a..b": 2, "a..b..c": 3});
    let nested = json!({"a": {"b": {"c": 1}}, "a.b": 2, "a.b.c": 3});
    assert_eq!(flat.nest(given), nested);
    // The flat names of "a." in "b" and of "a" in ".b" would be equal.
    let of = |name: &str| json!({"type": "object", "properties": {name: {"type": "object", "properties": {"x": leaf}}}});
    let clash = json!({"type": "object", "properties": {"a.": of("b"), "a": of(".b")}});
    assert_eq!(flatten(&clash), None);
    let long = json!({"type": "object", "properties": {"a": of(&"n".repeat(64))}});
    assert_eq!(flatten(&long), None);
}

/// Random nested schemas, with matching arguments.
fn schemas() -> impl Strategy<Value = (Value, Value)> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(|number| (json!({"type": "integer"}), json!(number))),
        "[a-z]{0,3}".prop_map(|text| (json!({"type": "string"}), json!(text))),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        proptest::collection::btree_map("[a-c.]{1,3}", inner, 1..4).prop_map(|fields| {
            let parts = |which: fn(&(Value, Value)) -> Value| -> Value {
                let all = fields
                    .iter()
                    .map(|(name, pair)| (name.clone(), which(pair)));
                Value::Object(all.collect())
            };
            let properties = parts(|pair| pair.0.clone());
            let schema = json!({"type": "object", "properties": properties});
            (schema, parts(|pair| pair.1.clone()))
        })
    })
}

/// The value below this path.
fn below<'a>(value: &'a Value, path: &[String]) -> &'a Value {
    path.iter().fold(value, |value, name| &value[name.as_str()])
}

fn leaves(schema: &Value, path: &[String], into: &mut Vec<Vec<String>>) {
    match schema["properties"].as_object() {
        Some(properties) => {
            for (name, child) in properties {
                leaves(child, &[path, std::slice::from_ref(name)].concat(), into);
            }
        }
        None => into.push(path.to_vec()),
    }
}

proptest! {
    /// Flat arguments nest to the same value as nested ones, whatever the names are.
    #[test]
    fn flat_arguments_are_nested_again((schema, arguments) in schemas()) {
        if let Some(flat) = flatten(&schema) {
            let mut paths = Vec::new();
            leaves(&schema, &[], &mut paths);
            let given: Map<String, Value> = paths
                .iter()
                .map(|path| {
                    let names: Vec<_> = path.iter().map(|name| name.replace('.', "..")).collect();
                    (names.join("."), below(&arguments, path).clone())
                })
                .collect();
            prop_assert_eq!(given.len(), paths.len(), "names are distinct");
            prop_assert_eq!(flat.nest(Value::Object(given)), arguments);
        }
    }
}
