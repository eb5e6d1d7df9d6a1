//! Why a call was judged as it was: for `permissions explain`, for the preview of a question, and for the log.
//!
//! Made by the walk that decides, never by another one.

use contract::{Basis, Decision};
use proto::record::Verdict;
use serde::Serialize;

use crate::decide::JudgedPart;
use crate::shell::{Doubt, NestingStep, Span};

/// A decision, and how it came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The whole verdict, as [`crate::decide`] gives it.
    pub decision: Decision,
    /// Why a command line as such is not understood. Its parts may then be incomplete.
    pub doubt: Option<Doubt>,
    /// The commands or paths of the call, in the order in which they stand.
    pub parts: Vec<ExplainedPart>,
}

/// One command or path, judged by itself: before the approval mode, and without what is said of the line as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedPart {
    pub text: String,
    /// Where in the command line it stands. Absent for paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// How it is reached, from the line inwards. Empty: it is one of the commands that follow each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<NestingStep>,
    /// Why what it runs is not known before it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Doubt>,
    pub verdict: Verdict,
    /// The rule that decided, or what took its place.
    pub rule: String,
    /// Where that rule stands.
    pub layer: String,
}

/// The same as one JSON object: what the decision says, and the parts.
#[derive(Serialize)]
struct Shown<'a> {
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
        Shown {
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
