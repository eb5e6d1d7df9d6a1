//! The open interaction, and which interactions are postponed.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Instant;

use client::form::{Form, Shape, ShownInteraction};
use proto::params::interaction::{Interaction, Question, Reply};
use proto::record::InteractionResolved;
use ratatui::text::Line;

use self::command::CommandBox;
use super::line::Input;
use super::seen::ReadProgress;
use crate::keymap::{Action, Context};
use crate::render::RenderInputs;

/// An interaction with the user's choices and text so far.
#[derive(Debug)]
pub struct InteractionDialog {
    pub interaction: Interaction,
    /// When it appeared, or the last stray key was pressed: keys soon after that do not count.
    pub since: Instant,
    /// Already drawn: `since` then counts from the drawing, before that from the opening.
    pub drawn: bool,
    /// A key that would allow more than this once, and when it was pressed. It counts if no other key follows soon.
    pub held: Option<(Action, Instant)>,
    /// Scroll offset in rows, if it does not fit; `None`: keep the marked option visible.
    pub scroll: Option<usize>,
    pub part: InputFocus,
    /// How much of the body was on the screen.
    pub seen: ReadProgress,
    /// The selected scope, for approvals of more than one call.
    pub scope: usize,
    /// Index of the question on the screen.
    pub at: usize,
    /// The draft of each reply.
    pub drafts: Vec<Draft>,
    /// Enter was pressed without a choice.
    pub nothing: bool,
    /// The edited command, while the box is closed.
    pub command: Option<CommandBox>,
    /// The body in rows: both drawing and scrolling need them.
    pub body: Rows,
}

/// The newest rows and their inputs: rendering a long diff is too slow to repeat at every key.
#[derive(Debug, Default)]
pub struct Rows(RefCell<Option<(RenderInputs, Rc<Vec<Line<'static>>>)>>);

impl Rows {
    /// The rows: cached ones if they were made with the same inputs, else new ones.
    pub fn rows(
        &self,
        made: RenderInputs,
        make: impl FnOnce() -> Vec<Line<'static>>,
    ) -> Rc<Vec<Line<'static>>> {
        let before = self.0.borrow().clone();
        if let Some((_, rows)) = before.filter(|(before, _)| *before == made) {
            return rows;
        }
        let rows = Rc::new(make());
        *self.0.borrow_mut() = Some((made, rows.clone()));
        rows
    }
}

/// The part of the dialog that receives keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum InputFocus {
    /// The answer.
    #[default]
    Answer,
    /// The list of scopes, with the marked one.
    Scopes(usize),
    /// A text field: the note of a denial, or a free-text reply.
    Words(Input),
    /// The command, edited before it runs.
    Command(CommandBox),
}

/// The draft of a reply to one question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// The marked option. None at first, so that Enter alone answers nothing.
    pub mark: Option<usize>,
    /// The chosen options.
    pub chosen: BTreeSet<usize>,
    /// A free-text reply.
    pub other: Option<String>,
    /// An unfinished free-text reply: it is restored when its field opens again.
    pub begun: String,
}

impl InteractionDialog {
    /// The interaction, unanswered.
    #[must_use]
    pub fn new(interaction: Interaction, now: Instant) -> Self {
        let form = Form::of(&interaction);
        let count = form.fields().map_or(0, |fields| fields.questions.len());
        Self {
            interaction,
            since: now,
            drawn: false,
            scroll: None,
            part: InputFocus::Answer,
            seen: ReadProgress::default(),
            scope: 0,
            at: 0,
            drafts: vec![Draft::default(); count],
            held: None,
            nothing: false,
            command: None,
            body: Rows::default(),
        }
    }

    /// It comes to the screen again, with the choices and text so far.
    #[must_use]
    pub fn again(self, now: Instant) -> Self {
        Self {
            since: now,
            drawn: false,
            held: None,
            nothing: false,
            ..self
        }
    }

    /// How it is shown and answered.
    #[must_use]
    pub fn form(&self) -> Form<'_> {
        Form::of(&self.interaction)
    }

    /// The keys that answer it.
    #[must_use]
    pub fn context(&self) -> Context {
        match self.form().shape {
            Shape::Decision(_) => Context::Approval,
            Shape::Fields(_) => Context::Question,
        }
    }

    /// Calls `change` with the question on the screen and the draft of its reply.
    pub fn change_draft<T>(
        &mut self,
        change: impl FnOnce(&Question, &mut Draft) -> T,
    ) -> Option<T> {
        let form = Form::of(&self.interaction);
        let question = form.fields()?.questions.get(self.at)?;
        Some(change(question, self.drafts.get_mut(self.at)?))
    }

    /// All replies, for the daemon.
    #[must_use]
    pub fn replies(&self) -> Vec<Reply> {
        let form = self.form();
        let fields = form.fields().into_iter();
        let questions = fields.flat_map(|fields| fields.questions.iter());
        let both = questions.zip(&self.drafts);
        both.map(|(question, draft)| draft.reply(question))
            .collect()
    }
}

impl Draft {
    /// Whether there is an answer.
    #[must_use]
    pub fn is_any(&self) -> bool {
        !self.chosen.is_empty() || self.other.is_some()
    }

    /// Marks the next option, or the one before.
    pub fn step(&mut self, ask: &Question, down: bool) {
        let last = ask.options.len().saturating_sub(1);
        let mark = match (self.mark, down) {
            (None, true) => 0,
            (None, false) => last,
            (Some(mark), true) => mark.saturating_add(1).min(last),
            (Some(mark), false) => mark.saturating_sub(1),
        };
        if mark >= ask.options.len() {
            return;
        }
        self.mark = Some(mark);
        if !ask.multi_select {
            self.chosen = BTreeSet::from([mark]);
        }
    }

    /// Chooses the option with this index; where several may be chosen, or `toggle`, a chosen one is let go.
    pub fn choose(&mut self, ask: &Question, index: usize, toggle: bool) {
        if index >= ask.options.len() {
            return;
        }
        self.mark = Some(index);
        let had = self.chosen.contains(&index);
        if !ask.multi_select {
            self.chosen.clear();
        }
        match had && (ask.multi_select || toggle) {
            true => self.chosen.remove(&index),
            false => self.chosen.insert(index),
        };
    }

    fn reply(&self, ask: &Question) -> Reply {
        let options = self.chosen.iter().filter_map(|at| ask.options.get(*at));
        Reply {
            labels: options.map(|option| option.label.clone()).collect(),
            other: self.other.clone(),
        }
    }
}

/// The client's state of a session's interactions.
#[derive(Debug, Default)]
pub struct Asking {
    /// Postponed interactions: they open again only on request.
    pub postponed: Vec<ShownInteraction>,
    /// Choices and text of the interactions so far.
    pub kept: Vec<InteractionDialog>,
    /// Answered from here; the daemon has not reported it yet.
    pub sent: Vec<ShownInteraction>,
    /// The newest answer and its author, until it has been shown.
    pub answered: Option<InteractionResolved>,
}

impl Asking {
    /// Whether it may open by itself.
    #[must_use]
    pub fn may_open_by_itself(&self, asked: &ShownInteraction) -> bool {
        !self.postponed.contains(asked) && !self.sent.contains(asked)
    }
}

pub mod command;
#[cfg(test)]
pub mod scene;
