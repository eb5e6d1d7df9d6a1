//! The budget tree: a day over projects over sessions over their sub-agents; what each may use, has used, and has under
//! way. No clock, no I/O.
//!
//! Whatever is charged to a node is charged to all above it. Time is not: sub-agents run beside each other.

use std::collections::{BTreeMap, HashMap};

use proto::budget::{Budget, BudgetNodeKind, Dimension, Spent};
use proto::{Pid, SessionId};

/// From this part of a limit on users are notified, in per cent (contract, chapter 70).
const WARN_PERCENT: u128 = 80;

/// Sessions from a sub-agent up to the one that a client started, at most. More are never created.
const LINE_MAX: usize = 8;

/// All nodes that anything is known of.
#[derive(Debug, Default)]
pub struct Tree {
    day: Node,
    projects: HashMap<String, Node>,
    sessions: HashMap<SessionId, Leaf>,
}

/// What a node may use, and has used.
#[derive(Clone, Debug, Default)]
struct Node {
    limit: Budget,
    spent: Spent,
    /// Of requests that are under way: estimated.
    under_way: Spent,
    /// The limits of which it was reported that most is used.
    reported: BTreeMap<Dimension, u64>,
    /// The limit was read in this life.
    is_bound: bool,
}

#[derive(Clone, Debug)]
struct Leaf {
    /// `spent`: its own, and what its sub-agents used.
    node: Node,
    /// Its own usage.
    own: Spent,
    /// What each of its sub-agents used, with those below it.
    below: BTreeMap<SessionId, Spent>,
    /// Whose sub-agent it is.
    above: Option<SessionId>,
    pid: Pid,
    root: String,
    /// It was reported that its model's use cannot be held.
    told_unheld: bool,
}

/// A session that joins the tree.
#[derive(Clone, Debug)]
pub struct JoiningSession<'a> {
    pub session: SessionId,
    pub pid: Pid,
    pub root: &'a str,
    pub limit: Budget,
    /// Its own usage so far.
    pub spent: Spent,
    /// Whose sub-agent it is.
    pub above: Option<SessionId>,
    /// What its sub-agents used that have ended.
    pub below: &'a BTreeMap<SessionId, Spent>,
}

/// A limit that is reached, or nearly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetAlert {
    pub kind: BudgetNodeKind,
    pub pid: Pid,
    pub dimension: Dimension,
    pub limit: u64,
    pub spent: u64,
    /// Of requests that are under way.
    pub under_way: u64,
}

/// What a look at the tree shows of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeUsage {
    pub kind: BudgetNodeKind,
    /// The project's root or the session's pid; of a day nothing.
    pub name: String,
    pub limit: Budget,
    pub spent: Spent,
}

impl Node {
    /// The first limit that leaves no room for another request.
    fn full(&self) -> Option<(Dimension, u64)> {
        let mut bounded = self.bounded();
        bounded.find(|(dimension, limit)| {
            let used = self.spent.of(*dimension);
            used.saturating_add(self.under_way.of(*dimension)) >= *limit
        })
    }

    fn bounded(&self) -> impl Iterator<Item = (Dimension, u64)> + '_ {
        let limit = |dimension| Some((dimension, self.limit.limit(dimension)?));
        Dimension::ALL.into_iter().filter_map(limit)
    }

    /// Limits that are nearly used up with this, and were not reported; they are noted as reported.
    fn newly_near(&mut self, spent: &Spent) -> Vec<(Dimension, u64)> {
        let near = |(dimension, limit): &(Dimension, u64)| is_near(spent.of(*dimension), *limit);
        let near: Vec<_> = self.bounded().filter(near).collect();
        let mut newly = Vec::new();
        for (dimension, limit) in near {
            if self.reported.insert(dimension, limit) != Some(limit) {
                newly.push((dimension, limit));
            }
        }
        newly
    }

    /// Sets what may be used. The first time in this life, earlier usage counts as reported.
    fn bound(&mut self, limit: Budget) {
        self.limit = limit;
        if !std::mem::replace(&mut self.is_bound, true) {
            self.mark_reported();
        }
    }

    /// Marks what has been spent as reported: that happened in an earlier life.
    fn mark_reported(&mut self) {
        let spent = self.spent;
        let _ = self.newly_near(&spent);
    }
}

fn is_near(spent: u64, limit: u64) -> bool {
    u128::from(spent) * 100 >= u128::from(limit) * WARN_PERCENT
}

impl Tree {
    /// Adds a session, with its usage so far.
    pub fn join(&mut self, joining: &JoiningSession<'_>) {
        let mut below = joining.below.clone();
        // After a start of the daemon its sub-agents may be there before it.
        let there = self.sessions.iter();
        let there = there.filter(|(_, leaf)| leaf.above == Some(joining.session));
        below.extend(there.map(|(agent, leaf)| (*agent, without_time(leaf.node.spent))));
        let leaf = Leaf {
            node: Node {
                limit: joining.limit,
                ..Node::default()
            },
            own: joining.spent,
            below,
            above: joining.above,
            pid: joining.pid,
            root: joining.root.to_owned(),
            told_unheld: false,
        };
        self.sessions.insert(joining.session, leaf);
        self.projects.entry(joining.root.to_owned()).or_default();
        self.add_up(joining.session);
        if let Some(leaf) = self.sessions.get_mut(&joining.session) {
            leaf.node.mark_reported();
        }
    }

    /// Adds up what a session and those above it used.
    fn add_up(&mut self, session: SessionId) {
        let line: Vec<_> = self.line(session).collect();
        let mut below: Option<(SessionId, Spent)> = None;
        for session in line {
            let Some(leaf) = self.sessions.get_mut(&session) else {
                return;
            };
            leaf.below.extend(below);
            let used = leaf.below.values();
            leaf.node.spent = used.fold(leaf.own, |sum, more| sum.plus(more));
            below = Some((session, without_time(leaf.node.spent)));
        }
    }

    /// A session, and the sessions that it works for, up to one that a client started.
    fn line(&self, session: SessionId) -> impl Iterator<Item = SessionId> + '_ {
        let above = |at: &SessionId| self.sessions.get(at)?.above;
        std::iter::successors(Some(session), above).take(LINE_MAX)
    }

    /// What a sub-agent of `parent` used, with its own: also of one that has left memory while the parent was there, but
    /// then without its time. `None`: neither knows.
    pub fn spent_by_agent(&self, parent: SessionId, agent: SessionId) -> Option<Spent> {
        let own = self.sessions.get(&agent).map(|leaf| leaf.node.spent);
        let known = || self.sessions.get(&parent)?.below.get(&agent).copied();
        own.or_else(known)
    }

    /// What a session used with its sub-agents. `None`: it has none, or is not there.
    pub fn spent_with_agents(&self, session: SessionId) -> Option<Spent> {
        let leaf = self.sessions.get(&session)?;
        (!leaf.below.is_empty()).then_some(leaf.node.spent)
    }

    /// The sessions that a session works for, nearest first.
    pub fn above(&self, session: SessionId) -> Vec<SessionId> {
        self.line(session).skip(1).collect()
    }

    /// A session has left memory: it joins again when it comes back.
    pub fn leave(&mut self, session: SessionId) {
        self.sessions.remove(&session);
    }

    /// What a session may use from now on.
    pub fn bound_session(&mut self, session: SessionId, limit: Budget) {
        if let Some(leaf) = self.sessions.get_mut(&session) {
            leaf.node.limit = limit;
        }
    }

    /// What a day and a project may use from now on.
    pub fn bound(&mut self, session: SessionId, day: Budget, project: Budget) {
        self.day.bound(day);
        let root = self.sessions.get(&session).map(|leaf| leaf.root.as_str());
        if let Some(node) = root.and_then(|root| self.projects.get_mut(root)) {
            node.bound(project);
        }
    }

    /// Another day begins: nothing was used of it.
    pub fn begin_day(&mut self) {
        for node in std::iter::once(&mut self.day).chain(self.projects.values_mut()) {
            node.spent = Spent::default();
            node.reported.clear();
        }
    }

    /// Adds to what a project used in this day, and the day with it.
    pub fn add(&mut self, root: &str, spent: &Spent) {
        let project = self.projects.entry(root.to_owned()).or_default();
        project.spent = project.spent.plus(spent);
        self.day.spent = self.day.spent.plus(spent);
    }

    /// All that was used of this day so far is there now: people were notified of that when it was used.
    pub fn mark_reported(&mut self) {
        for node in std::iter::once(&mut self.day).chain(self.projects.values_mut()) {
            node.mark_reported();
        }
    }

    /// A session has used something. The day and the project count it with `add`, if it is of this day.
    pub fn charge(&mut self, session: SessionId, spent: &Spent) {
        if let Some(leaf) = self.sessions.get_mut(&session) {
            leaf.own = leaf.own.plus(spent);
        }
        self.add_up(session);
    }

    /// How long a session's turns have run.
    pub fn ran(&mut self, session: SessionId, ms: u64) {
        if let Some(leaf) = self.sessions.get_mut(&session) {
            // An earlier measurement may arrive later.
            leaf.own.ms = leaf.own.ms.max(ms);
        }
        self.add_up(session);
    }

    /// Takes room for a request: from then on it is under way. Nothing is taken where any node has none left.
    ///
    /// # Errors
    /// The limit that is reached: the session's, before those it works for, the project's and the day's.
    pub fn take(&mut self, session: SessionId, estimate: &Spent) -> Result<(), BudgetAlert> {
        let Some(leaf) = self.sessions.get(&session) else {
            return Ok(());
        };
        let root = leaf.root.clone();
        for (kind, pid, node) in self.path(session, &root) {
            if let Some((dimension, limit)) = node.full() {
                return Err(BudgetAlert {
                    kind,
                    pid,
                    dimension,
                    limit,
                    spent: node.spent.of(dimension),
                    under_way: node.under_way.of(dimension),
                });
            }
        }
        self.under_way(session, &root, |under_way| under_way.plus(estimate));
        Ok(())
    }

    /// A request has ended: it has been charged, or came to nothing.
    pub fn give_back(&mut self, session: SessionId, root: &str, estimate: &Spent) {
        self.under_way(session, root, |under_way| Spent {
            cost_micros: under_way.cost_micros.saturating_sub(estimate.cost_micros),
            tokens: under_way.tokens.saturating_sub(estimate.tokens),
            steps: under_way.steps.saturating_sub(estimate.steps),
            ..under_way
        });
    }

    fn under_way(&mut self, session: SessionId, root: &str, change: impl Fn(Spent) -> Spent) {
        let line: Vec<_> = self.line(session).collect();
        for session in line {
            if let Some(leaf) = self.sessions.get_mut(&session) {
                leaf.node.under_way = change(leaf.node.under_way);
            }
        }
        let above = [self.projects.get_mut(root), Some(&mut self.day)];
        for node in above.into_iter().flatten() {
            node.under_way = change(node.under_way);
        }
    }

    /// A session's nodes, from itself up to the day.
    fn path(&self, session: SessionId, root: &str) -> Vec<(BudgetNodeKind, Pid, &Node)> {
        let line = self.line(session);
        let leaves = line.filter_map(|session| self.sessions.get(&session));
        let pid = self.sessions.get(&session).map_or(Pid(0), |leaf| leaf.pid);
        let project = self.projects.get(root);
        leaves
            .map(|leaf| (BudgetNodeKind::Session, leaf.pid, &leaf.node))
            .chain(project.map(|node| (BudgetNodeKind::Project, pid, node)))
            .chain([(BudgetNodeKind::Day, pid, &self.day)])
            .collect()
    }

    /// Limits that are nearly used up once this is charged, of which users are to be notified: each is reported once.
    pub fn newly_near(&mut self, session: SessionId, more: &Spent) -> Vec<BudgetAlert> {
        let Some(leaf) = self.sessions.get_mut(&session) else {
            return Vec::new();
        };
        let (pid, root) = (leaf.pid, leaf.root.clone());
        let nodes = [
            (BudgetNodeKind::Session, Some(&mut leaf.node)),
            (BudgetNodeKind::Project, self.projects.get_mut(&root)),
            (BudgetNodeKind::Day, Some(&mut self.day)),
        ];
        let mut near = Vec::new();
        for (kind, node) in nodes {
            let Some(node) = node else { continue };
            let spent = node.spent.plus(more);
            for (dimension, limit) in node.newly_near(&spent) {
                near.push(BudgetAlert {
                    kind,
                    pid,
                    dimension,
                    limit,
                    spent: spent.of(dimension),
                    under_way: 0,
                });
            }
        }
        near
    }

    /// Whether any node above a session, or itself, bounds one of these.
    pub fn bounds(&self, session: SessionId, of: &[Dimension]) -> bool {
        let Some(leaf) = self.sessions.get(&session) else {
            return false;
        };
        let path = self.path(session, &leaf.root);
        path.iter()
            .any(|(_, _, node)| of.iter().any(|one| node.limit.limit(*one).is_some()))
    }

    /// Whether a session is to be notified that its model's use cannot be held; only once.
    pub fn should_warn_unenforceable(&mut self, session: SessionId) -> bool {
        let leaf = self.sessions.get_mut(&session);
        leaf.is_some_and(|leaf| !std::mem::replace(&mut leaf.told_unheld, true))
    }

    /// Whether a day or a project bounds anything.
    pub fn bounds_days(&self) -> bool {
        let mut nodes = std::iter::once(&self.day).chain(self.projects.values());
        nodes.any(|node| !node.limit.is_empty())
    }

    /// The nodes of a session, from the day down to itself.
    pub fn show(&self, session: SessionId) -> Vec<NodeUsage> {
        let Some(leaf) = self.sessions.get(&session) else {
            return Vec::new();
        };
        let path = self.path(session, &leaf.root).into_iter().rev();
        path.map(|(kind, pid, node)| NodeUsage {
            kind,
            name: match kind {
                BudgetNodeKind::Day => String::new(),
                BudgetNodeKind::Project => leaf.root.clone(),
                BudgetNodeKind::Session => pid.to_string(),
            },
            limit: node.limit,
            spent: node.spent,
        })
        .collect()
    }
}

/// What counts above: time is counted by each session for itself.
fn without_time(spent: Spent) -> Spent {
    Spent { ms: 0, ..spent }
}

#[cfg(test)]
mod tests;
