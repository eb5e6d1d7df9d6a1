//! The entries of providers: which of them count, and what is said of the others.

use std::path::Path;

use proto::near::nearest;
use toml_edit::{Item, Table};

use super::{File, Layer, SettingsReader, place};
use crate::settings::near::{hint, shown};
use crate::settings::providers::{self, FIELDS, ProviderEntry};
use crate::settings::schema::KEYS;
use crate::settings::{project, read, shipped};

impl SettingsReader {
    pub(super) fn take_providers(&mut self, file: &File, item: &Item, trusted: bool) {
        if file.layer == Layer::Project && !trusted {
            return;
        }
        let Some(entries) = item.as_array_of_tables() else {
            let place = place(file, item);
            let problem = format!("{place}: `providers` must be written as `[[providers]]`");
            self.lose(true, problem);
            return;
        };
        for table in entries {
            self.take_provider(file, table);
        }
    }

    fn take_provider(&mut self, file: &File, table: &Table) {
        let line = table
            .span()
            .map_or(1, |span| read::line_of(&file.text, span.start));
        let (mut entry, wrong) = match providers::read(&project::flat(table)) {
            Ok(read) => read,
            Err(error) => {
                for problem in wrong_entry(file, table, line, &error) {
                    self.lose(true, problem);
                }
                return;
            }
        };
        for (key, why) in wrong {
            let place = place_of(file, table, key);
            let name = shown(&entry.name);
            self.problems.push(format!(
                "{place}: `{key}` of the provider `{name}` is ignored: {why}"
            ));
        }
        if !is_kind(&entry.kind) {
            let place = place_of(file, table, "kind");
            self.problems.push(format!(
                "{place}: `kind` of the provider `{}` must be one of {}; it cannot be used",
                shown(&entry.name),
                kinds().join(", ")
            ));
        }
        entry.origin = file.path.display().to_string();
        entry.line = line;
        match self.refusal(file, &entry) {
            Some(why) => {
                let place = file.path.display();
                self.problems.push(format!("{place}:{line}: {why}"));
            }
            None => self.providers.push(entry),
        }
    }

    /// Why an entry does not count, if it does not.
    fn refusal(&self, file: &File, entry: &ProviderEntry) -> Option<String> {
        // By name: a project's entry is added to the user's, and never takes one's place.
        // The same name in a project would redirect the user's provider.
        if self.providers.iter().any(|known| known.name == entry.name) {
            return Some(format!(
                "the provider `{}` is already defined; this one is ignored",
                entry.name
            ));
        }
        let is_project = file.layer == Layer::Project;
        let why = is_project.then(|| self.redirects(entry)).flatten()?;
        Some(format!("{why}; this provider is ignored"))
    }

    /// Why a project's provider would get what is meant for another one of the user's, if it would (I29). Trust in
    /// the project does not change that.
    fn redirects(&self, entry: &ProviderEntry) -> Option<String> {
        let shipped = shipped::all();
        if shipped.iter().any(|known| known.name == entry.name) {
            return Some(format!(
                "the provider `{}` is built in, and a project cannot replace it",
                shown(&entry.name)
            ));
        }
        let own = self.providers.iter();
        let own = own.filter(|known| !self.is_projects(known));
        let variable = entry.api_key_env.as_deref()?;
        let owner = own
            .chain(&shipped)
            .find(|known| known.api_key_env.as_deref() == Some(variable))?;
        Some(format!(
            "`{}` holds the key of your provider `{}`, which a project's provider cannot use",
            shown(variable),
            shown(&owner.name)
        ))
    }

    fn is_projects(&self, entry: &ProviderEntry) -> bool {
        Path::new(&entry.origin)
            .file_name()
            .is_some_and(|name| name == "reasonix.toml")
    }
}

/// The problems of an entry: each key that it cannot have, with its line; else the wrong value.
fn wrong_entry(file: &File, table: &Table, line: usize, error: &toml::de::Error) -> Vec<String> {
    let unknown = table
        .iter()
        .filter(|(name, _)| FIELDS.iter().all(|(known, _)| known != name));
    let unknown: Vec<_> = unknown
        .map(|(name, item)| {
            let known = FIELDS.iter().map(|(known, _)| *known);
            let hint = match is_setting(name) {
                // In TOML keys below a table header belong to the table.
                true => "; put settings above the first `[[providers]]`".to_owned(),
                false => hint(&nearest(name, known)),
            };
            format!(
                "{}: a provider has no key `{}`{hint}; this provider is ignored",
                place(file, item),
                shown(name),
            )
        })
        .collect();
    if !unknown.is_empty() {
        return unknown;
    }
    let known: Vec<_> = FIELDS.iter().map(|(name, _)| *name).collect();
    vec![format!(
        "{}:{line}: this provider is ignored: {} (it may have {})",
        file.path.display(),
        error.message(),
        known.join(", ")
    )]
}

/// Whether there is a setting, or a table of settings, of this name.
fn is_setting(name: &str) -> bool {
    KEYS.iter().any(|key| {
        let rest = key.name.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// The kinds of providers that there are.
pub(in crate::settings) fn kinds() -> Vec<&'static str> {
    ::providers::KINDS
        .iter()
        .copied()
        .chain(["replay"])
        .collect()
}

/// Whether there is a kind of providers of this name.
#[must_use]
pub fn is_kind(kind: &str) -> bool {
    kinds().contains(&kind)
}

/// The place of a key of an entry, if it is there; else that of the file.
fn place_of(file: &File, table: &Table, key: &str) -> String {
    let place = table.get(key).map(|item| place(file, item));
    place.unwrap_or_else(|| file.path.display().to_string())
}
