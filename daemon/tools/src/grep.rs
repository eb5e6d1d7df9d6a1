//! `grep`: lines of files that match a pattern, as ripgrep finds them.

use std::path::PathBuf;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use contract::{CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::item::{CallStatus, Display};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use workspace::{Access, Found, Mode, Query, Resolved, SearchError};

use crate::arguments::{self, Arguments, path_aliases};
use crate::files;
use crate::memory::Memory;
use crate::truncate::{self, Pieces};

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
struct Args {
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

pub(crate) struct Grep {
    spec: ToolSpec,
}

impl Grep {
    pub(crate) fn new() -> Self {
        Self {
            spec: ToolSpec {
                name: "grep",
                description: include_str!("grep.md").trim_ascii(),
                schema: arguments::schema::<Args>(),
                family: Family::Read,
                read_only: true,
                deferred: false,
            },
        }
    }
}

impl Tool for Grep {
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
        let at = files::place_shown(&memory, context, args.place(), Access::Read)?;
        let text = format!("search {} for {}", at.path().display(), args.pattern);
        Ok(Preview {
            display: Display::Line { text },
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
        let stop = Arc::new(AtomicBool::new(false));
        let cancel = Arc::clone(&context.cancel);
        let stopped = Arc::clone(&stop);
        let search = files::blocking(move || {
            let args: Args = arguments::typed(arguments)?;
            let memory = files::memory(&context)?;
            let at = files::place(&memory, &context, args.place(), Access::Read)?;
            search(&memory, &at, &args, &stopped)
        });
        async move {
            tokio::pin!(search);
            // Cancel-safe: the search runs on its own thread and is told to stop.
            tokio::select! {
                biased;
                outcome = &mut search => outcome,
                () = cancel.cancelled() => {
                    stop.store(true, Ordering::Relaxed);
                    search.await
                }
            }
        }
        .boxed()
    }
}

impl Args {
    fn place(&self) -> &str {
        self.path
            .as_deref()
            .filter(|path| !path.is_empty())
            .unwrap_or(".")
    }

    fn query(&self) -> Query {
        let around = |lines: Option<u64>| {
            usize::try_from(lines.or(self.context).unwrap_or(0).min(CONTEXT_MAX))
                .unwrap_or_default()
        };
        let limit = match self.head_limit.unwrap_or(LIMIT_DEFAULT) {
            0 => LIMIT_MAX,
            limit => limit.min(LIMIT_MAX),
        };
        Query {
            pattern: self.pattern.clone(),
            mode: match self.output_mode.unwrap_or_default() {
                OutputMode::Content => Mode::Content,
                OutputMode::FilesWithMatches => Mode::Files,
                OutputMode::Count => Mode::Count,
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

fn search(
    memory: &Arc<Memory>,
    at: &Resolved,
    args: &Args,
    stop: &AtomicBool,
) -> Result<Outcome, Outcome> {
    let query = args.query();
    let found = memory
        .workspace()
        .search(at, &query, &|| stop.load(Ordering::Relaxed))
        .map_err(|error| not_searched(&error))?;
    let shown = |path: &std::path::Path| memory.workspace().shown(path);
    let text = rows(&found, &query, &shown);
    let mut text = truncate::cut(
        Pieces::whole(&text),
        TOKENS_MAX,
        "narrow the pattern, `path` or `glob`",
    )
    .text;
    let line = format!("{} matches in {} files", found.matches, found.files);
    for note in notes(&found, &query) {
        text.push_str(&format!("[{note}]\n"));
    }
    if stop.load(Ordering::Relaxed) {
        text.push_str("[stopped before all files were searched]\n");
        return Ok(Outcome {
            status: CallStatus::Interrupted,
            text,
            display: Display::Line { text: line },
            spill: None,
            changed: Vec::new(),
            todos: None,
        });
    }
    if found.files == 0 && text.is_empty() {
        text.push_str("no matches\n");
    }
    Ok(files::done_line(text, line))
}

/// The output as `rg` would print it.
fn rows(found: &Found, query: &Query, shown: &dyn Fn(&std::path::Path) -> String) -> String {
    let mut text = String::new();
    let separate = query.before + query.after > 0;
    for entry in &found.entries {
        let path = shown(&entry.path);
        match query.mode {
            Mode::Files => text.push_str(&format!("{path}\n")),
            Mode::Count => text.push_str(&format!("{path}:{}\n", entry.count)),
            Mode::Content => {
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

fn notes(found: &Found, query: &Query) -> Vec<String> {
    let mut notes = Vec::new();
    if found.left_out > 0 {
        let what = if query.mode == Mode::Content {
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
