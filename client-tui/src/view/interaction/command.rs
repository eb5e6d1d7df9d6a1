//! The command while it is changed: as it will run, on as many rows as it takes.

use ratatui::text::{Line, Span};

use crate::keymap::{self, Action, Context};
use crate::messages::dialog::Msg;
use crate::model::ViewOptions;
use crate::model::composer::chips::Chips;
use crate::model::composer::rows::{self, Rows};
use crate::model::interaction::command::CommandBox;
use crate::theme::TextRole;
use crate::view::Panel;
use crate::view::framed::{Hint, hints, words};

/// Rows that are left to what the command was.
const ABOVE: usize = 2;

/// The box: its label, the text with the caret, the keys. If there is little room, the text comes first.
pub(super) fn panel(edited: &CommandBox, look: &ViewOptions, width: usize, room: usize) -> Panel {
    let say = |message| look.language.say(message);
    let (title, ink) = match edited.is_refused {
        true => (Msg::EditEmpty, TextRole::Warning),
        false => (Msg::EditTitle, TextRole::Question),
    };
    let mut title = words(say(title), ink, look, width);
    let keys = [
        Hint::of(Context::Approval, Action::Accept, say(Msg::KeyRun)),
        Hint::of(Context::Approval, Action::SetAside, say(Msg::KeyBack)),
        Hint::named(newline(), say(Msg::KeyNewline)),
    ];
    let mut keys = hints(&keys, look, width);
    if title.len() + keys.len() >= room {
        title.clear();
    }
    if keys.len() >= room {
        keys.clear();
    }
    let most = room.saturating_sub(title.len() + keys.len() + ABOVE).max(1);
    let mut panel = Panel::of(title);
    panel.below(text(edited, look, width, most));
    panel.rows.extend(keys);
    panel
}

/// The key for a new line that every terminal can distinguish from Enter.
fn newline() -> String {
    let all = keymap::BINDINGS.iter();
    let mut new = all.filter(|row| row.action == Action::Newline);
    let keys = new.next().map_or(&[][..], |row| row.keys);
    keys.last()
        .map_or_else(String::new, |key| keymap::written(key))
}

fn text(edited: &CommandBox, look: &ViewOptions, width: usize, most: usize) -> Panel {
    let chips = Chips::default();
    let laid = Rows::new(edited.text(), &chips, rows::width(width));
    let (row, column) = laid.place(edited.caret());
    let top = (row + 1).saturating_sub(most);
    let style = |ink| look.theme.style(ink);
    let shown = top..laid.count().min(top + most);
    let lines = shown.map(|at| {
        let mark = match at {
            0 => Span::styled("› ", style(TextRole::Accent)),
            _ => Span::raw("  "),
        };
        let pieces = laid.pieces(at).into_iter();
        let pieces = pieces.map(|(piece, _)| Span::styled(piece, style(TextRole::Text)));
        Line::from_iter(std::iter::once(mark).chain(pieces))
    });
    let cell = |value: usize| u16::try_from(value).unwrap_or(u16::MAX);
    let column = (rows::MARK + column).min(width.saturating_sub(1));
    Panel {
        rows: lines.collect(),
        cursor: Some((cell(row - top), cell(column))),
    }
}
