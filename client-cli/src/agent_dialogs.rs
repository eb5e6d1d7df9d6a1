//! Questions of the sub-agents below a session, asked where that session is open: by `run`, and by `attach` in lines.

use client::Client;
use client::agent_questions::{AgentQuestion, AgentQuestions};
use client::form::ShownInteraction;
use proto::Pid;
use serde_json::{Value, json};

use crate::dialog::Dialog;

/// The open questions of the sub-agents, as they were reported last.
#[derive(Default)]
pub struct AgentDialogs {
    /// `None`: nothing is watched yet.
    watch: Option<(Pid, AgentQuestions)>,
    open: Vec<Dialog>,
}

/// What has changed about them.
#[derive(Default)]
pub struct AgentChanges {
    pub closed: Vec<Dialog>,
    pub opened: Vec<Dialog>,
}

impl AgentDialogs {
    /// Watches the sub-agents below a session, unless it does already.
    pub fn start(&mut self, client: &Client, of: Pid) {
        self.watch
            .get_or_insert_with(|| (of, AgentQuestions::watch(client.clone(), of)));
    }

    /// Goes on watching, after the connection was lost or with another client.
    pub fn restart(&mut self, client: &Client) {
        if let Some((of, watch)) = &mut self.watch {
            *watch = AgentQuestions::watch(client.clone(), *of);
        }
    }

    /// What has changed, once something has. Cancel-safe.
    pub async fn changed(&mut self) -> AgentChanges {
        match &mut self.watch {
            Some((_, watch)) => {
                let asked = watch.changed().await;
                self.take(asked)
            }
            None => std::future::pending().await,
        }
    }

    /// A question that was asked again with other content is another one.
    fn take(&mut self, asked: Vec<AgentQuestion>) -> AgentChanges {
        let mut changes = AgentChanges::default();
        let shown = |question: &AgentQuestion| ShownInteraction::from(&question.interaction);
        let all: Vec<_> = asked.iter().map(shown).collect();
        for known in std::mem::take(&mut self.open) {
            match all.contains(&ShownInteraction::from(&known.interaction)) {
                true => self.open.push(known),
                false => changes.closed.push(known),
            }
        }
        for question in asked {
            let known =
                |open: &Dialog| ShownInteraction::from(&open.interaction) == shown(&question);
            if !self.open.iter().any(known) {
                let asked = Dialog::of_agent(question);
                self.open.push(asked.clone());
                changes.opened.push(asked);
            }
        }
        changes
    }
}

/// The question as an event of its session, for programs that read events.
pub fn opened_event(asked: &Dialog) -> Value {
    event(asked, "interaction.opened", json!(asked.interaction))
}

/// The same for a question that is no longer open, however it was closed.
pub fn closed_event(asked: &Dialog) -> Value {
    event(
        asked,
        "interaction.closed",
        json!({"interaction_id": asked.id()}),
    )
}

fn event(asked: &Dialog, kind: &str, data: Value) -> Value {
    json!({
        "seq": null,
        "session": asked.interaction.session,
        "agent": asked.agent,
        "at": proto::Stamp::now(),
        "turn": null,
        "kind": kind,
        "data": data,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(id: &str, hash: &str) -> AgentQuestion {
        let interaction = json!({
            "interaction_id": id, "session": 2, "call": "c1", "shown_hash": hash,
            "opened_at": proto::Stamp(1),
            "request": {"type": "questions", "questions": []},
        });
        AgentQuestion {
            agent: "general".to_owned(),
            interaction: serde_json::from_value(interaction).unwrap(),
        }
    }

    fn ids(dialogs: &[Dialog]) -> Vec<&str> {
        dialogs.iter().map(|asked| asked.id().0.as_str()).collect()
    }

    #[test]
    fn question_is_opened_once_and_closed_once() {
        let mut dialogs = AgentDialogs::default();
        let changes = dialogs.take(vec![question("2.1", "a"), question("2.2", "b")]);
        assert_eq!(ids(&changes.opened), ["2.1", "2.2"]);
        let changes = dialogs.take(vec![question("2.2", "b"), question("2.3", "c")]);
        assert_eq!(
            (ids(&changes.closed), ids(&changes.opened)),
            (vec!["2.1"], vec!["2.3"])
        );
        // Other content under the same number.
        let changes = dialogs.take(vec![question("2.2", "other"), question("2.3", "c")]);
        assert_eq!(
            (ids(&changes.closed), ids(&changes.opened)),
            (vec!["2.2"], vec!["2.2"])
        );
        let changes = dialogs.take(Vec::new());
        assert_eq!(ids(&changes.closed), ["2.3", "2.2"]);
        assert!(changes.opened.is_empty());
    }
}
