//! `kill_shell`: stops a background command and everything that it started.

use std::time::Duration;

use contract::{CallContext, Family, Outcome, ToolSpec};
use proto::Pid;
use proto::item::{CallStatus, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments::{self, Arguments};
use crate::memory::Memory;
use crate::typed_tool::TypedTool;

/// For the model.
const DESCRIPTION: &str =
    "Stop a background command and all that it started; returns its last output.";

/// How long after the first signal the answer comes at the latest.
const WAIT_MAX: Duration = Duration::from_secs(5);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    id: u64,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("bash_id", "id"),
        ("shell_id", "id"),
        ("job_id", "id"),
        ("pid", "id"),
    ];
}

pub(crate) struct KillShell;

pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        kind: ToolKind::CommandStop,
        // It ends only what the session itself has started: nobody is asked.
        read_only: true,
        deferred: true,
        ..arguments::spec::<Args>("kill_shell", DESCRIPTION, Family::Bash)
            .with_names(Some("KillShell"), &["KillBash"])
    }
}

impl TypedTool for KillShell {
    type Args = Args;

    fn preview(args: Args) -> String {
        format!("stop {}, which runs in the background", args.id)
    }

    async fn run(args: Args, context: CallContext) -> Result<Outcome, Outcome> {
        let shell = Memory::with_shells(&context)?.shells().get(Pid(args.id))?;
        let stopped = async {
            let ran = shell.stop().await;
            shell.ended().await;
            ran
        };
        // Cancel-safe: the command goes on stopping; the other arms only wait.
        let ran = tokio::select! {
            biased;
            ran = stopped => ran,
            () = context.cancel.cancelled() => {
                return Err(Outcome::with_status(
                    CallStatus::Interrupted,
                    format!("{} was asked to stop; its end was not awaited", args.id),
                ));
            }
            () = tokio::time::sleep(WAIT_MAX) => {
                return Err(Outcome::failed(format!(
                    "{} was asked to stop and still runs; look again with `bash_output`",
                    args.id
                )));
            }
        };
        let output = shell.look(false).await?;
        Ok(output.outcome(if ran { "" } else { "it had ended before: " }, None))
    }
}
