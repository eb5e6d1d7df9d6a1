//! Calls, and commands in the background, in words.

use proto::Pid;
use proto::item::CallStatus;
use proto::outcome::Denied;
use proto::record::{CallReviewed, ChildExited, ReviewVerdict};

use super::one_line;
use crate::messages::Language;
use crate::messages::transcript::Msg;
use crate::text;

/// How a call ended.
#[must_use]
pub fn call_status(language: Language, status: CallStatus) -> &'static str {
    language.say(match status {
        CallStatus::Ok => Msg::Done,
        CallStatus::Failed => Msg::Failed,
        CallStatus::Denied => Msg::Denied,
        CallStatus::Interrupted => Msg::Interrupted,
        CallStatus::Unknown => Msg::Unknown,
        CallStatus::Refused => Msg::Refused,
    })
}

/// The result of a call in a few words: `4 in 3 files`, `120 lines`.
#[must_use]
pub fn result(language: Language, text: &str) -> String {
    counted(language, text).unwrap_or_else(|| language.translate(text).into_owned())
}

/// Counts as the tools write them.
fn counted(language: Language, text: &str) -> Option<String> {
    let (first, rest) = text.split_once(' ')?;
    let words: Vec<&str> = rest.split(' ').collect();
    let count = |word: &str| word.parse::<u64>().ok();
    let all = |message: Msg, one: Msg, count: u64| match count {
        1 => language.say(one).to_owned(),
        count => language.fill(message, &[&count.to_string()]),
    };
    match (first, words.as_slice()) {
        ("lines", [range, "of", total]) if *range == format!("1–{total}") => {
            Some(all(Msg::Lines, Msg::Line, count(total)?))
        }
        (count_of, ["files"]) => Some(all(Msg::Files, Msg::File, count(count_of)?)),
        (count_of, ["lines"]) => Some(all(Msg::Lines, Msg::Line, count(count_of)?)),
        (matches, ["matches", "in", files, "files"]) => match (count(matches)?, count(files)?) {
            (0, 0) => Some(language.say(Msg::NoMatches).to_owned()),
            (matches, files) => {
                let files = all(Msg::Files, Msg::File, files);
                Some(language.fill(Msg::Matches, &[&matches.to_string(), &files]))
            }
        },
        _ => None,
    }
}

/// A call that was denied in a turn. `explained`: the reason is shown elsewhere.
#[must_use]
pub fn denied(language: Language, denied: &Denied, explained: bool) -> String {
    // Not every tool has a subject.
    let call = format!("{} {}", denied.tool, denied.subject);
    let call = call.trim_end().to_owned();
    let call = match explained {
        true => call,
        false => language.fill(Msg::InBrackets, &[&call, &language.translate(&denied.why)]),
    };
    match &denied.agent {
        None => language.fill(Msg::CallDenied, &[&call]),
        Some(agent) => {
            let name = text::line(&agent.name);
            let session = agent.session.to_string();
            language.fill(Msg::AgentsCallDenied, &[&name, &session, &call])
        }
    }
}

/// What the reviewer said of a call, and who decides about it.
pub(super) fn reviewed(language: Language, reviewed: &CallReviewed) -> String {
    let message = match (reviewed.verdict, reviewed.decided) {
        (ReviewVerdict::Deny, true) => Msg::ReviewDenied,
        (ReviewVerdict::Deny, false) => Msg::ReviewAgainst,
        (ReviewVerdict::Allow, true) => Msg::ReviewAllowed,
        (ReviewVerdict::Allow, false) => Msg::ReviewHarmless,
        (ReviewVerdict::Ask, _) => Msg::ReviewAsks,
        (ReviewVerdict::Failed, _) => Msg::ReviewFailed,
    };
    let reason = match reviewed.reason.trim() {
        "" => language.say(Msg::NoReason).to_owned(),
        reason => one_line(&language.translate(reason)),
    };
    language.fill(message, &[&reviewed.tool, &reason])
}

/// A command in the background came, or went.
#[must_use]
pub fn child(language: Language, pid: Pid, command: &str, exited: Option<&ChildExited>) -> String {
    let pid = pid.to_string();
    match exited {
        None => language.fill(Msg::ChildRuns, &[&pid, command]),
        Some(exited) => language.fill(Msg::ChildEnded, &[&pid, &exit(language, exited)]),
    }
}

/// How a command in the background ended: `exit 0`, `signal 15 (kill_shell)`, …
#[must_use]
pub fn exit(language: Language, child: &ChildExited) -> String {
    let how = match (child.code, child.signal) {
        (Some(code), _) => language.fill(Msg::Exit, &[&code.to_string()]),
        (None, Some(signal)) => language.fill(Msg::Signal, &[&signal.to_string()]),
        (None, None) => language.say(Msg::ExitUnknown).to_owned(),
    };
    match &child.cause {
        Some(cause) => language.fill(Msg::InBrackets, &[&how, &language.translate(cause)]),
        None => how,
    }
}
