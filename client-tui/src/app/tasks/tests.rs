use std::collections::VecDeque;

use super::*;

/// The events and errors to return, in order.
struct Script(VecDeque<Result<SessionUpdate, CallError>>);

impl Source for Script {
    async fn next(&mut self) -> Result<SessionUpdate, CallError> {
        match self.0.pop_front() {
            Some(updates) => updates,
            None => std::future::pending().await,
        }
    }
}

fn silent() -> CallError {
    CallError::Timeout {
        method: "session.attach".to_owned(),
        after: Duration::from_secs(60),
    }
}

fn attached() -> SessionUpdate {
    SessionUpdate::Attached {
        session: proto::SessionId::new(),
        pid: proto::Pid(7),
    }
}

#[tokio::test(start_paused = true)]
async fn an_unresponsive_daemon_is_retried_and_a_refusal_is_not() {
    let seq = proto::Seq(3);
    let script = [
        // Errors before the first attachment are reported once attached.
        Err(silent()),
        Err(silent()),
        Ok(attached()),
        Err(silent()),
        Ok(SessionUpdate::Reconnected),
        Err(silent()),
        Err(CallError::Gap { seq }),
    ];
    let (sender, mut events) = mpsc::channel(16);
    following(Script(script.into()), sender, 5).await;
    let mut updates = Vec::new();
    while let Some(event) = events.recv().await {
        updates.push(match event {
            Event::Session { follow: 5, update } => match update {
                SessionUpdate::Attached { .. } => "attached",
                SessionUpdate::Reconnected => "reconnected",
                SessionUpdate::Away(_) => "away",
                SessionUpdate::Ended(_) => "ended",
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        });
    }
    let wanted = ["away", "attached", "away", "reconnected", "away", "ended"];
    assert_eq!(updates, wanted);
}
