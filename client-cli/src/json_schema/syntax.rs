//! Whether a value is a schema that can be checked: the form of each keyword, its references, its patterns. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use proto::near::nearest;
use regex::Regex;
use serde_json::Value;

use super::{pointer, referenced};

/// Names of types.
const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "object", "array", "null",
];

/// The form that the value of a keyword has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Schema,
    /// One schema, or one for each place.
    SchemaOrList,
    /// At least one schema.
    List,
    /// Schemas by name.
    Named,
    /// Schemas by regular expression.
    ByPattern,
    Types,
    Names,
    /// Names, or a schema, by name.
    Dependencies,
    NamesByName,
    Values,
    Number,
    Positive,
    Count,
    Pattern,
    YesNo,
    Reference,
    Refused(&'static str),
}

const DYNAMIC: &str = "is not supported: use `$ref` to a part of this file";
const UNEVALUATED: &str =
    "is not supported: use `additionalProperties` or `items` with `false` instead";

/// The keywords that are checked, or refused. Others say nothing about values.
const KEYWORDS: &[(&str, Form)] = &[
    ("$ref", Form::Reference),
    ("$dynamicRef", Form::Refused(DYNAMIC)),
    ("$recursiveRef", Form::Refused(DYNAMIC)),
    ("$dynamicAnchor", Form::Refused(DYNAMIC)),
    ("$recursiveAnchor", Form::Refused(DYNAMIC)),
    ("unevaluatedProperties", Form::Refused(UNEVALUATED)),
    ("unevaluatedItems", Form::Refused(UNEVALUATED)),
    ("$defs", Form::Named),
    ("definitions", Form::Named),
    ("type", Form::Types),
    ("enum", Form::Values),
    ("allOf", Form::List),
    ("anyOf", Form::List),
    ("oneOf", Form::List),
    ("not", Form::Schema),
    ("if", Form::Schema),
    ("then", Form::Schema),
    ("else", Form::Schema),
    ("minimum", Form::Number),
    ("maximum", Form::Number),
    ("exclusiveMinimum", Form::Number),
    ("exclusiveMaximum", Form::Number),
    ("multipleOf", Form::Positive),
    ("minLength", Form::Count),
    ("maxLength", Form::Count),
    ("pattern", Form::Pattern),
    ("prefixItems", Form::List),
    ("items", Form::SchemaOrList),
    ("additionalItems", Form::Schema),
    ("contains", Form::Schema),
    ("minContains", Form::Count),
    ("maxContains", Form::Count),
    ("minItems", Form::Count),
    ("maxItems", Form::Count),
    ("uniqueItems", Form::YesNo),
    ("properties", Form::Named),
    ("patternProperties", Form::ByPattern),
    ("additionalProperties", Form::Schema),
    ("required", Form::Names),
    ("propertyNames", Form::Schema),
    ("minProperties", Form::Count),
    ("maxProperties", Form::Count),
    ("dependentRequired", Form::NamesByName),
    ("dependentSchemas", Form::Named),
    ("dependencies", Form::Dependencies),
    ("contentSchema", Form::Schema),
];

/// What is wrong, and where.
pub(super) struct Fault {
    pub path: Vec<String>,
    what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.path.iter();
        let at = at.fold(String::new(), |at, step| pointer(&at, step));
        match at.as_str() {
            "" => write!(out, "the schema {}", self.what),
            at => write!(out, "`{at}` {}", self.what),
        }
    }
}

/// Checks a schema; returns its regular expressions.
pub(super) fn check(root: &Value) -> Result<BTreeMap<String, Regex>, Fault> {
    let mut checker = Checker {
        root,
        path: Vec::new(),
        patterns: BTreeMap::new(),
        seen: BTreeSet::new(),
    };
    checker.schema(root)?;
    Ok(checker.patterns)
}

struct Checker<'a> {
    root: &'a Value,
    path: Vec<String>,
    patterns: BTreeMap<String, Regex>,
    /// Schemas that are checked, or about to be.
    seen: BTreeSet<*const Value>,
}

impl<'a> Checker<'a> {
    fn fault(&self, what: impl Into<String>) -> Fault {
        Fault {
            path: self.path.clone(),
            what: what.into(),
        }
    }

    fn at(
        &mut self,
        step: &str,
        check: impl FnOnce(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.path.push(step.to_owned());
        check(self)?;
        self.path.pop();
        Ok(())
    }

    fn schema(&mut self, schema: &'a Value) -> Result<(), Fault> {
        let members = match schema {
            Value::Bool(_) => return Ok(()),
            Value::Object(members) => members,
            _ => return Err(self.fault("must be an object, `true` or `false`")),
        };
        if !self.seen.insert(std::ptr::from_ref(schema)) {
            return Ok(());
        }
        if !self.path.is_empty() && members.contains_key("$id") {
            return self.at("$id", |me| {
                Err(me.fault("is only supported at the top of the file"))
            });
        }
        for (name, value) in members {
            let known = KEYWORDS.iter().find(|(keyword, _)| keyword == name);
            if let Some((_, form)) = known {
                self.at(name, |me| me.keyword(*form, value))?;
            }
        }
        let mut seen = BTreeSet::new();
        match is_endless(self.root, schema, &mut seen, &mut Vec::new()) {
            true => Err(self.fault("refers to itself without end")),
            false => Ok(()),
        }
    }

    fn keyword(&mut self, form: Form, value: &'a Value) -> Result<(), Fault> {
        match form {
            Form::Schema => self.schema(value),
            Form::SchemaOrList if !value.is_array() => self.schema(value),
            Form::SchemaOrList => self.list(value, false),
            Form::List => self.list(value, true),
            Form::Named => self.each(value, |me, _, value| me.schema(value)),
            Form::ByPattern => self.each(value, |me, name, value| {
                me.pattern(name)?;
                me.schema(value)
            }),
            Form::Dependencies => self.each(value, |me, _, value| match value {
                Value::Array(_) => me.names(value),
                value => me.schema(value),
            }),
            Form::NamesByName => self.each(value, |me, _, value| me.names(value)),
            Form::Types => self.types(value),
            Form::Names => self.names(value),
            Form::Values => self.must(value.is_array(), "must be an array of values"),
            Form::Number => self.must(value.is_number(), "must be a number"),
            Form::Positive => {
                let positive = value.as_f64().is_some_and(|number| number > 0.0);
                self.must(positive, "must be a number greater than 0")
            }
            Form::Count => {
                let count = value
                    .as_f64()
                    .is_some_and(|number| number >= 0.0 && number.fract() == 0.0);
                self.must(count, "must be a whole number from 0")
            }
            Form::YesNo => self.must(value.is_boolean(), "must be `true` or `false`"),
            Form::Pattern => match value.as_str() {
                Some(pattern) => self.pattern(pattern),
                None => Err(self.fault("must be a regular expression in a string")),
            },
            Form::Reference => self.reference(value),
            Form::Refused(why) => Err(self.fault(why)),
        }
    }

    fn must(&self, holds: bool, what: &str) -> Result<(), Fault> {
        match holds {
            true => Ok(()),
            false => Err(self.fault(what)),
        }
    }

    fn list(&mut self, value: &'a Value, filled: bool) -> Result<(), Fault> {
        let list = value.as_array().filter(|list| !filled || !list.is_empty());
        let Some(list) = list else {
            return Err(self.fault("must be an array of schemas, at least one"));
        };
        for (place, schema) in list.iter().enumerate() {
            self.at(&place.to_string(), |me| me.schema(schema))?;
        }
        Ok(())
    }

    fn each(
        &mut self,
        value: &'a Value,
        check: impl Fn(&mut Self, &str, &'a Value) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let Some(members) = value.as_object() else {
            return Err(self.fault("must be an object"));
        };
        for (name, value) in members {
            self.at(name, |me| check(me, name, value))?;
        }
        Ok(())
    }

    fn names(&self, value: &Value) -> Result<(), Fault> {
        let names = value.as_array();
        let names = names.is_some_and(|names| names.iter().all(Value::is_string));
        self.must(names, "must be an array of names")
    }

    fn types(&self, value: &Value) -> Result<(), Fault> {
        let several;
        let types = match value {
            Value::Array(types) if !types.is_empty() => types.as_slice(),
            one => {
                several = [one.clone()];
                several.as_slice()
            }
        };
        for one in types {
            let name = one.as_str().unwrap_or_default();
            if !TYPES.contains(&name) {
                let near = nearest(name, TYPES);
                let hint = match near.first() {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the types are `{}`", TYPES.join("`, `")),
                };
                return Err(self.fault(format!("has an unknown type {one}: {hint}")));
            }
        }
        Ok(())
    }

    fn pattern(&mut self, pattern: &str) -> Result<(), Fault> {
        if self.patterns.contains_key(pattern) {
            return Ok(());
        }
        let regex = Regex::new(pattern).map_err(|error| {
            let error = error.to_string();
            let why = error.lines().last().unwrap_or_default();
            let why = why.trim().trim_start_matches("error: ");
            self.fault(format!(
                "has a regular expression that cannot be used: {why}"
            ))
        })?;
        self.patterns.insert(pattern.to_owned(), regex);
        Ok(())
    }

    fn reference(&mut self, value: &'a Value) -> Result<(), Fault> {
        let Some(reference) = value.as_str() else {
            return Err(self.fault("must be a string"));
        };
        if reference != "#" && !reference.starts_with("#/") {
            return Err(self.fault(format!(
                "refers to `{reference}`: only parts of this file can be referred to, as `#/$defs/NAME`"
            )));
        }
        match referenced(self.root, reference) {
            Some(target @ (Value::Object(_) | Value::Bool(_))) => {
                // It may stand where no keyword leads to.
                let steps = reference.split('/').skip(1);
                let steps = steps.map(|step| step.replace("~1", "/").replace("~0", "~"));
                let here = std::mem::replace(&mut self.path, steps.collect());
                self.schema(target)?;
                self.path = here;
                Ok(())
            }
            Some(_) => Err(self.fault(format!("refers to `{reference}`, which is no schema"))),
            None => Err(self.fault(format!("refers to `{reference}`, which does not exist"))),
        }
    }
}

/// Whether checking one value by this schema comes back to it with the same value.
fn is_endless<'a>(
    root: &'a Value,
    schema: &'a Value,
    done: &mut BTreeSet<*const Value>,
    open: &mut Vec<*const Value>,
) -> bool {
    let place = std::ptr::from_ref(schema);
    if open.contains(&place) {
        return true;
    }
    if !done.insert(place) {
        return false;
    }
    open.push(place);
    let mut next: Vec<&Value> = Vec::new();
    for (name, value) in schema.as_object().into_iter().flatten() {
        match name.as_str() {
            "$ref" => next.extend(value.as_str().and_then(|name| referenced(root, name))),
            "not" | "if" | "then" | "else" => next.push(value),
            "allOf" | "anyOf" | "oneOf" => next.extend(value.as_array().into_iter().flatten()),
            "dependentSchemas" | "dependencies" => {
                next.extend(
                    value
                        .as_object()
                        .into_iter()
                        .flatten()
                        .map(|(_, value)| value),
                );
            }
            _ => {}
        }
    }
    let endless = next
        .into_iter()
        .any(|next| is_endless(root, next, done, open));
    open.pop();
    endless
}
