//! What has changed in a worktree since it was made, and what its commits do not contain.
//!
//! Only a worktree in which nothing was made is removed, so what git does not show by itself is looked for too: files
//! that the index hides, repositories inside, commits and stashes that its branch does not have.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use proto::params::worktree::{LeftBehind, LeftKind};
use store::worktrees::{self as entries, Worktree};
use workspace::GitDirs;

use super::git::Git;
use crate::supervisor::Supervisor;
use crate::tasks::blocking;

/// Maximum number of commits that are named.
const COMMITS_MAX: usize = 20;
/// What git keeps in the directory of a work tree until a merge, rebase, cherry-pick or revert is finished.
const UNFINISHED: [&str; 6] = [
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
];
/// Steps in git's log of a work tree that lead to commits of others.
const STEPS_AWAY: [&str; 3] = ["checkout:", "reset:", "rebase (start):"];

/// What has changed in a worktree since it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WorktreeChanges {
    /// Paths, sorted.
    pub changed: Vec<String>,
    /// Commits that were added.
    pub commits: u64,
    /// Some changes are not committed.
    pub uncommitted: bool,
    /// The branch that it was made with has commits of its own.
    pub on_branch: bool,
    /// Its newest commit is not on that branch.
    pub elsewhere: bool,
    /// That branch is gone.
    pub branch_gone: bool,
    /// A merge or something like it is not finished.
    pub unfinished: bool,
    /// What its commits and files do not contain.
    pub left_behind: Vec<LeftBehind>,
}

impl WorktreeChanges {
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty()
            && self.commits == 0
            && !self.unfinished
            && self.left_behind.is_empty()
    }
}

impl Supervisor {
    /// What has changed in a worktree.
    pub(super) async fn changes(&self, worktree: &Worktree) -> Result<WorktreeChanges, String> {
        let git = self.git_in(worktree).await?;
        let base = worktree.base.as_str();
        let index = IndexEntries::read(&git).await?;
        let others = ["ls-files", "-z", "--others", "--exclude-standard"];
        let others = git.paths(&others).await?;
        let mut changed = git.paths(&diff(base)).await?;
        let uncommitted = !others.is_empty() || !git.paths(&diff("HEAD")).await?.is_empty();
        let mut repositories: Vec<String> = index.repositories;
        let nested = others.iter().filter_map(|path| path.strip_suffix('/'));
        repositories.extend(nested.map(str::to_owned));
        repositories.extend(repositories_in(&worktree.path).await?);
        repositories.sort();
        repositories.dedup();
        changed.extend(others);
        changed.extend(index.hidden);
        // Also what is staged and not in the files any more.
        changed.extend(git.paths(&diff("--cached")).await?);
        changed.sort();
        changed.dedup();
        let name = format!("refs/heads/{}", worktree.branch);
        let branch = git.line(&["rev-parse", "--verify", "-q", &name]).await;
        let branch_gone = branch.is_err();
        // Where the branch is gone, the base stands for it, which adds nothing.
        let own = branch.unwrap_or_else(|_| base.to_owned());
        let commits = count(&git, &["HEAD", &own, "--not", base]).await?;
        let on_branch = count(&git, &[&own, "--not", base]).await? > 0;
        let head = git.line(&["rev-parse", "--abbrev-ref", "HEAD"]).await?;
        let mut left_behind = commits_left_behind(&git, &own, base).await?;
        left_behind.extend(stashes(&git, &worktree.branch).await?);
        left_behind.extend(left(LeftKind::Repository, repositories));
        let made_from_it = self.worktrees_made_from(&worktree.path).await;
        left_behind.extend(left(LeftKind::Worktree, made_from_it));
        Ok(WorktreeChanges {
            changed,
            commits,
            uncommitted,
            on_branch,
            elsewhere: head.trim() != worktree.branch,
            branch_gone,
            unfinished: is_unfinished(&git.git_dir).await,
            left_behind,
        })
    }

    /// Git in a worktree, which must still be one of its repository.
    async fn git_in(&self, worktree: &Worktree) -> Result<Git, String> {
        let (path, common) = (worktree.path.clone(), worktree.common.clone());
        let dirs = blocking(move || {
            let dirs = GitDirs::of_work_tree(&path)?;
            (dirs.common() == common).then_some(dirs)
        });
        let dirs = dirs.await.map_err(|failure| failure.message)?;
        let dirs = dirs.ok_or("its `.git` file is missing or was replaced")?;
        let spawn = self.services.assembly.spawn();
        Git::open(spawn, dirs.own(), &worktree.path, &worktree.search_path).await
    }

    /// Worktrees of other sessions whose changes are to go into this one.
    async fn worktrees_made_from(&self, path: &Path) -> Vec<String> {
        let home = Arc::clone(&self.services.home);
        let found = blocking(move || entries::list(&home)).await;
        let found = found.ok().and_then(Result::ok).unwrap_or_default();
        let made_from_it = |worktree: &Worktree| worktree.source.as_deref() == Some(path);
        let found = found.into_iter().map(|(_, worktree)| worktree);
        let found = found.filter(made_from_it);
        found
            .map(|worktree| worktree.path.to_string_lossy().into_owned())
            .collect()
    }
}

/// The repositories inside a worktree, relative to it: also where git ignores the directory.
async fn repositories_in(worktree: &Path) -> Result<Vec<String>, String> {
    let root = worktree.to_owned();
    let found = blocking(move || {
        let places = workspace::guarded(&root).repositories.places;
        let below = places
            .iter()
            .filter_map(|place| place.strip_prefix(&root).ok());
        let below = below.filter(|place| !place.as_os_str().is_empty());
        let names = below.map(|place| place.to_string_lossy().into_owned());
        names.collect()
    });
    found.await.map_err(|failure| failure.message)
}

/// What git's comparisons leave out, by the index.
#[derive(Default)]
struct IndexEntries {
    /// Files that are marked as unchanged, or as not there, and are there.
    hidden: Vec<String>,
    /// Directories of other repositories in which there is something.
    repositories: Vec<String>,
}

impl IndexEntries {
    async fn read(git: &Git) -> Result<Self, String> {
        let printed = git.run(&["ls-files", "-v", "-s", "-z"]).await?;
        let tree = git.tree.clone();
        let found = blocking(move || {
            let mut found = Self::default();
            for line in printed.split(|byte| *byte == 0) {
                found.take(line, &tree);
            }
            found
        });
        found.await.map_err(|failure| failure.message)
    }

    /// Takes a line: a letter, then mode, object and stage, then a tab and the path.
    fn take(&mut self, line: &[u8], tree: &Path) {
        let is_plain = line.starts_with(b"H 1") && !line.starts_with(b"H 16");
        let Some(tab) = line.iter().position(|byte| *byte == b'\t') else {
            return;
        };
        if is_plain {
            return;
        }
        let path = &line[tab + 1..];
        let at = tree.join(OsStr::from_bytes(path));
        let path = String::from_utf8_lossy(path).into_owned();
        if line
            .get(2..)
            .is_some_and(|rest| rest.starts_with(b"160000"))
        {
            let mut there = std::fs::read_dir(&at).into_iter().flatten();
            if there.next().is_some() {
                self.repositories.push(path);
            }
        } else if line.starts_with(b"S") || line[0].is_ascii_lowercase() {
            // In a sparse checkout they are not there.
            if at.symlink_metadata().is_ok() {
                self.hidden.push(path);
            }
        }
    }
}

/// The paths that differ from a commit; for `--cached`, those of the index that differ from the newest one.
fn diff(commit: &str) -> [&str; 9] {
    [
        "diff",
        "--name-only",
        "-z",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=dirty",
        commit,
        "--",
    ]
}

async fn count(git: &Git, range: &[&str]) -> Result<u64, String> {
    let count = [&["rev-list", "--count"], range].concat();
    let count = git.line(&count).await?.parse();
    count.map_err(|_| "git counted no commits".to_owned())
}

/// Commits that were made in the worktree and are neither in its newest one nor on its branch: on other branches, or on
/// none since an amend, a reset or a switch.
async fn commits_left_behind(git: &Git, own: &str, base: &str) -> Result<Vec<LeftBehind>, String> {
    let steps = git.run(&["log", "-g", "--format=%H %gs", "HEAD"]).await?;
    let steps = String::from_utf8_lossy(&steps).into_owned();
    let made = steps.lines().filter_map(|step| {
        let (commit, step) = step.split_once(' ')?;
        let is_away = STEPS_AWAY.iter().any(|away| step.starts_with(away));
        (!is_away).then_some(commit)
    });
    let made: HashSet<&str> = made.collect();
    if made.iter().all(|commit| *commit == base) {
        return Ok(Vec::new());
    }
    let range = ["log", "--format=%H %h %D", "--decorate-refs=refs/heads"];
    let mut range = range.to_vec();
    range.extend(made.iter().copied());
    range.extend(["--not", "HEAD", own, base]);
    let found = git.run(&range).await?;
    let found = String::from_utf8_lossy(&found).into_owned();
    let found = found.lines().filter_map(|line| {
        let (commit, words) = line.split_once(' ')?;
        made.contains(commit).then(|| named(words))
    });
    Ok(left(LeftKind::Commit, found.take(COMMITS_MAX)))
}

/// A commit with the branches that end there, in brackets.
fn named(words: &str) -> String {
    match words.trim_end().split_once(' ') {
        Some((commit, branches)) => format!("{commit} ({branches})"),
        None => words.trim_end().to_owned(),
    }
}

/// Stashes that were made on the worktree's branch. All worktrees of a repository share them.
async fn stashes(git: &Git, branch: &str) -> Result<Vec<LeftBehind>, String> {
    let list = git.run(&["stash", "list", "--format=%h %gd %gs"]).await?;
    let list = String::from_utf8_lossy(&list).into_owned();
    let on = [format!("WIP on {branch}:"), format!("On {branch}:")];
    let own = list.lines().filter_map(|line| {
        let (commit, rest) = line.split_once(' ')?;
        let (name, words) = rest.split_once(' ')?;
        let is_own = on.iter().any(|on| words.starts_with(on));
        // Later stashes shift the names.
        is_own.then(|| format!("{commit} ({name})"))
    });
    Ok(left(LeftKind::Stash, own))
}

fn left(kind: LeftKind, names: impl IntoIterator<Item = String>) -> Vec<LeftBehind> {
    let names = names.into_iter();
    names.map(|name| LeftBehind { kind, name }).collect()
}

async fn is_unfinished(git_dir: &Path) -> bool {
    let places = UNFINISHED.map(|name| git_dir.join(name));
    let is_there = |place: &std::path::PathBuf| place.symlink_metadata().is_ok();
    let looked = blocking(move || places.iter().any(is_there)).await;
    looked.unwrap_or(true)
}
