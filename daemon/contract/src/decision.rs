//! What policy decides about a call.

use proto::params::approval::Scope;
use proto::record::Verdict;

/// The whole of a decision: the same for deciding, showing and logging.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub verdict: Verdict,
    /// The rule that decided, or what took its place: `fallback`, `always asked`, `not a plain command`.
    pub rule: String,
    /// What kind of reason decided; `rule` says it in words.
    pub basis: Basis,
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

/// What kind of reason decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A rule that somebody wrote, or a grant that somebody gave.
    Rule,
    /// No rule said anything: readers are allowed, writers follow the posture.
    Fallback,
    /// On the list of what is always asked, whatever the posture.
    AlwaysAsked,
    /// It could not be understood well enough to be covered by anything.
    NotAnalysed,
}

/// What holds a call that is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// File tools: writes only below the writable roots, by directory handles.
    Files,
    /// Nothing but the user's rights: a command without a sandbox layer.
    None,
}
