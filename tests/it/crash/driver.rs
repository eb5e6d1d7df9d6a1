//! The person who drives a session that is killed: prompts, steering, second thoughts about the queue, a pause. What
//! is not acknowledged is asked for again, by the client library, until it is.

use std::sync::{Arc, Mutex, PoisonError};

use client::{CallError, Client};
use proto::methods::{SessionEdit, SessionPrompt, SessionReorder, SessionSignal, SessionUnqueue};
use proto::params::session::{
    EditParams, PromptParams, ReorderParams, Signal, SignalParams, UnqueueParams, When,
};
use proto::{ErrorName, Event, RequestId, SessionId};
use tokio::sync::watch;

use super::story::{SentPrompt, TURNS};

/// What the driver does beside giving its prompts.
#[derive(Clone, Copy, Debug)]
pub struct DriverOptions {
    /// All prompts at once, or each when the turn before has ended.
    pub ahead: bool,
    pub steers: bool,
    pub pauses: bool,
}

/// A person at work: prompts, steering, second thoughts about the queue, a pause.
pub struct Driver {
    pub client: Client,
    pub session: SessionId,
    pub seen: Arc<Mutex<Vec<Event>>>,
    /// Counts acknowledgements.
    pub acknowledgements: watch::Sender<u64>,
    /// The output so far.
    pub given: Vec<SentPrompt>,
}

impl Driver {
    /// Performs every planned request; returns the acknowledged ones.
    pub async fn drive(mut self, manner: DriverOptions) -> Vec<SentPrompt> {
        for turn in 0..TURNS {
            while !manner.ahead && self.ended() < turn {
                tests::wait::step().await;
            }
            self.give(&format!("Prompt {turn}."), When::Queue).await;
            if turn == 1 && manner.steers {
                self.give("Mind the gap.", When::Steer).await;
            }
            if turn == 2 && manner.pauses {
                self.signal(Signal::Pause).await;
                self.signal(Signal::Resume).await;
            }
        }
        if manner.ahead {
            self.second_thoughts().await;
        }
        self.given
    }

    /// The newest prompt gets other words and another place; one that nobody wants is taken back.
    async fn second_thoughts(&mut self) {
        let newest = self.given.len() - 1;
        let prompt_id = self.given[newest].output.prompt_id;
        let edit = EditParams {
            session: self.session.to_string(),
            prompt_id,
            text: "Prompt 3, in other words.".into(),
            steer: None,
            request_id: Some(RequestId::new()),
        };
        if self.heard(self.client.call::<SessionEdit>(&edit).await) {
            self.given[newest].edited = Some(edit.text);
        }
        let reorder = ReorderParams {
            session: self.session.to_string(),
            prompt_id,
            position: 0,
            request_id: Some(RequestId::new()),
        };
        self.heard(self.client.call::<SessionReorder>(&reorder).await);
        self.give("Forget this.", When::Queue).await;
        let unwanted = self.given.last_mut().expect("a prompt");
        let back = UnqueueParams {
            session: self.session.to_string(),
            prompt_id: unwanted.output.prompt_id,
        };
        // It has no id to be repeated by: who loses the connection asks again, and may then hear that it is gone.
        let answer = loop {
            match self.client.call::<SessionUnqueue>(&back).await {
                Err(error) if error.failure().is_none() => tests::wait::step().await,
                answer => break answer,
            }
        };
        unwanted.taken_back = answer.is_ok();
        self.heard(answer);
    }

    async fn give(&mut self, text: &str, when: When) {
        let params = PromptParams {
            untyped: Vec::new(),
            on_ask: None,
            env: std::collections::BTreeMap::new(),
            session: self.session.to_string(),
            text: text.to_owned(),
            when,
            credentials: std::collections::BTreeMap::new(),
            request_id: Some(RequestId::new()),
        };
        let output = self.client.call::<SessionPrompt>(&params).await;
        self.acknowledgements.send_modify(|count| *count += 1);
        self.given.push(SentPrompt {
            output: output.unwrap_or_else(|error| panic!("`{text}`: {error}")),
            edited: None,
            taken_back: false,
        });
    }

    async fn signal(&self, signal: Signal) {
        let params = SignalParams {
            session: self.session.to_string(),
            signal,
            tree: false,
            request_id: Some(RequestId::new()),
        };
        self.heard(self.client.call::<SessionSignal>(&params).await);
    }

    /// Whether it was done; a prompt that has started in the meantime cannot be changed any more.
    fn heard<T>(&self, answer: Result<T, CallError>) -> bool {
        self.acknowledgements.send_modify(|count| *count += 1);
        match answer {
            Ok(_) => true,
            Err(error) => {
                let name = error.failure().map(|failure| failure.name);
                assert_eq!(name, Some(ErrorName::NotFound), "{error}");
                false
            }
        }
    }

    fn ended(&self) -> usize {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.iter()
            .filter(|event| event.kind == "turn.ended")
            .count()
    }
}
