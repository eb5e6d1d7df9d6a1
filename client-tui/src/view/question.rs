//! A question of the model with its options.

use std::ops::Range;

use proto::params::interaction::Question;
use ratatui::text::Line;

use super::approval::position;
use super::framed::{self, Hint, hints, words};
use super::{Panel, toast};
use crate::keymap::{self, Action, Context};
use crate::messages::dialog::Msg;
use crate::model::approval::Asked;
use crate::model::question::{Given, QuestionDialog};
use crate::model::{Dialog, Look, Model};
use crate::render::wrap;
use crate::theme::Ink;

/// Its rows, at most `rows` of them.
#[must_use]
pub fn panel(dialog: &QuestionDialog, model: &Model, width: usize, rows: usize) -> Panel {
    let look = &model.look;
    let mut panel = Panel::of(head(dialog, model, width));
    let mut lower = lower(dialog, model, width);
    lower.rows.truncate(rows.saturating_sub(2));
    let room = rows.saturating_sub(panel.rows.len() + lower.rows.len());
    let (body, marked) = body(dialog, look, width);
    let scroll = place(dialog, &marked, body.len(), room);
    let keys = (
        keymap::shown(Context::Question, Action::PageDown),
        keymap::shown(Context::Question, Action::PageUp),
    );
    let shown = framed::window(&[&body], scroll, room, (&keys.0, &keys.1), look, width);
    panel.below(Panel::of(shown));
    panel.below(lower);
    framed::fitted(panel, rows)
}

/// Where the question on the screen is scrolled to, how far it can be, and how many rows of it are shown.
#[must_use]
pub fn reach(model: &Model) -> (usize, usize, usize) {
    let Some(Dialog::Question(dialog)) = &model.dialog else {
        return (0, 0, 1);
    };
    let (width, rows) = super::dialog_room(&model.look);
    let head = head(dialog, model, width).len();
    let lower = lower(dialog, model, width).rows.len();
    let room = rows.saturating_sub(head + lower.min(rows.saturating_sub(2)));
    let (body, marked) = body(dialog, &model.look, width);
    let (last, page) = framed::reach(body.len(), room);
    (place(dialog, &marked, body.len(), room), last, page)
}

/// Where it is scrolled to.
fn place(dialog: &QuestionDialog, marked: &Range<usize>, rows: usize, room: usize) -> usize {
    let (last, _) = framed::reach(rows, room);
    match dialog.scroll {
        Some(at) => at.min(last),
        None => framed::in_sight(marked, rows, room),
    }
}

/// The title, and what is told at present.
fn head(dialog: &QuestionDialog, model: &Model, width: usize) -> Vec<Line<'static>> {
    let look = &model.look;
    let mut end = position(model, &Asked::from(&dialog.interaction));
    let count = dialog.questions().len();
    if count > 1 {
        let part = [&(dialog.at + 1).to_string(), &count.to_string()];
        let part = look
            .language
            .fill(Msg::QuestionPart, &part.map(String::as_str));
        end = match end.is_empty() {
            true => part,
            false => format!("{part} · {end}"),
        };
    }
    let words = look.language.say(Msg::TitleQuestion);
    let mut rows = vec![framed::title(words, &end, look, width)];
    rows.extend(toast::rows(model, width, framed::TOAST));
    rows
}

/// The question with its options, and the rows of the marked one.
fn body(dialog: &QuestionDialog, look: &Look, width: usize) -> (Vec<Line<'static>>, Range<usize>) {
    let (Some(ask), Some(given)) = (dialog.ask(), dialog.given.get(dialog.at)) else {
        return (Vec::new(), 0..0);
    };
    let mut rows = Vec::new();
    let header = client::text::line(&ask.header);
    if !header.trim().is_empty() {
        rows.extend(words(&header, Ink::Heading, look, width));
    }
    for line in client::text::clean(&ask.question).split('\n') {
        rows.extend(words(line, Ink::Strong, look, width));
    }
    let mut marked = 0..0;
    for index in 0..ask.options.len() {
        let from = rows.len();
        rows.extend(option(ask, given, index, look, width));
        if given.mark == Some(index) {
            marked = from..rows.len();
        }
    }
    if let Some(other) = &given.other {
        let other = look
            .language
            .fill(Msg::OwnWords, &[&client::text::line(other)]);
        rows.extend(words(&other, Ink::User, look, width));
    }
    (rows, marked)
}

fn option(
    ask: &Question,
    given: &Given,
    index: usize,
    look: &Look,
    width: usize,
) -> Vec<Line<'static>> {
    let Some(choice) = ask.options.get(index) else {
        return Vec::new();
    };
    let is_marked = given.mark == Some(index);
    let chosen = match (ask.multi_select, given.chosen.contains(&index)) {
        (true, true) => "[x]",
        (true, false) => "[ ]",
        (false, true) => "(x)",
        (false, false) => "( )",
    };
    let mark = if is_marked { "›" } else { " " };
    let head = format!("{mark} {} {chosen} ", index + 1);
    let label = client::text::line(&choice.label);
    let ink = if is_marked { Ink::Strong } else { Ink::Text };
    let mut lines = framed::behind(&head, &label, ink, look, width);
    let description = client::text::line(&choice.description);
    if !description.trim().is_empty() {
        let indent = " ".repeat(wrap::width(&head));
        lines.extend(framed::behind(&indent, &description, Ink::Dim, look, width));
    }
    lines
}

fn lower(dialog: &QuestionDialog, model: &Model, width: usize) -> Panel {
    let look = &model.look;
    let say = |message| look.language.say(message);
    let of = |action, words| Hint::of(Context::Question, action, say(words));
    if !model.may_answer() {
        let mut rows = words(say(Msg::Watching), Ink::Warning, look, width);
        rows.extend(hints(&[of(Action::SetAside, Msg::KeyAside)], look, width));
        return Panel::of(rows);
    }
    let last = dialog.at + 1 >= dialog.questions().len();
    let accept = if last { Msg::KeyAnswer } else { Msg::KeyNext };
    if let Some(input) = &dialog.writing {
        let keys = [
            of(Action::Accept, accept),
            of(Action::SetAside, Msg::KeyBack),
        ];
        return framed::writing(say(Msg::Writing), input, &keys, look, width);
    }
    let several = dialog.ask().is_some_and(|ask| ask.multi_select);
    let (told, ink) = match (dialog.nothing, several) {
        (true, _) => (Msg::Nothing, Ink::Warning),
        (false, true) => (Msg::ChooseSeveral, Ink::Dim),
        (false, false) => (Msg::ChooseOne, Ink::Dim),
    };
    let mut rows = words(say(told), ink, look, width);
    let options = dialog.ask().map_or(0, |ask| ask.options.len());
    let mut keys = vec![Hint::named(format!("1–{options}"), say(Msg::KeyNumbers))];
    if several {
        keys.push(of(Action::Choose, Msg::KeyToggle));
    }
    keys.push(of(Action::Other, Msg::KeyOther));
    keys.push(of(Action::Accept, accept));
    if dialog.at > 0 {
        keys.push(of(Action::PreviousPart, Msg::KeyBefore));
    }
    keys.push(of(Action::SetAside, Msg::KeyAside));
    rows.extend(hints(&keys, look, width));
    Panel::of(rows)
}

#[cfg(test)]
mod tests;
