//! Sessions as a tree: each followed by the sub-agents that it started. The one order of all clients.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};

use proto::Pid;
use proto::params::session::SessionSummary;

/// Sessions, each followed by its sub-agents, with their depth. Siblings keep their order, and so do those without a
/// listed parent. Each session is in it once.
#[must_use]
pub fn ordered<S: Borrow<SessionSummary>>(
    sessions: impl IntoIterator<Item = S>,
) -> Vec<(usize, S)> {
    by_parent(sessions, |session| {
        let SessionSummary { pid, ppid, .. } = *session.borrow();
        (pid, ppid)
    })
}

/// `pids`: the pid of one, and that of its parent.
fn by_parent<T>(
    all: impl IntoIterator<Item = T>,
    pids: impl Fn(&T) -> (Pid, Pid),
) -> Vec<(usize, T)> {
    let all: Vec<T> = all.into_iter().collect();
    let listed: HashSet<Pid> = all.iter().map(|one| pids(one).0).collect();
    let mut pending = Vec::new();
    let mut below: HashMap<Pid, Vec<T>> = HashMap::new();
    for one in all {
        let (pid, parent) = pids(&one);
        // A sub-agent is younger than its parent, so its number is higher: nothing is above itself.
        match listed.contains(&parent) && parent < pid {
            true => below.entry(parent).or_default().push(one),
            false => pending.push((0, one)),
        }
    }
    pending.reverse();
    let mut ordered = Vec::new();
    while let Some((depth, one)) = pending.pop() {
        let children = below.remove(&pids(&one).0).unwrap_or_default();
        pending.extend(children.into_iter().rev().map(|child| (depth + 1, child)));
        ordered.push((depth, one));
    }
    ordered
}

/// The beginning of a row at that depth.
#[must_use]
pub fn branch(depth: usize) -> String {
    match depth {
        0 => String::new(),
        depth => format!("{}└ ", "  ".repeat(depth - 1)),
    }
}

#[cfg(test)]
mod tests;
