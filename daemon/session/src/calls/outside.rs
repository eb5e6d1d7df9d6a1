//! What a command starts outside the sandbox: its programs are looked for before anybody is asked, and shown with their
//! files. Those that the session may write are asked about twice.
//!
//! Looks at the disk (blocks); starts nothing. Called by `judgement` and for hooks.

use std::path::{Path, PathBuf};

use policy::{Setting, StartedKind, StartedProgram};
use proto::params::interaction::NamedProgram;
use workspace::{Workspace, WritableDirs};

use crate::calls::judgement::ShellPosition;

/// Endings of modules that an interpreter of Python imports by their name.
const MODULES: [&str; 3] = ["py", "pyc", "so"];

/// The programs of a command, and the directories searched for them when it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutsidePrograms {
    /// Those that the session may change first.
    pub programs: Vec<NamedProgram>,
    /// The `PATH` that the command gets in place of its own. `None`: its own, because a program of the session's own
    /// was shown.
    pub path: Option<String>,
    /// What `path` leaves out.
    pub left_out: Vec<String>,
    /// The first program that the session may change. Files that a runner obeys are none: a rule that allows `make`
    /// means the project's `Makefile`.
    own_program: Option<NamedProgram>,
}

/// From where a command looks for programs.
pub struct ProgramSearch<'a> {
    pub workspace: &'a Workspace,
    /// Directories beside its roots that the session may write.
    pub beside: &'a [PathBuf],
    pub env: &'a [(String, String)],
}

impl ProgramSearch<'_> {
    /// Looks for the programs of a line.
    pub fn look(&self, line: &str, position: &ShellPosition) -> OutsidePrograms {
        let dirs = self.workspace.writable_dirs(self.beside);
        let path = self.value("PATH", position);
        let home = self.value("HOME", position);
        let look = Look {
            dirs: &dirs,
            cwd: &position.cwd,
            path: path.as_deref(),
            home: home.as_deref(),
        };
        let mut programs: Vec<NamedProgram> = Vec::new();
        let mut own_program = None;
        for started in policy::started_programs(line) {
            let Some(program) = look.program(&started) else {
                continue;
            };
            let is_obeyed = matches!(
                started.kind,
                StartedKind::ProjectFile { .. } | StartedKind::ImportedModules
            );
            if program.own && !is_obeyed && own_program.is_none() {
                own_program = Some(program.clone());
            }
            if !programs.contains(&program) {
                programs.push(program);
            }
        }
        programs.sort_by_key(|program| !program.own);
        if own_program.is_some() {
            return OutsidePrograms {
                programs,
                own_program,
                ..OutsidePrograms::default()
            };
        }
        let trusted = dirs.without(path.as_deref());
        let kept: Vec<PathBuf> = std::env::split_paths(&trusted).collect();
        let all = std::env::split_paths(path.as_deref().unwrap_or_default());
        let out = all.filter(|dir| !kept.contains(dir));
        let words = out.map(|dir| match dir.as_os_str().is_empty() {
            true => ".".to_owned(),
            false => dir.to_string_lossy().into_owned(),
        });
        OutsidePrograms {
            programs,
            left_out: words.collect(),
            path: Some(trusted),
            own_program: None,
        }
    }

    /// A variable as the command gets it.
    fn value(&self, name: &str, position: &ShellPosition) -> Option<String> {
        match position.altered.get(name) {
            Some(value) => value.clone(),
            None => {
                let mut known = self.env.iter();
                let found = known.find(|(known, _)| known == name);
                found.map(|(_, value)| value.clone())
            }
        }
    }
}

impl OutsidePrograms {
    /// The first program that the session may change.
    pub fn own(&self) -> Option<&NamedProgram> {
        self.own_program.as_ref()
    }

    /// Whether the session may change what runs: one of its programs, or a file that a runner obeys.
    pub fn runs_own_files(&self) -> bool {
        self.programs.iter().any(|program| program.own)
    }
}

/// Why a program of the session's own is asked about, in words.
pub fn reason(program: &NamedProgram) -> String {
    match &program.path {
        Some(path) => format!(
            "`{}` is `{path}`, which this session may change, and no sandbox restricts it",
            program.name
        ),
        None => format!(
            "which program `{}` is depends on what the command does before, and no sandbox restricts it",
            program.name
        ),
    }
}

struct Look<'a> {
    dirs: &'a WritableDirs,
    cwd: &'a Path,
    path: Option<&'a str>,
    home: Option<&'a str>,
}

impl Look<'_> {
    /// `None`: there is no such program, so that none starts.
    fn program(&self, started: &StartedProgram) -> Option<NamedProgram> {
        let name = &started.name;
        let unknown = || {
            Some(NamedProgram {
                name: name.clone(),
                path: None,
                own: true,
            })
        };
        let cwd = match &started.dir {
            Setting::Unchanged => self.cwd.to_path_buf(),
            Setting::To(dir) => self.cwd.join(dir),
            // Only a relative name depends on it.
            Setting::Unknown if name.contains('/') => return unknown(),
            Setting::Unknown => self.cwd.to_path_buf(),
        };
        let path = match &started.path {
            Setting::Unchanged => self.path.map(str::to_owned),
            Setting::To(path) => Some(self.filled(path)),
            Setting::Unknown => return unknown(),
        };
        let name_at = match (name.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => format!("{home}/{rest}"),
            // A directory that the line makes: `..` leads out of it all the same.
            _ if name.contains('/') && !cwd.is_dir() => path_clean::clean(cwd.join(name))
                .to_string_lossy()
                .into_owned(),
            _ => name.clone(),
        };
        let path = path.as_deref();
        let found = match started.kind {
            StartedKind::Program => self.dirs.find(&name_at, &cwd, path)?,
            StartedKind::Script | StartedKind::ProjectFile { upward: false } => {
                self.dirs.find_script(&name_at, &cwd, path)?
            }
            StartedKind::ImportedModules => return self.modules(name, &cwd),
            StartedKind::ProjectFile { upward: true } => {
                let mut dirs = cwd.ancestors();
                dirs.find_map(|dir| self.dirs.find_script(&name_at, dir, path))?
            }
        };
        Some(NamedProgram {
            name: name.clone(),
            path: Some(found.path.to_string_lossy().into_owned()),
            own: found.own,
        })
    }

    /// The modules in a directory, if there are any, as one program.
    fn modules(&self, name: &str, dir: &Path) -> Option<NamedProgram> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let is_module = |path: &PathBuf| {
            path.extension()
                .is_some_and(|extension| MODULES.iter().any(|known| extension == *known))
                || path.join("__init__.py").exists()
        };
        let mut modules = entries.map(|entry| entry.path()).filter(is_module);
        let found = modules.find_map(|module| {
            let name = module.to_str()?;
            self.dirs.find_script(name, dir, None).or_else(|| {
                self.dirs
                    .find_script(&format!("{name}/__init__.py"), dir, None)
            })
        })?;
        Some(NamedProgram {
            name: name.to_owned(),
            path: Some(dir.to_string_lossy().into_owned()),
            own: found.own,
        })
    }

    /// A `PATH` that the line sets, with its earlier value inserted.
    fn filled(&self, path: &str) -> String {
        let cwd = self.cwd.to_string_lossy();
        let before = self.path.unwrap_or_default();
        let names = [
            ("${PATH}", before),
            ("$PATH", before),
            ("${PWD}", &*cwd),
            ("$PWD", &*cwd),
        ];
        let path = path.to_owned();
        names
            .iter()
            .fold(path, |path, (name, value)| path.replace(name, value))
    }
}

#[cfg(test)]
mod tests;
