//! All sessions at work, as the daemon last said: what sub-agents of the open session do, and what waits for the user
//! elsewhere. Refreshed in the background ([`crate::app`]), never by a key.

use std::collections::HashSet;

use client::agent_questions::{self, below};
use client::tree;
use proto::Pid;
use proto::params::interaction::Interaction;
use proto::params::process::ChildProcess;
use proto::params::session::SessionSummary;
use proto::state::{State, WaitingFor};

/// Sessions that have not exited, the processes of their tools, and their open questions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    /// By pid.
    pub sessions: Vec<SessionSummary>,
    pub children: Vec<ChildProcess>,
    /// Open interactions of all sessions, oldest first.
    pub open: Vec<Interaction>,
    /// Number of the newest change that it includes.
    pub change: u64,
}

impl Overview {
    /// The session with this pid.
    #[must_use]
    pub fn session(&self, pid: Pid) -> Option<&SessionSummary> {
        self.sessions.iter().find(|session| session.pid == pid)
    }

    /// Whether a session works, or a command runs.
    #[must_use]
    pub fn works(&self) -> bool {
        let mut sessions = self.sessions.iter();
        !self.children.is_empty() || sessions.any(|session| session.state == State::Running)
    }

    /// The sub-agents below a session, at any depth, each after the session that started it.
    #[must_use]
    pub fn agents(&self, of: Pid) -> Vec<(usize, &SessionSummary)> {
        let below = below(&self.sessions, of);
        let agents = self.sessions.iter();
        tree::ordered(agents.filter(|session| below.contains(&session.pid)))
    }

    /// Open interactions of the sub-agents below a session.
    #[must_use]
    pub fn asked_below(&self, of: Pid) -> Vec<&Interaction> {
        agent_questions::asked_below(&self.sessions, &self.open, of)
    }

    /// How many things wait for the user in sessions that are neither this one nor below it.
    #[must_use]
    pub fn waits_elsewhere(&self, here: Option<Pid>) -> usize {
        let mut seen = here.map_or_else(HashSet::new, |here| below(&self.sessions, here));
        seen.extend(here);
        let open = self.open.iter();
        let asked = open.filter(|open| !seen.contains(&open.session)).count();
        let needs_key = |session: &&SessionSummary| {
            session.state == State::Waiting && session.waiting_for == Some(WaitingFor::Credentials)
        };
        let stuck = self.sessions.iter().filter(needs_key);
        asked + stuck.filter(|stuck| !seen.contains(&stuck.pid)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::list::fixtures::{approval, summary};

    fn agent(pid: u64, ppid: u64) -> SessionSummary {
        SessionSummary {
            ppid: Pid(ppid),
            agent: Some("explore".to_owned()),
            ..summary(pid, "looks", 1)
        }
    }

    fn overview() -> Overview {
        Overview {
            sessions: vec![
                summary(1, "one", 1),
                summary(2, "two", 1),
                agent(3, 1),
                agent(4, 2),
                agent(5, 3),
                agent(6, 1),
            ],
            open: vec![
                approval(1, 5, "a"),
                approval(2, 2, "b"),
                approval(3, 4, "c"),
            ],
            ..Overview::default()
        }
    }

    fn pids(rows: &[(usize, &SessionSummary)]) -> Vec<(usize, u64)> {
        rows.iter()
            .map(|(depth, session)| (*depth, session.pid.0))
            .collect()
    }

    #[test]
    fn sub_agents_stand_below_the_session_that_started_them() {
        let overview = overview();
        let all = tree::ordered(overview.sessions.iter());
        assert_eq!(pids(&all), [(0, 1), (1, 3), (2, 5), (1, 6), (0, 2), (1, 4)]);
        assert_eq!(pids(&overview.agents(Pid(1))), [(0, 3), (1, 5), (0, 6)]);
        assert_eq!(pids(&overview.agents(Pid(5))), []);
    }

    #[test]
    fn questions_of_its_own_agents_do_not_wait_elsewhere() {
        let overview = overview();
        let of = |pid| {
            overview
                .asked_below(Pid(pid))
                .iter()
                .map(|asked| asked.session.0)
                .collect::<Vec<_>>()
        };
        assert_eq!((of(1), of(2), of(6)), (vec![5], vec![4], vec![]));
        let elsewhere = |here| overview.waits_elsewhere(here);
        assert_eq!(elsewhere(None), 3);
        assert_eq!((elsewhere(Some(Pid(1))), elsewhere(Some(Pid(2)))), (2, 1));
        assert_eq!(elsewhere(Some(Pid(6))), 3);
    }
}
