//! Arguments of calls: one typed struct per tool defines both the schema for the model and the parser of its arguments.
//!
//! Strict: an unknown key is an error that names the known ones. Lenient: common other names are accepted, and numbers
//! and booleans that arrive as text. Independent of any tool.

use contract::{Family, Outcome, ToolSpec};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The arguments of one tool.
pub(crate) trait Arguments: DeserializeOwned + JsonSchema {
    /// Other names that models use, and the name that is meant.
    const ALIASES: &'static [(&'static str, &'static str)];

    /// Checks constraints that the schema cannot express.
    ///
    /// # Errors
    /// An outcome (`refused`) that describes the error.
    fn check(&self) -> Result<(), Outcome> {
        Ok(())
    }
}

/// Other names for `path`, for every tool that has one.
macro_rules! path_aliases {
    ($($more:expr),* $(,)?) => {
        &[
            ("file_path", "path"), ("filename", "path"), ("file", "path"), ("source_path", "path"),
            ("filepath", "path"), $($more),*
        ]
    };
}
pub(crate) use path_aliases;

/// The spec of a tool with these arguments, as far as its name, description and family define it.
pub(crate) fn spec<A: Arguments>(name: &str, description: &str, family: Family) -> ToolSpec {
    ToolSpec::new(name, description, schema::<A>(), family)
}

/// The schema of a tool's arguments: terse, keys sorted, nothing that a provider may refuse.
pub(crate) fn schema<A: Arguments>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    terse(
        settings
            .into_generator()
            .into_root_schema_for::<A>()
            .to_value(),
    )
}

/// Gives arguments their canonical names and types.
pub(crate) fn canonical<A: Arguments>(
    schema: &Value,
    arguments: &Map<String, Value>,
) -> Result<Map<String, Value>, Outcome> {
    let none = Map::new();
    let known = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&none);
    let list = || {
        known
            .keys()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut taken = Map::new();
    for (given, value) in arguments {
        let alias = A::ALIASES
            .iter()
            .find(|(alias, name)| alias == given && known.contains_key(*name));
        let name = alias.map_or(given.as_str(), |(_, name)| name);
        let Some(form) = known.get(name) else {
            return Err(Outcome::refused(format!(
                "unknown argument `{given}`; known are {}",
                list()
            )));
        };
        if value.is_null() {
            continue;
        }
        let value = fit(name, form, value)?;
        if taken.get(name).is_some_and(|other| *other != value) {
            return Err(Outcome::refused(format!(
                "`{name}` is given twice, once as `{given}`; give it once"
            )));
        }
        taken.insert(name.to_owned(), value);
    }
    for name in schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        if !taken.contains_key(name) {
            return Err(Outcome::refused(format!(
                "argument `{name}` is missing; known are {}",
                list()
            )));
        }
    }
    checked::<A>(taken.clone())?;
    Ok(taken)
}

/// As [`typed`], and checked.
pub(crate) fn checked<A: Arguments>(arguments: Map<String, Value>) -> Result<A, Outcome> {
    let args: A = typed(arguments)?;
    args.check()?;
    Ok(args)
}

/// The arguments as the tool's own type.
pub(crate) fn typed<A: Arguments>(arguments: Map<String, Value>) -> Result<A, Outcome> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Outcome::refused(format!("the arguments cannot be read: {error}")))
}

/// Converts a value to the type that the schema requires, if the conversion is unambiguous.
fn fit(name: &str, form: &Value, value: &Value) -> Result<Value, Outcome> {
    let wanted = form.get("type").and_then(Value::as_str).unwrap_or("string");
    let wrong = |what: &str| {
        Err(Outcome::refused(format!(
            "argument `{name}` must be {what}, not `{}`",
            short(value)
        )))
    };
    match wanted {
        "integer" => {
            let number = match value {
                Value::String(text) => text.trim().parse().ok(),
                // A whole number written with a point.
                Value::Number(number) => number.as_u64().or_else(|| {
                    let whole = number.as_f64().filter(|float| float.fract() == 0.0)?;
                    (0.0..=9e15).contains(&whole).then_some(whole as u64)
                }),
                _ => None,
            };
            number.map_or_else(
                || wrong("a whole number, 0 or more"),
                |number: u64| Ok(json!(number)),
            )
        }
        "boolean" => match value {
            Value::Bool(_) => Ok(value.clone()),
            Value::String(text) if text == "true" => Ok(json!(true)),
            Value::String(text) if text == "false" => Ok(json!(false)),
            _ => wrong("true or false"),
        },
        "array" => {
            // Some models write a list as text.
            let read = value
                .as_str()
                .and_then(|text| serde_json::from_str(text).ok());
            let Value::Array(items) = read.as_ref().unwrap_or(value) else {
                return wrong("a list");
            };
            let form = form.get("items").unwrap_or(&Value::Null);
            let items: Result<Vec<Value>, Outcome> =
                items.iter().map(|item| fit(name, form, item)).collect();
            items.map(Value::Array)
        }
        "object" => {
            // Some models write an object as text.
            let read = value
                .as_str()
                .and_then(|text| serde_json::from_str(text).ok());
            let Value::Object(members) = read.as_ref().unwrap_or(value) else {
                return wrong("an object");
            };
            let forms = form.get("properties").and_then(Value::as_object);
            let mut taken = Map::new();
            for (key, value) in members {
                // Unknown keys are reported when the whole object is parsed.
                let value = match forms.and_then(|forms| forms.get(key)) {
                    Some(_) if value.is_null() => continue,
                    Some(form) => fit(key, form, value)?,
                    None => value.clone(),
                };
                taken.insert(key.clone(), value);
            }
            Ok(Value::Object(taken))
        }
        _ => {
            let Value::String(text) = value else {
                return wrong("a text");
            };
            let choices = form.get("enum").and_then(Value::as_array);
            if let Some(choices) =
                choices.filter(|choices| !choices.iter().any(|choice| choice == text))
            {
                let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
                return wrong(&format!("one of {}", choices.join(", ")));
            }
            Ok(value.clone())
        }
    }
}

/// A value, shortened for a message.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Takes out what says nothing to a model, and sorts keys at every depth.
fn terse(value: Value) -> Value {
    let Value::Object(object) = value else {
        return value;
    };
    let mut object = object;
    // `anyOf [T, null]` and `["T", "null"]` say "optional", as `required` does already.
    if let Some(Value::Array(choices)) = object.get("anyOf") {
        let real: Vec<&Value> = choices
            .iter()
            .filter(|choice| choice.get("type") != Some(&json!("null")))
            .collect();
        if let [Value::Object(only)] = real.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            object.extend(only);
        }
    }
    if let Some(Value::Array(types)) = object.get("type")
        && let Some(real) = types.iter().find(|kind| **kind != json!("null")).cloned()
    {
        object.insert("type".to_owned(), real);
    }
    if let Some(Value::Array(choices)) = object.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    let mut keys: Vec<String> = object.keys().cloned().collect();
    keys.sort();
    let mut sorted = Map::new();
    for key in keys {
        let Some(value) = object.remove(&key) else {
            continue;
        };
        let noise = match key.as_str() {
            "$schema" | "title" | "format" | "default" => true,
            "minimum" => value == json!(0),
            _ => false,
        };
        if key == "properties" {
            // Names of arguments, not words of the schema language.
            let Value::Object(properties) = value else {
                continue;
            };
            let mut properties: Vec<(String, Value)> = properties.into_iter().collect();
            properties.sort_by(|one, two| one.0.cmp(&two.0));
            let properties: Map<String, Value> = properties
                .into_iter()
                .map(|(name, form)| (name, terse(form)))
                .collect();
            sorted.insert(key, Value::Object(properties));
        } else if !noise {
            sorted.insert(key, terse(value));
        }
    }
    Value::Object(sorted)
}

#[cfg(test)]
mod tests;
