//! Scalars of a wrong type.

use serde_json::{Value, json};

use crate::repair::coerce::coerce;

fn mended(kind: &Value, value: Value) -> (Value, usize) {
    let schema = json!({"type": "object", "properties": {"x": {"type": kind}}});
    let mut arguments = json!({"x": value});
    let count = coerce(&schema, &mut arguments);
    (arguments["x"].take(), count)
}

#[test]
fn scalars_take_the_type_that_is_asked_for() {
    for (kind, came, wanted) in [
        ("boolean", json!("false"), json!(false)),
        ("boolean", json!(" True "), json!(true)),
        ("integer", json!("3"), json!(3)),
        ("integer", json!("-3"), json!(-3)),
        ("integer", json!(3.0), json!(3)),
        ("integer", json!("18446744073709551615"), json!(u64::MAX)),
        ("number", json!("2.5"), json!(2.5)),
        ("number", json!("7"), json!(7)),
        ("string", json!(3), json!("3")),
        ("string", json!(true), json!("true")),
    ] {
        assert_eq!(mended(&json!(kind), came.clone()), (wanted, 1), "{came}");
    }
}

#[test]
fn what_would_be_a_guess_is_left() {
    for (kind, came) in [
        (json!("boolean"), json!("yes")),
        (json!("boolean"), json!(1)),
        (json!("integer"), json!("3.5")),
        (json!("integer"), json!(3.5)),
        (json!("integer"), json!("three")),
        (json!("integer"), json!(1e300)),
        (json!("integer"), json!("")),
        (json!("number"), json!("NaN")),
        (json!("string"), json!(null)),
        (json!("string"), json!(["a"])),
        (json!("integer"), json!(3)),
        (json!(["integer", "string"]), json!("3")),
        (json!("array"), json!("3")),
    ] {
        assert_eq!(mended(&kind, came.clone()), (came, 0));
    }
}

#[test]
fn what_stands_deeper_is_mended_too_and_what_no_schema_knows_is_not() {
    let schema = json!({
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": {"type": "integer"}},
            "in": {"type": "object", "properties": {"x": {"type": "boolean"}}},
        },
    });
    let mut arguments = json!({"list": ["1", 2], "in": {"x": "true", "y": "true"}, "z": "1"});
    assert_eq!(coerce(&schema, &mut arguments), 2);
    assert_eq!(
        arguments,
        json!({"list": [1, 2], "in": {"x": true, "y": "true"}, "z": "1"})
    );
    let before = arguments.clone();
    assert_eq!(coerce(&json!({}), &mut arguments), 0);
    assert_eq!(arguments, before);
}
