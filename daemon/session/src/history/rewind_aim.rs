//! Where a rewind leads, by the log alone. Pure.

use std::collections::BTreeSet;

use proto::params::history::{RewindParams, What};
use proto::{ErrorName, Failure, Seq};
use turn::Facts;

/// What a rewind comes to.
pub struct RewindTarget {
    pub what: What,
    /// The newest turn that is to stay; of an undoing: the newest that is shown then.
    pub to_turn: u64,
    pub undoes: Option<Seq>,
    /// The rewinds that are undone had broken off.
    pub undoes_interrupted: bool,
    pub shown: Option<Vec<(Seq, Seq)>>,
    /// Turns that are hidden, or shown again.
    pub turns: u64,
    /// The newest turn that is shown afterwards.
    pub turn: u64,
    /// Turns whose changes are taken back.
    pub back: BTreeSet<u64>,
}

/// What the request leads to, by the log alone.
pub fn aim(facts: &Facts, params: &RewindParams) -> Result<RewindTarget, Failure> {
    if params.undo {
        return undo_aim(facts, params);
    }
    let invalid =
        |message: String, hint: &str| Failure::new(ErrorName::InvalidParams, message, hint);
    let Some(to_turn) = params.to_turn else {
        let hint = "Give `to_turn`, the last turn to keep (0: none), or `undo`.";
        return Err(invalid("No turn to rewind to was given.".into(), hint));
    };
    let Some(plan) = facts.plan_rewind(to_turn) else {
        let message = format!("There is no turn {to_turn} in the conversation.");
        let hint = "List the turns with `reasonix rewind SESSION --list`.";
        return Err(Failure::new(ErrorName::NotFound, message, hint));
    };
    let conversation = params.what != What::Code;
    Ok(RewindTarget {
        what: params.what,
        to_turn,
        undoes: None,
        undoes_interrupted: false,
        turn: if conversation {
            plan.to_turn
        } else {
            facts.shown_turn()
        },
        // Nothing is hidden: the earlier bytes stay as they are.
        shown: (conversation && plan.turns > 0).then_some(plan.shown),
        turns: if conversation { plan.turns } else { 0 },
        // Hidden ones too: a rewind of the conversation alone has left their files as they were. What another has
        // brought back already is the same.
        back: match params.what {
            What::Conversation => BTreeSet::new(),
            What::Code | What::Both => facts.turns_after(to_turn).collect(),
        },
    })
}

fn undo_aim(facts: &Facts, params: &RewindParams) -> Result<RewindTarget, Failure> {
    if params.to_turn.is_some() {
        return Err(Failure::new(
            ErrorName::InvalidParams,
            "An undo cannot have a turn: it reverses the latest rewind.",
            "Give `to_turn` or `undo`, not both.",
        ));
    }
    let of_all = |what: What| match params.what {
        What::Both => Ok(()),
        asked if asked == what => Ok(()),
        _ => Err(Failure::new(
            ErrorName::InvalidParams,
            "An undo always reverses the whole latest rewind.",
            "Leave out `what`.",
        )),
    };
    if let Some(broken) = facts.undoable_broken_off() {
        // It did not come to the conversation.
        of_all(What::Code)?;
        return Ok(RewindTarget {
            what: What::Code,
            to_turn: facts.shown_turn(),
            undoes: Some(broken.seq),
            undoes_interrupted: true,
            shown: None,
            turns: 0,
            turn: facts.shown_turn(),
            back: BTreeSet::new(),
        });
    }
    let Some(rewind) = facts.undoable() else {
        return Err(Failure::new(
            ErrorName::NotFound,
            "There is no rewind to undo.",
            "Rewind with `reasonix rewind SESSION TURN`.",
        ));
    };
    of_all(rewind.what)?;
    let plan = facts.plan_undo(rewind);
    let conversation = rewind.what != What::Code;
    let turn = if conversation {
        plan.to_turn
    } else {
        facts.shown_turn()
    };
    Ok(RewindTarget {
        what: rewind.what,
        to_turn: turn,
        undoes: Some(rewind.seq),
        undoes_interrupted: false,
        shown: conversation.then_some(plan.shown),
        turns: if conversation { plan.turns } else { 0 },
        turn,
        back: BTreeSet::new(),
    })
}
