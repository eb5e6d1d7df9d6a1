//! What the repository of a session has git run even if a command only shows something: looked up before a command of git is
//! judged. And what git reads or runs in the workspace by its config, which is protected.
//!
//! `workspace` opens the files, `policy` knows their meaning; this module connects the two, within bounds. Blocks.

use std::collections::{BTreeSet, HashSet};
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
    let mut look = GitConfigReader::new(workspace, user_home);
    let mut found = Vec::new();
    for at in &directories {
        match look.programs_of(at) {
            Ok(programs) => found.extend(programs),
            Err(why) => found.push(why),
        }
    }
    found
}

/// The files that hold settings for all repositories of a machine.
const OF_THE_MACHINE: [&str; 3] = [
    "/etc/gitconfig",
    "/usr/local/etc/gitconfig",
    "/opt/homebrew/etc/gitconfig",
];

/// Has the workspace protect what git reads as config or runs as hooks in these work trees, because their config or the
/// user's own names it. False if that may not be all.
pub(crate) fn protect_named(
    workspace: &Workspace,
    env: &[(String, String)],
    trees: impl IntoIterator<Item = PathBuf>,
) -> bool {
    let trees: BTreeSet<PathBuf> = trees.into_iter().collect();
    if trees.is_empty() {
        return true;
    }
    let mut look = GitConfigReader::new(workspace, workspace.user_home());
    let of_user = look.of_user(env);
    let mut whole = true;
    for at in trees
        .iter()
        .filter_map(|tree| workspace.git_directory_of(tree))
    {
        let own = look.settings(&at);
        whole &= own.is_ok();
        let own = own.unwrap_or_default();
        let hooks = |settings: &[GitSetting]| {
            policy::git_hooks_paths(settings).fold(true, |all, path| {
                let path = look.expanded(path);
                path.is_ok_and(|path| workspace.add_git_hooks(&at.top.join(path))) && all
            })
        };
        whole &= hooks(&own);
        // A place that only git can locate is none in a workspace.
        hooks(&of_user);
        for program in policy::git_hook_programs(&own).chain(policy::git_hook_programs(&of_user)) {
            whole &= workspace.add_git_named(&at.top.join(program));
        }
    }
    let mut included = look.included.iter();
    included.all(|file| workspace.add_git_named(file)) && whole
}

struct GitConfigReader<'a> {
    workspace: &'a Workspace,
    user_home: &'a Path,
    files: usize,
    /// Files that were included, existing or not.
    included: BTreeSet<PathBuf>,
}

impl<'a> GitConfigReader<'a> {
    fn new(workspace: &'a Workspace, user_home: &'a Path) -> Self {
        Self {
            workspace,
            user_home,
            files: 0,
            included: BTreeSet::new(),
        }
    }

    /// The settings of the user and of the machine. What cannot be read is left out: git runs as the same user.
    fn of_user(&mut self, env: &[(String, String)]) -> Vec<GitSetting> {
        let set = |name: &str| {
            let value = env.iter().find(|(known, _)| known == name);
            value.map(|(_, value)| PathBuf::from(value))
        };
        let xdg = set("XDG_CONFIG_HOME").filter(|dir| dir.is_absolute());
        let mut waiting = match set("GIT_CONFIG_GLOBAL") {
            Some(file) => vec![file],
            None => vec![
                self.user_home.join(".gitconfig"),
                xdg.unwrap_or_else(|| self.user_home.join(".config"))
                    .join("git/config"),
            ],
        };
        match set("GIT_CONFIG_SYSTEM") {
            Some(file) => waiting.push(file),
            None => waiting.extend(OF_THE_MACHINE.map(PathBuf::from)),
        }
        let mut seen: HashSet<PathBuf> = HashSet::new();
        let mut settings = Vec::new();
        while let Some(file) = waiting.pop() {
            if !seen.insert(file.clone()) || seen.len() > FILES_MAX {
                continue;
            }
            let bytes = self.workspace.user_git_file(&file).unwrap_or_default();
            let read = policy::git_config(&bytes).unwrap_or_default();
            let beside = file.parent().unwrap_or(Path::new("/"));
            for include in policy::git_includes(&read) {
                if let Ok(path) = self.expanded(include) {
                    self.included.insert(beside.join(&path));
                    waiting.push(beside.join(path));
                }
            }
            settings.extend(read);
        }
        settings
    }

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
        // Its tracked files would be looked for in the wrong place.
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
                let path = beside.join(self.expanded(include)?);
                self.included.insert(path.clone());
                waiting.push(path);
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
