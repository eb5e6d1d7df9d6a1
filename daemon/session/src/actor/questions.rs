//! Answers of people to questions of the model.

use proto::params::{Empty, question};
use proto::{ErrorName, Failure};
use turn::Input;
use turn::facts::content_of_replies;
use turn::input::Answers;

use crate::actor::Actor;
use crate::actor::inbox::Reply;
use crate::actor::replies::{answered_first, nothing_waits, refuse};

impl Actor {
    pub(crate) fn replies(
        &mut self,
        params: question::AnswerParams,
        by: String,
        reply: Reply<Empty>,
    ) {
        let content = content_of_replies(&params.question_id, &params.replies);
        let Some(reply) = self.unless_repeated(params.request_id, &content, reply) else {
            return;
        };
        if let Some(refusal) = self.refusal().or_else(|| self.replies_refusal(&params)) {
            return refuse(reply, refusal);
        }
        let seq = self.machine.facts().seq.next();
        self.step(Input::Answers(Box::new(Answers {
            question_id: params.question_id,
            replies: params.replies,
            by,
            unattended: false,
            request_id: params.request_id,
        })));
        self.reply_when(seq, reply, Empty {});
    }

    fn replies_refusal(&self, params: &question::AnswerParams) -> Option<Failure> {
        let facts = self.machine.facts();
        let Some(open) = facts.asked.get(&params.question_id) else {
            let mut replied = facts.replied.iter();
            let first = replied.find(|(replied, _)| replied.question_id == params.question_id);
            return Some(match first {
                Some((replied, at)) => answered_first(&replied.by, *at, None),
                None => nothing_waits("question", &params.question_id.0),
            });
        };
        let why = misfit(&open.questions, &params.replies)?;
        Some(Failure::new(
            ErrorName::InvalidParams,
            why,
            "Choose among the options by their labels, or say something else in words of your own.",
        ))
    }
}

/// Why replies are no answers to these questions.
fn misfit(asked: &[question::Ask], replies: &[question::Reply]) -> Option<String> {
    if asked.len() != replies.len() {
        let (asked, replies) = (asked.len(), replies.len());
        return Some(format!(
            "There are {asked} questions, and {replies} replies."
        ));
    }
    asked.iter().zip(replies).find_map(|(ask, reply)| {
        let header = &ask.header;
        let other = reply
            .other
            .as_deref()
            .is_some_and(|words| !words.trim().is_empty());
        if reply.labels.is_empty() && !other {
            return Some(format!("Nothing is said to `{header}`."));
        }
        if reply.labels.len() > 1 && !ask.multi_select {
            return Some(format!("`{header}` has one answer."));
        }
        let unknown = reply
            .labels
            .iter()
            .find(|label| ask.options.iter().all(|option| option.label != **label))?;
        Some(format!("`{header}` has no option `{unknown}`."))
    })
}
