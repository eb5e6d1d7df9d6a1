//! `forget`: moves a fact to the archive, if the user agrees.

use contract::{Family, Outcome, ToolSpec};
use knowledge::memory::FactStores;
use proto::item::Display;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments::{self, Arguments};
use crate::fact_tool::{self, FactTool};
use crate::files;

/// For the model.
const DESCRIPTION: &str = "Remove a fact that is wrong or no longer holds from memory. The user is asked each time, and can restore it from the archive.";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    name: String,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = &[("key", "name"), ("fact", "name")];
}

pub(crate) struct Forget;

pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        deferred: true,
        person_only: true,
        ..arguments::spec::<Args>("forget", DESCRIPTION, Family::Memory)
    }
}

impl FactTool for Forget {
    type Args = Args;

    fn preview(args: Args, facts: &FactStores) -> Result<Display, Outcome> {
        let found = facts.find(&args.name);
        let (name, text) = fact_tool::shown(&found.map_err(|error| fact_tool::failed(&error))?);
        Ok(files::diff_gone(&name, text.as_bytes()))
    }

    fn run(args: Args, facts: &FactStores, _: &str) -> Result<Outcome, Outcome> {
        let gone = facts.forget(&args.name);
        let name = gone.map_err(|error| fact_tool::failed(&error))?.fact.name;
        Ok(files::done_line(
            format!("`{name}` is forgotten: do not rely on it any more"),
            format!("forgot {name}"),
        ))
    }
}
