//! Files that a session has read and others have changed: reported with a result, or with the next prompt.
//!
//! The tools' memory looks at the files; here that is kept off the actor and put into words for the model.

use std::sync::Arc;

use contract::{ExternalChanges, ToolMemory};
use tokio::sync::Mutex;

use crate::tasks;

/// Access to the file knowledge of one session.
#[derive(Clone)]
pub struct Notes {
    /// What the session's tools remember.
    memory: Arc<dyn ToolMemory>,
    /// Held by whoever looks.
    looking: Arc<Mutex<()>>,
}

impl Notes {
    /// Notes of the files that this memory knows.
    pub fn new(memory: Arc<dyn ToolMemory>) -> Self {
        Self {
            memory,
            looking: Arc::default(),
        }
    }

    /// Files that others have changed since the last report. The calls of one answer share a look: whoever comes while one is
    /// under way waits for its end, and the first reports.
    pub async fn of_others(&self) -> Option<ExternalChanges> {
        let Ok(_looking) = self.looking.try_lock() else {
            drop(self.looking.lock().await);
            return None;
        };
        self.blocking(|notes| notes.described()).await?
    }

    /// The same on a thread that may block.
    pub fn of_others_blocking(&self) -> Option<ExternalChanges> {
        let Ok(_looking) = self.looking.try_lock() else {
            drop(self.looking.blocking_lock());
            return None;
        };
        self.described()
    }

    /// In words for the model. Blocks.
    fn described(&self) -> Option<ExternalChanges> {
        let note = self.memory.describe_external_changes()?;
        let text = note.text.trim_end();
        let (before, after) = match text.contains('\n') {
            true => ("\n", "\n"),
            false => (" ", ""),
        };
        let text = format!("[Changed by somebody else since you read it:{before}{text}{after}]");
        Some(ExternalChanges { text, ..note })
    }

    /// Accepts all changes until now as the session's own. Blocks.
    pub fn absorb_blocking(&self) {
        self.memory.accept_changes();
    }

    /// Looks at files beside the runtime. A look that fails is none.
    async fn blocking<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Option<T> {
        let notes = self.clone();
        tasks::blocking(move || look(&notes)).await.ok()
    }
}

#[cfg(test)]
mod tests;
