//! `grep`: lines of files that match a pattern, as ripgrep finds them.

use std::time::Duration;

use contract::{ArgumentUse, Family, Outcome, ToolSpec};
use proto::item::{CallStatus, Display, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use workspace::{Access, ResolvedPath, SearchError, SearchMode, SearchQuery, SearchResult};

use crate::arguments::{self, Arguments, path_aliases};
use crate::file_tool::{Call, FileTool};
use crate::files::{self, CallPath};
use crate::truncate::{self, TextPieces};

/// For the model.
const DESCRIPTION: &str = "Search file contents with ripgrep; use it rather than grep or rg in `bash`. Skips hidden, ignored and binary files (`include_ignored` takes the first two in). Prints `path:line:text`; `output_mode` can list files or counts instead. A match stays within a line unless `multiline`.";

const LIMIT_DEFAULT: u64 = 250;
/// What `head_limit: 0`, no limit, comes to: more than the token limit lets through.
const LIMIT_MAX: u64 = 20_000;
const TOKENS_MAX: usize = 16_000;
/// Characters of a line that are shown.
const LINE_CHARS_MAX: usize = 500;
const CONTEXT_MAX: u64 = 100;
const TIME_MAX: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    #[default]
    Content,
    FilesWithMatches,
    Count,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Rust regex
    pattern: String,
    path: Option<String>,
    /// As rg -g
    glob: Option<String>,
    /// As rg -t
    #[serde(rename = "type")]
    file_type: Option<String>,
    output_mode: Option<OutputMode>,
    before: Option<u64>,
    after: Option<u64>,
    context: Option<u64>,
    #[serde(default)]
    case_insensitive: bool,
    /// As rg -U
    #[serde(default)]
    multiline: bool,
    /// Default 250
    head_limit: Option<u64>,
    #[serde(default)]
    include_ignored: bool,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = path_aliases![
        ("query", "pattern"),
        ("regex", "pattern"),
        ("include", "glob"),
        ("-A", "after"),
        ("-B", "before"),
        ("-C", "context"),
        ("-i", "case_insensitive"),
        ("ignore_case", "case_insensitive"),
        ("limit", "head_limit"),
    ];
}

pub(crate) struct Grep;

impl FileTool for Grep {
    type Args = Args;
    type Plan = ResolvedPath;

    fn spec() -> ToolSpec {
        ToolSpec {
            kind: ToolKind::Search,
            ..arguments::spec::<Args>("grep", DESCRIPTION, Family::Read)
                .with_names(Some("Grep"), &["search_content"])
                .with_arguments(&[("path", ArgumentUse::Search)])
        }
    }

    fn plan(args: &Args, call: &Call<'_>) -> Result<ResolvedPath, Outcome> {
        let path = args.path.as_deref().filter(|path| !path.is_empty());
        call.place(CallPath::at(path.unwrap_or("."), Access::Read))
    }

    fn shown(args: &Args, at: &ResolvedPath, _: &Call<'_>) -> Result<Display, Outcome> {
        let text = format!("search {} for {}", at.path().display(), args.pattern);
        Ok(Display::Line { text })
    }

    fn act(args: &Args, at: ResolvedPath, call: &Call<'_>) -> Result<Outcome, Outcome> {
        search(call, &at, &args.query())
    }
}

impl Args {
    fn query(&self) -> SearchQuery {
        let around = |lines: Option<u64>| {
            usize::try_from(lines.or(self.context).unwrap_or(0).min(CONTEXT_MAX))
                .unwrap_or_default()
        };
        let limit = match self.head_limit.unwrap_or(LIMIT_DEFAULT) {
            0 => LIMIT_MAX,
            limit => limit.min(LIMIT_MAX),
        };
        SearchQuery {
            pattern: self.pattern.clone(),
            mode: match self.output_mode.unwrap_or_default() {
                OutputMode::Content => SearchMode::Content,
                OutputMode::FilesWithMatches => SearchMode::Files,
                OutputMode::Count => SearchMode::Count,
            },
            globs: self.glob.iter().cloned().collect(),
            file_type: self.file_type.clone(),
            before: around(self.before),
            after: around(self.after),
            case_insensitive: self.case_insensitive,
            multiline: self.multiline,
            include_ignored: self.include_ignored,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            time_max: TIME_MAX,
        }
    }
}

fn search(call: &Call<'_>, at: &ResolvedPath, query: &SearchQuery) -> Result<Outcome, Outcome> {
    let memory = &call.memory;
    let stop = || call.context.cancel.is_cancelled();
    let found = memory
        .workspace()
        .search(at, query, &stop)
        .map_err(|error| not_searched(&error))?;
    let shown = |path: &std::path::Path| memory.workspace().shown(path);
    let text = rows(&found, query, &shown);
    let mut text = truncate::cut(
        TextPieces::whole(&text),
        TOKENS_MAX,
        "narrow the pattern, `path` or `glob`",
    )
    .text;
    let line = format!("{} matches in {} files", found.matches, found.files);
    for note in notes(&found, query) {
        text.push_str(&format!("[{note}]\n"));
    }
    if stop() {
        text.push_str("[stopped before all files were searched]\n");
        return Ok(Outcome {
            status: CallStatus::Interrupted,
            text,
            display: Display::Line { text: line },
            images: Vec::new(),
            spill: None,
            changed: Vec::new(),
            known: Vec::new(),
            reported: Vec::new(),
            blocked: None,
            quarantined: Vec::new(),
            skill: None,
            agent: None,
        });
    }
    if found.files == 0 && text.is_empty() {
        text.push_str("no matches\n");
    }
    Ok(files::done_line(text, line))
}

/// The output as `rg` would print it.
fn rows(
    found: &SearchResult,
    query: &SearchQuery,
    shown: &dyn Fn(&std::path::Path) -> String,
) -> String {
    let mut text = String::new();
    let separate = query.before + query.after > 0;
    for entry in &found.entries {
        let path = shown(&entry.path);
        match query.mode {
            SearchMode::Files => text.push_str(&format!("{path}\n")),
            SearchMode::Count => text.push_str(&format!("{path}:{}\n", entry.count)),
            SearchMode::Content => {
                for (index, line) in entry.lines.iter().enumerate() {
                    if separate && !text.is_empty() && (index == 0 || line.gap) {
                        text.push_str("--\n");
                    }
                    let mark = if line.matched { ':' } else { '-' };
                    let whole = String::from_utf8_lossy(&line.bytes);
                    let end = whole
                        .char_indices()
                        .nth(LINE_CHARS_MAX)
                        .map_or(whole.len(), |(end, _)| end);
                    let left_out = line.left_out + whole.len() - end;
                    let note = if left_out > 0 {
                        format!(" [… {left_out} bytes]")
                    } else {
                        String::new()
                    };
                    text.push_str(&format!(
                        "{path}{mark}{}{mark}{}{note}\n",
                        line.number,
                        &whole[..end]
                    ));
                }
            }
        }
    }
    text
}

fn notes(found: &SearchResult, query: &SearchQuery) -> Vec<String> {
    let mut notes = Vec::new();
    if found.left_out > 0 {
        let what = if query.mode == SearchMode::Content {
            "lines"
        } else {
            "files"
        };
        notes.push(format!(
            "{} more {what}; {} matches in {} files in all. Narrow the search or raise `head_limit`",
            found.left_out, found.matches, found.files
        ));
    }
    if found.unreadable > 0 {
        notes.push(format!("{} files could not be searched", found.unreadable));
    }
    if found.partial {
        notes.push("the search ended early: not all files were seen".to_owned());
    }
    notes
}

fn not_searched(error: &SearchError) -> Outcome {
    match error {
        SearchError::Pattern { .. } => Outcome::failed(format!(
            "{error}. Escape literal brackets and braces; a pattern with `\\n` needs `multiline`"
        )),
        SearchError::Type { .. } => Outcome::failed(format!("{error}; use `glob`, such as `*.rs`")),
        SearchError::Glob { .. } => Outcome::failed(error.to_string()),
        SearchError::Path(error) => files::path_failed(error),
        SearchError::File(error) => files::file_failed(error),
    }
}

#[cfg(test)]
mod tests;
