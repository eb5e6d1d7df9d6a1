//! Errors on the wire: a code, a name that programs test, a hint that people follow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// The application's own errors. Clients test the name, never the message.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum ErrorName {
            $($(#[$doc])* $name,)*
        }

        impl ErrorName {
            /// Every name, in the order of the contract's table.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The JSON-RPC error code.
            #[must_use]
            pub fn code(self) -> i32 {
                match self { $(Self::$name => $code),* }
            }

            /// The name as `data.name` holds it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }
    };
}

names! {
    /// A call before `daemon.hello`, or while the daemon starts.
    NotReady = -31001, "not_ready";
    /// No protocol version in common.
    ProtocolMismatch = -31002, "protocol_mismatch";
    /// No such session, approval, model, tool (data: nearest names).
    NotFound = -31003, "not_found";
    /// An abbreviation matches several (data: which).
    Ambiguous = -31004, "ambiguous";
    /// A turn is running, and the call asked for `when: "now"`.
    Busy = -31005, "busy";
    /// Another answer came first (data: by whom, what, when).
    AlreadyResolved = -31006, "already_resolved";
    /// A watcher tried to drive; an untrusted project.
    NotAllowed = -31007, "not_allowed";
    /// The config is invalid (data: file, key, repair).
    InvalidConfig = -31008, "invalid_config";
    /// The provider failed for good, after all retries (data: status, provider, retry_after).
    ProviderFailed = -31009, "provider_failed";
    /// The change resets the cache or deletes data: repeat it with `confirm`.
    ConfirmNeeded = -31010, "confirm_needed";
    /// The daemon is shutting down.
    ShuttingDown = -31011, "shutting_down";
    /// A limit was exceeded: queue, sessions, connections, frame size.
    Limit = -31012, "limit";
    /// The log was repaired since the cursor was taken (data: `epoch`, and `oldest` and `newest`, the records that can be read).
    CursorStale = -31013, "cursor_stale";
    /// The disk is full or unreadable (data: what, and whether it can be repaired).
    Storage = -31014, "storage";
    /// The same `request_id` with other content.
    RequestIdReused = -31015, "request_id_reused";
    /// The shown content has changed: look again.
    Stale = -31016, "stale";
    /// A hook blocked it.
    Blocked = -31017, "blocked";
    /// A budget is used up; nothing was sent.
    BudgetExceeded = -31018, "budget_exceeded";
    /// The account of the key has no credit at the provider.
    OutOfCredit = -31019, "out_of_credit";
    /// A parameter has an invalid value (data: which). JSON-RPC's own "invalid params".
    InvalidParams = -32602, "invalid_params";
    /// A bug in Reasonix. JSON-RPC's own "internal error".
    Internal = -32603, "internal";
}

/// What went wrong, for code (`name`) and for people (`message`, `hint`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub name: ErrorName,
    /// One line: what happened.
    pub message: String,
    /// One line: what the user can do next. Empty if there is nothing to do.
    #[serde(default)]
    pub hint: String,
    /// Whether the same call may succeed later.
    #[serde(default)]
    pub retryable: bool,
    /// Details for programs; their keys are beside `name` and `hint` in `data` of the error.
    #[serde(default, skip_serializing_if = "has_none")]
    pub details: Box<Map<String, Value>>,
}

/// Nothing is written if there are no details.
#[allow(clippy::borrowed_box, reason = "serde hands over the field as it is")]
fn has_none(details: &Box<Map<String, Value>>) -> bool {
    details.is_empty()
}

impl Failure {
    /// A failure with a name, what happened, and what to do next.
    pub fn new(name: ErrorName, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            name,
            message: message.into(),
            hint: hint.into(),
            retryable: false,
            details: Box::default(),
        }
    }

    /// The same, with one more detail for programs.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// The same, marked as worth another try.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// The `data` member of the JSON-RPC error: `{name, hint, retryable, …details}`.
    #[must_use]
    pub fn data(&self) -> Value {
        let mut data = Map::new();
        data.insert("name".into(), self.name.as_str().into());
        data.insert("hint".into(), self.hint.clone().into());
        data.insert("retryable".into(), self.retryable.into());
        data.extend(self.details.as_ref().clone());
        Value::Object(data)
    }

    /// Reads a JSON-RPC error back. A name that this build does not know keeps its code's meaning as `internal`.
    #[must_use]
    pub fn from_rpc(code: i32, message: &str, data: Option<&Value>) -> Self {
        let by_name = data
            .and_then(|data| data.get("name"))
            .and_then(|name| serde_json::from_value::<ErrorName>(name.clone()).ok());
        let name = by_name
            .or_else(|| {
                ErrorName::ALL
                    .iter()
                    .copied()
                    .find(|name| name.code() == code)
            })
            .unwrap_or(ErrorName::Internal);
        let mut failure = Self::new(name, message, "");
        if let Some(Value::Object(data)) = data {
            for (key, value) in data {
                match (key.as_str(), value) {
                    ("name", _) => {}
                    ("hint", Value::String(hint)) => failure.hint.clone_from(hint),
                    ("retryable", Value::Bool(retryable)) => failure.retryable = *retryable,
                    _ => {
                        failure.details.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        failure
    }
}
