//! The key table: what each key does where. Help, the reference and the key tests are made from it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::messages::keys::Msg;

/// Where a key is pressed. The innermost that is open is asked first, then [`Context::Everywhere`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Context {
    /// Whatever is open.
    Everywhere,
    /// Nothing is open: the composer has the keys.
    Composer,
    /// The menu of commands or files below the composer.
    Menu,
    /// A question about a tool call.
    Approval,
    /// A question of the model.
    Question,
    /// A list of sessions, turns, prompts, processes.
    List,
    /// Processes and sessions at work (`top`), beside the keys of lists.
    Processes,
    /// The queue, beside the keys of lists.
    Queue,
    /// The whole transcript, help, a diff: something to read.
    Pager,
    /// A yes or no.
    Confirm,
}

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    // Everywhere
    Interrupt,
    Leave,
    Suspend,
    Redraw,
    Help,
    Sessions,
    Attention,
    ApprovalMode,
    /// Normal or plan.
    Mode,
    Todos,
    Output,
    Reasoning,
    ScrollUp,
    ScrollDown,
    // Composer
    Send,
    Steer,
    Newline,
    Back,
    Older,
    Newer,
    Up,
    Down,
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    DeleteBack,
    DeleteForward,
    DeleteWordBack,
    DeleteWordForward,
    DeleteToStart,
    DeleteToEnd,
    Yank,
    Undo,
    Redo,
    Editor,
    // Menus and lists
    Accept,
    Complete,
    Previous,
    Next,
    First,
    Last,
    PageUp,
    PageDown,
    Close,
    Filter,
    // Approvals
    AllowOnce,
    AllowSession,
    AllowAlways,
    Deny,
    EditScope,
    SetAside,
    // Questions
    Choose,
    Other,
    // Processes
    Pause,
    Kill,
    Approve,
    // Queue
    Edit,
    Drop,
    MoveUp,
    MoveDown,
    SteerNow,
    // Pager
    OpenOne,
    OpenAll,
    Raw,
    NextPart,
    PreviousPart,
    Search,
    SearchNext,
    // Confirm
    Yes,
    No,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    pub context: Context,
    /// As `ctrl-p`, `shift-enter`, `?`; each does the same.
    pub keys: &'static [&'static str],
    pub action: Action,
    pub about: Msg,
}

impl Binding {
    /// Its first key, as it is written for people.
    #[must_use]
    pub fn shown(&self) -> String {
        let first = self.keys.first();
        first.map_or_else(String::new, |name| written(name))
    }
}

const fn row(
    context: Context,
    keys: &'static [&'static str],
    action: Action,
    about: Msg,
) -> Binding {
    Binding {
        context,
        keys,
        action,
        about,
    }
}

use Action as A;
use Context as C;

/// Every key, but for the letters that write.
pub const BINDINGS: &[Binding] = &[
    row(C::Everywhere, &["ctrl-c"], A::Interrupt, Msg::Interrupt),
    row(C::Everywhere, &["ctrl-z"], A::Suspend, Msg::Suspend),
    row(C::Everywhere, &["ctrl-l"], A::Redraw, Msg::Redraw),
    row(C::Everywhere, &["f1"], A::Help, Msg::Help),
    row(C::Everywhere, &["ctrl-p"], A::Sessions, Msg::Sessions),
    row(C::Everywhere, &["ctrl-q"], A::Attention, Msg::Attention),
    row(
        C::Everywhere,
        &["ctrl-o"],
        A::ApprovalMode,
        Msg::ApprovalMode,
    ),
    row(C::Everywhere, &["ctrl-t"], A::Todos, Msg::Todos),
    row(C::Everywhere, &["ctrl-b"], A::Output, Msg::Output),
    row(C::Everywhere, &["ctrl-r"], A::Reasoning, Msg::Reasoning),
    row(C::Composer, &["enter"], A::Send, Msg::Send),
    row(C::Composer, &["ctrl-enter", "ctrl-s"], A::Steer, Msg::Steer),
    row(
        C::Composer,
        &["shift-enter", "alt-enter", "ctrl-j"],
        A::Newline,
        Msg::Newline,
    ),
    row(C::Composer, &["?"], A::Help, Msg::HelpEmpty),
    row(C::Composer, &["shift-tab"], A::Mode, Msg::Mode),
    row(C::Composer, &["ctrl-d"], A::Leave, Msg::Leave),
    row(C::Composer, &["esc"], A::Back, Msg::Back),
    row(C::Composer, &["up"], A::Up, Msg::Up),
    row(C::Composer, &["down"], A::Down, Msg::Down),
    row(C::Composer, &["alt-up"], A::Older, Msg::Older),
    row(C::Composer, &["alt-down"], A::Newer, Msg::Newer),
    row(C::Composer, &["left"], A::Left, Msg::Left),
    row(C::Composer, &["right"], A::Right, Msg::Right),
    row(
        C::Composer,
        &["alt-b", "ctrl-left", "alt-left"],
        A::WordLeft,
        Msg::WordLeft,
    ),
    row(
        C::Composer,
        &["alt-f", "ctrl-right", "alt-right"],
        A::WordRight,
        Msg::WordRight,
    ),
    row(
        C::Composer,
        &["ctrl-a", "home"],
        A::LineStart,
        Msg::LineStart,
    ),
    row(C::Composer, &["ctrl-e", "end"], A::LineEnd, Msg::LineEnd),
    row(
        C::Composer,
        &["backspace", "ctrl-h"],
        A::DeleteBack,
        Msg::DeleteBack,
    ),
    row(
        C::Composer,
        &["delete"],
        A::DeleteForward,
        Msg::DeleteForward,
    ),
    row(
        C::Composer,
        &["ctrl-w", "alt-backspace"],
        A::DeleteWordBack,
        Msg::DeleteWordBack,
    ),
    row(
        C::Composer,
        &["alt-d", "ctrl-delete"],
        A::DeleteWordForward,
        Msg::DeleteWordForward,
    ),
    row(
        C::Composer,
        &["ctrl-u"],
        A::DeleteToStart,
        Msg::DeleteToStart,
    ),
    row(C::Composer, &["ctrl-k"], A::DeleteToEnd, Msg::DeleteToEnd),
    row(C::Composer, &["ctrl-y"], A::Yank, Msg::Yank),
    row(
        C::Composer,
        &["ctrl-_", "ctrl-/", "ctrl-7"],
        A::Undo,
        Msg::Undo,
    ),
    row(C::Composer, &["alt-_", "alt-/"], A::Redo, Msg::Redo),
    row(C::Composer, &["ctrl-g"], A::Editor, Msg::Editor),
    row(C::Composer, &["pageup"], A::ScrollUp, Msg::ScrollUp),
    row(C::Composer, &["pagedown"], A::ScrollDown, Msg::ScrollDown),
    row(C::Menu, &["tab"], A::Complete, Msg::MenuComplete),
    row(C::Menu, &["enter"], A::Accept, Msg::MenuAccept),
    row(
        C::Menu,
        &["up", "ctrl-p", "shift-tab"],
        A::Previous,
        Msg::Previous,
    ),
    row(C::Menu, &["down", "ctrl-n"], A::Next, Msg::Next),
    row(C::Menu, &["esc"], A::Close, Msg::MenuClose),
    row(C::Approval, &["y"], A::AllowOnce, Msg::AllowOnce),
    row(C::Approval, &["s"], A::AllowSession, Msg::AllowSession),
    row(C::Approval, &["a"], A::AllowAlways, Msg::AllowAlways),
    row(C::Approval, &["n"], A::Deny, Msg::Deny),
    row(C::Approval, &["e"], A::EditScope, Msg::EditScope),
    row(C::Approval, &["up", "k"], A::ScrollUp, Msg::ScrollUp),
    row(C::Approval, &["down", "j"], A::ScrollDown, Msg::ScrollDown),
    row(C::Approval, &["pageup"], A::PageUp, Msg::PageUp),
    row(
        C::Approval,
        &["pagedown", "space"],
        A::PageDown,
        Msg::PageDown,
    ),
    row(C::Approval, &["enter"], A::Accept, Msg::ApprovalAccept),
    row(C::Approval, &["esc"], A::SetAside, Msg::SetAside),
    row(C::Question, &["up", "k"], A::Previous, Msg::Previous),
    row(C::Question, &["down", "j"], A::Next, Msg::Next),
    row(C::Question, &["space"], A::Choose, Msg::Choose),
    row(
        C::Question,
        &["1", "2", "3", "4", "5", "6", "7", "8", "9"],
        A::Choose,
        Msg::ChooseNumber,
    ),
    row(C::Question, &["enter"], A::Accept, Msg::QuestionAccept),
    row(
        C::Question,
        &["left", "backspace"],
        A::PreviousPart,
        Msg::QuestionBefore,
    ),
    row(C::Question, &["pageup"], A::PageUp, Msg::PageUp),
    row(C::Question, &["pagedown"], A::PageDown, Msg::PageDown),
    row(C::Question, &["o"], A::Other, Msg::Other),
    row(C::Question, &["esc"], A::SetAside, Msg::SetAside),
    row(C::List, &["up", "k"], A::Previous, Msg::Previous),
    row(C::List, &["down", "j"], A::Next, Msg::Next),
    row(C::List, &["home", "g"], A::First, Msg::First),
    row(C::List, &["end", "G"], A::Last, Msg::Last),
    row(C::List, &["pageup"], A::PageUp, Msg::PageUp),
    row(C::List, &["pagedown"], A::PageDown, Msg::PageDown),
    row(C::List, &["/"], A::Filter, Msg::Filter),
    row(C::List, &["enter"], A::Accept, Msg::ListAccept),
    row(C::List, &["esc", "q"], A::Close, Msg::Close),
    row(C::Processes, &["p"], A::Pause, Msg::Pause),
    row(C::Processes, &["x"], A::Kill, Msg::Kill),
    row(C::Processes, &["a"], A::Approve, Msg::Approve),
    row(C::Queue, &["e"], A::Edit, Msg::Edit),
    row(C::Queue, &["d"], A::Drop, Msg::Drop),
    row(C::Queue, &["K", "shift-up"], A::MoveUp, Msg::MoveUp),
    row(C::Queue, &["J", "shift-down"], A::MoveDown, Msg::MoveDown),
    row(C::Queue, &["s"], A::SteerNow, Msg::SteerNow),
    row(C::Pager, &["up", "k"], A::ScrollUp, Msg::ScrollUp),
    row(C::Pager, &["down", "j"], A::ScrollDown, Msg::ScrollDown),
    row(C::Pager, &["pageup", "b"], A::PageUp, Msg::PageUp),
    row(C::Pager, &["pagedown", "space"], A::PageDown, Msg::PageDown),
    row(C::Pager, &["home", "g"], A::First, Msg::First),
    row(C::Pager, &["end", "G"], A::Last, Msg::Last),
    row(C::Pager, &["tab"], A::NextPart, Msg::NextPart),
    row(C::Pager, &["shift-tab"], A::PreviousPart, Msg::PreviousPart),
    row(C::Pager, &["enter", "o"], A::OpenOne, Msg::OpenOne),
    row(C::Pager, &["a"], A::OpenAll, Msg::OpenAll),
    row(C::Pager, &["m"], A::Raw, Msg::Raw),
    row(C::Pager, &["/"], A::Search, Msg::Search),
    row(C::Pager, &["n"], A::SearchNext, Msg::SearchNext),
    row(C::Pager, &["esc", "q"], A::Close, Msg::Close),
    row(C::Confirm, &["y"], A::Yes, Msg::Yes),
    row(C::Confirm, &["n", "esc"], A::No, Msg::No),
    row(C::Confirm, &["up"], A::ScrollUp, Msg::ScrollUp),
    row(C::Confirm, &["down"], A::ScrollDown, Msg::ScrollDown),
    row(C::Confirm, &["pageup"], A::PageUp, Msg::PageUp),
    row(C::Confirm, &["pagedown"], A::PageDown, Msg::PageDown),
];

/// What a key does in a context; `None`: nothing there.
#[must_use]
pub fn find(context: Context, key: &KeyEvent) -> Option<Action> {
    let mut rows = BINDINGS.iter().filter(|row| row.context == context);
    rows.find(|row| row.keys.iter().any(|name| matches(name, key)))
        .map(|row| row.action)
}

/// What a key writes. AltGr comes as Ctrl and Alt on some systems.
#[must_use]
pub fn letter(key: &KeyEvent) -> Option<char> {
    let KeyCode::Char(character) = key.code else {
        return None;
    };
    let held = key.modifiers - KeyModifiers::SHIFT;
    let third_level = held == KeyModifiers::CONTROL | KeyModifiers::ALT;
    (held.is_empty() || (third_level && !character.is_ascii_alphanumeric())).then_some(character)
}

/// The row of an action; `None`: it has no key there.
#[must_use]
pub fn row_of(context: Context, action: Action) -> Option<&'static Binding> {
    let mut rows = BINDINGS.iter();
    rows.find(|row| row.context == context && row.action == action)
}

/// The first key of an action, as it is written for people; empty where it has none.
#[must_use]
pub fn shown(context: Context, action: Action) -> String {
    row_of(context, action).map_or_else(String::new, Binding::shown)
}

/// A key's name as people write it: `Ctrl-P`, `Shift-Enter`, `Esc`.
#[must_use]
pub fn written(name: &str) -> String {
    let (modifiers, code) = split(name);
    let mut out = String::new();
    for (flag, word) in [
        (KeyModifiers::CONTROL, "Ctrl-"),
        (KeyModifiers::ALT, "Alt-"),
        (KeyModifiers::SHIFT, "Shift-"),
    ] {
        if modifiers.contains(flag) {
            out.push_str(word);
        }
    }
    let mut letters = code.chars();
    match (letters.next(), letters.next()) {
        (Some(one), None) if modifiers.contains(KeyModifiers::CONTROL) => {
            out.extend(one.to_uppercase());
        }
        (Some(one), None) => out.push(one),
        _ if code == "pageup" => out.push_str("PageUp"),
        _ if code == "pagedown" => out.push_str("PageDown"),
        (Some(first), Some(_)) => {
            out.extend(first.to_uppercase());
            out.push_str(code.get(first.len_utf8()..).unwrap_or_default());
        }
        (None, _) => {}
    }
    out
}

/// The key of a name of the table, for tests that press it.
#[must_use]
pub fn key(name: &str) -> Option<KeyEvent> {
    let (modifiers, code) = split(name);
    let code = code_of(code)?;
    let code = match code {
        KeyCode::Tab if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        other => other,
    };
    Some(KeyEvent::new(code, modifiers))
}

fn matches(name: &str, key: &KeyEvent) -> bool {
    let Some(wanted) = self::key(name) else {
        return false;
    };
    // A capital letter says itself that Shift is held, and so does the key of the way back.
    let relevant = |key: &KeyEvent| match key.code {
        KeyCode::Char(_) | KeyCode::BackTab => key.modifiers - KeyModifiers::SHIFT,
        _ => key.modifiers,
    };
    wanted.code == key.code && relevant(&wanted) == relevant(key)
}

fn split(name: &str) -> (KeyModifiers, &str) {
    let mut modifiers = KeyModifiers::empty();
    let mut rest = name;
    loop {
        let found = [
            ("ctrl-", KeyModifiers::CONTROL),
            ("alt-", KeyModifiers::ALT),
            ("shift-", KeyModifiers::SHIFT),
        ]
        .into_iter()
        .find_map(|(word, flag)| Some((rest.strip_prefix(word)?, flag)));
        match found {
            Some((after, flag)) if !after.is_empty() => {
                modifiers |= flag;
                rest = after;
            }
            _ => return (modifiers, rest),
        }
    }
}

fn code_of(name: &str) -> Option<KeyCode> {
    Some(match name {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "space" => KeyCode::Char(' '),
        "backspace" => KeyCode::Backspace,
        "delete" => KeyCode::Delete,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pageup" => KeyCode::PageUp,
        "pagedown" => KeyCode::PageDown,
        "f1" => KeyCode::F(1),
        one => {
            let mut letters = one.chars();
            match (letters.next(), letters.next()) {
                (Some(letter), None) => KeyCode::Char(letter),
                _ => return None,
            }
        }
    })
}

#[cfg(test)]
mod tests;
