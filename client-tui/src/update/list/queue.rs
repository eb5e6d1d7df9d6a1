//! Changes to queued prompts. The list itself changes with the records that report them.

use client::prompt::Prompt;
use proto::params::session::{EditParams, QueuedPrompt, ReorderParams, UnqueueParams};
use proto::{RequestId, SessionId};

use super::current;
use crate::effect::{Call, Effect};
use crate::messages::lists::Msg;
use crate::model::list::Key;
use crate::model::{Model, Tone};

/// The marked prompt, with its place and session.
fn marked(model: &Model) -> Option<(SessionId, usize, QueuedPrompt)> {
    let Some(Key::Prompt(id)) = current(model) else {
        return None;
    };
    let session = model.session.as_ref()?;
    let mut waiting = session.queue.waiting().iter().enumerate();
    let (place, queued) = waiting.find(|(_, queued)| queued.prompt_id == id)?;
    Some((session.id, place, queued.clone()))
}

/// Takes it back, into the composer.
pub fn edit(model: &mut Model) -> Vec<Effect> {
    let Some((session, _, queued)) = marked(model) else {
        return Vec::new();
    };
    if !model.composer.is_empty() {
        let words = model.look.language.say(Msg::DraftThere);
        model.toast(Tone::Warning, words);
        return Vec::new();
    }
    model.dialog = None;
    let prompt = Prompt {
        text: queued.text.clone(),
        untyped: queued.untyped.clone(),
    };
    vec![unqueue(session, &queued, Some(prompt))]
}

/// Takes it back.
pub fn drop(model: &mut Model) -> Vec<Effect> {
    let Some((session, _, queued)) = marked(model) else {
        return Vec::new();
    };
    vec![unqueue(session, &queued, None)]
}

fn unqueue(session: SessionId, queued: &QueuedPrompt, edit: Option<Prompt>) -> Effect {
    let params = UnqueueParams {
        session: session.to_string(),
        prompt_id: queued.prompt_id,
    };
    Effect::Call(Call::Unqueue { params, edit })
}

/// Moves it one place; does nothing if it is already at that end.
pub fn shift(model: &mut Model, by: isize) -> Vec<Effect> {
    let Some((session, place, queued)) = marked(model) else {
        return Vec::new();
    };
    let session_queue = model.session.as_ref().map(|session| &session.queue);
    let count = session_queue.map_or(0, |queue| queue.waiting().len());
    let wanted = place.checked_add_signed(by).filter(|place| *place < count);
    let Some(position) = wanted.and_then(|place| u64::try_from(place).ok()) else {
        return Vec::new();
    };
    vec![Effect::Call(Call::Reorder(ReorderParams {
        session: session.to_string(),
        prompt_id: queued.prompt_id,
        position,
        request_id: Some(RequestId::new()),
    }))]
}

/// Says it into the running turn instead of waiting for its end.
pub fn steer(model: &mut Model) -> Vec<Effect> {
    let Some((session, _, queued)) = marked(model) else {
        return Vec::new();
    };
    vec![Effect::Call(Call::EditQueued(EditParams {
        session: session.to_string(),
        prompt_id: queued.prompt_id,
        text: queued.text,
        steer: Some(true),
        request_id: Some(RequestId::new()),
    }))]
}
