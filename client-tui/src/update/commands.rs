//! Slash commands, done.

mod look;
mod options;
mod undo;

use client::amounts;
use client::goal_command::{self, GoalCommand};
use client::prompt::Prompt;
use client::transcript::words;
use proto::ItemId;
use proto::hello::Role;
use proto::item::Display;
use proto::params::compact::{CompactParams, PinParams};
use proto::params::config::TrustGetParams;
use proto::params::goal::{ChangeParams, StartParams, StopParams};
use proto::params::history::{DeleteParams, ForkParams, StatsParams};
use proto::params::reload::ReloadParams;
use proto::params::session::{
    InspectParams, InspectPart, ResumeParams, Signal, SignalParams, When,
};
use proto::record::FileState;
use proto::state::{ApprovalMode, Mode};
use proto::{RequestId, SessionId};

use super::submit::FirstInput;
use super::{
    copy, custom, daemon, everywhere, hooks, list, mcp, memory, pager, permissions, submit,
};
use crate::effect::{Call, Effect};
use crate::keymap::Action;
use crate::messages::Language;
use crate::messages::app::Msg;
use crate::messages::dialog::Msg as Title;
use crate::model::confirm::ConfirmedAction;
use crate::model::list::ListOf;
use crate::model::pager::PagerContent;
use crate::model::transcript::EntryKind;
use crate::model::{Link, Model, Tone};
use crate::slash::{Command, Row};
use crate::theme::Theme;

pub(super) use options::set;
pub use undo::{undo, undone};

/// Why a command cannot be done now, in words; `None`: it can.
#[must_use]
pub fn refused(model: &Model, row: &'static Row, arguments: &str) -> Option<String> {
    let language = model.look.language;
    if row.role > model.role() {
        return Some(language.say(Msg::Watching).to_owned());
    }
    if row.session && model.session.is_none() {
        let words = match model.link {
            Link::None => Msg::NoSession,
            _ => Msg::Loading,
        };
        return Some(language.say(words).to_owned());
    }
    let needed = !row.arguments.is_empty() && !row.arguments.starts_with('[');
    let wrong = match row.command {
        Command::ApprovalMode => !arguments.is_empty() && ApprovalMode::named(arguments).is_none(),
        Command::Safe => !matches!(arguments, "" | "off"),
        Command::ExtractReasoning => !matches!(arguments, "on" | "off"),
        Command::Samples => !matches!(arguments.parse(), Ok(1..=8_u32)),
        Command::Theme => {
            !matches!(arguments, "" | Theme::AUTO) && Theme::named(arguments).is_none()
        }
        Command::Language => !arguments.is_empty() && Language::named(arguments).is_none(),
        Command::Permissions => permissions::is_wrong(arguments),
        Command::Copy => copy::is_wrong(arguments),
        Command::Hooks => !matches!(arguments, "" | "reload"),
        Command::Mcp => mcp::is_wrong(arguments),
        Command::Memory => memory::is_wrong(arguments),
        _ => arguments.is_empty() && needed,
    };
    if row.arguments.is_empty() && !arguments.is_empty() {
        // They would be lost.
        return Some(language.fill(Msg::Alone, &[row.name]));
    }
    if wrong {
        let words = language.fill(
            Msg::Needs,
            &[row.name, row.arguments, language.say(row.about)],
        );
        return Some(words);
    }
    match row.command {
        Command::Copy => copy::refused(model, arguments),
        Command::Goal => {
            let error = goal_command::parse(arguments).err()?;
            Some(words::goal_error(language, &error))
        }
        _ => None,
    }
}

/// Does what a command says. `prompt`: its arguments.
pub fn run(model: &mut Model, row: &'static Row, prompt: &Prompt) -> Vec<Effect> {
    let arguments = prompt.text.as_str();
    // A session exists if the command needs one.
    let session = model
        .session
        .as_ref()
        .map_or(String::new(), |session| session.id.to_string());
    match row.command {
        Command::Help => pager::open(model, PagerContent::Help),
        Command::New => new(model),
        Command::Resume if !arguments.is_empty() => called(Call::Find(arguments.to_owned())),
        Command::Resume => list::open(model, ListOf::Sessions { here: true }),
        Command::Sessions => list::open(model, ListOf::Sessions { here: false }),
        Command::Top => list::open(model, ListOf::Processes),
        Command::Agents => list::open(model, ListOf::Agents),
        Command::Inbox => list::open(model, ListOf::Inbox),
        Command::Queue => list::open(model, ListOf::Queue),
        Command::Rewind => list::open(model, ListOf::Turns),
        Command::View => pager::open(model, PagerContent::Transcript),
        Command::Todos => everywhere::act(model, Action::Todos),
        Command::Steer => submit::prompt(model, prompt.clone(), When::Steer),
        Command::Clear => undo::clear(model, session),
        Command::Forget => forget(model, session),
        Command::Undo => undo::asked(session),
        Command::Redo => undo::redo(session),
        Command::Fork => fork(session, arguments),
        Command::Pause => signal(session, Signal::Pause),
        Command::Continue => resume(model, session, arguments),
        Command::Rename => options::rename(session, arguments),
        Command::Compact => compact(session, arguments),
        Command::Goal => goal(model, session, arguments),
        Command::Reload => reload(session),
        Command::Pin => pin(model, session, arguments),
        Command::Model if arguments.is_empty() => list::open(model, ListOf::Models),
        Command::Model => list::models::choose(model, arguments),
        Command::Effort => options::effort(model, arguments),
        Command::Budget => options::budget(model, session, arguments),
        Command::Preset => options::preset(model, arguments),
        Command::ExtractReasoning => options::extract_reasoning(model, arguments),
        Command::Samples => options::samples(model, arguments),
        Command::ApprovalMode => match ApprovalMode::named(arguments) {
            Some(approval_mode) => everywhere::set_approval_mode(model, approval_mode),
            None => everywhere::show_approval_mode(model),
        },
        Command::Permissions => permissions::ask(session, here(model), arguments),
        Command::Plan => everywhere::set_mode(model, Mode::Plan),
        Command::Normal => everywhere::set_mode(model, Mode::Normal),
        Command::Safe => everywhere::only_reads(model, arguments.is_empty()),
        Command::Trust => trust(model),
        Command::Copy => copy::run(model, arguments),
        Command::Diff => diff(model),
        Command::Context => inspect(session, InspectPart::Context),
        Command::Cost => stats(Some(session)),
        Command::Stats => stats(None),
        Command::Skills => list::open(model, ListOf::Skills),
        Command::Search => list::search(model, arguments),
        Command::Commands => custom::asked(model),
        Command::Memory => memory::asked(model, arguments),
        Command::Hooks => hooks::asked(model, arguments),
        Command::Mcp => servers(model, arguments),
        Command::Export => export(model, session, arguments),
        Command::Theme => look::theme(model, arguments),
        Command::Language => look::language(model, arguments),
        Command::Vim => look::vim(model),
        Command::Editor => vec![Effect::Edit(model.composer.text())],
        Command::Detach => vec![everywhere::leave(model, 0)],
        Command::Quit => quit(model),
    }
}

/// The directory of the session, or the one that we were started in.
pub(super) fn here(model: &Model) -> String {
    let session = model.session.as_ref().map(|session| session.cwd.clone());
    let session = session.filter(|cwd| !cwd.is_empty());
    session.unwrap_or_else(|| model.place.cwd.to_string_lossy().into_owned())
}

pub(super) fn called(call: Call) -> Vec<Effect> {
    vec![Effect::Call(call)]
}

fn new(model: &mut Model) -> Vec<Effect> {
    let effects = daemon::fresh(model);
    model.toast(Tone::Info, model.look.language.say(Msg::NewSession));
    effects
}

fn reload(session: String) -> Vec<Effect> {
    called(Call::Reload(ReloadParams {
        session,
        confirm: false,
        request_id: Some(RequestId::new()),
    }))
}

fn trust(model: &Model) -> Vec<Effect> {
    called(Call::Trust {
        params: TrustGetParams { cwd: here(model) },
        unasked: false,
    })
}

/// Asks for a part of what is known about the session.
pub(super) fn inspect(session: String, part: InspectPart) -> Vec<Effect> {
    called(Call::Inspect(InspectParams { session, part }))
}

fn servers(model: &mut Model, arguments: &str) -> Vec<Effect> {
    let pid = model.session.as_ref().map(|session| session.pid);
    mcp::asked(here(model), pid, arguments)
}

fn fork(session: String, name: &str) -> Vec<Effect> {
    called(Call::Fork(ForkParams {
        kind: None,
        ephemeral: false,
        session,
        fork: SessionId::new(),
        at_turn: None,
        name: Some(name.to_owned()).filter(|name| !name.is_empty()),
    }))
}

/// `preview`, `undo`, or words of what the summary is to keep.
fn compact(session: String, arguments: &str) -> Vec<Effect> {
    let (preview, undo) = (arguments == "preview", arguments == "undo");
    let words = (!preview && !undo && !arguments.is_empty()).then(|| arguments.to_owned());
    called(Call::Compact(CompactParams {
        session,
        instructions: words,
        preview,
        undo,
        request_id: (!preview).then(RequestId::new),
        ..CompactParams::default()
    }))
}

/// `clear`, new limits, the text of a goal, or nothing: to show it.
fn goal(model: &mut Model, session: String, arguments: &str) -> Vec<Effect> {
    let language = model.look.language;
    let request_id = Some(RequestId::new());
    let Ok(command) = goal_command::parse(arguments) else {
        // It was refused before.
        return Vec::new();
    };
    let loading = model.session.is_none() && model.link != Link::None;
    match command {
        GoalCommand::Show => super::goal::asked(model),
        GoalCommand::Clear | GoalCommand::Change { .. } if model.session.is_none() => {
            model.toast(Tone::Info, language.say(Msg::NoGoal));
            Vec::new()
        }
        GoalCommand::Clear => called(Call::StopGoal(StopParams {
            session,
            request_id,
        })),
        GoalCommand::Change { max_turns, budget } => called(Call::ChangeGoal(ChangeParams {
            session,
            max_turns,
            budget,
            request_id,
        })),
        GoalCommand::Start { .. } if loading => {
            model.toast(Tone::Info, language.say(Msg::Loading));
            Vec::new()
        }
        GoalCommand::Start { .. } if model.session.is_none() => {
            submit::create(model, FirstInput::Goal(arguments.to_owned()))
        }
        GoalCommand::Start { text, research } => {
            let start = start_goal(session, text, research);
            let goal = model.session.as_ref().and_then(|open| open.goal.as_ref());
            match goal.map(|goal| client::text::line(&goal.text)) {
                Some(goal) => replace_goal(model, &goal, start),
                None => called(start),
            }
        }
    }
}

/// Asks before a goal takes the place of the one in progress.
fn replace_goal(model: &mut Model, goal: &str, start: Call) -> Vec<Effect> {
    let language = model.look.language;
    let words = vec![
        language.fill(Msg::ReplaceGoalWhat, &[goal]),
        language.say(Msg::ReplaceGoalSure).to_owned(),
    ];
    sure(model, words, ConfirmedAction::Do(vec![Effect::Call(start)]))
}

/// Starts a goal in a session.
pub(super) fn start_goal(session: String, text: String, research: Option<bool>) -> Call {
    Call::StartGoal(StartParams {
        session,
        text,
        max_turns: None,
        check: Vec::new(),
        research,
        request_id: Some(RequestId::new()),
    })
}

/// A turn by its number; without one, the newest.
fn pin(model: &Model, session: String, arguments: &str) -> Vec<Effect> {
    let newest = model.session.as_ref().map_or(0, |session| session.turns);
    let item = match (arguments, arguments.parse::<u64>()) {
        ("", _) => ItemId(format!("m{newest}")),
        (_, Ok(turn)) => ItemId(format!("m{turn}")),
        (item, Err(_)) => ItemId(item.to_owned()),
    };
    called(Call::Pin(PinParams {
        session,
        item,
        unpin: false,
        request_id: Some(RequestId::new()),
    }))
}

fn signal(session: String, signal: Signal) -> Vec<Effect> {
    called(Call::Signal(SignalParams {
        session,
        signal,
        tree: false,
        request_id: Some(RequestId::new()),
    }))
}

/// Ends a pause; with an amount, as `steps 20`, continues the work that a limit has stopped.
fn resume(model: &mut Model, session: String, arguments: &str) -> Vec<Effect> {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let added = match words[..] {
        [] => return signal(session, Signal::Resume),
        ["steps", amount] => amounts::count(amount).map(|steps| (Some(steps), None)),
        ["minutes", amount] => amounts::minutes(amount).map(|ms| (None, Some(ms))),
        _ => Err(String::new()),
    };
    let Ok((add_steps, add_ms)) = added else {
        model.toast(Tone::Warning, model.look.language.say(Msg::ContinueHow));
        return Vec::new();
    };
    called(Call::ResumeWork(ResumeParams {
        session,
        add_steps,
        add_ms,
        request_id: Some(RequestId::new()),
    }))
}

/// Asks before something is done that cannot be taken back easily.
fn sure(model: &mut Model, words: Vec<String>, then: ConfirmedAction) -> Vec<Effect> {
    model.confirm(Title::TitleConfirm, words, then);
    Vec::new()
}

fn forget(model: &mut Model, session: String) -> Vec<Effect> {
    let language = model.look.language;
    let pid = model
        .session
        .as_ref()
        .map(|session| session.pid.to_string());
    let words = vec![
        language.fill(Msg::ForgetWhat, &[&pid.unwrap_or_default()]),
        language.say(Msg::ForgetSure).to_owned(),
    ];
    let yes = Call::Delete(DeleteParams {
        session,
        confirm: true,
    });
    sure(model, words, ConfirmedAction::Do(vec![Effect::Call(yes)]))
}

fn quit(model: &mut Model) -> Vec<Effect> {
    let busy = model.session.as_ref().filter(|session| session.busy());
    let Some(session) = busy.filter(|_| model.role() == Role::Drive) else {
        return vec![everywhere::leave(model, 0)];
    };
    let stop = ConfirmedAction::Stop(session.id.to_string());
    let language = model.look.language;
    let words = vec![
        language.say(Msg::QuitWhat).to_owned(),
        language.say(Msg::QuitSure).to_owned(),
    ];
    sure(model, words, stop)
}

/// Changes made by this session's tools, as they reported them, oldest first.
fn diff(model: &mut Model) -> Vec<Effect> {
    let language = model.look.language;
    let mut diffs = Vec::new();
    for entry in &model.transcript.entries {
        let EntryKind::Tool(tool) = &entry.kind else {
            continue;
        };
        let Some(done) = &tool.outcome else { continue };
        if let Display::Diff { path, diff, .. } = &done.display {
            diffs.push((path.clone(), diff.clone()));
        }
        for change in &done.changed {
            let words = match &change.now {
                FileState::Unknown { why } => why.clone(),
                FileState::Absent => language.fill(Msg::RemovedByCommand, &[&tool.subject]),
                FileState::File { .. } | FileState::Link { .. } | FileState::Directory => {
                    language.fill(Msg::ChangedByCommand, &[&tool.subject])
                }
            };
            diffs.push((change.path.clone(), words));
        }
    }
    if diffs.is_empty() {
        model.toast(Tone::Info, language.say(Msg::NoDiff));
        return Vec::new();
    }
    let title = language.say(Msg::DiffTitle).to_owned();
    pager::open(model, PagerContent::Diff { title, diffs })
}

fn stats(session: Option<String>) -> Vec<Effect> {
    called(Call::Stats(StatsParams {
        session,
        ..StatsParams::default()
    }))
}

fn export(model: &Model, session: String, arguments: &str) -> Vec<Effect> {
    let file = match arguments.strip_prefix("~/").zip(model.place.home.as_ref()) {
        Some((rest, home)) => home.join(rest),
        None => model.place.cwd.join(arguments),
    };
    let format = client::session::export_format(&file);
    called(Call::Export {
        session,
        file,
        format,
    })
}
