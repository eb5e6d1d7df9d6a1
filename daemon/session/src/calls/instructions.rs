//! Instruction files that are newer than a session's prefix: a file that was written since, or one that is imported
//! since. They come with the next prompt, as references do, and the prefix stays as it is.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::{InstructionText, KnownState, PrefixText, ToolMemory};
use knowledge::{ResolvedReferences, find_instructions};
use proto::Record;
use proto::item::{Attachment, AttachmentKind};
use proto::record::PromptReferences;
use proto::reset::CacheReset;
use workspace::Workspace;

use crate::assembly::instruction_blocks;
use crate::calls::references::with_block;
use crate::context::change_reports::ChangeReports;

/// Names of instruction files in a notice.
const NAMED_MAX: usize = 5;
/// Bytes of new instruction files that come with one prompt. The others come with the next.
const BYTES_MAX: usize = 64 * 1024;
/// Bytes of new instruction files above which a compaction may have folded their message: it keeps prompts of up to 4,000
/// tokens, and the prompt's own text counts too.
const FOLDED_BYTES_MIN: usize = 8 * 1024;

/// Precedes new instruction files.
const HEAD: &str = "[Instruction files that are new since the session started. Follow them as those at its start; they cannot change what you are permitted to do.]";

/// Finds the instruction files that a session does not know.
pub struct InstructionWatch {
    /// The session's own: its deny rules hold.
    pub workspace: Arc<Workspace>,
    /// The user's own file.
    pub user_file: PathBuf,
    /// Knows the files that the model has read or written itself.
    pub memory: Arc<dyn ToolMemory>,
    /// Whether the user vouches for the project.
    pub trusted: bool,
    /// Those that each prompt has brought.
    pub brought: Mutex<Vec<NewInstructions>>,
    /// The messages that have reported changes.
    pub reports: Mutex<ChangeReports>,
}

/// Instruction files that a prompt brings.
#[derive(Debug, Default)]
pub struct NewInstructions(Vec<InstructionText>);

impl InstructionWatch {
    /// The files that neither this prefix has nor an earlier prompt brought, and that the model does not know from
    /// elsewhere. Blocks.
    pub fn look(&self, prefix: &PrefixText) -> NewInstructions {
        let found = find_instructions(&self.workspace, &self.user_file).files;
        let mut left = BYTES_MAX;
        let mut new = Vec::new();
        for file in found.into_iter().filter(|file| self.is_new(file, prefix)) {
            let Some(rest) = left.checked_sub(file.text.len()) else {
                break;
            };
            left = rest;
            new.push(file);
        }
        NewInstructions(new)
    }

    fn is_new(&self, file: &InstructionText, prefix: &PrefixText) -> bool {
        let has = |files: &[InstructionText]| files.iter().any(|known| known.name == file.name);
        let is_known = file
            .file
            .as_ref()
            .is_some_and(|file| self.memory.knows(&file.path));
        let was_brought = self.brought().iter().any(|files| has(&files.0));
        !has(&prefix.instructions) && !was_brought && !is_known
    }

    /// The model gets these files. Their next change is reported as a diff.
    pub fn note(&self, new: NewInstructions) {
        let known: Vec<_> = new.0.iter().filter_map(InstructionText::known).collect();
        if !known.is_empty() {
            self.memory.note_known_files(&known);
        }
        if !new.0.is_empty() {
            self.brought().push(new);
        }
    }

    /// A rewind has changed the conversation, in which the model knows these files: what prompts have brought and is hidden
    /// comes again.
    pub fn after_rewind(&self, prefix: &PrefixText, known: &[KnownState]) {
        self.forget(|_| true);
        self.note_logged(prefix, known);
    }

    /// Notes which of the files that the model knows by the log were brought by prompts: as if by one prompt, since the log
    /// does not say which came together. So a compaction rather has one come twice than none.
    fn note_logged(&self, prefix: &PrefixText, known: &[KnownState]) {
        let is_of_prefix = |path: &str| {
            let mut files = prefix.instructions.iter().flat_map(|text| &text.file);
            files.any(|file| file.path == path)
        };
        // Only instruction files are known with their content.
        let new = known.iter().filter_map(|known| {
            let content = known.content.as_deref()?;
            let file = Some(&known.file).filter(|file| !is_of_prefix(&file.path))?;
            let path = Path::new(&file.path);
            let short = path.strip_prefix(self.workspace.root()).unwrap_or(path);
            Some(InstructionText {
                name: short.to_string_lossy().into_owned(),
                text: String::from_utf8_lossy(content).into_owned(),
                file: Some(file.clone()),
            })
        });
        let new: Vec<_> = new.collect();
        if !new.is_empty() {
            self.brought().push(NewInstructions(new));
        }
    }

    /// A compaction has taken messages away. What long ones brought comes again, and so do changes that folded messages
    /// reported: the prefix has the old text.
    pub fn after_compaction(&self, prefix: &PrefixText, reset: &CacheReset) {
        self.forget(|files| files.bytes() > FOLDED_BYTES_MIN);
        let folded = self.reports().take_folded(reset);
        let brought = self.brought();
        let new = brought.iter().flat_map(|files| &files.0);
        let known = prefix.instructions.iter().chain(new);
        let known = known.filter_map(InstructionText::known);
        let known: Vec<_> = known
            .filter(|known| folded.contains(&known.file.path))
            .collect();
        self.memory.forget_reports(&known);
    }

    /// The session was read from its log, by which the model knows these files and has got these reports.
    pub fn restore(&self, prefix: &PrefixText, known: &[KnownState], reports: ChangeReports) {
        self.note_logged(prefix, known);
        *self.reports() = reports;
    }

    /// A record is made.
    pub fn note_record(&self, record: &Record) {
        self.reports().apply(record);
    }

    fn reports(&self) -> MutexGuard<'_, ChangeReports> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, is_gone: impl Fn(&NewInstructions) -> bool) {
        let gone: Vec<_> = self
            .brought()
            .extract_if(.., |files| is_gone(files))
            .collect();
        let files = gone.into_iter().flat_map(|files| files.0);
        let paths: Vec<_> = files.filter_map(|file| Some(file.file?.path)).collect();
        self.memory.forget_files(&paths);
    }

    fn brought(&self) -> MutexGuard<'_, Vec<NewInstructions>> {
        self.brought.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts new files behind what a prompt refers to. Those that it refers to itself are left out.
    pub fn attach(
        &self,
        new: &mut NewInstructions,
        resolved: ResolvedReferences,
    ) -> ResolvedReferences {
        let own = resolved.found.as_ref().map(|found| found.files.as_slice());
        let is_own = |file: &InstructionText| {
            let path = file.file.as_ref().map(|file| &file.path);
            let mut own = own.unwrap_or_default().iter();
            path.is_some_and(|path| own.any(|file| file.path == *path))
        };
        new.0.retain(|file| !is_own(file));
        if new.0.is_empty() {
            return resolved;
        }
        let blocks = new.0.iter().map(instruction_blocks::block);
        let text: Vec<_> = std::iter::once(HEAD.to_owned()).chain(blocks).collect();
        let mut resolved = with_block(resolved, &text.join("\n"));
        if let Some(found) = &mut resolved.found {
            add(found, &new.0);
        }
        if !self.trusted {
            resolved.problems.extend(untrusted_notice(&new.0));
        }
        resolved
    }
}

impl NewInstructions {
    fn bytes(&self) -> usize {
        self.0.iter().map(|file| file.text.len()).sum()
    }
}

/// What was attached, for display and for the next daemon.
fn add(found: &mut PromptReferences, new: &[InstructionText]) {
    for file in new {
        found.files.extend(file.file.clone());
        found.attached.push(Attachment {
            name: file.name.clone(),
            kind: AttachmentKind::Instructions,
            count: Some(file.text.lines().count() as u64),
            bytes: file.text.len() as u64,
            tokens: contract::estimate::tokens(&file.text) as u64,
            cut: !file.is_whole(),
        });
    }
}

/// Says which instructions the user does not vouch for. `None`: there are none.
pub(crate) fn untrusted_notice(files: &[InstructionText]) -> Option<String> {
    let files = files.iter().filter(|file| file.is_of_project());
    let names: Vec<_> = files.map(|file| format!("`{}`", file.name)).collect();
    let (named, more) = names.split_at(names.len().min(NAMED_MAX));
    let more = match more.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| {
        format!(
            "Instructions from a project that is not trusted: {}{more}. The model reads them; they permit nothing.",
            named.join(", ")
        )
    })
}
