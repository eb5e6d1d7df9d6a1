//! The definitions of tools that were approved: `<home>/mcp/approved.json`, tool → hash, and `<home>/mcp/definitions.json`, what
//! is shown of one that has changed since.
//!
//! A tool whose definition is another than the one that ran before is asked about, whatever rules say (I30).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::definition::ApprovedDefinition;

/// The file of hashes.
const FILE: &str = "approved.json";
/// The file of definitions. Only texts are lost with it.
const DEFINITIONS: &str = "definitions.json";

/// What was approved.
#[derive(Debug)]
pub struct ApprovedDefinitions {
    dir: PathBuf,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    hashes: BTreeMap<String, String>,
    definitions: BTreeMap<String, ApprovedDefinition>,
}

impl ApprovedDefinitions {
    /// Reads the files. One that is damaged counts as empty: every tool is then asked about as one that is new.
    #[must_use]
    pub fn open(dir: PathBuf) -> Self {
        let known = Mutex::new(Known {
            hashes: read(&dir, FILE),
            definitions: read(&dir, DEFINITIONS),
        });
        Self { dir, known }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether another definition of this tool was approved than this one.
    #[must_use]
    pub fn is_other(&self, key: &str, hash: &str) -> bool {
        let known = self.lock();
        let approved = known.hashes.get(key);
        approved.is_some_and(|approved| approved != hash)
    }

    /// The definition of this tool that was approved, as far as it is kept.
    #[must_use]
    pub fn kept(&self, key: &str) -> Option<ApprovedDefinition> {
        let known = self.lock();
        let kept = known.definitions.get(key)?;
        (known.hashes.get(key) == Some(&kept.hash)).then(|| kept.clone())
    }

    /// This definition was approved: a call of it runs.
    pub fn approve(&self, key: &str, definition: ApprovedDefinition) {
        let mut known = self.lock();
        let hash = known.hashes.get(key);
        if hash != Some(&definition.hash) {
            let hash = definition.hash.clone();
            known.hashes.insert(key.to_owned(), hash);
            self.write(FILE, &known.hashes);
        }
        if known.definitions.get(key) != Some(&definition) {
            known.definitions.insert(key.to_owned(), definition);
            self.write(DEFINITIONS, &known.definitions);
        }
    }

    fn write(&self, file: &str, content: &impl Serialize) {
        let written = serde_json::to_vec_pretty(content)
            .map_err(std::io::Error::from)
            .and_then(|text| crate::disk::write_private(&self.dir, file, &text));
        if let Err(error) = written {
            tracing::warn!(%error, "an approved definition of an MCP tool is not kept");
        }
    }
}

fn read<T: Default + DeserializeOwned>(dir: &Path, file: &str) -> T {
    let text = fs::read(dir.join(file)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_other_only_after_one_was_approved_and_that_outlives_the_daemon() {
        let dir = tempfile::tempdir().unwrap();
        let definition = |hash: &str| ApprovedDefinition {
            hash: hash.to_owned(),
            description: format!("number {hash}"),
            schema: String::new(),
        };
        let approved = ApprovedDefinitions::open(dir.path().to_path_buf());
        assert!(!approved.is_other("t", "1"));
        approved.approve("t", definition("1"));
        assert!(!approved.is_other("t", "1") && approved.is_other("t", "2"));
        let again = ApprovedDefinitions::open(dir.path().to_path_buf());
        assert!(again.is_other("t", "2"));
        assert_eq!(again.kept("t"), Some(definition("1")));
        again.approve("t", definition("2"));
        assert!(!again.is_other("t", "2") && again.is_other("t", "1"));
        // An earlier version kept hashes only, and writes no definitions.
        fs::write(dir.path().join(FILE), r#"{"t": "3"}"#).unwrap();
        let other = ApprovedDefinitions::open(dir.path().to_path_buf());
        assert!(other.is_other("t", "2"));
        assert_eq!(other.kept("t"), None);
    }
}
