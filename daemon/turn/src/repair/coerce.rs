//! Scalars of a wrong type: `"false"` where the schema says boolean, `"3"` where it says number.

use serde_json::{Number, Value};

/// Turns scalars into the type that the schema names for their place, where that can be done without a guess. Returns
/// how many. What is left as it is is judged by the tool.
pub fn coerce(schema: &Value, value: &mut Value) -> usize {
    match value {
        Value::Object(fields) => {
            let Some(known) = schema.get("properties").and_then(Value::as_object) else {
                return 0;
            };
            let mended = fields
                .iter_mut()
                .filter_map(|(name, value)| Some(coerce(known.get(name)?, value)));
            mended.sum()
        }
        Value::Array(items) => {
            let Some(of) = schema.get("items") else {
                return 0;
            };
            items.iter_mut().map(|item| coerce(of, item)).sum()
        }
        scalar => {
            // Only where one type is named: among several, what came may be right.
            let wanted = schema.get("type").and_then(Value::as_str);
            match wanted.and_then(|wanted| as_type(wanted, scalar)) {
                Some(mended) => {
                    *scalar = mended;
                    1
                }
                None => 0,
            }
        }
    }
}

/// This scalar as one of that type; `None` where it is one, or cannot be.
fn as_type(wanted: &str, scalar: &Value) -> Option<Value> {
    match (wanted, scalar) {
        ("boolean", Value::String(text)) => match text.trim() {
            "true" | "True" | "TRUE" => Some(Value::Bool(true)),
            "false" | "False" | "FALSE" => Some(Value::Bool(false)),
            _ => None,
        },
        ("integer", Value::String(text)) => whole(&text.trim().parse().ok()?),
        ("integer", Value::Number(number)) if number.is_f64() => whole(number),
        ("number", Value::String(text)) => {
            let number: Number = text.trim().parse().ok()?;
            Some(Value::Number(number))
        }
        ("string", Value::Number(_) | Value::Bool(_)) => Some(Value::String(scalar.to_string())),
        _ => None,
    }
}

/// A number without a fraction as an integer.
fn whole(number: &Number) -> Option<Value> {
    if !number.is_f64() {
        return Some(Value::Number(number.clone()));
    }
    let float = number.as_f64()?;
    // Beyond this, neighbouring floats are further than 1 apart (2^53).
    let exact = float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0;
    #[allow(clippy::cast_possible_truncation)]
    exact.then(|| Value::from(float as i64))
}
