//! Forms: how an interaction is shown and answered, whatever its kind. Pure.
//!
//! A form has one of two shapes: a decision or fields. Clients work on these shapes. Everything that depends on the
//! kind of an interaction is in [`kinds`].

mod approval;
pub mod blank;
mod elicitation;
pub mod kinds;
pub mod lines;
mod programs;
pub mod reason;

use std::borrow::Cow;

use proto::params::interaction::{
    AnswerParams, ApprovalDecision, Interaction, InteractionAnswer, InteractionKind, Question,
    Reply, Scope,
};
use proto::{InteractionId, RequestId};

use crate::reply::ReplyRules;

pub use approval::{review_of, untyped_decision, untyped_decision_words, untyped_edit};
pub use kinds::{Asked, Msg, ends_plan_mode, untyped_replies};

/// How an interaction is shown and answered.
#[derive(Debug)]
pub struct Form<'a> {
    /// [`kinds::names`] has its words.
    pub kind: InteractionKind,
    /// The title of a dialog.
    pub title: Msg,
    /// The tool that asks, if the user decides about a call.
    pub tool: Option<&'a str>,
    /// Whether a dialog shows the tool's name: the title does not say what the call does.
    pub shows_tool: bool,
    /// The command, the first question, the plan: for lists and notifications.
    pub subject: &'a str,
    /// What the user judges.
    pub content: Vec<Content<'a>>,
    /// Sentences below the content in a dialog.
    pub notes: Vec<Note<'a>>,
    pub lines: Lines<'a>,
    pub shape: Shape<'a>,
}

/// A part of what the user judges.
#[derive(Debug, PartialEq, Eq)]
pub enum Content<'a> {
    Subject(&'a str),
    Text(&'a str),
    Diff {
        path: &'a str,
        diff: &'a str,
        added: u64,
        removed: u64,
    },
    Markdown(&'a str),
}

/// A sentence of the client's. `value` is text of the daemon's or of a tool's.
#[derive(Debug)]
pub struct Note<'a> {
    pub message: Msg,
    pub value: Option<&'a str>,
    pub tone: NoteTone,
}

/// How much a sentence matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoteTone {
    #[default]
    Plain,
    Warning,
    /// In red.
    Danger,
}

impl<'a> Note<'a> {
    fn new(message: Msg, value: Option<&'a str>) -> Self {
        Self {
            message,
            value,
            tone: NoteTone::Plain,
        }
    }

    fn with_tone(self, tone: NoteTone) -> Self {
        Self { tone, ..self }
    }
}

/// Words for clients that print lines, in English.
#[derive(Debug)]
pub struct Lines<'a> {
    /// The question. The id follows it.
    pub heading: String,
    /// Follows the content.
    pub note: Option<Cow<'a, str>>,
    /// How `attach` takes the answer.
    pub how_to: &'static str,
    /// Follows the tool's name in a table.
    pub name_suffix: &'static str,
}

/// What an answer consists of.
#[derive(Debug)]
pub enum Shape<'a> {
    /// Yes or no.
    Decision(Decision<'a>),
    /// Questions with options, answered one by one.
    Fields(Fields<'a>),
}

/// A yes or no, with how far a yes may reach.
#[derive(Debug)]
pub struct Decision<'a> {
    /// How far a yes may reach beyond this one time.
    pub scopes: &'a [Scope],
    /// Why it is asked.
    pub reason: Option<&'a str>,
    /// The command, if an answer may change it.
    pub command: Option<&'a str>,
    /// Set if a yes counts only once.
    pub once_only: Option<OnceOnly>,
    /// How many other calls of the same answer have no result yet: one answer can deny them too.
    pub others: u32,
    /// Whether a line with only `y` or `n` answers it.
    pub takes_one_word: bool,
    pub yes: Label,
    /// A second way to say yes, which keeps asking about calls. Plans only.
    pub yes_keep_asking: Option<Label>,
    pub no: Label,
    /// The title of the field for words to the model, which may go with a no.
    pub note_title: Msg,
    /// The decision, for the user who sent it.
    pub sent: fn(ApprovalDecision) -> &'static str,
    answer: fn(ApprovalDecision, Option<Scope>, Option<String>) -> InteractionAnswer,
}

/// Why a yes counts only once.
#[derive(Clone, Copy, Debug)]
pub struct OnceOnly {
    /// The reply to a typed line that asks for more. Empty: the prompt says enough.
    pub typed: &'static str,
    /// The error of a command that asks for more, after the id. `None`: the daemon refuses it.
    pub command: Option<&'static str>,
}

/// The words of a choice.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// In the prompt of a client that prints lines, in English.
    pub line: &'static str,
    /// Beside the key of a dialog.
    pub key: Msg,
    /// The same if there is little room.
    pub short: Msg,
}

/// Questions with options. Words of the user's own are possible, but for those that take only their options.
#[derive(Debug)]
pub struct Fields<'a> {
    pub questions: Cow<'a, [Question]>,
    /// Their titles, words and options are text of a server, which must not pass for the client's own.
    pub of_server: bool,
    /// Which of them may stay without an answer.
    optional: Vec<bool>,
    /// Which of them take only one of their options.
    only_options: Vec<bool>,
    answer: fn(Vec<Reply>) -> InteractionAnswer,
    /// The answer that gives none. `None`: the questions cannot be declined.
    decline: Option<fn() -> InteractionAnswer>,
}

impl Fields<'_> {
    /// Whether the question with this index may stay without an answer.
    #[must_use]
    pub fn is_optional(&self, index: usize) -> bool {
        self.optional.get(index) == Some(&true)
    }

    /// Whether the question with this index takes words of the user's own.
    #[must_use]
    pub fn takes_words(&self, index: usize) -> bool {
        self.only_options.get(index) != Some(&true)
    }

    /// What an answer to the question with this index may be.
    #[must_use]
    pub fn reply_rules(&self, index: usize) -> ReplyRules {
        ReplyRules {
            optional: self.is_optional(index),
            only_options: !self.takes_words(index),
        }
    }

    /// Whether the user may refuse to answer.
    #[must_use]
    pub fn can_decline(&self) -> bool {
        self.decline.is_some()
    }
}

impl<'a> Form<'a> {
    /// The fields, if it has that shape.
    #[must_use]
    pub fn fields(&self) -> Option<&Fields<'a>> {
        match &self.shape {
            Shape::Fields(fields) => Some(fields),
            Shape::Decision(_) => None,
        }
    }

    /// The decision, if it has that shape.
    #[must_use]
    pub fn decision(&self) -> Option<&Decision<'a>> {
        match &self.shape {
            Shape::Decision(decision) => Some(decision),
            Shape::Fields(_) => None,
        }
    }

    /// The subject for a list: of a change without one, the file that is changed, of another call its arguments.
    #[must_use]
    pub fn listed(&self) -> &'a str {
        let instead = || {
            self.content.iter().find_map(|content| match content {
                Content::Diff { path, .. } => Some(*path),
                Content::Text(text) => Some(*text),
                Content::Subject(_) | Content::Markdown(_) => None,
            })
        };
        match self.subject {
            "" => instead().unwrap_or_default(),
            subject => subject,
        }
    }

    /// The subject for a notification: of a text in Markdown the first line.
    #[must_use]
    pub fn headline(&self) -> &'a str {
        match self.content.first() {
            Some(Content::Markdown(_)) => self.subject.lines().next().unwrap_or_default(),
            _ => self.subject,
        }
    }

    /// The answer with this decision. Without that shape: one that the daemon refuses with the form's kind.
    #[must_use]
    pub fn decide(
        &self,
        decision: ApprovalDecision,
        scope: Option<Scope>,
        note: Option<String>,
    ) -> InteractionAnswer {
        let decline = self.fields().and_then(|fields| fields.decline);
        if let (Some(decline), ApprovalDecision::Deny, None) = (decline, decision, &note) {
            return decline();
        }
        let answer = self.decision().map(|form| form.answer);
        answer.unwrap_or(untyped_decision)(decision, scope, note)
    }

    /// The answer that has this command run instead of the shown one. Without a command to change: one that the daemon
    /// refuses, and says why.
    #[must_use]
    pub fn edit(&self, command: String) -> InteractionAnswer {
        untyped_edit(command)
    }

    /// The answer that approves a plan and keeps asking about calls. Without a plan: one that the daemon refuses, and says
    /// why.
    #[must_use]
    pub fn approve_keep_asking(&self) -> InteractionAnswer {
        kinds::approve_keep_asking()
    }

    /// The answer with these replies. Without that shape: one that the daemon refuses with the form's kind.
    #[must_use]
    pub fn reply(&self, replies: Vec<Reply>) -> InteractionAnswer {
        let answer = self.fields().map(|form| form.answer);
        answer.unwrap_or(untyped_replies)(replies)
    }
}

impl<'a> Decision<'a> {
    /// The scope that a yes takes if the scope with this index is selected. `None`: a yes does not reach so far.
    #[must_use]
    pub fn scope(&self, decision: ApprovalDecision, selected: usize) -> Option<&'a Scope> {
        let selected = self.scopes.get(selected);
        match decision {
            ApprovalDecision::AllowSession => selected,
            ApprovalDecision::AllowAlways => selected
                .filter(|scope| scope.always)
                .or_else(|| self.scopes.iter().find(|scope| scope.always)),
            ApprovalDecision::AllowOnce | ApprovalDecision::Deny | ApprovalDecision::DenyRest => {
                None
            }
        }
    }

    /// Why a typed line may not decide so.
    #[must_use]
    pub fn refusal(&self, decision: ApprovalDecision) -> Option<&'static str> {
        match (decision, self.once_only) {
            (ApprovalDecision::AllowOnce | ApprovalDecision::Deny, _) => None,
            (ApprovalDecision::DenyRest, _) if self.others > 0 => None,
            (ApprovalDecision::DenyRest, _) => {
                Some("no other call of that answer waits: deny this one alone")
            }
            (_, Some(once)) => Some(once.typed),
            (ApprovalDecision::AllowAlways, None) if self.scope(decision, 0).is_none() => {
                Some("this cannot always be allowed: allow it once or for the session")
            }
            (ApprovalDecision::AllowSession | ApprovalDecision::AllowAlways, None) => None,
        }
    }
}

/// How an interaction was settled, in words.
#[derive(Debug, PartialEq, Eq)]
pub struct Settlement {
    pub mark: SettlementMark,
    pub words: String,
    /// Each question, if it was seen, with its reply.
    pub replies: Vec<(Option<String>, String)>,
}

/// The kind of a settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettlementMark {
    Allowed,
    Denied,
    Answered,
}

/// An interaction with the content that was shown. Changed content makes it another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownInteraction {
    pub id: InteractionId,
    pub shown_hash: String,
}

impl From<&Interaction> for ShownInteraction {
    fn from(interaction: &Interaction) -> Self {
        Self {
            id: interaction.interaction_id.clone(),
            shown_hash: interaction.shown_hash.clone(),
        }
    }
}

impl ShownInteraction {
    /// The request that sends an answer.
    #[must_use]
    pub fn params(&self, answer: InteractionAnswer) -> AnswerParams {
        AnswerParams {
            interaction_id: self.id.clone(),
            shown_hash: self.shown_hash.clone(),
            answer,
            request_id: Some(RequestId::new()),
        }
    }
}

#[cfg(test)]
mod tests;
