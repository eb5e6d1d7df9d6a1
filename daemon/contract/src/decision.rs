//! What policy decides about a call.

use proto::params::approval::Scope;
use proto::record::Verdict;

/// The whole of a decision: the same for deciding, showing and logging.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub verdict: Verdict,
    /// The rule that decided, or what took its place: `fallback`, `always asked`, `not a plain command`.
    pub rule: String,
    /// Where the rule stands: `user`, `project`, `session`, `run`, `built-in`.
    pub layer: String,
    /// The simple commands or paths that were judged.
    pub parts: Vec<String>,
    /// What a yes may cover, narrowest first; empty where only "once" makes sense.
    pub scopes: Vec<Scope>,
    /// Whether this very call only reads: the scheduler runs such calls side by side.
    pub read_only: bool,
    pub confinement: Confinement,
}

/// What holds a call that is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// File tools: writes only below the writable roots, by directory handles.
    Files,
    /// Nothing but the user's rights: a command without a sandbox layer.
    None,
}
