//! Keys of the composer.

use std::path::{Path, PathBuf};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proto::params::history::PromptsParams;
use proto::params::session::When;

use super::{everywhere, submit};
use proto::params::command::{CommandInfo, ListParams};
use proto::params::mcp::McpResource;
use proto::params::symbol::SymbolInfo;

use crate::effect::{Call, Effect};
use crate::keymap::{self, Action, Context};
use crate::messages::app::Msg;
use crate::model::composer::menu::{CommandChoice, MenuContext, Reads, written};
use crate::model::composer::{self, Composer, vim};
use crate::model::{Model, Tone};

/// Takes a key; `None`: it means nothing here.
pub fn key(model: &mut Model, key: &KeyEvent) -> Option<Vec<Effect>> {
    let mut effects = pressed(model, key)?;
    if model.composer.is_normal() {
        vim::settle(&mut model.composer.buffer);
    }
    effects.extend(refresh(model));
    Some(effects)
}

/// Takes a paste. It never sends, and no menu opens over it.
pub fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    let language = model.look.language;
    let composer = &mut model.composer;
    composer.paste(text, language);
    if composer.is_normal() {
        vim::settle(&mut composer.buffer);
    }
    composer.menu.close(composer.buffer.as_str());
    Vec::new()
}

/// The paths below a directory have come, for the menu of files.
pub fn walked(model: &mut Model, root: PathBuf, paths: Vec<String>) {
    model.composer.menu.walked(root, paths);
}

/// The custom commands have arrived for the menu. A prompt that waited for them is sent.
pub fn commands_came(model: &mut Model, commands: Vec<CommandInfo>) -> Vec<Effect> {
    let role = model.place.role;
    model.composer.menu.commands_came(commands, role);
    match model.awaits_commands.take() {
        Some((text, when)) if model.composer.text() == text => submit::send(model, when),
        Some(_) | None => Vec::new(),
    }
}

/// Whose custom commands are asked for.
pub fn commands_of(model: &Model) -> ListParams {
    let id = model.session.as_ref().map(|session| session.id.to_string());
    ListParams {
        cwd: id
            .is_none()
            .then(|| model.place.cwd.to_string_lossy().into_owned()),
        session: id,
    }
}

/// The definitions in source files have come, for the menu of files.
pub fn symbols_came(model: &mut Model, symbols: Vec<SymbolInfo>) {
    model.composer.menu.symbols_came(symbols);
}

/// The resources of MCP servers have come, for the menu of files.
pub fn resources_came(model: &mut Model, resources: Vec<McpResource>) {
    model.composer.menu.resources_came(&resources);
}

/// The names in a directory have come, for the menu of files.
pub fn listed(model: &mut Model, directory: PathBuf, names: Vec<String>) {
    model.composer.menu.listed(directory, names);
}

fn pressed(model: &mut Model, key: &KeyEvent) -> Option<Vec<Effect>> {
    if model.composer.menu.is_open()
        && let Some(action) = keymap::find(Context::Menu, key)
        && let Some(effects) = menu(model, action)
    {
        return Some(effects);
    }
    // Pressed for the menu, which comes a moment later.
    if model.composer.menu.is_asking() && keymap::find(Context::Menu, key) == Some(Action::Close) {
        return menu(model, Action::Close);
    }
    let action = keymap::find(Context::Composer, key);
    if model.composer.is_normal()
        && let Some(effects) = normal(model, key, action)
    {
        return Some(effects);
    }
    match (action, keymap::letter(key)) {
        (Some(Action::Help), Some(character)) if !model.composer.is_empty() => {
            Some(typed(model, character))
        }
        (Some(action), _) => act(model, action),
        (None, Some(character)) => Some(typed(model, character)),
        (None, None) => None,
    }
}

fn typed(model: &mut Model, character: char) -> Vec<Effect> {
    let text = composer::chips::plain(character.encode_utf8(&mut [0; 4]));
    model.composer.buffer.typed(&text);
    Vec::new()
}

/// Keys of vim's normal mode; `None`: as in any mode.
fn normal(model: &mut Model, key: &KeyEvent, action: Option<Action>) -> Option<Vec<Effect>> {
    let composer = &mut model.composer;
    let empty = composer.is_empty();
    let vim = composer.vim.as_mut()?;
    let redo = KeyEvent::new(KeyCode::Char('r'), KeyModifiers::CONTROL);
    match action {
        Some(Action::Send) => return Some(submit::send(model, When::Queue)),
        Some(Action::Back) if vim.pending() => vim.forget(),
        Some(Action::DeleteBack) => {
            let at = composer.buffer.previous(composer.buffer.caret());
            composer.buffer.go(at);
        }
        Some(Action::Help) if empty => return None,
        _ if (key.code, key.modifiers) == (redo.code, redo.modifiers) => {
            composer.buffer.redo();
        }
        _ => {
            let Some(character) = keymap::letter(key) else {
                vim.forget();
                return None;
            };
            match vim.key(character, &mut composer.buffer) {
                vim::Asks::Nothing => {}
                vim::Asks::Up(count) => {
                    return Some((0..count).flat_map(|_| vertical(model, false)).collect());
                }
                vim::Asks::Down(count) => {
                    return Some((0..count).flat_map(|_| vertical(model, true)).collect());
                }
            }
        }
    }
    Some(Vec::new())
}

fn act(model: &mut Model, action: Action) -> Option<Vec<Effect>> {
    let composer = &mut model.composer;
    let empty = composer.is_empty();
    match action {
        Action::Send => return Some(enter(model)),
        Action::Steer => return Some(submit::send(model, When::Steer)),
        Action::Back if !composer.is_normal() && composer.vim.is_some() => {
            if let Some(vim) = &mut composer.vim {
                vim.enter_normal(&mut composer.buffer);
            }
        }
        Action::Leave if !empty => {
            if composer.buffer.caret() < composer.buffer.as_str().len() {
                composer.buffer.edit(Action::DeleteForward);
            } else {
                let words = model.look.language.say(Msg::LeavesWhenEmpty);
                model.toast(Tone::Info, words);
            }
        }
        Action::Help
        | Action::Leave
        | Action::Back
        | Action::Editor
        | Action::Mode
        | Action::ScrollUp
        | Action::ScrollDown => return Some(everywhere::act(model, action)),
        Action::Up => return Some(vertical(model, false)),
        Action::Down => return Some(vertical(model, true)),
        Action::Older => return Some(older(model)),
        Action::Newer => {
            composer.newer();
        }
        Action::Newline => composer.buffer.insert("\n"),
        action => {
            composer.buffer.edit(action);
        }
    }
    Some(Vec::new())
}

/// Sends, or begins a line where a backslash says so.
fn enter(model: &mut Model) -> Vec<Effect> {
    let buffer = &mut model.composer.buffer;
    if !buffer.before().ends_with('\\') {
        return submit::send(model, When::Queue);
    }
    let caret = buffer.caret();
    buffer.replace(caret.saturating_sub(1)..caret, "\n");
    Vec::new()
}

/// A row up or down; at the edge, through the history.
fn vertical(model: &mut Model, down: bool) -> Vec<Effect> {
    let width = composer::rows::width(usize::from(model.look.columns));
    let composer = &mut model.composer;
    match (composer.row(down, width), down) {
        (true, _) => Vec::new(),
        (false, true) => {
            composer.newer();
            Vec::new()
        }
        (false, false) => older(model),
    }
}

/// Shows an older prompt. The first time, those of earlier sessions are read as well.
fn older(model: &mut Model) -> Vec<Effect> {
    let composer = &mut model.composer;
    let is_shown = composer.older();
    let sought_over = (!is_shown).then(|| composer.buffer.as_str());
    if !composer.history.asks(sought_over) {
        return Vec::new();
    }
    let cwd = model.place.template.cwd.clone();
    vec![Effect::Call(Call::Prompts(PromptsParams { cwd }))]
}

/// A key of the menu; `None`: it is for the text after all.
fn menu(model: &mut Model, action: Action) -> Option<Vec<Effect>> {
    let composer = &mut model.composer;
    match action {
        Action::Next => composer.menu.step(true),
        Action::Previous => composer.menu.step(false),
        Action::Close => composer.menu.close(composer.buffer.as_str()),
        Action::Complete | Action::Accept => match composer.menu.command().cloned() {
            Some(choice) => return command(model, &choice, action == Action::Accept),
            None => return file(model, action == Action::Accept),
        },
        _ => return None,
    }
    Some(Vec::new())
}

/// Completes a command. `send`: also runs it, if it needs no arguments.
fn command(model: &mut Model, choice: &CommandChoice, send: bool) -> Option<Vec<Effect>> {
    let chosen = model.composer.menu.selected > 0;
    let buffer = &mut model.composer.buffer;
    let word = buffer.as_str().strip_prefix('/').unwrap_or_default();
    // A guess from scattered letters is shown first: `/etc` is not meant to be `/detach`.
    let meant = chosen || choice.begins_with(word);
    if send && choice.is_named(word) {
        return None;
    }
    let needs_more = !choice.arguments().is_empty() && !choice.arguments().starts_with('[');
    let all = 0..buffer.as_str().len();
    if send && !needs_more {
        buffer.replace(all, &format!("/{}", choice.name()));
        return Some(match meant {
            true => submit::send(model, When::Queue),
            false => Vec::new(),
        });
    }
    buffer.replace(all, &format!("/{} ", choice.name()));
    Some(Vec::new())
}

/// Completes a path: opens a directory, or goes on after a file. `send`: leaves a complete path to the text, which is
/// sent.
fn file(model: &mut Model, send: bool) -> Option<Vec<Effect>> {
    let composer = &mut model.composer;
    let Some((typed, name)) = composer.menu.file() else {
        return Some(Vec::new());
    };
    if send && composer.menu.selected == 0 && names_directory(composer, &typed.parent) {
        return None;
    }
    let done = !name.ends_with('/');
    let mut path = written(&typed.parent, &name, done);
    let buffer = &mut composer.buffer;
    if send && done && buffer.before().get(typed.at..) == Some(path.trim_end()) {
        return None;
    }
    let blank = done && buffer.after().starts_with(' ');
    if blank {
        path.truncate(path.trim_end().len());
    }
    buffer.replace(typed.at..buffer.caret(), &path);
    if blank {
        buffer.go(buffer.next(buffer.caret()));
    }
    Some(Vec::new())
}

/// Whether the text ends with a directory in full: its slash is written, and the menu shows what is in it.
fn names_directory(composer: &Composer, parent_of_entry: &str) -> bool {
    let Some(typed) = composer.menu.typed() else {
        return false;
    };
    let is_whole = typed.name.is_empty() && !typed.parent.is_empty();
    let text = composer.buffer.before().get(typed.at..);
    // An open quote is no whole reference.
    let is_plain = text.and_then(|text| text.strip_prefix('@')) == Some(typed.parent.as_str());
    is_whole && is_plain && parent_of_entry == typed.parent
}

/// Updates the menu for the current text.
fn refresh(model: &mut Model) -> Vec<Effect> {
    let commands_of = commands_of(model);
    let composer = &mut model.composer;
    if composer.buffer.as_str().is_empty() {
        // What is written next is another prompt.
        composer.following.clear();
    }
    if composer.is_normal() {
        composer.menu.reset();
        return Vec::new();
    }
    let session = model
        .session
        .as_ref()
        .map(|session| Path::new(&session.cwd));
    let cwd = session.filter(|cwd| cwd.is_absolute());
    let around = MenuContext {
        cwd: cwd.unwrap_or(&model.place.cwd),
        home: model.place.home.as_deref(),
        role: model.place.role,
    };
    let (text, caret) = (composer.buffer.as_str(), composer.buffer.caret());
    let reads = composer.menu.refresh(text, caret, around).into_iter();
    reads
        .map(|read| match read {
            Reads::Commands => Effect::Call(Call::Commands(commands_of.clone())),
            Reads::Directory(directory) => Effect::Directory(directory),
            Reads::Resources => Effect::Call(Call::Resources(proto::params::mcp::ListParams {
                cwd: Some(around.cwd.to_string_lossy().into_owned()),
            })),
            Reads::Symbols => Effect::Call(Call::Symbols(proto::params::symbol::ListParams {
                cwd: around.cwd.to_string_lossy().into_owned(),
            })),
            Reads::Tree(root) => Effect::Tree(root),
        })
        .collect()
}

#[cfg(test)]
mod tests;
