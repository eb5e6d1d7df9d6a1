//! What policy decides about a call.

use proto::params::interaction::Scope;
use proto::record::Verdict;
use proto::state::Mode;

use crate::sandbox_spec::SandboxStrength;

/// The whole of a decision: the same for deciding, showing and logging.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub verdict: Verdict,
    /// The rule that decided, or what took its place: `fallback`, `always asked`, `not a plain command`.
    pub rule: String,
    /// What kind of reason decided; `rule` says it in words.
    pub basis: Basis,
    /// Where the rule stands: `user`, `project`, `session`, `run`, `built-in`; [`EffectivePermissions::LAYER`] where it is none.
    pub layer: String,
    /// The simple commands or paths that were judged.
    pub parts: Vec<String>,
    /// What a yes may cover, narrowest first; empty where only "once" makes sense.
    pub scopes: Vec<Scope>,
    /// Whether this very call only reads: the scheduler runs such calls side by side.
    pub read_only: bool,
    pub confinement: Confinement,
    /// Whether that may answer in a person's place, if it holds: no rule and no list asks, only that nobody said
    /// anything, or that what a command does is not known before it runs.
    pub confinement_suffices: bool,
}

impl Decision {
    /// The layer of decisions that the `allowed-tools` of a skill in force made.
    pub const SKILL_LAYER: &'static str = "skill";
    /// The layer of decisions that the reviewer of risky calls made.
    pub const REVIEWER_LAYER: &'static str = "reviewer";
    /// The layer of denials that the user's answer about another call of the same answer brought with it.
    pub const ANSWER_LAYER: &'static str = "answer";
}

/// What kind of reason decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// A rule that somebody wrote, or a grant that somebody gave.
    Rule,
    /// No rule said anything: readers are allowed, writers follow the approval mode.
    Fallback,
    /// On the list of what is always asked, whatever the approval mode.
    AlwaysAsked,
    /// It could not be understood well enough to be covered by a rule for less than its family. A sandbox may cover it.
    NotAnalysed,
    /// What the session may do now, whatever the rules say: plan mode, a session that only reads.
    EffectivePermissions,
}

/// How an allowed call is contained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// File tools: writes only below the writable roots, by directory handles.
    Files,
    /// A sandboxed command, and how strong the sandbox is.
    Sandbox(SandboxStrength),
    /// Only by the user's rights: a command without a sandbox.
    None,
}

/// What a session may do now, before any rule is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EffectivePermissions {
    pub mode: Mode,
    /// Calls that change anything are refused. No mode and no plan lifts it.
    pub read_only: bool,
    /// The turn carries out a plan that a person has approved.
    pub plan_approved: bool,
}

impl EffectivePermissions {
    /// What stands in the place of a layer in decisions that the effective permissions made.
    pub const LAYER: &'static str = "mode";
    pub const PLAN_MODE: &'static str = "plan mode";
    pub const READ_ONLY: &'static str = "read-only session";

    /// Why a call that changes something is refused: what stands in the place of a rule.
    #[must_use]
    pub fn refuses(self) -> Option<&'static str> {
        match (self.read_only, self.mode) {
            (true, _) => Some(Self::READ_ONLY),
            (false, Mode::Plan) => Some(Self::PLAN_MODE),
            (false, Mode::Normal) => None,
        }
    }
}
