//! Answers to a list's requests. The mark stays on its row.

use std::cmp::Reverse;

use client::DecodedEvent;
use proto::params::session::SessionSummary;
use proto::state::State;
use proto::{Body, SessionId, Stamp};

use super::{dialog, dialog_mut, select, turns};
use crate::effect::{Answer, Call, ErrorReport};
use crate::model::Model;
use crate::model::list::rows::{Row, numbered, rows};
use crate::model::list::{Content, Key, ListOf, Preview, models, words};

/// Characters of an answer that a preview keeps, from its end.
const PREVIEW_MAX: usize = 4_000;

/// Takes an answer. One for a list that is not open any more is dropped.
pub fn take(model: &mut Model, answer: Answer) {
    let Some(what) = dialog(model).map(|dialog| dialog.what) else {
        return;
    };
    match (answer, what) {
        (Answer::Sessions(list), ListOf::Sessions { .. }) => {
            if let Some(dialog) = dialog_mut(model) {
                dialog.more = list.next.is_some();
            }
            let mut sessions = list.sessions;
            sessions.sort_by_key(order);
            content(model, Ok(Content::Sessions(sessions)));
        }
        (Answer::Processes(list), ListOf::Processes) => {
            content(model, Ok(Content::Processes(list)))
        }
        (Answer::Processes(list), ListOf::Agents) => {
            content(model, Ok(Content::Agents(list.processes)));
        }
        (Answer::Waiting(open), ListOf::Inbox) => content(model, Ok(Content::Inbox(open))),
        (Answer::Models { list, keys }, ListOf::Models) => {
            content(model, Ok(Content::Models(models::offers(&list, &keys))));
        }
        (Answer::Skills(list), ListOf::Skills) => content(model, Ok(Content::Skills(list))),
        (Answer::Hits(found), ListOf::Search) => content(model, Ok(Content::Hits(found))),
        (Answer::Checkpoints { output, .. }, ListOf::Turns) => {
            content(model, Ok(Content::Turns(output)));
        }
        (Answer::Rewound { params, output }, ListOf::Turns) => {
            turns::foreseen(model, &params, Ok(output));
        }
        (Answer::Preview { session, events }, ListOf::Sessions { .. }) => {
            preview(model, &session, last_words(&events));
        }
        (Answer::Failed { call, trouble }, what) => match (call, what) {
            // Without one the row still says the most of it: no words about that.
            (Call::Preview { session }, ListOf::Sessions { .. }) => {
                preview(model, &session, Preview::default());
            }
            (Call::Rewind(params), ListOf::Turns) => {
                turns::foreseen(model, &params, Err(trouble));
            }
            (Call::Sessions(_), ListOf::Sessions { .. })
            | (Call::Processes(_), ListOf::Processes | ListOf::Agents)
            | (Call::Waiting, ListOf::Inbox)
            | (Call::Models(_), ListOf::Models)
            | (Call::Skills(_), ListOf::Skills)
            | (Call::Search(_), ListOf::Search)
            | (Call::Checkpoints { .. }, ListOf::Turns) => content(model, Err(trouble)),
            _ => {}
        },
        _ => {}
    }
}

fn preview(model: &mut Model, session: &str, preview: Preview) {
    if let (Ok(id), Some(dialog)) = (session.parse::<SessionId>(), dialog_mut(model)) {
        dialog.previews.insert(id, Some(preview));
    }
}

pub(super) fn content(model: &mut Model, content: Result<Content, ErrorReport>) {
    let (now, clock) = (model.now, model.clock);
    let Some(dialog) = dialog_mut(model) else {
        return;
    };
    (dialog.at, dialog.aged) = (clock, now);
    dialog.due = now + dialog.period().unwrap_or_default();
    match content {
        Ok(content) => {
            dialog.content = content;
            dialog.failed = None;
        }
        Err(trouble) => {
            dialog.failed = Some(trouble.what.clone());
            model.trouble(&trouble);
        }
    }
    settle(model);
}

/// Sessions that wait for the user first, then working ones, then by activity.
fn order(session: &SessionSummary) -> (u8, Reverse<Stamp>, Reverse<u64>) {
    let rank = match session.state {
        State::Exited => 2,
        _ if words::waits(session) => 0,
        State::Running | State::Waiting => 1,
        State::Idle | State::Paused => 2,
    };
    (rank, Reverse(session.active_at), Reverse(session.pid.0))
}

/// Marks a row if none is marked, or if the marked one is gone.
pub fn settle(model: &mut Model) {
    let Some(dialog) = dialog(model) else { return };
    let rows = rows(dialog, model);
    let place = match &dialog.selected {
        // It may come back: a partly loaded list does not move the mark for good. The row in its place is marked
        // meanwhile, and keys pressed for the old row do not apply to it.
        Some(selected) if !rows.iter().any(|row| row.key == *selected) => {
            slide(model, &rows);
            return;
        }
        Some(_) => dialog.position(&rows),
        None if dialog.covers() => 0,
        None if dialog.what == ListOf::Models => {
            let present = Key::Model(models::present(model).to_owned());
            let place = rows.iter().position(|row| row.key == present);
            place.unwrap_or_default()
        }
        None => {
            // Not a new session, nor the one that is here: a list is opened to go elsewhere.
            let here = model
                .session
                .as_ref()
                .map(|session| Key::Session(session.id));
            let elsewhere = |key: &Key| match key {
                Key::New | Key::Undo => false,
                key => Some(key) != here.as_ref(),
            };
            let place = rows.iter().position(|row| elsewhere(&row.key));
            place.unwrap_or_else(|| rows.len().min(2).saturating_sub(1))
        }
    };
    if !rows.is_empty() {
        select(model, &rows, place);
    }
}

/// Another row is marked as long as the one that was is not there.
fn slide(model: &mut Model, rows: &[Row]) {
    let now = model.now;
    let Some(dialog) = dialog_mut(model) else {
        return;
    };
    let place = dialog.position(rows);
    let marked = rows.get(place).map(|row| &row.key);
    if marked != dialog.slid.as_ref().map(|(key, _)| key) {
        dialog.slid = marked.map(|key| (key.clone(), now));
    }
}

/// Other rows are shown since the filter has changed: the mark stays, or goes to the first.
pub fn narrow(model: &mut Model) {
    let Some(dialog) = dialog(model) else { return };
    let rows = rows(dialog, model);
    let kept = rows
        .iter()
        .position(|row| Some(&row.key) == dialog.selected.as_ref());
    // Who writes a number means the session of that number.
    let wanted = dialog.filter.input.text().trim();
    let is_named = |row: &Row| numbered(row, wanted) < 2;
    let named = matches!(dialog.content, Content::Sessions(_)) && !wanted.is_empty();
    let kept = kept.filter(|_| !(named && rows.first().is_some_and(is_named)));
    // The best match is first.
    let kept = kept.filter(|_| dialog.what != ListOf::Models || wanted.is_empty());
    if !rows.is_empty() {
        select(model, &rows, kept.unwrap_or(0));
    }
}

/// The newest prompt and the newest words of the model among records.
fn last_words(records: &[DecodedEvent]) -> Preview {
    let mut preview = Preview::default();
    for record in records {
        match record.body() {
            Some(Body::User(said)) if said.voice.is_user() => {
                preview.prompt = client::text::line(&said.text);
            }
            Some(Body::Assistant(said)) if !said.text.trim().is_empty() => {
                let text = client::text::clean(&said.text);
                let cut = text.chars().count().saturating_sub(PREVIEW_MAX);
                let end: String = text.chars().skip(cut).collect();
                let lines: Vec<String> = end.lines().map(words::plain).collect();
                preview.answer = lines.join("\n");
            }
            _ => {}
        }
    }
    preview
}
