//! `bash_output`: the new output of a background command, and its state.

use contract::{CallContext, Family, Outcome, ToolSpec};
use proto::Pid;
use proto::item::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments::{self, Arguments};
use crate::files;
use crate::filter::Filter;
use crate::memory::Memory;
use crate::typed_tool::TypedTool;

/// For the model.
const DESCRIPTION: &str = "What a background command printed since the last look, and whether it still runs. `filter` drops the lines that do not match.";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    id: u64,
    /// Rust regex
    filter: Option<String>,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("bash_id", "id"),
        ("shell_id", "id"),
        ("job_id", "id"),
        ("pid", "id"),
        ("pattern", "filter"),
    ];

    fn check(&self) -> Result<(), Outcome> {
        filter(self.filter.as_deref()).map(drop)
    }
}

pub(crate) struct BashOutput;

pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        kind: ToolKind::CommandOutput,
        read_only: true,
        ..arguments::spec::<Args>("bash_output", DESCRIPTION, Family::Bash)
            .with_names(Some("BashOutput"), &[])
    }
}

impl TypedTool for BashOutput {
    type Args = Args;

    fn preview(args: Args) -> String {
        format!("look at what {} prints in the background", args.id)
    }

    async fn run(args: Args, context: CallContext) -> Result<Outcome, Outcome> {
        let filter = filter(args.filter.as_deref())?;
        let shell = Memory::with_shells(&context)?.shells().get(Pid(args.id))?;
        let output = shell.look(filter.is_some()).await?;
        // A pattern may take its time.
        Ok(files::blocking(move || Ok(output.outcome("", filter.as_ref()))).await)
    }
}

fn filter(pattern: Option<&str>) -> Result<Option<Filter>, Outcome> {
    pattern
        .filter(|pattern| !pattern.is_empty())
        .map(Filter::new)
        .transpose()
        .map_err(|reason| {
            Outcome::refused(format!(
                "`filter` cannot be read as a regular expression: {reason}"
            ))
        })
}
