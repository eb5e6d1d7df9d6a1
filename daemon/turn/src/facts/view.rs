//! The conversation after rewinds, as a fold: which records are shown, which turns a rewind can target, and the effects
//! of a rewind and of undoing it.

use std::collections::VecDeque;

use proto::outcome::OutcomeKind;
use proto::params::history::{TurnCause, What};
use proto::record::{ContinueReason, SessionRewound, Todo};
use proto::reset::Piece;
use proto::{Pid, Record, Seq, Stamp};

use crate::compaction::EditedFile;

use super::{Facts, ReportedPermissions, UnfinishedRewind, content_of_rewind};

/// The records that make up the conversation. Hidden records stay in the log; requests only leave them out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConversationView {
    /// Runs of records up to `since`, first and last of each, in order.
    runs: Vec<(Seq, Seq)>,
    /// The newest rewind, which set the runs; all later records are shown. 0: there was none.
    since: Seq,
    /// Pieces with which cache resets replaced messages, oldest first. Requests start with the newest.
    bases: Vec<ConversationBase>,
}

/// The start of requests: pieces that replace all messages before `seq`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConversationBase {
    /// The record of the reset.
    pub seq: Seq,
    pub pieces: Vec<Piece>,
    /// The generation of the provider that it was rendered for.
    pub generation: u64,
}

impl ConversationView {
    /// The shown runs of records up to and including `seq`.
    #[must_use]
    pub fn upto(&self, seq: Seq) -> Vec<(Seq, Seq)> {
        let mut runs: Vec<_> = self
            .runs
            .iter()
            .filter(|(first, _)| *first <= seq)
            .map(|(first, last)| (*first, (*last).min(seq)))
            .collect();
        if self.since < seq {
            runs.push((self.since.next(), seq));
        }
        runs
    }

    /// The pieces of a request's messages up to and including `seq`, in order.
    #[must_use]
    pub fn pieces(&self, seq: Seq) -> Vec<Piece> {
        let base = self.base(seq);
        let since = base.map_or(Seq(0), |base| base.seq);
        let runs = self.upto(seq);
        let later = runs.iter().filter(|(_, last)| *last > since);
        let later = later.map(|(first, last)| Piece::Run((*first).max(since.next()), *last));
        let base = base.map(|base| base.pieces.iter().cloned());
        base.into_iter().flatten().chain(later).collect()
    }

    fn base(&self, seq: Seq) -> Option<&ConversationBase> {
        self.bases.iter().rev().find(|base| base.seq <= seq)
    }

    /// The generation of the provider that the messages are rendered for.
    pub(super) fn generation(&self) -> u64 {
        self.bases.last().map_or(0, |base| base.generation)
    }

    pub(super) fn push_base(&mut self, base: ConversationBase) {
        self.bases.push(base);
    }

    /// Removes the base of this reset, and later bases that were built on it. False: the base no longer exists.
    pub(super) fn drop_base(&mut self, seq: Seq) -> bool {
        let place = self.bases.iter().position(|base| base.seq == seq);
        self.bases.truncate(place.unwrap_or(self.bases.len()));
        place.is_some()
    }

    /// Whether this reset's base still exists.
    pub(super) fn has_base(&self, seq: Seq) -> bool {
        self.bases.iter().any(|base| base.seq == seq)
    }

    /// Whether this record is shown.
    #[must_use]
    pub fn shows(&self, seq: Seq) -> bool {
        let mut runs = self.runs.iter();
        self.since < seq || runs.any(|(first, last)| (*first..=*last).contains(&seq))
    }
}

/// The start of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnMark {
    pub turn: u64,
    /// The record `turn.started`.
    pub seq: Seq,
    pub at: Stamp,
    /// The first line of its prompt.
    pub prompt: String,
    /// What started it, if no prompt did.
    pub cause: Option<TurnCause>,
    /// The state of the conversation before it.
    pub before: ConversationCounts,
}

/// The facts that belong to the conversation. A rewind restores them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConversationCounts {
    pub answered: u64,
    pub spoken: u64,
    pub context_tokens: u64,
    pub todos: Vec<Todo>,
    /// The most recently approved plan.
    pub plan_in_force: Option<String>,
    /// The most recently edited files.
    pub edited: VecDeque<EditedFile>,
    pub reported_permissions: ReportedPermissions,
    pub permissions_reported: bool,
    pub repeat_permissions: bool,
    pub cut_off: Option<OutcomeKind>,
}

/// A rewind, with the conversation before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewind {
    /// Its record.
    pub seq: Seq,
    pub what: What,
    /// Number of turns that it has hidden, or shown again.
    pub turns: u64,
    /// It undoes another rewind.
    pub undoing: bool,
    /// It was undone.
    pub undone: bool,
    /// The newest shown turn before it.
    pub turn_before: u64,
    view: ConversationView,
    counts: ConversationCounts,
}

/// The effect of a rewind on the conversation. Only for an idle session, whose runs contain complete turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewindPlan {
    /// For the record's `shown`.
    pub shown: Vec<(Seq, Seq)>,
    /// The newest shown turn after it.
    pub to_turn: u64,
    /// Number of turns that it hides, or shows again. 0: the conversation does not change.
    pub turns: u64,
}

impl Facts {
    /// The runs of records that made up the conversation when `seq` was the newest record.
    #[must_use]
    pub fn shown_upto(&self, seq: Seq) -> Vec<(Seq, Seq)> {
        // The first rewind after `seq` stores the view from before it.
        let later = self.rewinds.iter().find(|rewind| rewind.seq > seq);
        later.map_or(&self.view, |rewind| &rewind.view).upto(seq)
    }

    /// The pieces of a request's messages when `seq` was the newest record.
    #[must_use]
    pub fn pieces_upto(&self, seq: Seq) -> Vec<Piece> {
        self.view_at(seq).pieces(seq)
    }

    /// The base when `seq` was the newest record: its reset, and its pieces.
    #[must_use]
    pub fn base_at(&self, seq: Seq) -> Option<(Seq, &[Piece])> {
        let base = self.view_at(seq).base(seq)?;
        Some((base.seq, &base.pieces))
    }

    /// The view as it was when `seq` was the newest record.
    fn view_at(&self, seq: Seq) -> &ConversationView {
        // The first later record that changed the view stores the view from before it.
        let rewound = self.rewinds.iter().find(|rewind| rewind.seq > seq);
        let rewound = rewound.map(|rewind| (rewind.seq, &rewind.view));
        let dropped = self.dropped.iter().find(|(at, _)| *at > seq);
        let dropped = dropped.map(|(at, view)| (*at, view));
        let first = rewound.into_iter().chain(dropped).min_by_key(|(at, _)| *at);
        first.map_or(&self.view, |(_, view)| view)
    }

    /// The newest shown turn; 0: none.
    #[must_use]
    pub fn shown_turn(&self) -> u64 {
        self.marks.last().map_or(0, |mark| mark.turn)
    }

    /// The turns after this one, including hidden ones: their changes to files may still exist.
    pub fn turns_after(&self, turn: u64) -> impl Iterator<Item = u64> {
        let all = self.marks.iter().chain(&self.hidden);
        all.map(|mark| mark.turn).filter(move |later| *later > turn)
    }

    /// Plans to hide all turns after `to_turn`; 0: all turns. `None`: there is no such turn, or it is hidden already.
    #[must_use]
    pub fn plan_rewind(&self, to_turn: u64) -> Option<RewindPlan> {
        let known = to_turn == 0 || self.marks.iter().any(|mark| mark.turn == to_turn);
        if !known {
            return None;
        }
        let first_hidden = self.marks.iter().find(|mark| mark.turn > to_turn);
        let upto = match first_hidden {
            Some(mark) => Seq(mark.seq.0.saturating_sub(1)),
            None => self.seq,
        };
        let kept = self.marks.iter().filter(|mark| mark.turn <= to_turn);
        let kept = kept.count();
        Some(RewindPlan {
            shown: self.with_turns(self.view.upto(upto)),
            to_turn,
            turns: (self.marks.len() - kept) as u64,
        })
    }

    /// The newest rewind that can be undone. Undoing is not itself undoable: rewinds are undone one by one, from the newest
    /// to the oldest, each once.
    #[must_use]
    pub fn undoable(&self) -> Option<&Rewind> {
        let mut rewinds = self.rewinds.iter().rev();
        rewinds.find(|rewind| !rewind.undoing && !rewind.undone)
    }

    /// The newest interrupted rewind of files, if undoing applies to it: it is newer than every undoable rewind, and did not
    /// itself undo the newest of these. If it did, undoing applies to that one again.
    #[must_use]
    pub fn undoable_broken_off(&self) -> Option<UnfinishedRewind> {
        let whole = self.undoable().map(|rewind| rewind.seq);
        let newest = self.broken_off.last().copied();
        newest.filter(|broken| {
            Some(broken.seq) > whole && (whole.is_none() || broken.undoes != whole)
        })
    }

    /// Notes which rewind the newest record, a checkpoint of a rewind, is about to undo. The record itself lacks this; its
    /// log line has it.
    pub fn note_undo_started(&mut self, undoes: Option<Seq>) {
        let seq = self.seq;
        if let Some(broken) = self
            .broken_off
            .last_mut()
            .filter(|broken| broken.seq == seq)
        {
            broken.undoes = undoes;
        }
    }

    /// Number of turns that the rewind of this record has hidden, or shown again.
    #[must_use]
    pub fn turns_of(&self, rewind: Seq) -> u64 {
        let of = self.rewinds.iter().find(|known| known.seq == rewind);
        of.map_or(0, |known| known.turns)
    }

    /// Plans to undo that rewind: the conversation becomes what it was right before it. Turns since then are hidden for good;
    /// they stay in the log.
    #[must_use]
    pub fn plan_undo(&self, rewind: &Rewind) -> RewindPlan {
        let before = Seq(rewind.seq.0.saturating_sub(1));
        let then = |mark: &TurnMark| mark.seq < rewind.seq && rewind.view.shows(mark.seq);
        let all = self.marks.iter().chain(&self.hidden);
        let other = all.filter(|mark| then(mark) != self.view.shows(mark.seq));
        RewindPlan {
            shown: self.with_turns(rewind.view.upto(before)),
            to_turn: rewind.turn_before,
            turns: other.count() as u64,
        }
    }

    /// Keeps only the runs that contain a turn. Other records hold no messages, and every later rewind would list them.
    fn with_turns(&self, mut runs: Vec<(Seq, Seq)>) -> Vec<(Seq, Seq)> {
        let turns = || self.marks.iter().chain(&self.hidden);
        runs.retain(|(first, last)| turns().any(|mark| (*first..=*last).contains(&mark.seq)));
        runs
    }

    pub(super) fn mark_turn(&mut self, record: &Record) {
        self.marks.push(TurnMark {
            turn: self.turns,
            seq: record.seq,
            at: record.at,
            prompt: String::new(),
            cause: self.goal_cause(),
            before: self.counts(),
        });
    }

    /// That the goal continued with the open turn, if it did.
    fn goal_cause(&self) -> Option<TurnCause> {
        let prompt = self.open.as_ref()?.prompt_id?;
        let continued = self.goal.as_ref()?.continued.as_ref()?;
        // The first turn has the goal's text as its prompt.
        let is_cause = continued.prompt_id == prompt && continued.why != ContinueReason::Started;
        is_cause.then(|| TurnCause::Goal {
            number: continued.number,
            why: continued.why,
            detail: contract::first_line(&continued.detail),
        })
    }

    /// Stores that a message of another session started the open turn, unless something else did.
    pub(super) fn mark_message(&mut self, from: Pid, text: &str) {
        if let Some(mark) = self.marks.last_mut()
            && mark.prompt.is_empty()
            && mark.cause.is_none()
        {
            let text = contract::first_line(text);
            mark.cause = Some(TurnCause::Message { from, text });
        }
    }

    /// Stores the first line of the open turn's prompt.
    pub(super) fn mark_prompt(&mut self, prompt: &str) {
        if let Some(mark) = self.marks.last_mut()
            && mark.prompt.is_empty()
        {
            mark.prompt = contract::first_line(prompt);
        }
    }

    fn counts(&self) -> ConversationCounts {
        ConversationCounts {
            answered: self.answered,
            spoken: self.spoken,
            context_tokens: self.context_tokens,
            todos: self.todos.clone(),
            plan_in_force: self.plan_in_force.clone(),
            edited: self.edited.clone(),
            reported_permissions: self.reported_permissions,
            permissions_reported: self.permissions_reported,
            repeat_permissions: self.repeat_permissions,
            cut_off: self.cut_off,
        }
    }

    fn restore_counts(&mut self, counts: ConversationCounts) {
        self.answered = counts.answered;
        self.spoken = counts.spoken;
        self.context_tokens = counts.context_tokens;
        self.todos = counts.todos;
        self.plan_in_force = counts.plan_in_force;
        self.edited = counts.edited;
        self.reported_permissions = counts.reported_permissions;
        self.permissions_reported = counts.permissions_reported;
        self.repeat_permissions = counts.repeat_permissions;
        self.cut_off = counts.cut_off;
    }

    pub(super) fn apply_rewind(&mut self, rewound: &SessionRewound, record: &Record) {
        self.reset_due |= rewound.shown.is_some();
        self.has_unfinished_rewind = false;
        // A goal that ran out of time still waits for a user.
        if self.goal.is_none() {
            self.at_limit = None;
        }
        if rewound.what != What::Conversation {
            // This rewind covers the files that interrupted ones had changed, or undoes them.
            self.broken_off.clear();
        }
        self.apply_shown(rewound, record);
        let to_turn = rewound.undoes.is_none().then_some(rewound.to_turn);
        let content = content_of_rewind(to_turn, rewound.what);
        self.remember(rewound.request_id, record, content, None);
    }

    /// Changes the view to the records that a rewind shows.
    fn apply_shown(&mut self, rewound: &SessionRewound, record: &Record) {
        let before = Rewind {
            seq: record.seq,
            what: rewound.what,
            turns: 0,
            undoing: rewound.undoes.is_some(),
            undone: false,
            turn_before: self.shown_turn(),
            view: self.view.clone(),
            counts: self.counts(),
        };
        let undone = rewound.undoes.and_then(|seq| {
            let mut rewinds = self.rewinds.iter_mut();
            let rewind = rewinds.find(|rewind| rewind.seq == seq)?;
            rewind.undone = true;
            Some(rewind.counts.clone())
        });
        self.rewinds.push(before);
        if rewound.shown.is_some() {
            self.begin_planner_round();
        }
        // Only an edited log rewinds during a turn. An open turn must be shown completely, or its requests are invalid (I2).
        let Some(shown) = rewound.shown.as_ref().filter(|_| self.open.is_none()) else {
            return;
        };
        let mut view = ConversationView {
            runs: normalize_runs(shown, record.seq),
            since: record.seq,
            bases: Vec::new(),
        };
        view.bases = match rewound.undoes.and_then(|seq| self.view_before(seq)) {
            // Undoing restores the view from before, including its bases.
            Some(before) => before.bases.clone(),
            None => self.valid_bases(&view),
        };
        let all = self.marks.iter().chain(&self.hidden);
        let other = all.filter(|mark| view.shows(mark.seq) != self.view.shows(mark.seq));
        let turns = other.count() as u64;
        if let Some(rewind) = self.rewinds.last_mut() {
            rewind.turns = turns;
        }
        self.view = view;
        let first_hidden = self.sort_marks();
        if let Some(counts) = undone.or(first_hidden.map(|mark| mark.before)) {
            self.restore_counts(counts);
        }
    }

    /// The view right before the rewind of this record.
    fn view_before(&self, rewind: Seq) -> Option<&ConversationView> {
        let of = self.rewinds.iter().find(|known| known.seq == rewind);
        of.map(|known| &known.view)
    }

    /// The bases that stay valid in another view: a base is valid while the turns before it are shown as they were when it
    /// was made.
    fn valid_bases(&self, view: &ConversationView) -> Vec<ConversationBase> {
        let marks = || self.marks.iter().chain(&self.hidden);
        let same = |mark: &TurnMark| view.shows(mark.seq) == self.view.shows(mark.seq);
        let holds = |base: &&ConversationBase| marks().filter(|mark| mark.seq < base.seq).all(same);
        self.view.bases.iter().filter(holds).cloned().collect()
    }

    /// Sorts the marks into shown and hidden turns. Returns the first turn that this hides.
    fn sort_marks(&mut self) -> Option<TurnMark> {
        let shown = |mark: &TurnMark| self.view.shows(mark.seq);
        let first_hidden = self.marks.iter().find(|mark| !shown(mark)).cloned();
        let mut all = std::mem::take(&mut self.marks);
        all.append(&mut self.hidden);
        all.sort_by_key(|mark| mark.seq);
        (self.marks, self.hidden) = all.into_iter().partition(shown);
        first_hidden
    }
}

/// Makes runs ordered, without overlap, and older than their record: an edited log may contain anything.
fn normalize_runs(runs: &[(Seq, Seq)], before: Seq) -> Vec<(Seq, Seq)> {
    let mut tidy: Vec<(Seq, Seq)> = Vec::new();
    for (first, last) in runs {
        let after = tidy.last().map_or(Seq(0), |(_, last)| *last);
        let (first, last) = (
            (*first).max(after.next()),
            (*last).min(Seq(before.0.saturating_sub(1))),
        );
        if first <= last {
            tidy.push((first, last));
        }
    }
    tidy
}

#[cfg(test)]
mod tests;
