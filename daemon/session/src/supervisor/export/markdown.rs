//! A conversation as Markdown, for people. Pure: facts and records in, text out.
//!
//! Messages of others are copied as they wrote them, less control characters; text from a model or a command cannot
//! end the block that it is in. What rewinds have hidden is left out.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use proto::item::{AssistantMessage, CallStatus, Display, Finish, ToolMessage, UserMessage, Voice};
use proto::outcome::{OutcomeKind, TurnEnded, UsageTotals};
use proto::record::{Level, SessionCreated, Todo, TodoStatus, ToolBlocked, ToolFinished};
use proto::{Body, CallId, Record, Seq};
use turn::Facts;

/// Characters of a line that represents a call.
const LINE_MAX: usize = 160;

/// Whether a record is reported.
pub fn lists(body: &Body) -> bool {
    match body {
        Body::User(_)
        | Body::Assistant(_)
        | Body::Tool(_)
        | Body::TurnStarted(_)
        | Body::TurnEnded(_)
        | Body::PolicyDecided(_)
        | Body::ToolStarted(_)
        | Body::ToolBlocked(_)
        | Body::ToolFinished(_) => true,
        Body::Notice(notice) => notice.level != Level::Info,
        _ => false,
    }
}

/// The whole text. The parts that may change while the session continues are at its end.
pub fn render(facts: &Facts, records: &[Record]) -> String {
    let mut page = Page::default();
    if let Some(created) = &facts.created {
        page.head(created, facts);
    }
    let runs = facts.shown_upto(facts.seq);
    let shown = |seq: Seq| {
        runs.iter()
            .any(|(first, last)| (*first..=*last).contains(&seq))
    };
    for record in records.iter().filter(|record| shown(record.seq)) {
        page.gather(&record.body);
    }
    for record in records.iter().filter(|record| shown(record.seq)) {
        page.record(record);
    }
    page.todos(&facts.todos);
    page.foot(facts);
    page.text
}

/// The text so far, and the known calls.
#[derive(Default)]
struct Page {
    text: String,
    subjects: HashMap<CallId, String>,
    ends: HashMap<CallId, ToolFinished>,
    /// What calls came to that the sandbox stopped, and those of them that ran once more, outside.
    blocked: HashMap<CallId, ToolBlocked>,
    outside: HashSet<CallId>,
    /// The turn of the newest heading.
    turn: Option<u64>,
}

impl Page {
    fn block(&mut self, text: &str) {
        let text = text.trim_matches('\n');
        if text.trim().is_empty() {
            return;
        }
        self.text.push_str(text);
        self.text.push_str("\n\n");
    }

    fn head(&mut self, created: &SessionCreated, facts: &Facts) {
        let pid = created.pid;
        let title = created.options.name.as_deref().map_or_else(
            || format!("Session {pid}"),
            |name| format!("{} (session {pid})", one_line(name)),
        );
        let mut lines = vec![
            format!("- Id: `{}`", created.session),
            format!("- Began: {}", facts.created_at),
            format!("- Directory: {}", code(&created.cwd)),
            format!(
                "- Model: {}",
                code(created.options.model.as_deref().unwrap_or_default())
            ),
        ];
        if let Some(origin) = &created.origin {
            lines.push(format!(
                "- Forked from session {} at the end of turn {}",
                origin.pid, origin.turn
            ));
        }
        self.block(&format!("# {}", escaped(&title)));
        self.block(&lines.join("\n"));
    }

    fn gather(&mut self, body: &Body) {
        match body {
            Body::PolicyDecided(decided) => {
                self.subjects
                    .entry(decided.call.clone())
                    .or_insert_with(|| decided.subject.clone());
            }
            Body::ToolStarted(started) => {
                self.subjects
                    .insert(started.call.clone(), started.subject.clone());
                if started.outside {
                    self.outside.insert(started.call.clone());
                }
            }
            Body::ToolBlocked(blocked) => {
                self.blocked.insert(blocked.call.clone(), blocked.clone());
            }
            Body::ToolFinished(finished) => {
                self.ends.insert(finished.call.clone(), finished.clone());
            }
            _ => {}
        }
    }

    fn record(&mut self, record: &Record) {
        match &record.body {
            Body::TurnStarted(_) => {
                let turn = record.turn.unwrap_or(0);
                self.turn = Some(turn);
                self.block(&format!("## Turn {turn}"));
                self.block(&format!("*{}*", record.at));
            }
            Body::User(message) => self.user(message),
            Body::Assistant(message) => self.answer(message),
            Body::Tool(message) => self.result(message),
            Body::Notice(notice) => {
                let level = match notice.level {
                    Level::Info => "Note",
                    Level::Warning => "Warning",
                    Level::Error => "Error",
                };
                self.block(&quoted(&format!("**{level}:** {}", notice.text)));
            }
            Body::TurnEnded(ended) => self.ended(ended),
            _ => {}
        }
    }

    fn user(&mut self, message: &UserMessage) {
        let who = match (message.voice, message.from) {
            (Voice::Prompt, _) => "Prompt".to_owned(),
            (Voice::Steer, _) => "Said meanwhile".to_owned(),
            (Voice::Session, Some(from)) => format!("Message of session {from}"),
            (Voice::Session, None) => "Message of another session".to_owned(),
            (Voice::Daemon, _) => "Said by Reasonix".to_owned(),
        };
        self.block(&format!("**{who}**"));
        self.block(&quoted(&message.text));
    }

    fn answer(&mut self, message: &AssistantMessage) {
        if !message.text.trim().is_empty() {
            self.block("**Answer**");
            self.block(&closed(&plain(&message.text)));
        }
        if message.finish == Finish::Interrupted {
            self.block("*The answer was cut off here.*");
        }
        for call in &message.calls {
            self.subjects
                .entry(call.id.clone())
                .or_insert_with(|| call.subject());
        }
    }

    fn result(&mut self, message: &ToolMessage) {
        let subject = self.subjects.get(&message.call).cloned();
        let first = self.blocked.get(&message.call);
        // A call that was not run again has its first end for its result.
        if let Some(first) = first.filter(|_| self.outside.contains(&message.call)) {
            let head = format!(
                "{}, stopped by the sandbox: {}",
                call_line(&message.tool, subject.as_deref(), first.status, None),
                html(&one_line(&first.reason))
            );
            let body = fenced("text", &first.text);
            self.block(&folded(&head, &body));
        }
        let end = self.ends.get(&message.call).cloned();
        let head = call_line(
            &message.tool,
            subject.as_deref(),
            message.status,
            end.as_ref(),
        );
        let (language, body) = match end.map(|end| end.display) {
            Some(Display::Diff { diff, .. }) => ("diff", diff),
            _ => ("text", message.text.clone()),
        };
        self.block(&folded(&head, &fenced(language, &body)));
    }

    fn ended(&mut self, ended: &TurnEnded) {
        if ended.outcome == OutcomeKind::Completed {
            return;
        }
        let why = ended.error.as_ref().map(|error| one_line(&error.message));
        let why = why.map_or_else(String::new, |why| format!(": {}", escaped(&why)));
        let what = word(&ended.outcome);
        self.block(&format!("*The turn ended {what}{why}*"));
    }

    fn todos(&mut self, todos: &[Todo]) {
        if todos.is_empty() {
            return;
        }
        let lines: Vec<_> = todos
            .iter()
            .map(|todo| {
                let content = escaped(&one_line(&todo.content));
                match todo.status {
                    TodoStatus::Completed => format!("- [x] {content}"),
                    TodoStatus::InProgress => format!("- [ ] {content} *(in progress)*"),
                    TodoStatus::Pending => format!("- [ ] {content}"),
                }
            })
            .collect();
        self.block("## To do");
        self.block(&lines.join("\n"));
    }

    fn foot(&mut self, facts: &Facts) {
        self.block("---");
        let mut lines = vec![format!("- Last activity: {}", facts.active_at)];
        lines.push(format!("- Turns: {}", facts.marks.len()));
        lines.push(format!("- Used: {}", used(&facts.usage)));
        self.block(&lines.join("\n"));
        // One line end is enough.
        self.text.pop();
    }
}

fn used(usage: &UsageTotals) -> String {
    let mut text = format!(
        "{} requests, {} prompt tokens ({} of them cached), {} output tokens",
        usage.requests, usage.prompt_tokens, usage.cached_tokens, usage.output_tokens
    );
    if usage.cost_micros > 0 {
        let (whole, rest) = (usage.cost_micros / 1_000_000, usage.cost_micros % 1_000_000);
        // A text takes whatever is written into it.
        let _ = write!(text, ", ${whole}.{:04}", rest / 100);
    }
    text
}

fn call_line(
    tool: &str,
    subject: Option<&str>,
    status: CallStatus,
    end: Option<&ToolFinished>,
) -> String {
    let mut line = one_line(&format!("{tool} {}", subject.unwrap_or_default()));
    if line.chars().count() > LINE_MAX {
        line = line.chars().take(LINE_MAX - 1).collect();
        line.push('…');
    }
    let mut head = format!("<code>{}</code>", html(&line));
    match end.map(|end| &end.display) {
        Some(Display::Diff { added, removed, .. }) => {
            let _ = write!(head, " (+{added} −{removed})");
        }
        Some(Display::Command {
            exit_code: Some(code),
            ..
        }) if *code != 0 => {
            let _ = write!(head, " (exit code {code})");
        }
        _ => {}
    }
    if status != CallStatus::Ok {
        let _ = write!(head, " — {}", word(&status));
    }
    head
}

/// An enum's word in JSON, with blanks.
fn word<T: serde::Serialize>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    text.trim_matches('"').replace('_', " ")
}

/// A text without control characters and what turns the direction of writing, but for line ends and tabs.
fn plain(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .filter(|letter| {
            matches!(letter, '\n' | '\t') || !(letter.is_control() || proto::hidden(*letter))
        })
        .collect()
}

/// The same in one line.
fn one_line(text: &str) -> String {
    let text = plain(text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Words of others in the middle of ours, as they are.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        if matches!(
            letter,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '&' | '|' | '~'
        ) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// A text between backticks, more of them than it has in a row.
fn code(text: &str) -> String {
    let text = one_line(text);
    let ticks = "`".repeat(longest_run(&text, '`') + 1);
    let pad = if text.contains('`') { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// A text as a quotation, line by line.
fn quoted(text: &str) -> String {
    let text = plain(text);
    let lines = text.trim_matches('\n').lines();
    let lines: Vec<_> = lines
        .map(|line| format!("> {line}").trim_end().to_owned())
        .collect();
    lines.join("\n")
}

/// A block of what a command printed. Its fence is longer than any within.
fn fenced(language: &str, text: &str) -> String {
    let text = plain(text);
    let fence = "`".repeat(longest_run(&text, '`').max(2) + 1);
    let body = text.trim_end_matches('\n');
    format!("{fence}{language}\n{body}\n{fence}")
}

/// A block of which only the head is shown until the reader opens it.
fn folded(head: &str, body: &str) -> String {
    format!("<details>\n<summary>{head}</summary>\n\n{body}\n\n</details>")
}

fn longest_run(text: &str, wanted: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for letter in text.chars() {
        run = if letter == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// Markdown of the model's in which nothing stays open that would swallow what follows: a block of code, or one of HTML
/// such as a comment.
fn closed(text: &str) -> String {
    let (mut open, mut out): (Option<(char, usize)>, _) = (None, Vec::new());
    for whole in text.lines() {
        let line = whole.trim_start_matches(' ');
        let indent = whole.len() - line.len();
        let letter = line.chars().next().unwrap_or_default();
        let len = line.chars().take_while(|next| *next == letter).count();
        let fence = matches!(letter, '`' | '~') && len >= 3;
        let rest = line.trim_start_matches(letter);
        match open {
            None if fence && !(letter == '`' && rest.contains('`')) => open = Some((letter, len)),
            Some((with, least)) if with == letter && len >= least && rest.trim().is_empty() => {
                open = None;
            }
            None if letter == '<' => {
                out.push(format!("{}\\{line}", " ".repeat(indent)));
                continue;
            }
            _ => {}
        }
        out.push(whole.to_owned());
    }
    out.extend(open.map(|(letter, len)| letter.to_string().repeat(len)));
    out.join("\n")
}

#[cfg(test)]
mod tests;
