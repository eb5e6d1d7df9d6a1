//! Calls, the questions about them, and commands in the background, in words.

use proto::item::CallStatus;
use proto::record::{ChildExited, ReviewVerdict, Unattended, Verdict};

use super::{What, because, took};
use crate::messages::Language;
use crate::messages::trace::Msg;
use crate::transcript::words;

impl What {
    /// A line of a call.
    pub(super) fn calls(&self, language: Language) -> String {
        let fill = |message: Msg, values: &[&str]| language.fill(message, values);
        match self {
            Self::Call {
                tool,
                subject,
                verdict,
                unattended,
                rule,
                layer,
                ..
            } => {
                let verdict = language.say(verdict_words(*verdict, *unattended));
                let (rule, layer) = (language.translate(rule), language.translate(layer));
                fill(Msg::CallOf, &[tool, subject, verdict, &rule, &layer])
            }
            Self::Reviewed { .. } => self.reviewed(language),
            Self::Asked { interaction, asked } => asked.words(language, interaction),
            Self::Answered { .. } => self.answered(language),
            Self::Start {
                tool,
                subject,
                outside,
                ..
            } => {
                let mut words = fill(Msg::CallStart, &[tool, subject]);
                if *outside {
                    words += language.say(Msg::CallOutside);
                }
                words
            }
            Self::Blocked {
                tool,
                reason,
                duration_ms,
                ..
            } => fill(Msg::Blocked, &[tool, &took(language, *duration_ms), reason]),
            Self::Run { .. } => self.run(language),
            Self::Result {
                tool, status, text, ..
            } => fill(Msg::Result, &[tool, status_words(language, *status), text]),
            Self::ChildSpawned { pid, command } => {
                fill(Msg::ChildSpawned, &[&pid.to_string(), command])
            }
            Self::ChildExited { .. } => self.child_exited(language),
            _ => String::new(),
        }
    }

    /// What the reviewer said of a call.
    fn reviewed(&self, language: Language) -> String {
        let Self::Reviewed {
            tool,
            verdict,
            decided,
            reason,
            model,
            duration_ms,
            ..
        } = self
        else {
            return String::new();
        };
        let verdict = language.say(review_words(*verdict, *decided));
        let mut words = language.fill(Msg::Review, &[tool, verdict]);
        if !model.is_empty() {
            words = language.fill(Msg::By, &[&words, model]);
        }
        words = format!("{words} {}", took(language, *duration_ms));
        because(language, words, reason)
    }

    /// The answer to a question.
    fn answered(&self, language: Language) -> String {
        let fill = |message: Msg, values: &[&str]| language.fill(message, values);
        let Self::Answered {
            interaction,
            answers,
            by,
            unattended,
            after_ms,
            note,
        } = self
        else {
            return String::new();
        };
        let asked = interaction.to_string();
        let mut words = match (unattended, answers.is_empty()) {
            (true, _) => fill(Msg::AnsweredAlone, &[&asked]),
            (false, true) => fill(Msg::AnsweredNot, &[&asked, by]),
            (false, false) => fill(Msg::Answered, &[&asked, &answers.join("; "), by]),
        };
        if let Some(ms) = after_ms {
            words = fill(Msg::After, &[&words, &super::seconds(language, *ms)]);
        }
        because(language, words, note.as_deref().unwrap_or_default())
    }

    /// The end of a call that ran.
    fn run(&self, language: Language) -> String {
        let fill = |message: Msg, values: &[&str]| language.fill(message, values);
        let Self::Run {
            tool,
            status,
            duration_ms,
            exit_code,
            signal,
            ..
        } = self
        else {
            return String::new();
        };
        let status_words = status_words(language, *status);
        // Nobody saw its end, nor how long it took.
        if *status == CallStatus::Unknown {
            return fill(Msg::Run, &[tool, status_words]);
        }
        let end = match (exit_code, signal) {
            (Some(code), _) => fill(Msg::Exit, &[&code.to_string()]),
            (None, Some(signal)) => fill(Msg::Signal, &[&signal.to_string()]),
            (None, None) => status_words.to_owned(),
        };
        fill(Msg::RunEnd, &[tool, &took(language, *duration_ms), &end])
    }

    /// The end of a command in the background.
    fn child_exited(&self, language: Language) -> String {
        let Self::ChildExited {
            pid,
            code,
            signal,
            cause,
        } = self
        else {
            return String::new();
        };
        let child = ChildExited {
            pid: *pid,
            code: *code,
            signal: *signal,
            cause: cause.clone(),
            result: None,
        };
        let exit = words::exit(language, &child);
        language.fill(Msg::ChildExited, &[&pid.to_string(), &exit])
    }
}

/// How a call ended: in English the word of the wire.
fn status_words(language: Language, status: CallStatus) -> &'static str {
    match language {
        Language::English => status.as_str(),
        Language::Chinese => words::call_status(language, status),
    }
}

fn review_words(verdict: ReviewVerdict, decided: bool) -> Msg {
    match (verdict, decided) {
        (ReviewVerdict::Deny, true) => Msg::Denied,
        (ReviewVerdict::Deny, false) => Msg::ReviewAgainst,
        (ReviewVerdict::Allow, true) => Msg::Allowed,
        (ReviewVerdict::Allow, false) => Msg::ReviewHarmless,
        (ReviewVerdict::Ask, _) => Msg::ReviewAsks,
        (ReviewVerdict::Failed, _) => Msg::ReviewFailed,
    }
}

fn verdict_words(verdict: Verdict, unattended: Option<Unattended>) -> Msg {
    match (verdict, unattended) {
        (Verdict::Allow, _) => Msg::Allowed,
        (Verdict::Deny, _) => Msg::Denied,
        (Verdict::Ask, None) => Msg::ToBeAsked,
        (Verdict::Ask, Some(Unattended::Allowed)) => Msg::AllowedUnasked,
        (Verdict::Ask, Some(Unattended::Denied)) => Msg::DeniedUnasked,
    }
}
