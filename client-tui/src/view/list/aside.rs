//! Details of the marked row: a session's last messages, the effect of a rewind, a whole prompt.

use client::form::{self, Form, Shape};
use client::transcript::words::beginning;
use proto::params::history::RewindOutput;
use proto::params::interaction::Question;
use proto::params::process::ChildProcess;
use proto::params::session::SessionSummary;
use proto::record::{RewoundFile, RewoundResult};
use proto::state::State;
use proto::{InteractionId, PromptId, Seq, SessionId};
use ratatui::text::{Line, Span};

use crate::messages::lists::Msg;
use crate::model::Model;
use crate::model::list::rows::Row;
use crate::model::list::{Content, Key, ListDialog, ListOf, Restore, found, models, words};
use crate::render::{short, wrap};
use crate::theme::TextRole;

/// At most `rows` rows of it. What is too long for a row is wrapped if everything has room then, else it is cut.
pub fn lines(
    dialog: &ListDialog,
    model: &Model,
    shown: &[Row],
    width: usize,
    rows: usize,
) -> Vec<Line<'static>> {
    let mut words = DetailLines {
        model,
        width,
        room: rows,
        wraps: true,
        is_short: false,
        lines: Vec::new(),
    };
    details(&mut words, dialog, shown);
    if words.is_short {
        (words.wraps, words.lines) = (false, Vec::new());
        details(&mut words, dialog, shown);
    }
    words.lines
}

fn details(words: &mut DetailLines<'_>, dialog: &ListDialog, shown: &[Row]) {
    if let Some(restore) = &dialog.restore {
        return restored(words, restore);
    }
    match dialog.current(shown) {
        Some(Key::Session(id)) => session(words, dialog, *id),
        Some(Key::Child { os_pid, .. }) => {
            if let Some(known) = dialog.child(*os_pid) {
                child(words, known);
            }
        }
        Some(Key::Turn(turn)) => self::turn(words, dialog, *turn),
        Some(Key::Prompt(id)) => prompt(words, *id),
        Some(Key::Interaction(id, _)) => inbox(words, dialog, id),
        Some(Key::Model(name)) => offer(words, dialog, name),
        Some(Key::Skill(file)) => skill(words, dialog, file),
        Some(Key::Fault(index)) => fault(words, dialog, *index),
        Some(Key::Hit(session, seq)) => hit(words, dialog, (*session, *seq)),
        Some(Key::New | Key::Undo | Key::Choice(_)) | None => {}
    }
}

/// Lines as they are made, as many as there is room for.
struct DetailLines<'a> {
    model: &'a Model,
    width: usize,
    room: usize,
    /// Rows that are too long are wrapped.
    wraps: bool,
    /// There was more than there is room for.
    is_short: bool,
    lines: Vec<Line<'static>>,
}

impl DetailLines<'_> {
    /// One row; if it is too long, wrapped or cut. Nothing if the text is empty.
    fn row(&mut self, text: &str, ink: TextRole) {
        if self.wraps {
            return self.text(text, ink, false);
        }
        if !text.trim().is_empty() && self.lines.len() < self.room {
            let style = self.model.look.theme.style(ink);
            let said = Span::styled(wrap::cut(text, self.width), style);
            self.lines.push(Line::from(said));
        }
    }

    /// A text, wrapped into rows. If it does not fit, keeps its end (`last`) or its beginning.
    fn text(&mut self, text: &str, ink: TextRole, last: bool) {
        let left = self.room.saturating_sub(self.lines.len());
        let style = self.model.look.theme.style(ink);
        let mut lines = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let line = Line::from(Span::styled(line.replace('\t', "  "), style));
            lines.extend(wrap::line(&line, self.width));
            if !last && lines.len() > left {
                break;
            }
        }
        self.is_short |= lines.len() > left;
        let skip = if last {
            lines.len().saturating_sub(left)
        } else {
            0
        };
        self.lines.extend(lines.into_iter().skip(skip).take(left));
    }
}

/// Details of a model.
fn offer(words: &mut DetailLines<'_>, dialog: &ListDialog, name: &str) {
    let Content::Models(offers) = &dialog.content else {
        return;
    };
    let Some(offer) = offers.iter().find(|offer| offer.name == name) else {
        return;
    };
    let [figures, key, name] = models::about(offer, words.model.look.language);
    words.row(&name, TextRole::Text);
    words.text(&figures, TextRole::Dim, false);
    let ink = match offer.key {
        models::KeyPresence::Missing(_) => TextRole::Warning,
        models::KeyPresence::NotNeeded | models::KeyPresence::There => TextRole::Dim,
    };
    words.text(&key, ink, false);
}

/// Details of a skill.
fn skill(words: &mut DetailLines<'_>, dialog: &ListDialog, file: &str) {
    let Content::Skills(list) = &dialog.content else {
        return;
    };
    let Some(skill) = list.skills.iter().find(|skill| skill.file == file) else {
        return;
    };
    for line in found::about_skill(skill, words.model.look.language) {
        words.text(&line, TextRole::Dim, false);
    }
}

/// Why a file is left out.
fn fault(words: &mut DetailLines<'_>, dialog: &ListDialog, index: usize) {
    let Content::Skills(list) = &dialog.content else {
        return;
    };
    let problem = list.problems.get(index);
    let problem = problem.map(|problem| words.model.look.language.translate(problem));
    let problem = client::text::line(&problem.unwrap_or_default());
    words.text(&problem, TextRole::Warning, false);
}

/// A message that was found, and its session.
fn hit(words: &mut DetailLines<'_>, dialog: &ListDialog, key: (SessionId, Seq)) {
    let Content::Hits(found) = &dialog.content else {
        return;
    };
    let mut hits = found.hits.iter();
    let Some(hit) = hits.find(|hit| (hit.session, hit.seq) == key) else {
        return;
    };
    let home = words.model.place.home.as_deref();
    let directory = words::home(&hit.cwd, home);
    let name = hit.name.as_deref().map(client::text::line);
    let name = name.map_or_else(String::new, |name| format!(" {name}"));
    words.row(&format!("{}{name} · {directory}", hit.pid), TextRole::Dim);
    words.text(&found::excerpt(hit).text, TextRole::Text, false);
}

fn session(words: &mut DetailLines<'_>, dialog: &ListDialog, id: SessionId) {
    let Some(session) = dialog.session(id) else {
        return;
    };
    let model = words.model;
    let language = model.look.language;
    let cause = words::plain(&words::head(&language.translate(&session.cause)));
    let state = words::state(language, session, dialog.at);
    // That of an exited session says only that it has exited.
    let state = match cause.is_empty() || session.state == State::Exited {
        true => state,
        false => format!("{state} · {cause}"),
    };
    words.row(&state, words::mark(session).1);
    words.row(&figures(model, session), TextRole::Dim);
    let directory = words::home(&session.cwd, model.place.home.as_deref());
    let whole_model = client::text::line(&session.model);
    words.row(&format!("{whole_model} · {directory}"), TextRole::Dim);
    if let Some(why) = &session.read_only {
        words.row(
            &client::text::line(&language.translate(why)),
            TextRole::Warning,
        );
    }
    if matches!(dialog.what, ListOf::Processes | ListOf::Agents) {
        words.row(&words::plain(&session.last_line), TextRole::Text);
        return;
    }
    match dialog.previews.get(&id) {
        Some(Some(preview)) => {
            if !preview.prompt.is_empty() {
                words.row(&format!("› {}", preview.prompt), TextRole::User);
            }
            words.text(&preview.answer, TextRole::Text, true);
        }
        Some(None) => words.row(language.say(Msg::Loading), TextRole::Dim),
        None => words.row(&words::plain(&session.last_line), TextRole::Text),
    }
}

/// Tokens, cost, context, queue, questions, clients.
fn figures(model: &Model, session: &SessionSummary) -> String {
    let language = model.look.language;
    let mut parts =
        vec![language.fill(Msg::Tokens, &[&short::count(short::tokens(&session.usage))])];
    parts.push(words::cost(session.cost()));
    let context = words::context(session);
    if !context.is_empty() {
        parts.push(language.fill(Msg::Context, &[&context]));
    }
    let questions = words::questions(session);
    let asks = match questions {
        1 => Msg::OneQuestion,
        _ => Msg::Questions,
    };
    let counts = [
        (session.queued, Msg::Queued),
        (questions, asks),
        (session.attached, Msg::Attached),
    ];
    for (count, message) in counts.into_iter().filter(|(count, _)| *count > 0) {
        parts.push(language.fill(message, &[&count.to_string()]));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

fn child(words: &mut DetailLines<'_>, child: &ChildProcess) {
    let language = words.model.look.language;
    let ran = words::lasted(language, child.running_ms);
    let of = language.fill(Msg::OfSession, &[&child.session.to_string(), &ran]);
    words.row(&of, TextRole::Dim);
    words.text(
        &client::text::clean(&words::head(&child.command)),
        TextRole::Code,
        false,
    );
}

fn turn(words: &mut DetailLines<'_>, dialog: &ListDialog, turn: u64) {
    let Content::Turns(turns) = &dialog.content else {
        return;
    };
    let Some(turn) = turns.turns.iter().find(|known| known.turn == turn) else {
        return;
    };
    let beginning = beginning(words.model.look.language, turn);
    words.text(&client::text::line(&beginning), TextRole::Text, false);
    for note in &turn.notes {
        words.row(
            &format!("! {}", client::text::line(note)),
            TextRole::Warning,
        );
    }
    for file in &turn.files {
        words.row(&path(words.model, file), TextRole::Dim);
    }
}

/// A path that is to be judged, short.
fn path(model: &Model, path: &str) -> String {
    let exact = words::exact(path);
    words::home(&exact, model.place.home.as_deref())
}

fn prompt(words: &mut DetailLines<'_>, id: PromptId) {
    let session = words.model.session.as_ref();
    let waiting = session.map(|session| session.queue.waiting());
    let mut waiting = waiting.unwrap_or_default().iter();
    if let Some(queued) = waiting.find(|queued| queued.prompt_id == id) {
        words.text(
            &client::text::clean(&words::head(&queued.text)),
            TextRole::Text,
            false,
        );
    }
}

fn inbox(words: &mut DetailLines<'_>, dialog: &ListDialog, id: &InteractionId) {
    let Content::Inbox(open) = &dialog.content else {
        return;
    };
    for one in open.iter().filter(|open| open.interaction_id == *id) {
        let shown = Form::of(one);
        match &shown.shape {
            Shape::Fields(fields) => {
                for content in &shown.content {
                    if let form::Content::Text(text) = content {
                        let text = client::text::exact(&words::head(text));
                        words.text(&text, TextRole::Text, false);
                    }
                }
                for note in &shown.notes {
                    let value = words::exact(note.value.unwrap_or_default());
                    let note = words.model.look.language.fill(note.message, &[&value]);
                    words.row(&note, TextRole::Dim);
                }
                questions(words, &fields.questions);
            }
            Shape::Decision(shape) => {
                if let Some(reason) = shape.reason {
                    let reason = words.model.look.language.translate(reason);
                    words.row(&words::exact(&reason), TextRole::Dim);
                }
                let ink = match shown.content.first() {
                    Some(form::Content::Markdown(_)) => TextRole::Text,
                    _ => TextRole::Code,
                };
                let subject = client::text::exact(&words::head(shown.listed()));
                words.text(&subject, ink, false);
            }
        }
    }
}

fn questions(words: &mut DetailLines<'_>, questions: &[Question]) {
    for ask in questions {
        words.text(
            &client::text::exact(&words::head(&ask.question)),
            TextRole::Text,
            false,
        );
        for (index, option) in ask.options.iter().enumerate() {
            let option = words::exact(&option.label);
            words.row(&format!("  {}. {option}", index + 1), TextRole::Dim);
        }
    }
}

fn restored(words: &mut DetailLines<'_>, restore: &Restore) {
    match &restore.effect {
        None => words.row(words.model.look.language.say(Msg::Loading), TextRole::Dim),
        Some(Err(why)) => words.row(&client::text::line(why), TextRole::Error),
        Some(Ok(effect)) => foreseen(words, restore, effect),
    }
}

/// The effect of a rewind: losses come first, as the decision is about them. The last row says how much there is no
/// room for.
fn foreseen(words: &mut DetailLines<'_>, restore: &Restore, effect: &RewindOutput) {
    let language = words.model.look.language;
    let left = |file: &&RewoundFile| {
        use RewoundResult::{ChangedSince, Failed};
        matches!(file.result, ChangedSince | Failed { .. })
    };
    let (lost, others): (Vec<_>, Vec<_>) = effect.files.iter().partition(left);
    let file = |file: &RewoundFile| became(words.model, file);
    let mut said: Vec<(String, TextRole)> = lost.into_iter().map(file).collect();
    let note = |note: &String| (format!("! {}", client::text::line(note)), TextRole::Warning);
    said.extend(effect.notes.iter().map(note));
    let turns = language.counted(effect.turns, Msg::Turn, Msg::Turns);
    let message = match restore.turn {
        Some(_) => Msg::WouldHide,
        None => Msg::WouldShow,
    };
    said.push((language.fill(message, &[&turns]), TextRole::Text));
    if effect.files.is_empty() {
        said.push((language.say(Msg::NoFiles).to_owned(), TextRole::Text));
    }
    said.extend(others.into_iter().map(file));
    let shown = match said.len() > words.room {
        true => words.room.saturating_sub(1),
        false => said.len(),
    };
    let left_out = said.len() - shown;
    words.is_short |= left_out > 0;
    for (text, ink) in said.into_iter().take(shown) {
        words.row(&text, ink);
    }
    if left_out > 0 {
        let more = language.fill(Msg::MoreRows, &[&left_out.to_string()]);
        words.row(&more, TextRole::Dim);
    }
}

/// The effect of a rewind on a file.
fn became(model: &Model, file: &RewoundFile) -> (String, TextRole) {
    let language = model.look.language;
    let path = path(model, &file.path);
    match &file.result {
        RewoundResult::Restored if file.was_removed() => {
            (language.fill(Msg::WouldRemove, &[&path]), TextRole::Text)
        }
        RewoundResult::Restored => (language.fill(Msg::WouldRestore, &[&path]), TextRole::Text),
        RewoundResult::Same => (language.fill(Msg::WouldSame, &[&path]), TextRole::Dim),
        RewoundResult::ChangedSince => {
            (language.fill(Msg::WouldLeave, &[&path]), TextRole::Warning)
        }
        RewoundResult::Failed { why } => {
            let why = client::text::line(why);
            (
                language.fill(Msg::WouldFail, &[&path, &why]),
                TextRole::Error,
            )
        }
    }
}
