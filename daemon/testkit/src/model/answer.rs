//! What a script is made of: answers, what goes wrong with them, and gates that hold them at a moment.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use super::PATIENCE;

/// One answer of the model.
#[derive(Clone, Debug)]
pub struct Answer {
    pub text: String,
    pub reasoning: String,
    pub calls: Vec<Call>,
    /// The vendor's own compaction, in place of an answer: what it says.
    pub compaction: Option<String>,
    /// What another message says first, which this one replaces in the same stream. On the Messages wire only.
    pub replaced: Option<String>,
    pub finish: Option<String>,
    /// What is reported; absent: made up from the sizes, with a prefix cache of blocks of 64 tokens.
    pub usage: Option<Usage>,
    /// Whether usage is reported at all.
    pub reports: bool,
    /// Bytes a piece of text, reasoning or arguments.
    pub chunk_bytes: usize,
    /// The pause before each event.
    pub pace: Duration,
    /// Whether `[DONE]` ends the stream.
    pub done: bool,
    /// Each befalls one try; then comes the answer.
    pub faults: Vec<Fault>,
    pub(crate) gates: Vec<(Place, Gate)>,
}

/// A tool call that the model wants made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Absent: made from the request's number.
    pub id: Option<String>,
    pub name: String,
    /// The JSON text.
    pub arguments: String,
}

impl Call {
    /// Its id as the call at this place of the answer to this request.
    pub(crate) fn id_in(&self, request: usize, place: usize) -> String {
        let made = || format!("call_{request}_{place}");
        self.id.clone().unwrap_or_else(made)
    }
}

/// What a vendor reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub prompt: u64,
    pub cached: u64,
    pub output: u64,
    pub reasoning: u64,
}

/// What goes wrong with one try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection is closed before anything is answered.
    HangUp,
    /// Refused with a status.
    Status {
        status: u16,
        retry_after: Option<String>,
        body: String,
    },
    /// 200, and an error object in the answer's place.
    ErrorDocument(String),
    /// Half of the events, then the connection is reset.
    Reset,
    /// Half of the events, then it ends in good order, without finish reason and `[DONE]`.
    Eof,
    /// Half of the events, then nothing until the other side gives up.
    Stall,
    /// Half of the events, then one that is no JSON, then the rest.
    Malformed,
    /// The last call's arguments break off in their middle; the answer ends as if they were whole (`false`), or by
    /// the output limit (`true`).
    CutArguments { by_limit: bool },
}

impl Fault {
    /// Refused with a status and an error object as OpenAI writes them.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::refusal(status, &format!("status {status} by script"), "")
    }

    /// The same, with words and a code.
    #[must_use]
    pub fn refusal(status: u16, message: &str, code: &str) -> Self {
        let body =
            serde_json::json!({"error": {"message": message, "type": "scripted", "code": code}});
        Self::Status {
            status,
            retry_after: None,
            body: body.to_string(),
        }
    }

    /// A rate limit that says when to come back.
    #[must_use]
    pub fn rate_limit(retry_after: &str) -> Self {
        Self::Status {
            status: 429,
            retry_after: Some(retry_after.to_owned()),
            body: serde_json::json!({"error": {"message": "slow down"}}).to_string(),
        }
    }
}

/// Where in an answer a gate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before the status line.
    Before,
    /// In the middle of what is said.
    Middle,
    /// Behind all that is said, before the finish reason.
    End,
}

/// Holds an answer until the test lets it go.
#[derive(Clone, Debug)]
pub struct Gate {
    reached: Arc<watch::Sender<bool>>,
    open: Arc<watch::Sender<bool>>,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self {
            reached: Arc::new(watch::channel(false).0),
            open: Arc::new(watch::channel(false).0),
        }
    }

    /// Waits until an answer stands before it.
    ///
    /// # Panics
    /// None comes in time.
    pub async fn reached(&self) {
        let mut reached = self.reached.subscribe();
        let waiting = tokio::time::timeout(PATIENCE, reached.wait_for(|reached| *reached));
        assert!(
            waiting.await.is_ok_and(|waited| waited.is_ok()),
            "no answer came to the gate within {PATIENCE:?}"
        );
    }

    /// Whether an answer stands, or stood, before it.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        *self.reached.borrow()
    }

    /// Lets this answer and all later ones through.
    pub fn open(&self) {
        self.open.send_replace(true);
    }

    pub(crate) async fn pass(&self) {
        self.reached.send_replace(true);
        // The sender lives in `self`: an error cannot be.
        let _ = self.open.subscribe().wait_for(|open| *open).await;
    }
}

impl Answer {
    /// Words, and the end of the turn.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            reasoning: String::new(),
            calls: Vec::new(),
            compaction: None,
            replaced: None,
            finish: None,
            usage: None,
            reports: true,
            chunk_bytes: 24,
            pace: Duration::ZERO,
            done: true,
            faults: Vec::new(),
            gates: Vec::new(),
        }
    }

    /// One tool call.
    #[must_use]
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::text("").and_call(name, arguments)
    }

    /// The vendor's own compaction, which says this.
    #[must_use]
    pub fn compaction(text: &str) -> Self {
        Self {
            compaction: Some(text.to_owned()),
            ..Self::text("")
        }
    }

    /// In the place of another message that began in the same stream and said this.
    #[must_use]
    pub fn replacing(mut self, text: &str) -> Self {
        self.replaced = Some(text.to_owned());
        self
    }

    /// A further tool call.
    #[must_use]
    pub fn and_call(self, name: &str, arguments: Value) -> Self {
        self.with(Call {
            id: None,
            name: name.to_owned(),
            arguments: arguments.to_string(),
        })
    }

    /// A further tool call with an id of its own.
    #[must_use]
    pub fn and_call_id(self, id: &str, name: &str, arguments: Value) -> Self {
        self.with(Call {
            id: Some(id.to_owned()),
            name: name.to_owned(),
            arguments: arguments.to_string(),
        })
    }

    /// A further tool call as it stands.
    #[must_use]
    pub fn with(mut self, call: Call) -> Self {
        self.calls.push(call);
        self
    }

    /// Reasoning before the words.
    #[must_use]
    pub fn reasoning(mut self, text: &str) -> Self {
        text.clone_into(&mut self.reasoning);
        self
    }

    /// Another finish reason than what follows from the content.
    #[must_use]
    pub fn finish(mut self, reason: &str) -> Self {
        self.finish = Some(reason.to_owned());
        self
    }

    /// This usage instead of one that is made up.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// No report of usage.
    #[must_use]
    pub fn unreported(mut self) -> Self {
        self.reports = false;
        self
    }

    /// Pieces of this size, and the pause before each.
    #[must_use]
    pub fn paced(mut self, chunk_bytes: usize, pace: Duration) -> Self {
        (self.chunk_bytes, self.pace) = (chunk_bytes, pace);
        self
    }

    /// No `[DONE]` at the end.
    #[must_use]
    pub fn without_done(mut self) -> Self {
        self.done = false;
        self
    }

    /// What befalls the next try of this answer, behind those named before.
    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// Held at this place until the gate is opened.
    #[must_use]
    pub fn held(mut self, place: Place, gate: &Gate) -> Self {
        self.gates.push((place, gate.clone()));
        self
    }
}
