//! The facts that a decision depends on besides the call: supplied by the session, read by `decide`.

use std::path::PathBuf;

use contract::{EffectivePermissions, SandboxStrength};
use proto::state::ApprovalMode;

use crate::call::Access;

/// A path of the call, resolved by `workspace`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPath {
    /// The path as the subject wrote it.
    pub text: String,
    pub access: Access,
    /// Absolute and free of links. `None` if the path cannot be resolved.
    pub absolute: Option<PathBuf>,
    /// Below a writable root.
    pub writable: bool,
    /// Whether the file configures the agent, its repository, an editor or a shell, by its resolved path or by its name
    /// here.
    pub protected: bool,
    /// Belongs to the agent or exposes a process: no tool may read it, and commands need approval.
    pub masked: bool,
    /// Matches `sandbox.deny_read`.
    pub denied: bool,
    /// Whether the directory contains, or may contain, masked or denied files.
    pub holds_closed: bool,
    /// Whether it is a directory, or counts as one.
    pub directory: bool,
    /// A checkpoint cannot save the file: changes of it cannot be undone.
    pub unkept: bool,
    /// Why the path cannot be used in this way (masked, outside, a loop), as reported by `workspace`.
    pub error: Option<String>,
}

/// The facts that a decision depends on besides rules and call.
#[derive(Clone, Debug)]
pub struct Context {
    /// The paths of the call, resolved.
    pub paths: Vec<ResolvedPath>,
    /// The workspace root, absolute and free of links.
    pub root: PathBuf,
    /// The base of relative paths, absolute and free of links.
    pub cwd: PathBuf,
    pub user_home: PathBuf,
    /// Variables that earlier commands have changed.
    pub altered: Vec<String>,
    /// Programs that the root's repository makes git run although it only shows something, as text
    /// ([`git_programs`](crate::git_programs)). If they are unknown, the reason.
    pub git_programs: Vec<String>,
    /// The agent's own directories: a command that names one always asks.
    pub masked: Vec<PathBuf>,
    pub approval_mode: ApprovalMode,
    /// The session's effective permissions. They take precedence over all rules.
    pub effective_permissions: EffectivePermissions,
    /// How strongly the sandbox restricts commands.
    pub sandbox: SandboxStrength,
    /// Whether the sandbox leaves commands some access to files that are closed to tools or denied by a rule over
    /// paths.
    pub leaks: bool,
    /// Why a command would run with a weaker sandbox than the settings demand, if it would. Only a user may allow that.
    pub unconfined: Option<String>,
    /// Whether the user trusts the directory. If not, the caller must not take a looser approval mode from it into
    /// `approval_mode`, and its allow rules do not count.
    pub trusted: bool,
}

impl Context {
    /// Whether the kernel keeps commands away from everything that is closed to tools.
    pub(crate) fn holds_paths(&self) -> bool {
        self.sandbox == SandboxStrength::Full && !self.leaks
    }
}
