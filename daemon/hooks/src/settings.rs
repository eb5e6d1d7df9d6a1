//! Parses hooks from a settings file, in our format and in Claude Code's.
//!
//! ```json
//! {"hooks": {"PreToolUse": [
//!   {"match": "shell", "command": "…", "description": "…", "timeout": 5000},
//!   {"matcher": "Bash", "hooks": [{"type": "command", "command": "…", "timeout": 5}]}
//! ]}}
//! ```
//! `timeout` is in milliseconds in our format, in seconds in Claude Code's. Invalid parts affect
//! nothing else: a file that is not JSON has no hooks, and an invalid hook is listed and never
//! runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use contract::ToolSpec;
use proto::hook::HookEvent;
use serde_json::{Map, Value};

use crate::files::HookFile;
use crate::names::ToolMatch;

/// Where a hook is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookScope {
    /// In the project. It runs in the project's directory if the project is trusted.
    Project,
    /// In the user's own settings. It runs in the session's directory.
    Home,
}

/// One hook.
#[derive(Clone, Debug)]
pub struct Hook {
    pub event: HookEvent,
    /// The tool pattern as written.
    pub matches: Option<String>,
    pub command: String,
    pub description: Option<String>,
    pub limit: Duration,
    /// The file that defines it.
    pub source: PathBuf,
    pub scope: HookScope,
    /// False if it is from an untrusted project.
    pub trusted: bool,
    /// Whether it runs in the sandbox, if the file says so.
    pub sandbox: Option<bool>,
    /// Files of the workspace that it uses, if it is to run outside the sandbox all the same.
    pub files: Vec<HookFile>,
    /// Written in Claude Code's format: its standard output is parsed too.
    pub claude: bool,
    /// The tools that it matches, or why it never runs.
    pub fits: Result<ToolMatch, String>,
}

impl Hook {
    /// Its display name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.description.as_deref().unwrap_or(&self.command)
    }

    /// Its project: the directory that contains `.reasonix`.
    #[must_use]
    pub fn project(&self) -> Option<&Path> {
        let directory = self.source.parent()?.parent();
        directory.filter(|_| self.scope == HookScope::Project)
    }

    /// Whether it runs on this event, and for this tool if the event has one.
    #[must_use]
    pub fn runs(&self, event: HookEvent, tool: Option<&ToolSpec>) -> bool {
        let fits = |fits: &ToolMatch| tool.is_none_or(|tool| fits.fits(tool));
        self.trusted && self.event == event && self.fits.as_ref().is_ok_and(fits)
    }

    /// The complete hook in one line, for the user who decides whether to trust it. Different hooks
    /// have different lines.
    #[must_use]
    pub fn line(&self) -> String {
        let mut line = format!("hook {}", self.event.as_str());
        if let Some(matches) = &self.matches {
            line.push_str(&format!(", match {}", quoted(matches)));
        }
        if self.limit != limit_of(self.event) {
            line.push_str(&format!(", at most {} ms", self.limit.as_millis()));
        }
        if self.claude {
            line.push_str(", Claude form");
        }
        match self.sandbox {
            Some(true) => line.push_str(", sandboxed"),
            Some(false) => line.push_str(", outside the sandbox"),
            None => {}
        }
        for file in self.files.iter().filter(|file| file.is_there()) {
            line.push_str(&format!(", uses {}", quoted(&file.line())));
        }
        if let Some(description) = &self.description {
            line.push_str(&format!(", {}", quoted(description)));
        }
        format!("{line}: {}", quoted(&self.command))
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The hooks of a session, in the order in which they run.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    pub hooks: Vec<Hook>,
    /// Problems of the files.
    pub problems: Vec<String>,
}

impl Hooks {
    /// The hooks that run on this event, for this tool.
    pub fn on<'a>(
        &'a self,
        event: HookEvent,
        tool: Option<&'a ToolSpec>,
    ) -> impl Iterator<Item = &'a Hook> {
        self.hooks.iter().filter(move |hook| hook.runs(event, tool))
    }

    /// Whether any hook may run on this event.
    #[must_use]
    pub fn any(&self, event: HookEvent) -> bool {
        self.on(event, None).next().is_some()
    }
}

/// The hooks of one file.
#[derive(Clone, Debug, Default)]
pub struct ParsedHooks {
    pub hooks: Vec<Hook>,
    /// One sentence about all its problems.
    pub problem: Option<String>,
}

/// The default limits (contract, chapter 50).
#[must_use]
pub fn limit_of(event: HookEvent) -> Duration {
    Duration::from_secs(if event.is_gating() { 5 } else { 30 })
}

/// The bounds of a `timeout`.
fn bounds(event: HookEvent) -> (Duration, Duration) {
    let most = if event.is_gating() { 60 } else { 600 };
    (Duration::from_millis(100), Duration::from_secs(most))
}

/// Parses a settings file. Ignores everything except `hooks`.
#[must_use]
pub fn read(text: &str, source: &Path, scope: HookScope) -> ParsedHooks {
    let mut reading = HookParser {
        source,
        scope,
        hooks: Vec::new(),
        wrong: Vec::new(),
    };
    reading.file(text);
    let problem = (!reading.wrong.is_empty())
        .then(|| format!("{}: {}", source.display(), reading.wrong.join("; ")));
    ParsedHooks {
        hooks: reading.hooks,
        problem,
    }
}

struct HookParser<'a> {
    source: &'a Path,
    scope: HookScope,
    hooks: Vec<Hook>,
    wrong: Vec<String>,
}

impl HookParser<'_> {
    fn file(&mut self, text: &str) {
        // Editors of Windows put a mark of the encoding first.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let file: Value = match serde_json::from_str(text) {
            Ok(file) => file,
            Err(error) => {
                let what = format!("not valid JSON, so none of its hooks run: {error}");
                return self.wrong.push(what);
            }
        };
        match (file.is_object(), file.get("hooks")) {
            (true, None) => {}
            (true, Some(Value::Object(events))) => {
                for (name, entries) in events {
                    self.event(name, entries);
                }
            }
            _ => {
                let what = "`hooks` must be an object of events, so none of its hooks run";
                self.wrong.push(what.to_owned());
            }
        }
    }

    fn event(&mut self, name: &str, entries: &Value) {
        let Some(event) = HookEvent::named(name) else {
            let known = HookEvent::ALL.map(HookEvent::as_str).join(", ");
            let what = format!(
                "unknown event {}; its hooks do not run (events: {known})",
                quoted(name)
            );
            return self.wrong.push(what);
        };
        let Some(entries) = entries.as_array() else {
            return self.wrong.push(format!("`{name}` must be a list"));
        };
        for (index, entry) in entries.iter().enumerate() {
            let place = format!("{name}[{index}]");
            match entry.get("hooks") {
                None => self.hook(event, &place, entry, false, entry),
                Some(Value::Array(inner)) => {
                    for (nth, hook) in inner.iter().enumerate() {
                        self.hook(event, &format!("{place}.hooks[{nth}]"), entry, true, hook);
                    }
                }
                Some(_) => self.wrong.push(format!("`{place}.hooks` must be a list")),
            }
        }
    }

    /// Parses one hook. `around` has its `match`.
    fn hook(&mut self, event: HookEvent, place: &str, around: &Value, claude: bool, hook: &Value) {
        let empty = Map::new();
        let members = hook.as_object().unwrap_or(&empty);
        let text = |name: &str| members.get(name).and_then(Value::as_str);
        let mut broken = None;
        let written = around.get("match").or_else(|| around.get("matcher"));
        let matches = written.and_then(Value::as_str).map(str::to_owned);
        if written.is_some_and(|written| !written.is_string() && !written.is_null()) {
            broken = Some("`match` must be a text".to_owned());
        }
        let command = text("command").unwrap_or_default().to_owned();
        if command.trim().is_empty() {
            broken = Some("it has no `command`".to_owned());
        }
        if let Some(kind) = members.get("type").filter(|kind| *kind != "command") {
            broken = Some(format!("hooks of type {kind} do not run, only `command`"));
        }
        let about_tools = matches!(event, HookEvent::PreToolUse | HookEvent::PostToolUse);
        let fits = match broken {
            Some(why) => Err(why),
            // Other events have no tool to match.
            None if !about_tools => Ok(ToolMatch::All),
            None => ToolMatch::read(matches.as_deref()),
        };
        if let Err(why) = &fits {
            self.wrong.push(format!("`{place}` does not run: {why}"));
        }
        let limit = self.limit(event, place, claude, members.get("timeout"));
        let sandbox = match members.get("sandbox") {
            None | Some(Value::Null) => None,
            Some(Value::Bool(sandbox)) => Some(*sandbox),
            Some(_) => {
                self.wrong.push(format!(
                    "`{place}.sandbox` must be true or false; true is used"
                ));
                Some(true)
            }
        };
        self.hooks.push(Hook {
            event,
            matches,
            command,
            description: text("description").map(str::to_owned),
            limit,
            source: self.source.to_path_buf(),
            scope: self.scope,
            trusted: true,
            sandbox,
            files: Vec::new(),
            claude,
            fits,
        });
    }

    fn limit(
        &mut self,
        event: HookEvent,
        place: &str,
        claude: bool,
        written: Option<&Value>,
    ) -> Duration {
        let Some(written) = written.filter(|written| !written.is_null()) else {
            return limit_of(event);
        };
        let unit = if claude { 1.0 } else { 0.001 };
        let wanted = written
            .as_f64()
            .and_then(|number| Duration::try_from_secs_f64(number * unit).ok());
        let (least, most) = bounds(event);
        let counts = wanted.map_or_else(|| limit_of(event), |wanted| wanted.clamp(least, most));
        if wanted != Some(counts) {
            let (unit, of) = if claude {
                ("seconds", 1000)
            } else {
                ("milliseconds", 1)
            };
            self.wrong.push(format!(
                "`{place}.timeout` is in {unit}, at most {}; {} is used",
                most.as_millis() / of,
                counts.as_millis() / of
            ));
        }
        counts
    }
}

#[cfg(test)]
mod tests;
