//! Entries that wait for the user, in all sessions: gathered from the daemon, as a table, as JSON, as one line.

use client::{CallError, Client, form};
use proto::methods::{InteractionList, ProcessList};
use proto::outcome::TurnLimit;
use proto::params::interaction::{Interaction, ListParams};
use proto::params::process;
use proto::params::session::SessionSummary;
use proto::state::{State, WaitingFor};
use proto::{Pid, Stamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::Listing;
use crate::dialog::Dialog;
use crate::exit::Error;
use crate::messages::Head;
use crate::messages::asking::Msg;
use crate::messages::{language, translated};
use crate::{output, text};

/// Something that goes on only when the user does something. What they can answer has an `interaction_id`, a session that is
/// stuck otherwise has `waiting_for`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Waits {
    Interaction(Box<Interaction>),
    Session(Stuck),
}

/// A session that goes on only when a person does something else than answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Stuck {
    session: Pid,
    /// `credentials`, `paused`, or `time_limit`: a goal is paused at one.
    waiting_for: &'static str,
    cause: String,
    since: Stamp,
    /// What would let it go on.
    hint: String,
}

impl Waits {
    fn since(&self) -> Stamp {
        match self {
            Self::Interaction(interaction) => interaction.opened_at,
            Self::Session(stuck) => stuck.since,
        }
    }

    /// Identifies the entry for as long as it waits.
    pub fn id(&self) -> String {
        match self {
            Self::Interaction(interaction) => interaction.interaction_id.to_string(),
            Self::Session(stuck) => stuck.session.to_string(),
        }
    }

    fn kind_words(&self) -> (&'static str, &'static str) {
        match self {
            Self::Interaction(interaction) => Dialog::new((**interaction).clone()).kind_words(),
            Self::Session(stuck) if stuck.waiting_for == "credentials" => {
                (say!(Msg::Key), say!(Msg::Keys))
            }
            Self::Session(stuck) if stuck.waiting_for == "time_limit" => {
                (say!(Msg::TimeLimit), say!(Msg::TimeLimits))
            }
            Self::Session(_) => (say!(Msg::Paused), say!(Msg::Paused)),
        }
    }

    /// The row of what can be answered.
    fn row(&self) -> Option<[String; 5]> {
        let Self::Interaction(interaction) = self else {
            return None;
        };
        let (what, mut wants) = Dialog::new((**interaction).clone()).summary();
        if let Some(review) = form::review_of(language(), interaction) {
            wants = format!("{wants} · {review}");
        }
        let wants = text::exact(&wants).replace('\n', "⏎");
        let ago = output::ago(self.since());
        Some([self.id(), interaction.session.to_string(), ago, what, wants])
    }
}

/// Everything that waits: what can be answered, oldest first, then sessions that are stuck otherwise.
pub async fn gather(client: &Client) -> Result<Vec<Waits>, CallError> {
    let all = ListParams::default();
    let open = client.call::<InteractionList>(&all).await?.interactions;
    let all = process::ListParams::default();
    let sessions = client.call::<ProcessList>(&all).await?.processes;
    let open = open.into_iter().map(Box::new).map(Waits::Interaction);
    let stuck = sessions.iter().filter_map(stuck).map(Waits::Session);
    Ok(open.chain(stuck).collect())
}

fn stuck(session: &SessionSummary) -> Option<Stuck> {
    let pid = session.pid;
    let open = session.pending_interactions;
    let (waiting_for, cause, hint) = match (session.state, session.waiting_for) {
        (State::Waiting, Some(WaitingFor::Credentials)) => (
            "credentials",
            session.cause.clone(),
            say!(Msg::StoreKey, pid),
        ),
        (State::Paused, _) if open + session.queued > 0 || session.goal.is_some() => {
            let waits = [
                (session.queued, say!(Msg::QueuedPrompts)),
                (open, say!(Msg::OpenQuestions)),
            ];
            let waits = waits.iter().filter(|(count, _)| *count > 0);
            let waits = waits.map(|(count, what)| format!("{what}: {count}"));
            let goal = session.goal.as_ref();
            let goal = goal.map(|goal| say!(Msg::PausedGoal, goal.text));
            let waits: Vec<String> = goal.into_iter().chain(waits).collect();
            let hint = say!(Msg::ResumeContinues, pid);
            ("paused", waits.join(", "), hint)
        }
        (State::Idle, _) if session.at_limit == Some(TurnLimit::Time) => {
            let goal = session.goal.as_ref()?;
            let hint = say!(Msg::AddMinutes, pid);
            ("time_limit", say!(Msg::PausedGoal, goal.text), hint)
        }
        _ => return None,
    };
    Some(Stuck {
        session: pid,
        waiting_for,
        cause,
        since: session.active_at,
        hint,
    })
}

/// Prints them: a table of questions and one of sessions that are stuck, ids, or JSON.
pub fn list(waits: &[Waits], listing: &Listing) -> Result<(), Error> {
    if listing.json {
        return output::json(&waits);
    }
    if listing.quiet {
        let mut ids = waits.iter().map(Waits::id);
        return ids.try_for_each(|id| output::line(&text::line(&id)));
    }
    if waits.is_empty() {
        output::progress(say!(Msg::NothingWaits));
        return Ok(());
    }
    let rows: Vec<_> = waits.iter().filter_map(Waits::row).collect();
    output::table(
        [
            Head::Id,
            Head::Session,
            Head::Waits,
            Head::Tool,
            Head::Wants,
        ],
        &rows,
    )?;
    let rows: Vec<_> = waits.iter().filter_map(stuck_row).collect();
    if rows.is_empty() {
        return Ok(());
    }
    output::line("")?;
    output::table([Head::Session, Head::Waits, Head::For], &rows)
}

/// The row of a session that is stuck.
fn stuck_row(waits: &Waits) -> Option<[String; 3]> {
    let Waits::Session(stuck) = waits else {
        return None;
    };
    let why = match stuck.waiting_for {
        "credentials" => say!(Msg::WaitsForKey),
        "time_limit" => say!(Msg::AtTimeLimit),
        _ => say!(Msg::IsPaused),
    };
    Some([
        stuck.session.to_string(),
        output::ago(stuck.since),
        format!("{why} ({}): {}", translated(&stuck.cause), stuck.hint),
    ])
}

/// One thing that waits, on a line of its own.
pub fn render(waits: &Waits) -> String {
    let line = match (waits.row(), stuck_row(waits)) {
        (Some([id, session, _, what, wants]), _) => format!("{id}  {session}  {what}  {wants}"),
        (None, Some([session, _, why])) => format!("{session}  {why}"),
        (None, None) => String::new(),
    };
    text::line(&line)
}

/// One line for a status bar: `⚑ 2 waiting (1 approval, 1 question)`. Empty if nothing waits. A paused session with
/// an open question in it is shown by the question.
pub fn line(waits: &[Waits], utf8: bool) -> Option<String> {
    let mut kinds: Vec<((&str, &str), usize)> = Vec::new();
    for waits in waits {
        let kind = waits.kind_words();
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((kind, 1)),
        }
    }
    let kinds: Vec<String> = kinds
        .iter()
        .map(|((one, many), count)| format!("{count} {}", if *count == 1 { one } else { many }))
        .collect();
    let mark = if utf8 { "⚑" } else { "!" };
    (!waits.is_empty()).then(|| say!(Msg::LineWaiting, mark, waits.len(), kinds.join(", ")))
}
