//! `session_send`: says something to another session of the same tree.
//!
//! Only hands it on: the session knows who belongs to its tree.

use contract::{CallContext, Family, Outcome, ToolSpec};
use proto::Pid;
use proto::item::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments::{self, Arguments};
use crate::typed_tool::TypedTool;

/// For the model.
const DESCRIPTION: &str = "Send a message to the session that started this one, or to an agent below it. It is read before the next request there. `to` is the number of the session.";
/// Bytes of a message.
const TEXT_MAX: usize = 16 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    to: u64,
    text: String,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("session", "to"), ("pid", "to"), ("message", "text")];

    fn check(&self) -> Result<(), Outcome> {
        if self.text.trim().is_empty() {
            return Err(Outcome::refused("`text` is empty"));
        }
        if self.text.len() > TEXT_MAX {
            return Err(Outcome::refused(format!(
                "`text` has {} bytes; at most {TEXT_MAX} are sent: write a file and name it",
                self.text.len()
            )));
        }
        Ok(())
    }
}

pub(crate) struct SessionSend;

pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        kind: ToolKind::Tools,
        // What the other session does of it is judged there.
        read_only: true,
        deferred: true,
        ..arguments::spec::<Args>("session_send", DESCRIPTION, Family::Session)
    }
}

impl TypedTool for SessionSend {
    type Args = Args;

    fn preview(args: Args) -> String {
        let first = args.text.trim().lines().next().unwrap_or_default();
        format!("to session {}: {first}", args.to)
    }

    async fn run(args: Args, context: CallContext) -> Result<Outcome, Outcome> {
        let CallContext { agents, call, .. } = context;
        Ok(agents.send(call, Pid(args.to), args.text).await)
    }
}
