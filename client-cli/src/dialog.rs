//! Approvals and questions for the user: how a form is shown in lines, and what a typed line answers. The one place for `run`, `attach`
//! and `inbox`, which differ only in the typed input.

use client::agent_questions::AgentQuestion;
use client::form::{Content, Decision, Fields, Form, Shape, ShownInteraction, kinds};
use client::reply::Replies;
use client::transcript::words;
use client::{CallError, Client};
use proto::live::Sync;
use proto::methods;
use proto::params::interaction::{
    AnswerParams, ApprovalDecision, Interaction, InteractionAnswer, Question, Reply,
};
use proto::{Body, InteractionId};

use crate::messages::talk::Msg;
use crate::messages::{language, translated};
use crate::pieces::{Piece, Tone, block};

/// A typed line that declines questions of an MCP server.
const DECLINES: &str = "/deny";

/// Something that waits for the user, with the answers given here so far.
#[derive(Clone)]
pub struct Dialog {
    pub interaction: Interaction,
    /// Name of the sub-agent that asks; `None`: the session that is open here.
    pub agent: Option<String>,
    replies: Replies,
}

impl Dialog {
    pub fn new(interaction: Interaction) -> Self {
        Self {
            interaction,
            agent: None,
            replies: Replies::default(),
        }
    }

    /// The question of a sub-agent.
    pub fn of_agent(question: AgentQuestion) -> Self {
        Self {
            agent: Some(question.agent),
            ..Self::new(question.interaction)
        }
    }

    /// What a record opens.
    pub fn opened_by(body: &Body) -> Option<Self> {
        match body {
            Body::InteractionOpened(interaction) => Some(Self::new(interaction.clone())),
            _ => None,
        }
    }

    /// What a record closes.
    pub fn closed_by(body: &Body) -> Option<&InteractionId> {
        match body {
            Body::InteractionResolved(resolved) => Some(&resolved.interaction_id),
            _ => None,
        }
    }

    /// The interactions that are open at the end of a replay.
    pub fn by_sync(sync: &Sync) -> impl Iterator<Item = Self> {
        sync.interactions.iter().cloned().map(Self::new)
    }

    pub fn id(&self) -> &InteractionId {
        &self.interaction.interaction_id
    }

    pub fn form(&self) -> Form<'_> {
        Form::of(&self.interaction)
    }

    /// Whether replies answer it, and not a decision.
    pub fn has_fields(&self) -> bool {
        self.form().fields().is_some()
    }

    /// Whether a yes or no is an answer to it: it is a decision, or questions that can be declined.
    pub fn takes_decision(&self) -> bool {
        self.form().fields().is_none_or(Fields::can_decline)
    }

    /// Whether a line with only `y` or `n` answers it.
    pub fn takes_one_word(&self) -> bool {
        let form = self.form();
        form.decision().is_some_and(|form| form.takes_one_word)
    }

    /// Whether it is a plan.
    pub fn is_plan(&self) -> bool {
        let form = self.form();
        form.decision()
            .is_some_and(|form| form.yes_keep_asking.is_some())
    }

    /// All that the user must see to answer.
    pub fn pieces(&self) -> Vec<Piece> {
        let agent = self.agent.as_ref();
        let asked = agent.map(|agent| words::asked_by(language(), agent, self.interaction.session));
        let asked = asked.into_iter().flat_map(|by| block(Tone::Approval, by));
        asked.chain(pieces(self.id(), &self.form())).collect()
    }

    /// The prompt before the line that answers it.
    pub fn prompt(&self) -> String {
        match &self.form().shape {
            Shape::Decision(decision) => {
                let always = match decision.scope(ApprovalDecision::AllowAlways, 0) {
                    Some(_) => say!(Msg::KeyAlways),
                    None => "",
                };
                let more = match decision.once_only {
                    Some(_) => String::new(),
                    None => say!(Msg::KeySession, always),
                };
                let edit = match decision.command {
                    Some(_) => say!(Msg::KeyEdit),
                    None => "",
                };
                let rest = match decision.others {
                    0 => String::new(),
                    others => say!(Msg::KeyRest, others),
                };
                let asking = match &decision.yes_keep_asking {
                    Some(label) => say!(Msg::KeyAsking, translated(label.line)),
                    None => String::new(),
                };
                let (yes, no) = (translated(decision.yes.line), translated(decision.no.line));
                say!(
                    Msg::PromptDecision,
                    yes,
                    format!("{asking}{more}{edit}{rest}"),
                    no
                )
            }
            Shape::Fields(fields) => {
                let next = self.replies.next(&fields.questions);
                let place = match next {
                    Some((_, number, count)) if count > 1 => format!(" {number}/{count}"),
                    _ => String::new(),
                };
                let numbers = match next.is_some_and(|(asked, ..)| asked.multi_select) {
                    true => say!(Msg::Numbers),
                    false => say!(Msg::Number),
                };
                let prompt = say!(Msg::PromptAnswer, place, numbers);
                match fields.can_decline() {
                    true => format!("{} {prompt}", say!(Msg::OrDecline)),
                    false => prompt,
                }
            }
        }
    }

    /// Takes a typed line. `Ok(None)`: more is needed.
    ///
    /// # Errors
    /// Why it is not an answer, in words; empty where the prompt says enough.
    pub fn typed(&mut self, line: &str) -> Result<Option<AnswerParams>, String> {
        let form = self.form();
        if let Some(fields) = form.fields() {
            if fields.can_decline() && line.trim() == DECLINES {
                let answer = form.decide(ApprovalDecision::Deny, None, None);
                return Ok(Some(self.params(answer)));
            }
            return self.reply(line);
        }
        if let Some(command) = edited(line) {
            return match form.decision().and_then(|form| form.command) {
                None => Err(say!(Msg::NoCommandToChange).to_owned()),
                Some(_) if command.is_empty() => Err(say!(Msg::CommandAfterE).to_owned()),
                Some(_) => Ok(Some(self.params(form.edit(command.to_owned())))),
            };
        }
        if matches!(line.trim(), "c" | "C") && self.is_plan() {
            return Ok(Some(self.params(form.approve_keep_asking())));
        }
        let (decision, note) = read(line).ok_or_else(String::new)?;
        match form.decision().and_then(|form| form.refusal(decision)) {
            Some(why) => Err(translated(why).into_owned()),
            None => Ok(Some(self.params(form.decide(decision, None, note)))),
        }
    }

    /// Takes the reply to the next question. `Ok(None)`: more are to be answered.
    ///
    /// # Errors
    /// Why it is not an answer, in words.
    pub fn reply(&mut self, words: &str) -> Result<Option<AnswerParams>, String> {
        let form = Form::of(&self.interaction);
        let Some(fields) = form.fields() else {
            return Err(String::new());
        };
        let rules = |index| fields.reply_rules(index);
        let all = self.replies.take(&fields.questions, rules, words);
        let all = all.map_err(|why| translated(&why).into_owned())?;
        Ok(all.map(|replies| self.params(form.reply(replies))))
    }

    /// The question that is to be answered next, a line each for it and its options.
    pub fn next_question(&self) -> Vec<String> {
        let form = self.form();
        let next = form.fields().and_then(|fields| {
            let (asked, number, count) = self.replies.next(&fields.questions)?;
            Some(ask_lines(asked, bar(fields), number, count))
        });
        next.unwrap_or_default()
    }

    pub fn params(&self, answer: InteractionAnswer) -> AnswerParams {
        ShownInteraction::from(&self.interaction).params(answer)
    }

    /// The kind of interaction, in a word or two, and its question: for a table.
    pub fn summary(&self) -> (String, String) {
        let form = self.form();
        let name = form.tool.unwrap_or_else(|| say!(kinds::names(form.kind).0));
        let wants = match form.fields() {
            Some(fields) if form.content.is_empty() => first_question(&fields.questions),
            Some(_) | None => form.listed().to_owned(),
        };
        (
            translated(&format!("{name}{}", form.lines.name_suffix)).into_owned(),
            wants,
        )
    }

    /// How one of the kind is called, and how several are.
    pub fn kind_words(&self) -> (&'static str, &'static str) {
        let (one, several) = kinds::names(self.form().kind);
        (say!(one), say!(several))
    }
}

/// Sends an answer.
///
/// # Errors
/// The daemon refuses, or is gone.
pub async fn send(client: &Client, params: &AnswerParams) -> Result<(), CallError> {
    let sent = client.call::<methods::InteractionAnswer>(params).await;
    sent.map(drop)
}

/// The command that a typed line wants to run instead of the shown one.
fn edited(line: &str) -> Option<&str> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    matches!(word, "e" | "E").then(|| rest.trim())
}

/// What a typed line decides, with words to the model; `None`: nothing that counts.
fn read(line: &str) -> Option<(ApprovalDecision, Option<String>)> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let note = Some(rest.trim().to_owned()).filter(|note| !note.is_empty());
    let decision = match word {
        "y" | "Y" | "yes" if note.is_none() => ApprovalDecision::AllowOnce,
        "s" | "S" if note.is_none() => ApprovalDecision::AllowSession,
        "a" | "A" if note.is_none() => ApprovalDecision::AllowAlways,
        "n" | "N" | "no" => ApprovalDecision::Deny,
        "r" | "R" => ApprovalDecision::DenyRest,
        _ => return None,
    };
    Some((decision, note))
}

/// The first question, what may be chosen, and how many more there are.
fn first_question(questions: &[Question]) -> String {
    let Some(first) = questions.first() else {
        return String::new();
    };
    let options = first.options.iter().enumerate().map(|(index, option)| {
        let reply = Reply {
            labels: vec![option.label.clone()],
            other: None,
        };
        format!("{}. {}", index + 1, words::reply(language(), &reply))
    });
    let options = options.collect::<Vec<_>>().join("  ");
    let more = match questions.len() {
        0 | 1 => String::new(),
        count => say!(Msg::AndMore, count - 1),
    };
    format!("{}  {options}{more}", first.question)
}

/// What a form asks, with all that the user must see to answer it.
pub fn pieces(id: &InteractionId, form: &Form<'_>) -> Vec<Piece> {
    let mut lines = vec![format!("{} [{id}]", translated(&form.lines.heading))];
    if let Some(fields) = form.fields() {
        let server_bar = if kinds::is_of_server(form.kind) {
            SERVER_BAR
        } else {
            ""
        };
        let said = form.content.iter().filter_map(|content| match content {
            Content::Text(text) => Some(barred(text, server_bar)),
            Content::Subject(_) | Content::Markdown(_) | Content::Diff { .. } => None,
        });
        lines.extend(said);
        let note = form.lines.note.as_deref();
        lines.extend(note.map(|note| translated(note).into_owned()));
        let count = fields.questions.len();
        for (index, asked) in fields.questions.iter().enumerate() {
            lines.extend(ask_lines(asked, bar(fields), index + 1, count));
            if fields.is_optional(index) {
                lines.push(say!(Msg::MayStayEmpty).to_owned());
            }
        }
        return block(Tone::Approval, lines.join("\n"));
    }
    lines.extend(form.content.iter().map(|content| match content {
        Content::Subject(text) | Content::Text(text) => (*text).to_owned(),
        Content::Markdown(text) => text.trim().to_owned(),
        Content::Diff {
            path,
            diff,
            added,
            removed,
        } => format!("{path}  +{added} −{removed}\n{}", diff.trim_end()),
    }));
    lines.extend(
        form.lines
            .note
            .as_deref()
            .into_iter()
            .flat_map(str::lines)
            .map(|line| translated(line).into_owned()),
    );
    lines.extend(form.decision().into_iter().flat_map(scope_lines));
    let others = form.decision().map_or(0, |decision| decision.others);
    lines.extend((others > 0).then(|| say!(Msg::OthersWait, others)));
    let pieces = lines
        .into_iter()
        .flat_map(|text| block(Tone::Approval, text));
    pieces.collect()
}

/// How far a yes may reach, a line each.
fn scope_lines(decision: &Decision<'_>) -> impl Iterator<Item = String> {
    let reaches = [
        (say!(Msg::ForSession), ApprovalDecision::AllowSession),
        (say!(Msg::Always), ApprovalDecision::AllowAlways),
    ];
    let scopes = reaches.map(|(reach, yes)| {
        let scope = decision.scope(yes, 0);
        scope.map(|scope| format!("{reach}: {} ({})", translated(&scope.words), scope.rule))
    });
    scopes.into_iter().flatten()
}

/// The mark before text of a server, which could pass for our own otherwise.
const SERVER_BAR: &str = "│ ";

/// What stands before the words of questions.
fn bar(fields: &Fields<'_>) -> &'static str {
    if fields.of_server { SERVER_BAR } else { "" }
}

/// The text with a bar before each of its lines that is not blank: long runs of blank ones are counted.
fn barred(text: &str, bar: &str) -> String {
    let lines = text.split('\n').map(|line| match line.trim() {
        "" => String::new(),
        _ => format!("{bar}{line}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The `number`th of `count` questions, a line each for it and for what may be chosen. `bar`: before what is not ours.
fn ask_lines(ask: &Question, bar: &str, number: usize, count: usize) -> Vec<String> {
    let place = match count {
        0 | 1 => String::new(),
        _ => format!("{number}/{count} "),
    };
    let header = match ask.header.trim() {
        // A question that is only its title is not said twice.
        header if header == ask.question.trim() => String::new(),
        "" => String::new(),
        header => format!("{}: ", words::one_line(header)),
    };
    let asked = format!("{header}{}", ask.question.trim());
    let mut lines = vec![format!("{place}{}", barred(&asked, bar))];
    for (index, option) in ask.options.iter().enumerate() {
        let description = match option.description.trim() {
            "" => String::new(),
            description => format!(" ({})", words::one_line(description)),
        };
        let label = words::one_line(&option.label);
        lines.push(format!("  {}. {bar}{label}{description}", index + 1));
    }
    if ask.multi_select {
        lines.push(say!(Msg::Several).to_owned());
    }
    lines
}

#[cfg(test)]
mod tests;
