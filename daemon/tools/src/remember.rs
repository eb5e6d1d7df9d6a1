//! `remember`: saves a fact for later sessions, if the user agrees.

use contract::{Family, Outcome, ToolSpec};
use knowledge::memory::{FactDraft, FactStores};
use proto::Stamp;
use proto::item::Display;
use proto::params::memory::{FactScope, FactType};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments::{self, Arguments};
use crate::fact_tool::{self, FactTool};
use crate::files;

/// For the model.
const DESCRIPTION: &str = "Save a fact for later sessions, or update the one of this name. The user is asked each time. Only what outlasts this task and is in no file: the user's preferences (`user`, `feedback`: for all projects), decisions and goals (`project`), where things are (`reference`). No secrets.";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// `lower-case-name`
    name: String,
    /// One line, for the index
    description: String,
    r#type: Type,
    content: String,
    /// Last day on which it holds, `YYYY-MM-DD`
    #[serde(default)]
    expires: String,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Type {
    User,
    Feedback,
    Project,
    Reference,
}

impl Args {
    fn draft(self) -> FactDraft {
        FactDraft {
            name: self.name,
            description: self.description,
            fact_type: match self.r#type {
                Type::User => FactType::User,
                Type::Feedback => FactType::Feedback,
                Type::Project => FactType::Project,
                Type::Reference => FactType::Reference,
            },
            content: self.content,
            expires: Some(self.expires).filter(|day| !day.is_empty()),
            ..FactDraft::default()
        }
    }
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("key", "name"), ("text", "content"), ("fact", "content")];
}

pub(crate) struct Remember;

pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        deferred: true,
        person_only: true,
        ..arguments::spec::<Args>("remember", DESCRIPTION, Family::Memory)
    }
}

impl FactTool for Remember {
    type Args = Args;

    fn preview(args: Args, facts: &FactStores) -> Result<Display, Outcome> {
        let planned = facts.plan(args.draft(), Stamp::now());
        let (saved, before) = planned.map_err(|error| fact_tool::failed(&error))?;
        let (name, text) = fact_tool::shown(&saved);
        let before = before.map(|before| fact_tool::shown(&before).1);
        let before = before.as_ref().map(String::as_bytes);
        Ok(files::diff(&name, before, text.as_bytes()))
    }

    fn run(args: Args, facts: &FactStores, session: &str) -> Result<Outcome, Outcome> {
        let draft = FactDraft {
            source: Some(session.to_owned()),
            ..args.draft()
        };
        let saved = facts
            .save(draft, Stamp::now())
            .map_err(|error| fact_tool::failed(&error))?;
        let reach = match saved.scope {
            FactScope::User => "all projects",
            FactScope::Project => "this project",
        };
        let name = &saved.fact.name;
        Ok(files::done_line(
            format!(
                "saved `{name}` for later sessions in {reach}. The index of facts in the system prompt stays as it is in this session: take this one as known."
            ),
            format!("remembered {name} for {reach}"),
        ))
    }
}

#[cfg(test)]
mod tests;
