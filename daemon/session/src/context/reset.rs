//! Jobs that change earlier bytes of requests: a compaction is planned and written, or the conversation is rendered for
//! another model. The machine says when (`turn::compacting`); here the messages are read and rendered, on a thread that
//! may block.

use std::path::PathBuf;
use std::sync::Arc;

use contract::{Codec, Prefix, PrefixText};
use proto::item::Item;
use proto::reset::{CacheReset, Piece, Wire};
use proto::{ErrorName, Failure, Seq};
use store::log::{ByteLocation, LogFile, ReadFrom};
use turn::compacting::{ResetJob, ResetJobOutcome, ResetReason, Summary};
use turn::compaction::{
    self, BasePart, CompactionPlan, CompactionTerms, ConversationMessage, NothingToCompact,
};

use crate::assembly::setup::{Assembly, ModelSetup};
use crate::journal::elements::{self, Element, Reader};
use crate::journal::{MessageAt, images};
use crate::request::keys::Keys;

mod rebase;
mod server;
mod summary_request;

pub(crate) use rebase::without_reasoning;
pub use summary_request::SummaryRequest;

/// Bytes beside a record, at most: three quarters of the longest line.
const OWN_MAX: usize = store::format::LINE_MAX / 4 * 3;

/// What a job works on.
pub struct ResetInput {
    pub job: ResetJob,
    pub parts: Vec<MessageAt>,
    pub file: Arc<LogFile>,
    pub prefix: Arc<Prefix>,
    pub codec: Arc<dyn Codec>,
    pub cache_key: String,
    pub terms: CompactionTerms,
    /// The keys that clients brought: the model that writes summaries may need one.
    pub keys: Arc<Keys>,
    pub wanted: ModelTarget,
}

/// Who is to be asked, and what that takes.
pub struct ModelTarget {
    pub assembly: Arc<dyn Assembly>,
    /// The session's directory: settings are read there.
    pub cwd: PathBuf,
    /// What the session's prefix says: another model gets the same.
    pub text: Arc<PrefixText>,
    pub wire: Wire,
    /// It contains messages from another provider than the one that is asked from now on.
    pub is_other_vendor: bool,
    /// Another provider, model or effort.
    pub is_other: bool,
    /// The provider and model are the same: at most the effort is another.
    pub is_same_model: bool,
    /// The messages have to be rendered, and not the prefix alone.
    pub renders: bool,
    /// The keys that clients brought, if a key is needed now: nobody waits for a fallback's key.
    pub keys: Option<Arc<Keys>>,
}

/// What a job came to, with what does not go through the machine.
pub struct Done {
    pub end: ResetJobOutcome,
    /// What the record of the reset keeps in its `own` member.
    pub own: Option<String>,
    /// The request for a summary.
    pub request: Option<SummaryRequest>,
    /// Who is asked from the reset on.
    pub swap: Option<Box<Swap>>,
    /// Why the model of the config that writes summaries is not asked.
    pub no_writer: Option<Failure>,
}

/// Another model, ready to be asked.
pub struct Swap {
    pub model: ModelSetup,
    pub prefix: Prefix,
}

impl Done {
    fn of(end: ResetJobOutcome) -> Self {
        Self {
            end,
            own: None,
            request: None,
            swap: None,
            no_writer: None,
        }
    }
}

/// Does a job. Blocks.
pub fn run(work: ResetInput) -> Done {
    let done = match work.job.why.clone() {
        ResetReason::Compaction { instructions, .. } => compact(work, &instructions),
        ResetReason::Rebase => rebase::rebase(&work),
    };
    done.unwrap_or_else(|failure| Done::of(ResetJobOutcome::Failed(failure)))
}

/// What a compaction would do, without a summary being written; and the tokens before the first that changes. Blocks.
///
/// # Errors
/// The log cannot be read.
pub fn preview(work: ResetInput) -> Result<(CompactionPlan, u64), Failure> {
    let messages = read(&work.file, &work.parts)?;
    let terms = CompactionTerms {
        summary: Some(String::new()),
        ..work.terms
    };
    let planned = compaction::plan(&messages, &terms);
    let CompactionPlan::Done { parts, .. } = &planned else {
        return Ok((planned, 0));
    };
    let same = |(message, part): &(&ConversationMessage, &BasePart)| matches!(part, BasePart::Keep(piece) if *piece == message.piece);
    let head = messages.iter().zip(parts).take_while(same);
    let head: u64 = head.map(|(message, _)| message.bytes).sum();
    let tokens = terms.measure.tokens(terms.prefix_bytes + head);
    Ok((planned, tokens))
}

fn compact(work: ResetInput, instructions: &str) -> Result<Done, Failure> {
    let messages = read(&work.file, &work.parts)?;
    let mut terms = work.terms.clone();
    let server = match &work.job.summary {
        Summary::ByServer(data) => Some(server::Compacted::of(&work, data, &messages)?),
        _ => None,
    };
    match (&work.job.summary, &server) {
        (Summary::Written(text), _) => terms.summary = Some(text.clone()),
        (_, Some(server)) => terms.summary = Some(server.text.clone()),
        _ => {}
    }
    let mut planned = compaction::plan(&messages, &terms);
    if let CompactionPlan::Ask { fold } = &planned {
        if let Some(asking) = ask(&work, &messages, fold, instructions)? {
            return Ok(asking);
        }
        terms.summary = Some(compaction::mechanical(&messages, fold));
        terms.mechanical = true;
        planned = compaction::plan(&messages, &terms);
    }
    match planned {
        CompactionPlan::Nothing(why) => Ok(Done::of(ResetJobOutcome::Nothing(why))),
        CompactionPlan::Full(full) => Ok(Done::of(ResetJobOutcome::Full(full))),
        // There is a summary.
        CompactionPlan::Ask { .. } => Ok(Done::of(ResetJobOutcome::Nothing(
            NothingToCompact::NothingToFold,
        ))),
        CompactionPlan::Done { parts, mut done } => {
            let (pieces, elements) = match server {
                None => put(&*work.codec, &messages, parts),
                Some(server) => {
                    done.server = true;
                    server.lead(&work, &messages, parts, &terms)?
                }
            };
            let own = bounded(elements::own(None, &elements))?;
            let reset = CacheReset {
                reason: "compaction".to_owned(),
                base: Some(pieces),
                compaction: Some(done),
                ..CacheReset::default()
            };
            Ok(Done {
                own: Some(own),
                ..Done::of(ResetJobOutcome::Reset(reset))
            })
        }
    }
}

/// Asks for a summary. `None`: it is put together without a model.
fn ask(
    work: &ResetInput,
    messages: &[ConversationMessage],
    fold: &[usize],
    instructions: &str,
) -> Result<Option<Done>, Failure> {
    if let Some(request) = server::request(work, messages, fold, instructions)? {
        return Ok(Some(Done {
            request: Some(request),
            ..Done::of(ResetJobOutcome::AskServer)
        }));
    }
    let (writer, no_writer) = match summary_request::writer(work) {
        Ok(writer) => (writer, None),
        Err(failure) => (None, Some(failure)),
    };
    let by_writer = writer
        .and_then(|writer| summary_request::for_writer(writer, work, messages, fold, instructions));
    let request = match by_writer {
        Some(request) => Some(request),
        None => summary_request::for_own_model(work, messages, fold, instructions)?,
    };
    Ok(request.map(|request| Done {
        request: Some(request),
        no_writer,
        ..Done::of(ResetJobOutcome::Ask)
    }))
}

/// The pieces of a base, and the new messages among them. Neighbours that stay are one run.
fn put(
    codec: &dyn Codec,
    messages: &[ConversationMessage],
    parts: Vec<BasePart>,
) -> (Vec<Piece>, Vec<Element>) {
    let (mut pieces, mut elements) = (Vec::<Piece>::new(), Vec::new());
    let mut before: Option<usize> = None;
    let mut from = 0;
    for part in parts {
        match part {
            BasePart::Keep(piece) => {
                // Kept messages stay in their order: each is sought after the one before.
                let rest = messages.iter().skip(from);
                let at = rest.clone().position(|message| message.piece == piece);
                let at = at.map(|place| place + from);
                from = at.map_or(from, |at| at + 1);
                let next = at.is_some() && at == before.map(|before| before + 1);
                let follows = next && at.is_some_and(|at| messages[at].follows);
                match (&piece, pieces.last_mut()) {
                    (Piece::Run(_, last), Some(Piece::Run(_, end))) if follows => *end = *last,
                    _ => pieces.push(piece),
                }
                before = at;
            }
            BasePart::New(item) => {
                before = None;
                if let Some(piece) = add(codec, item, &mut elements) {
                    pieces.push(piece);
                }
            }
        }
    }
    (pieces, elements)
}

/// Renders a message as the next element. `None`: this kind of provider sends nothing for it.
fn add(codec: &dyn Codec, item: Item, elements: &mut Vec<Element>) -> Option<Piece> {
    let fragment = codec.render(&item)?;
    let element = u32::try_from(elements.len()).ok()?;
    elements.push(Element { item, fragment });
    Some(Piece::Element {
        // The record that it will be.
        reset: Seq(0),
        element,
    })
}

/// The wire bytes of a message, as requests have them.
fn sent(work: &ResetInput, part: &MessageAt) -> Result<Vec<u8>, Failure> {
    let stored = fetch(&work.file, &part.fragment)?;
    let filled = images::fill(&work.file, ReadFrom::Disk, &*work.codec, part, &stored);
    Ok(filled.map_err(damaged)?.bytes.into_owned())
}

/// Checks that the needed key is there, if one is needed.
fn has_key(model: &ModelSetup, keys: Option<&Keys>) -> Result<(), Failure> {
    let (Some(keys), Some(variable)) = (keys, &model.key_variable) else {
        return Ok(());
    };
    match model.own_key.is_some() || keys.get(variable).is_some() {
        true => Ok(()),
        false => Err(Failure::new(
            ErrorName::InvalidConfig,
            format!("no key for `{}`", model.provider_name),
            format!("Set {variable}, or store the key with `reasonix login`."),
        )),
    }
}

/// Reads messages back, each with the size of its wire bytes.
fn read(file: &LogFile, parts: &[MessageAt]) -> Result<Vec<ConversationMessage>, Failure> {
    let mut reader = Reader::new(file);
    let messages = parts.iter().map(|part| {
        let (item, _) = reader.message(part).map_err(damaged)?;
        Ok(ConversationMessage {
            piece: part.piece.clone(),
            bytes: images::counted_bytes(&item, part.fragment.len()),
            item,
            follows: part.follows,
        })
    });
    messages.collect()
}

fn fetch(file: &LogFile, at: &ByteLocation) -> Result<Vec<u8>, Failure> {
    let bytes = file.fetch(at);
    let bytes = bytes.map_err(|error| damaged(format!("cannot read the log: {error}")))?;
    Ok(bytes.into_owned())
}

fn damaged(reason: String) -> Failure {
    Failure::new(
        ErrorName::Storage,
        reason,
        "Run `reasonix doctor` to check the store.",
    )
}

/// Data beside a record has to fit into one line with it.
fn bounded(own: Result<String, serde_json::Error>) -> Result<String, Failure> {
    let own = own.map_err(|error| bug(&error))?;
    match own.len() < OWN_MAX {
        true => Ok(own),
        false => Err(Failure::new(
            ErrorName::Limit,
            format!(
                "The conversation has {} bytes, too many to render again.",
                own.len()
            ),
            "Compact it first, or continue in a new session.",
        )),
    }
}

fn bug(error: &serde_json::Error) -> Failure {
    Failure::new(
        ErrorName::Internal,
        format!("A message cannot be written as JSON: {error}"),
        "Please report this as a bug in Reasonix.",
    )
}
