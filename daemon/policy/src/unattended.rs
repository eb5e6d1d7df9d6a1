//! How `on_ask` handles approval requests.
//!
//! Called by the session for a decision whose verdict is `Ask`; total for the other verdicts too.

use contract::{Basis, Confinement, Decision, SandboxStrength};
use proto::record::Verdict;
use proto::state::OnAsk;

use crate::command::quoted;

/// How `on_ask` handles a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unattended {
    Allow,
    /// Denied at once, with a text that says how to allow it.
    Deny(String),
    /// Stays open until a user answers.
    Wait,
}

/// Handles a decision without asking a user. `attached`: whether a client that may approve is attached.
/// `accept_partial`: the user accepts a partial sandbox as a sandbox. `sandboxed` allows calls whose confinement
/// suffices and is enforced: that of the file tools, or the sandbox of commands. `allow` approves every request except
/// those that only a user may approve. Deny rules apply in each.
#[must_use]
pub fn unattended(
    decision: &Decision,
    on_ask: OnAsk,
    attached: bool,
    accept_partial: bool,
) -> Unattended {
    match decision.verdict {
        Verdict::Allow => return Unattended::Allow,
        Verdict::Deny => return Unattended::Deny(format!("denied: {}", decision.rule)),
        Verdict::Ask => {}
    }
    match on_ask {
        OnAsk::Wait | OnAsk::Park => Unattended::Wait,
        OnAsk::Deny => Unattended::Deny(words(
            decision,
            "`--on-ask deny` denies every approval request",
        )),
        OnAsk::Allow if decision.basis != Basis::AlwaysAsked => Unattended::Allow,
        OnAsk::Sandboxed
            if decision.confinement_suffices && held(decision.confinement, accept_partial) =>
        {
            Unattended::Allow
        }
        OnAsk::Allow | OnAsk::Sandboxed if attached => Unattended::Wait,
        OnAsk::Allow | OnAsk::Sandboxed => {
            Unattended::Deny(words(decision, "no client is attached to answer"))
        }
    }
}

/// Whether a confinement is strong enough to replace a user's approval.
fn held(confinement: Confinement, accept_partial: bool) -> bool {
    match confinement {
        Confinement::Files | Confinement::Sandbox(SandboxStrength::Full) => true,
        Confinement::Sandbox(SandboxStrength::Partial) => accept_partial,
        Confinement::Sandbox(SandboxStrength::None) | Confinement::None => false,
    }
}

/// The same for the model's questions and plans, which only a user can answer. Nothing is denied: the model is notified
/// that no client is attached.
#[must_use]
pub fn unasked(on_ask: OnAsk, attached: bool) -> bool {
    match on_ask {
        OnAsk::Wait | OnAsk::Park => false,
        OnAsk::Deny => true,
        OnAsk::Allow | OnAsk::Sandboxed => !attached,
    }
}

/// Why it is denied, and how to allow it.
fn words(decision: &Decision, why: &str) -> String {
    let asked = format!("this call needs approval ({}), and {why}", decision.rule);
    let attach = "attach to the session and answer";
    let asked = match decision.confinement {
        // With a full sandbox it would have been allowed: the text explains why it was not.
        Confinement::Sandbox(SandboxStrength::Partial) if decision.confinement_suffices => format!(
            "{asked}. The sandbox here is partial and replaces approval only with `sandbox.accept_partial = true`"
        ),
        Confinement::Files | Confinement::Sandbox(_) | Confinement::None => asked,
    };
    match decision.basis {
        Basis::EffectivePermissions => asked,
        Basis::AlwaysAsked => format!("{asked}. No rule can allow it: {attach}"),
        Basis::Rule => format!("{asked}. To allow it, use `--on-ask allow`, or {attach}"),
        Basis::NotAnalysed => format!(
            "{asked}. To allow it, use one plain command that a rule covers or `--on-ask allow`, or {attach}"
        ),
        Basis::Fallback => {
            let rule = decision
                .scopes
                .first()
                .map_or("Bash(...)", |scope| scope.rule.as_str());
            let rule = rule.replace('\'', "'\\''");
            let allow = quoted(&format!("--allow '{rule}'"));
            format!("{asked}. To allow it, use {allow} or `--on-ask allow`, or {attach}")
        }
    }
}
