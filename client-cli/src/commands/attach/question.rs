//! What a person is asked, answered by lines that are typed.

use proto::hello::Role;
use proto::methods::ApprovalList;
use proto::params::approval::{Decision, ListParams};

use super::Attached;
use crate::asked::{Answer, Asked};
use crate::exit::Error;
use crate::output;
use crate::pieces::ask_lines;

impl Attached {
    fn first(&self, is: fn(&Asked) -> bool) -> Option<&Asked> {
        self.open.iter().find(|open| is(open))
    }

    /// Whether a line that is no command answers a question: one is open, and the line begins with a digit.
    pub(super) fn is_answer(&self, line: &str) -> bool {
        self.first(is_question).is_some() && line.starts_with(|first: char| first.is_ascii_digit())
    }

    /// What a line says to the question about a call that is open, where it is one word for yes or no.
    pub(super) fn decides(&self, line: &str) -> Option<Decision> {
        self.first(is_approval)?;
        match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Some(Decision::AllowOnce),
            "n" | "no" => Some(Decision::Deny),
            _ => None,
        }
    }

    /// Shows what is asked, and how it is answered.
    pub(super) fn draw(&mut self, asked: &Asked) -> Result<(), Error> {
        for piece in asked.pieces() {
            output::part(&self.painter.paint(&piece))?;
        }
        self.how_to(asked)
    }

    /// How it is answered, for who may.
    pub(super) fn how_to(&mut self, asked: &Asked) -> Result<(), Error> {
        if self.role < Role::Approve {
            return Ok(());
        }
        self.note(match asked {
            Asked::Approval(_) => {
                "`y` allows it once, `n` does not; `/deny` and words of your own tell the model why"
            }
            Asked::Plan(_) => {
                "`/approve` has it carried out; `/deny` and words of your own have the model go on planning"
            }
            Asked::Question(replies) => match replies.question.questions.len() {
                0 | 1 => "type the number of an option, or `/answer` and words of your own",
                _ => {
                    "answer one after another: the number of an option, or `/answer` and words of your own"
                }
            },
        })
    }

    /// The question of the model that is meant, and the rest of the words: a first word that is the id of an open one
    /// names it.
    fn addressed<'a>(&self, words: &'a str) -> Option<(usize, &'a str)> {
        let (first, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let mut questions = self.open.iter().enumerate();
        let named = questions.find(|(_, open)| is_question(open) && open.id().as_str() == first);
        match named {
            Some((index, _)) => Some((index, rest.trim())),
            None => Some((self.open.iter().position(is_question)?, words)),
        }
    }

    /// Takes words as the answer to the oldest question, or to the one that they name.
    pub(super) async fn reply(&mut self, words: &str) -> Result<(), Error> {
        let Some((index, words)) = self.addressed(words) else {
            return self.note("there is no question to answer");
        };
        if words.is_empty() {
            let asked = self.open.get(index).cloned();
            return asked.map_or(Ok(()), |asked| self.draw(&asked));
        }
        let Some(Asked::Question(open)) = self.open.get_mut(index) else {
            return Ok(());
        };
        match open.take(words) {
            Err(why) => self.note(&why),
            Ok(None) => {
                let next = open
                    .next()
                    .map(|(ask, number, count)| ask_lines(ask, number, count));
                let lines = next.unwrap_or_default();
                lines.iter().try_for_each(|line| self.ask(line))
            }
            Ok(Some(replies)) => {
                // Whatever becomes of it: what was typed is not sent twice.
                open.again();
                let answer = Answer::replies(open.question.question_id.clone(), replies);
                Ok(answer.send(&self.client).await?)
            }
        }
    }

    /// The id and the note of `/deny`: a first word that names what is open is the id.
    pub(super) fn split(&self, words: &str) -> (Option<String>, Option<String>) {
        let (first, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let mut decided = self.open.iter().filter(|open| !is_question(open));
        let (id, note) = match decided.any(|open| open.id().as_str() == first) {
            true => (Some(first.to_owned()), rest.trim()),
            false => (None, words),
        };
        (id, Some(note.to_owned()).filter(|note| !note.is_empty()))
    }

    /// Says yes or no to the plan or the call of this id; without an id to the oldest call, or else plan.
    pub(super) async fn answer(
        &mut self,
        id: Option<String>,
        decision: Decision,
        note: Option<String>,
    ) -> Result<(), Error> {
        let open = match &id {
            None => self.first(is_approval).or(self.first(is_plan)),
            Some(id) => {
                let mut named = self.open.iter().filter(|open| open.id().as_str() == id);
                let plan = named.clone().find(|open| is_plan(open));
                plan.or(named.find(|open| is_approval(open)))
            }
        };
        match (open.and_then(|open| open.decided(decision, note)), id) {
            (Some(answer), _) => Ok(answer.send(&self.client).await?),
            // Either way something has been said.
            (None, Some(id)) => self.listed(&id).await,
            (None, None) => self.note("there is nothing to answer"),
        }
    }

    /// A question that was not shown here: it is shown, and not answered before it was.
    async fn listed(&mut self, id: &str) -> Result<(), Error> {
        let params = ListParams {
            session: Some(self.session.clone()),
        };
        let approvals = self.client.call::<ApprovalList>(&params).await?.approvals;
        let mut approvals = approvals.into_iter();
        match approvals.find(|open| open.approval_id.0 == id) {
            None => self.note(&format!("there is no open question `{id}`")),
            Some(approval) => {
                let asked = Asked::Approval(approval);
                for piece in asked.pieces() {
                    output::part(&self.painter.paint(&piece))?;
                }
                self.open.push(asked);
                self.note("now it is shown: say it again")
            }
        }
    }
}

fn is_approval(asked: &Asked) -> bool {
    matches!(asked, Asked::Approval(_))
}

fn is_question(asked: &Asked) -> bool {
    matches!(asked, Asked::Question(_))
}

fn is_plan(asked: &Asked) -> bool {
    matches!(asked, Asked::Plan(_))
}
