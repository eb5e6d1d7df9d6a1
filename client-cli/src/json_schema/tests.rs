//! Schemas and values: what fits, what does not and where, and texts that are not a schema.

use super::*;

/// The problems of a value, a line each.
fn problems(schema: &str, value: &str) -> Vec<String> {
    let schema = Schema::parse(schema).unwrap_or_else(|error| panic!("{schema}: {error:?}"));
    let value = serde_json::from_str(value).unwrap();
    schema
        .problems(&value)
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// A schema, values that fit it, and values that do not.
#[rustfmt::skip]
const CASES: &[(&str, &[&str], &[&str])] = &[
    ("true", &["1", "null"], &[]),
    ("false", &[], &["1"]),
    (r#"{"type": "integer"}"#, &["1", "-3", "2.0", "1e3"], &["1.5", "\"1\"", "null", "true"]),
    (r#"{"type": ["string", "null"]}"#, &["\"a\"", "null"], &["1", "[]"]),
    (r#"{"type": "number"}"#, &["1", "1.5"], &["\"1\""]),
    (r#"{"enum": [1, "a", {"b": [1.0]}]}"#, &["1.0", "\"a\"", "{\"b\": [1]}"], &["2", "{\"b\": []}"]),
    (r#"{"const": null}"#, &["null"], &["0", "false"]),
    (r#"{"minimum": 1, "exclusiveMaximum": 3}"#, &["1", "2.9", "\"x\""], &["0.9", "3"]),
    (r#"{"multipleOf": 0.1}"#, &["0.3", "1", "0"], &["0.25"]),
    (r#"{"multipleOf": 3}"#, &["9", "-3", "0"], &["10"]),
    (r#"{"minLength": 2, "maxLength": 3}"#, &["\"äö\"", "\"abc\"", "1"], &["\"a\"", "\"abcd\""]),
    (r#"{"pattern": "^a+$"}"#, &["\"aa\"", "1"], &["\"ba\""]),
    (r#"{"items": {"type": "string"}, "minItems": 1, "maxItems": 2}"#, &["[\"a\"]", "{}"], &["[]", "[1]", "[\"a\",\"b\",\"c\"]"]),
    (r#"{"prefixItems": [{"type": "string"}], "items": false}"#, &["[\"a\"]", "[]"], &["[1]", "[\"a\", 1]"]),
    (r#"{"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}], "additionalItems": {"type": "null"}}"#, &["[\"a\", null]"], &["[\"a\", 1]", "[1]"]),
    (r#"{"contains": {"type": "integer"}}"#, &["[1]", "[\"a\", 1]"], &["[]", "[\"a\"]"]),
    (r#"{"contains": {"const": 1}, "minContains": 0, "maxContains": 1}"#, &["[]", "[1, 2]"], &["[1, 1]"]),
    (r#"{"uniqueItems": true}"#, &["[1, 2]", "[]"], &["[1, 1.0]", "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]"]),
    (r#"{"properties": {"a": {"type": "string"}}, "required": ["a", "b"]}"#, &["{\"a\":\"\",\"b\":1}", "[]"], &["{}", "{\"a\":1,\"b\":1}"]),
    (r#"{"properties": {"a": true}, "patternProperties": {"^x": {"type": "null"}}, "additionalProperties": false}"#, &["{\"a\":1,\"xy\":null}"], &["{\"b\":1}", "{\"xy\":1}"]),
    (r#"{"additionalProperties": {"type": "integer"}}"#, &["{\"a\":1}"], &["{\"a\":\"\"}"]),
    (r#"{"propertyNames": {"maxLength": 1}}"#, &["{\"a\":1}"], &["{\"ab\":1}"]),
    (r#"{"minProperties": 1, "maxProperties": 1}"#, &["{\"a\":1}"], &["{}", "{\"a\":1,\"b\":1}"]),
    (r#"{"dependentRequired": {"a": ["b"]}}"#, &["{\"b\":1}", "{\"a\":1,\"b\":1}"], &["{\"a\":1}"]),
    (r#"{"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"], "c": {"required": ["d"]}}}"#, &["{}", "{\"c\":1,\"d\":1}"], &["{\"a\":1}", "{\"c\":1}"]),
    (r#"{"dependentSchemas": {"a": {"minProperties": 2}}}"#, &["{\"b\":1}"], &["{\"a\":1}"]),
    (r#"{"allOf": [{"minimum": 1}, {"maximum": 2}]}"#, &["1"], &["0", "3"]),
    (r#"{"anyOf": [{"type": "string"}, {"minimum": 5}]}"#, &["\"a\"", "5"], &["4"]),
    (r#"{"oneOf": [{"multipleOf": 2}, {"multipleOf": 3}]}"#, &["2", "3"], &["1", "6"]),
    (r#"{"not": {"type": "string"}}"#, &["1"], &["\"a\""]),
    (r#"{"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"minimum": 0}}"#, &["\"a\"", "0"], &["\"\"", "-1"]),
    (r##"{"$defs": {"a/b%": {"type": "string"}}, "$ref": "#/$defs/a~1b%25"}"##, &["\"a\""], &["1"]),
    (r##"{"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": false}"##, &["{}", "{\"next\":{\"next\":{}}}"], &["{\"next\":{\"other\":1}}"]),
    (r##"{"components": {"x": {"pattern": "^a"}}, "$ref": "#/components/x"}"##, &["\"a\""], &["\"b\""]),
    (r#"{"title": "t", "format": "email", "x-own": 1, "default": 3, "$schema": "http://json-schema.org/draft-07/schema#", "$id": "https://a.example/b"}"#, &["\"no address\""], &[]),
];

#[test]
fn values_fit_or_do_not() {
    for (schema, fitting, others) in CASES {
        for value in *fitting {
            assert_eq!(problems(schema, value), [""; 0], "{schema} {value}");
        }
        for value in *others {
            assert!(!problems(schema, value).is_empty(), "{schema} {value}");
        }
    }
}

#[test]
fn a_problem_says_where_and_what() {
    let schema = r#"{"type": "object", "required": ["name", "tags"], "additionalProperties": false, "properties": {
        "name": {"type": "string"}, "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
        "a/b": {"anyOf": [{"type": "null"}, {"type": "object", "required": ["c"]}]}}}"#;
    let value = r#"{"name": 1, "tags": ["a", "c"], "a/b": {}, "more": true}"#;
    let found = problems(schema, value);
    let alternatives =
        "`/a~1b`: fits none of the 2 alternatives; what the nearest one lacks follows";
    for line in [
        alternatives,
        "`/name`: 1 is not of type \"string\"",
        "`/tags/1`: \"c\" is not one of \"a\" or \"b\"",
        "the answer: Additional properties are not allowed ('more' was unexpected)",
    ] {
        assert!(
            found.iter().any(|found| found == line),
            "{line}: {found:#?}"
        );
    }
    let nearest = found.iter().position(|line| line == alternatives).unwrap() + 1;
    assert!(
        found[nearest].starts_with("`/a~1b`: {} is not of type"),
        "{found:#?}"
    );
    assert_eq!(
        problems(schema, "{\"name\": \"\"}"),
        ["the answer: \"tags\" is a required property"]
    );
    let many = problems(
        r#"{"items": {"type": "string"}}"#,
        &format!("{:?}", vec![1; 50]),
    );
    assert_eq!(many.len(), PROBLEMS_MAX + 1);
    assert_eq!(many[PROBLEMS_MAX], "the answer: more places do not fit");
    let long = problems("false", &format!("{:?}", "x".repeat(10_000)));
    assert!(long[0].chars().count() < MESSAGE_MAX + 20, "{long:?}");
}

#[test]
fn what_cannot_be_checked_is_refused_with_its_line() {
    for (schema, line, why) in [
        (
            "{\n  \"type\": \"object\",\n}",
            3,
            "invalid JSON: trailing comma",
        ),
        ("", 1, "invalid JSON: EOF while parsing a value"),
        ("[1]", 1, "is not of types"),
        ("{\n\"type\": \"strng\"}", 2, "`/type`: \"strng\""),
        (
            "{\"properties\": {\n\"a\": {},\n\"b\": {\"type\":\n 3}}}",
            4,
            "`/properties/b/type`: 3",
        ),
        ("{\n\"required\": \"a\"}", 2, "is not of type \"array\""),
        ("{\"anyOf\": []}", 1, "less than 1 item"),
        ("{\"minLength\": -1}", 1, "less than the minimum of 0"),
        ("{\"multipleOf\": 0}", 1, "`/multipleOf`"),
        (
            "{\"exclusiveMinimum\": true}",
            1,
            "is not of type \"number\"",
        ),
        (
            "{\n\n\"pattern\": \"a(?=b)\"}",
            3,
            "`/pattern`: \"a(?=b)\" is not a \"regex\"",
        ),
        (
            "{\"x\": \"{[\",\n\"$ref\": \"https://a.example/schema.json\"}",
            2,
            "only to parts of its own file",
        ),
        (
            "{\"items\": {\"a\": 1, \"allOf\": [{},\n{\"$ref\": \"file:///etc/passwd\"}]}}",
            2,
            "only to parts of its own file",
        ),
        (
            "{\"$ref\": \"other.json#/a\"}",
            1,
            "only to parts of its own file",
        ),
        ("{\"$ref\": \"#/$defs/a\"}", 1, "does not exist"),
        (
            "{\"components\": {\n\"x\": {\"type\": \"strin\"}}, \"$ref\": \"#/components/x\"}",
            2,
            "`/components/x/type`",
        ),
    ] {
        let error = Schema::parse(schema).expect_err(schema);
        assert!(error.message.contains(why), "{schema}: {error:?}");
        assert_eq!(error.line, line, "{schema}: {error:?}");
    }
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    for schema in [
        r##"{"$ref": "#"}"##,
        r##"{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}"##,
    ] {
        assert_eq!(problems(schema, "1"), [""; 0], "{schema}");
    }
}
