//! What happened beside talk and calls: a line or a few each.

use client::text;
use client::transcript::{Asked, words as shared};
use proto::CallId;
use proto::Pid;
use proto::outcome::{OutcomeKind, TurnEnded};
use proto::params::interaction::{ApprovalDecision, InteractionAnswer, Reply};
use proto::record::{ChildExited, InteractionResolved, SessionRewound};
use ratatui::text::Line;

use super::words::{told, usage, width};
use crate::messages::transcript::Msg;
use crate::model::transcript::Status;
use crate::model::{Look, Tone};
use crate::render::{short, wrap};
use crate::theme::Ink;

/// Inks of a mark and of the words behind it.
const QUIET: (Ink, Ink) = (Ink::Dim, Ink::Dim);

type Rows = Vec<Line<'static>>;

pub(super) fn notice(look: &Look, tone: Tone, words: &str) -> Rows {
    let words = &look.language.translate(words);
    match tone {
        Tone::Info => told(look, "· ", QUIET, words),
        Tone::Good => told(look, "✓ ", (Ink::Good, Ink::Text), words),
        Tone::Warning => warning(look, words),
        Tone::Error => told(look, "✗ ", (Ink::Error, Ink::Error), words),
    }
}

fn warning(look: &Look, words: &str) -> Rows {
    told(look, "! ", (Ink::Warning, Ink::Warning), words)
}

pub(super) fn divider(look: &Look, words: &str) -> Rows {
    let all = width(look);
    let words = wrap::cut(&text::line(words), all.saturating_sub(6));
    let rest = all.saturating_sub(wrap::width(&words) + 4);
    let line = format!("── {words} {}", "─".repeat(rest));
    vec![Line::styled(line, look.theme.style(Ink::Border))]
}

pub(super) fn resolved(look: &Look, asked: &Asked, how: &InteractionResolved) -> Rows {
    match asked {
        Asked::Approval { tool, subject } => decided(look, tool, subject, how),
        Asked::Questions(questions) => answered(look, questions, how),
        // What a plan leads to follows it.
        Asked::Plan => Vec::new(),
    }
}

fn decided(look: &Look, tool: &str, subject: &str, how: &InteractionResolved) -> Rows {
    let language = look.language;
    let what = match (tool, subject) {
        ("", _) => language.say(Msg::ACall).to_owned(),
        (tool, "") => text::line(tool),
        (tool, subject) => {
            let short = wrap::cut(&text::line(subject), width(look));
            format!("{} {short}", text::line(tool))
        }
    };
    let (decision, scope, note) = match &how.answer {
        Some(InteractionAnswer::Approval {
            decision,
            scope,
            note,
        }) => (*decision, scope.as_ref(), note.as_deref()),
        Some(InteractionAnswer::Questions { .. } | InteractionAnswer::Plan { .. }) | None => {
            (ApprovalDecision::Deny, None, how.reason.as_deref())
        }
    };
    let rule = scope.map_or(what.as_str(), |scope| &scope.rule);
    let mut words = match decision {
        ApprovalDecision::Deny if how.unattended => language.fill(Msg::ResolvedAlone, &[&what]),
        ApprovalDecision::Deny => language.fill(Msg::ResolvedDenied, &[&how.by, &what]),
        ApprovalDecision::AllowOnce | ApprovalDecision::AllowSession => {
            language.fill(Msg::ResolvedSession, &[&how.by, rule])
        }
        ApprovalDecision::AllowAlways => language.fill(Msg::ResolvedAlways, &[&how.by, rule]),
    };
    if let Some(note) = note.filter(|note| !note.trim().is_empty()) {
        words.push_str(": ");
        words.push_str(note);
    }
    match decision {
        ApprovalDecision::Deny => told(look, "⊘ ", (Ink::Warning, Ink::Text), &words),
        ApprovalDecision::AllowOnce
        | ApprovalDecision::AllowSession
        | ApprovalDecision::AllowAlways => told(look, "✓ ", (Ink::Good, Ink::Dim), &words),
    }
}

fn answered(look: &Look, asked: &[String], how: &InteractionResolved) -> Rows {
    let language = look.language;
    let mark = (Ink::Question, Ink::Text);
    if how.unattended {
        return told(look, "? ", mark, language.say(Msg::AnsweredAlone));
    }
    let replies: &[Reply] = match &how.answer {
        Some(InteractionAnswer::Questions { replies }) => replies,
        Some(InteractionAnswer::Approval { .. } | InteractionAnswer::Plan { .. }) | None => &[],
    };
    let head = match replies {
        [] => Msg::AnsweredNot,
        _ => Msg::Answered,
    };
    let mut rows = told(look, "? ", mark, &language.fill(head, &[&how.by]));
    for (index, reply) in replies.iter().enumerate() {
        if let Some(asked) = asked.get(index) {
            rows.extend(told(look, "  ", QUIET, &text::line(asked)));
        }
        let said = text::line(&shared::reply(language, reply));
        rows.extend(told(look, "  → ", (Ink::Dim, Ink::Strong), &said));
    }
    rows
}

pub(super) fn child(look: &Look, pid: Pid, command: &str, exited: Option<&ChildExited>) -> Rows {
    let command = wrap::cut(&text::line(command), width(look));
    let mut words = text::line(&shared::child(look.language, pid, &command, exited));
    let Some(exited) = exited else {
        return told(look, "• ", (Ink::Tool, Ink::Text), &words);
    };
    if !command.is_empty() {
        words = format!("{words} · {command}");
    }
    match exited.code {
        Some(0) => told(look, "✓ ", (Ink::Good, Ink::Text), &words),
        _ => told(look, "■ ", (Ink::Warning, Ink::Text), &words),
    }
}

pub(super) fn rewound(look: &Look, rewound: &SessionRewound) -> Rows {
    let mark = (Ink::Accent, Ink::Text);
    let mut rows = told(look, "↩ ", mark, &shared::rewound(look.language, rewound));
    for (tone, line) in shared::files(look.language, &rewound.files) {
        rows.extend(match tone {
            Tone::Warning => warning(look, &line),
            Tone::Info | Tone::Good | Tone::Error => told(look, "  ", QUIET, &line),
        });
    }
    rows
}

/// `said`: whether why a call was denied stands above.
pub(super) fn ended(look: &Look, ended: &TurnEnded, said: impl Fn(&CallId) -> bool) -> Rows {
    let language = look.language;
    let mut rows = Vec::new();
    for denied in ended.denied.iter().filter(|denied| !said(&denied.call)) {
        rows.extend(warning(look, &shared::denied(language, denied, false)));
    }
    if let Some(error) = &ended.error {
        rows.extend(notice(look, Tone::Error, &error.message));
        if !error.hint.is_empty() {
            rows.extend(told(
                look,
                "  → ",
                (Ink::Dim, Ink::Text),
                &look.language.translate(&error.hint),
            ));
        }
    }
    let mut more = usage(language, &ended.usage);
    let time = short::elapsed(ended.duration_ms);
    if ended.outcome == OutcomeKind::Completed {
        more.insert(0, language.fill(Msg::Worked, &[&time]));
        rows.extend(told(look, "· ", QUIET, &more.join(" · ")));
        return rows;
    }
    let how = shared::outcome(language, ended.outcome, ended.reason);
    more.insert(0, time);
    more.insert(0, language.fill(Msg::TurnEnded, &[&how]));
    rows.extend(told(
        look,
        "■ ",
        (Ink::Warning, Ink::Dim),
        &more.join(" · "),
    ));
    rows
}

/// Something of the session.
pub(super) fn line(look: &Look, status: &Status) -> Rows {
    let (mark, inks) = match status {
        Status::BrokeOff | Status::Credentials { .. } => ("! ", (Ink::Warning, Ink::Warning)),
        Status::ReadOnly { .. } => ("✗ ", (Ink::Error, Ink::Error)),
        Status::Paused { .. } | Status::Exited { .. } => ("■ ", (Ink::Warning, Ink::Text)),
        _ => ("· ", QUIET),
    };
    let words = match status {
        // All of it is shown when it is sent.
        Status::PromptEdited { by, which, text } => {
            let status = Status::PromptEdited {
                by: by.clone(),
                which: which.clone(),
                text: shared::first_words(text),
            };
            shared::status(look.language, &status)
        }
        status => shared::status(look.language, status),
    };
    told(look, mark, inks, &words)
}
