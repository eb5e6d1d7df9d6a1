//! The tables of programs: `programs.toml` beside this file, which is compiled in.
//!
//! Facts, and nothing that knows rules. Called by whoever judges a command.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

/// Names of programs, options or subcommands.
pub(crate) type Names = HashSet<String>;

/// What each table holds is said beside it, in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tables {
    pub launchers: Names,
    pub interpreters: Names,
    pub shallow_readers: Names,
    pub deep_readers: Names,
    pub plain_readers: Names,
    pub versioned: Names,
    pub never: Names,
    pub writers: Names,
    pub harmless: Names,
    pub file_workers: Names,
    pub whole_names: Names,
    pub shells: Names,
    pub other_shells: Names,
    pub changing_builtins: Names,
    pub evaluating_builtins: Names,
    pub harmless_variables: Names,
    pub code_variables: Names,
    pub single_purpose: Names,
    pub code_options: HashMap<String, CodeOptions>,
    pub grantable_subcommands: HashMap<String, Names>,
    pub launching_subcommands: HashMap<String, HashMap<String, usize>>,
    pub subcommands: HashMap<String, Names>,
    pub git: GitTables,
    /// Of programs that stand in no table: their options are not known, but what these names say is.
    pub unknown: Danger,
    pub dangers: Vec<Danger>,
}

/// What is known of git.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GitTables {
    pub globals: Names,
    pub valued_globals: Names,
    pub readers: Names,
    pub places: Names,
    pub risky_options: Names,
    pub runners: Names,
    pub elsewhere: Names,
    pub listing_options: Names,
    pub valued_listing_options: Names,
}

/// Options of an interpreter behind which code stands.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CodeOptions {
    #[serde(default)]
    pub short: String,
    #[serde(default)]
    pub long: Names,
}

/// Options of some programs that start others, load code or write where they are told. Short ones count inside clusters
/// (`-xo`), long ones also when shortened.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Danger {
    pub programs: Names,
    #[serde(default)]
    pub short: String,
    #[serde(default)]
    pub long: Names,
}

/// All of them.
pub(crate) fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> =
        LazyLock::new(|| parsed(include_str!("programs.toml"), "programs.toml"));
    &TABLES
}

/// A table that is compiled in. A test reads each, so that it cannot fail for a user.
pub(crate) fn parsed<T: serde::de::DeserializeOwned>(text: &str, name: &str) -> T {
    match toml::from_str(text) {
        Ok(table) => table,
        Err(error) => panic!("{name}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use toml::Value;

    /// Every list in a file, with the way to it.
    fn lists(value: &Value, way: &str, found: &mut Vec<(String, Vec<String>)>) {
        match value {
            Value::Table(table) => table
                .iter()
                .for_each(|(key, value)| lists(value, &format!("{way}.{key}"), found)),
            Value::Array(rows) if rows.iter().all(Value::is_str) => {
                let names = rows.iter().filter_map(Value::as_str).map(str::to_owned);
                found.push((way.to_owned(), names.collect()));
            }
            Value::Array(rows) => rows.iter().for_each(|row| lists(row, way, found)),
            _ => {}
        }
    }

    #[test]
    fn every_list_is_sorted_and_holds_no_name_twice() {
        for file in [
            include_str!("programs.toml"),
            include_str!("shell/launchers.toml"),
        ] {
            let mut found = Vec::new();
            lists(&toml::from_str(file).unwrap(), "", &mut found);
            assert!(found.len() > 20);
            for (way, names) in found {
                let mut sorted = names.clone();
                sorted.sort();
                sorted.dedup();
                assert_eq!(names, sorted, "{way}");
            }
        }
        assert!(!super::tables().dangers.is_empty());
    }
}
