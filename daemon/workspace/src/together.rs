//! Several files changed together: all of them, or none.
//!
//! All new contents are written and synced beside their places first, so that what can fail for want of room fails
//! before anything has changed. When one of the places cannot be taken then, those before it are put back. A crash
//! between two of them leaves each file whole, old or new. Called by `tools`.

use std::io;
use std::path::PathBuf;

use crate::read::{Content, FileError, Stamp};
use crate::resolve::{Access, Resolved};
use crate::workspace::Workspace;
use crate::write::{Expected, Staged, Step};

/// What is to become of one place.
#[derive(Clone, Debug)]
pub struct Planned {
    pub at: Resolved,
    /// What stands there; `None`: nothing.
    pub before: Option<Content>,
    /// What shall stand there; `None`: nothing.
    pub after: Option<Vec<u8>>,
    /// Permission bits of a file that is made; `None`: the usual ones.
    pub mode: Option<u32>,
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct TogetherError {
    pub error: FileError,
    /// Places that could not be put back: they are changed all the same.
    pub left: Vec<PathBuf>,
}

impl Workspace {
    /// Does all that is planned, deletions last. Gives the state of each place in the order of the plan; `None`: gone.
    ///
    /// # Errors
    /// A place is closed, or not as it was; the disk fails. Nothing has changed then, but what `left` names.
    pub fn write_together(&self, planned: &[Planned]) -> Result<Vec<Option<Stamp>>, TogetherError> {
        self.write_together_in_steps(planned, &mut |_, _| Ok(()))
    }

    /// As `write_together`, telling each step of each place (its index) when it is done. An error from `step` fails it
    /// there.
    ///
    /// # Errors
    /// As `write_together`.
    pub fn write_together_in_steps(
        &self,
        planned: &[Planned],
        step: &mut dyn FnMut(usize, Step) -> io::Result<()>,
    ) -> Result<Vec<Option<Stamp>>, TogetherError> {
        let mut stamps = vec![None; planned.len()];
        let mut staged = Vec::new();
        for (index, plan) in planned.iter().enumerate() {
            let ready = self.ready(plan, &mut |at| step(index, at));
            staged.push(ready.map_err(|error| TogetherError {
                error,
                left: Vec::new(),
            })?);
        }
        // Deletions last: what was written can be taken back without them.
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
                    step(index, Step::Renamed)
                        .map_err(|source| FileError::io("delete", plan.at.path(), source))?;
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
                    // It may have been done in part: taken its place, and failed behind it.
                    done.push(plan);
                    let left = done.into_iter().rev().filter(|plan| !self.put_back(plan));
                    let left = left.map(|plan| plan.at.path().to_owned()).collect();
                    return Err(TogetherError { error, left });
                }
            }
        }
        Ok(stamps)
    }

    /// Makes ready what is planned, with nothing changed yet. `None`: a deletion.
    fn ready<'a>(
        &self,
        plan: &'a Planned,
        step: &mut dyn FnMut(Step) -> io::Result<()>,
    ) -> Result<Option<Staged<'a>>, FileError> {
        let expected = plan
            .before
            .as_ref()
            .map_or(Expected::Absent, |before| Expected::File(before.stamp));
        if let Some(bytes) = &plan.after {
            return self
                .stage(&plan.at, bytes, expected, plan.mode, step)
                .map(Some);
        }
        self.check(&plan.at, Access::Write)?;
        self.target(&plan.at)?.check(expected)?;
        Ok(None)
    }

    fn drop_planned(&self, plan: &Planned) -> Result<(), FileError> {
        let Some(before) = &plan.before else {
            return Ok(());
        };
        self.target(&plan.at)?.check(Expected::File(before.stamp))?;
        self.delete_entry(&plan.at)
    }

    /// Makes a place what it was. False: it is not, and somebody else has changed it, or the disk fails.
    fn put_back(&self, plan: &Planned) -> bool {
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
            // Not ours to delete.
            (None, Some(Ok(now))) if plan.after.as_ref() != Some(&now.bytes) => false,
            (None, Some(Ok(_))) => self.delete_entry(&at).is_ok(),
            (Some(before), Some(Ok(now))) if before.bytes == now.bytes => true,
            (Some(before), Some(Ok(now))) if plan.after.as_ref() == Some(&now.bytes) => self
                .write(&at, &before.bytes, Expected::File(now.stamp))
                .is_ok(),
            (Some(before), None) if plan.after.is_none() => {
                let back = self.stage(&at, &before.bytes, Expected::Absent, plan.mode, &mut |_| {
                    Ok(())
                });
                back.and_then(|staged| staged.take_place(&mut |_| Ok(())))
                    .is_ok()
            }
            (_, Some(_)) | (Some(_), None) => false,
        }
    }
}

#[cfg(test)]
mod tests;
