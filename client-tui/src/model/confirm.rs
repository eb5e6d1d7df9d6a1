//! A yes or no before something that cannot be taken back.

use std::time::Instant;

use proto::state::ApprovalMode;

use super::list::ListDialog;
use super::seen::ReadProgress;
use crate::effect::Effect;
use crate::messages::dialog::Msg;

/// A confirmation: the question, and the action on yes. A no does nothing.
#[derive(Debug)]
pub struct Confirm {
    pub title: Msg,
    /// The consequences, one per line.
    pub words: Vec<String>,
    pub then: ConfirmedAction,
    /// Scroll offset in rows, if the text does not fit.
    pub scroll: usize,
    /// How much of the words was on the screen.
    pub seen: ReadProgress,
    /// A yes came before all words were on the screen.
    pub is_refused: bool,
    /// When it appeared, or the last stray key was pressed: keys soon after that do not count.
    pub since: Instant,
    /// Already drawn: `since` then counts from the drawing, before that from the opening.
    pub drawn: bool,
    /// The list below it, which is shown again afterwards.
    pub back: Option<Box<ListDialog>>,
}

impl Confirm {
    #[must_use]
    pub fn new(title: Msg, words: Vec<String>, then: ConfirmedAction, now: Instant) -> Self {
        Self {
            title,
            words,
            then,
            scroll: 0,
            seen: ReadProgress::default(),
            is_refused: false,
            since: now,
            drawn: false,
            back: None,
        }
    }
}

/// The action on yes.
#[derive(Clone, Debug, PartialEq)]
pub enum ConfirmedAction {
    Do(Vec<Effect>),
    ApprovalMode(ApprovalMode),
    /// Stops the turn of this session and leaves.
    Stop(String),
}
