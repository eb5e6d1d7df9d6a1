//! Git worktrees of sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// What became of the git worktree of a session.
    WorktreeState default InUse {
        /// Its session has not exited.
        InUse = "in_use",
        /// Nothing in it had changed: it was removed, with its branch.
        Removed = "removed",
        /// Its session has exited, and something in it has changed: it stays.
        Kept = "kept",
        /// Its changes could not be determined, or it could not be removed: it stays.
        Unknown = "unknown",
    }
}

words! {
    /// Kind of what a worktree's commits and files do not contain.
    LeftKind default Commit {
        /// A commit on another branch, or on none since an amend, a reset or a switch.
        Commit = "commit",
        /// A stash.
        Stash = "stash",
        /// What is in the directory of another repository inside, a submodule for example.
        Repository = "repository",
        /// The worktree of another session that was made from this one.
        Worktree = "worktree",
    }
}

/// What a worktree's commits and files do not contain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftBehind {
    pub kind: LeftKind,
    /// The commit with its branches, the stash, or the path.
    pub name: String,
}

/// Answer of `session.worktree`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeOutput {
    /// Absent: the session has no worktree, or it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<WorktreeReport>,
}

/// The git worktree of a session: what changed in it, and how to take it over or delete it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeReport {
    pub state: WorktreeState,
    pub path: String,
    pub branch: String,
    /// Commit that it was made from.
    pub base: String,
    /// The user's checkout that it was made from.
    pub origin: String,
    /// Paths that differ from `base`, sorted; at most 200 of them.
    #[serde(default)]
    pub changed: Vec<String>,
    /// Number of further changed paths.
    #[serde(default)]
    pub more: u64,
    /// Number of commits that were added.
    #[serde(default)]
    pub commits: u64,
    /// Paths of the checkout with uncommitted changes when it was made: those changes are not in it.
    #[serde(default)]
    pub left_out: u64,
    /// Why its changes are unknown, or why it was not removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Shell commands that bring its changes into the checkout, in order. Empty: there are none.
    #[serde(default)]
    pub take_over: Vec<String>,
    /// A merge, rebase, cherry-pick or revert is not finished in it, so there are no such commands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// What these commands do not bring.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<LeftBehind>,
    /// Shell command that deletes it and its branch, with all changes. Absent: it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete: Option<String>,
}
