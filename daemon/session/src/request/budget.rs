//! Budgets of all sessions of a home: checked before requests are sent, and charged when they have come back.
//!
//! `tree` contains each node's limits, usage and requests under way, under one lock that is held briefly. The usage
//! of this day before the daemon started is read from the catalog and the usage ledger, as soon as a day or a project
//! is bounded; later usage is added when its `usage` record is made.

mod leave;
mod today;
mod tree;
mod words;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use contract::provider::{ProviderError, Reported};
use futures::future::BoxFuture;
use proto::budget::{Budget, BudgetNode, BudgetNodeKind, Dimension, Spent};
use proto::outcome::UsageTotals;
use proto::{Failure, Pid, Seq, SessionId, Stamp};

use self::today::Today;
use self::tree::{BudgetAlert, JoiningSession, Tree};
use crate::assembly::setup::Assembly;
use crate::tasks::blocking;

pub(crate) use self::leave::RequestPermit;

/// How old bounds may be when a request is sent.
const NOTED_MAX: Duration = Duration::from_millis(100);

/// Charges that are kept separately while nobody reads the earlier usage: those that may not be on disk yet.
const RECENT: usize = 1_024;

/// The usage since the beginning of a day, by catalog and usage ledger.
#[derive(Debug, Default)]
pub(crate) struct Past {
    /// By the workspace root.
    pub used: HashMap<String, Spent>,
    /// How far each session's log was counted. Sessions that are gone: whole.
    pub counted: HashMap<SessionId, Seq>,
}

/// Adds up what all sessions of a home have used.
pub(crate) trait PastUsage: Send + Sync {
    /// Their usage since this moment, the beginning of a quarter of an hour.
    ///
    /// # Errors
    /// `storage`: catalog or usage ledger cannot be read.
    fn used_since(self: Arc<Self>, since: Stamp) -> BoxFuture<'static, Result<Past, Failure>>;
}

/// See the module.
pub struct Ledger {
    inner: Mutex<Inner>,
    /// Held while the earlier usage is read.
    reading: tokio::sync::Mutex<()>,
    assembly: Arc<dyn Assembly>,
    /// The usage before this daemon started.
    past: Weak<dyn PastUsage>,
}

struct Inner {
    tree: Tree,
    today: Today,
    /// The earlier usage of this day is in the tree.
    known: bool,
    recent: VecDeque<Charge>,
    /// All of them are needed: the earlier usage is being read.
    keeps_all: bool,
}

/// What one request used.
struct Charge {
    session: SessionId,
    root: String,
    /// Its record.
    seq: Seq,
    at: Stamp,
    spent: Spent,
}

/// A session, as budgets know it.
#[derive(Clone)]
pub(crate) struct BudgetMember {
    pub ledger: Arc<Ledger>,
    pub session: SessionId,
    pub root: String,
    /// Where settings are read.
    pub cwd: PathBuf,
    /// Whose sub-agent it is.
    pub above: Option<SessionId>,
    /// The bounds as they were noted for the next request.
    pub noted: Arc<Mutex<Option<(Bounded, Instant)>>>,
}

/// Whether any day or project is bounded, as the files said when they were read for a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounded(bool);

/// What these requests came to, as budgets count them.
pub(crate) fn spent(usage: &UsageTotals) -> Spent {
    Spent::from(usage)
}

/// What a request may be expected to use, before it is sent: its prompt has `tokens`, of which the provider's cache serves
/// `cached`.
pub(crate) fn expected(tokens: u64, cached: u64, price: Option<&catalog::Price>) -> Spent {
    let reported = Reported {
        prompt_tokens: tokens,
        cached_tokens: cached.min(tokens),
        ..Reported::default()
    };
    Spent {
        cost_micros: price.map_or(0, |price| price.cost(&reported, Stamp::now())),
        tokens,
        steps: 1,
        ..Spent::default()
    }
}

impl Ledger {
    pub fn new(assembly: Arc<dyn Assembly>, past: Weak<dyn PastUsage>) -> Self {
        Self {
            inner: Mutex::new(Inner {
                tree: Tree::default(),
                today: Today::at(Stamp::now()),
                known: false,
                recent: VecDeque::new(),
                keeps_all: false,
            }),
            reading: tokio::sync::Mutex::default(),
            assembly,
            past,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what the day and the session's project may use from the files, as they are now: whether any day or project
    /// is bounded. Blocks.
    fn bound(&self, session: SessionId, cwd: &Path) -> bool {
        let bounds = self.assembly.budgets(cwd);
        let mut inner = self.lock();
        inner.roll(Stamp::now());
        inner.tree.bound(session, bounds.day, bounds.project);
        inner.tree.bounds_days()
    }

    /// Adds the earlier usage of this day, unless it is there.
    async fn count_past(&self) -> Result<(), Failure> {
        let _reading = self.reading.lock().await;
        let since = {
            let mut inner = self.lock();
            inner.roll(Stamp::now());
            if inner.known {
                return Ok(());
            }
            inner.keeps_all = true;
            inner.today.start
        };
        let Some(past) = self.past.upgrade() else {
            return Ok(());
        };
        let past = past.used_since(since).await;
        let mut inner = self.lock();
        inner.keeps_all = false;
        if let Ok(past) = &past {
            inner.count(past, since);
        }
        inner.trim();
        past.map(drop)
    }

    /// What a sub-agent of `parent` used, with its own.
    pub(crate) fn spent_by_agent(&self, parent: SessionId, agent: SessionId) -> Option<Spent> {
        self.lock().tree.spent_by_agent(parent, agent)
    }

    /// What a session used with its sub-agents, as of now. `None`: it has none, or is not in memory.
    pub(crate) fn spent_with_agents(&self, session: SessionId) -> Option<Spent> {
        self.lock().tree.spent_with_agents(session)
    }

    /// The nodes of a session, with the usage of each.
    pub(crate) async fn show(
        self: &Arc<Self>,
        session: SessionId,
        cwd: &Path,
    ) -> Result<Vec<BudgetNode>, Failure> {
        let (ledger, directory) = (Arc::clone(self), cwd.to_path_buf());
        blocking(move || ledger.bound(session, &directory)).await?;
        self.count_past().await?;
        let inner = self.lock();
        let shown = inner.tree.show(session).into_iter();
        Ok(shown
            .map(|shown| BudgetNode {
                kind: shown.kind,
                name: match shown.kind {
                    BudgetNodeKind::Day => inner.today.name.clone(),
                    BudgetNodeKind::Project | BudgetNodeKind::Session => shown.name,
                },
                rest: rest(&shown.limit, &shown.spent),
                limit: shown.limit.without_zeros(),
                spent: shown.spent,
            })
            .collect())
    }
}

/// The rest of each limit.
fn rest(limit: &Budget, spent: &Spent) -> Budget {
    let left = |dimension| {
        let limit = limit.limit(dimension)?;
        Some(limit.saturating_sub(spent.of(dimension)))
    };
    Budget {
        cost_micros: left(Dimension::Money),
        tokens: left(Dimension::Tokens),
        steps: left(Dimension::Steps),
        ms: left(Dimension::Time),
    }
}

impl Inner {
    /// Begins another day, if the date has changed.
    fn roll(&mut self, now: Stamp) {
        if self.today.holds(now) {
            return;
        }
        self.today = Today::at(now);
        self.known = false;
        self.tree.begin_day();
        self.add_recent(|_| true);
    }

    fn add_recent(&mut self, wanted: impl Fn(&Charge) -> bool) {
        for charge in &self.recent {
            if self.today.holds(charge.at) && wanted(charge) {
                self.tree.add(&charge.root, &charge.spent);
            }
        }
    }

    /// Adds the earlier usage, and then the charges since.
    fn count(&mut self, past: &Past, since: Stamp) {
        if self.today.start != since {
            return;
        }
        self.tree.begin_day();
        for (root, spent) in &past.used {
            self.tree.add(root, spent);
        }
        self.tree.mark_reported();
        self.add_recent(|charge| {
            let counted = past.counted.get(&charge.session);
            counted.is_none_or(|counted| charge.seq > *counted)
        });
        self.known = true;
    }

    fn charge(&mut self, charge: Charge) {
        // A record of just before midnight does not take the day back.
        if charge.at >= self.today.start {
            self.roll(charge.at);
        }
        self.tree.charge(charge.session, &charge.spent);
        if self.today.holds(charge.at) {
            self.tree.add(&charge.root, &charge.spent);
        }
        self.recent.push_back(charge);
        self.trim();
    }

    fn trim(&mut self) {
        while !self.keeps_all && self.recent.len() > RECENT {
            self.recent.pop_front();
        }
    }
}

impl BudgetMember {
    /// Adds the session, with its limits and its usage so far.
    /// `below`: what sub-agents of it used that have ended.
    pub fn join(&self, pid: Pid, limit: Budget, spent: Spent, below: &BTreeMap<SessionId, Spent>) {
        self.ledger.lock().tree.join(&JoiningSession {
            session: self.session,
            pid,
            root: &self.root,
            limit,
            spent,
            above: self.above,
            below,
        });
    }

    /// What the session used with its sub-agents, as of now. `None`: it has none.
    pub fn spent_with_agents(&self) -> Option<Spent> {
        self.ledger.spent_with_agents(self.session)
    }

    /// The sessions that it works for, nearest first.
    pub fn all_above(&self) -> Vec<SessionId> {
        match self.above {
            Some(_) => self.ledger.lock().tree.above(self.session),
            None => Vec::new(),
        }
    }

    /// It leaves memory.
    pub fn leave(&self) {
        self.ledger.lock().tree.leave(self.session);
    }

    /// Sets its limits from now on.
    pub fn bound(&self, limit: Budget) {
        self.ledger.lock().tree.bound_session(self.session, limit);
    }

    /// How long its turns have run.
    pub fn ran(&self, ms: u64) {
        self.ledger.lock().tree.ran(self.session, ms);
    }

    /// Counts what a request used, by its record.
    pub fn charge(&self, seq: Seq, at: Stamp, spent: Spent) {
        self.ledger.lock().charge(Charge {
            session: self.session,
            root: self.root.clone(),
            seq,
            at,
            spent,
        });
    }

    /// Notices for the user when an answer of this model is charged: limits that are nearly used up, and limits that
    /// cannot be enforced.
    pub fn notices(&self, model: &str, more: &Spent, reported: bool) -> Vec<String> {
        let mut inner = self.ledger.lock();
        let near = inner.tree.newly_near(self.session, more);
        let mut notices: Vec<_> = near.iter().map(words::near).collect();
        let not_held: &[Dimension] = match (reported, more.unpriced > 0) {
            (false, _) => &[Dimension::Money, Dimension::Tokens],
            (true, true) => &[Dimension::Money],
            (true, false) => &[],
        };
        if inner.tree.bounds(self.session, not_held)
            && inner.tree.should_warn_unenforceable(self.session)
        {
            notices.push(words::unheld(model, reported));
        }
        notices
    }

    /// Takes the bounds of day and project from the files, as they are now. Blocks.
    pub fn read_bounds(&self) -> Bounded {
        Bounded(self.ledger.bound(self.session, &self.cwd))
    }

    /// Takes the bounds from the files for a request that is about to come. Blocks.
    pub fn note_bounds(&self) {
        let bounded = self.read_bounds();
        *self.lock_noted() = Some((bounded, Instant::now()));
    }

    /// The bounds, if they were just noted. Once.
    pub fn take_noted_bounds(&self) -> Option<Bounded> {
        let (bounded, at) = self.lock_noted().take()?;
        (at.elapsed() < NOTED_MAX).then_some(bounded)
    }

    fn lock_noted(&self) -> MutexGuard<'_, Option<(Bounded, Instant)>> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes everything ready that `take` needs to know: the earlier usage, if a day or a project is bounded.
    ///
    /// # Errors
    /// Today's usage cannot be read.
    pub async fn prepare(&self, bounded: Bounded) -> Result<(), ProviderError> {
        let ready = match bounded {
            Bounded(true) => self.ledger.count_past().await,
            Bounded(false) => Ok(()),
        };
        ready.map_err(|failure| words::unknown(&failure.message))
    }

    fn take(&self, ran_ms: u64, estimate: &Spent) -> Result<(), BudgetAlert> {
        let mut inner = self.ledger.lock();
        inner.roll(Stamp::now());
        inner.tree.ran(self.session, ran_ms);
        inner.tree.take(self.session, estimate)
    }

    fn give_back(&self, estimate: &Spent) {
        let mut inner = self.ledger.lock();
        inner.tree.give_back(self.session, &self.root, estimate);
    }
}

#[cfg(test)]
mod tests;
