//! Actions that do not belong to one part of the screen.

use std::time::Duration;

use proto::SessionOptions;
use proto::hello::Role;
use proto::state::{ApprovalMode, Mode};

use super::{commands, daemon, interaction, list, pager};
use crate::effect::{Call, Effect, ExitReport};
use crate::keymap::Action;
use crate::messages::app::Msg;
use crate::messages::dialog::Msg as Title;
use crate::model::confirm::ConfirmedAction;
use crate::model::list::ListOf;
use crate::model::pager::PagerContent;
use crate::model::session::Session;
use crate::model::{DoublePressKey, Link, Model, Tone};
use crate::view::status;

/// A key pressed again within this time means more.
pub const TWICE: Duration = Duration::from_secs(2);

/// The exit code of who left by Ctrl-C.
const INTERRUPTED: u8 = 130;

/// Does it.
pub fn act(model: &mut Model, action: Action) -> Vec<Effect> {
    match action {
        Action::Interrupt => interrupt(model),
        Action::Back => back(model),
        Action::Leave => vec![leave(model, 0)],
        Action::Suspend => vec![Effect::Suspend],
        Action::Redraw => vec![Effect::Redraw],
        Action::Help => pager::open(model, PagerContent::Help),
        Action::Sessions => list::open(model, ListOf::Sessions { here: false }),
        Action::Attention => match interaction::reopen(model) {
            true => Vec::new(),
            false => list::open(model, ListOf::Inbox),
        },
        Action::ApprovalMode => {
            let next = match model.approval_mode() {
                ApprovalMode::Ask => ApprovalMode::Auto,
                // Not by a key that may be pressed by chance: `/approval-mode yolo`.
                ApprovalMode::Auto | ApprovalMode::Yolo => ApprovalMode::Ask,
            };
            set_approval_mode(model, next)
        }
        Action::Mode => {
            let next = match model.mode() {
                Mode::Normal => Mode::Plan,
                Mode::Plan => Mode::Normal,
            };
            set_mode(model, next)
        }
        Action::Todos => {
            let none = |session: &Session| session.shown_todos().is_empty();
            if model.session.as_ref().is_none_or(none) {
                let words = model.look.language.say(Msg::NoTodos);
                model.toast(Tone::Info, words);
                return Vec::new();
            }
            model.look.todos = !model.look.todos;
            Vec::new()
        }
        Action::Output => {
            model.look.output = !model.look.output;
            report_switch(model, model.look.output, Msg::OutputOpen, Msg::OutputFolded)
        }
        Action::Reasoning => {
            model.look.reasoning = !model.look.reasoning;
            report_switch(
                model,
                model.look.reasoning,
                Msg::ReasoningOpen,
                Msg::ReasoningFolded,
            )
        }
        Action::Parent => parent(model),
        Action::ScrollUp => {
            model.scroll = model.scroll.saturating_add(page(model));
            Vec::new()
        }
        Action::ScrollDown => {
            model.scroll = model.scroll.saturating_sub(page(model));
            Vec::new()
        }
        Action::Editor => vec![Effect::Edit(model.composer.text())],
        // The others belong to one part of the screen, which has taken them.
        _ => Vec::new(),
    }
}

/// Goes to the session that started this one.
fn parent(model: &mut Model) -> Vec<Effect> {
    let parent = model.session.as_ref().and_then(|session| session.parent);
    match parent {
        Some(parent) => daemon::go_to(model, &parent.to_string()),
        None => {
            model.toast(Tone::Info, model.look.language.say(Msg::NoParent));
            Vec::new()
        }
    }
}

/// Rows that a page is.
fn page(model: &Model) -> usize {
    usize::from(model.look.rows / 2).max(1)
}

/// Reports the switch's new state, and prints the visible transcript again.
fn report_switch(model: &mut Model, on: bool, yes: Msg, no: Msg) -> Vec<Effect> {
    let words = model.look.language.say(if on { yes } else { no });
    model.toast(Tone::Info, words);
    vec![Effect::Reprint]
}

/// Ctrl-C: stops running work, else clears the composer; twice leaves at once.
pub fn interrupt(model: &mut Model) -> Vec<Effect> {
    if again(model, DoublePressKey::Interrupt) {
        return vec![leave(model, INTERRUPTED)];
    }
    let language = model.look.language;
    if let Some(call) = stop(model) {
        let turn = model.session.as_ref().is_some_and(Session::busy);
        let words = match turn {
            true => Msg::Interrupting,
            false => Msg::StoppingCommand,
        };
        model.toast(Tone::Info, language.say(words));
        return vec![call];
    }
    if model.dialog.is_none() && !model.composer.is_empty() {
        model.composer.clear();
    }
    let words = match model.session {
        Some(_) => Msg::AgainLeaves,
        None => Msg::AgainQuits,
    };
    model.toast(Tone::Info, language.say(words));
    Vec::new()
}

/// Esc: stops running work; twice on an empty line opens the list of turns to rewind to.
fn back(model: &mut Model) -> Vec<Effect> {
    if let Some(call) = stop(model) {
        return vec![call];
    }
    if model.session.is_none() || !model.composer.is_empty() {
        return Vec::new();
    }
    if again(model, DoublePressKey::Back) {
        model.pressed = None;
        model.toast = None;
        return list::open(model, ListOf::Turns);
    }
    let words = model.look.language.say(Msg::AgainRewinds);
    model.toast(Tone::Info, words);
    Vec::new()
}

/// Whether the same key was pressed a moment ago; it is remembered.
fn again(model: &mut Model, key: DoublePressKey) -> bool {
    let before = model.pressed.replace((key, model.now));
    before.is_some_and(|(pressed, at)| {
        pressed == key && model.now.saturating_duration_since(at) < TWICE
    })
}

/// The effect that stops the turn or the user's command; `None`: nothing runs, or this client may not stop it.
fn stop(model: &mut Model) -> Option<Effect> {
    let drives = model.role() == Role::Drive;
    let session = model.session.as_mut()?;
    let runs = session.busy() || session.user_command().is_some();
    if !runs || !drives {
        return None;
    }
    session.interrupted = session.busy();
    let queue = session.queue.waiting().to_vec();
    // They come back into the composer.
    for queued in &queue {
        model.transcript.expect_queue_change(queued.prompt_id);
    }
    Some(Effect::Call(Call::Interrupt {
        session: session.id.to_string(),
        queue,
    }))
}

/// Leaves; the session stays. What was written and not sent is printed, so that it is not lost.
pub fn leave(model: &Model, code: u8) -> Effect {
    let mut words = status::summary(model);
    for text in model.composer.unsent() {
        words.push(model.look.language.say(Msg::Unsent).to_owned());
        words.extend(text.lines().map(client::text::line));
    }
    Effect::Leave(ExitReport { code, words })
}

/// Sets it; before `yolo` it is asked whether that is meant.
pub fn set_approval_mode(model: &mut Model, approval_mode: ApprovalMode) -> Vec<Effect> {
    let language = model.look.language;
    if !model.may_drive() {
        return Vec::new();
    }
    if approval_mode != ApprovalMode::Yolo {
        return approval_mode_is(model, approval_mode);
    }
    let words = vec![
        language.say(Msg::ApprovalModeYolo).to_owned(),
        language.say(Msg::ApprovalModeSure).to_owned(),
    ];
    model.confirm(
        Title::TitleConfirm,
        words,
        ConfirmedAction::ApprovalMode(approval_mode),
    );
    Vec::new()
}

/// Says which one is set. The command without a mode changes nothing.
pub fn show_approval_mode(model: &mut Model) -> Vec<Effect> {
    let mode = model.approval_mode();
    let words = (model.look.language).fill(Msg::ApprovalModeNow, &[mode.as_str()]);
    model.toast(Tone::Info, words);
    Vec::new()
}

/// Sets it, of the session or of the one that the first prompt will make.
pub fn approval_mode_is(model: &mut Model, approval_mode: ApprovalMode) -> Vec<Effect> {
    let language = model.look.language;
    let Some(session) = &model.session else {
        let words = language.fill(Msg::ApprovalMode, &[approval_mode.as_str()]);
        let options = SessionOptions {
            approval_mode: Some(approval_mode),
            ..SessionOptions::default()
        };
        return set_for_next(model, &options, Tone::Info, &words);
    };
    let options = SessionOptions {
        approval_mode: Some(approval_mode),
        ..SessionOptions::default()
    };
    commands::set(session.id.to_string(), options)
}

/// Sets the mode, of the session or of the one that the first prompt will make.
pub fn set_mode(model: &mut Model, mode: Mode) -> Vec<Effect> {
    let words = match mode {
        Mode::Plan => Msg::PlanMode,
        Mode::Normal => Msg::NormalMode,
    };
    let options = SessionOptions {
        mode: Some(mode),
        ..SessionOptions::default()
    };
    held(model, options, words)
}

/// Has the session, or the one that the first prompt will make, change nothing; or lifts that.
pub fn only_reads(model: &mut Model, only: bool) -> Vec<Effect> {
    let words = match only {
        true => Msg::OnlyReads,
        false => Msg::NotOnlyReads,
    };
    let options = SessionOptions {
        read_only: Some(only),
        ..SessionOptions::default()
    };
    held(model, options, words)
}

/// Changes options of the session that the first prompt will make, and says so.
pub(super) fn set_for_next(
    model: &mut Model,
    options: &SessionOptions,
    tone: Tone,
    words: &str,
) -> Vec<Effect> {
    if model.link == Link::None {
        model.place.template.options.apply(options);
        model.toast(tone, words);
    } else {
        model.toast(Tone::Info, model.look.language.say(Msg::Loading));
    }
    Vec::new()
}

/// Changes what holds calls back, and says so: the words stay true until the session says otherwise.
fn held(model: &mut Model, options: SessionOptions, words: Msg) -> Vec<Effect> {
    let language = model.look.language;
    if !model.may_drive() {
        return Vec::new();
    }
    let Some(session) = &model.session else {
        return set_for_next(model, &options, Tone::Info, language.say(words));
    };
    let session = session.id.to_string();
    model.toast(Tone::Info, language.say(words));
    commands::set(session, options)
}
