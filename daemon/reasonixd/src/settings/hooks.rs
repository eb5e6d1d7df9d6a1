//! The files with hooks: the project's, which count where it is trusted, and the user's own. Called by `layers`.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use ::hooks::{Hook, HookScope, Hooks, ParsedHooks};

use super::{project, read};

/// What both files say.
#[derive(Default)]
pub(super) struct HookFiles {
    /// The project's file, where it can be read.
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

/// Neither the file nor the directory that it stands in may lead elsewhere.
fn no_link(file: &Path) -> std::io::Result<String> {
    let directory = file.parent().unwrap_or(file);
    if directory.symlink_metadata()?.is_symlink() {
        let what = format!("`{}` is a link", directory.display());
        return Err(Error::new(ErrorKind::InvalidInput, what));
    }
    read::no_link(file)
}
