//! What the file tools share: finding the place of a call, the guard against stale content, and words for what failed.

use std::path::Path;
use std::sync::Arc;

use contract::{CallContext, Outcome};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::item::{CallStatus, Display};
use workspace::{Access, Change, FileError, PathError, Resolved, Stamp, unified};

use crate::memory::Memory;

/// The session's memory.
pub(crate) fn memory(context: &CallContext) -> Result<Arc<Memory>, Outcome> {
    Memory::of(&context.memory).ok_or_else(|| {
        Outcome::failed("file tools are not available: this session has no workspace")
    })
}

/// Runs blocking work of a call beside the runtime.
pub(crate) fn blocking(
    work: impl FnOnce() -> Result<Outcome, Outcome> + Send + 'static,
) -> BoxFuture<'static, Outcome> {
    async move {
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(outcome) | Err(outcome)) => outcome,
            Err(_) => {
                Outcome::failed("the tool failed inside Reasonix; nothing is known of its effects")
            }
        }
    }
    .boxed()
}

/// Where a call's path leads, for a look before it runs: the call is bound to that place.
pub(crate) fn place_shown(
    memory: &Memory,
    context: &CallContext,
    path: &str,
    access: Access,
) -> Result<Resolved, Outcome> {
    let at = resolve(memory, path, access)?;
    memory.pin(&context.call, at.path());
    Ok(at)
}

/// Binds a call to the place that was judged.
pub(crate) fn bind(place: &Path, context: &CallContext) {
    if let Some(memory) = Memory::of(&context.memory) {
        memory.pin(&context.call, place);
    }
}

/// Where a call's path leads, now that it runs.
pub(crate) fn place(
    memory: &Memory,
    context: &CallContext,
    path: &str,
    access: Access,
) -> Result<Resolved, Outcome> {
    let judged = memory.unpin(&context.call);
    let at = resolve(memory, path, access)?;
    match judged {
        Some(judged) if judged != at.path() => Err(Outcome::failed(format!(
            "`{path}` led to `{}` when it was judged and leads to `{}` now; nothing was done. Call again to have it judged anew",
            judged.display(),
            at.path().display(),
        ))),
        _ => Ok(at),
    }
}

fn resolve(memory: &Memory, path: &str, access: Access) -> Result<Resolved, Outcome> {
    memory
        .workspace()
        .resolve(path, access)
        .map_err(|error| path_failed(&error))
}

/// Whether what stands at `path` (now of state `now`) is what this session last saw of it.
pub(crate) fn guard(memory: &Memory, path: &Path, now: &Stamp) -> Result<(), Outcome> {
    let shown = memory.workspace().shown(path);
    match memory.known(path) {
        None => Err(Outcome::failed(format!(
            "`{shown}` was not read in this session, or the daemon was restarted since; read it with `read_file` first, then try again"
        ))),
        Some(known) if !known.same_content(now) => Err(Outcome::failed(format!(
            "`{shown}` was changed since it was last read, by a command or another program; read it again with `read_file`, then try again"
        ))),
        Some(_) => Ok(()),
    }
}

/// The display of a change.
pub(crate) fn diff(shown: &str, old: Option<&[u8]>, new: &[u8]) -> Display {
    let Change {
        text,
        added,
        removed,
    } = unified(shown, old, new);
    Display::Diff {
        path: shown.to_owned(),
        diff: text,
        added,
        removed,
    }
}

/// A success with separate words for model and person.
pub(crate) fn done(text: String, display: Display) -> Outcome {
    Outcome {
        status: CallStatus::Ok,
        text,
        display,
        spill: None,
    }
}

/// A success whose words for the person are one line.
pub(crate) fn done_line(text: String, line: String) -> Outcome {
    done(text, Display::Line { text: line })
}

/// Words for a path that cannot be used.
pub(crate) fn path_failed(error: &PathError) -> Outcome {
    Outcome::failed(error.to_string())
}

/// Words for a file that cannot be read or written.
pub(crate) fn file_failed(error: &FileError) -> Outcome {
    let next = match error {
        FileError::Missing { .. } => "; look for it with `grep` or `bash`",
        FileError::NotAFile {
            kind: workspace::FileKind::Directory,
            ..
        } => "; list it with `bash` (`ls`)",
        FileError::TooLarge { .. } => "; take a part of it with `bash` (`head`, `sed -n`, `rg`)",
        FileError::ReadOnly { .. } => "; nothing was changed",
        FileError::Changed { .. } => "; read it again, then try again",
        FileError::Path(_) | FileError::NotAFile { .. } | FileError::Io { .. } => "",
    };
    Outcome::failed(format!("{error}{next}"))
}

#[cfg(test)]
mod tests;
