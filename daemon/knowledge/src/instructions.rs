//! Instruction files: `AGENTS.md` and its kin, from the workspace root down to the working directory.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use contract::InstructionText;
use proto::record::KnownFile;
use workspace::{Access, FileError, FileKind, ResolvedPath, Workspace};

use crate::definition_files::path_reason;
use crate::imports::{Import, imports};

/// Names of a directory's instruction file. The first that exists counts.
const NAMES: [&str; 3] = ["AGENTS.md", "REASONIX.md", "CLAUDE.md"];
/// A directory's file that is not shared with others.
const LOCAL_NAME: &str = ".reasonix/instructions.local.md";
/// Bytes of one file that go into the prefix.
const FILE_BYTES_MAX: usize = 32 * 1024;
/// Ends the text of a longer file, for the model.
const CUT_MARK: &str = "[This file goes on. Read it for the rest.]\n";
/// Bytes of all files together.
const ALL_BYTES_MAX: usize = 256 * 1024;
/// Files in all.
const FILES_MAX: usize = 64;
/// Depth of imports: an imported file that imports a file is at depth 2.
const IMPORT_DEPTH_MAX: usize = 5;

/// The instruction files that apply in a working directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// In the order of the prefix: the user's file, then from the workspace root down. Imported files follow the
    /// file that imports them.
    pub files: Vec<InstructionText>,
    /// Files that were left out or cut, and why. In words for the user.
    pub problems: Vec<String>,
}

/// Reads the instruction files of a workspace, and the user's own file. Blocks.
///
/// Only regular files are read, through [`Workspace`]: `deny_read` applies. A project's file that leads out of the
/// workspace is left out.
#[must_use]
pub fn find_instructions(workspace: &Workspace, user_file: &Path) -> Instructions {
    let mut search = Search {
        workspace,
        seen: HashSet::new(),
        bytes: 0,
        found: Instructions::default(),
    };
    search.add_file(user_file, Scope::User);
    for directory in directories(workspace.root(), workspace.cwd()) {
        let named = NAMES.iter().map(|name| directory.join(name));
        if let Some(file) = named.into_iter().find(|file| exists(file)) {
            search.add_file(&file, Scope::Project);
        }
        search.add_file(&directory.join(LOCAL_NAME), Scope::Project);
    }
    search.found
}

/// From the root down to the working directory, both included.
fn directories<'a>(root: &'a Path, cwd: &'a Path) -> Vec<&'a Path> {
    let mut directories: Vec<_> = cwd
        .ancestors()
        .take_while(|directory| directory.starts_with(root))
        .collect();
    directories.reverse();
    directories
}

/// Whether there is an entry of that name. A broken link counts, so that it is reported.
fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Who wrote a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The user. Imports may come from anywhere that tools may read.
    User,
    /// The project. Files and imports come from the workspace.
    Project,
}

/// A search in progress.
struct Search<'a> {
    workspace: &'a Workspace,
    /// Files that were read, or left out with a report, resolved.
    seen: HashSet<PathBuf>,
    bytes: usize,
    found: Instructions,
}

/// What names a file: the search itself, or the import in another file.
#[derive(Clone, Copy)]
enum Origin<'a> {
    Search,
    Import {
        /// The file that imports, and the line.
        place: &'a str,
        import: &'a Import,
    },
}

impl Search<'_> {
    /// Adds a file, if it exists, and what it imports.
    fn add_file(&mut self, path: &Path, scope: Scope) {
        if !exists(path) {
            return;
        }
        let name = self.name_of(path);
        let resolved = match path.to_str() {
            Some(text) => self.workspace.resolve(text, Access::Read),
            None => return self.report(&name, "its path is not valid UTF-8"),
        };
        match resolved {
            Ok(at) => self.add_resolved(&at, &name, Origin::Search, scope, 0),
            Err(error) => self.report(&name, &path_reason(&error)),
        }
    }

    fn add_resolved(
        &mut self,
        at: &ResolvedPath,
        name: &str,
        origin: Origin<'_>,
        scope: Scope,
        depth: usize,
    ) {
        if !self.seen.insert(at.path().to_owned()) {
            return;
        }
        if scope == Scope::Project && !at.path().starts_with(self.workspace.root()) {
            return self.leave_out(name, origin, "it leads out of the workspace");
        }
        if self.found.files.len() == FILES_MAX {
            let limit = format!("there are more than {FILES_MAX} files");
            return self.leave_out(name, origin, &limit);
        }
        let (text, file) = match self.read(at, name) {
            Ok(read) => read,
            Err(reason) => return self.leave_out(name, origin, &reason),
        };
        if text.trim().is_empty() {
            return;
        }
        if self.bytes + text.len() > ALL_BYTES_MAX {
            let limit = format!("all files together have more than {ALL_BYTES_MAX} bytes");
            return self.leave_out(name, origin, &limit);
        }
        self.bytes += text.len();
        let imported = imports(&text);
        self.found.files.push(InstructionText {
            name: name.to_owned(),
            text,
            file,
        });
        for import in imported {
            self.add_import(&import, at, name, scope, depth + 1);
        }
    }

    fn add_import(
        &mut self,
        import: &Import,
        importing: &ResolvedPath,
        name: &str,
        scope: Scope,
        depth: usize,
    ) {
        let place = format!("{name}:{}", import.line);
        let origin = Origin::Import {
            place: &place,
            import,
        };
        let directory = importing.path().parent().unwrap_or(Path::new("/"));
        let resolved = match self.workspace.locate(directory, &import.path) {
            Ok(at) => at,
            Err(error) => {
                let is_new = self.seen.insert(directory.join(&import.path));
                if import.is_clearly_a_path() && is_new {
                    self.leave_out(name, origin, &path_reason(&error));
                }
                return;
            }
        };
        let may_be_text = match resolved.kind() {
            None => true,
            Some(FileKind::Directory) => !import.path.ends_with('/'),
            Some(_) => false,
        };
        if may_be_text && !import.is_clearly_a_path() {
            return;
        }
        if resolved.kind().is_none() {
            if self.seen.insert(resolved.path().to_owned()) {
                self.leave_out(name, origin, "it does not exist");
            }
            return;
        }
        if depth > IMPORT_DEPTH_MAX {
            let reason = format!("imports end at depth {IMPORT_DEPTH_MAX}");
            return self.leave_out(name, origin, &reason);
        }
        let name = self.name_of(resolved.path());
        self.add_resolved(&resolved, &name, origin, scope, depth);
    }

    /// The text that goes into the prefix, and the state of the file. Reports what is cut or replaced.
    fn read(
        &mut self,
        at: &ResolvedPath,
        name: &str,
    ) -> Result<(String, Option<KnownFile>), String> {
        let start = self.workspace.read_start(at, FILE_BYTES_MAX);
        let start = start.map_err(|error| reason(&error))?;
        let (mut bytes, is_cut) = (start.bytes, !start.is_whole);
        if bytes.contains(&0) {
            return Err("it is not a text file".to_owned());
        }
        if is_cut {
            let last_line = bytes.iter().rposition(|byte| *byte == b'\n');
            bytes.truncate(last_line.map_or(whole_letters(&bytes), |end| end + 1));
        }
        if let Err(error) = std::str::from_utf8(&bytes) {
            let line = 1 + newlines(&bytes[..error.valid_up_to()]);
            let invalid = "it is not UTF-8; the model gets `\u{fffd}` for each wrong byte";
            self.found
                .problems
                .push(format!("`{name}:{line}`: {invalid}."));
        }
        if is_cut {
            let cut = format!("only its first {FILE_BYTES_MAX} bytes are used");
            let line = newlines(&bytes).max(1);
            self.found
                .problems
                .push(format!("`{name}:{line}`: {cut}, up to this line."));
        }
        let text = String::from_utf8_lossy(&bytes);
        let mut text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
        if is_cut {
            text.push_str(if text.ends_with('\n') { "" } else { "\n" });
            text.push_str(CUT_MARK);
        }
        let known = start.stamp.known_file(at.path());
        let file = known.map(|known| KnownFile {
            partial: is_cut,
            ..known
        });
        Ok((text, file))
    }

    /// The path from the workspace root, or the whole path of a file elsewhere.
    fn name_of(&self, path: &Path) -> String {
        let short = path.strip_prefix(self.workspace.root()).unwrap_or(path);
        short.to_string_lossy().into_owned()
    }

    /// Reports a file that is left out: at the import that names it, if one does.
    fn leave_out(&mut self, name: &str, origin: Origin<'_>, reason: &str) {
        let Origin::Import { place, import } = origin else {
            return self.report(name, reason);
        };
        let problem = format!(
            "`{place}`: the import `@{}` is left out: {reason}.",
            import.path
        );
        self.found.problems.push(problem);
    }

    fn report(&mut self, name: &str, reason: &str) {
        let problem = format!("`{name}` is not used as instructions: {reason}.");
        self.found.problems.push(problem);
    }
}

/// Why a file was not read, without its name: the report names it.
fn reason(error: &FileError) -> String {
    match error {
        FileError::NotAFile { kind, .. } => format!("it is {}", kind.words()),
        FileError::Path(error) => path_reason(error),
        other => other.to_string(),
    }
}

/// The length without a letter that is cut off at the end.
fn whole_letters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    }
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests;
