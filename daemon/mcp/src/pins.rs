//! The definitions of tools that were approved: `<home>/mcp/approved.json`, tool → hash.
//!
//! A tool whose definition is another than the one that ran before is asked about, whatever rules say (I30).

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The file.
const FILE: &str = "approved.json";

/// What was approved.
#[derive(Debug)]
pub struct ApprovedDefinitions {
    dir: PathBuf,
    known: Mutex<BTreeMap<String, String>>,
}

impl ApprovedDefinitions {
    /// Reads the file. One that is damaged counts as empty: every tool is then asked about as one that is new.
    #[must_use]
    pub fn open(dir: PathBuf) -> Self {
        let text = fs::read(dir.join(FILE)).unwrap_or_default();
        let known = serde_json::from_slice(&text).unwrap_or_default();
        Self {
            dir,
            known: Mutex::new(known),
        }
    }

    /// Whether another definition of this tool was approved than this one.
    #[must_use]
    pub fn is_other(&self, key: &str, hash: &str) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(key).is_some_and(|approved| approved != hash)
    }

    /// This definition was approved: a call of it runs.
    pub fn approve(&self, key: &str, hash: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.get(key).is_some_and(|approved| approved == hash) {
            return;
        }
        known.insert(key.to_owned(), hash.to_owned());
        let written = serde_json::to_vec_pretty(&*known)
            .map_err(std::io::Error::from)
            .and_then(|text| crate::disk::write_private(&self.dir, FILE, &text));
        if let Err(error) = written {
            tracing::warn!(%error, "an approved definition of an MCP tool is not kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_other_only_after_one_was_approved_and_that_outlives_the_daemon() {
        let dir = tempfile::tempdir().unwrap();
        let approved = ApprovedDefinitions::open(dir.path().to_path_buf());
        assert!(!approved.is_other("t", "1"));
        approved.approve("t", "1");
        assert!(!approved.is_other("t", "1") && approved.is_other("t", "2"));
        let again = ApprovedDefinitions::open(dir.path().to_path_buf());
        assert!(again.is_other("t", "2"));
        again.approve("t", "2");
        assert!(!again.is_other("t", "2") && again.is_other("t", "1"));
    }
}
