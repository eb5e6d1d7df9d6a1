use serde_json::json;

use super::*;

#[test]
fn what_is_toml_is_a_value_and_everything_else_is_text() {
    for (typed, value) in [
        ("50", json!(50)),
        ("true", json!(true)),
        ("0.5", json!(0.5)),
        ("[\"a\", \"b\"]", json!(["a", "b"])),
        ("{ a = 1 }", json!({"a": 1})),
        ("\"50\"", json!("50")),
        ("name/model", json!("name/model")),
        ("", json!("")),
        ("1\nother = 2", json!("1\nother = 2")),
        ("2026-01-01", json!("2026-01-01")),
        ("1 # one", json!(1)),
    ] {
        assert_eq!(read(typed), value, "{typed:?}");
    }
}
