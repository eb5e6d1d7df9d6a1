//! What happened beside talk and calls: a line or a few each.

use client::text;
use proto::Pid;
use proto::hook::HookOutcome;
use proto::outcome::{OutcomeKind, TurnEnded};
use proto::params::approval::Decision;
use proto::params::history::What as Back;
use proto::params::question::Reply;
use proto::record::{
    ApprovalResolved, ChildExited, Origin, RewoundFile, RewoundResult, SessionRewound,
};
use ratatui::text::Line;

use super::words::{outcome, told, usage, width};
use crate::messages::Language;
use crate::messages::transcript::Msg;
use crate::model::transcript::Told;
use crate::model::{Look, Tone};
use crate::render::{short, wrap};
use crate::theme::Ink;

/// Files that are named; of more there is only the number.
const FILES: usize = 5;

/// Inks of a mark and of the words behind it.
const QUIET: (Ink, Ink) = (Ink::Dim, Ink::Dim);

type Rows = Vec<Line<'static>>;

pub(super) fn notice(look: &Look, tone: Tone, words: &str) -> Rows {
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

pub(super) fn resolved(look: &Look, tool: &str, subject: &str, how: &ApprovalResolved) -> Rows {
    let language = look.language;
    let what = match (tool, subject) {
        ("", _) => language.say(Msg::ACall).to_owned(),
        (tool, "") => text::line(tool),
        (tool, subject) => {
            let short = wrap::cut(&text::line(subject), width(look));
            format!("{} {short}", text::line(tool))
        }
    };
    let note = how.note.as_deref().filter(|note| !note.trim().is_empty());
    let mut words = match how.decision {
        Decision::Deny if how.unattended => language.fill(Msg::ResolvedAlone, &[&what]),
        Decision::Deny => language.fill(Msg::ResolvedDenied, &[&how.by, &what]),
        Decision::AllowOnce | Decision::AllowSession => {
            let scope = how.scope.as_ref().map(|scope| scope.rule.as_str());
            language.fill(Msg::ResolvedSession, &[&how.by, scope.unwrap_or(&what)])
        }
        Decision::AllowAlways => {
            let scope = how.scope.as_ref().map(|scope| scope.rule.as_str());
            language.fill(Msg::ResolvedAlways, &[&how.by, scope.unwrap_or(&what)])
        }
    };
    if let Some(note) = note {
        words.push_str(": ");
        words.push_str(note);
    }
    match how.decision {
        Decision::Deny => told(look, "⊘ ", (Ink::Warning, Ink::Text), &words),
        Decision::AllowOnce | Decision::AllowSession | Decision::AllowAlways => {
            told(look, "✓ ", (Ink::Good, Ink::Dim), &words)
        }
    }
}

pub(super) fn answered(look: &Look, asked: &[String], replies: &[Reply], by: &str) -> Rows {
    let language = look.language;
    let mark = (Ink::Question, Ink::Text);
    if by.is_empty() {
        return told(look, "? ", mark, language.say(Msg::AnsweredAlone));
    }
    let head = match replies {
        [] => Msg::AnsweredNot,
        _ => Msg::Answered,
    };
    let mut rows = told(look, "? ", mark, &language.fill(head, &[by]));
    for (index, reply) in replies.iter().enumerate() {
        let labels = reply.labels.iter().map(|label| text::line(label));
        let other = reply.other.iter();
        let other = other.map(|other| format!("\"{}\"", text::line(other)));
        let mut said = labels.chain(other).collect::<Vec<_>>().join(", ");
        if said.is_empty() {
            language.say(Msg::NoAnswer).clone_into(&mut said);
        }
        if let Some(asked) = asked.get(index) {
            rows.extend(told(look, "  ", QUIET, &text::line(asked)));
        }
        rows.extend(told(look, "  → ", (Ink::Dim, Ink::Strong), &said));
    }
    rows
}

pub(super) fn child(look: &Look, pid: Pid, command: &str, exited: Option<&ChildExited>) -> Rows {
    let language = look.language;
    let pid = pid.to_string();
    let command = wrap::cut(&text::line(command), width(look));
    let Some(exited) = exited else {
        let words = language.fill(Msg::ChildRuns, &[&pid, &command]);
        return told(look, "• ", (Ink::Tool, Ink::Text), &words);
    };
    let mut how = match (exited.code, exited.signal) {
        (Some(code), _) => language.fill(Msg::Exit, &[&code.to_string()]),
        (None, Some(signal)) => language.fill(Msg::Signal, &[&signal.to_string()]),
        (None, None) => language.say(Msg::ExitUnknown).to_owned(),
    };
    if let Some(cause) = &exited.cause {
        how = format!("{how} ({})", text::line(cause));
    }
    let words = language.fill(Msg::ChildEnded, &[&pid, &how]);
    let words = match command.is_empty() {
        true => words,
        false => format!("{words} · {command}"),
    };
    match exited.code {
        Some(0) => told(look, "✓ ", (Ink::Good, Ink::Text), &words),
        _ => told(look, "■ ", (Ink::Warning, Ink::Text), &words),
    }
}

pub(super) fn rewound(look: &Look, rewound: &SessionRewound) -> Rows {
    let language = look.language;
    let turn = match rewound.to_turn {
        0 => language.say(Msg::TheBeginning).to_owned(),
        turn => language.fill(Msg::Turn, &[&turn.to_string()]),
    };
    let which = match (rewound.undoes.is_some(), rewound.what) {
        (true, Back::Conversation | Back::Both) => Msg::UndoneTalk,
        (true, Back::Code) => Msg::UndoneCode,
        (false, Back::Conversation) => Msg::RewoundTalk,
        (false, Back::Both) => Msg::RewoundAll,
        (false, Back::Code) => Msg::RewoundCode,
    };
    let mark = (Ink::Accent, Ink::Text);
    let words = language.fill(which, &[&rewound.by, &turn]);
    let mut rows = told(look, "↩ ", mark, &words);
    rows.extend(files(look, &rewound.files));
    rows
}

/// What became of files; those that were so already are not told.
fn files(look: &Look, files: &[RewoundFile]) -> Rows {
    let language = look.language;
    let of = |is: &dyn Fn(&RewoundFile) -> bool| {
        let of = files.iter().filter(|file| is(file));
        named(
            language,
            &of.map(|file| file.path.as_str()).collect::<Vec<_>>(),
        )
    };
    let restored =
        |file: &RewoundFile| file.result == RewoundResult::Restored && !file.was_removed();
    let mut rows = Vec::new();
    if let Some(restored) = of(&restored) {
        let words = language.fill(Msg::Restored, &[&restored]);
        rows.extend(told(look, "  ", QUIET, &words));
    }
    if let Some(removed) = of(&RewoundFile::was_removed) {
        let words = language.fill(Msg::Removed, &[&removed]);
        rows.extend(told(look, "  ", QUIET, &words));
    }
    if let Some(changed) = of(&|file| file.result == RewoundResult::ChangedSince) {
        rows.extend(warning(
            look,
            &language.fill(Msg::ChangedSince, &[&changed]),
        ));
    }
    for file in files {
        if let RewoundResult::Failed { why } = &file.result {
            let words = language.fill(Msg::NotRestored, &[&file.path, why]);
            rows.extend(warning(look, &words));
        }
    }
    rows
}

fn named(language: Language, paths: &[&str]) -> Option<String> {
    if paths.is_empty() {
        return None;
    }
    let shown: Vec<&str> = paths.iter().take(FILES).copied().collect();
    let names = shown.join(", ");
    Some(match paths.len().saturating_sub(FILES) {
        0 => names,
        more => language.fill(Msg::AndMore, &[&names, &more.to_string()]),
    })
}

pub(super) fn ended(look: &Look, ended: &TurnEnded) -> Rows {
    let language = look.language;
    let mut rows = Vec::new();
    for denied in &ended.denied {
        let call = format!("{} {} ({})", denied.tool, denied.subject, denied.why);
        rows.extend(warning(look, &language.fill(Msg::CallDenied, &[&call])));
    }
    if let Some(error) = &ended.error {
        rows.extend(notice(look, Tone::Error, &error.message));
        if !error.hint.is_empty() {
            rows.extend(told(look, "  → ", (Ink::Dim, Ink::Text), &error.hint));
        }
    }
    let mut more = usage(language, &ended.usage);
    let time = short::elapsed(ended.duration_ms);
    if ended.outcome == OutcomeKind::Completed {
        more.insert(0, language.fill(Msg::Worked, &[&time]));
        rows.extend(told(look, "· ", QUIET, &more.join(" · ")));
        return rows;
    }
    let how = outcome(language, ended.outcome, ended.reason);
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
pub(super) fn line(look: &Look, what: &Told) -> Rows {
    let language = look.language;
    let fill = |which: Msg, values: &[&str]| language.fill(which, values);
    let by = |by: &Option<String>, alone: Msg, with: Msg| match by {
        Some(by) => fill(with, &[by]),
        None => language.say(alone).to_owned(),
    };
    let which = |which: &str| match which {
        "" => language.say(Msg::AQueuedPrompt).to_owned(),
        words => fill(Msg::QueuedPrompt, &[words]),
    };
    let (mark, inks) = match what {
        Told::BrokeOff | Told::Credentials { .. } => ("! ", (Ink::Warning, Ink::Warning)),
        Told::ReadOnly { .. } => ("✗ ", (Ink::Error, Ink::Error)),
        Told::Paused { .. } | Told::Exited { .. } => ("■ ", (Ink::Warning, Ink::Text)),
        _ => ("· ", QUIET),
    };
    let words = match what {
        Told::Created {
            pid,
            model,
            cwd,
            origin,
        } => {
            let mut words = fill(Msg::Session, &[&pid.to_string(), model, cwd]);
            if let Some(origin) = origin {
                words = format!("{words} · {}", forked(language, origin));
            }
            words
        }
        Told::StartsAgain => language.say(Msg::StartsAgain).to_owned(),
        Told::BrokeOff => language.say(Msg::BrokeOff).to_owned(),
        Told::Pinned(words) | Told::ReasoningExtracted(words) => words.clone(),
        Told::Samples { is_in, of } => fill(Msg::Samples, &[&is_in.to_string(), &of.to_string()]),
        Told::CacheReset { reason } => fill(Msg::CacheReset, &[reason]),
        Told::Paused { by: who } => by(who, Msg::Paused, Msg::PausedBy),
        Told::Resumed { by: who } => by(who, Msg::Resumed, Msg::ResumedBy),
        Told::Credentials { cause } => fill(Msg::Credentials, &[cause]),
        Told::Exited {
            outcome: kind,
            reason,
        } => fill(Msg::Exited, &[&outcome(language, *kind, *reason)]),
        Told::Reopened { by } => fill(Msg::Reopened, &[by]),
        Told::Suspended => language.say(Msg::Suspended).to_owned(),
        Told::ReadOnly { reason } => fill(Msg::ReadOnly, &[reason]),
        Told::Hook(finished) => {
            let message = match finished.outcome {
                HookOutcome::Block => Msg::HookBlocked,
                HookOutcome::Timeout => Msg::HookTimeout,
                HookOutcome::Error => Msg::HookError,
                HookOutcome::Pass | HookOutcome::Warn => Msg::HookWarned,
            };
            let (event, reason) = (finished.event.as_str(), finished.reason.as_deref());
            fill(message, &[event, &finished.hook, reason.unwrap_or("–")])
        }
        Told::Unkept { why } => fill(Msg::Unkept, &[why]),
        Told::PromptEdited {
            by,
            which: first,
            text,
        } => fill(Msg::PromptEdited, &[by, &which(first), text]),
        Told::Revoked { by, rule } => fill(Msg::Revoked, &[by, rule]),
        Told::PromptMoved {
            by,
            which: first,
            place,
        } => fill(Msg::PromptMoved, &[by, &which(first), &place.to_string()]),
        Told::PromptDropped { which: first } => fill(Msg::PromptDropped, &[&which(first)]),
    };
    told(look, mark, inks, &words)
}

fn forked(language: Language, origin: &Origin) -> String {
    let from = origin.pid.to_string();
    match origin.turn {
        0 => language.fill(Msg::ForkedBefore, &[&from]),
        turn => language.fill(Msg::ForkedAt, &[&from, &turn.to_string()]),
    }
}
