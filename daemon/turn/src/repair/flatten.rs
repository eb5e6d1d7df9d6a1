//! Flattens deep tool parameters: `user.profile.name` instead of nested objects, which confuse small models.
//!
//! Done once, when a tool set is frozen, so that the request prefix stays unchanged. A call's arguments are nested again
//! before anything else reads them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// A schema with more leaf parameters than this is flattened.
pub const LEAVES_MAX: usize = 10;

/// A schema nested deeper than this is flattened; a tool's own parameters are at depth 1.
pub const DEPTH_MAX: usize = 2;

/// The longest property name that every provider accepts (Anthropic's limit is the strictest).
const NAME_MAX: usize = 64;

/// A flattened schema, and how to nest arguments again.
#[derive(Clone, Debug, PartialEq)]
pub struct FlatSchema {
    /// The schema as the model sees it.
    pub schema: Value,
    /// The path of each flat name in the tool's own schema.
    paths: BTreeMap<String, Vec<String>>,
}

/// Flattens a schema that is so large or deep that it is hard to fill in. `None`: the schema stays as it is. That includes
/// schemas whose flat names would be ambiguous, or longer than providers accept.
#[must_use]
pub fn flatten(schema: &Value) -> Option<FlatSchema> {
    let (leaves, depth) = size(schema, 0);
    if leaves <= LEAVES_MAX && depth <= DEPTH_MAX {
        return None;
    }
    let mut flat = Flattening::default();
    flat.properties(schema, &[], true);
    let deep = flat.paths.values().any(|path| path.len() > 1);
    let fits = flat.paths.keys().all(|name| name.len() <= NAME_MAX);
    if !deep || !fits || flat.clashes {
        return None;
    }
    let mut shown = schema.as_object()?.clone();
    shown.insert("properties".to_owned(), Value::Object(flat.shown));
    shown.insert("required".to_owned(), json!(flat.required));
    Some(FlatSchema {
        schema: Value::Object(shown),
        paths: flat.paths,
    })
}

impl FlatSchema {
    /// Converts arguments to the form that the tool expects. Nested arguments stay; a value that blocks the path of a flat
    /// one is overwritten. Anything but an object is returned unchanged.
    #[must_use]
    pub fn nest(&self, arguments: Value) -> Value {
        let Value::Object(given) = arguments else {
            return arguments;
        };
        let (flat, nested): (Vec<_>, Vec<_>) = given
            .into_iter()
            .partition(|(name, _)| self.paths.get(name).is_some_and(|path| path.len() > 1));
        let mut whole: Map<String, Value> = nested
            .into_iter()
            .map(|(name, value)| (self.own_name(&name), value))
            .collect();
        for (name, value) in flat {
            put(&mut whole, &self.paths[&name], value);
        }
        Value::Object(whole)
    }

    /// Whether these arguments, as JSON, name a nested parameter by its flat name.
    #[must_use]
    pub fn is_used_by(&self, arguments: &str) -> bool {
        let given: Option<Map<String, Value>> = serde_json::from_str(arguments).ok();
        let deep = |name: &String| self.paths.get(name).is_some_and(|path| path.len() > 1);
        given.is_some_and(|given| given.keys().any(deep))
    }

    /// The tool's own name of a parameter that is not nested.
    fn own_name(&self, name: &str) -> String {
        match self.paths.get(name).map(Vec::as_slice) {
            Some([only]) => only.clone(),
            _ => name.to_owned(),
        }
    }
}

/// The number of leaf parameters below this schema, and the depth of the deepest one.
fn size(schema: &Value, depth: usize) -> (usize, usize) {
    let below: Vec<&Value> = match children(schema) {
        Some(properties) => properties.values().collect(),
        None => match schema.get("items") {
            Some(items) if is_type(schema, "array") => vec![items],
            _ => return (1, depth),
        },
    };
    let sizes = below.into_iter().map(|child| size(child, depth + 1));
    sizes.fold((0, depth), |(leaves, deepest), (more, depth)| {
        (leaves + more, deepest.max(depth))
    })
}

/// The properties of a plain object schema. `None` for a schema with alternatives (`anyOf` and the like).
fn children(schema: &Value) -> Option<&Map<String, Value>> {
    const ELSE: [&str; 6] = ["anyOf", "oneOf", "allOf", "not", "if", "$ref"];
    let plain = is_type(schema, "object") && !ELSE.iter().any(|key| schema.get(key).is_some());
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.filter(|properties| plain && !properties.is_empty())
}

fn is_type(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(named) => named == name,
        None => name == "object" && schema.get("properties").is_some(),
    }
}

#[derive(Default)]
struct Flattening {
    shown: Map<String, Value>,
    required: Vec<String>,
    paths: BTreeMap<String, Vec<String>>,
    clashes: bool,
}

impl Flattening {
    /// `required`: whether all enclosing objects are required.
    fn properties(&mut self, schema: &Value, above: &[String], required: bool) {
        let Some(properties) = children(schema) else {
            return;
        };
        let demanded = schema.get("required").and_then(Value::as_array);
        for (name, child) in properties {
            let demanded =
                required && demanded.is_some_and(|names| names.iter().any(|one| one == name));
            let mut path = above.to_vec();
            path.push(name.clone());
            if children(child).is_some() {
                self.properties(child, &path, demanded);
                continue;
            }
            let flat = flat_name(&path);
            if demanded {
                self.required.push(flat.clone());
            }
            self.shown.insert(flat.clone(), child.clone());
            self.clashes |= self.paths.insert(flat, path).is_some();
        }
    }
}

/// Joins names with dots; a dot within a name is doubled.
fn flat_name(path: &[String]) -> String {
    let names: Vec<_> = path.iter().map(|name| name.replace('.', "..")).collect();
    names.join(".")
}

fn put(whole: &mut Map<String, Value>, path: &[String], value: Value) {
    let Some((last, above)) = path.split_last() else {
        return;
    };
    let mut at = whole;
    for name in above {
        let next = at.entry(name.clone()).or_insert_with(|| json!({}));
        if !next.is_object() {
            *next = json!({});
        }
        let Value::Object(inner) = next else { return };
        at = inner;
    }
    at.insert(last.clone(), value);
}
