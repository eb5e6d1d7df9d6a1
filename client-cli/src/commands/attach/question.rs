//! What a person is asked, answered by lines that are typed.

use proto::hello::Role;
use proto::methods::InteractionList;
use proto::params::interaction::{AnswerParams, ApprovalDecision, ListParams};

use super::Attached;
use crate::dialog::{self, Dialog};
use crate::exit::Error;
use crate::messages::asking::Msg as Asking;
use crate::messages::talk::Msg;
use crate::messages::translated;
use crate::output;

/// Whether one answer can deny other calls too.
fn has_others(asked: &Dialog) -> bool {
    asked.form().decision().is_some_and(|form| form.others > 0)
}

impl Attached {
    fn first(&self, is: fn(&Dialog) -> bool) -> Option<&Dialog> {
        self.open.iter().find(|open| is(open))
    }

    /// Whether a line that is not a command answers a question: one is open, and the line begins with a digit.
    pub(super) fn is_answer(&self, line: &str) -> bool {
        self.first(Dialog::has_fields).is_some()
            && line.starts_with(|first: char| first.is_ascii_digit())
    }

    /// What a line decides, if it is one word for yes or no and something is open that takes it.
    pub(super) fn decides(&self, line: &str) -> Option<ApprovalDecision> {
        self.first(Dialog::takes_one_word)?;
        match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Some(ApprovalDecision::AllowOnce),
            "n" | "no" => Some(ApprovalDecision::Deny),
            "r" if self.first(has_others).is_some() => Some(ApprovalDecision::DenyRest),
            _ => None,
        }
    }

    /// Shows the question, and how to answer it.
    pub(super) fn draw(&mut self, asked: &Dialog) -> Result<(), Error> {
        for piece in asked.pieces() {
            output::part(&self.painter.paint(&piece))?;
        }
        self.how_to(asked)
    }

    /// How it is answered, for who may.
    pub(super) fn how_to(&mut self, asked: &Dialog) -> Result<(), Error> {
        if self.role < Role::Approve {
            return Ok(());
        }
        self.note(&translated(asked.form().lines.how_to))?;
        match has_others(asked) {
            true => self.note(say!(Msg::RestToo)),
            false => Ok(()),
        }
    }

    /// The question of the model that is meant, and the rest of the words: a first word that is the id of an open one
    /// names it.
    fn addressed<'a>(&self, words: &'a str) -> Option<(usize, &'a str)> {
        let (first, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let mut questions = self.open.iter().enumerate();
        let named = questions.find(|(_, open)| open.has_fields() && open.id().0 == first);
        match named {
            Some((index, _)) => Some((index, rest.trim())),
            None => Some((self.open.iter().position(Dialog::has_fields)?, words)),
        }
    }

    /// Takes words as the answer to the oldest question, or to the one that they name.
    pub(super) async fn reply(&mut self, words: &str) -> Result<(), Error> {
        let Some((index, words)) = self.addressed(words) else {
            return self.note(say!(Msg::NoQuestion));
        };
        if words.is_empty() {
            let asked = self.open.get(index).cloned();
            return asked.map_or(Ok(()), |asked| self.draw(&asked));
        }
        let Some(open) = self.open.get_mut(index) else {
            return Ok(());
        };
        match open.reply(words) {
            Err(why) => self.note(&why),
            Ok(None) => {
                let lines = open.next_question();
                lines.iter().try_for_each(|line| self.ask(line))
            }
            // Whatever becomes of it: the typed answer is not sent twice.
            Ok(Some(params)) => self.send(params).await,
        }
    }

    /// The id and the note of `/deny`: a first word that names an open interaction is the id.
    pub(super) fn split(&self, words: &str) -> (Option<String>, Option<String>) {
        let (first, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let asked = self.open.iter().chain(&self.later);
        let mut decided = asked.filter(|asked| asked.takes_decision());
        let (id, note) = match decided.any(|asked| asked.id().0 == first) {
            true => (Some(first.to_owned()), rest.trim()),
            false => (None, words),
        };
        (id, Some(note.to_owned()).filter(|note| !note.is_empty()))
    }

    /// Says yes or no to the plan or the call of this id; without an id to the oldest call, or else plan.
    pub(super) async fn answer(
        &mut self,
        id: Option<String>,
        decision: ApprovalDecision,
        note: Option<String>,
    ) -> Result<(), Error> {
        let open = match &id {
            None => self
                .first(Dialog::takes_one_word)
                .or(self.first(Dialog::takes_decision)),
            Some(id) => self.open.iter().find(|open| open.id().0 == *id),
        };
        match (open.filter(|open| open.takes_decision()), id) {
            (Some(open), _) if open.has_fields() && decision != ApprovalDecision::Deny => {
                self.how_to(&open.clone())
            }
            (Some(open), _) if open.has_fields() && note.is_some() => {
                self.note(&say!(Asking::NoNoteToServer, open.id()))
            }
            (Some(open), _) => {
                let params = open.params(open.form().decide(decision, None, note));
                self.send(params).await
            }
            // Either way something has been said.
            (None, Some(id)) => self.listed(&id).await,
            (None, None) => self.note(say!(Msg::NoOpenQuestion)),
        }
    }

    /// Approves the plan of this id, or the oldest, and keeps asking about calls.
    pub(super) async fn approve_keep_asking(&mut self, id: Option<String>) -> Result<(), Error> {
        let open = match &id {
            None => self.first(Dialog::is_plan),
            Some(id) => self.open.iter().find(|open| open.id().0 == *id),
        };
        match (open, id) {
            (Some(open), _) => {
                let params = open.params(open.form().approve_keep_asking());
                self.send(params).await
            }
            (None, Some(id)) => self.listed(&id).await,
            (None, None) => self.note(say!(Msg::NoPlanWaits)),
        }
    }

    /// Sends an answer. The session's own events say what became of its own questions.
    async fn send(&mut self, params: AnswerParams) -> Result<(), Error> {
        dialog::send(&self.client, &params).await?;
        let is_answered =
            |open: &Dialog| open.agent.is_some() && *open.id() == params.interaction_id;
        self.open.retain(|open| !is_answered(open));
        Ok(())
    }

    /// Has another command run in place of the one that waits: that of the id in front, else the oldest.
    pub(super) async fn change_command(&mut self, words: &str) -> Result<(), Error> {
        let (id, command) = self.split(words);
        let open = match &id {
            None => self.first(Dialog::takes_one_word),
            Some(id) => self.open.iter().find(|open| open.id().0 == *id),
        };
        match (open, command) {
            (_, None) => self.note(say!(Msg::ChangeNeedsCommand)),
            (None, Some(_)) => self.note(say!(Msg::NoCallWaits)),
            (Some(open), Some(command)) => {
                let params = open.params(open.form().edit(command));
                self.send(params).await
            }
        }
    }

    /// A question that was not shown here: it is shown, and not answered before it was.
    async fn listed(&mut self, id: &str) -> Result<(), Error> {
        let later = self.later.iter().position(|later| later.id().0 == id);
        let found = match later.and_then(|at| self.later.remove(at)) {
            Some(later) => Some(later),
            None => self.find_listed(id).await?,
        };
        let Some(open) = found else {
            return self.note(&say!(Msg::NoSuchQuestion, id));
        };
        for piece in open.pieces() {
            output::part(&self.painter.paint(&piece))?;
        }
        self.open.retain(|known| known.id() != open.id());
        self.open.insert(0, open);
        self.note(say!(Msg::ShownNow))
    }

    /// The question of this id, as the daemon lists it.
    async fn find_listed(&self, id: &str) -> Result<Option<Dialog>, Error> {
        let params = ListParams {
            session: Some(self.session.clone()),
        };
        let list = self.client.call::<InteractionList>(&params).await?;
        let mut open = list.interactions.into_iter().map(Dialog::new);
        Ok(open.find(|open| open.id().0 == id && !open.has_fields()))
    }
}
