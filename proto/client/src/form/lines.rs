//! How an answer is shown on separate lines.

use proto::params::interaction::InteractionAnswer;
use proto::record::InteractionResolved;

use super::kinds::Asked;
use crate::messages::Language;
use crate::messages::trace::Msg as Trace;
use crate::trace::short;
use crate::transcript::words;

crate::catalog! {
    /// 0: which question, 1: the decision, 2: who.
    Decided = "[{0}] {1} by {2}", "[{0}] {2}：{1}";
    PlanDecided = "[{0}] plan {1} by {2}", "[{0}] {2}：计划{1}";
    /// 0: which question, 1: who.
    AnsweredBy = "[{0}] answered by {1}", "[{0}] {1} 已回答";
    DeniedBy = "[{0}] denied by {1}", "[{0}] {1}：已拒绝";
    Closed = "[{0}] closed without an answer by {1}", "[{0}] {1} 未作回答即关闭";
    PlanClosed = "[{0}] plan closed without an answer by {1}", "[{0}] {1} 未作答即关闭计划";
    /// 0: which question, 1: who, 2: the command.
    DecidedEdited = "[{0}] allowed by {1} with the command changed to: {2}", "[{0}] {1}：已允许，命令改为：{2}";
    /// 0: which question.
    Alone = "[{0}] no client was attached to answer", "[{0}] 没有可作答的客户端";
    PlanAlone = "[{0}] no client was attached to approve the plan", "[{0}] 没有可批准计划的客户端";
    /// What happened; a note.
    WithNote = "{0}: {1}", "{0}：{1}";
}

impl Asked {
    /// Who settled it, and how: one line, or a line a question. For clients that print lines.
    #[must_use]
    pub fn settled_lines(&self, language: Language, resolved: &InteractionResolved) -> String {
        let id = resolved.interaction_id.to_string();
        let by: &str = &words::who(language, &resolved.by);
        let with_note = |line: String, note: &Option<String>| match note {
            // Whoever answered wrote it.
            Some(note) => language.fill(Msg::WithNote, &[&line, note]),
            None => line,
        };
        let decided =
            |message, decision| language.fill(message, &[&id, &language.translate(decision), by]);
        match &resolved.answer {
            Some(InteractionAnswer::Approval {
                edited_command: Some(command),
                ..
            }) => language.fill(Msg::DecidedEdited, &[&id, by, command]),
            Some(InteractionAnswer::Approval { decision, note, .. }) => {
                with_note(decided(Msg::Decided, decision.called()), note)
            }
            Some(InteractionAnswer::Plan { decision, note }) => {
                with_note(decided(Msg::PlanDecided, decision.called()), note)
            }
            Some(InteractionAnswer::Elicitation { decision, replies }) if replies.is_empty() => {
                decided(Msg::Decided, decision.called())
            }
            Some(
                InteractionAnswer::Questions { replies }
                | InteractionAnswer::Elicitation { replies, .. },
            ) => {
                let answered = language.fill(Msg::AnsweredBy, &[&id, by]);
                let reply = |reply| words::reply(language, reply);
                if let [only] = replies.as_slice() {
                    return language.fill(Msg::WithNote, &[&answered, &reply(only)]);
                }
                let mut lines = vec![answered];
                let numbered = replies.iter().zip(1..);
                lines.extend(numbered.map(|(said, number)| format!("  {number}. {}", reply(said))));
                lines.join("\n")
            }
            None => match (self, resolved.unattended) {
                (Self::Approval { .. } | Self::PutBack(_), _) => {
                    let denied = language.fill(Msg::DeniedBy, &[&id, by]);
                    let reason = resolved.reason.as_deref();
                    let reason = reason.map(|reason| language.translate(reason).into_owned());
                    with_note(denied, &reason)
                }
                (Self::Questions(_) | Self::Elicitation(_), true) => {
                    language.fill(Msg::Alone, &[&id])
                }
                (Self::Questions(_) | Self::Elicitation(_), false) => {
                    language.fill(Msg::Closed, &[&id, by])
                }
                (Self::Plan, true) => language.fill(Msg::PlanAlone, &[&id]),
                (Self::Plan, false) => language.fill(Msg::PlanClosed, &[&id, by]),
            },
        }
    }
}

/// The answer, and the words that went with it, for a line of the trace.
pub(crate) fn traced_answer(
    language: Language,
    answer: InteractionAnswer,
) -> (Vec<String>, Option<String>) {
    let decision = answer.decision().map(|(word, _)| word.to_owned());
    match answer {
        InteractionAnswer::Approval {
            note,
            edited_command,
            ..
        } => {
            let edited =
                edited_command.map(|command| language.fill(Trace::EditedTo, &[&short(&command)]));
            (decision.into_iter().chain(edited).collect(), note)
        }
        InteractionAnswer::Plan { note, .. } => (decision.into_iter().collect(), note),
        InteractionAnswer::Questions { replies }
        | InteractionAnswer::Elicitation { replies, .. } => {
            let replies = replies.iter();
            let said = replies.map(|reply| short(&words::reply(language, reply)));
            (decision.into_iter().chain(said).collect(), None)
        }
    }
}
