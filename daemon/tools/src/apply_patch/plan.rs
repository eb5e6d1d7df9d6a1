//! What a patch comes to: each file before and after, and the words for it.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use contract::Outcome;
use proto::item::Display;
use proto::record::{Changed, KnownFile};
use workspace::{
    Access, FileKind, FilePatch, HunkError, PatchedContent, PathState, PlannedWrite, ResolvedPath,
    apply,
};

use crate::memory::Memory;
use crate::truncate::{self, TextPieces};
use crate::{edit_file, files};

/// Tokens of an error with passages in it.
const ERROR_TOKENS_MAX: usize = 1500;
/// Bytes of the diff that a person is shown, in all.
const DIFF_MAX: usize = 64 * 1024;

/// All that a patch does.
pub(crate) struct Plan {
    planned: Vec<PlannedWrite>,
    /// A line for each file, and notes.
    lines: Vec<String>,
    diffs: Vec<Display>,
}

/// Works out what becomes of each file. Changes nothing.
pub(super) fn plan(
    memory: &Arc<Memory>,
    patch: &[FilePatch],
    paths: &[&str],
    places: &[ResolvedPath],
) -> Result<Plan, Outcome> {
    for (index, at) in places.iter().enumerate() {
        let before = places.get(..index).unwrap_or_default();
        if before.iter().any(|other| other.path() == at.path()) {
            return Err(Outcome::failed(format!(
                "the patch names `{}` in two ways; name it in one",
                memory.workspace().shown(at.path())
            )));
        }
    }
    let mut plan = Plan {
        planned: Vec::new(),
        lines: Vec::new(),
        diffs: Vec::new(),
    };
    for file in patch {
        let place = |path: &Option<String>| {
            let path = path.as_deref()?;
            let index = paths.iter().position(|known| *known == path)?;
            places.get(index).cloned()
        };
        plan.file(memory, file, place(&file.old), place(&file.new))?;
    }
    Ok(plan)
}

impl Plan {
    fn file(
        &mut self,
        memory: &Arc<Memory>,
        file: &FilePatch,
        old: Option<ResolvedPath>,
        new: Option<ResolvedPath>,
    ) -> Result<(), Outcome> {
        let workspace = memory.workspace();
        let shown = |at: &ResolvedPath| workspace.shown(at.path());
        for at in old.iter().chain(&new) {
            if self.planned.iter().any(|plan| plan.at.path() == at.path()) {
                return Err(Outcome::failed(format!(
                    "the patch has `{}` twice; put all its hunks under one header. Nothing was changed",
                    shown(at)
                )));
            }
        }
        match (old, new) {
            (None, None) => Ok(()),
            (None, Some(to)) => self.add(file, to, &shown),
            (Some(from), new) => {
                let before = edit_file::known_content(memory, &from)?;
                let name = shown(&from);
                let applied = applied(&before.bytes, file, &name)?;
                self.note(file, &name, &applied);
                let changed = PlannedWrite {
                    mode: workspace.mode(from.path()),
                    at: from,
                    before: Some(before),
                    after: Some(applied.bytes),
                };
                match new {
                    Some(to) if to.path() == changed.at.path() => self.modify(changed, &name),
                    Some(to) => {
                        no_link(memory, file, &name)?;
                        self.rename(changed, &name, to, &shown)
                    }
                    None => {
                        no_link(memory, file, &name)?;
                        self.delete(changed, &name);
                        Ok(())
                    }
                }
            }
        }
    }

    fn add(
        &mut self,
        file: &FilePatch,
        to: ResolvedPath,
        shown: &dyn Fn(&ResolvedPath) -> String,
    ) -> Result<(), Outcome> {
        let name = shown(&to);
        free(&to, &name)?;
        let applied = applied(b"", file, &name)?;
        self.note(file, &name, &applied);
        let display = files::diff(&name, None, &applied.bytes);
        self.show(format!("A {name}"), display);
        self.planned.push(PlannedWrite {
            at: to,
            before: None,
            after: Some(applied.bytes),
            mode: None,
        });
        Ok(())
    }

    fn modify(&mut self, changed: PlannedWrite, name: &str) -> Result<(), Outcome> {
        let (before, after) = contents(&changed);
        if before == after {
            return Err(Outcome::failed(format!(
                "`{name}` has what the patch would change it to already; nothing was changed"
            )));
        }
        let display = files::diff(name, Some(before), after);
        self.show(format!("M {name}"), display);
        self.planned.push(changed);
        Ok(())
    }

    fn rename(
        &mut self,
        mut changed: PlannedWrite,
        name: &str,
        to: ResolvedPath,
        shown: &dyn Fn(&ResolvedPath) -> String,
    ) -> Result<(), Outcome> {
        let new = shown(&to);
        free(&to, &new)?;
        let (before, after) = contents(&changed);
        let display = files::diff(&new, Some(before), after);
        self.show(format!("R {name} -> {new}"), display);
        self.planned.push(PlannedWrite {
            at: to,
            before: None,
            after: changed.after.take(),
            mode: changed.mode,
        });
        self.planned.push(changed);
        Ok(())
    }

    fn delete(&mut self, mut changed: PlannedWrite, name: &str) {
        let (before, _) = contents(&changed);
        let display = files::diff_gone(name, before);
        self.show(format!("D {name}"), display);
        changed.after = None;
        self.planned.push(changed);
    }

    fn show(&mut self, line: String, display: Display) {
        let counts = match &display {
            Display::Diff { added, removed, .. } => format!(" (+{added} −{removed})"),
            Display::Line { .. } | Display::Command { .. } => String::new(),
        };
        self.lines.push(format!("{line}{counts}"));
        self.diffs.push(display);
    }

    fn note(&mut self, file: &FilePatch, name: &str, applied: &PatchedContent) {
        for (hunk, by) in &applied.shifted {
            let way = if *by > 0 { "down" } else { "up" };
            let by = by.unsigned_abs();
            self.lines.push(format!(
                "[`{name}`, hunk {hunk}: applied {by} lines further {way}]"
            ));
        }
        for hunk in &applied.loose {
            self.lines.push(format!(
                "[`{name}`, hunk {hunk}: blanks at line ends differed from the patch]"
            ));
        }
        if file.mode {
            self.lines.push(format!(
                "[`{name}`: the mode in the patch was not applied; use `bash` (`chmod`)]"
            ));
        }
    }

    /// What a person is shown: all the diffs, one after the other.
    pub(super) fn display(&self) -> Display {
        let (mut all, mut added, mut removed) = (String::new(), 0, 0);
        let mut left_out = 0;
        let mut name = String::new();
        for display in &self.diffs {
            let Display::Diff {
                path,
                diff,
                added: more,
                removed: less,
            } = display
            else {
                continue;
            };
            name.clone_from(path);
            added += more;
            removed += less;
            if all.len() + diff.len() > DIFF_MAX {
                left_out += 1;
            } else {
                all.push_str(diff);
            }
        }
        if left_out > 0 {
            let _ = writeln!(all, "[the diffs of {left_out} more files are not shown]");
        }
        if self.diffs.len() != 1 {
            name = format!("{} files", self.diffs.len());
        }
        Display::Diff {
            path: name,
            diff: all,
            added,
            removed,
        }
    }

    /// Does it.
    pub(super) fn carry_out(self, memory: &Arc<Memory>) -> Result<Outcome, Outcome> {
        let display = self.display();
        let done = memory.workspace().write_all(&self.planned);
        let stamps = done.map_err(|failed| {
            let mut outcome = files::file_failed(&failed.error);
            if failed.left.is_empty() {
                outcome.text.push_str(". No file was changed");
            } else {
                let left: Vec<String> = failed
                    .left
                    .iter()
                    .map(|path| memory.workspace().shown(path))
                    .collect();
                let _ = write!(
                    outcome.text,
                    ". These files could not be put back, look at them: `{}`",
                    left.join("`, `")
                );
                outcome.changed = failed
                    .left
                    .iter()
                    .map(|path| left_as(memory, path))
                    .collect();
            }
            outcome
        })?;
        let (mut changed, mut known): (Vec<Changed>, Vec<KnownFile>) = Default::default();
        for (plan, stamp) in self.planned.iter().zip(&stamps) {
            let path = plan.at.path();
            changed.push(match stamp {
                Some(stamp) => {
                    known.extend(memory.know(path, *stamp));
                    files::changed_file(memory, path, stamp)
                }
                None => files::changed(path, PathState::Absent),
            });
        }
        let count = self.diffs.len();
        let files = if count == 1 { "1 file" } else { "files" };
        let first = if count == 1 {
            format!("patched {files}:")
        } else {
            format!("patched {count} {files}:")
        };
        let text = format!("{first}\n{}", self.lines.join("\n"));
        Ok(Outcome {
            changed,
            known,
            ..files::done(text, display)
        })
    }
}

/// What an existing file holds before and after.
fn contents(changed: &PlannedWrite) -> (&[u8], &[u8]) {
    let before = changed.before.as_ref().map(|before| &before.bytes[..]);
    let after = changed.after.as_deref();
    (before.unwrap_or_default(), after.unwrap_or_default())
}

fn left_as(memory: &Memory, path: &Path) -> Changed {
    files::changed(path, memory.workspace().state(path))
}

/// A file's content after the patch.
fn applied(content: &[u8], file: &FilePatch, shown: &str) -> Result<PatchedContent, Outcome> {
    apply(content, file).map_err(|HunkError { hunk, reason }| {
        let which = match hunk {
            0 => String::new(),
            _ => format!(", hunk {hunk} of {}", file.hunks.len()),
        };
        let text = format!("nothing was changed: `{shown}`{which}: {reason}");
        let cut = truncate::cut(
            TextPieces::whole(&text),
            ERROR_TOKENS_MAX,
            "read the file for the rest",
        );
        Outcome::failed(cut.text)
    })
}

/// Checks that nothing exists at the path of a new file.
fn free(to: &ResolvedPath, shown: &str) -> Result<(), Outcome> {
    match to.kind() {
        None => Ok(()),
        Some(_) => Err(Outcome::failed(format!(
            "`{shown}` exists already, and the patch would make it; nothing was changed. Patch it as it is, with `--- a/{shown}`"
        ))),
    }
}

/// A link cannot be deleted or renamed by a patch: its content is elsewhere.
fn no_link(memory: &Memory, file: &FilePatch, shown: &str) -> Result<(), Outcome> {
    let name = file.old.as_deref().unwrap_or_default();
    let entry = memory.workspace().entry(name, Access::Write);
    let entry = entry.map_err(|error| files::path_failed(&error))?;
    if entry.kind() == Some(FileKind::Link) {
        return Err(Outcome::failed(format!(
            "`{name}` is a link to `{shown}`; nothing was changed. Use `move_file` or `delete_file` for the link"
        )));
    }
    Ok(())
}
