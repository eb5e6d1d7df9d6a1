//! Keys of the list, and its requests to the daemon.

mod accept;
mod filter;
mod loaded;
pub mod models;
mod queue;
mod skills;
mod turns;

use std::time::{Duration, Instant};

use crossterm::event::{KeyEvent, KeyEventKind};
use proto::SessionId;
use proto::params::config::ProviderListParams;
use proto::params::history::{SearchParams, SearchScope};
use proto::params::process;
use proto::params::session::{ListParams, SessionSummary};
use proto::params::skill;
use proto::state::State;

use crate::effect::{Call, Effect};
use crate::keymap::{self, Action, Context};
use crate::messages::app::Msg;
use crate::model::list::rows::{Row, rows};
use crate::model::list::{Choice, Content, Key, ListDialog, ListOf};
use crate::model::{Dialog, Link, Model, Tone};

pub use accept::visit;
pub use loaded::take;
pub use queue::put_before;

/// How long an answer may take until it is asked again.
const LOST: Duration = Duration::from_secs(5);

/// How long a row is marked until it is read what its session said: who runs through a list reads none.
const REST: Duration = Duration::from_millis(150);

/// How long a row that came under the mark by itself is not taken: it must be seen first.
const SLID: Duration = Duration::from_millis(600);

/// Sessions that are listed.
const SESSIONS_MAX: u64 = 200;

/// Messages of a search that are listed.
const HITS_MAX: u64 = 100;

/// Takes a key; `None`: it means nothing here.
pub fn key(model: &mut Model, key: &KeyEvent) -> Option<Vec<Effect>> {
    let dialog = dialog(model)?;
    if dialog.filter.open {
        return filter::key(model, key);
    }
    let own = match dialog.what {
        ListOf::Processes | ListOf::Agents => keymap::find(Context::Processes, key),
        ListOf::Queue => keymap::find(Context::Queue, key),
        ListOf::Sessions { .. }
        | ListOf::Turns
        | ListOf::Inbox
        | ListOf::Models
        | ListOf::Skills
        | ListOf::Search => None,
    };
    let action = own.or_else(|| keymap::find(Context::List, key))?;
    let held = held(model, key);
    if let Some(effects) = moves(model, action) {
        return Some(effects);
    }
    let ends = matches!(action, Action::Kill | Action::Drop);
    if acts(action) && slid(model) || ends && held {
        return Some(Vec::new());
    }
    if changes(model, action) && !model.may_drive() {
        return Some(Vec::new());
    }
    Some(match action {
        Action::Filter => {
            filter::open(model);
            Vec::new()
        }
        Action::Close => close(model),
        Action::Accept => accept::take(model),
        Action::Pause => accept::pause(model),
        Action::Kill => accept::kill(model),
        Action::Approve => accept::approve(model),
        Action::Edit => queue::edit(model),
        Action::Drop => queue::drop(model),
        Action::MoveUp => queue::shift(model, -1),
        Action::MoveDown => queue::shift(model, 1),
        Action::SteerNow => queue::steer(model),
        _ => Vec::new(),
    })
}

/// Whether a key changes something in a session. The daemon would refuse it to who only looks; here nothing is begun.
fn changes(model: &Model, action: Action) -> bool {
    use Action::{Drop, Edit, Kill, MoveDown, MoveUp, Pause, SteerNow};
    match action {
        Pause | Kill | Edit | Drop | MoveUp | MoveDown | SteerNow => true,
        Action::Accept => match current(model) {
            Some(Key::Choice(choice)) => choice != Choice::Cancel,
            Some(Key::Prompt(_)) => true,
            _ => false,
        },
        _ => false,
    }
}

/// Whether a key does something with the marked row.
fn acts(action: Action) -> bool {
    !matches!(action, Action::Filter | Action::Close)
}

/// Whether another row than the one that was marked has come under the mark, so lately that a key was pressed for that.
fn slid(model: &Model) -> bool {
    let slid = dialog(model).and_then(|dialog| dialog.slid.as_ref());
    slid.is_some_and(|(_, since)| model.now.saturating_duration_since(*since) < SLID)
}

/// Whether a key is held down: it repeats quickly. Destructive actions ignore repeats.
fn held(model: &mut Model, key: &KeyEvent) -> bool {
    let now = model.now;
    let Some(dialog) = dialog_mut(model) else {
        return false;
    };
    let before = dialog.pressed.replace((key.code, now));
    let soon = |at| now.saturating_duration_since(at) < SLID;
    key.kind == KeyEventKind::Repeat
        || before.is_some_and(|(code, at)| code == key.code && soon(at))
}

/// Inserts a paste into the filter. If no filter is being edited, drops it.
pub fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    if dialog(model).is_some_and(|dialog| dialog.filter.open) {
        filter::write(model, text);
    }
    Vec::new()
}

/// Opens a list, and requests its contents.
pub fn open(model: &mut Model, what: ListOf) -> Vec<Effect> {
    if matches!(what, ListOf::Turns | ListOf::Queue) && model.session.is_none() {
        let words = model.look.language.say(Msg::NoSession);
        model.toast(Tone::Info, words);
        return Vec::new();
    }
    super::interaction::keep(model);
    model.dialog = Some(Dialog::List(ListDialog::new(what, model.now)));
    if what == ListOf::Queue {
        loaded::settle(model);
    }
    ask(model)
}

/// Searches the messages of all sessions for these words.
pub fn search(model: &mut Model, words: &str) -> Vec<Effect> {
    super::interaction::keep(model);
    let mut dialog = ListDialog::new(ListOf::Search, model.now);
    words.clone_into(&mut dialog.query);
    model.dialog = Some(Dialog::List(dialog));
    ask(model)
}

/// When something of the list is due by itself: ages grow, it is asked for again, or a preview is read.
#[must_use]
pub fn wakes(model: &Model) -> Option<Instant> {
    let dialog = dialog(model)?;
    let ages = dialog.ages_after().map(|after| dialog.aged + after);
    let asked = dialog.period().map(|_| dialog.due);
    let preview = unread(dialog).map(|_| dialog.rested + REST);
    [ages, asked, preview].into_iter().flatten().min()
}

/// On a tick: lets ages grow, refreshes a live list, and loads the marked session's last messages.
pub fn tick(model: &mut Model) -> Vec<Effect> {
    let (now, clock) = (model.now, model.clock);
    let Some(dialog) = dialog_mut(model) else {
        return Vec::new();
    };
    let ages = dialog.ages_after();
    if ages.is_some_and(|after| now >= dialog.aged + after) {
        dialog.age(clock, now);
    }
    let due = dialog.period().is_some() && now >= dialog.due;
    let mut effects = preview(model);
    if due {
        effects.extend(ask(model));
    }
    effects
}

/// The overview of all sessions has come: a list of them shows it. Sub-agents that have ended are asked for.
pub fn overview(model: &mut Model) -> Vec<Effect> {
    let here = model.session.as_ref().map(|session| session.pid);
    let overview = &model.overview;
    let content = match dialog(model).map(|dialog| (dialog.what, &dialog.content)) {
        Some((ListOf::Processes, _)) => Content::Processes(process::ListOutput {
            processes: overview.sessions.clone(),
            unchanged: Vec::new(),
            children: overview.children.clone(),
            change: overview.change,
        }),
        // The stored ones are not in it: they are asked for, at most as often as it comes.
        Some((ListOf::Sessions { .. }, _)) => return ask(model),
        Some((ListOf::Inbox, _)) => Content::Inbox(overview.open.clone()),
        Some((ListOf::Agents, Content::Agents(known))) => {
            let working = here.map_or_else(Vec::new, |here| overview.agents(here));
            let working: Vec<_> = working.into_iter().map(|(_, agent)| agent).collect();
            let (agents, has_ended) = merged(known, &working);
            loaded::content(model, Ok(Content::Agents(agents)));
            return if has_ended { ask(model) } else { Vec::new() };
        }
        _ => return Vec::new(),
    };
    loaded::content(model, Ok(content));
    Vec::new()
}

/// The known sub-agents as they are now, and the new ones. Also whether one that worked does so no longer.
fn merged(known: &[SessionSummary], working: &[&SessionSummary]) -> (Vec<SessionSummary>, bool) {
    let now = |pid| working.iter().find(|agent| agent.pid == pid);
    let mut has_ended = false;
    let mut agents: Vec<SessionSummary> = Vec::new();
    for agent in known {
        let fresh = now(agent.pid);
        has_ended |= fresh.is_none() && agent.state != State::Exited;
        agents.push(fresh.map_or_else(|| agent.clone(), |fresh| (*fresh).clone()));
    }
    let is_new = |agent: &&&SessionSummary| known.iter().all(|known| known.pid != agent.pid);
    agents.extend(working.iter().filter(is_new).map(|agent| (*agent).clone()));
    agents.sort_by_key(|agent| agent.pid);
    (agents, has_ended)
}

/// Requests the list's contents.
fn ask(model: &mut Model) -> Vec<Effect> {
    let due = model.now + LOST;
    let Some(dialog) = dialog_mut(model) else {
        return Vec::new();
    };
    dialog.due = due;
    let call = match dialog.what {
        ListOf::Sessions { here } => Call::Sessions(ListParams {
            limit: SESSIONS_MAX,
            cwd: here.then(|| model.place.cwd.display().to_string()),
            ..ListParams::default()
        }),
        ListOf::Processes => Call::Processes(process::ListParams::default()),
        ListOf::Agents => match &model.session {
            Some(session) => Call::Processes(process::ListParams {
                all: true,
                below: Some(session.pid),
                ..process::ListParams::default()
            }),
            None => return Vec::new(),
        },
        ListOf::Inbox => Call::Waiting,
        ListOf::Models => Call::Models(ProviderListParams {
            cwd: Some(super::commands::here(model)),
        }),
        ListOf::Skills => {
            let session = model.session.as_ref().map(|session| session.id.to_string());
            let cwd = session.is_none().then(|| super::commands::here(model));
            Call::Skills(skill::ListParams { cwd, session })
        }
        ListOf::Search => Call::Search(SearchParams {
            query: dialog.query.clone(),
            scope: SearchScope::Global,
            session: None,
            cwd: None,
            role: None,
            since: None,
            limit: HITS_MAX,
        }),
        ListOf::Turns => match &model.session {
            Some(session) => Call::Checkpoints {
                session: session.id.to_string(),
                undo: false,
            },
            None => return Vec::new(),
        },
        ListOf::Queue => return Vec::new(),
    };
    vec![Effect::Call(call)]
}

/// Reads once what the marked session said last, when the mark has rested on it.
fn preview(model: &mut Model) -> Vec<Effect> {
    let now = model.now;
    let Some(dialog) = dialog(model) else {
        return Vec::new();
    };
    let rested = now.saturating_duration_since(dialog.rested) >= REST;
    let Some(id) = unread(dialog).filter(|_| rested) else {
        return Vec::new();
    };
    if let Some(dialog) = dialog_mut(model) {
        dialog.previews.insert(id, None);
    }
    let session = id.to_string();
    vec![Effect::Call(Call::Preview { session })]
}

/// The marked session, if its last messages were not read yet.
fn unread(dialog: &ListDialog) -> Option<SessionId> {
    let marked = match &dialog.slid {
        None => dialog.selected.as_ref(),
        Some((key, _)) => Some(key),
    };
    let wanted = matches!(dialog.what, ListOf::Sessions { .. });
    match marked {
        Some(Key::Session(id)) if wanted && !dialog.previews.contains_key(id) => Some(*id),
        _ => None,
    }
}

/// Esc: the filter goes first, then the second step, then the list.
fn close(model: &mut Model) -> Vec<Effect> {
    let Some(dialog) = dialog(model) else {
        return Vec::new();
    };
    if dialog.restore.is_some() {
        turns::back(model);
    } else if !dialog.filter.input.text().is_empty() {
        filter::clear(model);
    } else {
        model.dialog = None;
        if model.top && model.link == Link::None {
            return vec![super::everywhere::leave(model, 0)];
        }
    }
    Vec::new()
}

/// Moves the mark; `None`: the action is another one.
fn moves(model: &mut Model, action: Action) -> Option<Vec<Effect>> {
    let dialog = dialog(model)?;
    let rows = rows(dialog, model);
    let last = rows.len().saturating_sub(1);
    let place = dialog.position(&rows);
    let page = match dialog.covers() {
        true => usize::from(model.look.rows / 2),
        false => 8,
    };
    let place = match action {
        Action::Previous => place.saturating_sub(1),
        Action::Next => place + 1,
        Action::First => 0,
        Action::Last => last,
        Action::PageUp => place.saturating_sub(page),
        Action::PageDown => place + page,
        _ => return None,
    };
    select(model, &rows, place.min(last));
    Some(Vec::new())
}

/// Marks the row at that place.
fn select(model: &mut Model, rows: &[Row], place: usize) {
    let now = model.now;
    let Some(dialog) = dialog_mut(model) else {
        return;
    };
    let key = rows.get(place).map(|row| row.key.clone());
    if key != dialog.selected {
        dialog.rested = now;
    }
    dialog.selected = key;
    dialog.place = place;
    dialog.slid = None;
}

/// The key of the marked row.
fn current(model: &Model) -> Option<Key> {
    let dialog = dialog(model)?;
    let rows = rows(dialog, model);
    dialog.current(&rows).cloned()
}

fn dialog(model: &Model) -> Option<&ListDialog> {
    match &model.dialog {
        Some(Dialog::List(dialog)) => Some(dialog),
        _ => None,
    }
}

fn dialog_mut(model: &mut Model) -> Option<&mut ListDialog> {
    match &mut model.dialog {
        Some(Dialog::List(dialog)) => Some(dialog),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
