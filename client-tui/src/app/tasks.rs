//! Background tasks of the loop: pending calls, and the session's subscription. Results come back as events.

use std::io;
use std::time::Duration;

use client::{CallError, Client, Follow, FollowEvent, FollowFrom};
use tokio::sync::mpsc;
use tokio::task::JoinError;

use super::App;
use crate::effect::{Answer, Call, ErrorReport};
use crate::event::{Event, SessionUpdate};
use crate::perform;

/// Durable events from before that are shown of a session.
const BACKLOG: u64 = 400;

/// How often it is looked whether a daemon is there again that was stopped.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// How long pending calls may take when the user leaves.
const LAST_CALLS: Duration = Duration::from_millis(800);

impl App {
    pub(super) fn call(&mut self, call: Call) {
        let (client, language) = (self.client.clone(), self.model.look.language);
        self.spawn(async move { perform::call(&client, call, language).await });
    }

    pub(super) fn spawn(&mut self, answer: impl Future<Output = Answer> + Send + 'static) {
        let sender = self.sender.clone();
        let follow = self.model.follow;
        self.tasks.spawn(async move {
            // Nobody takes it any more: the interface has ended.
            let answer = answer.await;
            let _ = sender.send(Event::Answered { follow, answer }).await;
        });
    }

    pub(super) fn follow(&mut self, follow: u64, session: String) {
        self.unfollow();
        let source = Daemon {
            client: self.client.clone(),
            session,
            followed: None,
        };
        let following = following(source, self.sender.clone(), follow);
        self.follower = Some(self.tasks.spawn(following));
    }

    pub(super) fn unfollow(&mut self) {
        if let Some(before) = self.follower.take() {
            before.abort();
        }
    }

    /// Waits a moment for pending calls, then gives the terminal back.
    pub(super) async fn finish(mut self) -> io::Result<()> {
        self.unfollow();
        if let Some(watcher) = self.watcher.take() {
            watcher.abort();
        }
        let tasks = async {
            while let Some(ended) = self.tasks.join_next().await {
                ours(ended);
            }
        };
        // Calls that take longer are abandoned; the daemon may have received them.
        let _ = tokio::time::timeout(LAST_CALLS, tasks).await;
        self.leave()
    }
}

/// A panicked task is a bug of ours: the interface ends, with the terminal restored.
pub(super) fn ours(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        std::panic::resume_unwind(error.into_panic());
    }
}

/// Source of a session's events.
trait Source {
    /// The next of it. After an error that passes it can be asked again.
    fn next(&mut self) -> impl Future<Output = Result<SessionUpdate, CallError>> + Send;
}

/// A session of the daemon.
struct Daemon {
    client: Client,
    session: String,
    /// Keeps its position while there is no daemon.
    followed: Option<Follow>,
}

impl Source for Daemon {
    async fn next(&mut self) -> Result<SessionUpdate, CallError> {
        if let Some(following) = &mut self.followed {
            return next_update(following).await;
        }
        let from = FollowFrom::Snapshot { backlog: BACKLOG };
        let mut following = self.client.follow(&self.session, from, true).await?;
        // Reconnect without a time limit: the user can leave at any time.
        following.wait_while_unwritable(Duration::MAX);
        let attached = self.followed.insert(following).attached();
        Ok(SessionUpdate::Attached {
            session: attached.session,
            pid: attached.pid,
        })
    }
}

/// Reports a session's events until the receiver is dropped. Reconnects if the daemon is missing or does not answer.
async fn following(mut source: impl Source, sender: mpsc::Sender<Event>, follow: u64) {
    let send = |update| {
        let sender = sender.clone();
        async move { sender.send(Event::Session { follow, update }).await.is_ok() }
    };
    let mut away = false;
    loop {
        let error = match source.next().await {
            Err(error) => error,
            Ok(update) => {
                away = false;
                match send(update).await {
                    true => continue,
                    false => return,
                }
            }
        };
        let passes = passes(&error);
        let trouble = ErrorReport::from(error);
        if !passes {
            send(SessionUpdate::Ended(trouble)).await;
            return;
        }
        if !std::mem::replace(&mut away, true) && !send(SessionUpdate::Away(trouble)).await {
            return;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Whether the error may go away by itself: the daemon is missing or does not answer.
fn passes(error: &CallError) -> bool {
    matches!(
        error,
        CallError::Connect(_) | CallError::Lost { .. } | CallError::Timeout { .. }
    )
}

async fn next_update(following: &mut Follow) -> Result<SessionUpdate, CallError> {
    Ok(match following.heard().await? {
        client::FollowUpdate::FollowEvent(FollowEvent::Event(event)) => {
            SessionUpdate::Record(event)
        }
        client::FollowUpdate::FollowEvent(FollowEvent::Reconnected) => SessionUpdate::Reconnected,
        client::FollowUpdate::Lost { stopped } => SessionUpdate::Lost { stopped },
        client::FollowUpdate::Unwritable(failure) => SessionUpdate::Unwritable(failure),
    })
}

#[cfg(test)]
mod tests;
