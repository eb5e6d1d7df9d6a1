//! The facts of the user and of one project, on disk. Blocks.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use proto::Stamp;
use proto::params::memory::FactScope;
use store::DiskError;
use store::fact_files::{FACTS_MAX, FactFiles};

use super::fact::{self, Fact, FactDraft, InvalidFact};
use super::index;

/// A fact, and where it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedFact {
    pub scope: FactScope,
    pub fact: Fact,
}

/// An archived version of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedFact {
    pub saved: SavedFact,
    pub version: u64,
}

/// All facts that were read, and what was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedFacts {
    /// Sorted by scope and name.
    pub facts: Vec<SavedFact>,
    /// In sentences.
    pub problems: Vec<String>,
}

impl LoadedFacts {
    /// Their lines in a prefix on this day.
    #[must_use]
    pub fn index_lines(&self, now: Stamp) -> Vec<String> {
        index::index_lines(&self.facts, &fact::day(now))
    }
}

/// Why nothing was saved, forgotten or restored.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error(transparent)]
    Invalid(#[from] InvalidFact),
    #[error("There is no fact `{0}`.")]
    NotFound(String),
    #[error("There is no archived version of `{0}`.")]
    NotArchived(String),
    #[error("`{0}` is not another fact, so it supersedes nothing.")]
    NotSuperseding(String),
    #[error("There is already a fact `{0}`.")]
    Exists(String),
    #[error("The file of `{name}` cannot be used: {reason}.")]
    Unusable { name: String, reason: String },
    #[error("The fact cannot be saved: {0}.")]
    Disk(String),
}

impl From<DiskError> for MemoryError {
    fn from(error: DiskError) -> Self {
        Self::Disk(store::reason(&error))
    }
}

/// The facts that a session reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactStores {
    user: FactFiles,
    project: FactFiles,
}

impl FactStores {
    /// The facts in the user's directory and in the project's.
    #[must_use]
    pub fn new(user: PathBuf, project: PathBuf) -> Self {
        Self {
            user: FactFiles::new(user),
            project: FactFiles::new(project),
        }
    }

    fn files(&self, scope: FactScope) -> &FactFiles {
        match scope {
            FactScope::User => &self.user,
            FactScope::Project => &self.project,
        }
    }

    /// The file of a fact.
    #[must_use]
    pub fn path(&self, saved: &SavedFact) -> PathBuf {
        self.files(saved.scope).path(&saved.fact.name)
    }

    /// The file of an archived version.
    #[must_use]
    pub fn archived_path(&self, archived: &ArchivedFact) -> PathBuf {
        let ArchivedFact { saved, version } = archived;
        self.files(saved.scope)
            .archived_path(&saved.fact.name, *version)
    }

    /// Reads all active facts. A file that cannot be used is left out, and is a problem.
    #[must_use]
    pub fn load(&self) -> LoadedFacts {
        let mut loaded = LoadedFacts::default();
        for scope in [FactScope::User, FactScope::Project] {
            let files = self.files(scope);
            let names = files.names().unwrap_or_else(|error| {
                let reason = store::reason(&error);
                loaded
                    .problems
                    .push(format!("Facts cannot be read: {reason}."));
                Default::default()
            });
            for name in &names.names {
                let path = files.path(name);
                match self.read_active(scope, name) {
                    Ok(Some(fact)) => loaded.facts.push(SavedFact { scope, fact }),
                    // It was there a moment ago.
                    Ok(None) => {}
                    Err((line, reason)) => loaded.problems.push(problem(&path, line, &reason)),
                }
            }
            if names.more {
                let reason = format!("more than {FACTS_MAX} facts are not looked at");
                let directory = files.path("*");
                loaded.problems.push(problem(&directory, None, &reason));
            }
        }
        self.leave_out_doubles(&mut loaded);
        self.check_superseded(&mut loaded);
        loaded
    }

    /// A name is one fact: the project's, where both stores have one.
    fn leave_out_doubles(&self, loaded: &mut LoadedFacts) {
        let of_project = loaded
            .facts
            .iter()
            .filter(|saved| saved.scope == FactScope::Project);
        let names: HashSet<String> = of_project.map(|saved| saved.fact.name.clone()).collect();
        let is_double =
            |saved: &SavedFact| saved.scope == FactScope::User && names.contains(&saved.fact.name);
        for saved in loaded.facts.extract_if(.., |saved| is_double(saved)) {
            let reason = "the project has a fact of this name, which counts";
            loaded
                .problems
                .push(problem(&self.path(&saved), None, reason));
        }
    }

    /// A fact that nothing supersedes counts, whatever its file says.
    fn check_superseded(&self, loaded: &mut LoadedFacts) {
        let others = loaded.facts.iter().map(|saved| {
            let fact = &saved.fact;
            (fact.name.clone(), fact.superseded_by.clone())
        });
        let others: HashMap<String, Option<String>> = others.collect();
        for saved in &mut loaded.facts {
            let Some(reason) = unsuperseded(&saved.fact, &others) else {
                continue;
            };
            let files = self.files(saved.scope);
            let line = files.read(&saved.fact.name).ok().flatten();
            let line = line.and_then(|text| line_of(&text, "superseded_by:"));
            let place = place(&files.path(&saved.fact.name), line);
            let problem = format!("`{place}`: {reason}, so the fact counts.");
            loaded.problems.push(problem);
            saved.fact.superseded_by = None;
        }
    }

    /// The fact of this name in a store. One whose type belongs in the other store cannot be used.
    fn read_active(
        &self,
        scope: FactScope,
        name: &str,
    ) -> Result<Option<Fact>, (Option<u64>, String)> {
        let text = self.files(scope).read(name);
        let text = text.map_err(|error| (None, error.to_string()))?;
        let Some(text) = text else { return Ok(None) };
        let fact = read(Ok(Some(text.clone())), name)?;
        let belongs = |fact: &Fact| fact.fact_type.scope();
        match fact {
            Some(fact) if belongs(&fact) != scope && says_type(&text).is_some() => {
                let directory = self.files(belongs(&fact)).path("*");
                let directory = directory.parent().unwrap_or(&directory).display();
                let type_name = fact.fact_type.as_str();
                let reason = format!("facts of the type `{type_name}` belong in `{directory}`");
                Err((says_type(&text), reason))
            }
            fact => Ok(fact),
        }
    }

    /// Reads all archived versions that can be read.
    ///
    /// # Errors
    /// A directory cannot be read.
    pub fn archived(&self) -> Result<Vec<ArchivedFact>, MemoryError> {
        let mut found = Vec::new();
        for scope in [FactScope::User, FactScope::Project] {
            let files = self.files(scope);
            for (name, version) in files.archived()? {
                // Of what cannot be read there is nothing to show.
                if let Ok(Some(fact)) = read(files.read_archived(&name, version), &name) {
                    let saved = SavedFact { scope, fact };
                    found.push(ArchivedFact { saved, version });
                }
            }
        }
        Ok(found)
    }

    /// The active fact of this name; the project's, where both have one.
    ///
    /// # Errors
    /// There is none, or its file cannot be used.
    pub fn find(&self, name: &str) -> Result<SavedFact, MemoryError> {
        let name = name.trim().to_ascii_lowercase();
        self.find_any(&name)?.ok_or(MemoryError::NotFound(name))
    }

    fn find_any(&self, name: &str) -> Result<Option<SavedFact>, MemoryError> {
        fact::check_name(name)?;
        for scope in [FactScope::Project, FactScope::User] {
            match self.read_active(scope, name) {
                Ok(Some(fact)) => return Ok(Some(SavedFact { scope, fact })),
                Ok(None) => {}
                Err((_, reason)) => {
                    let name = name.to_owned();
                    return Err(MemoryError::Unusable { name, reason });
                }
            }
        }
        Ok(None)
    }

    /// The fact that a draft becomes, and the one that it replaces. Changes nothing.
    ///
    /// # Errors
    /// The draft is not valid.
    pub fn plan(
        &self,
        draft: FactDraft,
        now: Stamp,
    ) -> Result<(SavedFact, Option<SavedFact>), MemoryError> {
        let name = draft.name.trim().to_ascii_lowercase();
        let before = match self.find_any(&name) {
            Ok(before) => before,
            // It is moved to the archive as it is.
            Err(MemoryError::Unusable { .. }) => None,
            Err(error) => return Err(error),
        };
        let scope = draft.fact_type.scope();
        let fact = draft.into_fact(now, before.as_ref().map(|before| &before.fact))?;
        if let Some(other) = &fact.superseded_by {
            let is_itself = *other == fact.name;
            if is_itself || self.find_any(other)?.is_none() {
                return Err(MemoryError::NotSuperseding(other.clone()));
            }
        }
        Ok((SavedFact { scope, fact }, before))
    }

    /// Saves a fact in the store of its type. What it was before goes to the archive, also from the other store.
    ///
    /// # Errors
    /// The draft is not valid, or the disk refuses.
    pub fn save(&self, draft: FactDraft, now: Stamp) -> Result<SavedFact, MemoryError> {
        let (saved, before) = self.plan(draft, now)?;
        let name = &saved.fact.name;
        self.files(saved.scope).write(name, &saved.fact.render())?;
        if let Some(before) = before.filter(|before| before.scope != saved.scope) {
            self.files(before.scope).forget(name)?;
        }
        Ok(saved)
    }

    /// Moves a fact to the archive.
    ///
    /// # Errors
    /// There is none, or the disk refuses.
    pub fn forget(&self, name: &str) -> Result<SavedFact, MemoryError> {
        let saved = self.find(name)?;
        match self.files(saved.scope).forget(&saved.fact.name)? {
            true => Ok(saved),
            false => Err(MemoryError::NotFound(saved.fact.name)),
        }
    }

    /// Makes an archived version active again; the newest, if none is named.
    ///
    /// # Errors
    /// There is none, or the disk refuses.
    pub fn restore(&self, name: &str, version: Option<u64>) -> Result<SavedFact, MemoryError> {
        let name = name.trim().to_ascii_lowercase();
        fact::check_name(&name)?;
        let wanted = |archived: &ArchivedFact| {
            archived.saved.fact.name == name && version.is_none_or(|it| it == archived.version)
        };
        let mut found: Vec<_> = self.archived()?.into_iter().filter(wanted).collect();
        // Of both stores the one that was archived last is not known: the project's is nearer.
        found.sort_by_key(|archived| (archived.saved.scope, archived.version));
        let ArchivedFact { saved, version } = found.pop().ok_or(MemoryError::NotArchived(name))?;
        let files = self.files(saved.scope);
        // As it is in the file: it may say more than a fact has.
        let text = files
            .read_archived(&saved.fact.name, version)
            .ok()
            .flatten();
        let text = text.unwrap_or_else(|| saved.fact.render());
        files.restore(&saved.fact.name, version, &text)?;
        Ok(saved)
    }
}

/// Why what a fact says of its successor is wrong. `None`: it is not, or it names none.
fn unsuperseded(fact: &Fact, others: &HashMap<String, Option<String>>) -> Option<String> {
    let first = fact.superseded_by.as_ref()?;
    let mut next = first;
    // Each step leads to another fact, unless they lead in a circle.
    for _ in 0..others.len() {
        match others.get(next) {
            None if next == first => return Some(format!("there is no fact `{first}`")),
            None | Some(None) => return None,
            Some(Some(_)) if *next == fact.name => break,
            Some(Some(successor)) => next = successor,
        }
    }
    Some("`superseded_by` leads back to it".to_owned())
}

/// The line that says of which type a fact is, from 1.
fn says_type(text: &str) -> Option<u64> {
    line_of(text, "type:")
}

/// The line that starts so, from 1.
fn line_of(text: &str, start: &str) -> Option<u64> {
    let line = text.lines().position(|line| line.starts_with(start));
    line.map(|line| line as u64 + 1)
}

/// A file as a fact. The error has the line, where one is wrong.
fn read(
    read: Result<Option<String>, store::fact_files::FactFileError>,
    name: &str,
) -> Result<Option<Fact>, (Option<u64>, String)> {
    let text = read.map_err(|error| (None, error.to_string()))?;
    let parsed = text.map(|text| Fact::parse(name, &text)).transpose();
    parsed.map_err(|malformed| (Some(malformed.line), malformed.reason))
}

fn problem(path: &Path, line: Option<u64>, reason: &str) -> String {
    format!("`{}` is left out: {reason}.", place(path, line))
}

/// A file, and a line of it.
fn place(path: &Path, line: Option<u64>) -> String {
    let name = path.to_string_lossy();
    let name = name.replace(|letter: char| letter.is_control(), "_");
    line.map_or(name.clone(), |line| format!("{name}:{line}"))
}

#[cfg(test)]
mod tests;
