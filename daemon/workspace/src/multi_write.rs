//! Changes several files together: all or none.
//!
//! First writes and syncs all new contents to temporary files, so that a full disk fails before
//! anything changes. If a later rename fails, the earlier files are restored. A crash in between
//! leaves each file whole, old or new. `tools` calls this.

use std::io;
use std::path::PathBuf;

use crate::read::{FileContent, FileError, FileStamp, IoContext};
use crate::resolve::{Access, ResolvedPath};
use crate::workspace::Workspace;
use crate::write::{ExpectedFile, StagedFile, WriteStep};

/// A planned change of one path.
#[derive(Clone, Debug)]
pub struct PlannedWrite {
    pub at: ResolvedPath,
    /// The current content. `None`: it does not exist.
    pub before: Option<FileContent>,
    /// The new content. `None`: it is deleted.
    pub after: Option<Vec<u8>>,
    /// Permission bits of a new file. `None`: the default.
    pub mode: Option<u32>,
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct MultiWriteError {
    pub error: FileError,
    /// Files that could not be restored and remain changed.
    pub left: Vec<PathBuf>,
}

impl Workspace {
    /// Applies all changes, deletions last. Returns the new stamp of each path in order, or `None`
    /// for a deleted one.
    ///
    /// # Errors
    /// A path is denied or was changed, or the disk fails. Nothing has changed then, except the
    /// files in `left`.
    pub fn write_all(
        &self,
        planned: &[PlannedWrite],
    ) -> Result<Vec<Option<FileStamp>>, MultiWriteError> {
        self.write_all_in_steps(planned, &mut |_, _| Ok(()))
    }

    /// Like `write_all`, but calls `step` with the index after each step of each file. An error
    /// from `step` aborts there.
    ///
    /// # Errors
    /// As `write_all`.
    pub fn write_all_in_steps(
        &self,
        planned: &[PlannedWrite],
        step: &mut dyn FnMut(usize, WriteStep) -> io::Result<()>,
    ) -> Result<Vec<Option<FileStamp>>, MultiWriteError> {
        let mut stamps = vec![None; planned.len()];
        let mut staged = Vec::new();
        for (index, plan) in planned.iter().enumerate() {
            let ready = self.ready(plan, &mut |at| step(index, at));
            staged.push(ready.map_err(|error| MultiWriteError {
                error,
                left: Vec::new(),
            })?);
        }
        // Deletions last: writes can then be undone without them.
        let (writes, deletions): (Vec<_>, Vec<_>) = staged
            .into_iter()
            .zip(planned)
            .enumerate()
            .partition(|(_, (staged, _))| staged.is_some());
        let mut done = Vec::new();
        for (index, (staged, plan)) in writes.into_iter().chain(deletions) {
            let result = match staged {
                Some(staged) => staged.take_place(&mut |at| step(index, at)).map(Some),
                None => self.drop_planned(plan).map(|()| None).and_then(|gone| {
                    step(index, WriteStep::Renamed).at("delete", plan.at.path())?;
                    Ok(gone)
                }),
            };
            match result {
                Ok(stamp) => {
                    if let Some(slot) = stamps.get_mut(index) {
                        *slot = stamp;
                    }
                    done.push(plan);
                }
                Err(error) => {
                    // It may be partly done: renamed, and failed after that.
                    done.push(plan);
                    let left = done.into_iter().rev().filter(|plan| !self.put_back(plan));
                    let left = left.map(|plan| plan.at.path().to_owned()).collect();
                    return Err(MultiWriteError { error, left });
                }
            }
        }
        Ok(stamps)
    }

    /// Prepares a change without applying it. Returns `None` for a deletion.
    fn ready<'a>(
        &self,
        plan: &'a PlannedWrite,
        step: &mut dyn FnMut(WriteStep) -> io::Result<()>,
    ) -> Result<Option<StagedFile<'a>>, FileError> {
        let expected = plan.before.as_ref().map_or(ExpectedFile::Absent, |before| {
            ExpectedFile::File(before.stamp)
        });
        if let Some(bytes) = &plan.after {
            return self
                .stage(&plan.at, bytes, expected, plan.mode, step)
                .map(Some);
        }
        self.check(&plan.at, Access::Write)?;
        self.target(&plan.at)?.check(expected)?;
        Ok(None)
    }

    fn drop_planned(&self, plan: &PlannedWrite) -> Result<(), FileError> {
        let Some(before) = &plan.before else {
            return Ok(());
        };
        let target = self.target(&plan.at)?;
        let _held = target.hold()?;
        target.check(ExpectedFile::File(before.stamp))?;
        self.delete_entry(&plan.at)
    }

    /// Restores a file. Returns false if another program changed it or the disk fails.
    fn put_back(&self, plan: &PlannedWrite) -> bool {
        let path = plan.at.path();
        let Ok(at) = self.resolve(&path.to_string_lossy(), Access::Write) else {
            return false;
        };
        if at.path() != path {
            return false;
        }
        let now = at.kind().map(|_| self.read(&at));
        match (&plan.before, now) {
            (None, None) => true,
            // Another program's file is not ours to delete.
            (None, Some(Ok(now))) if plan.after.as_ref() != Some(&now.bytes) => false,
            (None, Some(Ok(_))) => self.delete_entry(&at).is_ok(),
            (Some(before), Some(Ok(now))) if before.bytes == now.bytes => true,
            (Some(before), Some(Ok(now))) if plan.after.as_ref() == Some(&now.bytes) => self
                .write(&at, &before.bytes, ExpectedFile::File(now.stamp))
                .is_ok(),
            (Some(before), None) if plan.after.is_none() => {
                let back = self.stage(
                    &at,
                    &before.bytes,
                    ExpectedFile::Absent,
                    plan.mode,
                    &mut |_| Ok(()),
                );
                back.and_then(|staged| staged.take_place(&mut |_| Ok(())))
                    .is_ok()
            }
            (_, Some(_)) | (Some(_), None) => false,
        }
    }
}

#[cfg(test)]
mod tests;
