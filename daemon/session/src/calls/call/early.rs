//! A call that was done while it was judged.

use std::fmt;
use std::sync::Arc;

use contract::{Outcome, ToolMemory};

/// Its result, until the session starts the call. If it never does, the session's tools do not know the files that were read:
/// the model has not seen them.
pub struct EarlyResult {
    /// `None`: taken.
    outcome: Option<Outcome>,
    duration_ms: u64,
    memory: Arc<dyn ToolMemory>,
}

impl EarlyResult {
    pub fn new(outcome: Outcome, duration_ms: u64, memory: Arc<dyn ToolMemory>) -> Self {
        Self {
            outcome: Some(outcome),
            duration_ms,
            memory,
        }
    }

    pub fn has_images(&self) -> bool {
        let outcome = self.outcome.as_ref();
        outcome.is_some_and(|outcome| !outcome.images.is_empty())
    }

    /// The call starts: its outcome, and how long it took in milliseconds.
    pub fn take(mut self: Box<Self>) -> (Outcome, u64) {
        let outcome = self.outcome.take();
        let taken = outcome.unwrap_or_else(|| Outcome::failed("the result was used before"));
        (taken, self.duration_ms)
    }
}

impl Drop for EarlyResult {
    fn drop(&mut self) {
        let known = self.outcome.iter().flat_map(|outcome| &outcome.known);
        let paths: Vec<_> = known.map(|file| file.path.clone()).collect();
        if !paths.is_empty() {
            self.memory.forget_files(&paths);
        }
    }
}

impl fmt::Debug for EarlyResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DoneEarly")
            .field("outcome", &self.outcome)
            .field("duration_ms", &self.duration_ms)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use proto::item::CallStatus;
    use proto::record::KnownFile;

    use super::*;

    /// The paths that it was asked to forget.
    #[derive(Default)]
    struct Forgetting(Mutex<Vec<String>>);

    impl ToolMemory for Forgetting {
        fn forget_files(&self, paths: &[String]) {
            self.0.lock().unwrap().extend(paths.iter().cloned());
        }
    }

    fn read(memory: &Arc<Forgetting>) -> Box<EarlyResult> {
        let outcome = Outcome {
            known: vec![KnownFile {
                path: "/project/a".to_owned(),
                sha256: "0".repeat(64),
                bytes: 1,
                modified_ns: 0,
                inode: 0,
                partial: false,
            }],
            ..Outcome::with_status(CallStatus::Ok, "text")
        };
        let memory: Arc<dyn ToolMemory> = memory.clone();
        Box::new(EarlyResult::new(outcome, 3, memory))
    }

    #[test]
    fn a_file_whose_text_nobody_gets_is_not_known() {
        let memory = Arc::new(Forgetting::default());
        drop(read(&memory));
        assert_eq!(*memory.0.lock().unwrap(), ["/project/a"]);
    }

    #[test]
    fn a_file_whose_text_is_used_stays_known() {
        let memory = Arc::new(Forgetting::default());
        let (outcome, duration_ms) = read(&memory).take();
        assert_eq!((outcome.text.as_str(), duration_ms), ("text", 3));
        assert!(memory.0.lock().unwrap().is_empty());
    }
}
