//! State that the tools of one session keep between calls, and its background commands.
//!
//! Exists while the session is loaded: after a restart of the daemon, commands start in the session's directory. The
//! session's log also records which files were read (`logged`), so that an edit which was allowed before the daemon
//! died is made. Dropping it stops the commands. The session holds it as `contract::ToolMemory` and passes it to calls
//! in `CallContext::memory`. `changes` reports changes of the files by others.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::{CallContext, ExternalChanges, KnownState, MemorySnapshot, Outcome, ToolMemory};
use knowledge::memory::FactStores;
use proto::CallId;
use proto::record::KnownFile;
use workspace::{FileStamp, Workspace};

use crate::lasting::{self, CommandStart, Environment, PersistentShell};
use crate::shells::Shells;

mod changes;
mod known;
mod logged;

use known::{Content, FileKnowledge};

/// Files that are remembered; the one that was read longest ago is forgotten first.
const READ_MAX: usize = 4096;
/// Calls whose judged place is remembered.
const PINNED_MAX: usize = 256;

/// The session's workspace, the files that were read, and at which state; its commands in the background.
#[derive(Debug)]
pub struct Memory {
    workspace: Arc<Workspace>,
    kept: Mutex<MemoryState>,
    /// Locked while looking for changes.
    looking: Mutex<()>,
    shells: Shells,
    facts: Option<FactStores>,
}

/// State that outlives a memory: which files were read, in which state, and the shell's directory. It excludes the
/// content of files, because many sessions are not loaded.
#[derive(Debug)]
struct Snapshot {
    /// Each as it was read, or as reported since, without its content.
    read: Vec<(PathBuf, FileKnowledge)>,
    shell: PersistentShell,
}

#[derive(Debug, Default)]
struct MemoryState {
    /// Counts up with each use, to know the oldest.
    clock: u64,
    read: HashMap<PathBuf, FileKnowledge>,
    pinned: HashMap<CallId, (u64, Vec<PathBuf>)>,
    shell: PersistentShell,
    /// In which directory a command was judged.
    judged_in: HashMap<CallId, (u64, PathBuf)>,
}

impl Memory {
    /// A memory in which nothing was read yet, of a session that reaches no facts of earlier sessions.
    #[must_use]
    pub fn new(workspace: Arc<Workspace>) -> Arc<Self> {
        Self::build(workspace, None)
    }

    /// As `new`, of a session that reaches these facts.
    #[must_use]
    pub fn with_facts(workspace: Arc<Workspace>, facts: FactStores) -> Arc<Self> {
        Self::build(workspace, Some(facts))
    }

    fn build(workspace: Arc<Workspace>, facts: Option<FactStores>) -> Arc<Self> {
        Arc::new(Self {
            facts,
            workspace,
            kept: Mutex::default(),
            looking: Mutex::default(),
            shells: Shells::default(),
        })
    }

    /// The memory in a context, where the assembly put one.
    pub(crate) fn of(memory: &Arc<dyn ToolMemory>) -> Option<Arc<Self>> {
        let memory: Arc<dyn Any + Send + Sync> = memory.clone();
        memory.downcast().ok()
    }

    /// The files that this session works on.
    #[must_use]
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    /// The memory in a context, for tools that work with background commands.
    ///
    /// # Errors
    /// An outcome if the context has no memory.
    pub(crate) fn with_shells(context: &CallContext) -> Result<Arc<Self>, Outcome> {
        Self::of(&context.memory)
            .ok_or_else(|| Outcome::failed("this session keeps no commands in the background"))
    }

    /// The facts of earlier sessions, where the assembly gave any.
    pub(crate) fn facts(&self) -> Option<&FactStores> {
        self.facts.as_ref()
    }

    /// The session's commands in the background.
    pub(crate) fn shells(&self) -> &Shells {
        &self.shells
    }

    /// Binds a call to the places that were judged and shown for it: if a path of it leads elsewhere when it runs, it is
    /// refused.
    pub fn pin(&self, call: &CallId, places: &[PathBuf]) {
        let mut kept = self.kept();
        let now = kept.tick();
        kept.pinned.insert(call.clone(), (now, places.to_owned()));
        forget_oldest(&mut kept.pinned, PINNED_MAX, |(used, _)| *used);
    }

    /// The places that a call was bound to; they are used once.
    pub(crate) fn unpin(&self, call: &CallId) -> Option<Vec<PathBuf>> {
        self.kept().pinned.remove(call).map(|(_, places)| places)
    }

    /// Where commands start, if not in the session's directory.
    pub(crate) fn shell_cwd(&self) -> Option<PathBuf> {
        let shell = self.kept().shell.clone();
        shell.cwd(&self.workspace).map(Path::to_owned)
    }

    /// The variables that commands get otherwise than the session has them. `None`: unset.
    pub(crate) fn shell_altered(&self) -> BTreeMap<String, Option<String>> {
        self.kept().shell.altered()
    }

    /// Binds a command to the directory that it was judged in.
    pub(crate) fn pin_cwd(&self, call: &CallId, cwd: &Path) {
        let mut kept = self.kept();
        let now = kept.tick();
        kept.judged_in.insert(call.clone(), (now, cwd.to_owned()));
        forget_oldest(&mut kept.judged_in, PINNED_MAX, |(used, _)| *used);
    }

    /// What a command is started with: its directory, if that is not the session's, and its environment; and what became
    /// of a directory that is gone, in words for the model.
    pub(crate) fn shell_start(
        &self,
        call: &CallId,
        base: &Environment,
    ) -> (Option<PathBuf>, Environment, Option<String>) {
        let (shell, judged) = {
            let mut kept = self.kept();
            let judged = kept.judged_in.remove(call).map(|(_, cwd)| cwd);
            (kept.shell.clone(), judged)
        };
        let mut note = None;
        if shell.is_away() && shell.cwd(&self.workspace).is_none() {
            self.kept().shell.reset_cwd();
            note = Some("the working directory is gone; this ran in the session's".to_owned());
        }
        let cwd = judged.or_else(|| shell.cwd(&self.workspace).map(Path::to_owned));
        (cwd, shell.env(base), note)
    }

    /// Applies the shell state that a command left. Returns the changes that were not applied, as text for the model.
    pub(crate) fn shell_ended(
        &self,
        base: &Environment,
        start: &CommandStart,
        end: &lasting::ShellEnd,
    ) -> Vec<String> {
        let mut kept = self.kept();
        kept.shell.take(&self.workspace, base, start, end)
    }

    /// Whether what a command has left would change anything for the next.
    pub(crate) fn shell_would_change(
        &self,
        base: &Environment,
        start: &CommandStart,
        end: &lasting::ShellEnd,
    ) -> bool {
        let before = self.kept().shell.clone();
        let mut after = before.clone();
        let notes = after.take(&self.workspace, base, start, end);
        after != before || !notes.is_empty()
    }

    /// The state at which a file's content was last known. `None`: it was not read.
    pub(crate) fn known(&self, path: &Path) -> Option<FileStamp> {
        let kept = self.kept();
        let known = kept.read.get(path).filter(|known| !known.partial);
        known.map(|known| known.stamp)
    }

    /// Notes that the content of a file is known in this state; returns the record for the log. Blocks: reads and keeps
    /// short content, to show later changes by others.
    pub(crate) fn know(&self, path: &Path, stamp: FileStamp) -> Option<KnownFile> {
        self.keep(path, stamp, self.content(path, &stamp));
        logged::logged(path, &stamp)
    }

    /// As `know`, by whoever holds all the bytes that the stamp is of: the file is not read again for them.
    pub(crate) fn know_content(
        &self,
        path: &Path,
        stamp: FileStamp,
        bytes: &[u8],
    ) -> Option<KnownFile> {
        let short = bytes.len() as u64 <= known::CONTENT_MAX;
        self.keep(path, stamp, short.then(|| bytes.into()));
        logged::logged(path, &stamp)
    }

    fn keep(&self, path: &Path, stamp: FileStamp, content: Option<Content>) {
        let mut kept = self.kept();
        let used = kept.tick();
        kept.read
            .insert(path.to_owned(), FileKnowledge::new(used, stamp, content));
        forget_oldest(&mut kept.read, READ_MAX, |known| known.used);
        known::forget_contents(&mut kept.read);
    }

    /// The content of a file, if it is short and the file still has this state.
    fn content(&self, path: &Path, stamp: &FileStamp) -> Option<Content> {
        let content = self.read_short(path, stamp.size)?;
        content
            .stamp
            .same_content(stamp)
            .then(|| content.bytes.into())
    }

    fn kept(&self) -> MutexGuard<'_, MemoryState> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolMemory for Memory {
    /// The known files and the shell state. Call bindings are left out, because no call runs.
    fn snapshot(&self) -> Option<MemorySnapshot> {
        let kept = self.kept();
        let read = kept.read.iter();
        Some(Box::new(Snapshot {
            read: read
                .map(|(path, known)| (path.clone(), known.without_content()))
                .collect(),
            shell: kept.shell.clone(),
        }))
    }

    /// Files changed in the meantime are detected by their stamps.
    fn restore(&self, snapshot: MemorySnapshot) {
        let Ok(snapshot) = snapshot.downcast::<Snapshot>() else {
            return;
        };
        let Snapshot { read, shell } = *snapshot;
        let mut kept = self.kept();
        // What the log says of them is older. It has the contents of some.
        let mut logged = std::mem::take(&mut kept.read);
        let newest = read.iter().map(|(_, known)| known.used).max();
        kept.clock = kept.clock.max(newest.unwrap_or(0));
        kept.shell = shell;
        for (path, known) in read {
            let logged = logged.remove(&path);
            let logged = logged.filter(|logged| logged.stamp.same_content(&known.stamp));
            let content = logged.and_then(|logged| logged.content);
            let known = FileKnowledge { content, ..known };
            kept.read.insert(path, known);
        }
    }

    fn note_known_files(&self, files: &[KnownState]) {
        self.note_logged(files);
    }

    fn replace_known_files(&self, files: &[KnownState]) {
        let is_known = |path: &Path| {
            let mut files = files.iter();
            files.any(|known| Path::new(&known.file.path) == path)
        };
        self.kept().read.retain(|path, _| is_known(path));
        self.note_logged(files);
    }

    fn knows(&self, path: &str) -> bool {
        self.kept().read.contains_key(Path::new(path))
    }

    fn forget_files(&self, paths: &[String]) {
        let mut kept = self.kept();
        for path in paths {
            kept.read.remove(Path::new(path));
        }
    }

    fn forget_reports(&self, files: &[KnownState]) {
        self.forget_folded_reports(files);
    }

    fn read_missing_contents(&self) {
        self.read_missing_contents();
    }

    fn describe_external_changes(&self) -> Option<ExternalChanges> {
        self.report_changes()
    }

    fn has_external_changes(&self) -> bool {
        self.has_changed_files()
    }

    fn accept_changes(&self) {
        self.look(changes::ChangedBy::Itself);
    }
}

impl MemoryState {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }
}

fn forget_oldest<K: Clone + Eq + std::hash::Hash, V>(
    map: &mut HashMap<K, V>,
    max: usize,
    used: impl Fn(&V) -> u64,
) {
    if map.len() > max {
        let oldest = map
            .iter()
            .min_by_key(|(_, value)| used(value))
            .map(|(key, _)| key.clone());
        if let Some(oldest) = oldest {
            map.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests;
