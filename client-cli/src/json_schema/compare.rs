//! Whether a value fits a schema whose form was checked. Pure, and bounded: it gives up on what takes too long.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Map, Value};

use super::{Problem, pointer, referenced};

/// Schemas that are applied before the comparison is given up.
const WORK_MAX: usize = 1_000_000;

/// Schemas that lead to one another.
const DEPTH_MAX: usize = 400;

/// Characters of a value that a problem shows.
const SHOWN_MAX: usize = 60;

/// Where a value does not fit.
pub(super) fn problems(
    root: &Value,
    patterns: &BTreeMap<String, Regex>,
    value: &Value,
) -> Vec<Problem> {
    let mut comparison = Comparison {
        root,
        patterns,
        work: 0,
        depth: 0,
        found: Vec::new(),
    };
    comparison.apply(root, value, "");
    if comparison.is_given_up() {
        return vec![Problem {
            at: String::new(),
            message: "is too large or the schema too complex to compare them".to_owned(),
        }];
    }
    comparison.found
}

/// Whether two values are the same one: `1` and `1.0` are, and the order of members does not count.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || ((one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64())
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let fits = |(name, value)| other.get(name).is_some_and(|other| same(value, other));
            one.len() == other.len() && one.iter().all(fits)
        }
        (one, other) => one == other,
    }
}

/// Whether a number keeps a bound.
type Holds = fn(f64, f64) -> bool;

struct Comparison<'a> {
    root: &'a Value,
    patterns: &'a BTreeMap<String, Regex>,
    work: usize,
    depth: usize,
    found: Vec<Problem>,
}

impl<'a> Comparison<'a> {
    fn is_given_up(&self) -> bool {
        self.work > WORK_MAX
    }

    fn report(&mut self, at: &str, message: impl Into<String>) {
        self.found.push(Problem {
            at: at.to_owned(),
            message: message.into(),
        });
    }

    fn apply(&mut self, schema: &'a Value, value: &Value, at: &str) {
        self.work += 1;
        if self.depth > DEPTH_MAX {
            self.work = WORK_MAX + 1;
        }
        if self.is_given_up() {
            return;
        }
        let members = match schema {
            Value::Bool(false) => return self.report(at, "is not allowed"),
            Value::Object(members) => members,
            _ => return,
        };
        self.depth += 1;
        self.general(members, value, at);
        self.combined(members, value, at);
        match value {
            Value::Number(_) => self.number(members, value, at),
            Value::String(text) => self.string(members, text, at),
            Value::Array(items) => self.array(members, items, at),
            Value::Object(object) => self.object(members, object, at),
            Value::Null | Value::Bool(_) => {}
        }
        self.depth -= 1;
    }

    /// What does not fit of a value, without reporting it.
    fn tried(&mut self, schema: &'a Value, value: &Value, at: &str) -> Vec<Problem> {
        let before = std::mem::take(&mut self.found);
        self.apply(schema, value, at);
        std::mem::replace(&mut self.found, before)
    }

    fn fits(&mut self, schema: &'a Value, value: &Value, at: &str) -> bool {
        self.tried(schema, value, at).is_empty()
    }

    fn general(&mut self, schema: &'a Map<String, Value>, value: &Value, at: &str) {
        let reference = schema.get("$ref").and_then(Value::as_str);
        if let Some(target) = reference.and_then(|name| referenced(self.root, name)) {
            self.apply(target, value, at);
        }
        if let Some(types) = schema.get("type") {
            let names: Vec<&str> = match types {
                Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
                one => one.as_str().into_iter().collect(),
            };
            if !names.iter().any(|name| is(name, value)) {
                let names = names.join(" or ");
                self.report(at, format!("must be of type {names}, not {}", shown(value)));
            }
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array)
            && !values.iter().any(|one| same(one, value))
        {
            let all = Value::Array(values.clone());
            self.report(
                at,
                format!("must be one of {}, not {}", shown(&all), shown(value)),
            );
        }
        if let Some(only) = schema.get("const")
            && !same(only, value)
        {
            self.report(at, format!("must be {}, not {}", shown(only), shown(value)));
        }
    }

    fn combined(&mut self, schema: &'a Map<String, Value>, value: &Value, at: &str) {
        for all in list(schema, "allOf") {
            self.apply(all, value, at);
        }
        if schema.contains_key("anyOf") {
            let tried = list(schema, "anyOf").map(|one| self.tried(one, value, at));
            let tried: Vec<_> = tried.collect();
            if tried.iter().all(|problems| !problems.is_empty()) {
                self.nearest(tried, at);
            }
        }
        if schema.contains_key("oneOf") {
            let tried = list(schema, "oneOf").map(|one| self.tried(one, value, at));
            let tried: Vec<_> = tried.collect();
            match tried.iter().filter(|problems| problems.is_empty()).count() {
                0 => self.nearest(tried, at),
                1 => {}
                count => self.report(at, format!("must fit one of `oneOf`, but fits {count}")),
            }
        }
        if let Some(not) = schema.get("not")
            && self.fits(not, value, at)
        {
            self.report(at, "fits what `not` excludes");
        }
        if let Some(condition) = schema.get("if") {
            let branch = match self.fits(condition, value, at) {
                true => "then",
                false => "else",
            };
            if let Some(branch) = schema.get(branch) {
                self.apply(branch, value, at);
            }
        }
    }

    /// Reports the alternative that comes nearest.
    fn nearest(&mut self, tried: Vec<Vec<Problem>>, at: &str) {
        let count = tried.len();
        let nearest = tried.into_iter().min_by_key(Vec::len).unwrap_or_default();
        if count > 1 {
            self.report(
                at,
                format!(
                    "fits none of the {count} alternatives; what the nearest one lacks follows"
                ),
            );
        }
        self.found.extend(nearest);
    }

    fn number(&mut self, schema: &'a Map<String, Value>, value: &Value, at: &str) {
        let Some(number) = value.as_f64() else {
            return;
        };
        let bounds: [(&str, Holds, &str); 4] = [
            ("minimum", |number, bound| number >= bound, "at least"),
            ("maximum", |number, bound| number <= bound, "at most"),
            (
                "exclusiveMinimum",
                |number, bound| number > bound,
                "more than",
            ),
            (
                "exclusiveMaximum",
                |number, bound| number < bound,
                "less than",
            ),
        ];
        for (keyword, holds, words) in bounds {
            if let Some(bound) = schema.get(keyword)
                && bound.as_f64().is_some_and(|bound| !holds(number, bound))
            {
                self.report(at, format!("must be {words} {bound}, not {value}"));
            }
        }
        if let Some(step) = schema.get("multipleOf")
            && !is_multiple(value, step)
        {
            self.report(at, format!("must be a multiple of {step}, not {value}"));
        }
    }

    fn string(&mut self, schema: &'a Map<String, Value>, text: &str, at: &str) {
        let length = text.chars().count();
        self.count(schema, ["minLength", "maxLength"], length, "characters", at);
        let pattern = schema.get("pattern").and_then(Value::as_str);
        if let Some(pattern) = pattern
            && !self.matches(pattern, text)
        {
            let value = shown(&text.into());
            self.report(at, format!("must match `{pattern}`, not {value}"));
        }
    }

    fn matches(&self, pattern: &str, text: &str) -> bool {
        // Every pattern of the schema was compiled when it was read.
        self.patterns
            .get(pattern)
            .is_some_and(|regex| regex.is_match(text))
    }

    fn array(&mut self, schema: &'a Map<String, Value>, items: &[Value], at: &str) {
        self.count(schema, ["minItems", "maxItems"], items.len(), "items", at);
        let (first, rest) = match schema.get("items") {
            Some(Value::Array(first)) => (first.as_slice(), schema.get("additionalItems")),
            rest => {
                let first = schema.get("prefixItems").and_then(Value::as_array);
                (first.map_or(&[][..], Vec::as_slice), rest)
            }
        };
        for (place, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(place).or(rest) {
                self.apply(schema, item, &pointer(at, &place.to_string()));
            }
        }
        if let Some(wanted) = schema.get("contains") {
            let fit = items.iter().filter(|item| self.fits(wanted, item, at));
            let fit = fit.count();
            let least = count_of(schema, "minContains").unwrap_or(1.0);
            let most = count_of(schema, "maxContains").unwrap_or(f64::INFINITY);
            let fit_count = number(fit);
            if fit_count < least {
                self.report(
                    at,
                    format!("must have {least} items that fit `contains`, not {fit}"),
                );
            } else if fit_count > most {
                self.report(
                    at,
                    format!("must have at most {most} items that fit `contains`, not {fit}"),
                );
            }
        }
        let unique = schema.get("uniqueItems") == Some(&Value::Bool(true));
        if unique && self.has_double(items) {
            self.report(at, "must not hold the same item twice");
        }
    }

    fn has_double(&mut self, items: &[Value]) -> bool {
        for (place, item) in items.iter().enumerate() {
            self.work += place;
            if self.is_given_up() {
                return false;
            }
            if items[..place].iter().any(|before| same(before, item)) {
                return true;
            }
        }
        false
    }

    fn object(&mut self, schema: &'a Map<String, Value>, object: &Map<String, Value>, at: &str) {
        let bounds = ["minProperties", "maxProperties"];
        self.count(schema, bounds, object.len(), "members", at);
        self.missing(schema.get("required"), object, at);
        self.members(schema, object, at);
        if let Some(names) = schema.get("propertyNames") {
            for name in object.keys() {
                for problem in self.tried(names, &name.as_str().into(), "") {
                    let why = problem.message;
                    self.report(at, format!("has a member `{name}`, whose name {why}"));
                }
            }
        }
        for keyword in ["dependentRequired", "dependentSchemas", "dependencies"] {
            let rules = schema.get(keyword).and_then(Value::as_object);
            for (name, rule) in rules.into_iter().flatten() {
                match rule {
                    _ if !object.contains_key(name) => {}
                    Value::Array(_) => self.missing(Some(rule), object, at),
                    rule => self.apply(rule, &Value::Object(object.clone()), at),
                }
            }
        }
    }

    fn members(&mut self, schema: &'a Map<String, Value>, object: &Map<String, Value>, at: &str) {
        let named = schema.get("properties").and_then(Value::as_object);
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        for (name, value) in object {
            let at_member = pointer(at, name);
            let own = named.and_then(|named| named.get(name));
            if let Some(own) = own {
                self.apply(own, value, &at_member);
            }
            let mut known = own.is_some();
            for (pattern, schema) in patterns.into_iter().flatten() {
                if self.matches(pattern, name) {
                    known = true;
                    self.apply(schema, value, &at_member);
                }
            }
            match others {
                _ if known => {}
                Some(Value::Bool(false)) => {
                    self.report(at, format!("must not have a member `{name}`"));
                }
                Some(others) => self.apply(others, value, &at_member),
                None => {}
            }
        }
    }

    fn missing(&mut self, names: Option<&Value>, object: &Map<String, Value>, at: &str) {
        let names = names.and_then(Value::as_array).into_iter().flatten();
        for name in names.filter_map(Value::as_str) {
            if !object.contains_key(name) {
                self.report(at, format!("lacks the member `{name}`"));
            }
        }
    }

    fn count(
        &mut self,
        schema: &Map<String, Value>,
        [least, most]: [&str; 2],
        count: usize,
        what: &str,
        at: &str,
    ) {
        if let Some(least) = count_of(schema, least)
            && number(count) < least
        {
            self.report(
                at,
                format!("must have at least {least} {what}, not {count}"),
            );
        }
        if let Some(most) = count_of(schema, most)
            && number(count) > most
        {
            self.report(at, format!("must have at most {most} {what}, not {count}"));
        }
    }
}

fn list<'a>(schema: &'a Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'a Value> {
    let list = schema.get(keyword).and_then(Value::as_array);
    list.into_iter().flatten()
}

fn count_of(schema: &Map<String, Value>, keyword: &str) -> Option<f64> {
    schema.get(keyword).and_then(Value::as_f64)
}

/// A count beside the numbers of a schema. Exact up to 2^53.
#[allow(clippy::cast_precision_loss)]
fn number(count: usize) -> f64 {
    count as f64
}

fn is(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        _ => false,
    }
}

fn is_multiple(value: &Value, step: &Value) -> bool {
    if let (Some(value), Some(step)) = (value.as_i64(), step.as_i64().filter(|step| *step != 0)) {
        return value % step == 0;
    }
    let (Some(value), Some(step)) = (value.as_f64(), step.as_f64()) else {
        return true;
    };
    // 0.3 is a multiple of 0.1, although their quotient is not quite 3.
    let times = value / step;
    (times - times.round()).abs() <= 1e-9 * times.abs().max(1.0)
}

/// A value in a message, cut to a length.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
