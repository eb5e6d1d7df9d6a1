//! The paths of a call: where they lead, and what is at those that it may change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use checkpoint::PathSnapshots;
use contract::ToolSpec;
use policy::{Access, Context, ResolvedPath, Subjects};
use workspace::{FileKind, PathError};

use super::Surroundings;
use crate::calls::git_config;

impl Surroundings<'_> {
    /// Has the workspace know what git obeys around the paths that a file tool is to change.
    pub(super) fn protect_named(&self, cwd: &Path, subjects: &Subjects) {
        let paths = subjects.paths.iter();
        let changed = paths.filter(|subject| subject.access == Access::Edit);
        let trees = changed.flat_map(|subject| {
            let path = cwd.join(&subject.text);
            self.workspace.work_trees_above(&path)
        });
        // A config that cannot be read names nothing that git would run.
        let _ = git_config::protect_named(self.workspace, self.env, trees);
    }

    /// Looks at the files that a call may change, and notes which of them could not be restored.
    pub(super) fn look_before(&self, tool: &ToolSpec, context: &mut Context) -> PathSnapshots {
        let changes = |path: &&mut ResolvedPath| {
            let closed = path.masked || path.denied || path.error.is_some();
            path.access == Access::Edit && path.writable && !closed
        };
        let named: Vec<(&mut ResolvedPath, Vec<PathBuf>)> = context
            .paths
            .iter_mut()
            .filter(changes)
            .map(|path| {
                let absolute = path.absolute.clone();
                // A link may be meant itself, and not its target.
                let link = self.unfollowed(&context.cwd, &path.text);
                (path, absolute.into_iter().chain(link).collect())
            })
            .collect();
        let all: BTreeSet<PathBuf> = named.iter().flat_map(|(_, all)| all.clone()).collect();
        let places = PathSnapshots::look_at(self.workspace, &all, !tool.shallow);
        for (path, all) in named {
            path.unkept = all.iter().any(|place| places.unkept.contains(place));
        }
        places
    }

    /// The place that a path names, its last name not followed.
    fn unfollowed(&self, cwd: &Path, text: &str) -> Option<PathBuf> {
        let written = Path::new(text);
        let name = written.file_name()?;
        let above = written.parent()?.to_str()?;
        let above = if above.is_empty() { "." } else { above };
        let at = self.workspace.locate(cwd, above).ok()?;
        (at.writable() && !at.masked()).then(|| at.path().join(name))
    }

    /// A path of a call, followed as far as it leads.
    pub(super) fn resolve(&self, cwd: &Path, text: &str, access: Access) -> ResolvedPath {
        let wanted = match access {
            Access::Read => workspace::Access::Read,
            Access::Edit => workspace::Access::Write,
        };
        let (located, error) = match self.workspace.locate(cwd, text) {
            Ok(at) => {
                let error = self.workspace.check_located(&at, text, wanted).err();
                (Some(at), error)
            }
            Err(error) => (None, Some(error)),
        };
        let at = located.as_ref();
        ResolvedPath {
            text: text.to_owned(),
            access,
            absolute: at.map(|at| at.path().to_path_buf()),
            writable: at.is_some_and(workspace::ResolvedPath::writable),
            protected: at.is_some_and(workspace::ResolvedPath::protected),
            // What leads through `/proc/self` leads elsewhere for the command that will follow it.
            masked: matches!(error, Some(PathError::Masked { .. }))
                || at.is_some_and(workspace::ResolvedPath::through_process),
            denied: matches!(error, Some(PathError::Denied { .. })),
            holds_closed: at.is_some_and(workspace::ResolvedPath::contains_denied),
            directory: at.is_some_and(|at| at.kind() == Some(FileKind::Directory)),
            unkept: false,
            error: error.map(|error| error.to_string()),
        }
    }
}

/// Where the paths of a call lead, each place once, in the order of the paths.
pub(super) fn leads_to(context: &Context) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = Vec::new();
    for place in context
        .paths
        .iter()
        .filter_map(|path| path.absolute.as_ref())
    {
        if !places.contains(place) {
            places.push(place.clone());
        }
    }
    places
}
