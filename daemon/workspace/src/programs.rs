//! Where programs are that a name starts, and whether the session may change them.
//!
//! What runs outside the sandbox is looked for here first. A program that the session may write is the session's own:
//! so is one that a link or an interpreter line leads to it. Looks at the disk; starts nothing.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use crate::workspace::Workspace;

/// Links that are followed on the way to one program.
const LINKS_MAX: usize = 40;
/// Bytes of a file that are read for its interpreter.
const LINE_MAX: u64 = 256;
/// Where a shell looks without `PATH`.
const PATH_DEFAULT: &str = "/usr/local/bin:/usr/bin:/bin";

/// The directories that a session may write.
#[derive(Clone, Debug, Default)]
pub struct WritableDirs(Vec<PathBuf>);

/// A program that a name leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundProgram {
    /// Absolute, as it was found: links are not followed.
    pub path: PathBuf,
    /// The session may change what it is.
    pub own: bool,
}

impl Workspace {
    /// What the session may write: its roots, and these directories beside them.
    #[must_use]
    pub fn writable_dirs(&self, beside: &[PathBuf]) -> WritableDirs {
        let roots = self.writable_roots().chain(beside);
        WritableDirs(roots.cloned().collect())
    }
}

impl WritableDirs {
    /// The program that a shell in `cwd` starts for a name. `None`: there is none.
    #[must_use]
    pub fn find(&self, name: &str, cwd: &Path, path: Option<&str>) -> Option<FoundProgram> {
        if name.contains('/') {
            let place = cwd.join(name);
            return runs(&place).then(|| self.found(&place, cwd, path));
        }
        let dirs = std::env::split_paths(path.unwrap_or(PATH_DEFAULT));
        // An empty or relative entry is meant from where the shell stands.
        let place = dirs
            .map(|dir| cwd.join(dir).join(name))
            .find(|at| runs(at))?;
        Some(self.found(&place, cwd, path))
    }

    /// The file or directory that an interpreter in `cwd` reads and runs. `None`: there is none.
    #[must_use]
    pub fn find_script(&self, name: &str, cwd: &Path, path: Option<&str>) -> Option<FoundProgram> {
        let place = cwd.join(name);
        let exists = std::fs::metadata(&place).is_ok();
        exists.then(|| self.found(&place, cwd, path))
    }

    /// The absolute entries of a `PATH` from which nothing of the session's own is started.
    #[must_use]
    pub fn without(&self, path: Option<&str>) -> String {
        let joined = std::env::join_paths(self.trusted_dirs(path)).ok();
        let joined = joined.and_then(|joined| joined.into_string().ok());
        // An empty `PATH` would mean the working directory.
        let joined = joined.filter(|joined| !joined.is_empty());
        joined.unwrap_or_else(|| PATH_DEFAULT.to_owned())
    }

    /// The same as directories: none, where nothing is left.
    pub fn trusted_dirs(&self, path: Option<&str>) -> impl Iterator<Item = PathBuf> {
        let dirs = std::env::split_paths(path.unwrap_or(PATH_DEFAULT));
        dirs.filter(|dir| dir.is_absolute() && !self.leads_through(dir))
    }

    /// The entries of a `PATH` that the session may not write, from the one with this program on. `None`: it is in none.
    #[must_use]
    pub fn path_from(&self, program: &str, path: &str) -> Option<String> {
        let mut trusted = self.trusted_dirs(Some(path)).skip_while(|dir| {
            let found = self.find(program, dir, dir.to_str());
            found.is_none_or(|found| found.own)
        });
        let first = trusted.next()?;
        let from = std::iter::once(first).chain(trusted);
        std::env::join_paths(from).ok()?.into_string().ok()
    }

    /// Whether something on the way along a path, links included, is the session's to change. What cannot be followed is.
    #[must_use]
    pub fn leads_through(&self, path: &Path) -> bool {
        let mut waiting: Vec<PathBuf> = parts(path);
        let mut at = PathBuf::from("/");
        let mut links = 0;
        while let Some(part) = waiting.pop() {
            if part == Path::new("..") {
                at.pop();
                continue;
            }
            if part == Path::new("/") {
                at = PathBuf::from("/");
                continue;
            }
            at.push(&part);
            if self.holds(&at) {
                return true;
            }
            let Ok(target) = std::fs::read_link(&at) else {
                continue;
            };
            links += 1;
            if links > LINKS_MAX {
                return true;
            }
            at.pop();
            waiting.extend(parts(&target));
        }
        false
    }

    fn holds(&self, place: &Path) -> bool {
        self.0.iter().any(|root| place.starts_with(root))
    }

    fn found(&self, place: &Path, cwd: &Path, path: Option<&str>) -> FoundProgram {
        let own = self.leads_through(place) || self.interprets(place, cwd, path);
        FoundProgram {
            path: plain(place),
            own,
        }
    }

    /// Whether the first line of a script names an interpreter of the session's own.
    fn interprets(&self, place: &Path, cwd: &Path, path: Option<&str>) -> bool {
        let Some(line) = first_line(place) else {
            return false;
        };
        let mut words = line.split_ascii_whitespace();
        let Some(interpreter) = words.next() else {
            return false;
        };
        if self.leads_through(&cwd.join(interpreter)) {
            return true;
        }
        if !interpreter.ends_with("/env") {
            return false;
        }
        let named = words.find(|word| !word.starts_with('-') && !word.contains('='));
        let mut dirs = std::env::split_paths(path.unwrap_or(PATH_DEFAULT));
        named.is_some_and(|name| {
            let at = dirs.find(|dir| runs(&cwd.join(dir).join(name)));
            at.is_some_and(|dir| self.leads_through(&cwd.join(dir).join(name)))
        })
    }
}

/// The parts of a path, the first one last.
fn parts(path: &Path) -> Vec<PathBuf> {
    let parts = path.components().rev();
    let named = parts.filter(|part| !matches!(part, Component::CurDir));
    named.map(|part| PathBuf::from(part.as_os_str())).collect()
}

/// A path without `.` and doubled slashes.
fn plain(path: &Path) -> PathBuf {
    path.components()
        .filter(|part| !matches!(part, Component::CurDir))
        .collect()
}

fn runs(file: &Path) -> bool {
    std::fs::metadata(file)
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// What follows `#!` at the beginning of a regular file.
fn first_line(file: &Path) -> Option<String> {
    // Known to be a regular file: `runs` has looked; one that was replaced by a pipe meanwhile must not hold us up.
    let options =
        rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC;
    let opened = rustix::fs::open(file, options, rustix::fs::Mode::empty()).ok()?;
    let opened = std::fs::File::from(opened);
    if !opened.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    opened.take(LINE_MAX).read_to_end(&mut bytes).ok()?;
    let line = bytes
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    Some(String::from_utf8_lossy(line).into_owned())
}

#[cfg(test)]
mod tests;
