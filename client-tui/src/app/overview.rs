//! The background task that keeps the overview of all sessions up to date. It waits in the daemon for changes: nothing is
//! asked while nothing changes, and a change is shown at once.

use std::collections::HashSet;
use std::time::Duration;

use client::{CallError, Client, agent_questions};
use proto::Pid;
use proto::methods::{ProcessList, ProcessWait};
use proto::params::process;
use tokio::sync::{mpsc, watch};

use crate::event::Event;
use crate::model::list::ListOf;
use crate::model::overview::Overview;
use crate::model::{Dialog, Link, Model};

/// How often the overview is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OverviewRefresh {
    /// Not now: the daemon is not there.
    Off,
    /// For the row about what waits elsewhere.
    Slow,
    /// It is on the screen: a change is to be seen at once, and ages grow.
    Fast,
}

impl OverviewRefresh {
    /// What the interface needs now.
    pub(super) fn of(model: &Model) -> Self {
        let listed = match &model.dialog {
            Some(Dialog::List(list)) => matches!(
                list.what,
                ListOf::Processes | ListOf::Inbox | ListOf::Agents
            ),
            _ => false,
        };
        let session = model.session.as_ref();
        let has_agents =
            session.is_some_and(|session| !model.overview.agents(session.pid).is_empty());
        match model.link {
            Link::Lost(_) | Link::Stopped(_) | Link::Away(_) | Link::Replaying | Link::Ended(_) => {
                Self::Off
            }
            Link::None | Link::Live if listed || has_agents => Self::Fast,
            Link::None | Link::Live => Self::Slow,
        }
    }

    /// How long the daemon waits for a change. `works`: commands may run, whose starts and ends are no changes.
    fn wait(self, works: bool) -> Duration {
        match self {
            Self::Fast if works => Duration::from_secs(1),
            Self::Off | Self::Slow | Self::Fast => Duration::from_secs(30),
        }
    }

    /// How long after a change it is asked for, and how long after that for the next one: sessions that change all the time
    /// cost little.
    fn gaps(self) -> (Duration, Duration) {
        match self {
            Self::Off | Self::Slow => (Duration::from_secs(1), Duration::ZERO),
            Self::Fast => (Duration::ZERO, Duration::from_millis(250)),
        }
    }
}

/// After a failure of a daemon that answers, it is asked again after this long.
const AGAIN: Duration = Duration::from_secs(5);

/// Reports the overview until nobody takes it. Where there is no daemon it waits for another pace, so that it never starts
/// one that was stopped.
pub(super) async fn watching(
    client: Client,
    sender: mpsc::Sender<Event>,
    mut pace: watch::Receiver<OverviewRefresh>,
) {
    let mut known: Option<Overview> = None;
    loop {
        let now = *pace.borrow_and_update();
        let asked = async {
            match now {
                OverviewRefresh::Off => std::future::pending().await,
                OverviewRefresh::Slow | OverviewRefresh::Fast => {
                    next(&client, known.as_ref(), now).await
                }
            }
        };
        let answer = tokio::select! {
            answer = asked => answer,
            changed = pace.changed() => match changed {
                Ok(()) => continue,
                Err(_) => return,
            },
        };
        let overview = match answer {
            Ok(Some(overview)) => overview,
            Ok(None) => continue,
            Err(error) => {
                known = None;
                // A daemon that answers is asked again, one that is gone is not: that would start it.
                let answers = matches!(error, CallError::Failure(_) | CallError::Timeout { .. });
                let changed = tokio::select! {
                    changed = pace.changed() => changed,
                    () = tokio::time::sleep(AGAIN), if answers => Ok(()),
                };
                match changed {
                    Ok(()) => continue,
                    Err(_) => return,
                }
            }
        };
        let shown = Box::new(overview.clone());
        known = Some(overview);
        if sender.send(Event::Overview(shown)).await.is_err() {
            return;
        }
        tokio::time::sleep(now.gaps().1).await;
    }
}

/// The overview, once it is another one than the known one. `None`: nothing has changed for as long as the daemon waits.
async fn next(
    client: &Client,
    known: Option<&Overview>,
    pace: OverviewRefresh,
) -> Result<Option<Overview>, CallError> {
    if let Some(known) = known {
        let works = known.works();
        let wait_ms = u64::try_from(pace.wait(works).as_millis()).unwrap_or(u64::MAX);
        let since = known.change;
        let params = process::WaitParams { since, wait_ms };
        let newest = client.call::<ProcessWait>(&params).await?.change;
        if newest == since && !(pace == OverviewRefresh::Fast && works) {
            return Ok(None);
        }
        tokio::time::sleep(pace.gaps().0).await;
    }
    overview(client, known).await.map(Some)
}

/// The overview now. What has not changed is taken from the known one.
async fn overview(client: &Client, known: Option<&Overview>) -> Result<Overview, CallError> {
    let params = process::ListParams {
        since: known.map(|known| known.change),
        ..process::ListParams::default()
    };
    let listed = client.call::<ProcessList>(&params).await?;
    let mut sessions = listed.processes;
    let unchanged: HashSet<Pid> = listed.unchanged.into_iter().collect();
    let kept = known.into_iter().flat_map(|known| &known.sessions);
    let kept = kept.filter(|session| unchanged.contains(&session.pid));
    sessions.extend(kept.cloned());
    sessions.sort_by_key(|session| session.pid);
    let open = agent_questions::open_questions(client, &sessions).await?;
    Ok(Overview {
        sessions,
        children: listed.children,
        open,
        change: listed.change,
    })
}
