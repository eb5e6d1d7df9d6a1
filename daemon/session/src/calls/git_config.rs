//! What the repository of a session has git run where it only shows something: looked up before a command of git is
//! judged.
//!
//! `workspace` opens the files, `policy` knows what they mean; here one leads to the other, within bounds. Blocks.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use policy::GitSetting;
use workspace::{GitDirectory, Workspace};

/// Files of config that are read for one command, all repositories together.
const FILES_MAX: usize = 1024;

/// Each program in words, or why it is not known which there are. Empty: git runs nothing but itself.
pub(crate) fn programs(workspace: &Workspace, user_home: &Path) -> Vec<String> {
    let directories = match workspace.git_directories() {
        Ok(directories) => directories,
        Err(why) => return vec![why],
    };
    let mut look = GitConfigReader {
        workspace,
        user_home,
        files: 0,
    };
    let mut found = Vec::new();
    for at in &directories {
        match look.programs_of(at) {
            Ok(programs) => found.extend(programs),
            Err(why) => found.push(why),
        }
    }
    found
}

struct GitConfigReader<'a> {
    workspace: &'a Workspace,
    user_home: &'a Path,
    files: usize,
}

impl GitConfigReader<'_> {
    fn programs_of(&mut self, at: &GitDirectory) -> Result<Vec<String>, String> {
        let settings = self.settings(at)?;
        let mut found = policy::git_programs(&settings, at.inner);
        let hooks = match policy::git_hooks_path(&settings) {
            Some(path) => at.top.join(self.expanded(path)?),
            None => at.common.join("hooks"),
        };
        for hook in policy::git_reader_hooks(&settings) {
            if self.workspace.could_run(&hooks.join(hook)) {
                found.push(format!("the hook `{hook}`"));
            }
        }
        // What it tracks would be looked for in the wrong place.
        let trees = settings.iter().filter(|one| one.name == "core.worktree");
        for tree in trees.filter_map(|one| one.value.as_deref()) {
            let there = std::path::absolute(at.own.join(tree));
            if !there.is_ok_and(|there| self.workspace.same_place(&there, &at.top)) {
                found.push("files in another directory (`core.worktree`)".to_owned());
            }
        }
        Ok(found)
    }

    /// All settings of a repository, of the files that it includes too.
    fn settings(&mut self, at: &GitDirectory) -> Result<Vec<GitSetting>, String> {
        let mut waiting: Vec<PathBuf> = vec![
            at.own.join("config.worktree"),
            at.own.join("config"),
            at.common.join("config"),
        ];
        let mut seen: HashSet<PathBuf> = HashSet::new();
        let mut settings = Vec::new();
        while let Some(file) = waiting.pop() {
            if !seen.insert(file.clone()) {
                continue;
            }
            self.files += 1;
            if self.files > FILES_MAX {
                return Err(format!("it has more than {FILES_MAX} config files"));
            }
            let Some(bytes) = self.workspace.git_file(&file)? else {
                continue;
            };
            let read = policy::git_config(&bytes);
            let read = read.map_err(|problem| format!("{}: {problem}", shown(&file)))?;
            let beside = file.parent().unwrap_or(Path::new("/"));
            for include in policy::git_includes(&read) {
                waiting.push(beside.join(self.expanded(include)?));
            }
            settings.extend(read);
        }
        Ok(settings)
    }

    /// A path as config has it.
    fn expanded(&self, path: &str) -> Result<PathBuf, String> {
        if let Some(rest) = path.strip_prefix("~/") {
            return Ok(self.user_home.join(rest));
        }
        if path.starts_with(['~', '%', ':']) || path.contains('\u{fffd}') {
            return Err("its config includes a file that cannot be located".to_owned());
        }
        Ok(PathBuf::from(path))
    }
}

fn shown(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default();
    format!("its file `{}`", name.to_string_lossy().replace('`', "'"))
}
