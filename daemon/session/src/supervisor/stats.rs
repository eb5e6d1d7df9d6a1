//! What sessions used: by day, by model, by purpose, by session.
//!
//! Added up from the `usage` records of logs, in the catalog, and only from records added since the last time;
//! and from the usage ledger of sessions that were deleted. Forks carry no such records of what their origin used, and the
//! turns that they were made from count there. What hooks and tools did is read from the logs, if requested.

mod counting;
mod hooked;
mod repaired;
mod today;
mod tooled;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use proto::outcome::UsageTotals;
use proto::params::history::{StatsOutput, StatsParams, StatsRow};
use proto::record::Purpose;
use proto::{Failure, Pid, Seq, SessionId, Stamp};
use store::catalog::{Catalog, CatalogError, CountedSession};
use store::home::Home;
use store::usage_ledger;

pub(crate) use self::counting::close_books;
use self::counting::count;
use crate::supervisor::Supervisor;
use crate::supervisor::listing::index_failure;
use crate::tasks::blocking;

/// Sessions of an answer.
const SESSIONS_MAX: usize = 100;
/// The row of all sessions that are gone.
const DELETED: &str = "deleted";

impl Supervisor {
    /// See `stats.query`.
    ///
    /// # Errors
    /// As `find`; `storage`. A log or a book that cannot be read is reported in the daemon's log, and counts as far as
    /// it was read before.
    pub async fn stats(&self, params: StatsParams) -> Result<StatsOutput, Failure> {
        let only = match &params.session {
            Some(text) => Some(self.find_id(text).await?),
            None => None,
        };
        let live = self.reached().await;
        let (catalog, home) = (Arc::clone(&self.catalog), Arc::clone(&self.services.home));
        let summed = blocking(move || {
            let wanted = StatsFilter::new(&params, only);
            sum(&home, &catalog, &live, wanted)
        });
        summed.await?.map_err(|error| index_failure(&error))
    }

    /// How far the logs of sessions in memory reach; the catalog has been brought up to date.
    async fn reached(&self) -> HashMap<SessionId, Seq> {
        self.is_filled().await;
        self.services.catalog.flush().await;
        let handles = self.handles().into_iter();
        handles
            .map(|handle| (handle.id(), handle.summary().seq))
            .collect()
    }
}

/// The filter of the request.
struct StatsFilter {
    since: Option<Stamp>,
    session: Option<SessionId>,
    cwd: Option<String>,
    ahead_ms: i64,
    hooks: bool,
    tools: bool,
}

impl StatsFilter {
    fn new(params: &StatsParams, session: Option<SessionId>) -> Self {
        Self {
            // The quarter that it is in counts whole.
            since: params.since.map(usage_ledger::quarter_start),
            session,
            cwd: params.cwd.clone(),
            ahead_ms: i64::from(params.utc_offset_minutes) * 60_000,
            hooks: params.hooks,
            tools: params.tools,
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

/// Counts new records, and adds all of it up. Blocks.
fn sum(
    home: &Home,
    catalog: &Catalog,
    live: &HashMap<SessionId, Seq>,
    wanted: StatsFilter,
) -> Result<StatsOutput, CatalogError> {
    // A session without a directory is gone, whatever else still lists it; for the others the log counts, not the ledger.
    let there = there(home)?;
    let mut listed = catalog.counted_sessions()?;
    listed.retain(|entry| there.contains(&entry.session));
    listed.retain(|entry| wanted.is_of(entry.session, &entry.cwd));
    count_new(home, catalog, live, &listed);
    let pids: HashMap<_, _> = listed
        .iter()
        .map(|entry| (entry.session, entry.pid))
        .collect();
    let mut sums = Sums::new(wanted);
    for used in catalog.used()? {
        if let Some(pid) = pids.get(&used.session) {
            let of = Of {
                model: &used.model,
                purpose: used.purpose,
                session: Some(*pid),
            };
            sums.add(used.at, of, used.turns, &used.usage);
        }
    }
    match usage_ledger::read(home) {
        Ok(entries) => {
            for entry in entries {
                if !there.contains(&entry.session) && sums.wanted.is_of(entry.session, &entry.cwd) {
                    let of = Of {
                        model: &entry.model,
                        purpose: entry.purpose,
                        session: None,
                    };
                    sums.add(entry.at, of, entry.turns, &entry.usage);
                }
            }
        }
        Err(error) => tracing::warn!(%error, "the usage books cannot be read"),
    }
    let mut hooked = hooked::HookTally::default();
    let mut repaired = repaired::RepairTally::default();
    for entry in listed.iter().filter(|_| sums.wanted.hooks) {
        hooked.add(&mut repaired, home, entry, &sums.wanted);
    }
    let mut tooled = tooled::ToolTally::default();
    for entry in listed.iter().filter(|_| sums.wanted.tools) {
        tooled.add(home, entry, &sums.wanted);
    }
    let with_repairs = sums.wanted.hooks;
    let mut stats = sums.finish();
    stats.repairs = with_repairs.then(|| Box::new(repaired.finish()));
    stats.hooks = hooked.finish();
    stats.tools = tooled.finish();
    Ok(stats)
}

/// The sessions that there are.
fn there(home: &Home) -> Result<HashSet<SessionId>, CatalogError> {
    Ok(home.session_ids()?.into_iter().collect())
}

/// Counts records added to logs since they were counted last. Blocks.
fn count_new(
    home: &Home,
    catalog: &Catalog,
    live: &HashMap<SessionId, Seq>,
    listed: &[CountedSession],
) {
    for entry in listed {
        let upto = live.get(&entry.session).copied();
        if upto.unwrap_or(entry.seq) <= entry.counted.seq {
            continue;
        }
        if let Err(reason) = count(home, catalog, entry, upto) {
            tracing::warn!(pid = %entry.pid, reason, "what a session used cannot be counted");
        }
    }
}

/// What a row is about.
#[derive(Clone, Copy)]
struct Of<'a> {
    /// Empty: of turns alone.
    model: &'a str,
    purpose: Purpose,
    /// `None`: of one that is gone.
    session: Option<Pid>,
}

/// What a row of an answer comes to.
#[derive(Clone, Copy, Default)]
struct Sum {
    turns: u64,
    usage: UsageTotals,
}

impl Sum {
    fn add(&mut self, turns: u64, usage: &UsageTotals) {
        self.turns = self.turns.saturating_add(turns);
        self.usage.add(usage);
    }

    fn row(self, key: String) -> StatsRow {
        StatsRow {
            key,
            usage: self.usage,
            turns: self.turns,
        }
    }
}

/// The sums of an answer.
struct Sums {
    wanted: StatsFilter,
    total: Sum,
    days: BTreeMap<String, Sum>,
    models: HashMap<String, Sum>,
    purposes: BTreeMap<Purpose, Sum>,
    /// By pid; `None`: all that are gone.
    sessions: HashMap<Option<Pid>, Sum>,
}

impl Sums {
    fn new(wanted: StatsFilter) -> Self {
        Self {
            wanted,
            total: Sum::default(),
            days: BTreeMap::new(),
            models: HashMap::new(),
            purposes: BTreeMap::new(),
            sessions: HashMap::new(),
        }
    }

    fn add(&mut self, at: Stamp, of: Of<'_>, turns: u64, usage: &UsageTotals) {
        if !self.wanted.is_in(at) {
            return;
        }
        self.total.add(turns, usage);
        let here = Stamp(at.0.saturating_add(self.wanted.ahead_ms));
        let day: String = here.to_string().chars().take(10).collect();
        self.days.entry(day).or_default().add(turns, usage);
        self.sessions
            .entry(of.session)
            .or_default()
            .add(turns, usage);
        if !of.model.is_empty() {
            let model = self.models.entry(of.model.to_owned()).or_default();
            model.add(0, usage);
            self.purposes.entry(of.purpose).or_default().add(0, usage);
        }
    }

    fn finish(self) -> StatsOutput {
        let row = |(key, sum): (String, Sum)| sum.row(key);
        let named = |(pid, sum): (Option<Pid>, Sum)| {
            sum.row(pid.map_or_else(|| DELETED.to_owned(), |pid| pid.to_string()))
        };
        let purposes = self.purposes.into_iter();
        let purposes = purposes.map(|(purpose, sum)| sum.row(purpose.as_str().to_owned()));
        let mut sessions = most(self.sessions.into_iter().map(named).collect());
        sessions.truncate(SESSIONS_MAX);
        StatsOutput {
            total: self.total.row("total".to_owned()),
            days: self.days.into_iter().map(row).collect(),
            models: most(self.models.into_iter().map(row).collect()),
            sessions,
            hooks: Vec::new(),
            purposes: most(purposes.collect()),
            tools: Vec::new(),
            repairs: None,
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
