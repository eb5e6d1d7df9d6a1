//! The request for a summary: by the model of the config that writes summaries, or by the session's own.

use std::sync::Arc;

use contract::codec::FragmentRole;
use contract::{Asked, Fragment, RequestBuffer, ToolChoice};
use proto::item::{Item, UserMessage, Voice};
use proto::{Failure, ItemId};
use turn::compacting::Summary;
use turn::compaction::{self, ConversationMessage, Excerpt};

use super::{ResetInput, has_key, sent};
use crate::assembly::setup::ModelSetup;

/// A request for a summary.
#[derive(Clone)]
pub struct SummaryRequest {
    pub body: Arc<RequestBuffer>,
    /// The model that is asked; `None`: the session's own.
    pub writer: Option<Arc<ModelSetup>>,
}

/// The model of the config that writes summaries, where there is one and it can be asked.
pub(super) fn writer(work: &ResetInput) -> Result<Option<ModelSetup>, Failure> {
    if !matches!(work.job.summary, Summary::Wanted | Summary::WantedByModel) {
        return Ok(None);
    }
    let wanted = &work.wanted;
    let Some(model) = wanted.assembly.compaction_model(&wanted.cwd)? else {
        return Ok(None);
    };
    // The session's own has the conversation in its provider's cache.
    if model.full_name() == wanted.wire.full_model() {
        return Ok(None);
    }
    has_key(&model, Some(&work.keys))?;
    Ok(Some(model))
}

/// The request for a summary by another model: what goes, as plain text. `None`: not even the newest fits its window.
pub(super) fn for_writer(
    writer: ModelSetup,
    work: &ResetInput,
    messages: &[ConversationMessage],
    fold: &[usize],
    instructions: &str,
) -> Option<SummaryRequest> {
    let room = work.terms.excerpt_room_in(writer.context_window, messages);
    let excerpt = compaction::excerpt(messages, fold, room)?;
    let mut text = String::new();
    if !excerpt.left_out.is_empty() {
        text.push_str(&compaction::beginning(messages, &excerpt.left_out));
        text.push('\n');
    }
    text.push_str(&compaction::transcript(&messages[excerpt.shown]));
    text.push('\n');
    let words = work.terms.summary_words(messages);
    text.push_str(&compaction::demand(instructions, messages, fold, words));
    let prefix = writer
        .codec
        .prefix(&writer.name, compaction::TRANSCRIPT_SYSTEM, &[]);
    let question = writer.codec.render(&said_by_daemon(text))?;
    let body = writer.codec.assemble(&Asked {
        prefix: &prefix,
        fragments: &[Fragment {
            role: FragmentRole::User,
            bytes: question.as_bytes(),
        }],
        tool_choice: ToolChoice::None,
        cache_key: "",
    });
    Some(SummaryRequest {
        body: Arc::new(body),
        writer: Some(Arc::new(writer)),
    })
}

/// The request for a summary by the session's own model. `None`: the summary is put together without a model.
pub(super) fn for_own_model(
    work: &ResetInput,
    messages: &[ConversationMessage],
    fold: &[usize],
    instructions: &str,
) -> Result<Option<SummaryRequest>, Failure> {
    let Some(shown) = ShownConversation::of(work, messages, fold) else {
        return Ok(None);
    };
    let body = shown.body(work, messages, fold, instructions)?;
    Ok(Some(SummaryRequest {
        body: Arc::new(body),
        writer: None,
    }))
}

fn said_by_daemon(text: String) -> Item {
    Item::User(UserMessage {
        item: ItemId("d".into()),
        prompt_id: None,
        text,
        context: None,
        voice: Voice::Daemon,
        from: None,
        attached: Vec::new(),
        reported: Vec::new(),
    })
}

/// What the session's own model is shown when it is asked for a summary.
enum ShownConversation {
    /// The conversation as it is, so that the provider's cache serves it.
    Whole,
    /// Only the messages to be folded, with long results cut: the whole is too long.
    Excerpt(Excerpt),
}

impl ShownConversation {
    /// `None`: the summary is put together without the model.
    fn of(work: &ResetInput, messages: &[ConversationMessage], fold: &[usize]) -> Option<Self> {
        let too_long = work.terms.is_too_long_to_show(messages);
        match work.job.summary {
            Summary::Wanted | Summary::WantedByModel | Summary::WantedByOwnModel if !too_long => {
                Some(Self::Whole)
            }
            Summary::Wanted
            | Summary::WantedByModel
            | Summary::WantedByOwnModel
            | Summary::WantedShort => {
                let room = work.terms.excerpt_room(messages);
                compaction::excerpt(messages, fold, room).map(Self::Excerpt)
            }
            Summary::Written(_) | Summary::ByServer(_) | Summary::Mechanical => None,
        }
    }

    fn body(
        &self,
        work: &ResetInput,
        messages: &[ConversationMessage],
        fold: &[usize],
        instructions: &str,
    ) -> Result<RequestBuffer, Failure> {
        let mut fragments: Vec<(FragmentRole, Vec<u8>)> = Vec::new();
        let say = |text: String, fragments: &mut Vec<(FragmentRole, Vec<u8>)>| {
            if let Some(text) = work.codec.render(&said_by_daemon(text)) {
                fragments.push((FragmentRole::User, text.into_bytes()));
            }
        };
        let (shown, short) = match self {
            Self::Whole => (0..messages.len(), false),
            Self::Excerpt(excerpt) => (excerpt.shown.clone(), true),
        };
        if let Self::Excerpt(excerpt) = self
            && shown.start > 0
        {
            let beginning = compaction::beginning(messages, &excerpt.left_out);
            say(beginning, &mut fragments);
        }
        for (message, part) in messages[shown.clone()].iter().zip(&work.parts[shown]) {
            let cut = match &message.item {
                Item::Tool(tool) if short => compaction::shorten(tool, None),
                _ => None,
            };
            let cut = cut.and_then(|tool| work.codec.render(&Item::Tool(tool)));
            let bytes = match cut {
                Some(text) => text.into_bytes(),
                None => sent(work, part)?,
            };
            fragments.push((part.role, bytes));
        }
        let words = work.terms.summary_words(messages);
        say(
            compaction::demand(instructions, messages, fold, words),
            &mut fragments,
        );
        let fragments: Vec<_> = fragments
            .iter()
            .map(|(role, bytes)| Fragment { role: *role, bytes })
            .collect();
        Ok(work.codec.assemble(&Asked {
            prefix: &work.prefix,
            fragments: &fragments,
            tool_choice: ToolChoice::None,
            cache_key: &work.cache_key,
        }))
    }
}
