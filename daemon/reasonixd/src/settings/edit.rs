//! Changes the user's own config file: one thing at a time, with every other byte of it kept.
//!
//! Never a project's file. A file that is no TOML is left as it is. What an edit must not touch is compared before the
//! file is replaced. Called by `config.set` and `provider.set`; blocks.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use contract::ToolSet;
use proto::near::nearest;
use proto::{ErrorName, Failure};
use serde_json::Value as Json;
use toml_edit::{Array, Document, DocumentMut, Item, Table, TableLike, Value};

use super::schema::{KEYS, Key, Kind};
use super::{near, read, rules, value, write};

mod provider;

pub use provider::provider;

/// Attempts if somebody else changes the file meanwhile.
const TRIES: usize = 3;

/// Two changes at once would lose one of them.
static CHANGING: Mutex<()> = Mutex::new(());

/// The setting of this name.
///
/// # Errors
/// `invalid_params` with the nearest names.
pub fn key(name: &str) -> Result<&'static Key, Failure> {
    if let Some(key) = KEYS.iter().find(|key| key.name == name) {
        return Ok(key);
    }
    let shown = near::shown(name);
    let text = format!("Unknown setting `{shown}`.");
    if name == "providers" || name.starts_with("providers.") {
        let hint = "Change a provider with `reasonix setup --provider NAME`.";
        return Err(Failure::new(ErrorName::InvalidParams, text, hint));
    }
    let mut similar = nearest(name, KEYS.iter().map(|key| key.name));
    if similar.is_empty() {
        // Only the table may be missing, or be another one.
        let last = name.rsplit('.').next().unwrap_or_default();
        let same = KEYS.iter().map(|key| key.name);
        similar = same
            .filter(|key| !last.is_empty() && key.rsplit('.').next() == Some(last))
            .collect();
    }
    let hint = if similar.is_empty() {
        "List all settings with `reasonix config get`.".to_owned()
    } else {
        format!("Did you mean `{}`?", similar.join("`, `"))
    };
    Err(Failure::new(ErrorName::InvalidParams, text, hint).with("nearest", similar))
}

/// Sets a setting, or takes it out so that its default counts.
///
/// # Errors
/// `invalid_params`: the value is not allowed; `invalid_config`: the file cannot be changed as it is;
/// `storage`.
pub fn set(
    file: &Path,
    key: &Key,
    json: Option<&Json>,
    user_home: &Path,
    tools: &ToolSet,
) -> Result<(), Failure> {
    let context = value::ValueContext {
        directory: file.parent().unwrap_or(Path::new("/")),
        user_home,
        tools,
    };
    let value = json.map(|json| allowed(key, json, &context)).transpose()?;
    let path: Vec<&str> = key.name.split('.').collect();
    change(file, &[&path], &|text| {
        let mut document = parse(file, text)?;
        let Some(value) = &value else {
            return Ok(without(text, &mut document, &path));
        };
        put(document.as_table_mut(), &path, value.clone()).map_err(|table| {
            unusable(
                file,
                format!("`{table}` is not a table in the file"),
                "Fix that line.",
            )
        })?;
        Ok(document.to_string())
    })
}

/// Takes a rule out of those that a file allows; false: it is not there. Comments on other lines stay.
///
/// # Errors
/// `invalid_config`: the file cannot be changed as it is; `storage`.
pub fn forget_rule(file: &Path, rule: &str) -> Result<bool, Failure> {
    let found = std::cell::Cell::new(false);
    change(file, &[&["permissions", "allow"]], &|text| {
        let mut text = text.to_owned();
        found.set(false);
        // The same rule may be there twice.
        while let Some(shorter) = without_rule(file, &text, rule)? {
            found.set(true);
            text = shorter;
        }
        Ok(text)
    })?;
    Ok(found.get())
}

/// Whether a file allows by this rule. What cannot be read allows nothing.
pub fn allows_rule(file: &Path, rule: &str) -> bool {
    let Ok(text) = text_of(file) else {
        return false;
    };
    matches!(without_rule(file, &text, rule), Ok(Some(_)))
}

/// The text without one entry of `permissions.allow`; `None`: there is none like it.
fn without_rule(file: &Path, text: &str, rule: &str) -> Result<Option<String>, Failure> {
    let mut document = parse(file, text)?;
    let spans = Document::parse(text).ok();
    let at = ["permissions", "allow"];
    let list = spans.as_ref().and_then(|document| {
        let item = at
            .iter()
            .try_fold(document.as_item(), |item, part| item.get(part));
        item?.as_array()
    });
    let Some(list) = list else {
        return Ok(None);
    };
    let is_it = |value: &Value| {
        let text = value.as_str();
        text.or_else(|| value.as_inline_table()?.get("rule")?.as_str()) == Some(rule)
    };
    let Some(index) = list.iter().position(is_it) else {
        return Ok(None);
    };
    let span = list.get(index).and_then(Value::span);
    if let Some(lines) = span.and_then(|span| entry_lines(text, &span)) {
        let (before, after) = (text.get(..lines.start), text.get(lines.end..));
        let shorter: String = [before, after].into_iter().flatten().collect();
        // The last of several may leave a comma too few or too many: then it is taken out as TOML.
        if shorter.parse::<DocumentMut>().is_ok() {
            return Ok(Some(shorter));
        }
    }
    let item = at
        .iter()
        .try_fold(document.as_item_mut(), |item, part| item.get_mut(part));
    if let Some(list) = item.and_then(Item::as_array_mut) {
        list.remove(index);
    }
    Ok(Some(document.to_string()))
}

/// The whole lines that contain only one entry of a list, in bytes.
fn entry_lines(text: &str, span: &std::ops::Range<usize>) -> Option<std::ops::Range<usize>> {
    let start = text.get(..span.start)?.rfind('\n').map_or(0, |at| at + 1);
    let rest = text.get(span.end..)?;
    let end = span.end + rest.find('\n').map_or(rest.len(), |at| at + 1);
    let after = text.get(span.end..end)?.trim();
    let after = after.strip_prefix(',').unwrap_or(after).trim_start();
    let alone = text.get(start..span.start)?.trim().is_empty();
    (alone && (after.is_empty() || after.starts_with('#'))).then_some(start..end)
}

/// The value as TOML, if the setting allows it.
fn allowed(key: &Key, json: &Json, context: &value::ValueContext<'_>) -> Result<Value, Failure> {
    let wrong = |why: String| {
        Failure::new(
            ErrorName::InvalidParams,
            format!("`{}` must be {why}.", key.name),
            match key.kind {
                Kind::Tools | Kind::Rules(_) | Kind::Places | Kind::Globs => {
                    "Nothing was changed. Write a list as '[\"one\", \"two\"]'."
                }
                _ => "Nothing was changed.",
            },
        )
        .with("key", key.name)
    };
    let value = toml_of(json);
    let mut refused = Vec::new();
    // What TOML cannot hold is nothing that is allowed either.
    let item = value.clone().map_or(Item::None, Item::Value);
    value::of(key.kind, &item, context, &mut refused).map_err(wrong)?;
    if let Some(refused) = refused.first() {
        let of_what = match key.kind {
            Kind::Rules(_) => "a list of rules ",
            Kind::Tools => "a list of tools ",
            _ => "",
        };
        return Err(wrong(format!(
            "{of_what}without the invalid entry: {}",
            refused.why
        )));
    }
    value.ok_or_else(|| wrong("a TOML value".to_owned()))
}

fn toml_of(json: &Json) -> Option<Value> {
    match json {
        Json::String(text) => Some(text.as_str().into()),
        Json::Bool(yes) => Some((*yes).into()),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Some(whole.into()),
            None if number.is_f64() => number.as_f64().map(Value::from),
            None => None,
        },
        Json::Array(values) => {
            let values: Option<Vec<Value>> = values.iter().map(toml_of).collect();
            Some(Value::Array(Array::from_iter(values?)))
        }
        // A rule with its examples.
        Json::Object(members) => rules::table(members).map(Value::InlineTable),
        Json::Null => None,
    }
}

/// Puts a value at its place, in a table that is made if needed; the error names the key that is not a table.
fn put<'a>(table: &mut dyn TableLike, path: &[&'a str], value: Value) -> Result<(), &'a str> {
    match path {
        [] => Ok(()),
        [name] => {
            insert(table, name, value);
            Ok(())
        }
        [name, rest @ ..] => {
            let inner = table.entry(name).or_insert(Item::Table(Table::new()));
            put(inner.as_table_like_mut().ok_or(*name)?, rest, value)
        }
    }
}

/// Puts a value in the place of another; the text around it stays.
fn insert(table: &mut dyn TableLike, name: &str, mut value: Value) {
    if let Some(old) = table.get_mut(name) {
        if let Some(old) = old.as_value() {
            *value.decor_mut() = old.decor().clone();
        }
        *old = Item::Value(value);
    } else {
        table.insert(name, Item::Value(value));
    }
}

/// The text without a value. Its own lines go, and comments around them stay.
fn without(text: &str, document: &mut DocumentMut, path: &[&str]) -> String {
    if let Some(lines) = lines_of(text, path) {
        let (before, after) = (text.get(..lines.start), text.get(lines.end..));
        return [before, after].into_iter().flatten().collect();
    }
    let Some((name, tables)) = path.split_last() else {
        return text.to_owned();
    };
    let mut table: Option<&mut dyn TableLike> = Some(document.as_table_mut());
    for part in tables {
        table = table.and_then(|table| table.get_mut(part)?.as_table_like_mut());
    }
    match table.and_then(|table| table.remove(name)) {
        Some(_) => document.to_string(),
        None => text.to_owned(),
    }
}

/// The whole lines that contain only one value, in bytes; `None` if it shares them with others.
fn lines_of(text: &str, path: &[&str]) -> Option<std::ops::Range<usize>> {
    let document = Document::parse(text).ok()?;
    let (name, tables) = path.split_last()?;
    let mut table: &dyn TableLike = document.as_table();
    for part in tables {
        table = table.get(part)?.as_table_like()?;
    }
    let (key, item) = table.get_key_value(name)?;
    let (key, value) = (key.span()?, item.span()?);
    let start = text.get(..key.start)?.rfind('\n').map_or(0, |at| at + 1);
    let rest = text.get(value.end..)?;
    let end = value.end + rest.find('\n').map_or(rest.len(), |at| at + 1);
    let before = text.get(start..key.start)?;
    let after = text.get(value.end..end)?.trim();
    let alone = !before.contains(['{', ',', '=']) && (after.is_empty() || after.starts_with('#'));
    alone.then_some(start..end)
}

/// Reads, edits, compares, writes. `touched`: all that the edit may change.
pub(super) fn change(
    file: &Path,
    touched: &[&[&str]],
    edit: &dyn Fn(&str) -> Result<String, Failure>,
) -> Result<(), Failure> {
    let _one = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    for _ in 0..TRIES {
        let before = text_of(file)?;
        let after = with_line_ends_of(&before, edit(&before)?);
        if after == before {
            return Ok(());
        }
        if after.len() as u64 > read::MAX {
            let text = format!("it would be larger than {} bytes", read::MAX);
            return Err(unusable(file, text, "Make it shorter first."));
        }
        if others(&before, touched) != others(&after, touched) || others(&after, &[]).is_none() {
            return Err(lost());
        }
        // An editor may have saved it meanwhile.
        if text_of(file)? != before {
            continue;
        }
        return write::replace(file, &after).map_err(|error| {
            Failure::new(
                ErrorName::Storage,
                format!("{} cannot be written: {error}", file.display()),
                "Check whether the disk is full, read-only or missing.",
            )
        });
    }
    Err(unusable(
        file,
        "somebody else is changing it".to_owned(),
        "Try again when the other change is done.",
    ))
}

/// The text after an edit with the line ends of Windows, if all lines of the text before have them: `toml_edit` writes those of
/// Unix.
fn with_line_ends_of(before: &str, after: String) -> String {
    let lines = before.matches('\n').count();
    if lines == 0 || before.matches("\r\n").count() < lines {
        return after;
    }
    let converted = after.replace("\r\n", "\n").replace('\n', "\r\n");
    // The lines of a value stay as they are.
    match others(&converted, &[]) == others(&after, &[]) {
        true => converted,
        false => after,
    }
}

/// Everything but what may be changed; `None`: no TOML.
fn others(text: &str, touched: &[&[&str]]) -> Option<toml::Table> {
    let mut table: toml::Table = toml::from_str(text).ok()?;
    for path in touched {
        remove(&mut table, path);
    }
    Some(table)
}

/// Takes a value out, and tables that are empty then.
fn remove(table: &mut toml::Table, path: &[&str]) {
    match path {
        [] => {}
        [name] => drop(table.remove(*name)),
        [name, rest @ ..] => {
            if let Some(toml::Value::Table(inner)) = table.get_mut(*name) {
                remove(inner, rest);
                if inner.is_empty() {
                    table.remove(*name);
                }
            }
        }
    }
}

fn text_of(file: &Path) -> Result<String, Failure> {
    match read::following(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(unusable(
            file,
            format!("it cannot be read: {error}"),
            "Look at the file.",
        )),
    }
}

pub(super) fn parse(file: &Path, text: &str) -> Result<DocumentMut, Failure> {
    text.parse::<DocumentMut>().map_err(|error| {
        let (line, why) = read::error_of(text, &error);
        unusable(
            file,
            format!("line {line} is not valid TOML: {why}"),
            "Fix that line first.",
        )
        .with("line", line)
    })
}

pub(super) fn unusable(file: &Path, why: String, hint: &str) -> Failure {
    Failure::new(
        ErrorName::InvalidConfig,
        format!("{} is left as it is: {why}.", file.display()),
        hint,
    )
    .with("file", file.display().to_string())
}

/// The edit would have changed more than its setting.
fn lost() -> Failure {
    Failure::new(
        ErrorName::Internal,
        "The config could not be changed without touching other lines; it is left as it is.",
        "Change the file by hand.",
    )
}

#[cfg(test)]
mod tests;
