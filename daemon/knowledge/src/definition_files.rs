//! Finds and reads the files that define commands and agents: regular Markdown files in a known directory.
//!
//! A project's file that a link leads out of the workspace is left out, and reported.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use workspace::{Access, FileError, FileKind, PathError, ResolvedPath, Workspace};

/// Bytes of one file.
const FILE_BYTES_MAX: usize = 64 * 1024;
/// Entries that are looked at, of all directories together.
const ENTRIES_MAX: usize = 2_000;
/// The same for the directories directly below one root.
const SUBDIRECTORIES_MAX: usize = 500;

/// A directory of definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    pub path: PathBuf,
    /// Whether it is the project's: then nothing in it may lead out of the workspace.
    pub is_project: bool,
}

/// Looks through directories, and keeps what was wrong.
pub(crate) struct DefinitionFiles<'a> {
    workspace: &'a Workspace,
    seen: HashSet<PathBuf>,
    entries: usize,
    /// In words for the user.
    pub problems: Vec<String>,
}

impl<'a> DefinitionFiles<'a> {
    pub fn new(workspace: &'a Workspace) -> Self {
        Self {
            workspace,
            seen: HashSet::new(),
            entries: 0,
            problems: Vec::new(),
        }
    }

    /// The files of a directory and those below it, sorted. Paths as they are written: links are followed when a file
    /// is read.
    pub fn walk(&mut self, root: &Root, depth_max: usize) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut pending = vec![(root.path.clone(), 0)];
        while let Some((directory, depth)) = pending.pop() {
            let Some(at) = self.resolve(&directory, root) else {
                continue;
            };
            if at.kind() != Some(FileKind::Directory) || !self.seen.insert(at.path().to_owned()) {
                continue;
            }
            let names = self.names(&at, &directory, ENTRIES_MAX - self.entries, ENTRIES_MAX);
            self.entries += names.len();
            for name in names {
                let path = directory.join(name);
                if !path.is_dir() {
                    files.push(path);
                } else if depth < depth_max {
                    pending.push((path, depth + 1));
                }
            }
        }
        files.sort();
        files
    }

    /// The files of this name in the directories directly below a root, sorted. Each root has its own limit of entries,
    /// so that one that is full hides nothing of the others.
    pub fn in_subdirectories(&mut self, root: &Root, name: &str) -> Vec<PathBuf> {
        let Some(at) = self.resolve(&root.path, root) else {
            return Vec::new();
        };
        if at.kind() != Some(FileKind::Directory) || !self.seen.insert(at.path().to_owned()) {
            return Vec::new();
        }
        let max = SUBDIRECTORIES_MAX;
        let directories = self.names(&at, &root.path, max, max);
        let files = directories
            .into_iter()
            .map(|directory| root.path.join(directory).join(name));
        files
            .filter(|file| file.symlink_metadata().is_ok())
            .collect()
    }

    /// The directory of a file, without links.
    pub fn directory_of(&mut self, file: &Path, root: &Root) -> Option<PathBuf> {
        let at = self.resolve(file, root)?;
        at.path().parent().map(Path::to_owned)
    }

    /// Names in a directory, sorted, and not more than `left`. `all`: the limit that is reported.
    fn names(
        &mut self,
        at: &ResolvedPath,
        directory: &Path,
        left: usize,
        all: usize,
    ) -> Vec<OsString> {
        let read = match std::fs::read_dir(at.path()) {
            Ok(read) => read,
            Err(error) => {
                self.report(directory, None, &format!("it cannot be read: {error}"));
                return Vec::new();
            }
        };
        let mut names: Vec<_> = read
            .take(left + 1)
            .filter_map(|entry| Some(entry.ok()?.file_name()))
            .collect();
        if names.len() > left {
            names.truncate(left);
            let reason = format!("more than {all} entries are not looked at");
            self.report(directory, None, &reason);
        }
        names.sort();
        names
    }

    /// The text of a file. `None`: it is left out and reported.
    pub fn read(&mut self, path: &Path, root: &Root) -> Option<String> {
        let at = self.resolve(path, root)?;
        let read = self.workspace.read_start(&at, FILE_BYTES_MAX);
        let reason = match read {
            Ok(start) if !start.is_whole => format!("it has more than {FILE_BYTES_MAX} bytes"),
            Ok(start) => match String::from_utf8(start.bytes) {
                Ok(text) if !text.contains('\0') => return Some(text),
                Ok(_) | Err(_) => "it is not a text file".to_owned(),
            },
            Err(FileError::NotAFile { kind, .. }) => format!("it is {}", kind.words()),
            Err(FileError::Path(error)) => path_reason(&error),
            Err(error) => error.to_string(),
        };
        self.report(path, None, &reason);
        None
    }

    /// What a path leads to. `None`: nothing, or it is left out and reported.
    fn resolve(&mut self, path: &Path, root: &Root) -> Option<ResolvedPath> {
        // A broken link is reported, a missing directory is not.
        path.symlink_metadata().ok()?;
        let Some(text) = path.to_str() else {
            self.report(path, None, "its path is not valid UTF-8");
            return None;
        };
        let at = match self.workspace.resolve(text, Access::Read) {
            Ok(at) => at,
            Err(error) => {
                self.report(path, None, &path_reason(&error));
                return None;
            }
        };
        if root.is_project && !at.path().starts_with(self.workspace.root()) {
            self.report(path, None, "it leads out of the workspace");
            return None;
        }
        Some(at)
    }

    /// How a file is called: from the workspace root, or its whole path.
    pub fn name_of(&self, path: &Path) -> String {
        let short = path.strip_prefix(self.workspace.root()).unwrap_or(path);
        let name = short.to_string_lossy();
        name.replace(|letter: char| letter.is_control(), "_")
    }

    /// Notes that the key `model` of a command has no effect: another model for one prompt would lose the prompt cache.
    pub fn report_model(&mut self, path: &Path, line: u64) {
        let place = format!("{}:{line}", self.name_of(path));
        let problem = format!(
            "`{place}`: `model` has no effect in a command. Choose the model with `/model` or `--model`."
        );
        self.problems.push(problem);
    }

    /// Notes that a file is left out.
    pub fn report(&mut self, path: &Path, line: Option<u64>, reason: &str) {
        let name = self.name_of(path);
        let place = line.map_or(name.clone(), |line| format!("{name}:{line}"));
        let problem = format!("`{place}` is left out: {reason}.");
        self.problems.push(problem);
    }

    /// Notes something about a file that is used all the same.
    pub fn warn(&mut self, path: &Path, line: u64, reason: &str) {
        let problem = format!("`{}:{line}`: {reason}.", self.name_of(path));
        self.problems.push(problem);
    }
}

/// Why a path is not read, without the path: the report names it.
pub(crate) fn path_reason(error: &PathError) -> String {
    match error {
        PathError::Denied { pattern, .. } => format!("`Read({pattern})` denies it"),
        other => other.to_string(),
    }
}
