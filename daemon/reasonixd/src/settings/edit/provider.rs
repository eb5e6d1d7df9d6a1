//! `[[providers]]` in the user's own config: an entry is added or changed by its name.

use std::path::Path;

use proto::params::config::ProviderSetParams;
use proto::{ErrorName, Failure};
use toml_edit::{Array, ArrayOfTables, Item, Table, Value};

use super::{change, insert, lost, parse, put, unusable};
use crate::credentials::is_variable;
use crate::settings::layers::kinds;
use crate::settings::project::flat;
use crate::settings::providers::ProviderEntry;
use crate::settings::shipped;

/// Adds or changes an entry, and makes it the default of sessions that name no model, if asked. `check` says
/// whether the entry could be used. Returns the entry as it is in the file.
///
/// # Errors
/// As [`set`].
pub fn provider(
    file: &Path,
    params: &ProviderSetParams,
    check: &dyn Fn(&ProviderEntry) -> Result<(), Failure>,
) -> Result<ProviderEntry, Failure> {
    plain(params)?;
    let mut made = None;
    let entry = |text: &str| -> Result<(ProviderEntry, String), Failure> {
        let mut document = parse(file, text)?;
        let entries = document
            .as_table_mut()
            .entry("providers")
            .or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        let Some(entries) = entries.as_array_of_tables_mut() else {
            return Err(unusable(
                file,
                "`providers` is not written as `[[providers]]` in the file".to_owned(),
                "Write each provider as a separate `[[providers]]` table.",
            ));
        };
        let is_it = |table: &Table| table.get("name").and_then(Item::as_str) == Some(&params.name);
        let found = entries.iter().position(is_it);
        if found.is_none() {
            entries.push(begun(&params.name));
        }
        let place = found.unwrap_or(entries.len() - 1);
        let table = entries.get_mut(place).ok_or_else(lost)?;
        fill(table, params);
        let mut entry: ProviderEntry = toml::from_str(&flat(table)).map_err(|error| {
            let text = format!(
                "the provider `{}` would be invalid: {}",
                params.name,
                error.message()
            );
            unusable(
                file,
                text,
                "Fix its other keys in the file, or give the missing ones.",
            )
        })?;
        entry.origin = file.display().to_string();
        usable(&entry)?;
        check(&entry)?;
        if params.make_default {
            let name = Value::from(params.name.as_str());
            put(document.as_table_mut(), &["default_model"], name).map_err(|_| lost())?;
        }
        Ok((entry, document.to_string()))
    };
    let mut touched: Vec<&[&str]> = vec![&["providers"]];
    if params.make_default {
        touched.push(&["default_model"]);
    }
    let cell = std::cell::RefCell::new(&mut made);
    change(file, &touched, &|text| {
        let (entry, text) = entry(text)?;
        **cell.borrow_mut() = Some(entry);
        Ok(text)
    })?;
    made.ok_or_else(lost)
}

/// Whether the given values could be in an entry at all.
fn plain(params: &ProviderSetParams) -> Result<(), Failure> {
    let wrong = |key: &str, text: &str, hint: &str| {
        Err(Failure::new(ErrorName::InvalidParams, text, hint).with("key", key))
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if params.name.is_empty() || params.name.len() > 64 || !params.name.chars().all(is_name) {
        let text = "A provider's name is 1 to 64 letters, digits, `-`, `_` and `.`.";
        return wrong("name", text, "Choose another name.");
    }
    let models = params.models.iter().chain(&params.default);
    for model in models {
        if model.trim().is_empty() || model.len() > 256 || model.chars().any(char::is_control) {
            let text = "A model's name is 1 to 256 characters on one line.";
            return wrong("models", text, "Use the provider's name for the model.");
        }
    }
    match &params.api_key_env {
        // Empty: none is needed.
        Some(variable) if !variable.is_empty() && !is_variable(variable) => wrong(
            "api_key_env",
            "`api_key_env` is the name of an environment variable: capital letters, digits and `_`.",
            "Give the variable's name; store the key itself with `credential.set`.",
        ),
        _ => Ok(()),
    }
}

/// A new entry: the shipped one's values if there is one of the name.
fn begun(name: &str) -> Table {
    let mut table = Table::new();
    table.insert("name", toml_edit::value(name));
    let shipped = shipped::all().into_iter().find(|entry| entry.name == name);
    let Some(entry) = shipped else {
        table.insert("kind", toml_edit::value(shipped::KIND));
        return table;
    };
    table.insert("kind", toml_edit::value(entry.kind.as_str()));
    table.insert("base_url", toml_edit::value(entry.base_url.as_str()));
    table.insert("models", Item::Value(texts(&entry.models)));
    if let Some(default) = entry.models.first() {
        table.insert("default", toml_edit::value(default.as_str()));
    }
    if let Some(variable) = &entry.api_key_env {
        table.insert("api_key_env", toml_edit::value(variable.as_str()));
    }
    if entry.sends_reasoning {
        table.insert("sends_reasoning", toml_edit::value(true));
    }
    if entry.strict_roles {
        table.insert("strict_roles", toml_edit::value(true));
    }
    table
}

/// Writes the given values into the entry. A default that the new models do not have goes.
fn fill(table: &mut Table, params: &ProviderSetParams) {
    for (key, text) in [("kind", &params.kind), ("base_url", &params.base_url)] {
        if let Some(text) = text {
            insert(table, key, text.trim().into());
        }
    }
    match params.api_key_env.as_deref() {
        Some("") => drop(table.remove("api_key_env")),
        Some(variable) => insert(table, "api_key_env", variable.into()),
        None => {}
    }
    if !params.models.is_empty() {
        table.remove("model");
        insert(table, "models", texts(&params.models));
        let kept = table.get("default").and_then(Item::as_str);
        if kept.is_some_and(|kept| params.models.iter().all(|model| model != kept)) {
            table.remove("default");
        }
    }
    if let Some(default) = &params.default {
        insert(table, "default", default.as_str().into());
        let models = table.get_mut("models").and_then(Item::as_array_mut);
        if let Some(models) = models
            && models.iter().all(|model| model.as_str() != Some(default))
        {
            models.push(default.as_str());
        }
    }
}

/// Whether the entry says what every provider must say.
fn usable(entry: &ProviderEntry) -> Result<(), Failure> {
    let wrong = |key: &str, text: String, hint: &str| {
        Err(Failure::new(ErrorName::InvalidParams, text, hint).with("key", key))
    };
    if !kinds().contains(&entry.kind.as_str()) {
        let text = format!(
            "The kind of a provider must be one of {}.",
            kinds().join(", ")
        );
        return wrong("kind", text, "Choose one of them.");
    }
    if entry.all_models().is_empty() {
        let text = format!("The provider `{}` has no model.", entry.name);
        let hint = "Give `models`; list them with `provider.probe`.";
        return wrong("models", text, hint);
    }
    let is_remote = !matches!(entry.kind.as_str(), "replay" | "command");
    if is_remote && entry.base_url.is_empty() {
        let text = format!("The provider `{}` has no `base_url`.", entry.name);
        let hint = "Give the address of its API, including the version: `https://…/v1`.";
        return wrong("base_url", text, hint);
    }
    Ok(())
}

fn texts(texts: &[String]) -> Value {
    Value::Array(Array::from_iter(texts.iter().map(String::as_str)))
}
