//! A question about a call or a plan: what would happen, why it is asked, and the keys that answer.

use std::rc::Rc;

use proto::item::{Display, ToolKind};
use proto::params::interaction::{Approval, InteractionRequest, Scope};
use ratatui::text::Line;

use super::framed::{self, Hint, hints, judged, marked, on_one_line, words};
use super::{Panel, toast};
use crate::keymap::{self, Action, Context};
use crate::messages::dialog::Msg;
use crate::model::approval::{ApprovalDialog, Asked, Part};
use crate::model::session::Session;
use crate::model::{Dialog, Look, Model};
use crate::render::markdown::Markdown;
use crate::render::{Made, diff};
use crate::theme::Ink;

/// Rows of what would happen that are shown at least.
const BODY_MIN: usize = 3;

/// Rows that keys take at most where there is little room: a longer scope stands in what scrolls.
const KEYS_MAX: usize = 8;

/// Its rows, at most `rows` of them.
pub fn panel(dialog: &ApprovalDialog, model: &Model, width: usize, rows: usize) -> Panel {
    let look = &model.look;
    let head = head(dialog, model, width);
    if let Part::Scopes(at) = &dialog.part {
        return scopes(dialog, *at, head, look, width, rows);
    }
    let (lower, long) = lower(dialog, model, width, rows);
    let body = rows_of(dialog, look, width);
    let covers = covers(dialog, long, look, width);
    let room = rows.saturating_sub(head.len() + lower.rows.len());
    let mut panel = Panel::of(head);
    let keys = scroll_keys();
    let shown = framed::window(
        &[&body, &covers],
        dialog.scroll,
        room,
        (&keys.0, &keys.1),
        look,
        width,
    );
    panel.below(Panel::of(shown));
    panel.below(lower);
    framed::fitted(panel, rows)
}

/// How far the approval on the screen can be scrolled, and how many rows of it are shown.
#[must_use]
pub fn reach(model: &Model) -> (usize, usize) {
    let Some(Dialog::Approval(dialog)) = &model.dialog else {
        return (0, 1);
    };
    let (width, rows) = super::dialog_room(&model.look);
    let (lower, long) = lower(dialog, model, width, rows);
    let body =
        rows_of(dialog, &model.look, width).len() + covers(dialog, long, &model.look, width).len();
    let head = head(dialog, model, width).len();
    framed::reach(body, rows.saturating_sub(head + lower.rows.len()))
}

/// The title, and what is told at present.
fn head(dialog: &ApprovalDialog, model: &Model, width: usize) -> Vec<Line<'static>> {
    let look = &model.look;
    let title = match dialog.approval() {
        None => Msg::TitlePlan,
        Some(approval) if approval.escape.is_some() => Msg::TitleOutside,
        Some(approval) => title_of(approval.kind),
    };
    let words = look.language.say(title);
    let end = position(model, &Asked::from(&dialog.interaction));
    let mut rows = vec![framed::title(words, &end, look, width)];
    rows.extend(toast::rows(model, width, framed::TOAST));
    rows
}

/// Which of the open questions it is, where there are several.
pub(super) fn position(model: &Model, asked: &Asked) -> String {
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

fn title_of(kind: ToolKind) -> Msg {
    match kind {
        ToolKind::Command => Msg::TitleCommand,
        ToolKind::Edit => Msg::TitleChange,
        ToolKind::Patch => Msg::TitlePatch,
        ToolKind::Write => Msg::TitleWrite,
        ToolKind::Delete => Msg::TitleDelete,
        ToolKind::Move => Msg::TitleMove,
        ToolKind::Copy => Msg::TitleCopy,
        ToolKind::CreateDirectory => Msg::TitleDirectory,
        ToolKind::Read | ToolKind::List | ToolKind::Search => Msg::TitleRead,
        ToolKind::CommandOutput
        | ToolKind::CommandStop
        | ToolKind::Todo
        | ToolKind::Ask
        | ToolKind::Plan
        | ToolKind::Tools
        | ToolKind::Other => Msg::TitleOther,
    }
}

fn scroll_keys() -> (String, String) {
    (
        keymap::shown(Context::Approval, Action::ScrollDown),
        keymap::shown(Context::Approval, Action::PageDown),
    )
}

/// The body, made once for a width and look.
fn rows_of(dialog: &ApprovalDialog, look: &Look, width: usize) -> Rc<Vec<Line<'static>>> {
    // The question of a dialog never changes.
    let made = Made::of(look, width, 0);
    let make = || match &dialog.interaction.request {
        InteractionRequest::Approval(approval) => body(approval, look, width),
        InteractionRequest::Plan { plan } => plan_rows(plan, look, width),
        InteractionRequest::Questions { .. } => Vec::new(),
    };
    dialog.body.rows(made, make)
}

/// The plan, rendered, and what a yes means. What cannot be seen is written out before.
fn plan_rows(plan: &str, look: &Look, width: usize) -> Vec<Line<'static>> {
    let written: Vec<String> = plan.split('\n').map(client::text::exact).collect();
    let mut markdown = Markdown::default();
    markdown.push(&written.join("\n"));
    markdown.finish();
    let inner = width.saturating_sub(2).max(2);
    let lines = (0..markdown.blocks()).flat_map(|block| markdown.lines(block, look, inner));
    let mut rows: Vec<_> = lines.flat_map(|line| marked(&line, look, width)).collect();
    rows.extend(words(
        look.language.say(Msg::PlanMeans),
        Ink::Dim,
        look,
        width,
    ));
    rows
}

/// Everything that is judged, and why it is asked.
fn body(approval: &Approval, look: &Look, width: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    if title_of(approval.kind) == Msg::TitleOther {
        let tool = on_one_line(&approval.tool);
        rows.extend(words(
            &look.language.fill(Msg::Tool, &[&tool]),
            Ink::Dim,
            look,
            width,
        ));
    }
    rows.extend(judged(&approval.subject, Ink::Strong, look, width));
    match &approval.preview {
        Display::Line { text } | Display::Command { tail: text, .. } => {
            if *text != approval.subject && !text.is_empty() {
                rows.extend(judged(text, Ink::Text, look, width));
            }
        }
        Display::Diff {
            path,
            diff,
            added,
            removed,
        } => {
            if *path != approval.subject {
                rows.extend(judged(path, Ink::Text, look, width));
            }
            let stat = format!("+{added} −{removed}");
            rows.extend(judged(&stat, Ink::Dim, look, width));
            rows.extend(diff_rows(diff, look, width));
        }
    }
    if let Some(reason) = &approval.escape {
        let stopped = look.language.fill(
            Msg::StoppedBecause,
            &[&on_one_line(&look.language.translate(reason))],
        );
        rows.extend(words(&stopped, Ink::Warning, look, width));
        let means = look.language.say(Msg::OutsideMeans);
        rows.extend(words(means, Ink::Dim, look, width));
        return rows;
    }
    let rule = on_one_line(&look.language.translate(&approval.rule));
    let because = look.language.fill(Msg::Because, &[&rule]);
    rows.extend(words(&because, Ink::Dim, look, width));
    rows
}

fn diff_rows(diff: &str, look: &Look, width: usize) -> Vec<Line<'static>> {
    // Tabs are how code is set; everything else that cannot be seen is written out.
    let exact = |line: &str| {
        let parts: Vec<String> = line.split('\t').map(client::text::exact).collect();
        parts.join("\t")
    };
    let written: Vec<String> = diff.trim_end_matches('\n').split('\n').map(exact).collect();
    let lines = diff::lines(&written.join("\n"), look, width.saturating_sub(2));
    lines
        .iter()
        .flat_map(|line| marked(line, look, width))
        .collect()
}

/// What a yes that reaches further covers, where it is too long to stand beside its key.
fn covers(dialog: &ApprovalDialog, long: bool, look: &Look, width: usize) -> Vec<Line<'static>> {
    let session = dialog.chosen().map(|scope| (Msg::SessionCovers, scope));
    let always = dialog.lasting().map(|scope| (Msg::AlwaysCovers, scope));
    let both = session.into_iter().chain(always).filter(|_| long);
    both.flat_map(|(message, scope)| {
        let covers = look.language.fill(message, &[&scope_words(scope, look)]);
        words(&covers, Ink::Text, look, width)
    })
    .collect()
}

fn scope_words(scope: &Scope, look: &Look) -> String {
    let rule = on_one_line(&scope.rule);
    let command = inside(&rule, "Bash(");
    let words = match command.map(|command| command.strip_suffix(":*").ok_or(command)) {
        Some(Ok(begin)) => look.language.fill(Msg::ScopeBegins, &[begin]),
        Some(Err(_)) => look.language.say(Msg::ScopeExact).to_owned(),
        None if inside(&rule, "Edit(").is_some() => {
            let file = inside(&rule, "Edit(").unwrap_or_default();
            look.language.fill(Msg::ScopeFile, &[file])
        }
        None if inside(&rule, "WebFetch(domain:").is_some() => {
            let host = inside(&rule, "WebFetch(domain:").unwrap_or_default();
            look.language.fill(Msg::ScopeHost, &[host])
        }
        None if rule == "Edit" => look.language.say(Msg::ScopeEdit).to_owned(),
        // A rule that this build has no words for, in those of the daemon.
        None => on_one_line(&look.language.translate(&scope.words)),
    };
    look.language.fill(Msg::ScopeWords, &[&words, &rule])
}

/// A scope in the list: whether it may be kept beyond the session.
fn reaching(scope: &Scope, look: &Look) -> String {
    let words = scope_words(scope, look);
    match scope.always {
        true => words,
        false => look.language.fill(Msg::ScopeSessionOnly, &[&words]),
    }
}

/// What stands in the parentheses of a rule.
fn inside<'a>(rule: &'a str, before: &str) -> Option<&'a str> {
    rule.strip_prefix(before)?.strip_suffix(')')
}

/// The rows below what is judged, and whether the scope was too long for them.
fn lower(dialog: &ApprovalDialog, model: &Model, width: usize, rows: usize) -> (Panel, bool) {
    let look = &model.look;
    let room = rows
        .saturating_sub(1 + BODY_MIN)
        .min(KEYS_MAX.max(rows / 3));
    if !model.may_answer() {
        let say = look.language.say(Msg::Watching);
        let mut lines = words(say, Ink::Warning, look, width);
        lines.extend(hints(&[aside(look)], look, width));
        return (Panel::of(lines), false);
    }
    if let Part::Note(note) = &dialog.part {
        let title = match dialog.approval() {
            None => Msg::PlanNoteTitle,
            Some(_) => Msg::NoteTitle,
        };
        return (self::note(title, note, look, width), false);
    }
    let full = answer_keys(dialog, look, width, false);
    match full.len() > room {
        true => (Panel::of(answer_keys(dialog, look, width, true)), true),
        false => (Panel::of(full), false),
    }
}

fn answer_keys(
    dialog: &ApprovalDialog,
    look: &Look,
    width: usize,
    long: bool,
) -> Vec<Line<'static>> {
    let say = |message| look.language.say(message);
    let of = |action, words: &str| Hint::of(Context::Approval, action, words);
    let Some(approval) = dialog.approval() else {
        let keys = [
            of(Action::AllowOnce, say(Msg::KeyApprove)),
            of(Action::Deny, say(Msg::KeyKeepPlanning)),
            aside(look),
        ];
        return hints(&keys, look, width);
    };
    let once = match approval.escape {
        Some(_) => Msg::KeyOutside,
        None => Msg::KeyOnce,
    };
    let mut keys = vec![of(Action::AllowOnce, say(once))];
    if let Some(scope) = dialog.chosen() {
        let words = match long {
            true => say(Msg::KeySessionLong).to_owned(),
            false => look
                .language
                .fill(Msg::KeySession, &[&scope_words(scope, look)]),
        };
        keys.push(of(Action::AllowSession, &words));
    }
    if let Some(scope) = dialog.lasting() {
        let words = match long {
            true => say(Msg::KeyAlwaysLong).to_owned(),
            false => look
                .language
                .fill(Msg::KeyAlways, &[&scope_words(scope, look)]),
        };
        keys.push(of(Action::AllowAlways, &words));
    }
    keys.push(of(Action::Deny, say(Msg::KeyDeny)));
    if dialog.scopes().len() > 1 {
        keys.push(of(Action::EditScope, say(Msg::KeyScope)));
    }
    keys.push(aside(look));
    hints(&keys, look, width)
}

fn aside(look: &Look) -> Hint {
    let words = look.language.say(Msg::KeyAside);
    Hint::of(Context::Approval, Action::SetAside, words)
}

fn note(title: Msg, note: &crate::model::line::Input, look: &Look, width: usize) -> Panel {
    let say = |message| look.language.say(message);
    let keys = [
        Hint::of(Context::Approval, Action::Accept, say(Msg::KeySend)),
        Hint::of(Context::Approval, Action::SetAside, say(Msg::KeyBack)),
    ];
    framed::writing(say(title), note, &keys, look, width)
}

/// The list of scopes.
fn scopes(
    dialog: &ApprovalDialog,
    at: usize,
    head: Vec<Line<'static>>,
    look: &Look,
    width: usize,
    rows: usize,
) -> Panel {
    let say = |message| look.language.say(message);
    let mut panel = Panel::of(head);
    panel
        .rows
        .extend(words(say(Msg::ScopeTitle), Ink::Question, look, width));
    let keys = [
        Hint::named("↑ ↓", say(Msg::KeyNumbers)),
        Hint::of(Context::Approval, Action::Accept, say(Msg::KeyTake)),
        Hint::of(Context::Approval, Action::SetAside, say(Msg::KeyBack)),
    ];
    let keys = hints(&keys, look, width);
    let mut list = Vec::new();
    let mut marked = 0..0;
    for (index, scope) in dialog.scopes().iter().enumerate() {
        let (mark, ink) = match index == at {
            true => ("› ", Ink::Strong),
            false => ("  ", Ink::Text),
        };
        let from = list.len();
        list.extend(framed::behind(
            mark,
            &reaching(scope, look),
            ink,
            look,
            width,
        ));
        if index == at {
            marked = from..list.len();
        }
    }
    let room = rows.saturating_sub(panel.rows.len() + keys.len());
    let scroll = framed::in_sight(&marked, list.len(), room);
    let (down, up) = (
        keymap::shown(Context::Approval, Action::ScrollDown),
        keymap::shown(Context::Approval, Action::ScrollUp),
    );
    let shown = framed::window(&[&list], scroll, room, (&down, &up), look, width);
    panel.rows.extend(shown);
    panel.rows.extend(keys);
    framed::fitted(panel, rows)
}

#[cfg(test)]
mod tests;
