//! Compactions by the provider itself: the request for one, and the base of requests that begins with it.

use std::sync::Arc;

use contract::codec::FragmentRole;
use contract::{Asked, Fragment, ToolChoice};
use proto::item::Item;
use proto::reset::Piece;
use proto::{ErrorName, Failure, Seq};
use turn::compacting::Summary;
use turn::compaction::{self, BasePart, CompactionPlan, CompactionTerms, ConversationMessage};

use super::{ResetInput, SummaryRequest, Swap, fetch, put, read, sent};
use crate::journal::elements::Element;

/// The pieces of a base, and the new messages among them.
pub(super) type Base = (Vec<Piece>, Vec<Element>);

/// The request that has the provider itself compact the conversation. `None`: a model writes the summary.
pub(super) fn request(
    work: &ResetInput,
    messages: &[ConversationMessage],
    fold: &[usize],
    instructions: &str,
) -> Result<Option<SummaryRequest>, Failure> {
    let server = work.codec.server_compaction();
    let Some(server) = server.filter(|_| work.job.summary == Summary::Wanted) else {
        return Ok(None);
    };
    if work.terms.is_too_long_to_show(messages) {
        return Ok(None);
    }
    let mut fragments: Vec<(FragmentRole, Vec<u8>)> = Vec::with_capacity(work.parts.len());
    for part in &work.parts {
        fragments.push((part.role, sent(work, part)?));
    }
    let fragments: Vec<_> = fragments
        .iter()
        .map(|(role, bytes)| Fragment { role: *role, bytes })
        .collect();
    let has_words = !instructions.trim().is_empty();
    let words = work.terms.summary_words(messages);
    let demand = has_words.then(|| compaction::demand(instructions, messages, fold, words));
    let asked = Asked {
        prefix: &work.prefix,
        fragments: &fragments,
        // As in the requests before, so that the provider's cache serves it.
        tool_choice: ToolChoice::Auto,
        cache_key: &work.cache_key,
    };
    let body = server.request(&asked, demand.as_deref());
    Ok(body.map(|body| SummaryRequest {
        body: Arc::new(body),
        writer: None,
    }))
}

/// A compaction that the provider made.
pub(super) struct Compacted {
    /// Its wire bytes.
    fragment: String,
    /// What stands for it where another provider is asked.
    pub text: String,
    is_single: bool,
    binds_reasoning: bool,
}

impl Compacted {
    /// # Errors
    /// The data is no compaction.
    pub(super) fn of(
        work: &ResetInput,
        data: &str,
        messages: &[ConversationMessage],
    ) -> Result<Self, Failure> {
        let server = work.codec.server_compaction();
        let made = server.and_then(|server| Some((server, server.fragment(data)?)));
        let (server, fragment) = made.ok_or_else(no_compaction)?;
        let text = match server.text(data) {
            Some(text) => text,
            None => stand_in(work, messages),
        };
        Ok(Self {
            fragment,
            text,
            is_single: server.is_single(),
            binds_reasoning: server.binds_reasoning(),
        })
    }

    /// The base of requests that begins with this compaction.
    pub(super) fn lead(
        self,
        work: &ResetInput,
        messages: &[ConversationMessage],
        parts: Vec<BasePart>,
        terms: &CompactionTerms,
    ) -> Result<Base, Failure> {
        let (item, parts) = compaction::lead(parts, &self.text, terms);
        let earlier = earlier(work, messages)?;
        let (mut before, mut rest) = (Vec::new(), Vec::with_capacity(parts.len()));
        for part in parts {
            match part {
                BasePart::Keep(piece) if earlier.contains(&piece) => match self.is_single {
                    true => rest.push(in_words(piece, messages)),
                    false => before.push(piece),
                },
                BasePart::Keep(piece) if self.binds_reasoning => {
                    rest.push(unbound(piece, messages));
                }
                other => rest.push(other),
            }
        }
        let (pieces, elements) = put(&*work.codec, messages, rest);
        let own = std::iter::once(element(0));
        // The compaction is the first element of this reset.
        let later = pieces.into_iter().map(|piece| match piece {
            Piece::Element {
                reset: Seq(0),
                element: at,
            } => element(at + 1),
            other => other,
        });
        let pieces = before.into_iter().chain(own).chain(later).collect();
        let fragment = self.fragment;
        let first = std::iter::once(Element { item, fragment });
        Ok((pieces, first.chain(elements).collect()))
    }
}

/// An element of the reset that is being made.
fn element(element: u32) -> Piece {
    Piece::Element {
        reset: Seq(0),
        element,
    }
}

/// An earlier compaction as a message of words.
fn in_words(piece: Piece, messages: &[ConversationMessage]) -> BasePart {
    match messages.iter().find(|message| message.piece == piece) {
        Some(message) => BasePart::New(message.item.clone()),
        None => BasePart::Keep(piece),
    }
}

/// A kept message, without signed reasoning.
fn unbound(piece: Piece, messages: &[ConversationMessage]) -> BasePart {
    let message = messages.iter().find(|message| message.piece == piece);
    match message.map(|message| &message.item) {
        Some(Item::Assistant(answer)) if !answer.thoughts.is_empty() => {
            let mut answer = answer.clone();
            answer.thoughts.clear();
            BasePart::New(Item::Assistant(answer))
        }
        _ => BasePart::Keep(piece),
    }
}

/// The messages that are compactions of the provider.
fn earlier(work: &ResetInput, messages: &[ConversationMessage]) -> Result<Vec<Piece>, Failure> {
    let Some(server) = work.codec.server_compaction() else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for (message, part) in messages.iter().zip(&work.parts) {
        let is_summary = matches!(&message.item, Item::User(user) if compaction::is_summary(user));
        if is_summary && server.is_compaction(&fetch(&work.file, &part.fragment)?) {
            found.push(message.piece.clone());
        }
    }
    Ok(found)
}

/// The text for a compaction that only the provider can read, from what it replaces.
fn stand_in(work: &ResetInput, messages: &[ConversationMessage]) -> String {
    match compaction::plan(messages, &work.terms) {
        CompactionPlan::Ask { fold } => compaction::stand_in(messages, &fold),
        CompactionPlan::Nothing(_) | CompactionPlan::Full(_) | CompactionPlan::Done { .. } => {
            String::new()
        }
    }
}

/// The conversation for another model of the same provider, if that cannot read the compactions of this one: they become
/// messages of words. `None`: nothing changes.
pub(super) fn unreadable(work: &ResetInput, swap: Option<&Swap>) -> Result<Option<Base>, Failure> {
    let is_other = swap.is_some_and(|swap| swap.model.name != work.prefix.model);
    let server = work.codec.server_compaction();
    let is_bound = server.is_some_and(|server| !server.is_single());
    let is_inserted = |piece: &Piece| matches!(piece, Piece::Element { .. });
    let mut pieces = work.parts.iter().map(|part| &part.piece);
    if !is_other || !is_bound || !pieces.any(is_inserted) {
        return Ok(None);
    }
    let messages = read(&work.file, &work.parts)?;
    let bound = earlier(work, &messages)?;
    if bound.is_empty() {
        return Ok(None);
    }
    let parts = messages
        .iter()
        .map(|message| match bound.contains(&message.piece) {
            true => BasePart::New(message.item.clone()),
            false => BasePart::Keep(message.piece.clone()),
        });
    let parts = parts.collect();
    Ok(Some(put(&*work.codec, &messages, parts)))
}

fn no_compaction() -> Failure {
    Failure::new(
        ErrorName::ProviderFailed,
        "The provider's compaction cannot be read.",
        "Compact again. If it fails again, remove `server_compaction` from the provider's entry.",
    )
}
