//! What waits for a person, in all sessions: gathered from the daemon, as a table, as JSON, as one line.

use client::transcript::words;
use client::{CallError, Client};
use proto::methods::{ApprovalList, PlanList, ProcessList, QuestionList};
use proto::params::approval::{self, Approval};
use proto::params::plan::{self, Plan};
use proto::params::process;
use proto::params::question::{self, Question, Reply};
use proto::params::session::SessionSummary;
use proto::state::{State, WaitingFor};
use proto::{ErrorName, Pid, Stamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::Listing;
use crate::exit::Error;
use crate::pieces::LANGUAGE;
use crate::{output, text};

/// Something that goes on only when a person does something. A call's question has an `approval_id`, one of the model a
/// `question_id`, a plan a `plan_id`, a session that is stuck otherwise has `waiting_for`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Waits {
    Approval(Approval),
    Question(Question),
    Plan(Plan),
    Session(Stuck),
}

/// A session that goes on only when a person does something else than answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Stuck {
    session: Pid,
    /// `credentials` or `paused`.
    waiting_for: &'static str,
    cause: String,
    since: Stamp,
    /// What would let it go on.
    hint: String,
}

impl Waits {
    fn since(&self) -> Stamp {
        match self {
            Self::Approval(approval) => approval.asked_at,
            Self::Question(question) => question.asked_at,
            Self::Plan(plan) => plan.asked_at,
            Self::Session(stuck) => stuck.since,
        }
    }

    /// What it is known by for as long as it waits.
    pub fn id(&self) -> String {
        match self {
            Self::Approval(approval) => approval.approval_id.to_string(),
            Self::Question(question) => question.question_id.to_string(),
            Self::Plan(plan) => plan.plan_id.to_string(),
            Self::Session(stuck) => stuck.session.to_string(),
        }
    }

    /// The row of a question.
    fn row(&self) -> Option<[String; 5]> {
        let (session, what, wants) = match self {
            Self::Approval(approval) => (
                approval.session,
                match approval.escape {
                    Some(_) => format!("{} outside the sandbox", approval.tool),
                    None => approval.tool.clone(),
                },
                approval.subject.clone(),
            ),
            Self::Question(question) => (question.session, "question".to_owned(), asks(question)),
            Self::Plan(plan) => (plan.session, "plan".to_owned(), plan.plan.trim().to_owned()),
            Self::Session(_) => return None,
        };
        let wants = text::exact(&wants).replace('\n', "⏎");
        let ago = output::ago(self.since());
        Some([self.id(), session.to_string(), ago, what, wants])
    }
}

/// The first question, what may be chosen, and how many more there are.
fn asks(question: &Question) -> String {
    let Some(first) = question.questions.first() else {
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
    let more = match question.questions.len() {
        0 | 1 => String::new(),
        count => format!("  (and {} more)", count - 1),
    };
    format!("{}  {options}{more}", first.question)
}

/// Everything that waits: questions oldest first, then sessions that are stuck otherwise.
pub async fn gather(client: &Client) -> Result<Vec<Waits>, CallError> {
    let all = approval::ListParams::default();
    let approvals = client.call::<ApprovalList>(&all).await?.approvals;
    let questions = questions(client).await?;
    let all = process::ListParams::default();
    let sessions = client.call::<ProcessList>(&all).await?.processes;
    let mut waits: Vec<Waits> = approvals.into_iter().map(Waits::Approval).collect();
    waits.extend(questions.into_iter().map(Waits::Question));
    waits.extend(plans(client).await?.into_iter().map(Waits::Plan));
    waits.sort_by_key(Waits::since);
    waits.extend(sessions.iter().filter_map(stuck).map(Waits::Session));
    Ok(waits)
}

/// Open questions of models. A daemon of another version may know none.
pub async fn questions(client: &Client) -> Result<Vec<Question>, CallError> {
    let all = question::ListParams::default();
    match client.call::<QuestionList>(&all).await {
        Ok(list) => Ok(list.questions),
        Err(CallError::Failure(failure))
            if [ErrorName::ProtocolMismatch, ErrorName::NotFound].contains(&failure.name) =>
        {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

/// Open plans of models. A daemon of another version may know none.
pub async fn plans(client: &Client) -> Result<Vec<Plan>, CallError> {
    let all = plan::ListParams::default();
    match client.call::<PlanList>(&all).await {
        Ok(list) => Ok(list.plans),
        Err(CallError::Failure(failure))
            if [ErrorName::ProtocolMismatch, ErrorName::NotFound].contains(&failure.name) =>
        {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

fn stuck(session: &SessionSummary) -> Option<Stuck> {
    let pid = session.pid;
    let open = session.pending_approvals + session.pending_questions + session.pending_plans;
    let (waiting_for, cause, hint) = match (session.state, session.waiting_for) {
        (State::Waiting, Some(WaitingFor::Credentials)) => (
            "credentials",
            session.cause.clone(),
            format!("`reasonix login` stores one; or `reasonix attach {pid}` where it is set"),
        ),
        (State::Paused, _) if open + session.queued > 0 => {
            let waits = [(session.queued, "queued prompts"), (open, "open questions")];
            let waits = waits.iter().filter(|(count, _)| *count > 0);
            let waits: Vec<String> = waits
                .map(|(count, what)| format!("{what}: {count}"))
                .collect();
            let hint = format!("`reasonix resume {pid}` lets it go on");
            ("paused", waits.join(", "), hint)
        }
        _ => return None,
    };
    Some(Stuck {
        session: pid,
        waiting_for,
        cause,
        since: session.active_at,
        hint,
    })
}

/// Prints them: a table of questions and one of sessions that are stuck, ids, or JSON.
pub fn list(waits: &[Waits], listing: &Listing) -> Result<(), Error> {
    if listing.json {
        return output::json(&waits);
    }
    if listing.quiet {
        let mut ids = waits.iter().map(Waits::id);
        return ids.try_for_each(|id| output::line(&text::line(&id)));
    }
    let rows: Vec<_> = waits.iter().filter_map(Waits::row).collect();
    output::table(["ID", "SESSION", "WAITS", "TOOL", "WANTS"], &rows)?;
    let rows: Vec<_> = waits.iter().filter_map(stuck_row).collect();
    if rows.is_empty() {
        return Ok(());
    }
    output::line("")?;
    output::table(["SESSION", "WAITS", "FOR"], &rows)
}

/// The row of a session that is stuck.
fn stuck_row(waits: &Waits) -> Option<[String; 3]> {
    let Waits::Session(stuck) = waits else {
        return None;
    };
    let why = match stuck.waiting_for {
        "credentials" => "waits for a key",
        _ => "is paused",
    };
    Some([
        stuck.session.to_string(),
        output::ago(stuck.since),
        format!("{why} ({}): {}", stuck.cause, stuck.hint),
    ])
}

/// One thing that waits, on a line of its own.
pub fn told(waits: &Waits) -> String {
    let line = match (waits.row(), stuck_row(waits)) {
        (Some([id, session, _, what, wants]), _) => format!("{id}  {session}  {what}  {wants}"),
        (None, Some([session, _, why])) => format!("{session}  {why}"),
        (None, None) => String::new(),
    };
    text::line(&line)
}

/// One line for a status bar: `⚑ 2 waiting (1 approval, 1 question)`. Nothing where nothing waits. A paused session with
/// an open question in it is told by the question.
pub fn line(waits: &[Waits], utf8: bool) -> Option<String> {
    let count = |is: fn(&Waits) -> bool| waits.iter().filter(|waits| is(waits)).count();
    let approvals = count(|waits| matches!(waits, Waits::Approval(_)));
    let questions = count(|waits| matches!(waits, Waits::Question(_)));
    let plans = count(|waits| matches!(waits, Waits::Plan(_)));
    let stuck = |what: &str| {
        let of =
            |waits: &&Waits| matches!(waits, Waits::Session(stuck) if stuck.waiting_for == what);
        waits.iter().filter(of).count()
    };
    let kinds = [
        (approvals, "approval", "approvals"),
        (questions, "question", "questions"),
        (plans, "plan", "plans"),
        (stuck("credentials"), "key", "keys"),
        (stuck("paused"), "paused", "paused"),
    ];
    let kinds: Vec<String> = kinds
        .iter()
        .filter(|(count, _, _)| *count > 0)
        .map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many }))
        .collect();
    let mark = if utf8 { "⚑" } else { "!" };
    (!waits.is_empty()).then(|| format!("{mark} {} waiting ({})", waits.len(), kinds.join(", ")))
}
