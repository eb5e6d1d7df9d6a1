//! The rows of a list as text: the filter searches the text that is shown.

use client::form::{Form, kinds};
use client::transcript::words::beginning;
use client::tree::{branch, ordered};
use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use proto::params::history::{CheckpointsOutput, TurnCheckpoint};
use proto::params::interaction::Interaction;
use proto::params::process::{self, ChildProcess};
use proto::params::session::{QueuedPrompt, SessionSummary};
use proto::record::{ChildKind, RewoundResult};
use proto::state::State;

use super::{Choice, Content, Key, ListDialog, ListOf, Restore};
use super::{found, models, words};
use crate::messages::lists::Msg;
use crate::model::Model;
use crate::render::short;
use crate::theme::TextRole;

/// Letters of a filter that are looked for: more narrows nothing.
const LETTERS_MAX: usize = 200;

/// A row.
#[derive(Clone, Debug)]
pub struct Row {
    pub key: Key,
    /// Its status, in one cell.
    pub mark: (&'static str, TextRole),
    /// As many as its list has columns.
    pub cells: Vec<Cell>,
}

/// The contents of a column in a row. Cleaned, one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub text: String,
    pub ink: TextRole,
    /// Bytes of the text that are emphasised: first, and the one after the last.
    pub marks: Vec<(usize, usize)>,
}

fn cell(text: impl Into<String>, ink: TextRole) -> Cell {
    Cell {
        text: text.into(),
        ink,
        marks: Vec::new(),
    }
}

/// The rows that are shown: those that the filter lets through, in their order.
#[must_use]
pub fn rows(dialog: &ListDialog, model: &Model) -> Vec<Row> {
    let all = all(dialog, model);
    let wanted = dialog.filter.input.text().trim();
    if wanted.is_empty() || dialog.restore.is_some() {
        return all;
    }
    let wanted: String = wanted.chars().take(LETTERS_MAX).collect();
    let pattern = Pattern::new(
        &wanted,
        CaseMatching::Smart,
        Normalization::Smart,
        AtomKind::Fuzzy,
    );
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut buffer = Vec::new();
    let mut score = |row: &Row| {
        let texts: Vec<&str> = row.cells.iter().map(|cell| cell.text.as_str()).collect();
        // The figures of a model are not looked for.
        let shown = match row.key {
            Key::Model(_) => texts
                .first()
                .map_or_else(String::new, |name| (*name).to_owned()),
            _ => texts.join(" "),
        };
        let shown = Utf32Str::new(&shown, &mut buffer);
        pattern.score(shown, &mut matcher)
    };
    let found = all.into_iter();
    let mut scored: Vec<(u32, Row)> = found.filter_map(|row| Some((score(&row)?, row))).collect();
    if matches!(dialog.content, Content::Models(_)) {
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    }
    let mut found: Vec<Row> = scored.into_iter().map(|(_, row)| row).collect();
    if matches!(dialog.content, Content::Sessions(_)) {
        found.sort_by_key(|row| numbered(row, &wanted));
    }
    found
}

/// How well the query matches the session number of a row: 0 fully, 1 as a prefix, 2 not at all.
#[must_use]
pub fn numbered(row: &Row, wanted: &str) -> u8 {
    let pid = row.cells.get(PID).map_or("", |cell| cell.text.as_str());
    match (&row.key, pid.strip_prefix(wanted)) {
        (Key::Session(_), Some("")) => 0,
        (Key::Session(_), Some(_)) => 1,
        _ => 2,
    }
}

/// The column of a session's number.
const PID: usize = 1;

fn all(dialog: &ListDialog, model: &Model) -> Vec<Row> {
    if let Some(restore) = &dialog.restore {
        return choices(restore, model);
    }
    match &dialog.content {
        Content::Loading => Vec::new(),
        Content::Sessions(sessions) => {
            let here = dialog.what == (ListOf::Sessions { here: true });
            let rows = sessions.iter();
            let rows = rows.map(|session| self::session(session, dialog, model, here));
            std::iter::once(new_session(model)).chain(rows).collect()
        }
        Content::Turns(turns) => self::turns(turns, dialog, model),
        Content::Queue => queue(model),
        Content::Processes(list) => processes(list, dialog, model),
        Content::Agents(agents) => super::agents::rows(agents, dialog.at, model),
        Content::Inbox(asked) => asked
            .iter()
            .map(|one| self::asked(one, dialog, model))
            .collect(),
        Content::Models(offers) => offers
            .iter()
            .map(|offer| models::row(offer, model))
            .collect(),
        Content::Skills(list) => found::skills(list, model.look.language),
        Content::Hits(hits) => found::hits(hits, dialog.at, model.look.language),
    }
}

fn new_session(model: &Model) -> Row {
    let mut cells = vec![cell("", TextRole::Text); 7];
    if let Some(name) = cells.get_mut(2) {
        *name = cell(model.look.language.say(Msg::NewSession), TextRole::Text);
    }
    Row {
        key: Key::New,
        mark: ("+", TextRole::Accent),
        cells,
    }
}

/// Flags, pid, words, model, turns, directory, age.
fn session(session: &SessionSummary, dialog: &ListDialog, model: &Model, here: bool) -> Row {
    let language = model.look.language;
    let current = model.session.as_ref().map(|current| current.id);
    let seen = model.seen.get(&session.session);
    let unread = current != Some(session.session) && seen.is_some_and(|seen| session.seq > *seen);
    let asks = match words::questions(session) {
        0 => String::new(),
        count => format!("?{count}"),
    };
    let directory = match here {
        true => String::new(),
        false => words::directory(&session.cwd, model.place.home.as_deref()),
    };
    Row {
        key: Key::Session(session.session),
        mark: words::mark(session),
        cells: vec![
            cell(
                format!("{}{asks}", if unread { "•" } else { "" }),
                TextRole::Accent,
            ),
            cell(session.pid.to_string(), TextRole::Dim),
            cell(named(session), TextRole::Text),
            cell(words::model(&session.model), TextRole::Dim),
            cell(
                language.counted(session.turns, Msg::Turn, Msg::Turns),
                TextRole::Dim,
            ),
            cell(directory, TextRole::Dim),
            cell(
                words::aged(language, dialog.at, session.active_at),
                TextRole::Dim,
            ),
        ],
    }
}

/// The title of a session; before its first prompt there may be none.
fn named(session: &SessionSummary) -> String {
    client::text::line(&session.title)
}

fn turns(turns: &CheckpointsOutput, dialog: &ListDialog, model: &Model) -> Vec<Row> {
    let mut rows = Vec::new();
    if turns.undo {
        rows.push(Row {
            key: Key::Undo,
            mark: ("↶", TextRole::Accent),
            cells: vec![
                cell("", TextRole::Text),
                cell(model.look.language.say(Msg::UndoRow), TextRole::Text),
                cell("", TextRole::Dim),
                cell("", TextRole::Dim),
            ],
        });
    }
    let newest_first = turns.turns.iter().rev();
    rows.extend(newest_first.map(|turn| self::turn(turn, dialog, model)));
    rows
}

/// Number, prompt, files, age.
fn turn(turn: &TurnCheckpoint, dialog: &ListDialog, model: &Model) -> Row {
    let language = model.look.language;
    let count = u64::try_from(turn.files.len()).unwrap_or(u64::MAX);
    let name = |path: &String| client::text::line(path.rsplit('/').next().unwrap_or_default());
    let files = match turn.files.first() {
        None => String::new(),
        Some(only) if count == 1 => name(only),
        Some(_) => language.counted(count, Msg::File, Msg::Files),
    };
    Row {
        key: Key::Turn(turn.turn),
        mark: (
            if turn.notes.is_empty() { " " } else { "!" },
            TextRole::Warning,
        ),
        cells: vec![
            cell(turn.turn.to_string(), TextRole::Dim),
            cell(
                client::text::line(&beginning(language, turn)),
                TextRole::Text,
            ),
            cell(files, TextRole::Dim),
            cell(words::aged(language, dialog.at, turn.at), TextRole::Dim),
        ],
    }
}

fn choices(restore: &Restore, model: &Model) -> Vec<Row> {
    let changed = match &restore.effect {
        Some(Ok(effect)) => {
            let mut files = effect.files.iter();
            files.any(|file| file.result == RewoundResult::ChangedSince)
        }
        _ => false,
    };
    let force = changed.then_some(Choice::Force);
    let undo = restore.turn.is_none();
    let choices: Vec<Choice> = match undo {
        true => [Some(Choice::Both), force, Some(Choice::Cancel)]
            .into_iter()
            .flatten()
            .collect(),
        false => [
            Some(Choice::Both),
            Some(Choice::Conversation),
            Some(Choice::Code),
            force,
            Some(Choice::Cancel),
        ]
        .into_iter()
        .flatten()
        .collect(),
    };
    let row = |choice| {
        let message = match (choice, undo) {
            (Choice::Both, false) => Msg::Both,
            (Choice::Both, true) => Msg::UndoYes,
            (Choice::Force, false) => Msg::Force,
            (Choice::Force, true) => Msg::UndoForce,
            (Choice::Conversation, _) => Msg::Conversation,
            (Choice::Code, _) => Msg::Code,
            (Choice::Cancel, _) => Msg::Cancel,
        };
        Row {
            key: Key::Choice(choice),
            mark: (" ", TextRole::Text),
            cells: vec![cell(model.look.language.say(message), TextRole::Text)],
        }
    };
    choices.into_iter().map(row).collect()
}

fn queue(model: &Model) -> Vec<Row> {
    let Some(session) = &model.session else {
        return Vec::new();
    };
    let waiting = session.queue.waiting().iter().enumerate();
    waiting
        .map(|(index, queued)| prompt(index, queued, model))
        .collect()
}

/// Place, words, when, by whom.
fn prompt(index: usize, queued: &QueuedPrompt, model: &Model) -> Row {
    let language = model.look.language;
    let (mark, when) = match queued.steer {
        true => ("»", Msg::Steers),
        false => (" ", Msg::NextTurn),
    };
    let by = client::transcript::words::who(language, &queued.by);
    let by = client::text::line(&by);
    Row {
        key: Key::Prompt(queued.prompt_id),
        mark: (mark, TextRole::Accent),
        cells: vec![
            cell((index + 1).to_string(), TextRole::Dim),
            cell(words::joined(&queued.text), TextRole::Text),
            cell(language.say(when), TextRole::Dim),
            cell(language.fill(Msg::By, &[&by]), TextRole::Dim),
        ],
    }
}

fn processes(list: &process::ListOutput, dialog: &ListDialog, model: &Model) -> Vec<Row> {
    let mut rows = Vec::new();
    for (depth, session) in ordered(&list.processes) {
        rows.push(process(session, depth, dialog, model));
        let of = |child: &&ChildProcess| child.session == session.pid;
        let mut children = list.children.iter().filter(of).peekable();
        while let Some(one) = children.next() {
            let branch = if children.peek().is_some() {
                "├─"
            } else {
                "└─"
            };
            rows.push(child(one, branch, model));
        }
    }
    rows
}

/// Pid, state, age, steps, model, context, tokens, cost, directory, activity.
fn process(session: &SessionSummary, depth: usize, dialog: &ListDialog, model: &Model) -> Row {
    let language = model.look.language;
    let name = session.name.as_deref().or(session.agent.as_deref());
    let name = name.map(client::text::line);
    let busy = matches!(session.state, State::Running | State::Waiting) || words::waits(session);
    let cause = words::plain(&words::head(&language.translate(&session.cause)));
    let does = match (session.activity.is_empty(), busy && !cause.is_empty()) {
        (false, _) => client::text::line(&session.activity),
        (true, true) => cause,
        (true, false) => words::plain(&session.last_line),
    };
    let does = match name.filter(|name| !name.is_empty()) {
        Some(name) => format!("{name}: {does}"),
        None => does,
    };
    let mark = words::mark(session);
    Row {
        key: Key::Session(session.session),
        mark,
        cells: vec![
            cell(format!("{}{}", branch(depth), session.pid), TextRole::Text),
            cell(words::state(language, session, dialog.at), mark.1),
            cell(
                words::aged(language, dialog.at, session.active_at),
                TextRole::Dim,
            ),
            cell(session.steps.to_string(), TextRole::Dim),
            cell(words::model(&session.model), TextRole::Dim),
            cell(words::context(session), TextRole::Dim),
            cell(short::count(short::tokens(&session.usage)), TextRole::Dim),
            cell(words::cost(session.cost()), TextRole::Dim),
            cell(
                words::directory(&session.cwd, model.place.home.as_deref()),
                TextRole::Dim,
            ),
            cell(does, TextRole::Text),
        ],
    }
}

fn child(child: &ChildProcess, branch: &str, model: &Model) -> Row {
    let language = model.look.language;
    let kind = match child.kind {
        ChildKind::Command => Msg::Command,
        ChildKind::Shell => Msg::Shell,
    };
    let pid = child.pid.map_or_else(String::new, |pid| format!(" {pid}"));
    let mut cells = vec![
        cell(format!("{branch}{pid}"), TextRole::Dim),
        cell(language.say(kind), TextRole::Tool),
        cell(words::lasted(language, child.running_ms), TextRole::Dim),
    ];
    cells.extend(std::iter::repeat_n(cell("", TextRole::Dim), 6));
    cells.push(cell(words::joined(&child.command), TextRole::Tool));
    Row {
        key: Key::Child {
            session: child.session,
            os_pid: child.os_pid,
        },
        mark: (" ", TextRole::Dim),
        cells,
    }
}

/// Session, tool, request, age.
fn asked(asked: &Interaction, dialog: &ListDialog, model: &Model) -> Row {
    let language = model.look.language;
    let form = Form::of(asked);
    let kind = || language.say(kinds::names(form.kind).0).to_owned();
    let tool = form.tool.map_or_else(kind, words::exact);
    let mut wants = words::exact(form.listed());
    if let Some(fields) = form.fields().filter(|fields| fields.questions.len() > 1) {
        let more = (fields.questions.len() - 1).to_string();
        wants = format!("{wants} {}", language.fill(Msg::AndMore, &[&more]));
    }
    let key = Key::Interaction(asked.interaction_id.clone(), asked.session);
    Row {
        key,
        mark: ("?", TextRole::Question),
        cells: vec![
            cell(asked.session.to_string(), TextRole::Dim),
            cell(tool, TextRole::Tool),
            cell(wants, TextRole::Text),
            cell(
                words::aged(language, dialog.at, asked.opened_at),
                TextRole::Dim,
            ),
        ],
    }
}
