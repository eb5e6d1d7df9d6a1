//! What lasts of a session's commands: the directory that they are in, and the variables that they export.
//!
//! Kept in memory alone, and gone with the daemon. Pure but for looks at directories. `bash` begins each command with it,
//! and takes in what the command has changed; `bash/back` is the way back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::SandboxSpec;
use workspace::{Access, FileKind, Workspace};

use crate::command;

/// Variables that may differ from the session's.
const VARIABLES_MAX: usize = 256;
/// Bytes of their names and values.
const VARIABLE_BYTES_MAX: usize = 64 * 1024;

/// Variables that each shell sets by itself, or that decide how it reads the next line: they never last. Nor does that
/// which says what `~` is, and all of which the name begins with `BASH`.
const OWN: [&str; 28] = [
    "_",
    "CDPATH",
    "COMP_WORDBREAKS",
    command::LINE_VARIABLE,
    "ENV",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EXECIGNORE",
    "FUNCNEST",
    "GLOBIGNORE",
    "HISTCMD",
    "HOME",
    "IFS",
    "LINENO",
    "OPTERR",
    "OPTIND",
    "POSIXLY_CORRECT",
    "PPID",
    "PROMPT_COMMAND",
    "PS1",
    "PS2",
    "PS4",
    "PWD",
    "RANDOM",
    "SECONDS",
    "SHELLOPTS",
    "SHLVL",
    "SRANDOM",
];

/// An environment, by name.
pub(crate) type Environment = BTreeMap<String, String>;

/// The state of a session's shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PersistentShell {
    /// `None`: the session's directory.
    cwd: Option<PathBuf>,
    /// What differs from the session's environment. `None`: unset.
    variables: BTreeMap<String, Option<String>>,
}

/// What a command is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandStart {
    /// By its absolute path; from the session's `PATH`, not from what commands made of it.
    pub(crate) shell: String,
    pub(crate) cwd: PathBuf,
    pub(crate) env: Environment,
    pub(crate) sandbox: Option<Arc<SandboxSpec>>,
}

/// What a command has left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShellEnd {
    pub(crate) cwd: PathBuf,
    pub(crate) env: Environment,
}

impl PersistentShell {
    /// The directory that commands start in, if it is not the session's directory and still is the same one.
    pub(crate) fn cwd(&self, workspace: &Workspace) -> Option<&Path> {
        let cwd = self.cwd.as_deref()?;
        admits(workspace, cwd).then_some(cwd)
    }

    /// Whether commands were to start elsewhere than in the session's directory.
    pub(crate) fn is_away(&self) -> bool {
        self.cwd.is_some()
    }

    /// Back to the session's directory.
    pub(crate) fn reset_cwd(&mut self) {
        self.cwd = None;
    }

    /// The session's environment, with what commands have changed in it.
    pub(crate) fn env(&self, base: &Environment) -> Environment {
        let mut env = base.clone();
        for (name, value) in &self.variables {
            match value {
                Some(value) => env.insert(name.clone(), value.clone()),
                None => env.remove(name),
            };
        }
        env
    }

    /// The variables that differ from the session's. `None`: unset.
    pub(crate) fn altered(&self) -> BTreeMap<String, Option<String>> {
        self.variables.clone()
    }

    /// Applies the changes that a command made between `start` and `end`, and keeps changes by others in between.
    /// Returns the changes that were not applied, as text for the model.
    pub(crate) fn take(
        &mut self,
        workspace: &Workspace,
        base: &Environment,
        start: &CommandStart,
        end: &ShellEnd,
    ) -> Vec<String> {
        let mut refused = Vec::new();
        if end.cwd != start.cwd {
            if end.cwd == workspace.cwd() {
                self.cwd = None;
            } else if admits(workspace, &end.cwd) {
                self.cwd = Some(end.cwd.clone());
            } else {
                refused.push(format!(
                    "the working directory stays {}: `{}` is outside the workspace",
                    shown(workspace, &start.cwd),
                    end.cwd.display()
                ));
            }
        }
        let mut variables = self.variables.clone();
        let names: BTreeSet<&String> = start.env.keys().chain(end.env.keys()).collect();
        for name in names.into_iter().filter(|name| lasts(name)) {
            let now = end.env.get(name);
            if now == start.env.get(name) {
                continue;
            }
            if now == base.get(name) {
                variables.remove(name);
            } else {
                variables.insert(name.clone(), now.cloned());
            }
        }
        if fits(&variables) {
            self.variables = variables;
        } else {
            refused.push(format!(
                "exported variables stay as they were: more than {VARIABLES_MAX}, or {} KiB, would differ from the session's",
                VARIABLE_BYTES_MAX / 1024
            ));
        }
        refused
    }
}

/// What a command left, from what the shell wrote at its end: directory, zero byte, `NAME=value` with a zero byte each.
/// `None`: it is not whole.
pub(crate) fn read(bytes: &[u8]) -> Option<ShellEnd> {
    let whole = bytes.strip_suffix(b"\0")?;
    let mut parts = whole.split(|byte| *byte == 0);
    let cwd = std::str::from_utf8(parts.next()?.strip_suffix(b"\n")?).ok()?;
    if !cwd.starts_with('/') {
        return None;
    }
    let mut env = Environment::new();
    for part in parts {
        // Values that are not valid text cannot be passed to a command; they are ignored.
        if let Some((name, value)) = std::str::from_utf8(part)
            .ok()
            .and_then(|part| part.split_once('='))
        {
            env.insert(name.to_owned(), value.to_owned());
        }
    }
    // Without any variable it was not an environment that was written.
    (!env.is_empty()).then(|| ShellEnd {
        cwd: PathBuf::from(cwd),
        env,
    })
}

/// A directory as the model reads it: relative to the root.
pub(crate) fn shown(workspace: &Workspace, dir: &Path) -> String {
    match dir.strip_prefix(workspace.root()) {
        Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
        Ok(rest) => rest.display().to_string(),
        Err(_) => dir.display().to_string(),
    }
}

/// Whether commands may start there: a directory inside the roots, by its true name, that tools may read.
fn admits(workspace: &Workspace, dir: &Path) -> bool {
    let Some(text) = dir.to_str() else {
        return false;
    };
    workspace.resolve(text, Access::Read).is_ok_and(|at| {
        at.path() == dir
            && at.kind() == Some(FileKind::Directory)
            && (at.writable() || dir.starts_with(workspace.cwd()))
            && !at.masked()
    })
}

/// Whether a change of this variable is kept.
fn lasts(name: &str) -> bool {
    let mut bytes = name.bytes();
    let is_name = bytes
        .next()
        .is_some_and(|first| first == b'_' || first.is_ascii_alphabetic())
        && bytes.all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    // Functions have other names: `ls` is to be `ls` in the next command.
    is_name && !OWN.contains(&name) && !name.starts_with("BASH") && !command::is_fixed(name)
}

fn fits(variables: &BTreeMap<String, Option<String>>) -> bool {
    let bytes: usize = variables
        .iter()
        .map(|(name, value)| name.len() + value.as_ref().map_or(0, String::len))
        .sum();
    variables.len() <= VARIABLES_MAX && bytes <= VARIABLE_BYTES_MAX
}

#[cfg(test)]
mod tests;
