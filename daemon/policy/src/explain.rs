//! Why a call was judged as it was: for `permissions explain`, for the preview of an approval request, and for the log.
//!
//! Built by the code that decides, so that the two cannot differ.

use contract::{Basis, Decision};
use proto::record::Verdict;
use serde::Serialize;

use crate::decide::JudgedPart;
use crate::shell::{Doubt, NestingStep, Span};

/// A decision and its explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The whole verdict, as returned by [`crate::decide`].
    pub decision: Decision,
    /// Why a command line is not understood as a whole. Its parts may then be incomplete.
    pub doubt: Option<Doubt>,
    /// The commands or paths of the call, in their order.
    pub parts: Vec<ExplainedPart>,
}

/// One command or path, judged separately: before the approval mode, and without findings about the line as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedPart {
    pub text: String,
    /// Its position in the command line. Absent for paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// How it is reached, from the outermost step inwards. Empty: it is at the top level of the line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<NestingStep>,
    /// Why its effect is unknown before it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Doubt>,
    pub verdict: Verdict,
    /// The rule that decided, or the reason if none did.
    pub rule: String,
    /// The layer of that rule.
    pub layer: String,
}

/// The explanation as one JSON object: the decision and the parts.
#[derive(Serialize)]
struct ExplanationJson<'a> {
    verdict: Verdict,
    rule: &'a str,
    basis: &'static str,
    layer: &'a str,
    read_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    doubt: Option<Doubt>,
    parts: &'a [ExplainedPart],
}

impl Serialize for Explanation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ExplanationJson {
            verdict: self.decision.verdict,
            rule: &self.decision.rule,
            basis: match self.decision.basis {
                Basis::Rule => "rule",
                Basis::Fallback => "fallback",
                Basis::AlwaysAsked => "always_asked",
                Basis::NotAnalysed => "not_understood",
                Basis::EffectivePermissions => "mode",
            },
            layer: &self.decision.layer,
            read_only: self.decision.read_only,
            doubt: self.doubt,
            parts: &self.parts,
        }
        .serialize(serializer)
    }
}

impl ExplainedPart {
    pub(crate) fn of(part: JudgedPart) -> Self {
        Self {
            text: part.text,
            span: part.span,
            via: part.via,
            doubt: part.doubt,
            verdict: part.finding.verdict,
            rule: part.finding.rule,
            layer: part.finding.layer.to_string(),
        }
    }
}
