//! What is known of the world when a call is judged: filled in by the session, read by `decide`.

use std::path::PathBuf;

use contract::{EffectivePermissions, Strength};
use proto::state::ApprovalMode;

use crate::call::Access;

/// A subject of the call after `workspace` has followed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPath {
    /// As the subject had it.
    pub text: String,
    pub access: Access,
    /// Absolute and free of links. `None` where the path leads nowhere.
    pub absolute: Option<PathBuf>,
    /// Below a writable root.
    pub writable: bool,
    /// A file that configures the agent, its repository, an editor or a shell, by where it leads or by its name here.
    pub protected: bool,
    /// Belongs to the agent or shows a process: read by no tool, and by no command unasked.
    pub masked: bool,
    /// Falls under `sandbox.deny_read`.
    pub denied: bool,
    /// A directory that has something masked or denied in it, or may have.
    pub holds_closed: bool,
    /// A directory, or what is to be taken for one.
    pub directory: bool,
    /// What stands there cannot be kept by a checkpoint: a change of it cannot be taken back.
    pub unkept: bool,
    /// Why the path cannot be used this way (masked, outside, a loop), in the words of `workspace`.
    pub error: Option<String>,
}

/// Everything that a decision depends on beside rules and call.
#[derive(Clone, Debug)]
pub struct Context {
    /// The subjects of the call, resolved.
    pub paths: Vec<ResolvedPath>,
    /// The workspace root, absolute and free of links.
    pub root: PathBuf,
    /// Where relative paths start, absolute and free of links.
    pub cwd: PathBuf,
    pub user_home: PathBuf,
    /// Variables that earlier commands have changed for this one.
    pub altered: Vec<String>,
    /// Programs that the repository of the root has git run where it only shows something, each in words
    /// ([`git_programs`](crate::git_programs)); also why that is not known, where it is not.
    pub git_programs: Vec<String>,
    /// The agent's own directories: a command that names one is always asked about.
    pub masked: Vec<PathBuf>,
    pub approval_mode: ApprovalMode,
    /// What the session may do now. Looked at before all rules.
    pub effective_permissions: EffectivePermissions,
    /// How strongly commands are held.
    pub sandbox: Strength,
    /// What is closed to tools, or denied by a rule over paths, is not wholly closed to commands by the sandbox.
    pub leaks: bool,
    /// Why a command would run held by less than the settings demand, where it would: nobody but a person allows that.
    pub unconfined: Option<String>,
    /// Whether the user trusts the directory. Where not, a looser approval mode that came from it must not stand in
    /// `approval_mode`, and its allow rules do not count.
    pub trusted: bool,
}

impl Context {
    /// Whether the kernel keeps commands from everything that is closed to tools.
    pub(crate) fn holds_paths(&self) -> bool {
        self.sandbox == Strength::Full && !self.leaks
    }
}
