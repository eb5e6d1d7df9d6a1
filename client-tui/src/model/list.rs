//! Lists that a user picks from: sessions, turns, queued prompts, running processes, open interactions.
//!
//! The daemon's newest answer is kept as it came; [`rows`] turns it into text, for showing and for searching alike.

pub mod agents;
#[cfg(test)]
pub mod fixtures;
pub mod found;
pub mod models;
pub mod rows;
pub mod words;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use client::prompt::Prompt;
use crossterm::event::KeyCode;
use proto::params::history::{CheckpointsOutput, RewindOutput, SearchOutput};
use proto::params::interaction::Interaction;
use proto::params::session::SessionSummary;
use proto::params::{process, skill};
use proto::state::State;
use proto::{InteractionId, Pid, PromptId, Seq, SessionId, Stamp};

use super::line::Input;

/// A list on the screen.
#[derive(Debug)]
pub struct ListDialog {
    pub what: ListOf,
    /// The words of a search.
    pub query: String,
    pub content: Content,
    /// The key of the marked row; `None` until there are rows.
    pub selected: Option<Key>,
    /// Index of that row when it was marked: if the row disappears, the row that takes its place is marked.
    pub place: usize,
    /// The row that took its place, and since when it is marked.
    pub slid: Option<(Key, Instant)>,
    /// The key that was pressed last, and when: terminals do not say which is held down.
    pub pressed: Option<(KeyCode, Instant)>,
    /// When the mark last moved.
    pub rested: Instant,
    pub filter: Filter,
    /// When the contents are requested again. Static lists are never refreshed.
    pub due: Instant,
    /// Wall-clock time of the newest answer: ages are relative to it.
    pub at: Stamp,
    /// When ages were counted to that moment.
    pub aged: Instant,
    /// Last messages of sessions, as far as requested; `None`: still loading.
    pub previews: HashMap<SessionId, Option<Preview>>,
    /// The second step of a rewind: choosing what to restore.
    pub restore: Option<Restore>,
    /// There are older entries that are not listed.
    pub more: bool,
    /// Why there is nothing to show.
    pub failed: Option<String>,
}

/// Kinds of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOf {
    /// All sessions, to switch between. `here`: only those of this directory.
    Sessions { here: bool },
    /// Turns to rewind to.
    Turns,
    /// Queued prompts.
    Queue,
    /// Running sessions; takes the whole screen.
    Processes,
    /// Sub-agents of the followed session, at work and ended.
    Agents,
    /// Open interactions, in all sessions.
    Inbox,
    /// Models to switch to. Typing filters at once.
    Models,
    /// Skills to use.
    Skills,
    /// Messages of all sessions that have the words of a search.
    Search,
}

/// The contents of a list.
#[derive(Debug)]
pub enum Content {
    /// The contents are being loaded.
    Loading,
    /// In display order.
    Sessions(Vec<SessionSummary>),
    Turns(CheckpointsOutput),
    /// Read from the followed session.
    Queue,
    Processes(process::ListOutput),
    /// By pid.
    Agents(Vec<SessionSummary>),
    /// Oldest first.
    Inbox(Vec<Interaction>),
    Models(Vec<models::Offer>),
    Skills(skill::ListOutput),
    /// Best first.
    Hits(SearchOutput),
}

/// Identifies a row; stable across refreshes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// A new session.
    New,
    Session(SessionId),
    /// An operating-system process: its pid, and its session.
    Child {
        session: Pid,
        os_pid: Option<u32>,
    },
    /// Undoing the newest rewind.
    Undo,
    Turn(u64),
    Prompt(PromptId),
    Interaction(InteractionId, Pid),
    Choice(Choice),
    /// `provider/model`.
    Model(String),
    /// Its `SKILL.md`.
    Skill(String),
    /// A file of skills that is left out, by its place.
    Fault(usize),
    /// A message that was found.
    Hit(SessionId, Seq),
}

/// Parts to restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Both,
    Conversation,
    Code,
    /// Both, including files changed by others since.
    Force,
    Cancel,
}

/// A query that rows must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub input: Input,
    /// It receives typed letters.
    pub open: bool,
}

/// The last messages of a session. Cleaned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    pub prompt: String,
    pub answer: String,
}

/// A rewind to the chosen turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Restore {
    /// The turn to rewind to before; `None`: undo the newest rewind.
    pub turn: Option<u64>,
    /// The last turn to keep.
    pub to_turn: u64,
    /// The prompt, for the composer.
    pub prompt: Prompt,
    /// The effect of the rewind, or why it is unknown; `None`: requested.
    pub effect: Option<Result<RewindOutput, String>>,
}

impl ListDialog {
    /// An empty list. Its contents are still being loaded, except for the queue, which is known.
    #[must_use]
    pub fn new(what: ListOf, now: Instant) -> Self {
        Self {
            what,
            query: String::new(),
            content: match what {
                ListOf::Queue => Content::Queue,
                _ => Content::Loading,
            },
            selected: None,
            place: 0,
            slid: None,
            pressed: None,
            rested: now,
            filter: Filter {
                open: what == ListOf::Models,
                ..Filter::default()
            },
            due: now,
            at: Stamp::default(),
            aged: now,
            previews: HashMap::new(),
            restore: None,
            more: false,
            failed: None,
        }
    }

    /// Whether it takes the whole screen.
    #[must_use]
    pub fn covers(&self) -> bool {
        matches!(self.what, ListOf::Processes)
    }

    /// How often the contents are requested again; `None`: once is enough.
    #[must_use]
    pub fn period(&self) -> Option<Duration> {
        match self.what {
            // The overview says as soon as they change; this is for when it does not come.
            ListOf::Sessions { .. } | ListOf::Inbox | ListOf::Processes | ListOf::Agents => {
                Some(Duration::from_secs(60))
            }
            ListOf::Turns | ListOf::Queue | ListOf::Models | ListOf::Skills | ListOf::Search => {
                None
            }
        }
    }

    /// How long after the last time the ages that it shows are others; `None`: it shows none that grow.
    #[must_use]
    pub fn ages_after(&self) -> Option<Duration> {
        /// So long ages are in seconds.
        const YOUNG_MS: i64 = 120_000;
        let is_young = |at: Stamp| self.at.0.saturating_sub(at.0) < YOUNG_MS;
        let is_live = |session: &SessionSummary| {
            let rests = matches!(session.state, State::Idle | State::Exited);
            !rests || is_young(session.active_at)
        };
        let in_seconds = match &self.content {
            Content::Sessions(sessions) | Content::Agents(sessions) => sessions.iter().any(is_live),
            Content::Processes(list) => {
                !list.children.is_empty() || list.processes.iter().any(is_live)
            }
            Content::Inbox(open) => open.iter().any(|open| is_young(open.opened_at)),
            _ => return None,
        };
        Some(Duration::from_secs(match in_seconds {
            true => 1,
            false => 30,
        }))
    }

    /// Lets all ages grow to this moment.
    pub fn age(&mut self, clock: Stamp, now: Instant) {
        let more = u64::try_from(clock.0.saturating_sub(self.at.0)).unwrap_or_default();
        if let Content::Processes(list) = &mut self.content {
            for child in &mut list.children {
                child.running_ms = child.running_ms.saturating_add(more);
            }
        }
        (self.at, self.aged) = (clock, now);
    }

    /// The index of the marked row among `rows`: the row with the marked key, else the index where it was.
    #[must_use]
    pub fn position(&self, rows: &[rows::Row]) -> usize {
        let instead = self.slid.as_ref().map(|(key, _)| key);
        let mut keys = self.selected.iter().chain(instead);
        keys.find_map(|key| rows.iter().position(|row| row.key == *key))
            .unwrap_or_else(|| self.place.min(rows.len().saturating_sub(1)))
    }

    /// The key of the marked row.
    #[must_use]
    pub fn current<'a>(&self, rows: &'a [rows::Row]) -> Option<&'a Key> {
        rows.get(self.position(rows)).map(|row| &row.key)
    }

    /// The listed session with this id.
    #[must_use]
    pub fn session(&self, id: SessionId) -> Option<&SessionSummary> {
        let mut sessions = self.sessions().iter();
        sessions.find(|session| session.session == id)
    }

    /// The listed sessions.
    #[must_use]
    pub fn sessions(&self) -> &[SessionSummary] {
        match &self.content {
            Content::Sessions(sessions) => sessions,
            Content::Processes(list) => &list.processes,
            Content::Agents(agents) => agents,
            _ => &[],
        }
    }

    /// The listed process with this pid.
    #[must_use]
    pub fn child(&self, os_pid: Option<u32>) -> Option<&process::ChildProcess> {
        let Content::Processes(list) = &self.content else {
            return None;
        };
        list.children.iter().find(|child| child.os_pid == os_pid)
    }
}
