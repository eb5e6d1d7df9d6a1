//! The composer's rows, the caret, and the menu below.

use proto::hello::Role;
use ratatui::text::{Line, Span};

use super::Panel;
use crate::messages::composer::Msg;
use crate::model::composer::Composer;
use crate::model::composer::menu::{CommandChoice, Entries, Menu};
use crate::model::composer::rows::{self, MARK, Rows};
use crate::model::{Model, ViewOptions};
use crate::render::wrap;
use crate::theme::TextRole;

/// Rows that the text may always take; a tall terminal gives it a third of its own.
const TEXT_ROWS: usize = 6;

/// Entries of a menu that are seen at a time.
const MENU_ROWS: usize = 8;

/// Rows that the text leaves to the menu.
const MENU_LEAST: usize = 3;

/// Its rows, at most `rows` of them, with its menu.
#[must_use]
pub fn panel(composer: &Composer, model: &Model, width: usize, rows: usize) -> Panel {
    if rows == 0 {
        return Panel::default();
    }
    let entries = composer.menu.count().min(MENU_ROWS);
    let cap = TEXT_ROWS.max(usize::from(model.look.rows) / 3);
    let left = rows.saturating_sub(entries.min(MENU_LEAST)).max(1);
    let mut panel = text(composer, model, width, cap.min(left));
    let left = rows.saturating_sub(panel.rows.len()).min(entries);
    let menu = menu(&composer.menu, model, width, left);
    panel.rows.extend(menu);
    panel
}

fn text(composer: &Composer, model: &Model, width: usize, most: usize) -> Panel {
    let laid = Rows::new(
        composer.buffer.as_str(),
        &composer.chips,
        rows::width(width),
    );
    let (caret_row, column) = laid.place(composer.buffer.caret());
    let top = (caret_row + 1).saturating_sub(most);
    let style = |ink| model.look.theme.style(ink);
    let mark = |row| match row {
        0 if composer.is_normal() => Span::styled(": ", style(TextRole::Accent)),
        0 => Span::styled("> ", style(TextRole::Accent)),
        _ => Span::raw("  "),
    };
    let shown = top..laid.count().min(top + most);
    let mut lines: Vec<Line<'static>> = shown
        .map(|row| {
            let pieces = laid.pieces(row).into_iter();
            let pieces = pieces.map(|(piece, chip)| match chip {
                true => Span::styled(piece, style(TextRole::Link)),
                false => Span::styled(piece, style(TextRole::Text)),
            });
            Line::from_iter(std::iter::once(mark(row)).chain(pieces))
        })
        .collect();
    if let (true, Some(line)) = (composer.is_empty(), lines.first_mut()) {
        line.push_span(Span::styled(
            placeholder(model, width),
            style(TextRole::Dim),
        ));
    }
    let column = (MARK + column).min(width.saturating_sub(1));
    let cell = |value: usize| u16::try_from(value).unwrap_or(u16::MAX);
    Panel {
        rows: lines,
        cursor: Some((cell(caret_row - top), cell(column))),
    }
}

/// The placeholder: hints, or a note that this client may not prompt.
fn placeholder(model: &Model, width: usize) -> String {
    let width = width.saturating_sub(MARK);
    let (long, short) = match model.role() {
        Role::Drive => (Msg::Placeholder, Msg::PlaceholderShort),
        Role::Approve => (Msg::Answering, Msg::AnsweringShort),
        Role::Watch => (Msg::Watching, Msg::WatchingShort),
    };
    let [long, short] = [long, short].map(|words| model.look.language.say(words));
    match wrap::width(long) <= width {
        true => long.to_owned(),
        false => wrap::cut(short, width),
    }
}

fn menu(menu: &Menu, model: &Model, width: usize, most: usize) -> Vec<Line<'static>> {
    let top = (menu.selected + 1).saturating_sub(most);
    let shown = top..menu.count().min(top + most);
    let place = match menu.count() > most {
        true => {
            let (at, of) = (menu.selected + 1, menu.count());
            let place = [at.to_string(), of.to_string()];
            model
                .look
                .language
                .fill(Msg::Place, &[&place[0], &place[1]])
        }
        false => String::new(),
    };
    let commands = match &menu.entries {
        Entries::Commands(choices) => choices.iter().map(|it| wrap::width(&said(it))).max(),
        Entries::None | Entries::Files(_) => None,
    };
    let line = |index: usize| {
        let selected = index == menu.selected;
        let mut ink = TextRole::Text;
        let (words, dim) = match &menu.entries {
            Entries::Commands(choices) => {
                let choice = choices.get(index)?;
                if is_off(choice, model) {
                    ink = TextRole::Dim;
                }
                command(choice, model, commands.unwrap_or_default().min(width / 2))
            }
            Entries::Files(files) => {
                let file = files.get(index)?;
                let here = menu
                    .typed()
                    .is_some_and(|typed| typed.parent == file.parent);
                let parent = if here { "" } else { file.parent.as_str() };
                (
                    client::text::line(&format!("{parent}{}", file.name)),
                    String::new(),
                )
            }
            Entries::None => return None,
        };
        let tail = if selected { place.as_str() } else { "" };
        let ink = if selected { TextRole::Selected } else { ink };
        Some(entry(&model.look, width, ink, (&words, &dim, tail)))
    };
    shown.filter_map(line).collect()
}

/// A command with its arguments.
fn said(choice: &CommandChoice) -> String {
    let said = format!("/{} {}", choice.name(), choice.arguments());
    client::text::line(said.trim_end())
}

/// A command, padded to a width, and its description, or why it is unavailable now.
fn command(choice: &CommandChoice, model: &Model, column: usize) -> (String, String) {
    let mut words = wrap::cut(&said(choice), column);
    let left = column.saturating_sub(wrap::width(&words));
    words.push_str(&" ".repeat(left + 2));
    let language = model.look.language;
    let about = match choice {
        CommandChoice::Own(_) if is_off(choice, model) => {
            language.say(Msg::NeedsSession).to_owned()
        }
        CommandChoice::Own(row) => language.say(row.about).to_owned(),
        CommandChoice::Custom(command) => {
            let about = client::text::line(&command.description);
            match command.trusted {
                true => about,
                false => language.fill(Msg::NotTrusted, &[&about]),
            }
        }
    };
    (words, about)
}

/// Whether a command does nothing yet.
fn is_off(choice: &CommandChoice, model: &Model) -> bool {
    matches!(choice, CommandChoice::Own(row) if row.session) && model.session.is_none()
}

/// A row of a menu: its name, its description, its position in the menu.
fn entry(
    look: &ViewOptions,
    width: usize,
    ink: TextRole,
    parts: (&str, &str, &str),
) -> Line<'static> {
    let (words, dim, place) = parts;
    let style = |ink| look.theme.style(ink);
    let mark = if ink == TextRole::Selected {
        "> "
    } else {
        "  "
    };
    let width = width.saturating_sub(MARK);
    let place = match place {
        "" => String::new(),
        place => format!("  {place}"),
    };
    let width = width.saturating_sub(wrap::width(&place));
    let words = wrap::cut(words, width);
    let dim = wrap::cut(dim, width.saturating_sub(wrap::width(&words)));
    Line::from(vec![
        Span::styled(mark, style(TextRole::Accent)),
        Span::styled(words, style(ink)),
        Span::styled(dim, style(TextRole::Dim)),
        Span::styled(place, style(TextRole::Dim)),
    ])
}

#[cfg(test)]
mod tests;
