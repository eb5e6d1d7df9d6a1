//! `edit_file`: replaces one exact passage, or all that are alike.

use std::path::PathBuf;

use std::sync::Arc;

use contract::{CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use workspace::{Access, Content, EditError, Edited, Expected, Resolved, replace};

use crate::arguments::{self, Arguments, path_aliases};
use crate::files;
use crate::memory::Memory;
use crate::truncate::{self, Pieces};

/// Tokens of an error with a passage in it.
const ERROR_TOKENS_MAX: usize = 1500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = path_aliases![
        ("old", "old_string"),
        ("new", "new_string"),
        ("old_str", "old_string"),
        ("new_str", "new_string"),
        ("old_text", "old_string"),
        ("new_text", "new_string"),
        ("all", "replace_all"),
    ];
}

pub(crate) struct EditFile {
    spec: ToolSpec,
}

impl EditFile {
    pub(crate) fn new() -> Self {
        Self {
            spec: ToolSpec {
                name: "edit_file",
                description: include_str!("edit_file.md").trim_ascii(),
                schema: arguments::schema::<Args>(),
                family: Family::Edit,
                read_only: false,
                deferred: false,
            },
        }
    }
}

impl Tool for EditFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        arguments::canonical::<Args>(&self.spec.schema, arguments)
    }

    fn preview(
        &self,
        arguments: &Map<String, Value>,
        context: &CallContext,
    ) -> Result<Preview, Outcome> {
        let args: Args = arguments::typed(arguments.clone())?;
        let memory = files::memory(context)?;
        let at = files::place_shown(&memory, context, &args.path, Access::Write)?;
        let shown = memory.workspace().shown(at.path());
        let (before, edited) = plan(&memory, &at, &args)?;
        Ok(Preview {
            display: files::diff(&shown, Some(&before.bytes), &edited.bytes),
        })
    }

    fn bind(&self, places: &[PathBuf], context: &CallContext) {
        files::bind(places, context);
    }

    fn run(
        &self,
        arguments: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Outcome> {
        files::blocking(move || {
            let args: Args = arguments::typed(arguments)?;
            let memory = files::memory(&context)?;
            let at = files::place(&memory, &context, &args.path, Access::Write)?;
            edit(&memory, &at, &args)
        })
    }
}

fn plan(memory: &Arc<Memory>, at: &Resolved, args: &Args) -> Result<(Content, Edited), Outcome> {
    let before = known_content(memory, at)?;
    let edited = replace(
        &before.bytes,
        &args.old_string,
        &args.new_string,
        args.replace_all,
    )
    .map_err(|error| not_replaced(&memory.workspace().shown(at.path()), "", &error))?;
    Ok((before, edited))
}

/// What is in a file, if it is what this session last saw of it.
pub(crate) fn known_content(memory: &Memory, at: &Resolved) -> Result<Content, Outcome> {
    let content = memory.workspace().read(at).map_err(|error| match error {
        workspace::FileError::Missing { .. } => Outcome::failed(format!(
            "{error}; make it with `write_file`, or look for the right path with `glob`"
        )),
        error => files::file_failed(&error),
    })?;
    files::guard(memory, at.path(), &content.stamp)?;
    Ok(content)
}

fn edit(memory: &Arc<Memory>, at: &Resolved, args: &Args) -> Result<Outcome, Outcome> {
    let (before, edited) = plan(memory, at, args)?;
    let stamp = memory
        .workspace()
        .write(at, &edited.bytes, Expected::File(before.stamp))
        .map_err(|error| files::file_failed(&error))?;
    memory.know(at.path(), stamp);
    let shown = memory.workspace().shown(at.path());
    let display = files::diff(&shown, Some(&before.bytes), &edited.bytes);
    let times = if edited.count == 1 {
        "1 replacement".to_owned()
    } else {
        format!("{} replacements", edited.count)
    };
    Ok(Outcome {
        changed: vec![files::changed_file(memory, at.path(), &stamp)],
        ..files::done(
            format!("edited `{shown}`: {times}, from line {}", edited.first_line),
            display,
        )
    })
}

/// What the model is told when nothing was replaced. `which` names the edit, where there are several.
pub(crate) fn not_replaced(shown: &str, which: &str, error: &EditError) -> Outcome {
    let next = match error {
        EditError::Empty => "; `old_string` must hold the passage to replace (a whole file is written with `write_file`)".to_owned(),
        EditError::TooLong => "; replace less at a time".to_owned(),
        EditError::Same => "; nothing would change".to_owned(),
        EditError::Elision { .. } => "; write out the whole text, without placeholders".to_owned(),
        EditError::Missing { nearest: None } => "; read the file again and copy the passage exactly".to_owned(),
        EditError::Missing { nearest: Some(passage) } => {
            let why = if passage.blanks_only { "It differs in blanks or line breaks only" } else { "The nearest passage" };
            format!(". {why}, line {}:\n{}\nCopy it exactly, without line numbers.", passage.first_line, passage.text)
        }
        EditError::Several { count, lines } => {
            let listed: Vec<String> = lines.iter().map(u64::to_string).collect();
            let more = if *count > lines.len() { ", …" } else { "" };
            format!(", from lines {}{more}; add lines around it until it is unique, or set `replace_all`", listed.join(", "))
        }
    };
    let text = format!("`{shown}` was not changed: {which}{error}{next}");
    Outcome::failed(
        truncate::cut(
            Pieces::whole(&text),
            ERROR_TOKENS_MAX,
            "read the file for the rest",
        )
        .text,
    )
}

#[cfg(test)]
mod tests;
