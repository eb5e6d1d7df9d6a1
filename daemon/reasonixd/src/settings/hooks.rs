//! The files with hooks: the project's, which count if it is trusted, and the user's own. Called by `layers`.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use ::hooks::{Hook, HookFile, HookScope, Hooks, ParsedHooks};

use super::{project, read};

/// What both files say.
#[derive(Default)]
pub(super) struct HookFiles {
    /// The project's file, if it can be read.
    pub project: Option<PathBuf>,
    theirs: ParsedHooks,
    own: ParsedHooks,
    problems: Vec<String>,
}

impl HookFiles {
    /// Reads the files that count in a directory.
    pub fn read(home: &Path, cwd: Option<&Path>, user_home: &Path) -> Self {
        let mut found = Self::default();
        let own = home.join("settings.json");
        let theirs = cwd
            .and_then(|cwd| project::hooks_of(cwd, user_home))
            .filter(|file| *file != own && !file.starts_with(home));
        if let Some(text) = found.text(&own, read::following(&own)) {
            found.own = ::hooks::read(&text, &own, HookScope::Home);
        }
        if let Some(file) = theirs
            && let Some(text) = found.text(&file, no_link(&file))
        {
            found.theirs = ::hooks::read(&text, &file, HookScope::Project);
            for hook in &mut found.theirs.hooks {
                hook.files = files_of(hook);
            }
            found.project = Some(file);
        }
        found
    }

    fn text(&mut self, file: &Path, text: std::io::Result<String>) -> Option<String> {
        match text {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                let place = file.display();
                self.problems.push(format!(
                    "{place}: cannot be read, so none of its hooks run: {error}"
                ));
                None
            }
        }
    }

    /// The project's hooks as somebody is shown them who is to trust them.
    pub fn lines(&self) -> Vec<String> {
        self.theirs.hooks.iter().map(Hook::line).collect()
    }

    /// All hooks, in the order in which they run.
    pub fn finish(self, trusted: bool) -> Hooks {
        let theirs = self.theirs.hooks.into_iter().map(|mut hook| {
            hook.trusted = trusted;
            hook
        });
        let problems = self.theirs.problem.into_iter().chain(self.own.problem);
        Hooks {
            hooks: theirs.chain(self.own.hooks).collect(),
            problems: self.problems.into_iter().chain(problems).collect(),
        }
    }
}

/// What programs that run or obey their directory read there first: of a hook outside the sandbox these are part of
/// the trusted content, also if they are missing.
const CONFIG_FILES: [&str; 20] = [
    "package.json",
    ".npmrc",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Cargo.toml",
    "build.rs",
    ".cargo/config.toml",
    "rust-toolchain.toml",
    "pyproject.toml",
    "uv.toml",
    "setup.py",
    "tox.ini",
    "noxfile.py",
    ".pre-commit-config.yaml",
    ".prettierrc",
    ".prettierrc.js",
    "eslint.config.js",
    ".git/config",
];

/// Files in the project that a hook uses which is to run outside the sandbox: those that its command names, and the
/// configuration of programs it may start. Empty for any other hook.
fn files_of(hook: &Hook) -> Vec<HookFile> {
    let Some(project) = hook.project().filter(|_| hook.sandbox == Some(false)) else {
        return Vec::new();
    };
    let script = policy::read(&hook.command);
    let words = script.parts.iter().flat_map(|part| &part.words);
    let named = words.map(|word| word.text.trim_start_matches("./"));
    let configs = CONFIG_FILES.iter().copied();
    let mut paths: Vec<PathBuf> = named
        .filter(|word| !word.is_empty())
        .map(|word| project.join(word))
        .filter(|path| path.starts_with(project) && path.is_file())
        .chain(configs.map(|name| project.join(name)))
        .collect();
    // A variable for the project is the project.
    for variable in ["REASONIX_PROJECT_DIR", "CLAUDE_PROJECT_DIR"] {
        for form in [format!("${variable}/"), format!("${{{variable}}}/")] {
            paths.extend(
                hook.command
                    .replace('"', "")
                    .split_whitespace()
                    .filter_map(|word| word.strip_prefix(&form).map(|rest| project.join(rest))),
            );
        }
    }
    paths.sort();
    paths.dedup();
    paths.into_iter().map(HookFile::read).collect()
}

/// Neither the file nor the directory that it is in may lead elsewhere.
fn no_link(file: &Path) -> std::io::Result<String> {
    let directory = file.parent().unwrap_or(file);
    if directory.symlink_metadata()?.is_symlink() {
        let what = format!("`{}` is a link", directory.display());
        return Err(Error::new(ErrorKind::InvalidInput, what));
    }
    read::no_link(file)
}
