//! The input of a hook: one line of JSON. Each value has our name and Claude Code's, so hooks
//! written for either work.

use std::path::{Path, PathBuf};

use contract::{Family, ToolSpec};
use proto::hook::HookEvent;
use proto::{CallId, Pid, SessionId};
use serde_json::{Map, Value, json};

/// Maximum bytes of a line. A blocking hook cannot check a longer one.
pub const LINE_MAX: usize = 8 * 1024 * 1024;

/// Maximum bytes of a text in a truncated line.
const CUT: usize = 64 * 1024;

/// The session that an event belongs to.
#[derive(Clone, Debug)]
pub struct HookSession {
    pub session: SessionId,
    pub pid: Pid,
    pub cwd: PathBuf,
}

/// An event that has happened or is about to.
#[derive(Clone, Copy, Debug)]
pub enum HookPayload<'a> {
    Call {
        call: &'a CallId,
        tool: &'a ToolSpec,
        arguments: &'a Map<String, Value>,
    },
    Result {
        call: &'a CallId,
        tool: &'a ToolSpec,
        arguments: &'a Map<String, Value>,
        /// The model's view of the result.
        result: &'a str,
        /// The status: `ok`, `failed`, …
        status: &'a str,
    },
    Prompt {
        text: &'a str,
    },
    Stop {
        last_text: &'a str,
        turn: u64,
        outcome: &'a str,
    },
    Notifies {
        /// Whom and what the session waits for, or what became of its goal.
        message: &'a str,
        /// For programs: `approval`, `question`, `credentials`, `goal_paused`, `goal_ended`.
        kind: &'a str,
        /// How the goal ended.
        outcome: Option<&'a str>,
    },
}

impl HookPayload<'_> {
    /// The event's name.
    #[must_use]
    pub fn event(&self) -> HookEvent {
        match self {
            Self::Call { .. } => HookEvent::PreToolUse,
            Self::Result { .. } => HookEvent::PostToolUse,
            Self::Prompt { .. } => HookEvent::UserPromptSubmit,
            Self::Stop { .. } => HookEvent::Stop,
            Self::Notifies { .. } => HookEvent::Notification,
        }
    }

    /// The event's tool.
    #[must_use]
    pub fn tool(&self) -> Option<&ToolSpec> {
        match self {
            Self::Call { tool, .. } | Self::Result { tool, .. } => Some(tool),
            Self::Prompt { .. } | Self::Stop { .. } | Self::Notifies { .. } => None,
        }
    }

    /// The event's call.
    #[must_use]
    pub fn call(&self) -> Option<&CallId> {
        match self {
            Self::Call { call, .. } | Self::Result { call, .. } => Some(call),
            Self::Prompt { .. } | Self::Stop { .. } | Self::Notifies { .. } => None,
        }
    }
}

impl HookSession {
    /// The input line, including its line end. `None` if it is too long for an event that must be
    /// complete.
    #[must_use]
    pub fn line(&self, what: &HookPayload<'_>) -> Option<String> {
        let mut value = self.value(what);
        let mut line = value.to_string();
        if line.len() >= LINE_MAX {
            if what.event().is_gating() {
                return None;
            }
            cut(&mut value);
            value["truncated"] = true.into();
            line = value.to_string();
        }
        line.push('\n');
        (line.len() <= LINE_MAX).then_some(line)
    }

    fn value(&self, what: &HookPayload<'_>) -> Value {
        let event = what.event().as_str();
        let session = self.session.to_string();
        let mut value = json!({
            "event": event, "hook_event_name": event,
            "session": session, "session_id": session,
            "pid": self.pid.0, "cwd": self.cwd.to_string_lossy(),
        });
        let mut add = |members: Value| {
            if let (Some(value), Value::Object(members)) = (value.as_object_mut(), members) {
                value.extend(members);
            }
        };
        match what {
            HookPayload::Call {
                call,
                tool,
                arguments,
            } => add(self.call(call, tool, arguments)),
            HookPayload::Result {
                call,
                tool,
                arguments,
                result,
                status,
            } => {
                add(self.call(call, tool, arguments));
                if !is_private(tool) {
                    add(json!({"toolResult": result, "tool_response": result}));
                }
                add(json!({"toolStatus": status, "tool_status": status}));
            }
            HookPayload::Prompt { text } => add(json!({"prompt": text})),
            HookPayload::Stop {
                last_text,
                turn,
                outcome,
            } => add(json!({
                "lastAssistantText": last_text, "last_assistant_message": last_text,
                "turn": turn, "outcome": outcome, "stop_hook_active": false,
            })),
            HookPayload::Notifies {
                message,
                kind,
                outcome,
            } => {
                add(
                    json!({"message": message, "notificationType": kind, "notification_type": kind}),
                );
                if let Some(outcome) = outcome {
                    add(json!({ "outcome": outcome }));
                }
            }
        }
        value
    }

    fn call(&self, call: &CallId, tool: &ToolSpec, arguments: &Map<String, Value>) -> Value {
        let mut members = json!({
            "toolName": &*tool.name, "tool_name": tool.foreign_name.as_deref().unwrap_or(&tool.name),
            "toolUseId": call.0, "tool_use_id": call.0,
        });
        if !is_private(tool) {
            members["toolArgs"] = Value::Object(arguments.clone());
            members["tool_input"] = Value::Object(with_file_path(arguments, &self.cwd));
        }
        members
    }
}

/// Whether a hook receives only the tool's name, because remembered texts are private.
fn is_private(tool: &ToolSpec) -> bool {
    tool.family == Family::Memory
}

/// The arguments in Claude Code's format, where the file's absolute path has another name.
fn with_file_path(arguments: &Map<String, Value>, cwd: &Path) -> Map<String, Value> {
    let mut input = arguments.clone();
    if let Some(path) = arguments.get("path").and_then(Value::as_str) {
        let whole = cwd.join(path).to_string_lossy().into_owned();
        input.entry("file_path").or_insert_with(|| whole.into());
    }
    input
}

/// Truncates every long text.
fn cut(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > CUT => {
            text.truncate(text.floor_char_boundary(CUT));
            text.push_str(" … (cut)");
        }
        Value::Array(values) => values.iter_mut().for_each(cut),
        Value::Object(members) => members.values_mut().for_each(cut),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests;
