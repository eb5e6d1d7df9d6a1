//! How a running call asks its user: one question at a time, so many in all, and no longer than the call runs.
#![expect(deprecated, reason = "servers of today ask for samples")]

use std::sync::{Arc, Mutex, PoisonError};

use contract::{ElicitationAnswer, Questions, SamplingAnswer};
use proto::params::elicitation::ElicitationKind;
use rmcp::ErrorData;
use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
    ElicitationAction,
};
use serde_json::Value;
use tokio::sync::watch;

use super::elicitation::{defaults, read, wanted_links};
use super::{CallError, LinkDecision, sampling};
use crate::text::clean;

/// Questions that one call may ask.
const QUESTIONS_MAX: usize = 20;

/// How a running call asks the user.
pub(super) struct Asker {
    server: String,
    questions: Arc<dyn Questions>,
    /// How many questions it has asked, and whether one is open.
    asked: Mutex<usize>,
    /// Held while a question is open: a call asks one at a time.
    turn: tokio::sync::Mutex<()>,
    /// Whether a question is open.
    open: watch::Sender<bool>,
}

/// Says that the question is not open any more, however it ended.
struct OpenMark<'a>(&'a Asker);

impl Drop for OpenMark<'_> {
    fn drop(&mut self) {
        self.0.open.send_replace(false);
    }
}

impl Asker {
    pub(super) fn new(server: String, questions: Arc<dyn Questions>) -> Self {
        Self {
            server,
            questions,
            asked: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
            open: watch::Sender::new(false),
        }
    }

    /// Changes when a question opens or is answered.
    pub(super) fn watch(&self) -> watch::Receiver<bool> {
        self.open.subscribe()
    }

    /// Asks the user. The error goes to the server.
    pub(super) async fn ask(&self, params: ElicitRequestParams) -> Result<ElicitResult, ErrorData> {
        let defaults = defaults(&params);
        let question =
            read(&self.server, params).map_err(|reason| ErrorData::invalid_params(reason, None))?;
        let is_form = question.kind.is_form();
        let _turn = self.turn.lock().await;
        let _mark = self.begin()?;
        Ok(match self.questions.ask(question).await {
            ElicitationAnswer::Accept(_) if !is_form => {
                ElicitResult::new(ElicitationAction::Accept)
            }
            ElicitationAnswer::Accept(mut values) => {
                for (name, default) in defaults {
                    values.entry(name).or_insert(default);
                }
                ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(values))
            }
            ElicitationAnswer::Decline => ElicitResult::new(ElicitationAction::Decline),
            ElicitationAnswer::Cancel => ElicitResult::new(ElicitationAction::Cancel),
        })
    }

    /// Shows the user the links that a server wants opened before it does a call. The error is a text for the model.
    pub(super) async fn show_links(&self, wanted: &ErrorData) -> Result<CallError, String> {
        let mut links = Vec::new();
        let mut decision = LinkDecision::Accepted;
        for params in wanted_links(wanted)? {
            let question = read(&self.server, params.clone())?;
            let ElicitationKind::Link { url, .. } = question.kind else {
                return Err("it wants the user to open something that is not a link".to_owned());
            };
            links.push(url);
            if decision == LinkDecision::Accepted {
                let answer = self
                    .ask(params)
                    .await
                    .map_err(|error| clean(&error.message))?;
                decision = match answer.action {
                    ElicitationAction::Accept => LinkDecision::Accepted,
                    ElicitationAction::Decline => LinkDecision::Declined,
                    // Cancelled; the SDK may get to know more.
                    _ => LinkDecision::NotAsked,
                };
            }
        }
        Ok(CallError::NeedsLinks { links, decision })
    }

    /// Has the session's model answer a text, if the user approves it. The error goes to the server.
    pub(super) async fn sample(
        &self,
        params: CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, ErrorData> {
        let sample = sampling::read(&self.server, params)
            .map_err(|reason| ErrorData::invalid_params(reason, None))?;
        let _turn = self.turn.lock().await;
        let _mark = self.begin()?;
        let (shown, request, bounds) = (sample.shown, sample.request, sample.bounds);
        match self.questions.sample(shown, request).await {
            SamplingAnswer::Answered {
                text,
                model,
                finish,
            } => Ok(sampling::result(text, model, finish, &bounds)),
            SamplingAnswer::Declined => Err(sampling::declined()),
            SamplingAnswer::Failed(reason) => {
                let reason = format!("the model gave no answer: {reason}");
                Err(ErrorData::internal_error(contract::scrub(&reason), None))
            }
        }
    }

    /// Counts a question, which is open until the mark is dropped.
    fn begin(&self) -> Result<OpenMark<'_>, ErrorData> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if *asked >= QUESTIONS_MAX {
            let reason = format!("one call may ask {QUESTIONS_MAX} questions");
            return Err(ErrorData::invalid_request(reason, None));
        }
        *asked += 1;
        self.open.send_replace(true);
        Ok(OpenMark(self))
    }
}
