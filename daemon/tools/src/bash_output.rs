//! `bash_output`: what a command in the background has printed since the last look, and how it stands.

use contract::{CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::Pid;
use proto::item::{Display, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::arguments::{self, Arguments};
use crate::files;
use crate::filter::Filter;
use crate::memory::Memory;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
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
}

pub(crate) struct BashOutput {
    spec: ToolSpec,
}

impl BashOutput {
    pub(crate) fn new() -> Self {
        Self {
            spec: ToolSpec {
                kind: ToolKind::CommandOutput,
                read_only: true,
                ..arguments::spec::<Args>(
                    "bash_output",
                    include_str!("bash_output.md"),
                    Family::Bash,
                )
                .with_names(Some("BashOutput"), &[])
            },
        }
    }
}

impl Tool for BashOutput {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        let arguments = arguments::canonical::<Args>(&self.spec.schema, arguments)?;
        let args: Args = arguments::typed(arguments.clone())?;
        filter(args.filter.as_deref())?;
        Ok(arguments)
    }

    fn preview(&self, arguments: &Map<String, Value>, _: &CallContext) -> Result<Preview, Outcome> {
        let args: Args = arguments::typed(arguments.clone())?;
        let text = format!("look at what {} prints in the background", args.id);
        Ok(Preview {
            display: Display::Line { text },
        })
    }

    fn run(
        &self,
        arguments: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Outcome> {
        async move {
            match look(arguments, &context).await {
                Ok(outcome) | Err(outcome) => outcome,
            }
        }
        .boxed()
    }
}

async fn look(arguments: Map<String, Value>, context: &CallContext) -> Result<Outcome, Outcome> {
    let args: Args = arguments::typed(arguments)?;
    let filter = filter(args.filter.as_deref())?;
    let shell = Memory::with_shells(context)?.shells().get(Pid(args.id))?;
    let look = shell.look(filter.is_some()).await?;
    // A pattern may take its time.
    Ok(files::blocking(move || Ok(look.told("", filter.as_ref()))).await)
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
