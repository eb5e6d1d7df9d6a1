//! `glob`: files by a pattern of their path, the newest first.

use std::path::PathBuf;
use std::time::Duration;

use contract::{ArgumentUse, Family, Outcome, ToolSpec};
use proto::item::{CallStatus, Display, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use workspace::{
    Access, FileKind, GLOB_FILES_MAX, GlobQuery, GlobResult, PathError, ResolvedPath, SearchError,
};

use crate::arguments::{self, Arguments, path_aliases};
use crate::file_tool::{Call, FileTool};
use crate::files::{self, CallPath};
use crate::truncate::{self, TextPieces};

/// For the model.
const DESCRIPTION: &str = "Find files by a glob such as `src/**/*.rs`, the newest first. Skips hidden and ignored files unless `include_ignored`.";

const SHOWN_MAX: usize = 1000;
const TOKENS_MAX: usize = 16_000;
const TIME_MAX: Duration = Duration::from_secs(60);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// As rg -g, from `path`
    pattern: String,
    path: Option<String>,
    #[serde(default)]
    include_ignored: bool,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = path_aliases![
        ("glob", "pattern"),
        ("glob_pattern", "pattern"),
        ("directory", "path"),
        ("dir", "path"),
    ];
}

/// A pattern that itself leads to a directory (`../other/*.rs`, `/etc/*`): that, and the rest.
struct Leading {
    base: String,
    rest: String,
}

impl Args {
    /// As policy reads a pattern: the two must name the same places.
    fn leading(&self) -> Result<Option<Leading>, Outcome> {
        if self.pattern.is_empty() {
            return Err(Outcome::refused("the pattern is empty; `**` is all files"));
        }
        let parts: Vec<&str> = self.pattern.split('/').collect();
        let is_fixed = |part: &&&str| !part.contains(['*', '?', '[', '{', '\\']);
        let count = parts.iter().take_while(is_fixed).count();
        let (fixed, rest) = parts.split_at_checked(count).unwrap_or((&[], &[]));
        if rest.contains(&"..") {
            return Err(Outcome::refused(
                "the pattern climbs with `..` behind a wildcard; give the directory in `path`",
            ));
        }
        if !self.pattern.starts_with(['/', '~']) && !fixed.contains(&"..") {
            return Ok(None);
        }
        let base = fixed.join("/");
        let base = if base.is_empty() {
            "/".to_owned()
        } else {
            base
        };
        let base = match &self.path {
            Some(path) if !base.starts_with(['/', '~']) => format!("{path}/{base}"),
            _ => base,
        };
        // The part after a directory is relative to it, and does not match at any depth below.
        let rest = match rest {
            [] => String::new(),
            rest => format!("/{}", rest.join("/")),
        };
        Ok(Some(Leading { base, rest }))
    }

    /// The directory that is searched, the places that are judged, and the pattern from there.
    fn spots<'a>(&'a self, leading: Option<&'a Leading>) -> Vec<CallPath<'a>> {
        let path = self.path.as_deref();
        let base = leading.map(|leading| leading.base.as_str());
        let mut paths: Vec<&str> = path.into_iter().chain(base).collect();
        if paths.is_empty() {
            paths.push(".");
        }
        paths
            .into_iter()
            .map(|path| CallPath::at(path, Access::Read))
            .collect()
    }
}

pub(crate) struct Glob;

impl FileTool for Glob {
    type Args = Args;
    type Plan = Base;

    fn spec() -> ToolSpec {
        ToolSpec {
            kind: ToolKind::Search,
            shallow: true,
            ..arguments::spec::<Args>("glob", DESCRIPTION, Family::Read)
                .with_names(Some("Glob"), &["search_files"])
                .with_arguments(&[
                    ("path", ArgumentUse::Search),
                    ("pattern", ArgumentUse::Pattern),
                ])
        }
    }

    fn plan(args: &Args, call: &Call<'_>) -> Result<Base, Outcome> {
        let leading = args.leading()?;
        let mut places = call.places(&args.spots(leading.as_ref()))?;
        let at = places
            .pop()
            .ok_or_else(|| Outcome::failed("the call names no path"))?;
        let pattern = match leading {
            Some(leading) => leading.rest,
            // `./*.rs` is in that directory only; for ripgrep it would be nowhere.
            None => match args.pattern.strip_prefix("./") {
                Some(rest) => format!("/{rest}"),
                None => args.pattern.clone(),
            },
        };
        Ok(Base { at, pattern })
    }

    fn shown(args: &Args, base: &Base, _: &Call<'_>) -> Result<Display, Outcome> {
        let text = format!("find {} in {}", args.pattern, base.at.path().display());
        Ok(Display::Line { text })
    }

    fn act(args: &Args, base: Base, call: &Call<'_>) -> Result<Outcome, Outcome> {
        find(call, &base, args.include_ignored)
    }
}

/// The directory that is searched, and the pattern from there.
pub(crate) struct Base {
    at: ResolvedPath,
    pattern: String,
}

fn find(call: &Call<'_>, base: &Base, include_ignored: bool) -> Result<Outcome, Outcome> {
    let Base { at, pattern } = base;
    let memory = &call.memory;
    let query = GlobQuery {
        pattern: pattern.clone(),
        include_ignored,
        limit: SHOWN_MAX,
        time_max: TIME_MAX,
    };
    let stop = || call.context.cancel.is_cancelled();
    let found = if pattern.is_empty() {
        // The pattern had no wildcard: it is the file, or it is not.
        let paths: Vec<PathBuf> = match at.kind() {
            Some(FileKind::File) => vec![at.path().to_owned()],
            _ => Vec::new(),
        };
        GlobResult {
            total: paths.len() as u64,
            paths,
            ..GlobResult::default()
        }
    } else {
        memory
            .workspace()
            .glob(at, &query, &stop)
            .map_err(|error| not_found(&error))?
    };
    let mut text = String::new();
    for path in &found.paths {
        let shown = memory.workspace().shown(path);
        // A name must not look like several lines.
        text.push_str(&shown.replace(['\n', '\r'], "\u{fffd}"));
        text.push('\n');
    }
    let mut text = truncate::cut(
        TextPieces::whole(&text),
        TOKENS_MAX,
        "narrow the pattern or `path`",
    )
    .text;
    if found.total == 0 {
        text.push_str("no files match\n");
    }
    for note in notes(&found) {
        text.push_str(&format!("[{note}]\n"));
    }
    let line = format!("{} files", found.total);
    if call.context.cancel.is_cancelled() {
        text.push_str("[stopped before all files were seen]\n");
        return Ok(Outcome {
            status: CallStatus::Interrupted,
            ..files::done_line(text, line)
        });
    }
    Ok(files::done_line(text, line))
}

fn notes(found: &GlobResult) -> Vec<String> {
    let mut notes = Vec::new();
    let shown = found.paths.len() as u64;
    if found.partial && found.total >= GLOB_FILES_MAX {
        notes.push(format!(
            "the newest {shown} of the first {GLOB_FILES_MAX} files; there are more. Narrow the pattern or `path`"
        ));
    } else if found.total > shown {
        notes.push(format!(
            "the newest {shown} of {} files. Narrow the pattern or `path`",
            found.total
        ));
    }
    if found.partial && found.total < GLOB_FILES_MAX {
        notes.push("the search ended early: not all files were seen".to_owned());
    }
    if found.unreadable > 0 {
        notes.push(format!(
            "{} directories could not be read",
            found.unreadable
        ));
    }
    notes
}

fn not_found(error: &SearchError) -> Outcome {
    match error {
        SearchError::Path(error @ PathError::NotADirectory { .. }) => {
            Outcome::failed(format!("{error}; `path` is the directory that is searched"))
        }
        SearchError::Path(error) => files::path_failed(error),
        SearchError::File(error) => files::file_failed(error),
        SearchError::Glob { .. } | SearchError::Pattern { .. } | SearchError::Type { .. } => {
            Outcome::failed(format!(
                "{error}. Escape literal brackets and braces with `\\`"
            ))
        }
    }
}

#[cfg(test)]
mod tests;
