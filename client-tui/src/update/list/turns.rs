//! Rewinding: the user picks a turn, then what to restore.
//!
//! The session returns to the state *before* the chosen turn: its prompt comes back into the composer, and the turn
//! before it becomes the last one.

use client::prompt::Prompt;
use proto::RequestId;
use proto::params::history::{RewindOutput, RewindParams, What};

use super::{dialog, dialog_mut, loaded};
use crate::effect::{Call, Effect, ErrorReport};
use crate::model::Model;
use crate::model::composer::as_text;
use crate::model::list::{Choice, Content, Key, Restore};
use crate::model::transcript;

/// Opens the second step, and asks what would happen. `None`: the newest rewind is taken back.
pub fn choose(model: &mut Model, turn: Option<u64>) -> Vec<Effect> {
    let Some(restore) = restore(model, turn) else {
        return Vec::new();
    };
    let Some(dry) = params(model, &restore, What::Both) else {
        return Vec::new();
    };
    if let Some(dialog) = dialog_mut(model) {
        dialog.restore = Some(restore);
        dialog.selected = None;
        dialog.place = 0;
    }
    loaded::settle(model);
    vec![Effect::Call(Call::Rewind(RewindParams {
        dry_run: true,
        ..dry
    }))]
}

fn restore(model: &Model, turn: Option<u64>) -> Option<Restore> {
    let Content::Turns(turns) = &dialog(model)?.content else {
        return None;
    };
    let mut to_turn = 0;
    let mut prompt = Prompt::default();
    if let Some(turn) = turn {
        let place = turns.turns.iter().position(|known| known.turn == turn)?;
        let before = turns.turns.iter().take(place).next_back();
        to_turn = before.map_or(0, |before| before.turn);
        prompt = Prompt::typed(&turns.turns.get(place)?.prompt);
    }
    Some(Restore {
        turn,
        to_turn,
        prompt: turn.and_then(|turn| said(model, turn)).unwrap_or(prompt),
        effect: None,
    })
}

/// The whole prompt of a turn, where the transcript has it; the list knows only its first line.
fn said(model: &Model, turn: u64) -> Option<Prompt> {
    let mut entries = model.transcript.entries.iter();
    entries.find_map(|entry| match &entry.kind {
        transcript::EntryKind::User {
            text,
            untyped,
            steer: false,
            from: None,
            ..
        } if entry.turn == Some(turn) => Some(Prompt {
            text: text.clone(),
            untyped: untyped.clone(),
        }),
        _ => None,
    })
}

fn params(model: &Model, restore: &Restore, what: What) -> Option<RewindParams> {
    let undo = restore.turn.is_none();
    Some(RewindParams {
        session: model.session.as_ref()?.id.to_string(),
        to_turn: (!undo).then_some(restore.to_turn),
        undo,
        what,
        ..RewindParams::default()
    })
}

/// Takes what would happen; dropped where another turn is chosen by now.
pub fn foreseen(
    model: &mut Model,
    asked: &RewindParams,
    result: Result<RewindOutput, ErrorReport>,
) {
    let here = model.session.as_ref().map(|session| session.id.to_string());
    let Some(restore) = dialog_mut(model).and_then(|dialog| dialog.restore.as_mut()) else {
        return;
    };
    let undo = restore.turn.is_none();
    let same = asked.undo == undo && (undo || asked.to_turn == Some(restore.to_turn));
    if here.as_ref() != Some(&asked.session) || !same {
        return;
    }
    let trouble = result.as_ref().err().cloned();
    restore.effect = Some(result.map_err(|trouble| trouble.what));
    if let Some(trouble) = trouble {
        model.trouble(&trouble);
    }
}

/// Performs the chosen restore.
pub fn take(model: &mut Model, choice: Choice) -> Vec<Effect> {
    let (what, force) = match choice {
        Choice::Both => (What::Both, false),
        Choice::Conversation => (What::Conversation, false),
        Choice::Code => (What::Code, false),
        Choice::Force => (What::Both, true),
        Choice::Cancel => {
            back(model);
            return Vec::new();
        }
    };
    let Some(restore) = dialog(model).and_then(|dialog| dialog.restore.clone()) else {
        return Vec::new();
    };
    let Some(params) = params(model, &restore, what) else {
        return Vec::new();
    };
    model.dialog = None;
    // The prompt goes back into the composer, as its turn will be hidden. A rewind known to be refused hides nothing.
    let refused = matches!(restore.effect, Some(Err(_)));
    if what != What::Code
        && !refused
        && model.composer.is_empty()
        && !restore.prompt.text.is_empty()
    {
        let language = model.look.language;
        let prompt = as_text(&restore.prompt);
        model.composer.restore(&prompt, language);
    }
    vec![Effect::Call(Call::Rewind(RewindParams {
        force,
        request_id: Some(RequestId::new()),
        ..params
    }))]
}

/// Back to the turns, with the mark where it was.
pub fn back(model: &mut Model) {
    let Some(dialog) = dialog_mut(model) else {
        return;
    };
    if let Some(restore) = dialog.restore.take() {
        dialog.selected = Some(restore.turn.map_or(Key::Undo, Key::Turn));
    }
    loaded::settle(model);
}
