//! Finding and listing sessions: the catalog first, loaded sessions on top of it.
//!
//! Nothing here changes a session. The catalog may lag; loaded sessions know more, and the logs know all.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use proto::params::interaction::Interaction;
use proto::params::session::{ListOutput, ListParams, ReadOutput, ReadParams, SessionSummary};
use proto::state::State;
use proto::{ErrorName, Event, Failure, InteractionId, Pid, Seq, SessionId};
use store::catalog::{CatalogError, SessionLookup};
use store::home::Home;

use crate::actor::commands::follow;
use crate::actor::handle::SessionHandle;
use crate::history::summary;
use crate::supervisor::Supervisor;
use crate::tasks::{self, blocking};

/// How long after its start the daemon checks its catalog, unless somebody asks for it earlier.
const CHECK_AFTER: Duration = Duration::from_secs(2);

impl Supervisor {
    /// The session that a text names: a pid, a UUID, a unique prefix of at least 4 characters, or a name.
    ///
    /// # Errors
    /// `not_found` with near names, `ambiguous` with those that fit.
    pub async fn find(&self, text: &str) -> Result<SessionHandle, Failure> {
        let id = self.find_id(text).await?;
        self.load(id).await
    }

    pub(crate) async fn find_id(&self, text: &str) -> Result<SessionId, Failure> {
        // One that is being created works already. Whoever loads it waits until it is on disk.
        let pid = text.parse().ok().map(Pid);
        if let Some(session) = pid.and_then(|pid| self.slots.created_as(pid)) {
            return Ok(session);
        }
        // A loaded session may be younger than the catalog.
        if let Some(handle) = self.find_loaded(text) {
            return Ok(handle.id());
        }
        self.is_filled().await;
        let (catalog, wanted) = (Arc::clone(&self.catalog), text.to_owned());
        self.services.catalog.flush().await;
        match blocking(move || catalog.find(&wanted)).await? {
            Ok(SessionLookup::One(summary)) => Ok(summary.session),
            Ok(SessionLookup::Many(names)) => Err(Failure::new(
                ErrorName::Ambiguous,
                format!("`{text}` matches several sessions: {}.", names.join(", ")),
                "Give more of the id, or the pid.",
            )
            .with("candidates", names)),
            Ok(SessionLookup::None(nearest)) => {
                let near: Vec<String> = nearest.iter().map(|name| format!("`{name}`")).collect();
                let near = near.join(", ");
                let hint = match near.is_empty() {
                    false => format!("Did you mean {near}? List sessions with `reasonix ls`."),
                    true => "List sessions with `reasonix ls`.".to_owned(),
                };
                Err(Failure::new(
                    ErrorName::NotFound,
                    format!("There is no session `{text}`."),
                    hint,
                )
                .with("nearest", nearest))
            }
            Err(error @ CatalogError::BadName { .. }) => Err(Failure::new(
                ErrorName::NotFound,
                error.to_string(),
                "Give a session's pid, its name, or at least 4 characters of its id.",
            )),
            Err(error) => Err(index_failure(&error)),
        }
    }

    fn find_loaded(&self, text: &str) -> Option<SessionHandle> {
        let handles = self.handles();
        let by_pid = text.parse::<u64>().ok();
        let by_id = text.parse::<SessionId>().ok();
        handles
            .into_iter()
            .find(|handle| by_pid == Some(handle.pid().0) || by_id == Some(handle.id()))
    }

    /// A session in short, without loading it.
    ///
    /// # Errors
    /// As `find`.
    pub async fn summary(&self, text: &str) -> Result<SessionSummary, Failure> {
        let id = self.find_id(text).await?;
        if let Some(handle) = self.handles().into_iter().find(|handle| handle.id() == id) {
            return Ok(self.summary_now(&handle));
        }
        let catalog = Arc::clone(&self.catalog);
        let found = blocking(move || catalog.get(id))
            .await?
            .map_err(|error| index_failure(&error))?;
        match found {
            Some(summary) => Ok(summary),
            None => Ok(self.summary_now(&self.load(id).await?)),
        }
    }

    /// A page of stored sessions, newest first.
    ///
    /// # Errors
    /// The catalog cannot be read.
    pub async fn list(&self, params: ListParams) -> Result<ListOutput, Failure> {
        self.is_filled().await;
        self.services.catalog.flush().await;
        let catalog = Arc::clone(&self.catalog);
        let mut page = blocking(move || catalog.list(&params))
            .await?
            .map_err(|error| index_failure(&error))?;
        self.freshen(&mut page.sessions);
        Ok(page)
    }

    /// Loaded sessions by pid; `all`: also exited ones.
    ///
    /// # Errors
    /// The catalog cannot be read.
    pub async fn processes(
        &self,
        params: proto::params::process::ListParams,
    ) -> Result<Vec<SessionSummary>, Failure> {
        let (all, below) = (params.all, params.below);
        if all {
            self.is_filled().await;
        } else {
            self.is_checked().await;
        }
        self.services.catalog.flush().await;
        let catalog = Arc::clone(&self.catalog);
        let label = params.label.clone();
        let mut found = blocking(move || catalog.processes(&params))
            .await?
            .map_err(|error| index_failure(&error))?;
        self.freshen(&mut found);
        // One that was made just now may not have come to the catalog.
        for handle in self.handles() {
            let summary = self.summary_now(&handle);
            let wanted = label
                .as_ref()
                .is_none_or(|label| summary.labels.contains(label));
            if wanted && found.iter().all(|known| known.session != summary.session) {
                found.push(summary);
            }
        }
        found.retain(|summary| all || summary.compacting || summary.state != State::Exited);
        found.sort_by_key(|summary| summary.pid);
        if let Some(top) = below {
            retain_below(&mut found, top);
        }
        Ok(found)
    }

    /// The number of the newest change of what lists of sessions show.
    #[must_use]
    pub fn list_change(&self) -> u64 {
        self.services.changes.newest()
    }

    /// The sessions that lists show otherwise since this change; `None`: it is of another life of the daemon.
    #[must_use]
    pub fn changed_since(&self, since: u64) -> Option<HashSet<SessionId>> {
        self.services.changes.changed_after(since)
    }

    /// The same, once it is another one than `since`, or after this time.
    pub async fn next_list_change(&self, since: u64, wait: Duration) -> u64 {
        self.services.changes.after(since, wait).await;
        self.list_change()
    }

    /// A loaded session in short, with what its sub-agents have used until now: they publish for themselves.
    fn summary_now(&self, handle: &SessionHandle) -> SessionSummary {
        let mut summary = handle.summary();
        let with_agents = self.services.ledger.spent_with_agents(handle.id());
        summary.tree_usage = with_agents.or(summary.tree_usage);
        summary
    }

    /// Loaded sessions know more than the catalog.
    pub(crate) fn freshen(&self, summaries: &mut [SessionSummary]) {
        let fresh: HashMap<_, _> = self
            .handles()
            .into_iter()
            .map(|handle| (handle.id(), self.summary_now(&handle)))
            .collect();
        for summary in &mut *summaries {
            if let Some(fresh) = fresh.get(&summary.session) {
                summary.clone_from(fresh);
            }
        }
        self.note_unrecovered(summaries);
    }

    /// Interactions that wait for the user, oldest first. Sessions with something open are always loaded.
    #[must_use]
    pub fn interactions(&self) -> Vec<Interaction> {
        let handles = self.handles();
        let open = handles.iter().flat_map(SessionHandle::interactions);
        let mut open: Vec<_> = open.collect();
        open.sort_by_key(|interaction| interaction.opened_at);
        open
    }

    /// The session that an interaction belongs to, by its id.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn of_interaction(&self, id: &InteractionId) -> Result<SessionHandle, Failure> {
        let pid = id.0.split_once('.').map_or("", |(pid, _)| pid);
        match pid.parse::<u64>() {
            Ok(_) => self.find(pid).await,
            Err(_) => Err(Failure::new(
                ErrorName::NotFound,
                format!("There is no open question `{id}`."),
                "List open questions with `reasonix inbox`; ids look like `3.1`.",
            )),
        }
    }

    /// A page of durable events.
    ///
    /// # Errors
    /// As `find`; `storage`.
    pub async fn read(&self, params: &ReadParams) -> Result<ReadOutput, Failure> {
        let handle = self.find(&params.session).await?;
        let limit = if params.limit == 0 {
            200
        } else {
            params.limit.min(10_000)
        };
        let epoch = handle.epoch();
        let lines = handle.lines(params.from_seq).await?;
        let Some((file, offset, len, pid)) = lines else {
            return Ok(ReadOutput {
                events: Vec::new(),
                next: None,
                epoch,
            });
        };
        let published = follow::read_lines(file, offset, len, pid).await?;
        let durable = handle.summary().seq;
        let mut events = Vec::new();
        for event in published
            .iter()
            .take(usize::try_from(limit).unwrap_or(usize::MAX))
        {
            let event: Event = serde_json::from_str(&event.text).map_err(|error| {
                Failure::new(
                    ErrorName::Storage,
                    format!("an event is not readable: {error}"),
                    "",
                )
            })?;
            events.push(event);
        }
        let next = events
            .last()
            .and_then(|event| event.seq)
            .map(Seq::next)
            .filter(|next| *next <= durable);
        Ok(ReadOutput {
            events,
            next,
            epoch,
        })
    }

    /// How many sessions there are.
    ///
    /// # Errors
    /// The catalog cannot be read.
    pub async fn counts(&self) -> Result<proto::params::daemon::SessionCounts, Failure> {
        self.is_checked().await;
        self.services.catalog.flush().await;
        let catalog = Arc::clone(&self.catalog);
        let stored = blocking(move || catalog.count())
            .await?
            .map_err(|error| index_failure(&error))?;
        let loaded = self.handles();
        let of = |state| {
            loaded
                .iter()
                .map(SessionHandle::summary)
                .filter(|summary| summary.read_only.is_none() && summary.state == state)
                .count() as u64
        };
        Ok(proto::params::daemon::SessionCounts {
            stored,
            loaded: loaded.len() as u64,
            running: of(State::Running),
            waiting: of(State::Waiting),
        })
    }

    /// The newest record of each session that the catalog knows; none if it cannot be read.
    pub async fn newest_records(&self) -> HashMap<SessionId, Seq> {
        let catalog = Arc::clone(&self.catalog);
        let known = blocking(move || catalog.newest_records()).await;
        known
            .ok()
            .and_then(Result::ok)
            .unwrap_or_default()
            .into_iter()
            .collect()
    }

    /// Throws the catalog and the history index away and makes them again from the logs. Answers with the number of sessions, and those that
    /// could not be read.
    ///
    /// # Errors
    /// The catalog cannot be written.
    pub async fn rebuild(&self) -> Result<(u64, Vec<String>), Failure> {
        let catalog = Arc::clone(&self.catalog);
        let known = blocking(move || {
            let known = catalog.newest_records()?;
            catalog.clear().map(|()| known)
        });
        let known = known.await?.map_err(|error| index_failure(&error))?;
        let filled = self.fill().await?;
        // A log that was cut is noticed when it is loaded, also after this.
        let catalog = Arc::clone(&self.catalog);
        blocking(move || catalog.raise_newest_records(&known))
            .await?
            .map_err(|error| index_failure(&error))?;
        self.services.history.rebuild();
        Ok(filled)
    }

    /// Fills the catalog in a separate task. Until that is done, answers about stored sessions wait; those about loaded ones
    /// do not. A catalog that cannot be filled is reported in the log, and answers from its present rows.
    pub fn fill_later(self: &Arc<Self>) {
        self.filled.send_replace(false);
        let supervisor = Arc::clone(self);
        tasks::spawn(async move {
            match supervisor.fill().await {
                Ok((count, unreadable)) => {
                    tracing::info!(count, ?unreadable, "the catalog is complete");
                }
                Err(failure) => tracing::error!(%failure, "the catalog could not be filled"),
            }
            let catalog = Arc::clone(&supervisor.catalog);
            match blocking(move || catalog.highest_pid()).await {
                Ok(Ok(highest)) => supervisor.services.pids.raise_above(highest),
                Ok(Err(error)) => tracing::error!(%error, "the catalog cannot be read"),
                Err(failure) => tracing::error!(%failure, "the catalog cannot be read"),
            }
            supervisor.filled.send_replace(true);
        });
    }

    /// Checks the catalog when the daemon has had time to start, and takes in the sessions it has missed.
    pub fn check_later(self: &Arc<Self>) {
        let supervisor = Arc::clone(self);
        tasks::spawn(async move {
            tokio::time::sleep(CHECK_AFTER).await;
            supervisor.is_checked().await;
            match supervisor.fill().await {
                Ok((0, _)) => {}
                Ok((count, _)) => tracing::info!(count, "the catalog had missed some sessions"),
                Err(failure) => tracing::error!(%failure, "the catalog could not be filled"),
            }
        });
    }

    /// Returns when the catalog was read through once. One that is damaged is made again from the logs. It takes longer
    /// the more sessions there are, so that it waits for the first question that needs it.
    async fn is_checked(&self) {
        let check = || async {
            let (catalog, home) = (Arc::clone(&self.catalog), Arc::clone(&self.services.home));
            match blocking(move || catalog.verify(&home)).await {
                Ok(Ok(None)) => {}
                Ok(Ok(Some(why))) => {
                    tracing::warn!(why, "the catalog was damaged and is rebuilt from the logs");
                    if let Some(supervisor) = self.me.upgrade() {
                        supervisor.fill_later();
                    }
                }
                Ok(Err(error)) => tracing::error!(%error, "the catalog cannot be checked"),
                Err(failure) => tracing::error!(%failure, "the catalog cannot be checked"),
            }
        };
        self.checked.get_or_init(check).await;
    }

    pub(crate) async fn is_filled(&self) {
        self.is_checked().await;
        // Only a supervisor that is gone closes it, and we have one.
        let _ = self.filled.subscribe().wait_for(|filled| *filled).await;
    }

    /// Takes every session into the catalog that has a log and is not in it.
    ///
    /// # Errors
    /// The catalog cannot be written.
    pub async fn fill(&self) -> Result<(u64, Vec<String>), Failure> {
        let live: HashMap<_, _> = self
            .handles()
            .into_iter()
            .map(|handle| (handle.id(), handle.summary()))
            .collect();
        let (catalog, home) = (Arc::clone(&self.catalog), Arc::clone(&self.services.home));
        let filled = blocking(move || {
            let known: std::collections::HashSet<_> = catalog.ids()?.into_iter().collect();
            let (mut summaries, mut failed) = (Vec::new(), Vec::new());
            let there: std::collections::HashSet<_> = home.session_ids()?.into_iter().collect();
            // Deleted by a daemon that died over it.
            for gone in known.difference(&there) {
                if !home.session_dir(*gone).exists() {
                    catalog.remove(*gone)?;
                }
            }
            for session in there.into_iter().filter(|session| !known.contains(session)) {
                match live
                    .get(&session)
                    .cloned()
                    .map_or_else(|| read_summary(&home, session), Ok)
                {
                    Ok(summary) => summaries.push(summary),
                    Err(reason) => failed.push(format!("{session}: {reason}")),
                }
            }
            let count = summaries.len() as u64;
            // Rows that came in the meantime are newer than those read here.
            let known: std::collections::HashSet<_> = catalog.ids()?.into_iter().collect();
            summaries.retain(|summary| !known.contains(&summary.session));
            catalog.put_all(&summaries)?;
            catalog.mark_filled()?;
            Ok::<_, CatalogError>((count, failed))
        });
        filled.await?.map_err(|error| index_failure(&error))
    }
}

/// Reads a log only to list it.
fn read_summary(home: &Home, session: SessionId) -> Result<SessionSummary, String> {
    let mut facts = turn::Facts::default();
    let scan = store::log::read(&home.session_dir(session), &mut |raw| {
        if let Ok(record) = raw.record() {
            facts.apply(&record);
        }
    });
    scan.map_err(|error| store::reason(&error))?;
    summary::of(&facts, 0, None).ok_or_else(|| "it has no first record".to_owned())
}

/// Keeps the sub-agents that work below a session, at any depth. A sub-agent is younger than its parent, so its number is
/// higher.
fn retain_below(sessions: &mut Vec<SessionSummary>, top: Pid) {
    let mut above = HashSet::from([top]);
    sessions.retain(|summary| {
        let is_below = above.contains(&summary.ppid);
        if is_below {
            above.insert(summary.pid);
        }
        is_below
    });
}

pub(crate) fn index_failure(error: &CatalogError) -> Failure {
    Failure::new(
        ErrorName::Storage,
        format!(
            "The catalog of sessions cannot be used: {}",
            store::reason(error)
        ),
        "Rebuild it from the logs with `reasonix doctor --rebuild-index`.",
    )
}
