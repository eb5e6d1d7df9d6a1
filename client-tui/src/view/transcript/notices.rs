//! Notices other than messages and calls: a line or a few each.

use client::form::{Asked, SettlementMark};
use client::text;
use client::transcript::words as shared;
use proto::CallId;
use proto::Pid;
use proto::outcome::{OutcomeKind, TurnEnded};
use proto::record::{ChildExited, InteractionResolved, SessionRewound};
use ratatui::text::Line;

use super::words::{notice_rows, usage, width};
use crate::messages::transcript::Msg;
use crate::model::transcript::Status;
use crate::model::{Tone, ViewOptions};
use crate::render::{short, wrap};
use crate::theme::TextRole;

/// Inks of a mark and of the text after it.
const QUIET: (TextRole, TextRole) = (TextRole::Dim, TextRole::Dim);

type Rows = Vec<Line<'static>>;

pub(super) fn notice(look: &ViewOptions, tone: Tone, words: &str) -> Rows {
    let words = &look.language.translate(words);
    match tone {
        Tone::Info => notice_rows(look, "· ", QUIET, words),
        Tone::Good => notice_rows(look, "✓ ", (TextRole::Good, TextRole::Text), words),
        Tone::Warning => warning(look, words),
        Tone::Error => notice_rows(look, "✗ ", (TextRole::Error, TextRole::Error), words),
    }
}

fn warning(look: &ViewOptions, words: &str) -> Rows {
    notice_rows(look, "! ", (TextRole::Warning, TextRole::Warning), words)
}

pub(super) fn divider(look: &ViewOptions, words: &str) -> Rows {
    let all = width(look);
    let words = wrap::cut(&text::line(words), all.saturating_sub(6));
    let rest = all.saturating_sub(wrap::width(&words) + 4);
    let line = format!("── {words} {}", "─".repeat(rest));
    vec![Line::styled(line, look.theme.style(TextRole::Border))]
}

pub(super) fn resolved(look: &ViewOptions, asked: &Asked, how: &InteractionResolved) -> Rows {
    let short = |subject: &str| wrap::cut(&text::line(subject), width(look));
    let settlement = asked.settlement(look.language, how, short);
    let (mark, inks) = match settlement.mark {
        SettlementMark::Allowed => ("✓ ", (TextRole::Good, TextRole::Dim)),
        SettlementMark::Denied => ("⊘ ", (TextRole::Warning, TextRole::Text)),
        SettlementMark::Answered => ("? ", (TextRole::Question, TextRole::Text)),
    };
    let mut rows = notice_rows(look, mark, inks, &settlement.words);
    for (asked, reply) in settlement.replies {
        if let Some(asked) = asked {
            rows.extend(notice_rows(look, "  ", QUIET, &text::line(&asked)));
        }
        let inks = (TextRole::Dim, TextRole::Strong);
        rows.extend(notice_rows(look, "  → ", inks, &text::line(&reply)));
    }
    rows
}

pub(super) fn child(
    look: &ViewOptions,
    pid: Pid,
    command: &str,
    exited: Option<&ChildExited>,
) -> Rows {
    let command = wrap::cut(&text::line(command), width(look));
    let mut words = text::line(&shared::child(look.language, pid, &command, exited));
    let Some(exited) = exited else {
        return notice_rows(look, "• ", (TextRole::Tool, TextRole::Text), &words);
    };
    if !command.is_empty() {
        words = format!("{words} · {command}");
    }
    match exited.code {
        Some(0) => notice_rows(look, "✓ ", (TextRole::Good, TextRole::Text), &words),
        _ => notice_rows(look, "■ ", (TextRole::Warning, TextRole::Text), &words),
    }
}

pub(super) fn rewound(look: &ViewOptions, rewound: &SessionRewound) -> Rows {
    let mark = (TextRole::Accent, TextRole::Text);
    let mut rows = notice_rows(look, "↩ ", mark, &shared::rewound(look.language, rewound));
    for (tone, line) in shared::files(look.language, &rewound.files) {
        rows.extend(match tone {
            Tone::Warning => warning(look, &line),
            Tone::Info | Tone::Good | Tone::Error => notice_rows(look, "  ", QUIET, &line),
        });
    }
    rows
}

/// `said`: whether the reason for a denied call is shown above.
pub(super) fn ended(look: &ViewOptions, ended: &TurnEnded, said: impl Fn(&CallId) -> bool) -> Rows {
    let language = look.language;
    let mut rows = Vec::new();
    for denied in ended.denied.iter().filter(|denied| !said(&denied.call)) {
        rows.extend(warning(look, &shared::denied(language, denied, false)));
    }
    if let Some(error) = &ended.error {
        rows.extend(notice(look, Tone::Error, &error.message));
        if !error.hint.is_empty() {
            rows.extend(notice_rows(
                look,
                "  → ",
                (TextRole::Dim, TextRole::Text),
                &look.language.translate(&error.hint),
            ));
        }
    }
    let mut more = usage(language, ended);
    let time = short::elapsed(ended.duration_ms);
    if ended.outcome == OutcomeKind::Completed {
        more.insert(0, language.fill(Msg::Worked, &[&time]));
        rows.extend(notice_rows(look, "· ", QUIET, &more.join(" · ")));
        return rows;
    }
    let how = shared::outcome(language, ended.outcome, ended.reason);
    more.insert(0, time);
    more.insert(0, language.fill(Msg::TurnEnded, &[&how]));
    rows.extend(notice_rows(
        look,
        "■ ",
        (TextRole::Warning, TextRole::Dim),
        &more.join(" · "),
    ));
    rows
}

/// Something of the session.
pub(super) fn line(look: &ViewOptions, status: &Status) -> Rows {
    let (mark, inks) = match status {
        Status::BrokeOff | Status::Credentials { .. } => {
            ("! ", (TextRole::Warning, TextRole::Warning))
        }
        Status::ReadOnly { .. } => ("✗ ", (TextRole::Error, TextRole::Error)),
        Status::Paused { .. } | Status::Exited { .. } => {
            ("■ ", (TextRole::Warning, TextRole::Text))
        }
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
    notice_rows(look, mark, inks, &words)
}
