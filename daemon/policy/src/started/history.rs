//! What `PATH` and the directory may be when a part of a line runs.
//!
//! A change holds for certain only for what `&&` joins to it: elsewhere it may have failed, been left out by a condition, or
//! been made by a shell of its own. What was before such a change may still be, so programs are looked for there too.

use super::{Changes, Setting};
use crate::shell::{NestingStep, Part};

/// Maximum number of states; with more, all is unknown.
const STATES_MAX: usize = 16;

/// The states of a line's changes, up to a part.
pub(super) struct History<'a> {
    line: &'a str,
    states: Vec<PossibleState>,
}

struct PossibleState {
    changes: Changes,
    holds: Holds,
}

/// For which later parts a state may be.
#[derive(Clone, Copy)]
enum Holds {
    ForAll,
    /// Not for those that are joined to the change that ends there in the line.
    UnlessJoinedTo(usize),
}

impl<'a> History<'a> {
    /// `changes`: those made before the line.
    pub(super) fn new(line: &'a str, mut changes: Changes) -> Self {
        // A loop sets its variable, which no part shows.
        let words: Vec<_> = line.split([' ', '\t', '\n', ';']).collect();
        let sets = |pair: &[&str]| matches!(pair, ["for" | "select", "PATH"]);
        if words.windows(2).any(sets) {
            changes.path = Setting::Unknown;
        }
        Self {
            line,
            states: vec![PossibleState {
                changes,
                holds: Holds::ForAll,
            }],
        }
    }

    /// The states that may be when a part runs, the likely one first.
    pub(super) fn before(&self, part: &Part) -> impl Iterator<Item = &Changes> {
        let start = part.span.start;
        let may_be = move |state: &&PossibleState| match state.holds {
            Holds::ForAll => true,
            Holds::UnlessJoinedTo(end) => !self.are_joined(end, start),
        };
        let states = self.states.iter().filter(may_be);
        states.map(|state| &state.changes)
    }

    /// Applies a part's changes to all states.
    pub(super) fn take(&mut self, part: &Part) {
        let without = self.without(part);
        let mut left = Vec::new();
        for state in &mut self.states {
            let before = state.changes.clone();
            state.changes.take(part);
            let now = &state.changes;
            let is_same = now.path == before.path && now.dir == before.dir;
            // What is unknown may be what it was.
            let is_unknown = now.path == Setting::Unknown || now.dir == Setting::Unknown;
            if let Some(holds) = without.filter(|_| !is_same && !is_unknown) {
                left.push(PossibleState {
                    changes: before,
                    holds: match state.holds {
                        Holds::ForAll => holds,
                        earlier @ Holds::UnlessJoinedTo(_) => earlier,
                    },
                });
            }
        }
        self.states.extend(left);
        if self.states.len() > STATES_MAX {
            self.states.truncate(1);
            for state in &mut self.states {
                state.changes.path = Setting::Unknown;
                state.changes.dir = Setting::Unknown;
            }
        }
    }

    /// For which parts a change may not have been made. `None`: it is made for certain.
    fn without(&self, part: &Part) -> Option<Holds> {
        let is_plain = part.via.iter().all(|step| *step == NestingStep::Group);
        let ahead = self.line.get(..part.span.start).unwrap_or("|");
        if !is_plain || ahead.trim_end().ends_with('|') {
            return Some(Holds::ForAll);
        }
        // It does not fail, and nothing else in the line could leave it out.
        let is_made = assigns(part) && !self.line.contains(['|', '&']);
        (!is_made).then_some(Holds::UnlessJoinedTo(part.span.end))
    }

    /// Whether only `&&` is between a change and a later part.
    fn are_joined(&self, end: usize, start: usize) -> bool {
        let between = self.line.get(end..start).unwrap_or_default();
        // Before it, `||` may have left the change out.
        let ahead = self.line.get(..end).unwrap_or("||");
        let rest = between.replace("&&", "");
        between.trim_start().starts_with("&&")
            && !rest.contains(['&', ';', '|', '\n', '(', ')'])
            && !ahead.contains("||")
    }
}

/// Whether a part only sets variables.
fn assigns(part: &Part) -> bool {
    let setters = ["export", "declare", "typeset"];
    let program = part.program();
    part.words.is_empty() || program.is_some_and(|program| setters.contains(&program))
}
