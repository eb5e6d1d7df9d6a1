//! Sends the submitted text: a prompt, or a command.

use client::prompt::Prompt;
use proto::params::session::{CreateParams, PromptParams, ShellParams, When};
use proto::state::Kind;
use proto::{RequestId, SessionId};

use super::{commands, composer};
use crate::effect::{Call, Effect};
use crate::messages::app::Msg;
use crate::model::composer::chips;
use crate::model::{Link, Model, Tone};
use crate::slash::{self, Line};

/// Sends the draft: a command is done, a prompt goes to the session, or makes one.
pub fn send(model: &mut Model, when: When) -> Vec<Effect> {
    let draft = model.composer.prompt();
    let text = draft.text.clone();
    if text.trim().is_empty() {
        return Vec::new();
    }
    // What it comes to is at the end of the transcript.
    model.scroll = 0;
    let written = model.composer.buffer.as_str();
    // A line that begins with a blank is a prompt, and so is one that begins with text that was not typed.
    let after_blank = written.starts_with(char::is_whitespace);
    let is_shell = written.starts_with('!');
    match parse(&text, written) {
        Line::Command(row, arguments) => {
            let arguments = arguments.to_owned();
            if let Some(words) = commands::refused(model, row, &arguments) {
                model.toast(Tone::Warning, words);
                return Vec::new();
            }
            model.composer.take();
            model.toast = None;
            commands::run(model, row, &ending(&draft, &arguments))
        }
        Line::Unknown(word) if is_custom(model, word) => {
            prompt(model, ending(&draft, text.trim()), when)
        }
        // A pasted line comes before the list.
        Line::Unknown(_) if !model.composer.menu.has_custom() && !is_apart(model) => {
            let asked = model.awaits_commands.replace((text, when));
            let ask = Effect::Call(Call::Commands(composer::commands_of(model)));
            asked.is_none().then_some(ask).into_iter().collect()
        }
        Line::Unknown(word) => {
            let words = unknown(model, word);
            model.toast(Tone::Warning, words);
            Vec::new()
        }
        Line::Prompt(prompt) if is_shell => {
            let command = prompt.trim_start_matches('!').trim().to_owned();
            shell(model, command)
        }
        Line::Prompt(prompt) => {
            // Two slashes begin a prompt that starts with one slash: the blank tells the daemon that it is not a
            // command.
            let is_text = after_blank || text.trim_start().starts_with("//");
            let is_text = is_text && prompt.starts_with('/');
            let mut sent = Prompt::typed(if is_text { " " } else { "" });
            sent.push(&ending(&draft, prompt));
            self::prompt(model, sent, when)
        }
    }
}

/// What a draft is. `written`: as it is in the composer, where a paste is one character.
fn parse<'a>(text: &'a str, written: &str) -> Line<'a> {
    let begins_with_chip = written.trim_start().starts_with(chips::is_chip);
    let is_after_blank = written.starts_with(char::is_whitespace) && text.trim().starts_with('/');
    match begins_with_chip || is_after_blank {
        true => Line::Prompt(text.trim()),
        false => slash::parse(text),
    }
}

/// The end of a draft, up to its trailing blanks, that has this text.
fn ending(draft: &Prompt, text: &str) -> Prompt {
    let end = draft.text.trim_end().len();
    draft.slice(end - text.len().min(end)..end)
}

/// Runs a command of the user in the session, or in a new one.
fn shell(model: &mut Model, command: String) -> Vec<Effect> {
    let language = model.look.language;
    if !model.may_drive() {
        return Vec::new();
    }
    let refusal = if command.is_empty() {
        Some(Msg::UseShell)
    } else if matches!(model.link, Link::Ended(_)) {
        Some(Msg::EndedKeeps)
    } else {
        let session = model.session.as_ref();
        session.and_then(|session| match session.busy() {
            true => Some(Msg::ShellBusy),
            false => session.user_command().map(|_| Msg::ShellAgain),
        })
    };
    if let Some(words) = refusal {
        model.toast(Tone::Warning, language.say(words));
        return Vec::new();
    }
    if model.is_apart(Msg::Apart) {
        return Vec::new();
    }
    let Some(session) = &model.session else {
        if model.link != Link::None {
            model.toast(Tone::Info, language.say(Msg::Loading));
            return Vec::new();
        }
        return create(model, FirstInput::Command(command));
    };
    let params = ShellParams {
        session: session.id.to_string(),
        command,
        request_id: Some(RequestId::new()),
    };
    model.toast = None;
    model.composer.take();
    vec![Effect::Call(Call::Shell(params))]
}

/// Sends the prompt given on the command line. If a question came first, it stays in the composer.
pub fn first(model: &mut Model) -> Vec<Effect> {
    let is_due = std::mem::take(&mut model.sends_draft) && model.dialog.is_none();
    match is_due {
        true => prompt(model, model.composer.prompt(), When::Queue),
        false => Vec::new(),
    }
}

/// Sends a prompt that is not a command, and takes the draft.
pub fn prompt(model: &mut Model, prompt: Prompt, when: When) -> Vec<Effect> {
    let language = model.look.language;
    if !model.may_drive() {
        return Vec::new();
    }
    if matches!(model.link, Link::Ended(_)) {
        // The reason is in the transcript.
        model.toast(Tone::Warning, language.say(Msg::EndedKeeps));
        return Vec::new();
    }
    if model.is_apart(Msg::Apart) {
        return Vec::new();
    }
    let Some(session) = &mut model.session else {
        if model.link != Link::None {
            model.toast(Tone::Info, language.say(Msg::Loading));
            return Vec::new();
        }
        return create(model, FirstInput::Prompt(prompt));
    };
    if let Some(why) = &session.read_only {
        let words = language.fill(Msg::ReadOnly, &[why]);
        model.toast(Tone::Error, words);
        return Vec::new();
    }
    let params = PromptParams {
        session: session.id.to_string(),
        text: prompt.text,
        untyped: prompt.untyped,
        when,
        request_id: Some(RequestId::new()),
        ..PromptParams::default()
    };
    model.toast = None;
    let renew = std::mem::take(&mut session.unsure);
    // A run that works towards a goal ends with it, whoever prompts it on the way.
    let takeover = session.options.kind == Some(Kind::Headless) && session.goal.is_none();
    let following = std::mem::take(&mut model.composer.following);
    model.composer.take();
    vec![Effect::Call(Call::Prompt {
        params,
        renew,
        takeover,
        // One that joins the running turn is not in a row with the others.
        following: if when == When::Queue {
            following
        } else {
            Vec::new()
        },
    })]
}

/// The first input of a session.
pub(super) enum FirstInput {
    Prompt(Prompt),
    Goal(String),
    Command(String),
}

/// The first prompt makes the session: both are one commit. A command runs in it when it is there.
pub(super) fn create(model: &mut Model, first: FirstInput) -> Vec<Effect> {
    if model.creating {
        let words = model.look.language.say(Msg::Wait);
        model.toast(Tone::Info, words);
        return Vec::new();
    }
    model.creating = true;
    model.composer.take();
    (model.first_command, model.first_goal) = (None, None);
    let prompt = match first {
        FirstInput::Prompt(prompt) => Some(prompt),
        FirstInput::Command(command) => {
            model.first_command = Some(command);
            None
        }
        FirstInput::Goal(text) => {
            model.first_goal = Some(text);
            None
        }
    };
    let params = CreateParams {
        session: SessionId::new(),
        untyped: prompt.iter().flat_map(|it| it.untyped.clone()).collect(),
        prompt: prompt.map(|prompt| prompt.text),
        request_id: Some(RequestId::new()),
        ..model.place.template.clone()
    };
    vec![Effect::Call(Call::Create(Box::new(params)))]
}

/// Whether the daemon cannot be asked.
fn is_apart(model: &Model) -> bool {
    matches!(
        model.link,
        Link::Lost(_) | Link::Stopped(_) | Link::Away(_) | Link::Ended(_)
    )
}

/// How much like a command a word must be so that it may have been meant.
const NEAR: f32 = 0.6;

/// Whether it is a command that the daemon runs.
fn is_custom(model: &Model, word: &str) -> bool {
    let custom = model.composer.menu.custom();
    custom.iter().any(|command| command.name == word)
}

/// The message for an unknown command, with the nearest known one, if any.
fn unknown(model: &Model, word: &str) -> String {
    let shown = client::text::line(word);
    if let Some(here) = slash::foreign::here(word) {
        return model.look.language.fill(Msg::UnknownHere, &[&shown, here]);
    }
    // The beginning of one, else the one that is the most like it.
    let likeness = |name: &str| match !word.is_empty() && name.starts_with(word) {
        true => 1.0,
        false => similar::TextDiff::from_chars(name, word).ratio(),
    };
    let custom = model.composer.menu.custom().iter();
    let names = slash::COMMANDS
        .iter()
        .flat_map(|row| std::iter::once(&row.name).chain(row.aliases))
        .copied()
        .chain(custom.map(|command| command.name.as_str()));
    let near = names
        .map(|name| (name, likeness(name)))
        // The first of equals: the order is that of the menu.
        .reduce(|best, other| if other.1 > best.1 { other } else { best });
    match near.filter(|near| near.1 >= NEAR) {
        Some((near, _)) => model.look.language.fill(Msg::UnknownNear, &[&shown, near]),
        None => model.look.language.fill(Msg::Unknown, &[&shown]),
    }
}

#[cfg(test)]
mod tests;
