//! Does a value fit a JSON Schema of ours? As much of a validator as our own schemas need.

use serde_json::Value;

/// Whether a value fits a schema whose definitions stand in `root`. Knows the words that our schemas use, and no others.
///
/// # Errors
/// Where it does not, and why.
///
/// # Panics
/// A word of JSON Schema that none of ours uses.
pub fn fits(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let Some(words) = schema.as_object() else {
        return match schema {
            Value::Bool(true) => Ok(()),
            _ => Err(format!("nothing fits {schema}")),
        };
    };
    for (word, wanted) in words {
        let all = |schemas: &Value| schemas.as_array().cloned().unwrap_or_default();
        let holds = match word.as_str() {
            "$ref" => {
                let name = wanted
                    .as_str()
                    .unwrap_or_default()
                    .trim_start_matches("#/$defs/");
                fits(root, &root["$defs"][name], value).map_err(|why| format!("{name}: {why}"))?;
                true
            }
            "type" => match wanted {
                Value::Array(types) => types.iter().any(|one| is(one, value)),
                one => is(one, value),
            },
            "enum" => all(wanted).contains(value),
            "const" => wanted == value,
            "anyOf" => all(wanted).iter().any(|one| fits(root, one, value).is_ok()),
            "oneOf" => {
                all(wanted)
                    .iter()
                    .filter(|one| fits(root, one, value).is_ok())
                    .count()
                    == 1
            }
            "allOf" => all(wanted).iter().all(|one| fits(root, one, value).is_ok()),
            "required" => {
                let lacks = all(wanted)
                    .into_iter()
                    .find(|name| value.get(name.as_str().unwrap_or_default()).is_none());
                if let Some(name) = lacks {
                    return Err(format!("{name} is missing"));
                }
                true
            }
            "properties" => {
                for (name, schema) in wanted.as_object().into_iter().flatten() {
                    if let Some(value) = value.get(name) {
                        fits(root, schema, value).map_err(|why| format!("{name}: {why}"))?;
                    }
                }
                true
            }
            "additionalProperties" => match value.as_object() {
                Some(object) => object
                    .iter()
                    .filter(|(name, _)| {
                        words
                            .get("properties")
                            .is_none_or(|known| known.get(name).is_none())
                    })
                    .all(|(_, value)| fits(root, wanted, value).is_ok()),
                None => true,
            },
            "items" => match value.as_array() {
                Some(items) => {
                    for item in items {
                        fits(root, wanted, item)?;
                    }
                    true
                }
                None => true,
            },
            "minimum" => !value.is_number() || value.as_f64() >= wanted.as_f64(),
            "maximum" => !value.is_number() || value.as_f64() <= wanted.as_f64(),
            "format" | "description" | "default" | "title" | "$schema" | "$defs"
            | "prefixItems" | "minItems" | "maxItems" => true,
            other => panic!("a word of schemas that this test does not know: {other}"),
        };
        if !holds {
            return Err(format!("{word} {wanted}: {value}"));
        }
    }
    Ok(())
}

fn is(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap_or_default() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => value.is_number(),
    }
}
