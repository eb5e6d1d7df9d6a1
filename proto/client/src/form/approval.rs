//! Approvals of calls: the form of one, and how it was settled. Called by [`super::kinds`].

use std::borrow::Cow;

use proto::item::{Display, ToolKind};
use proto::params::interaction::{
    Approval, ApprovalDecision, ApprovalReview, Interaction, InteractionAnswer, InteractionKind,
    InteractionRequest, Scope,
};
use proto::record::{InteractionResolved, Quarantined, ReviewVerdict};

use super::kinds::Msg;
use super::{
    Content, Decision, Form, Label, Lines, Note, NoteTone, OnceOnly, Settlement, SettlementMark,
    Shape,
};
use super::{programs, reason};
use crate::messages::Language;
use crate::messages::transcript::Msg as Transcript;
use crate::transcript::words::{one_line, who};

/// The form of an approval.
pub(super) fn form(approval: &Approval) -> Form<'_> {
    let (tool, subject) = (approval.tool.as_str(), approval.subject.as_str());
    let title = title_of_call(approval.kind);
    let form = Form {
        kind: InteractionKind::Approval,
        title,
        tool: Some(tool),
        shows_tool: title == Msg::TitleOther,
        subject,
        content: content(approval),
        notes: [Note::new(Msg::Because, Some(&approval.rule))]
            .into_iter()
            .chain(approval.review.as_ref().map(review_note))
            .collect(),
        lines: lines(approval),
        shape: Shape::Decision(decision(approval)),
    };
    let form = match &approval.escape {
        None if approval.quarantined.is_empty() => form,
        None => put_back(form, &approval.quarantined),
        Some(reason) => unsandboxed(form, reason, approval.adds_dir.as_deref()),
    };
    match approval.programs.is_empty() && approval.left_out.is_empty() {
        true => form,
        false => programs::with_programs(form, approval),
    }
}

/// What the call would do: its subject, and what its preview adds.
fn content(approval: &Approval) -> Vec<Content<'_>> {
    let subject = approval.subject.as_str();
    let mut content = vec![Content::Subject(subject)];
    match &approval.preview {
        Display::Line { text } | Display::Command { tail: text, .. } => {
            // What goes before the command says where and with what it runs: the command itself is shown once.
            let before = text.strip_suffix(subject);
            let more = before.map_or(&**text, |before| before.trim_end_matches(": "));
            content.extend((!more.is_empty()).then_some(Content::Text(more)));
        }
        Display::Diff {
            path,
            diff,
            added,
            removed,
        } => content.push(Content::Diff {
            path,
            diff,
            added: *added,
            removed: *removed,
        }),
    }
    content
}

fn lines(approval: &Approval) -> Lines<'static> {
    Lines {
        heading: format!("allow `{}` to run?", approval.tool),
        note: Some(Cow::Owned(asked_because(approval))),
        how_to: match approval.editable {
            true => {
                "`y` allows it once, `n` denies it; `/deny REASON` also gives the model a reason; `/change COMMAND` runs that instead"
            }
            false => {
                "`y` allows it once, `n` denies it; `/deny REASON` also gives the model a reason"
            }
        },
        name_suffix: "",
    }
}

fn decision(approval: &Approval) -> Decision<'_> {
    Decision {
        scopes: &approval.scopes,
        reason: Some(&approval.rule),
        command: approval.editable.then_some(&approval.subject),
        once_only: None,
        others: approval.following,
        takes_one_word: true,
        yes: Label {
            line: "once",
            key: Msg::KeyOnce,
            short: Msg::KeyOnce,
        },
        yes_keep_asking: None,
        no: Label {
            line: "no",
            key: Msg::KeyDeny,
            short: Msg::KeyDenyShort,
        },
        note_title: Msg::NoteTitle,
        sent: untyped_decision_words,
        answer: untyped_decision,
    }
}

/// Why it is asked, and what the reviewer said, a line each.
fn asked_because(approval: &Approval) -> String {
    let clause = reason::clause(Language::English, &approval.rule);
    let because = format!("asked because {clause}");
    match &approval.review {
        Some(review) => format!("{because}\n{}", review_words(Language::English, review)),
        None => because,
    }
}

/// What the reviewer said of a call that it leaves to the user.
fn review_note(review: &ApprovalReview) -> Note<'_> {
    let (message, reason) = review_parts(review);
    Note::new(message, Some(reason))
}

/// What the reviewer said of a call that waits for approval.
#[must_use]
pub fn review_of(language: Language, interaction: &Interaction) -> Option<String> {
    let InteractionRequest::Approval(approval) = &interaction.request else {
        return None;
    };
    let review = approval.review.as_ref()?;
    Some(review_words(language, review))
}

/// The same as a sentence.
fn review_words(language: Language, review: &ApprovalReview) -> String {
    let (message, reason) = review_parts(review);
    let reason = one_line(&language.translate(reason));
    language.fill(message, &[&reason])
}

fn review_parts(review: &ApprovalReview) -> (Msg, &str) {
    let message = match review.verdict {
        ReviewVerdict::Ask => Msg::ReviewAsks,
        ReviewVerdict::Allow => Msg::ReviewAllows,
        ReviewVerdict::Deny => Msg::ReviewDenies,
        ReviewVerdict::Failed => Msg::ReviewFailed,
    };
    match review.reason.trim() {
        "" => (message, Language::English.say(Msg::ReviewWithoutReason)),
        reason => (message, reason),
    }
}

/// The approval to put back what a command made under protected names.
fn put_back<'a>(mut form: Form<'a>, items: &'a [Quarantined]) -> Form<'a> {
    form.title = Msg::TitlePutBack;
    let paths = items.iter().map(|item| Content::Text(&item.path));
    form.content.extend(paths);
    form.notes = vec![Note {
        tone: NoteTone::Warning,
        ..Note::new(Msg::PutBackMeans, None)
    }];
    let paths = quarantined_paths(items);
    form.lines.heading = match items.iter().any(|item| item.restored) {
        true => format!(
            "{paths} came or changed while the command ran, can configure or run something, and was moved away — put it back?"
        ),
        false => format!(
            "the command made {paths}, which can configure or run something, and it was moved away — put it back?"
        ),
    };
    form.lines.note = None;
    form.lines.how_to =
        "`y` puts it back, `n` leaves it moved away; `/deny REASON` also gives the model a reason";
    if let Shape::Decision(decision) = &mut form.shape {
        // It has run: another text would change nothing.
        decision.command = None;
        decision.yes = Label {
            line: "put back",
            key: Msg::KeyPutBack,
            short: Msg::KeyPutBack,
        };
        decision.no = Label {
            line: "leave",
            key: Msg::KeyLeave,
            short: Msg::KeyLeaveShort,
        };
        decision.once_only = Some(OnceOnly {
            typed: "it can only be put back or left: y or n",
            command: None,
        });
    }
    form
}

/// Where all of it came.
pub(super) fn quarantined_paths(items: &[Quarantined]) -> String {
    let paths: Vec<_> = items.iter().map(|item| item.path.as_str()).collect();
    paths.join(", ")
}

/// How it was settled whether these paths are put back.
pub(super) fn put_back_settlement(
    language: Language,
    paths: &str,
    resolved: &InteractionResolved,
) -> Settlement {
    let (decision, note) = match &resolved.answer {
        Some(InteractionAnswer::Approval { decision, note, .. }) => (*decision, note.as_deref()),
        _ => (ApprovalDecision::Deny, resolved.reason.as_deref()),
    };
    let (mark, message) = match decision {
        ApprovalDecision::Deny | ApprovalDecision::DenyRest => {
            (SettlementMark::Denied, Transcript::ResolvedLeft)
        }
        ApprovalDecision::AllowOnce
        | ApprovalDecision::AllowSession
        | ApprovalDecision::AllowAlways => (SettlementMark::Allowed, Transcript::ResolvedPutBack),
    };
    let words = language.fill(message, &[&who(language, &resolved.by), paths]);
    Settlement {
        mark,
        words: with_note(words, note),
        replies: Vec::new(),
    }
}

fn with_note(mut words: String, note: Option<&str>) -> String {
    if let Some(note) = note.filter(|note| !note.trim().is_empty()) {
        words.push_str(": ");
        words.push_str(note);
    }
    words
}

/// The approval of a call that the sandbox stopped: it may run once more, outside.
fn unsandboxed<'a>(mut form: Form<'a>, reason: &'a str, adds_dir: Option<&'a str>) -> Form<'a> {
    let tool = form.tool.unwrap_or_default();
    form.title = Msg::TitleOutside;
    let stopped = Note::new(Msg::StoppedBecause, Some(reason)).with_tone(NoteTone::Warning);
    form.notes = vec![stopped, Note::new(Msg::OutsideMeans, None)];
    let added =
        adds_dir.map(|dir| Note::new(Msg::OutsideAdds, Some(dir)).with_tone(NoteTone::Warning));
    form.notes.extend(added);
    form.lines.heading = format!(
        "the sandbox may have blocked it: {reason} — run `{tool}` once outside the sandbox, with all your rights?"
    );
    form.lines.note = adds_dir.map(|dir| {
        Cow::Owned(format!(
            "the session may then also write in `{dir}`, from now on"
        ))
    });
    form.lines.name_suffix = " outside the sandbox";
    if let Shape::Decision(decision) = &mut form.shape {
        decision.yes = Label {
            line: "once, outside the sandbox",
            key: Msg::KeyOutside,
            short: Msg::KeyOutsideShort,
        };
        decision.once_only = Some(OnceOnly {
            typed: "outside the sandbox a call can only be allowed once: y or n",
            command: None,
        });
    }
    form
}

fn title_of_call(kind: ToolKind) -> Msg {
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
        | ToolKind::Goal
        | ToolKind::Ask
        | ToolKind::Plan
        | ToolKind::Agent
        | ToolKind::Tools
        | ToolKind::Other => Msg::TitleOther,
    }
}

/// A decision about an interaction that is not open: the daemon says who answered it.
#[must_use]
pub fn untyped_decision(
    decision: ApprovalDecision,
    scope: Option<Scope>,
    note: Option<String>,
) -> InteractionAnswer {
    InteractionAnswer::Approval {
        decision,
        scope,
        note,
        edited_command: None,
    }
}

/// A command that is to run instead of the shown one.
#[must_use]
pub fn untyped_edit(command: String) -> InteractionAnswer {
    InteractionAnswer::Approval {
        decision: ApprovalDecision::AllowOnce,
        scope: None,
        note: None,
        edited_command: Some(command),
    }
}

/// The decision about an interaction of an unknown kind.
#[must_use]
pub fn untyped_decision_words(decision: ApprovalDecision) -> &'static str {
    match decision {
        ApprovalDecision::AllowAlways => "always allowed in this workspace",
        ApprovalDecision::AllowOnce
        | ApprovalDecision::AllowSession
        | ApprovalDecision::Deny
        | ApprovalDecision::DenyRest => decision.called(),
    }
}

/// How it was settled, for the transcript of a dialog client. `call`: what waited, in words.
pub(super) fn settlement(
    language: Language,
    call: &str,
    resolved: &InteractionResolved,
) -> Settlement {
    let by = who(language, &resolved.by);
    if let Some(edit) = &resolved.edit {
        let command = crate::text::line(&edit.command);
        return Settlement {
            mark: SettlementMark::Allowed,
            words: language.fill(Transcript::ResolvedEdited, &[&by, call, &command]),
            replies: Vec::new(),
        };
    }
    let (decision, scope, note) = match &resolved.answer {
        Some(InteractionAnswer::Approval {
            decision,
            scope,
            note,
            ..
        }) => (*decision, scope.as_ref(), note.as_deref()),
        Some(
            InteractionAnswer::Questions { .. }
            | InteractionAnswer::Plan { .. }
            | InteractionAnswer::Elicitation { .. },
        )
        | None => (ApprovalDecision::Deny, None, resolved.reason.as_deref()),
    };
    let rule = scope.map_or(call, |scope| &scope.rule);
    let (message, values) = match decision {
        ApprovalDecision::Deny if resolved.unattended => (Transcript::ResolvedAlone, [call, ""]),
        ApprovalDecision::Deny => (Transcript::ResolvedDenied, [&by, call]),
        ApprovalDecision::DenyRest => (Transcript::ResolvedDeniedRest, [&by, call]),
        ApprovalDecision::AllowOnce | ApprovalDecision::AllowSession => {
            (Transcript::ResolvedSession, [&by, rule])
        }
        ApprovalDecision::AllowAlways => (Transcript::ResolvedAlways, [&by, rule]),
    };
    let words = with_note(language.fill(message, &values), note);
    Settlement {
        mark: match decision {
            ApprovalDecision::Deny | ApprovalDecision::DenyRest => SettlementMark::Denied,
            ApprovalDecision::AllowOnce
            | ApprovalDecision::AllowSession
            | ApprovalDecision::AllowAlways => SettlementMark::Allowed,
        },
        words,
        replies: Vec::new(),
    }
}
