//! Reports what others have changed in the files that a session has read.
//!
//! Checks each file, and reads those that were touched. Each change is reported once: the log has what was
//! reported, for the time after a restart of the daemon. A reported change does not count as read, even if the note had all of
//! the content: the note comes with the result of a call that the model decided on without it, like the other calls of
//! that answer. An edit is refused until the file is read again.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use contract::ExternalChanges;
use workspace::{Access, FileCheck, FileKind};

use super::known::{CONTENT_MAX, Content, FileKnowledge, ReportedState, forget_contents};
use super::{Memory, logged};
use crate::truncate::tokens;

/// Files that are looked at: those used last.
const FILES_MAX: usize = 64;
/// Bytes of a file that is read to know whether its content has changed at all.
const COMPARED_MAX: u64 = 1024 * 1024;
/// Lines of one file's diff.
const LINES_MAX: usize = 40;
/// Bytes of a line of a diff.
const LINE_BYTES_MAX: usize = 400;
/// Tokens of one report.
const TOKENS_MAX: usize = 2000;
/// Tokens of them for the files that are not named any more.
const MORE_TOKENS: usize = 20;

/// Who made a change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangedBy {
    Others,
    Itself,
}

impl Memory {
    /// Changes by others since the last report, as text for the model. Blocks; does nothing if no file was read.
    pub(super) fn report_changes(&self) -> Option<ExternalChanges> {
        let report = self.look(ChangedBy::Others);
        (!report.text.is_empty()).then_some(report)
    }

    /// Checks the known files, and reports changes by others. Blocks.
    pub(super) fn look(&self, by: ChangedBy) -> ExternalChanges {
        // One at a time: each change is reported once.
        let _looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Vec::new();
        for (path, before) in self.possibly_changed() {
            let mut after = before.clone();
            match self.change(&path, &mut after) {
                Some(change) if by == ChangedBy::Others => {
                    changed.push((path, before, after, change))
                }
                Some(change) => {
                    after.content = change.into_content();
                    self.replace(&path, &before, after);
                }
                None => self.replace(&path, &before, after),
            }
        }
        let names = changed
            .iter()
            .map(|(path, _, _, change)| change.name(&self.workspace().shown(path)));
        let names: Vec<String> = names.collect();
        // Every file is named before any is shown.
        let mut left = TOKENS_MAX - MORE_TOKENS;
        let count = names
            .iter()
            .take_while(|name| take(&mut left, tokens(name) + 1))
            .count();
        let mut report = Vec::new();
        let mut files = Vec::new();
        for (number, (path, before, mut after, change)) in changed.into_iter().enumerate() {
            files.extend(logged::reported_file(&path, &after));
            let Some(name) = names.get(number).filter(|_| number < count) else {
                self.replace(&path, &before, after);
                continue;
            };
            let diff = change.show(&self.workspace().shown(&path), &mut after, &mut left);
            report.push(match diff {
                Some(diff) => format!("{name}:\n{diff}"),
                None => name.clone(),
            });
            self.replace(&path, &before, after);
        }
        if names.len() > count {
            report.push(format!("and {} other files", names.len() - count));
        }
        ExternalChanges {
            text: report.join("\n"),
            files,
        }
    }

    /// Whether the next report says anything. Also true while somebody else looks. Blocks.
    pub(super) fn has_changed_files(&self) -> bool {
        let Ok(_looking) = self.looking.try_lock() else {
            return true;
        };
        self.possibly_changed().any(|(path, before)| {
            let mut after = before.clone();
            let is_changed = self.change(&path, &mut after).is_some();
            if !is_changed {
                self.replace(&path, &before, after);
            }
            is_changed
        })
    }

    /// Reads the contents of the known files that are short and still as the model knows them, so that later changes can be
    /// shown: not of those that the model knows in part. Blocks.
    pub(super) fn read_missing_contents(&self) {
        let is_missing = |known: &FileKnowledge| {
            known.content.is_none() && known.reported == ReportedState::Stamp && !known.partial
        };
        let newest = self.newest().into_iter();
        for (path, before) in newest.filter(|(_, known)| is_missing(known)) {
            let content = self.content(&path, &before.stamp);
            let after = FileKnowledge {
                content,
                ..before.clone()
            };
            self.replace(&path, &before, after);
        }
    }

    /// Files used last whose stamp differs or that need a closer look, newest first; without those that deny rules hide.
    fn possibly_changed(&self) -> impl Iterator<Item = (PathBuf, FileKnowledge)> {
        // Checking the stamp is cheaper than matching the rules, so it comes first.
        let is_as_known = |path: &Path, known: &FileKnowledge| {
            known.reported == ReportedState::Stamp
                && matches!(
                    self.workspace().check_file(path, &known.stamp),
                    FileCheck::Same
                )
        };
        let newest = self.newest().into_iter();
        newest.filter(move |(path, known)| {
            !is_as_known(path, known) && self.workspace().unasked_denied(path).is_none()
        })
    }

    /// The files used last, newest first.
    fn newest(&self) -> Vec<(PathBuf, FileKnowledge)> {
        let kept = self.kept();
        let mut newest: Vec<(&PathBuf, &FileKnowledge)> = kept.read.iter().collect();
        newest.sort_unstable_by_key(|(_, known)| std::cmp::Reverse(known.used));
        newest.truncate(FILES_MAX);
        let own = |(path, known): (&PathBuf, &FileKnowledge)| (path.clone(), known.clone());
        newest.into_iter().map(own).collect()
    }

    /// Stores the new state of a file, unless the file was read or written meanwhile.
    fn replace(&self, path: &Path, before: &FileKnowledge, after: FileKnowledge) {
        if *before == after {
            return;
        }
        let mut kept = self.kept();
        if let Some(known) = kept.read.get_mut(path)
            && *known == *before
        {
            *known = after;
            forget_contents(&mut kept.read);
        }
    }

    /// How a file has changed since the last report. Sets `after.reported` to its present state.
    fn change(&self, path: &Path, after: &mut FileKnowledge) -> Option<Change> {
        let (size, mtime_ns) = match self.workspace().check_file(path, &after.stamp) {
            FileCheck::Same => {
                let was_told = after.reported.is_at(&after.stamp);
                after.reported = ReportedState::Stamp;
                return (!was_told).then(|| {
                    let content = self.content(path, &after.stamp);
                    Change::Back(content)
                });
            }
            FileCheck::Gone => {
                let known = after.reported == ReportedState::Gone;
                after.reported = ReportedState::Gone;
                return (!known).then_some(Change::Gone);
            }
            FileCheck::Touched { size, mtime_ns } => (size, mtime_ns),
        };
        let before = after.reported;
        if let ReportedState::At {
            size: size_before,
            mtime_ns: mtime_before,
            ..
        } = before
            && (size_before, mtime_before) == (size, mtime_ns)
        {
            return None;
        }
        // Of another length than that of the stamp it has another content.
        let size_max = if size == after.stamp.size {
            COMPARED_MAX
        } else {
            CONTENT_MAX
        };
        let now = self.read_up_to(path, size, size_max);
        after.reported = ReportedState::At {
            size,
            mtime_ns,
            sha256: now.as_ref().map(|now| now.stamp.sha256),
        };
        let Some(now) = now else {
            return Some(Change::Unseen);
        };
        let is_back = now.stamp.same_content(&after.stamp);
        let is_reported = match before {
            ReportedState::Stamp => is_back,
            ReportedState::Gone => false,
            ReportedState::At { sha256, .. } => sha256 == Some(now.stamp.sha256),
        };
        if is_back {
            // Nothing but its date is new to whoever knows it at that state.
            after.stamp = now.stamp;
            after.reported = ReportedState::Stamp;
        }
        let is_short = now.stamp.size <= CONTENT_MAX;
        match (is_reported, is_back) {
            (true, _) => None,
            (false, true) => Some(Change::Back(is_short.then(|| now.bytes.into()))),
            (false, false)
                if before == ReportedState::Gone
                    && after.content.as_deref() == Some(&now.bytes[..]) =>
            {
                Some(Change::Restored)
            }
            (false, false) if is_short => Some(Change::Content(now.bytes)),
            (false, false) => Some(Change::Unseen),
        }
    }

    /// A file whose content may be kept.
    pub(super) fn read_short(&self, path: &Path, size: u64) -> Option<workspace::FileContent> {
        self.read_up_to(path, size, CONTENT_MAX)
    }

    fn read_up_to(&self, path: &Path, size: u64, size_max: u64) -> Option<workspace::FileContent> {
        if size > size_max {
            return None;
        }
        let at = self
            .workspace()
            .resolve(path.to_str()?, Access::Read)
            .ok()?;
        if at.path() != path || at.kind() != Some(FileKind::File) {
            return None;
        }
        self.workspace().read(&at).ok()
    }
}

/// How a file has changed.
enum Change {
    Gone,
    /// It was gone, or another, and has the content again that the model knows: this one, if that is short.
    Back(Option<Content>),
    /// It was gone, and has the content again that was reported before.
    Restored,
    /// It has another content, which is too long to be shown or cannot be read.
    Unseen,
    Content(Vec<u8>),
}

impl Change {
    fn into_content(self) -> Option<Content> {
        match self {
            Self::Content(bytes) => Some(bytes.into()),
            Self::Back(content) => content,
            Self::Gone | Self::Restored | Self::Unseen => None,
        }
    }

    /// The change in a few words.
    fn name(&self, shown: &str) -> String {
        match self {
            Self::Gone => format!("`{shown}` was deleted"),
            Self::Back(_) => format!("`{shown}` is back as you know it"),
            Self::Restored => format!("`{shown}` is back as it was before it was deleted"),
            Self::Unseen | Self::Content(_) => format!("`{shown}` changed"),
        }
    }

    /// The change as a diff, if it is text and fits into `left`, which shrinks by its length. Stores the content with
    /// which the next change is compared.
    fn show(self, shown: &str, after: &mut FileKnowledge, left: &mut usize) -> Option<String> {
        let new = match self {
            Self::Content(new) => new,
            Self::Gone | Self::Restored => return None,
            Self::Back(content) => {
                after.content = content;
                return None;
            }
            Self::Unseen => {
                after.content = None;
                return None;
            }
        };
        let diff = Diff::of(shown, after.content.as_deref()?, &new)?;
        if !take(left, tokens(&diff.text) + 1) {
            return None;
        }
        if !diff.cut {
            after.content = Some(new.into());
        }
        Some(diff.text)
    }
}

/// Takes this much from what is left, if possible.
fn take(left: &mut usize, wanted: usize) -> bool {
    match left.checked_sub(wanted) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    }
}

/// A short diff.
struct Diff {
    text: String,
    /// Not all of it is there.
    cut: bool,
}

impl Diff {
    /// `None`: one of them is not text.
    fn of(shown: &str, old: &[u8], new: &[u8]) -> Option<Self> {
        let is_text = |bytes: &[u8]| !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok();
        if !is_text(old) || !is_text(new) {
            return None;
        }
        let change = workspace::unified(shown, Some(old), new);
        // The first two lines name the file.
        let mut lines = change.text.split_inclusive('\n').skip(2);
        let mut text = String::new();
        let (mut count, mut cut) = (0, false);
        for line in lines.by_ref() {
            if count == LINES_MAX || line.len() > LINE_BYTES_MAX {
                cut = true;
                break;
            }
            count += 1;
            text.push_str(line);
        }
        if cut {
            let rest = lines.count() + 1;
            text.push_str(&format!(
                "[{rest} more lines of the diff: read the file for all]"
            ));
        }
        Some(Self {
            text: text.trim_end_matches('\n').to_owned(),
            cut,
        })
    }
}

#[cfg(test)]
mod tests;
