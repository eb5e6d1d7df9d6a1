//! An interaction: its body, and the keys that answer it.

mod choices;
mod command;
mod scopes;

use std::ops::Range;
use std::rc::Rc;

use client::form::{
    Content, Decision, Fields, Form, NoteTone, Shape, ShownInteraction, kinds, reason,
};
use client::transcript::words as shared;
use proto::params::interaction::Question;
use ratatui::text::Line;

use self::choices::Size;
use super::framed::{self, Hint, hints, judged, marked, on_one_line, words};
use super::{Panel, toast};
use crate::keymap::{self, Action, Context};
use crate::messages::dialog::Msg;
use crate::model::interaction::{Draft, InputFocus, InteractionDialog};
use crate::model::seen::VisibleRows;
use crate::model::session::Session;
use crate::model::{Model, ViewOptions};
use crate::render::markdown::Markdown;
use crate::render::{RenderInputs, diff, wrap};
use crate::theme::TextRole;

/// Rows of what would happen that long choices leave to it.
const BODY_MIN: usize = 6;

/// Its parts, one below the other.
struct Layout {
    head: Vec<Line<'static>>,
    /// The scrollable part: the body, and scopes that are too long to show beside their keys.
    body: Rc<Vec<Line<'static>>>,
    covers: Vec<Line<'static>>,
    /// Rows of the body with the marked option.
    marked: Range<usize>,
    lower: Panel,
    /// Rows for what scrolls.
    room: usize,
    width: usize,
}

impl Layout {
    fn new(dialog: &InteractionDialog, model: &Model, width: usize, rows: usize) -> Self {
        let look = &model.look;
        let form = dialog.form();
        let head = head(dialog, &form, model, width);
        let (body, marked, covers, lower) = match &form.shape {
            Shape::Decision(shape) => {
                // The content of a dialog never changes.
                let made = RenderInputs::of(look, width, 0);
                let body = dialog.body.rows(made, || content_rows(&form, look, width));
                let room = (rows, body.len().min(BODY_MIN));
                let (lower, long) = decision_keys(dialog, shape, model, width, room);
                let covers = match long {
                    true => choices::covers(shape, dialog.scope, look, width),
                    false => Vec::new(),
                };
                (body, 0..0, covers, lower)
            }
            Shape::Fields(fields) => {
                let above = content_rows(&form, look, width);
                let (body, marked) = question_rows(dialog, fields, above, look, width);
                let mut lower = field_keys(dialog, fields, model, width);
                lower.rows.truncate(rows.saturating_sub(2));
                (Rc::new(body), marked, Vec::new(), lower)
            }
        };
        Self {
            room: rows.saturating_sub(head.len() + lower.rows.len()),
            width,
            head,
            body,
            covers,
            marked,
            lower,
        }
    }

    /// The scroll position, its maximum, and the number of rows shown.
    fn reach(&self, scroll: Option<usize>) -> (usize, usize, usize) {
        let rows = self.body.len() + self.covers.len();
        let (last, page) = framed::reach(rows, self.room);
        let at = match scroll {
            Some(at) => at.min(last),
            None => framed::in_sight(&self.marked, rows, self.room),
        };
        (at, last, page)
    }

    /// The visible part of the body.
    fn visible(&self, scroll: Option<usize>) -> VisibleRows {
        let count = self.body.len() + self.covers.len();
        let (at, _, page) = self.reach(scroll);
        VisibleRows {
            rows: (at, at.saturating_add(page).min(count)),
            count,
            width: self.width,
            is_readable: framed::is_readable(count, self.room),
        }
    }
}

/// Its rows, at most `rows` of them.
#[must_use]
pub fn panel(dialog: &InteractionDialog, model: &Model, width: usize, rows: usize) -> Panel {
    let look = &model.look;
    let form = dialog.form();
    if let (InputFocus::Scopes(at), Some(shape)) = (&dialog.part, form.decision()) {
        let head = head(dialog, &form, model, width);
        return scopes::list(shape.scopes, *at, head, look, width, rows);
    }
    let layout = Layout::new(dialog, model, width, rows);
    let context = dialog.context();
    let visible = layout.visible(dialog.scroll);
    if form.decision().is_some() && !visible.is_readable {
        return too_small(layout, dialog, look, width, rows);
    }
    let shown = framed::window(
        &[&layout.body, &layout.covers],
        layout.reach(dialog.scroll).0,
        layout.room,
        &framed::ScrollKeys::of(context),
        look,
        width,
    );
    let mut panel = Panel::of(layout.head);
    // The edited command goes before the original: a window takes two rows at least.
    let edits = matches!(dialog.part, InputFocus::Command(_));
    if !edits || layout.room >= shown.len() {
        panel.below(Panel::of(shown));
    }
    panel.below(layout.lower);
    framed::fitted(panel, rows)
}

/// Where the dialog is scrolled to, how far it can be, and how many rows of it are shown.
#[must_use]
pub fn reach(dialog: &InteractionDialog, model: &Model) -> (usize, usize, usize) {
    let (width, rows) = super::dialog_room(&model.look);
    Layout::new(dialog, model, width, rows).reach(dialog.scroll)
}

/// The visible part of the body.
#[must_use]
pub fn visible(dialog: &InteractionDialog, model: &Model) -> VisibleRows {
    let (width, rows) = super::dialog_room(&model.look);
    Layout::new(dialog, model, width, rows).visible(dialog.scroll)
}

/// The whole body, and the scopes of a yes, one per line: for the pager.
#[must_use]
pub fn whole(dialog: &InteractionDialog, look: &ViewOptions) -> Vec<String> {
    let width = usize::from(look.columns);
    let form = dialog.form();
    let mut rows = content_rows(&form, look, width);
    if let Some(shape) = form.decision() {
        rows.extend(choices::covers(shape, dialog.scope, look, width));
    }
    rows.iter().map(ToString::to_string).collect()
}

/// The dialog in a window that is too small to show any of the body: it says so first.
fn too_small(
    layout: Layout,
    dialog: &InteractionDialog,
    look: &ViewOptions,
    width: usize,
    rows: usize,
) -> Panel {
    let mut panel = Panel::default();
    if !dialog.seen.is_all() {
        let key = keymap::shown(Context::Approval, Action::ReadAll);
        let why = look.language.fill(Msg::TooSmall, &[&key]);
        panel.rows = words(&why, TextRole::Warning, look, width);
    }
    panel.below(Panel::of(layout.head));
    panel.below(layout.lower);
    framed::fitted(panel, rows)
}

/// The title, and the current notice.
fn head(
    dialog: &InteractionDialog,
    form: &Form<'_>,
    model: &Model,
    width: usize,
) -> Vec<Line<'static>> {
    let look = &model.look;
    let mut end = position(model, &(&dialog.interaction).into());
    let count = dialog.drafts.len();
    if count > 1 {
        let (at, count) = ((dialog.at + 1).to_string(), count.to_string());
        let part = look.language.fill(Msg::QuestionPart, &[&at, &count]);
        end = match end.is_empty() {
            true => part,
            false => format!("{part} · {end}"),
        };
    }
    let words = look.language.say(form.title);
    let mut rows = vec![framed::title(words, &end, look, width)];
    rows.extend(agent(dialog, model, width));
    rows.extend(toast::rows(model, width, framed::TOAST));
    rows
}

/// Which sub-agent asks, if it is not the open session.
fn agent(dialog: &InteractionDialog, model: &Model, width: usize) -> Option<Line<'static>> {
    let pid = dialog.interaction.session;
    model.session.as_ref().filter(|open| open.pid != pid)?;
    let agent = model.overview.session(pid)?.agent.as_deref();
    let asks = shared::asked_by(model.look.language, agent.unwrap_or_default(), pid);
    let style = model.look.theme.style(TextRole::Tool);
    let asks = wrap::cut(&asks, width);
    Some(Line::from(ratatui::text::Span::styled(asks, style)))
}

/// Which of the open interactions it is, if there are several.
fn position(model: &Model, asked: &ShownInteraction) -> String {
    let all = model
        .session
        .as_ref()
        .map(Session::asks)
        .unwrap_or_default();
    let at = all.iter().position(|open| open == asked);
    match at.filter(|_| all.len() > 1) {
        Some(at) => model.look.language.fill(
            Msg::Position,
            &[&(at + 1).to_string(), &all.len().to_string()],
        ),
        None => String::new(),
    }
}

/// The body, and the sentences below it.
fn content_rows(form: &Form<'_>, look: &ViewOptions, width: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    if let Some(tool) = form.tool.filter(|_| form.shows_tool) {
        let tool = look.language.fill(Msg::Tool, &[&on_one_line(tool)]);
        rows.extend(words(&tool, TextRole::Dim, look, width));
    }
    for content in &form.content {
        match content {
            Content::Subject(text) => rows.extend(judged(text, TextRole::Strong, look, width)),
            Content::Text(text) => rows.extend(judged(text, TextRole::Text, look, width)),
            Content::Markdown(text) => rows.extend(markdown_rows(text, look, width)),
            Content::Diff {
                path,
                diff,
                added,
                removed,
            } => {
                if *path != form.subject {
                    rows.extend(judged(path, TextRole::Text, look, width));
                }
                let stat = format!("+{added} −{removed}");
                rows.extend(judged(&stat, TextRole::Dim, look, width));
                rows.extend(diff_rows(path, diff, look, width));
            }
        }
    }
    for note in &form.notes {
        let value = note.value.unwrap_or_default();
        let value = match note.message {
            kinds::Msg::Because => reason::clause(look.language, value),
            _ => look.language.translate(value).into_owned(),
        };
        let value = on_one_line(&value);
        let ink = match note.tone {
            NoteTone::Plain => TextRole::Dim,
            NoteTone::Warning => TextRole::Warning,
            NoteTone::Danger => TextRole::Error,
        };
        let note = look.language.fill(note.message, &[&value]);
        rows.extend(words(&note, ink, look, width));
    }
    rows
}

/// Rendered Markdown. Invisible characters are spelled out first.
fn markdown_rows(text: &str, look: &ViewOptions, width: usize) -> Vec<Line<'static>> {
    let written: Vec<String> = text.split('\n').map(client::text::exact).collect();
    let mut markdown = Markdown::default();
    markdown.push(&written.join("\n"));
    markdown.finish();
    let inner = width.saturating_sub(2).max(2);
    let lines = (0..markdown.blocks()).flat_map(|block| markdown.lines(block, look, inner));
    lines.flat_map(|line| marked(&line, look, width)).collect()
}

fn diff_rows(path: &str, diff: &str, look: &ViewOptions, width: usize) -> Vec<Line<'static>> {
    // Tabs stay, as code is indented by them; other invisible characters are spelled out.
    let exact = |line: &str| {
        let parts: Vec<String> = line.split('\t').map(client::text::exact).collect();
        parts.join("\t")
    };
    let written: Vec<String> = diff.trim_end_matches('\n').split('\n').map(exact).collect();
    let lines = diff::lines(path, &written.join("\n"), look, width.saturating_sub(2));
    lines
        .iter()
        .flat_map(|line| marked(line, look, width))
        .collect()
}

/// The rows of someone who may not answer.
fn watching(context: Context, look: &ViewOptions, width: usize) -> Panel {
    let say = look.language.say(Msg::Watching);
    let mut rows = words(say, TextRole::Warning, look, width);
    rows.extend(hints(&[answer_later(context, look)], look, width));
    Panel::of(rows)
}

fn answer_later(context: Context, look: &ViewOptions) -> Hint {
    Hint::of(context, Action::SetAside, look.language.say(Msg::KeyAside))
}

/// The rows below the body, and whether the scopes were too long for them. `rows`: all rows available, and those that
/// the body needs.
fn decision_keys(
    dialog: &InteractionDialog,
    shape: &Decision<'_>,
    model: &Model,
    width: usize,
    (rows, body): (usize, usize),
) -> (Panel, bool) {
    let look = &model.look;
    let say = |message| look.language.say(message);
    let of = |action, words| Hint::of(Context::Approval, action, words);
    if !model.may_answer() {
        return (watching(Context::Approval, look, width), false);
    }
    if let InputFocus::Words(note) = &dialog.part {
        let keys = [
            of(Action::Accept, say(Msg::KeySend)),
            of(Action::SetAside, say(Msg::KeyBack)),
        ];
        let title = look.language.say(shape.note_title);
        return (framed::writing(title, note, &keys, look, width), false);
    }
    let room = rows.saturating_sub(1 + body);
    if let InputFocus::Command(edited) = &dialog.part {
        return (
            command::panel(edited, look, width, rows.saturating_sub(1)),
            false,
        );
    }
    let choices = |size| choices::rows(shape, dialog.scope, size, look, width);
    let full = choices(Size::Full);
    match full.len() > room {
        true => (Panel::of(choices(Size::Short)), true),
        false => (Panel::of(full), false),
    }
}

/// The question with its options below these rows, and the rows of the marked one.
fn question_rows(
    dialog: &InteractionDialog,
    fields: &Fields<'_>,
    above: Vec<Line<'static>>,
    look: &ViewOptions,
    width: usize,
) -> (Vec<Line<'static>>, Range<usize>) {
    let both = fields.questions.iter().zip(&dialog.drafts).nth(dialog.at);
    let Some((ask, draft)) = both else {
        return (above, 0..0);
    };
    let mut rows = above;
    let header = client::text::line(&ask.header);
    if !header.trim().is_empty() {
        rows.extend(match fields.of_server {
            true => judged(&header, TextRole::Heading, look, width),
            false => words(&header, TextRole::Heading, look, width),
        });
    }
    // A question that is only its title is not said twice.
    let question = client::text::clean(&ask.question);
    let is_more = question != header;
    if fields.of_server && is_more {
        rows.extend(judged(&ask.question, TextRole::Strong, look, width));
    } else if is_more {
        for line in question.split('\n') {
            rows.extend(words(line, TextRole::Strong, look, width));
        }
    }
    let mut marked = 0..0;
    for index in 0..ask.options.len() {
        let from = rows.len();
        let of_server = fields.of_server;
        rows.extend(option((ask, of_server), draft, index, look, width));
        if draft.mark == Some(index) {
            marked = from..rows.len();
        }
    }
    if let Some(other) = &draft.other {
        let other = look
            .language
            .fill(Msg::OwnWords, &[&client::text::line(other)]);
        rows.extend(words(&other, TextRole::User, look, width));
    }
    (rows, marked)
}

/// An option. `of_server`: its label is text of a server.
fn option(
    (ask, of_server): (&Question, bool),
    draft: &Draft,
    index: usize,
    look: &ViewOptions,
    width: usize,
) -> Vec<Line<'static>> {
    let Some(choice) = ask.options.get(index) else {
        return Vec::new();
    };
    let is_marked = draft.mark == Some(index);
    let chosen = match (ask.multi_select, draft.chosen.contains(&index)) {
        (true, true) => "[x]",
        (true, false) => "[ ]",
        (false, true) => "(x)",
        (false, false) => "( )",
    };
    let mark = if is_marked { "›" } else { " " };
    let head = format!("{mark} {} {chosen} ", index + 1);
    let label = client::text::line(&choice.label);
    let ink = if is_marked {
        TextRole::Strong
    } else {
        TextRole::Text
    };
    let mut lines = match of_server {
        true => {
            let room = width.saturating_sub(wrap::width(&head));
            beside(&head, judged(&label, ink, look, room), look)
        }
        false => framed::hanging(&head, &label, ink, look, width),
    };
    let description = client::text::line(&choice.description);
    if !description.trim().is_empty() {
        let indent = " ".repeat(wrap::width(&head));
        lines.extend(framed::hanging(
            &indent,
            &description,
            TextRole::Dim,
            look,
            width,
        ));
    }
    lines
}

/// Rows after a mark; those below the first are indented to it.
fn beside(mark: &str, mut rows: Vec<Line<'static>>, look: &ViewOptions) -> Vec<Line<'static>> {
    let indent = " ".repeat(wrap::width(mark));
    for (index, row) in rows.iter_mut().enumerate() {
        let before = if index == 0 { mark } else { &indent };
        let style = look.theme.style(TextRole::Accent);
        let before = ratatui::text::Span::styled(before.to_owned(), style);
        row.spans.insert(0, before);
    }
    rows
}

/// The rows below a question.
fn field_keys(
    dialog: &InteractionDialog,
    fields: &Fields<'_>,
    model: &Model,
    width: usize,
) -> Panel {
    let look = &model.look;
    let say = |message| look.language.say(message);
    let of = |action, words| Hint::of(Context::Question, action, say(words));
    if !model.may_answer() {
        return watching(Context::Question, look, width);
    }
    let last = dialog.at + 1 >= dialog.drafts.len();
    let accept = if last { Msg::KeyAnswer } else { Msg::KeyNext };
    if let InputFocus::Words(input) = &dialog.part {
        let keys = [
            of(Action::Accept, accept),
            of(Action::SetAside, Msg::KeyBack),
        ];
        return framed::writing(say(Msg::Writing), input, &keys, look, width);
    }
    let ask = fields.questions.get(dialog.at);
    let several = ask.is_some_and(|ask| ask.multi_select);
    let options = ask.map_or(0, |ask| ask.options.len());
    let (message, ink) = match (dialog.nothing, several) {
        (true, _) => (Msg::Nothing, TextRole::Warning),
        (false, true) if !fields.takes_words(dialog.at) => (Msg::ChooseOnlySeveral, TextRole::Dim),
        (false, true) => (Msg::ChooseSeveral, TextRole::Dim),
        (false, false) if options == 0 => (Msg::WriteAnswer, TextRole::Dim),
        (false, false) if !fields.takes_words(dialog.at) => (Msg::ChooseOnlyOne, TextRole::Dim),
        (false, false) => (Msg::ChooseOne, TextRole::Dim),
    };
    let mut rows = words(say(message), ink, look, width);
    if fields.is_optional(dialog.at) {
        rows.extend(words(say(Msg::MayStayEmpty), TextRole::Dim, look, width));
    }
    let mut keys = Vec::new();
    if options > 0 {
        keys.push(Hint::named(format!("1–{options}"), say(Msg::KeyNumbers)));
    }
    if several {
        keys.push(of(Action::Choose, Msg::KeyToggle));
    }
    if fields.takes_words(dialog.at) {
        keys.push(of(Action::Other, Msg::KeyOther));
    }
    keys.push(of(Action::Accept, accept));
    if dialog.at > 0 {
        keys.push(of(Action::PreviousPart, Msg::KeyBefore));
    }
    if fields.can_decline() {
        keys.push(of(Action::Deny, Msg::KeyDecline));
    }
    keys.push(answer_later(Context::Question, look));
    rows.extend(hints(&keys, look, width));
    Panel::of(rows)
}

#[cfg(test)]
mod tests;
