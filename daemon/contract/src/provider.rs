//! A model somewhere: bytes in, neutral parts out.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::BoxStream;
use proto::Pid;
use proto::item::{Finish, Thought, ToolCall};

use crate::request_buffer::RequestBuffer;
use crate::secret::Secret;

/// One request, ready to be sent.
#[derive(Clone, Debug)]
pub struct Request {
    /// The assembled body.
    pub body: RequestBuffer,
    pub model: String,
    /// The key, where the provider's entry names one.
    pub key: Option<Secret>,
    /// The try, from 1.
    pub attempt: u32,
    /// Assistant messages that the conversation holds already (a cassette finds its place by it).
    pub answered: u64,
    /// Where a provider that is a program runs.
    pub ground: RequestEnvironment,
    /// Whether it may be sent: asked by whoever sends it, when it does.
    pub permit: Arc<dyn Permit>,
}

/// Leave to send one request, as budgets have it. From `take` until `give_back` the request counts as being under way.
pub trait Permit: fmt::Debug + Send + Sync {
    /// Asks for leave, right before the request is sent. Who has it already keeps it.
    ///
    /// # Errors
    /// `Budget`: nothing may be sent.
    fn take(&self) -> Result<(), ProviderError>;

    /// It is not sent yet after all, and waits: `take` comes again.
    fn give_back(&self);
}

/// A permit where there are no budgets.
#[derive(Clone, Copy, Debug)]
pub struct Unbounded;

impl Permit for Unbounded {
    fn take(&self) -> Result<(), ProviderError> {
        Ok(())
    }

    fn give_back(&self) {}
}

/// What a program of a session runs with.
#[derive(Clone, Debug, Default)]
pub struct RequestEnvironment {
    pub session: Pid,
    /// The session's working directory.
    pub cwd: PathBuf,
    /// The environment of the session's commands: it has no keys.
    pub env: Arc<Vec<(String, String)>>,
}

/// What an answer is made of, in the order it comes. After `Done` nothing comes.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// The request is not sent yet: it waits for its turn at the vendor. Said at most once, before all else, and only
    /// where it takes long; `Sent` follows, or an error.
    Waiting {
        /// One line, for people.
        cause: String,
        /// When it may go on, where that is known.
        in_ms: Option<u64>,
        /// The vendor has failed again and again, and not only asked to wait.
        down: bool,
    },
    /// It has waited for its turn, and is sent now: what it takes counts from here.
    Sent,
    /// The vendor begins another message in the place of this one: nothing that came before is part of the answer. The
    /// usage before it is billed too, and is reported before it.
    Restarted,
    Text(String),
    Reasoning(String),
    /// What has to go back to the vendor unchanged. Comes before `Done`, in order.
    Thought(Thought),
    /// A call begins or its arguments grow: for showing only.
    CallDelta {
        index: u32,
        id: String,
        name: String,
        arguments: String,
    },
    /// A call is whole (or marked `cut`). Calls come in the order of their index.
    Call(ToolCall),
    /// What the vendor reported; the last one counts.
    Usage(Reported),
    Done(Finish),
}

/// Token counts as the vendor reported them. Prompt tokens are all that the model read, from the cache or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reported {
    pub prompt_tokens: u64,
    pub cached_tokens: u64,
    /// Those that went into the cache with this request, where the vendor tells.
    pub cache_write_tokens: u64,
    pub output_tokens: u64,
    pub reasoning_tokens: u64,
}

impl Reported {
    /// The same, with cached and written tokens as parts of the prompt, whatever the vendor adds up: Azure's Grok reports
    /// more of them than the prompt has. `None` if all is zero: a request has a prompt, so the vendor has not counted.
    #[must_use]
    pub fn plausible(self) -> Option<Self> {
        let cached_tokens = self.cached_tokens.min(self.prompt_tokens);
        let plausible = Self {
            cached_tokens,
            cache_write_tokens: self
                .cache_write_tokens
                .min(self.prompt_tokens - cached_tokens),
            ..self
        };
        (plausible != Self::default()).then_some(plausible)
    }
}

/// Why there is no (whole) answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// One line: what happened, naming the provider. Scrubbed of keys.
    pub message: String,
    /// One line: what the person can do.
    pub hint: String,
    pub kind: ErrorKind,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// How long the vendor asks us to wait.
    pub retry_after: Option<Duration>,
    /// The vendor is too busy with this model, and says nothing about others of the key.
    pub of_model: bool,
    /// It answered, and said nothing at all. Some servers do so if the conversation is too long for them.
    pub empty: bool,
    /// The model's context window in tokens, where a refusal names it.
    pub window: Option<u64>,
}

/// What may be done about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// Another try may help: 408, 409, 429, 5xx, connection, broken or stalled stream.
    Transient,
    /// Nothing listens at the provider's address, which is on this machine. A server that starts may need seconds, and
    /// another does not come up by itself: a few tries, without long waits.
    NotRunning,
    /// The request is too long for the model.
    ContextLength,
    /// The key is missing or refused.
    Credentials,
    /// The account of the key has nothing left to pay with.
    OutOfCredit,
    /// Another try gives the same.
    Permanent,
    /// The vendor refused the model's own answer, because a call in it is badly formed: the model may do better when it
    /// is told.
    InvalidCall,
    /// A budget is used up: nothing was sent.
    Budget,
}

/// A vendor endpoint (or something in its place).
pub trait Provider: Send + Sync {
    /// Starts a request. Dropping the stream cancels it. The stream ends after `Done` or the first error;
    /// a stream that ends without either is treated as broken.
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Part, ProviderError>>;
}
