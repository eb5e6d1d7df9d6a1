//! A question of the model, while it is open on the screen.

use std::collections::BTreeSet;
use std::time::Instant;

use proto::params::interaction::{Interaction, InteractionRequest, Question, Reply};

use super::line::Input;

/// The questions and what was chosen so far.
#[derive(Debug)]
pub struct QuestionDialog {
    pub interaction: Interaction,
    /// When it came to the screen, or a key was pressed last that was not for it: keys soon after it do not count.
    pub since: Instant,
    /// It was drawn: the moment is that of the screen, before it that of its coming.
    pub drawn: bool,
    /// Which of the questions is on the screen.
    pub at: usize,
    /// What was given so far, for each question.
    pub given: Vec<Given>,
    /// Words of one's own are being written.
    pub writing: Option<Input>,
    /// Enter came, and nothing was chosen.
    pub nothing: bool,
    /// Rows above what is shown, where it does not fit; `None`: the marked option is kept in sight.
    pub scroll: Option<usize>,
}

fn questions(interaction: &Interaction) -> &[Question] {
    match &interaction.request {
        InteractionRequest::Questions { questions } => questions,
        InteractionRequest::Approval(_) | InteractionRequest::Plan { .. } => &[],
    }
}

/// What was given to one question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The option that is marked. None at first: nothing is answered by Enter alone.
    pub mark: Option<usize>,
    /// Options that are chosen.
    pub chosen: BTreeSet<usize>,
    /// Words of one's own.
    pub other: Option<String>,
    /// Words of one's own that were left in the middle: they are there again when they are gone on with.
    pub begun: String,
}

impl QuestionDialog {
    /// The questions, unanswered.
    #[must_use]
    pub fn new(interaction: Interaction, now: Instant) -> Self {
        let mut dialog = Self {
            given: Vec::new(),
            interaction,
            since: now,
            drawn: false,
            at: 0,
            writing: None,
            nothing: false,
            scroll: None,
        };
        dialog.given = vec![Given::default(); dialog.questions().len()];
        dialog
    }

    /// The questions.
    #[must_use]
    pub fn questions(&self) -> &[Question] {
        questions(&self.interaction)
    }

    /// The question that is on the screen.
    #[must_use]
    pub fn ask(&self) -> Option<&Question> {
        self.questions().get(self.at)
    }

    /// The question on the screen and what was given to it.
    pub fn current(&mut self) -> Option<(&Question, &mut Given)> {
        let ask = questions(&self.interaction).get(self.at)?;
        Some((ask, self.given.get_mut(self.at)?))
    }

    /// Everything that was given, as the daemon takes it.
    #[must_use]
    pub fn replies(&self) -> Vec<Reply> {
        let both = self.questions().iter().zip(&self.given);
        both.map(|(ask, given)| given.reply(ask)).collect()
    }
}

impl Given {
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
