//! The conversation for another model: another prefix, and if needed the messages as its provider takes them.

use proto::Failure;
use proto::item::Item;
use proto::reset::{CacheReset, Wire};
use turn::compacting::ResetJobOutcome;
use turn::compaction::ConversationMessage;

use super::server::{self, Base};
use super::{Done, ResetInput, Swap, add, bounded, has_key, read};
use crate::assembly::setup::Effort;
use crate::context::prefix;
use crate::journal::elements;

/// Renders what changes with the model. After a rewind that may be nothing but the base.
pub(super) fn rebase(work: &ResetInput) -> Result<Done, Failure> {
    let wanted = &work.wanted;
    let swap = match wanted.is_other {
        true => Some(Box::new(other_model(work)?)),
        false => None,
    };
    let (pieces, elements) = match rendered(work, swap.as_deref())? {
        Some((pieces, elements)) => (Some(pieces), elements),
        None => (None, Vec::new()),
    };
    let wire = swap.as_ref().map(|swap| Wire {
        provider: swap.model.provider_name.clone(),
        provider_kind: swap.model.provider_kind.clone(),
        model: swap.model.name.clone(),
        effort: wanted.wire.effort.clone(),
        context_window: swap.model.context_window,
        prefix_sha256: prefix::hash(&swap.prefix),
    });
    let own = elements::own(swap.as_ref().map(|swap| &swap.prefix), &elements);
    let reset = CacheReset {
        reason: match wire {
            Some(_) if wanted.is_same_model => "effort".to_owned(),
            Some(_) => "switch".to_owned(),
            None => "rewind".to_owned(),
        },
        base: pieces,
        wire,
        ..CacheReset::default()
    };
    Ok(Done {
        own: Some(bounded(own)?),
        swap,
        ..Done::of(ResetJobOutcome::Reset(reset))
    })
}

/// The model that is asked from now on, with its prefix.
fn other_model(work: &ResetInput) -> Result<Swap, Failure> {
    let wanted = &work.wanted;
    let name = wanted.wire.full_model();
    let effort = Effort::Exactly(wanted.wire.effort.as_deref());
    let model = wanted.assembly.switch(&wanted.cwd, &name, effort)?;
    has_key(&model, wanted.keys.as_deref())?;
    let prefix = prefix::render(&model, &wanted.text);
    Ok(Swap { model, prefix })
}

/// The messages as the provider takes them, where it does not take them as they are.
fn rendered(work: &ResetInput, swap: Option<&Swap>) -> Result<Option<Base>, Failure> {
    let wanted = &work.wanted;
    let codec = swap.map_or(&work.codec, |swap| &swap.model.codec);
    // An entry may be of another kind than it was.
    let kind = swap.map(|swap| &swap.model.provider_kind);
    let other_kind = kind.is_some_and(|kind| *kind != wanted.wire.provider_kind);
    let images_differ = codec.sends_images() != work.codec.sends_images();
    let messages = match wanted.renders || other_kind || images_differ {
        true => read(&work.file, &work.parts)?,
        false => Vec::new(),
    };
    // A model that takes no images is not sent those of another.
    let has_images = |message: &ConversationMessage| matches!(&message.item, Item::Tool(tool) if !tool.images.is_empty());
    if !(wanted.renders || other_kind || messages.iter().any(has_images)) {
        return server::unreadable(work, swap);
    }
    let mut elements = Vec::new();
    let mut pieces = Vec::new();
    for message in messages {
        let item = match wanted.is_other_vendor || other_kind {
            true => without_reasoning(message.item),
            false => message.item,
        };
        pieces.extend(add(&**codec, item, &mut elements));
    }
    Ok(Some((pieces, elements)))
}

/// Removes the reasoning of an assistant message, which is sent to its own provider only.
pub(crate) fn without_reasoning(item: Item) -> Item {
    match item {
        Item::Assistant(mut message) => {
            message.thoughts.clear();
            message.reasoning.clear();
            Item::Assistant(message)
        }
        other => other,
    }
}
