//! What takes turns back: `/undo` and `/redo` of files, and `/clear` of the conversation.

use proto::RequestId;
use proto::params::history::{RewindOutput, RewindParams, What};
use proto::record::{RewoundFile, RewoundResult};

use super::{called, sure};
use crate::effect::{Call, Effect};
use crate::messages::app::Msg;
use crate::model::confirm::ConfirmedAction;
use crate::model::{Model, Tone};

/// Asks for the turns that can be undone.
pub(super) fn asked(session: String) -> Vec<Effect> {
    called(Call::Checkpoints {
        session,
        undo: true,
    })
}

pub(super) fn redo(session: String) -> Vec<Effect> {
    rewind(RewindParams {
        session,
        undo: true,
        ..RewindParams::default()
    })
}

fn rewind(params: RewindParams) -> Vec<Effect> {
    called(Call::Rewind(RewindParams {
        request_id: Some(RequestId::new()),
        ..params
    }))
}

/// Files as they were before the newest turn of these.
pub fn undo(model: &mut Model, turns: &[u64]) -> Vec<Effect> {
    let language = model.look.language;
    let Some(session) = &model.session else {
        return Vec::new();
    };
    let mut newest = turns.iter().rev();
    if newest.next().is_none() {
        model.toast(Tone::Info, language.say(Msg::NoTurn));
        return Vec::new();
    }
    // Ask for a preview first: if nothing would change, nothing is written.
    vec![Effect::Call(Call::Rewind(RewindParams {
        session: session.id.to_string(),
        to_turn: Some(newest.next().copied().unwrap_or(0)),
        what: What::Code,
        dry_run: true,
        ..RewindParams::default()
    }))]
}

/// The preview of `/undo` has arrived: do it, unless nothing would change.
pub fn undone(model: &mut Model, params: RewindParams, foreseen: &RewindOutput) -> Vec<Effect> {
    let touches = |file: &RewoundFile| file.result != RewoundResult::Same;
    if !foreseen.files.iter().any(touches) {
        let words = model.look.language.say(Msg::NothingToUndo);
        model.toast(Tone::Info, words);
        return Vec::new();
    }
    rewind(RewindParams {
        dry_run: false,
        ..params
    })
}

pub(super) fn clear(model: &mut Model, session: String) -> Vec<Effect> {
    let language = model.look.language;
    if session.is_empty() {
        model.toast(Tone::Info, language.say(Msg::NothingToClear));
        return Vec::new();
    }
    let words = vec![
        language.say(Msg::ClearWhat).to_owned(),
        language.say(Msg::ClearSure).to_owned(),
    ];
    let yes = rewind(RewindParams {
        session,
        to_turn: Some(0),
        what: What::Conversation,
        ..RewindParams::default()
    });
    sure(model, words, ConfirmedAction::Do(yes))
}
