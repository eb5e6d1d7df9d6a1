//! Questions of the model, answered by lines that are typed.

use proto::RequestId;
use proto::methods::QuestionAnswer;
use proto::params::question::{AnswerParams, Question};

use super::Attached;
use crate::exit::Error;
use crate::output;
use crate::pieces::{ask_lines, question_pieces};
use crate::reply::Replies;

impl Attached {
    /// Whether a line that is no command answers a question: one is open, and the line begins with a digit.
    pub(super) fn is_answer(&self, line: &str) -> bool {
        !self.questions.is_empty() && line.starts_with(|first: char| first.is_ascii_digit())
    }

    /// The open questions as they are now; those that the replay did not show are shown. True: there was one.
    pub(super) fn open(&mut self, open: &[Question]) -> Result<bool, Error> {
        let mut known = std::mem::take(&mut self.questions);
        let mut new = false;
        for question in open {
            let id = &question.question_id;
            match known
                .iter()
                .position(|known| known.question.question_id == *id)
            {
                Some(index) => self.questions.push(known.remove(index)),
                None => {
                    new = true;
                    self.questions.push(Replies::new(question.clone()));
                    self.draw(question)?;
                }
            }
        }
        Ok(new)
    }

    fn draw(&mut self, question: &Question) -> Result<(), Error> {
        for piece in question_pieces(question) {
            output::part(&self.painter.paint(&piece))?;
        }
        self.how_to_answer()
    }

    /// How the newest question is answered, for who may.
    pub(super) fn how_to_answer(&mut self) -> Result<(), Error> {
        use proto::hello::Role;

        let Some(replies) = self.questions.last() else {
            return Ok(());
        };
        if self.role < Role::Approve {
            return Ok(());
        }
        let words = match replies.question.questions.len() {
            0 | 1 => "type the number of an option, or `/answer` and words of your own",
            _ => {
                "answer one after another: the number of an option, or `/answer` and words of your own"
            }
        };
        self.note(words)
    }

    /// The question that is meant, and the rest of the words: a first word that is the id of an open one names it.
    fn addressed<'a>(&self, words: &'a str) -> Option<(usize, &'a str)> {
        let (first, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let named = self
            .questions
            .iter()
            .position(|open| open.question.question_id.0 == first);
        match named {
            Some(index) => Some((index, rest.trim())),
            None if self.questions.is_empty() => None,
            None => Some((0, words)),
        }
    }

    /// Takes words as the answer to the oldest question, or to the one that they name.
    pub(super) async fn reply(&mut self, words: &str) -> Result<(), Error> {
        let Some((index, words)) = self.addressed(words) else {
            return self.note("there is no question to answer");
        };
        let Some(open) = self.questions.get_mut(index) else {
            return Ok(());
        };
        if words.is_empty() {
            let question = open.question.clone();
            return self.draw(&question);
        }
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
                let params = AnswerParams {
                    question_id: open.question.question_id.clone(),
                    replies,
                    request_id: Some(RequestId::new()),
                };
                self.client.call::<QuestionAnswer>(&params).await?;
                Ok(())
            }
        }
    }
}
