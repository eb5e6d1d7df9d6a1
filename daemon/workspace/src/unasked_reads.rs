//! What rules deny to read, for files that the daemon reads by itself.
//!
//! The session sets the patterns when its rules change, which must not wait for a disk; they are compiled when a file is
//! read.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::deny_read::DenyRead;

/// The patterns, and what they are compiled to.
#[derive(Debug, Default)]
pub(crate) struct UnaskedReads {
    kept: Mutex<Kept>,
}

#[derive(Clone, Debug, Default)]
struct Kept {
    patterns: Vec<String>,
    /// `None`: not compiled yet.
    compiled: Option<Arc<DenyRead>>,
}

impl UnaskedReads {
    /// Replaces the patterns.
    pub fn close(&self, patterns: &[String]) {
        let mut kept = self.kept();
        if kept.patterns != patterns {
            *kept = Kept {
                patterns: patterns.to_vec(),
                compiled: None,
            };
        }
    }

    /// The pattern that matches a resolved path.
    pub fn denied(
        &self,
        path: &Path,
        compile: impl FnOnce(&[String]) -> DenyRead,
    ) -> Option<String> {
        let Kept { patterns, compiled } = self.kept().clone();
        if patterns.is_empty() {
            return None;
        }
        let compiled = compiled.unwrap_or_else(|| {
            // Without the lock: links of the patterns are followed on the disk.
            let compiled = Arc::new(compile(&patterns));
            let mut kept = self.kept();
            if kept.patterns == patterns {
                kept.compiled = Some(Arc::clone(&compiled));
            }
            compiled
        });
        let (pattern, _) = compiled.texts().get(compiled.at(path)?)?;
        Some(pattern.clone())
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
