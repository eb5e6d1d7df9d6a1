//! Changes to queued prompts. The list itself changes with the records that report them.

use client::prompt::Prompt;
use proto::params::session::{EditParams, QueuedPrompt, ReorderParams, UnqueueParams};
use proto::{PromptId, RequestId, SessionId};

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

/// Takes it back, into the composer. Sent again, it goes to where it was.
pub fn edit(model: &mut Model) -> Vec<Effect> {
    let Some((session, place, queued)) = marked(model) else {
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
    let waiting = model
        .session
        .as_ref()
        .map(|session| session.queue.waiting());
    let behind = waiting.into_iter().flatten().skip(place + 1);
    let following = behind.map(|queued| queued.prompt_id).collect();
    // It is in the composer then.
    model.transcript.expect_queue_change(queued.prompt_id);
    vec![unqueue(session, &queued, Some(prompt), following)]
}

/// Puts a prompt that was taken out and sent again before the first that still waits of those that were behind it. If none
/// of them does, it stays at the end.
pub fn put_before(model: &mut Model, prompt_id: PromptId, following: &[PromptId]) -> Vec<Effect> {
    let Some(session) = &model.session else {
        return Vec::new();
    };
    let waiting = session.queue.waiting().iter();
    let mut others = waiting.filter(|queued| queued.prompt_id != prompt_id);
    let place = others.position(|queued| following.contains(&queued.prompt_id));
    let Some(position) = place.and_then(|place| u64::try_from(place).ok()) else {
        return Vec::new();
    };
    model.transcript.expect_queue_change(prompt_id);
    vec![reorder(session.id, prompt_id, position)]
}

/// Takes it back.
pub fn drop(model: &mut Model) -> Vec<Effect> {
    let Some((session, _, queued)) = marked(model) else {
        return Vec::new();
    };
    vec![unqueue(session, &queued, None, Vec::new())]
}

fn unqueue(
    session: SessionId,
    queued: &QueuedPrompt,
    edit: Option<Prompt>,
    following: Vec<PromptId>,
) -> Effect {
    let params = UnqueueParams {
        session: session.to_string(),
        prompt_id: queued.prompt_id,
    };
    Effect::Call(Call::Unqueue {
        params,
        edit,
        following,
    })
}

fn reorder(session: SessionId, prompt_id: PromptId, position: u64) -> Effect {
    Effect::Call(Call::Reorder(ReorderParams {
        session: session.to_string(),
        prompt_id,
        position,
        request_id: Some(RequestId::new()),
    }))
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
    vec![reorder(session, queued.prompt_id, position)]
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
