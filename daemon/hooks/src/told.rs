//! What a hook is told: one line of JSON. Each thing has our name and that of Claude Code, so that hooks which were
//! written for that work here.

use std::path::{Path, PathBuf};

use contract::{Family, ToolSpec};
use proto::hook::HookEvent;
use proto::{CallId, Pid, SessionId};
use serde_json::{Map, Value, json};

/// The longest line, in bytes. What is longer a gating hook cannot be asked about.
pub const LINE_MAX: usize = 8 * 1024 * 1024;

/// The longest text in a line that had to be cut, in bytes.
const CUT: usize = 64 * 1024;

/// Whom it is told of.
#[derive(Clone, Debug)]
pub struct Told {
    pub session: SessionId,
    pub pid: Pid,
    pub cwd: PathBuf,
}

/// What has happened, or is about to.
#[derive(Clone, Copy, Debug)]
pub enum What<'a> {
    Call {
        call: &'a CallId,
        tool: &'a ToolSpec,
        arguments: &'a Map<String, Value>,
    },
    Result {
        call: &'a CallId,
        tool: &'a ToolSpec,
        arguments: &'a Map<String, Value>,
        /// What the model will read.
        result: &'a str,
        /// How it went: `ok`, `failed`, …
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
    Waits {
        /// For whom it waits and for what, in words.
        message: &'a str,
        /// For programs: `approval`, `question`, `credentials`.
        kind: &'a str,
    },
}

impl What<'_> {
    /// The event that tells it.
    #[must_use]
    pub fn event(&self) -> HookEvent {
        match self {
            Self::Call { .. } => HookEvent::PreToolUse,
            Self::Result { .. } => HookEvent::PostToolUse,
            Self::Prompt { .. } => HookEvent::UserPromptSubmit,
            Self::Stop { .. } => HookEvent::Stop,
            Self::Waits { .. } => HookEvent::Notification,
        }
    }

    /// The tool that it is about.
    #[must_use]
    pub fn tool(&self) -> Option<&ToolSpec> {
        match self {
            Self::Call { tool, .. } | Self::Result { tool, .. } => Some(tool),
            Self::Prompt { .. } | Self::Stop { .. } | Self::Waits { .. } => None,
        }
    }

    /// The call that it is about.
    #[must_use]
    pub fn call(&self) -> Option<&CallId> {
        match self {
            Self::Call { call, .. } | Self::Result { call, .. } => Some(call),
            Self::Prompt { .. } | Self::Stop { .. } | Self::Waits { .. } => None,
        }
    }
}

impl Told {
    /// The line, with its end. `None`: it is too long for what must be told whole.
    #[must_use]
    pub fn line(&self, what: &What<'_>) -> Option<String> {
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

    fn value(&self, what: &What<'_>) -> Value {
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
            What::Call {
                call,
                tool,
                arguments,
            } => add(self.call(call, tool, arguments)),
            What::Result {
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
            What::Prompt { text } => add(json!({"prompt": text})),
            What::Stop {
                last_text,
                turn,
                outcome,
            } => add(json!({
                "lastAssistantText": last_text, "last_assistant_message": last_text,
                "turn": turn, "outcome": outcome, "stop_hook_active": false,
            })),
            What::Waits { message, kind } => {
                add(
                    json!({"message": message, "notificationType": kind, "notification_type": kind}),
                );
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

/// Whether a hook gets the tool's name and no more: what is remembered is the user's own.
fn is_private(tool: &ToolSpec) -> bool {
    tool.family == Family::Memory
}

/// The arguments as Claude Code has them: the file's absolute path has another name there.
fn with_file_path(arguments: &Map<String, Value>, cwd: &Path) -> Map<String, Value> {
    let mut input = arguments.clone();
    if let Some(path) = arguments.get("path").and_then(Value::as_str) {
        let whole = cwd.join(path).to_string_lossy().into_owned();
        input.entry("file_path").or_insert_with(|| whole.into());
    }
    input
}

/// Cuts every long text.
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
