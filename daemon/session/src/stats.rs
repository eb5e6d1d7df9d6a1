//! What sessions used: by day, by model, by session.
//!
//! Added up from the `usage` records of logs, in the catalog, and only from what has come to them since the last time;
//! and from the books of sessions that were deleted. Forks carry no such records of what their origin used.

mod hooked;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use proto::outcome::UsageTotals;
use proto::params::history::{StatsOutput, StatsParams, StatsRow};
use proto::{Body, Failure, Pid, Seq, SessionId, Stamp};
use store::books::{self, Entry};
use store::catalog::{Catalog, CatalogError, Listed, Used};
use store::format::RawRecord;
use store::home::Home;
use store::log::Tail;

use crate::listing::index_failure;
use crate::supervisor::{Supervisor, blocking};

/// Sessions of an answer.
const SESSIONS_MAX: usize = 100;
/// The row of all sessions that are gone.
const DELETED: &str = "deleted";

impl Supervisor {
    /// See `stats.query`.
    ///
    /// # Errors
    /// As `find`; `storage`. A log or a book that cannot be read is told about in the daemon's log, and counts as far as
    /// it was read before.
    pub async fn stats(&self, params: StatsParams) -> Result<StatsOutput, Failure> {
        let only = match &params.session {
            Some(text) => Some(self.find_id(text).await?),
            None => None,
        };
        self.is_filled().await;
        self.ground.catalog.flush().await;
        let live: HashMap<_, _> = self
            .handles()
            .into_iter()
            .map(|handle| (handle.id(), handle.summary().seq))
            .collect();
        let (catalog, home) = (Arc::clone(&self.catalog), Arc::clone(&self.ground.home));
        let summed = blocking(move || {
            let wanted = Wanted::new(&params, only);
            sum(&home, &catalog, &live, wanted)
        });
        summed.await?.map_err(|error| index_failure(&error))
    }
}

/// What is asked for.
struct Wanted {
    since: Option<Stamp>,
    session: Option<SessionId>,
    cwd: Option<String>,
    ahead_ms: i64,
    hooks: bool,
}

impl Wanted {
    fn new(params: &StatsParams, session: Option<SessionId>) -> Self {
        Self {
            // The quarter that it is in counts whole.
            since: params.since.map(books::quarter),
            session,
            cwd: params.cwd.clone(),
            ahead_ms: i64::from(params.utc_offset_minutes) * 60_000,
            hooks: params.hooks,
        }
    }

    fn is_of(&self, session: SessionId, cwd: &str) -> bool {
        self.session.is_none_or(|wanted| wanted == session)
            && self.cwd.as_ref().is_none_or(|wanted| wanted == cwd)
    }

    fn is_in(&self, at: Stamp) -> bool {
        self.since.is_none_or(|since| at >= since)
    }
}

/// Counts what is new, and adds all of it up. Blocks.
fn sum(
    home: &Home,
    catalog: &Catalog,
    live: &HashMap<SessionId, Seq>,
    wanted: Wanted,
) -> Result<StatsOutput, CatalogError> {
    // What has no directory is gone, whatever else still knows it; what has one tells by its log, whatever the books say.
    let there: HashSet<_> = home.session_ids()?.into_iter().collect();
    let mut listed = catalog.listed()?;
    listed.retain(|entry| there.contains(&entry.session));
    listed.retain(|entry| wanted.is_of(entry.session, &entry.cwd));
    for entry in &listed {
        let upto = live.get(&entry.session).copied();
        if upto.unwrap_or(entry.seq) <= entry.counted.seq {
            continue;
        }
        if let Err(reason) = count(home, catalog, entry, upto) {
            tracing::warn!(pid = %entry.pid, reason, "what a session used cannot be counted");
        }
    }
    let pids: HashMap<_, _> = listed
        .iter()
        .map(|entry| (entry.session, entry.pid))
        .collect();
    let mut sums = Sums::new(wanted);
    for used in catalog.used()? {
        if let Some(pid) = pids.get(&used.session) {
            sums.add(used.at, &used.model, Some(*pid), &used.usage);
        }
    }
    match books::read(home) {
        Ok(entries) => {
            for entry in entries {
                if !there.contains(&entry.session) && sums.wanted.is_of(entry.session, &entry.cwd) {
                    sums.add(entry.at, &entry.model, None, &entry.usage);
                }
            }
        }
        Err(error) => tracing::warn!(%error, "the usage books cannot be read"),
    }
    let mut hooked = hooked::Hooked::default();
    for entry in listed.iter().filter(|_| sums.wanted.hooks) {
        hooked.add(home, entry, &sums.wanted);
    }
    let mut stats = sums.finish();
    stats.hooks = hooked.finish();
    Ok(stats)
}

/// Counts what has come to a log since it was counted last.
fn count(home: &Home, catalog: &Catalog, entry: &Listed, upto: Option<Seq>) -> Result<(), String> {
    let dir = home.session_dir(entry.session);
    let upto = upto.unwrap_or(Seq(u64::MAX));
    let model = model(home, entry.session)?;
    let mut from = entry.counted;
    loop {
        let mut counting = Counting::new(entry.session, &model);
        let reached = store::log::tail(&dir, from, upto, &mut |raw| counting.take(raw));
        match reached.map_err(|error| store::reason(&error))? {
            Some(reached) => {
                let used = counting.finish();
                let counted = catalog.count_usage(entry.session, from, reached, &used);
                return counted.map(drop).map_err(|error| store::reason(&error));
            }
            // The log is not the one that was counted: it was mended by hand.
            None if from != Tail::default() => from = Tail::default(),
            None => return Ok(()),
        }
    }
}

/// `provider/model` of a session, from its first record.
fn model(home: &Home, session: SessionId) -> Result<String, String> {
    created(home, session).map(|(_, _, model)| model)
}

fn created(home: &Home, session: SessionId) -> Result<(Pid, String, String), String> {
    let dir = home.session_dir(session);
    let first = store::log::first(&dir, |raw| raw.record().map(|record| record.body));
    match first.map_err(|error| store::reason(&error))? {
        Some(Ok(Body::SessionCreated(created))) => {
            let model = format!("{}/{}", created.provider, created.model);
            Ok((created.pid, created.cwd, model))
        }
        _ => Err("its first record cannot be read".to_owned()),
    }
}

/// Puts what a session used into the books, durably: it is about to go. A log without a first record used nothing.
pub(crate) fn close_books(home: &Home, session: SessionId) -> Result<(), String> {
    let Ok((pid, cwd, model)) = created(home, session) else {
        return Ok(());
    };
    let mut counting = Counting::new(session, &model);
    let dir = home.session_dir(session);
    store::log::read(&dir, &mut |raw| counting.take(raw)).map_err(|error| store::reason(&error))?;
    let entries = counting.finish().into_iter().map(|used| Entry {
        at: used.at,
        session,
        pid,
        cwd: cwd.clone(),
        model: used.model,
        usage: used.usage,
    });
    let entries: Vec<_> = entries.collect();
    if entries.is_empty() {
        return Ok(());
    }
    books::append(home, &entries).map_err(|error| store::reason(&error))
}

/// The sums of one session by quarters of an hour.
struct Counting {
    session: SessionId,
    model: String,
    quarters: BTreeMap<i64, UsageTotals>,
}

impl Counting {
    fn new(session: SessionId, model: &str) -> Self {
        Self {
            session,
            model: model.to_owned(),
            quarters: BTreeMap::new(),
        }
    }

    fn take(&mut self, raw: &RawRecord<'_>) {
        if raw.kind != "usage" {
            return;
        }
        if let Ok(Body::Usage(usage)) = raw.record().map(|record| record.body) {
            let quarter = books::quarter(raw.at).0;
            let sum = self.quarters.entry(quarter).or_default();
            sum.add(&UsageTotals::of(&usage));
        }
    }

    fn finish(self) -> Vec<Used> {
        let used = self.quarters.into_iter().map(|(at, usage)| Used {
            session: self.session,
            at: Stamp(at),
            model: self.model.clone(),
            usage,
        });
        used.collect()
    }
}

/// The sums of an answer.
struct Sums {
    wanted: Wanted,
    total: UsageTotals,
    days: BTreeMap<String, UsageTotals>,
    models: HashMap<String, UsageTotals>,
    /// By pid; `None`: all that are gone.
    sessions: HashMap<Option<Pid>, UsageTotals>,
}

impl Sums {
    fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            total: UsageTotals::default(),
            days: BTreeMap::new(),
            models: HashMap::new(),
            sessions: HashMap::new(),
        }
    }

    fn add(&mut self, at: Stamp, model: &str, session: Option<Pid>, usage: &UsageTotals) {
        if !self.wanted.is_in(at) {
            return;
        }
        self.total.add(usage);
        let here = Stamp(at.0.saturating_add(self.wanted.ahead_ms));
        let day: String = here.to_string().chars().take(10).collect();
        self.days.entry(day).or_default().add(usage);
        self.models.entry(model.to_owned()).or_default().add(usage);
        self.sessions.entry(session).or_default().add(usage);
    }

    fn finish(self) -> StatsOutput {
        let row = |(key, usage)| StatsRow { key, usage };
        let named = |(pid, usage): (Option<Pid>, _)| StatsRow {
            key: pid.map_or_else(|| DELETED.to_owned(), |pid| pid.to_string()),
            usage,
        };
        let mut sessions = most(self.sessions.into_iter().map(named).collect());
        sessions.truncate(SESSIONS_MAX);
        StatsOutput {
            total: StatsRow {
                key: "total".to_owned(),
                usage: self.total,
            },
            days: self.days.into_iter().map(row).collect(),
            models: most(self.models.into_iter().map(row).collect()),
            sessions,
            hooks: Vec::new(),
        }
    }
}

/// Most tokens first.
fn most(mut rows: Vec<StatsRow>) -> Vec<StatsRow> {
    let tokens =
        |row: &StatsRow| u128::from(row.usage.prompt_tokens) + u128::from(row.usage.output_tokens);
    rows.sort_by(|one, other| {
        let more = tokens(other).cmp(&tokens(one));
        more.then_with(|| one.key.cmp(&other.key))
    });
    rows
}

#[cfg(test)]
mod tests;
