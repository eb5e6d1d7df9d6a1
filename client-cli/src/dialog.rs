//! What waits for the user: how it is shown in lines, and what a typed line answers. The one place for `run`, `attach` and
//! `inbox`, which differ only in what is typed.

use client::reply::Replies;
use client::transcript::{Asked, words};
use client::{CallError, Client};
use proto::item::Display;
use proto::live::Sync;
use proto::methods;
use proto::params::interaction::{
    AnswerParams, Approval, ApprovalDecision, Interaction, InteractionAnswer, InteractionRequest,
    PlanDecision, Question, Reply, Scope,
};
use proto::record::InteractionResolved;
use proto::{Body, InteractionId, RequestId};

use crate::pieces::{LANGUAGE, Piece, Tone, block};

/// Something that waits for the user, with what was answered of it here.
#[derive(Clone)]
pub struct Dialog {
    pub interaction: Interaction,
    replies: Replies,
}

/// What the user decides about a call or a plan.
#[derive(Clone)]
pub struct Decided {
    pub decision: ApprovalDecision,
    pub scope: Option<Scope>,
    pub note: Option<String>,
}

impl Dialog {
    pub fn new(interaction: Interaction) -> Self {
        Self {
            interaction,
            replies: Replies::default(),
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

    /// What is open where a replay ends.
    pub fn by_sync(sync: &Sync) -> impl Iterator<Item = Self> {
        sync.interactions.iter().cloned().map(Self::new)
    }

    pub fn id(&self) -> &InteractionId {
        &self.interaction.interaction_id
    }

    pub fn request(&self) -> &InteractionRequest {
        &self.interaction.request
    }

    pub fn is_approval(&self) -> bool {
        matches!(self.request(), InteractionRequest::Approval(_))
    }

    /// Whether replies answer it, and not a decision.
    pub fn is_question(&self) -> bool {
        matches!(self.request(), InteractionRequest::Questions { .. })
    }

    /// All that the user must see to answer.
    pub fn pieces(&self) -> Vec<Piece> {
        match self.request() {
            InteractionRequest::Plan { plan } => plan_pieces(self.id(), plan),
            InteractionRequest::Approval(_) | InteractionRequest::Questions { .. } => {
                pieces(&self.interaction)
            }
        }
    }

    /// How it is answered by commands.
    pub fn how_to(&self) -> &'static str {
        match self.request() {
            InteractionRequest::Approval(_) => {
                "`y` allows it once, `n` does not; `/deny` and words of your own tell the model why"
            }
            InteractionRequest::Plan { .. } => {
                "`/approve` has it carried out; `/deny` and words of your own have the model go on planning"
            }
            InteractionRequest::Questions { questions } => match questions.len() {
                0 | 1 => "type the number of an option, or `/answer` and words of your own",
                _ => {
                    "answer one after another: the number of an option, or `/answer` and words of your own"
                }
            },
        }
    }

    /// What stands before the line that answers it.
    pub fn prompt(&self) -> String {
        match self.request() {
            InteractionRequest::Approval(approval) if approval.escape.is_some() => {
                "? y once, outside the sandbox · n [words to the model] no: ".to_owned()
            }
            InteractionRequest::Approval(approval) => {
                let always = match approval.scopes.iter().any(|scope| scope.always) {
                    true => " · a always",
                    false => "",
                };
                format!("? y once · s for the session{always} · n [words to the model] no: ")
            }
            InteractionRequest::Plan { .. } => {
                "? y approve it · n [words to the model] go on planning: ".to_owned()
            }
            InteractionRequest::Questions { questions } => {
                let (several, place) = match self.replies.next(questions) {
                    Some((asked, _, 0 | 1)) => (asked.multi_select, String::new()),
                    Some((asked, number, count)) => {
                        (asked.multi_select, format!(" {number}/{count}"))
                    }
                    None => (false, String::new()),
                };
                let numbers = if several { "numbers (1,3)" } else { "a number" };
                format!("? answer{place}: {numbers}, or words of your own: ")
            }
        }
    }

    /// Takes a typed line. `Ok(None)`: more is needed.
    ///
    /// # Errors
    /// It is no answer: why, in words; empty where the prompt says enough.
    pub fn typed(&mut self, line: &str) -> Result<Option<AnswerParams>, String> {
        if self.is_question() {
            return self.reply(line);
        }
        let decided = read(line).ok_or_else(String::new)?;
        if let InteractionRequest::Approval(approval) = self.request() {
            let lasts = matches!(
                decided.decision,
                ApprovalDecision::AllowSession | ApprovalDecision::AllowAlways
            );
            if approval.escape.is_some() && lasts {
                return Err("outside the sandbox a call runs once: y, or n".into());
            }
            let always = approval.scopes.iter().any(|scope| scope.always);
            if decided.decision == ApprovalDecision::AllowAlways && !always {
                return Err("this cannot be allowed always: once, or for the session".into());
            }
        }
        self.decided(decided).map(Some).ok_or_else(String::new)
    }

    /// Takes the reply to the next question. `Ok(None)`: more are to be answered.
    ///
    /// # Errors
    /// It is no answer: why, in words.
    pub fn reply(&mut self, words: &str) -> Result<Option<AnswerParams>, String> {
        let InteractionRequest::Questions { questions } = &self.interaction.request else {
            return Err(String::new());
        };
        let all = self.replies.take(questions, words)?;
        Ok(all.map(|replies| self.params(InteractionAnswer::Questions { replies })))
    }

    /// The question that is to be answered next, a line each for it and its options.
    pub fn next_question(&self) -> Vec<String> {
        let InteractionRequest::Questions { questions } = self.request() else {
            return Vec::new();
        };
        let next = self.replies.next(questions);
        next.map_or_else(Vec::new, |(asked, number, count)| {
            ask_lines(asked, number, count)
        })
    }

    /// The answer to a call or a plan. `None`: this is no answer to it; a plan is approved once.
    pub fn decided(&self, decided: Decided) -> Option<AnswerParams> {
        let Decided {
            decision,
            scope,
            note,
        } = decided;
        let answer = match self.request() {
            InteractionRequest::Approval(_) => InteractionAnswer::Approval {
                decision,
                scope,
                note,
            },
            InteractionRequest::Plan { .. } => InteractionAnswer::Plan {
                decision: match decision {
                    ApprovalDecision::AllowOnce => PlanDecision::Approve,
                    ApprovalDecision::Deny => PlanDecision::Reject,
                    ApprovalDecision::AllowSession | ApprovalDecision::AllowAlways => return None,
                },
                note,
            },
            InteractionRequest::Questions { .. } => return None,
        };
        Some(self.params(answer))
    }

    pub fn params(&self, answer: InteractionAnswer) -> AnswerParams {
        AnswerParams {
            interaction_id: self.id().clone(),
            shown_hash: self.interaction.shown_hash.clone(),
            answer,
            request_id: Some(RequestId::new()),
        }
    }

    /// What waits, in a word or two, and what is wanted: for a table.
    pub fn summary(&self) -> (String, String) {
        match self.request() {
            InteractionRequest::Approval(approval) => (
                match approval.escape {
                    Some(_) => format!("{} outside the sandbox", approval.tool),
                    None => approval.tool.clone(),
                },
                approval.subject.clone(),
            ),
            InteractionRequest::Questions { questions } => {
                ("question".to_owned(), first_question(questions))
            }
            InteractionRequest::Plan { plan } => ("plan".to_owned(), plan.trim().to_owned()),
        }
    }

    /// How one of the kind is called, and how several are.
    pub fn kind_words(&self) -> (&'static str, &'static str) {
        match self.request() {
            InteractionRequest::Approval(_) => ("approval", "approvals"),
            InteractionRequest::Questions { .. } => ("question", "questions"),
            InteractionRequest::Plan { .. } => ("plan", "plans"),
        }
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

/// What a typed line decides; `None`: nothing that counts.
fn read(line: &str) -> Option<Decided> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let note = Some(rest.trim().to_owned()).filter(|note| !note.is_empty());
    let decision = match word {
        "y" | "Y" | "yes" if note.is_none() => ApprovalDecision::AllowOnce,
        "s" | "S" if note.is_none() => ApprovalDecision::AllowSession,
        "a" | "A" if note.is_none() => ApprovalDecision::AllowAlways,
        "n" | "N" | "no" => ApprovalDecision::Deny,
        _ => return None,
    };
    Some(Decided {
        decision,
        scope: None,
        note,
    })
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
        format!("{}. {}", index + 1, words::reply(LANGUAGE, &reply))
    });
    let options = options.collect::<Vec<_>>().join("  ");
    let more = match questions.len() {
        0 | 1 => String::new(),
        count => format!("  (and {} more)", count - 1),
    };
    format!("{}  {options}{more}", first.question)
}

/// What an interaction asks. A plan is shown where the model says it.
pub fn pieces(interaction: &Interaction) -> Vec<Piece> {
    let id = &interaction.interaction_id;
    match &interaction.request {
        InteractionRequest::Approval(approval) => approval_pieces(id, approval),
        InteractionRequest::Questions { questions } => question_pieces(id, questions),
        InteractionRequest::Plan { plan } => plan_pieces(id, plan),
    }
}

/// A question about a call, with all that a person must see to answer it.
fn approval_pieces(id: &InteractionId, approval: &Approval) -> Vec<Piece> {
    let tool = &approval.tool;
    let mut lines = vec![match &approval.escape {
        None => format!("may `{tool}` run? [{id}]"),
        Some(reason) => format!(
            "the sandbox seems to have stopped it: {reason} — may `{tool}` run once outside it, with all your rights? [{id}]"
        ),
    }];
    lines.push(approval.subject.clone());
    match &approval.preview {
        Display::Line { text } | Display::Command { tail: text, .. } => {
            if *text != approval.subject && !text.is_empty() {
                lines.push(text.clone());
            }
        }
        Display::Diff {
            path,
            diff,
            added,
            removed,
        } => lines.push(format!("{path}  +{added} −{removed}\n{}", diff.trim_end())),
    }
    if approval.escape.is_none() {
        lines.push(format!("asked because: {}", approval.rule));
    }
    let always = approval.scopes.iter().find(|scope| scope.always);
    for (reach, scope) in [
        ("for the session", approval.scopes.first()),
        ("always, in this workspace", always),
    ] {
        lines.extend(scope.map(|scope| format!("{reach}: {} ({})", scope.words, scope.rule)));
    }
    let pieces = lines
        .into_iter()
        .flat_map(|text| block(Tone::Approval, text));
    pieces.collect()
}

/// A plan, whole: what the user must see to answer it.
pub fn plan_pieces(id: &InteractionId, plan: &str) -> Vec<Piece> {
    let lines = [
        format!("the model proposes a plan [{id}]"),
        plan.trim().to_owned(),
        "a yes ends plan mode, and what the plan needs runs unasked until the turn ends".to_owned(),
    ];
    let pieces = lines
        .into_iter()
        .flat_map(|text| block(Tone::Approval, text));
    pieces.collect()
}

/// Questions with their numbered options.
fn question_pieces(id: &InteractionId, questions: &[Question]) -> Vec<Piece> {
    let count = questions.len();
    let mut lines = vec![match count {
        1 => format!("the model asks [{id}]"),
        _ => format!("the model asks {count} questions [{id}]"),
    }];
    for (index, asked) in questions.iter().enumerate() {
        lines.extend(ask_lines(asked, index + 1, count));
    }
    block(Tone::Approval, lines.join("\n"))
}

/// The `number`th of `count` questions, a line each for it and for what may be chosen.
fn ask_lines(ask: &Question, number: usize, count: usize) -> Vec<String> {
    let place = match count {
        0 | 1 => String::new(),
        _ => format!("{number}/{count} "),
    };
    let header = match ask.header.trim() {
        "" => String::new(),
        header => format!("{}: ", words::one_line(header)),
    };
    let mut lines = vec![format!("{place}{header}{}", ask.question.trim())];
    for (index, option) in ask.options.iter().enumerate() {
        let description = match option.description.trim() {
            "" => String::new(),
            description => format!(" ({})", words::one_line(description)),
        };
        let label = words::one_line(&option.label);
        lines.push(format!("  {}. {label}{description}", index + 1));
    }
    if ask.multi_select {
        lines.push("  several may be chosen".to_owned());
    }
    lines
}

/// Who settled it, and how: one line, or a line a question.
pub fn resolved_words(asked: &Asked, resolved: &InteractionResolved) -> String {
    let (id, by) = (&resolved.interaction_id, &resolved.by);
    let with_note = |note: &Option<String>| {
        let note = note.as_ref();
        note.map_or_else(String::new, |note| format!(": {note}"))
    };
    match &resolved.answer {
        Some(InteractionAnswer::Approval { decision, note, .. }) => {
            let decision = match decision {
                ApprovalDecision::AllowOnce => "allowed once",
                ApprovalDecision::AllowSession => "allowed for the session",
                ApprovalDecision::AllowAlways => "allowed always",
                ApprovalDecision::Deny => "denied",
            };
            format!("[{id}] {decision} by {by}{}", with_note(note))
        }
        Some(InteractionAnswer::Plan { decision, note }) => {
            let decision = match decision {
                PlanDecision::Approve => "approved",
                PlanDecision::Reject => "sent back",
            };
            format!("[{id}] plan {decision} by {by}{}", with_note(note))
        }
        Some(InteractionAnswer::Questions { replies }) => replies_words(id, by, replies),
        None => match (asked, resolved.unattended) {
            (Asked::Approval { .. }, _) => {
                format!("[{id}] denied by {by}{}", with_note(&resolved.reason))
            }
            (Asked::Questions(_), true) => format!("[{id}] nobody was there to answer"),
            (Asked::Questions(_), false) => format!("[{id}] closed without an answer by {by}"),
            (Asked::Plan, true) => format!("[{id}] nobody was there to approve the plan"),
            (Asked::Plan, false) => format!("[{id}] plan closed without an answer by {by}"),
        },
    }
}

fn replies_words(id: &InteractionId, by: &str, replies: &[Reply]) -> String {
    if let [reply] = replies {
        return format!("[{id}] answered by {by}: {}", words::reply(LANGUAGE, reply));
    }
    let mut lines = vec![format!("[{id}] answered by {by}")];
    let answers = replies.iter().enumerate();
    lines.extend(
        answers.map(|(index, reply)| format!("  {}. {}", index + 1, words::reply(LANGUAGE, reply))),
    );
    lines.join("\n")
}

#[cfg(test)]
mod tests;
