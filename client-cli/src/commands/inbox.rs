//! `reasonix inbox`: everything that waits for a person.

pub mod waits;

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Subcommand;
use client::form::{self, Fields, Form, ShownInteraction, kinds};
use client::{CallError, Client, ConnectError};
use proto::InteractionId;
use proto::hello::Role;
use proto::methods::InteractionList;
use proto::params::elicitation::ElicitationDecision;
use proto::params::interaction::{
    AnswerParams, ApprovalDecision, InteractionAnswer, ListParams, Reply, Scope,
};
use tokio::time::Instant;

use super::Listing;
use crate::dialog::{self, Dialog};
use crate::exit::{self, Error};
use crate::messages::asking::Msg;
use crate::messages::translated;
use crate::paint::Painter;
use crate::pieces::Piece;
use crate::when::seconds;
use crate::{output, reach, text};
use client::reply;

use waits::Waits;

/// How often it is looked whether something waits.
const LOOK: Duration = Duration::from_millis(300);

/// How long a status bar waits for the daemon.
const LINE_MAX: Duration = Duration::from_secs(2);

/// List the approvals, questions and plans that wait for you.
///
/// Oldest first. The subcommands answer them. Also lists sessions that need a key for their provider, paused sessions
/// with pending work, and goals that are paused at a time limit. Never starts a daemon: without one nothing waits.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(flatten)]
    listing: Listing,
    /// Print one line for a status bar; print nothing if nothing waits.
    #[arg(long, conflicts_with_all = ["json", "quiet", "wait", "watch"])]
    line: bool,
    /// Return when something waits in any session.
    #[arg(long, conflicts_with = "watch")]
    wait: bool,
    /// Stop waiting after this many seconds, with exit code 124.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "wait")]
    timeout: Option<u64>,
    /// Keep running; print a line when a question opens or closes.
    #[arg(long, conflicts_with_all = ["json", "quiet"])]
    watch: bool,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Allow a call to run, or approve a plan.
    Allow {
        /// Question, as `inbox` shows it.
        id: String,
        /// Also allow calls like it for the rest of the session.
        #[arg(long)]
        session: bool,
        /// Also allow calls like it from now on, in every session of this workspace. `reasonix permissions list` shows
        /// these rules, `reasonix permissions revoke` removes them.
        #[arg(long, conflicts_with = "session")]
        always: bool,
        /// Rule to add with `--session` or `--always`, one of those that the question offers [default: the first that
        /// fits].
        #[arg(long, value_name = "RULE")]
        rule: Option<String>,
        /// Command to run instead of the shown one. It is judged again: a deny rule still refuses it.
        #[arg(long, value_name = "COMMAND", conflicts_with_all = ["session", "always", "rule"])]
        edit: Option<String>,
        /// Approve a plan but keep asking about calls, as the approval mode says. Without this, calls run without asking until
        /// the turn ends.
        #[arg(long, conflicts_with_all = ["session", "always", "rule", "edit"])]
        keep_asking: bool,
    },
    /// Deny a call, or reject a plan, with an optional note to the model.
    Deny {
        /// Question, as `inbox` shows it.
        id: String,
        /// Note to the model. Must not start with the number of another question.
        #[arg(value_name = "NOTE")]
        words: Vec<String>,
        /// Note to the model, taken literally even if it looks like a question number.
        #[arg(long, conflicts_with = "words")]
        note: Option<String>,
        /// Also deny all other calls of the same answer that need approval.
        #[arg(long)]
        rest: bool,
    },
    /// Answer a question from the model.
    Answer {
        /// Question, as `inbox` shows it.
        id: String,
        /// One answer per question: the number of an option (`2`), several (`1,3`), an option with a comment (`2: and
        /// why`), or your own text. Without answers, the question is shown.
        #[arg(value_name = "N|TEXT")]
        answers: Vec<String>,
    },
}

/// Lists, waits, or answers.
pub async fn run(args: Args) -> Result<u8, Error> {
    if args.line {
        return line().await;
    }
    if args.wait {
        return wait(&args).await;
    }
    if args.watch {
        return watch().await;
    }
    let Some(client) = reach::running("inbox", Role::Approve).await? else {
        reach::report_no_daemon(&client::paths::from_env()?);
        return match args.verb {
            None => waits::list(&[], &args.listing).map(|()| 0),
            Some(_) => Err(Error::Away {
                what: say!(Msg::NoneWaits).to_owned(),
            }),
        };
    };
    match args.verb {
        None => waits::list(&waits::gather(&client).await?, &args.listing)?,
        Some(verb) => answer(&client, verb).await?,
    }
    Ok(0)
}

/// Answers one question.
async fn answer(client: &Client, verb: Verb) -> Result<(), Error> {
    match verb {
        Verb::Answer { id, answers } => reply_to(client, id, &answers).await,
        Verb::Allow {
            id,
            edit: Some(command),
            ..
        } => change(client, id, command).await,
        Verb::Allow {
            id,
            keep_asking: true,
            ..
        } => approve_keep_asking(client, id).await,
        Verb::Allow {
            id,
            session,
            always,
            rule,
            edit: None,
            keep_asking: false,
        } => {
            if rule.is_some() && !session && !always {
                return Err(Error::usage(say!(Msg::RuleNeeds), say!(Msg::RuleNeedsHint)));
            }
            let decision = match (session, always) {
                (_, true) => ApprovalDecision::AllowAlways,
                (true, false) => ApprovalDecision::AllowSession,
                (false, false) => ApprovalDecision::AllowOnce,
            };
            decide(client, id, decision, None, rule).await
        }
        Verb::Deny {
            id,
            words,
            note,
            rest,
        } => {
            let decision = match rest {
                true => ApprovalDecision::DenyRest,
                false => ApprovalDecision::Deny,
            };
            decide(client, id, decision, note.or(joined(&words)?), None).await
        }
    }
}

/// The words of a note as one. A number of a question in front is a second question that was meant.
fn joined(words: &[String]) -> Result<Option<String>, Error> {
    if let Some(number) = words.first().filter(|word| is_number(word)) {
        return Err(Error::usage(
            say!(Msg::LooksLikeNumber, number),
            say!(Msg::LooksLikeNumberHint),
        ));
    }
    Ok((!words.is_empty()).then(|| words.join(" ")))
}

/// Whether a word is written like the number of a question: `<pid>.<n>`.
fn is_number(word: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    word.split_once('.')
        .is_some_and(|(session, count)| digits(session) && digits(count))
}

/// One line, quickly. A status bar shows no errors; they go to standard error.
async fn line() -> Result<u8, Error> {
    let looking = async {
        match reach::running("inbox", Role::Watch).await? {
            None => Ok(Vec::new()),
            Some(client) => Ok::<_, Error>(waits::gather(&client).await?),
        }
    };
    let Ok(waiting) = tokio::time::timeout(LINE_MAX, looking).await else {
        output::progress(say!(Msg::NoDaemonAnswer));
        return Ok(exit::NO_DAEMON);
    };
    if let Some(line) = waits::line(&waiting?, text::is_utf8()) {
        output::line(&line)?;
    }
    Ok(0)
}

/// Comes back when something waits, whichever daemon runs by then.
async fn wait(args: &Args) -> Result<u8, Error> {
    let until = args
        .timeout
        .map(|ms| Instant::now() + Duration::from_millis(ms));
    let mut client = None;
    loop {
        let waiting = look(&mut client).await?;
        if !waiting.is_empty() {
            waits::list(&waiting, &args.listing)?;
            return Ok(0);
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            return Ok(exit::TIMEOUT);
        }
        let next = Instant::now() + LOOK;
        tokio::time::sleep_until(until.map_or(next, |until| until.min(next))).await;
    }
}

/// Reports interactions that open and close, until Ctrl-C.
async fn watch() -> Result<u8, Error> {
    let mut client = None;
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    loop {
        let waiting = look(&mut client).await?;
        let now: BTreeMap<String, String> = waiting
            .iter()
            .map(|waits| (waits.id(), waits::render(waits)))
            .collect();
        for waits in &waiting {
            if !known.contains_key(&waits.id()) {
                output::part(&format!("+ {}\n", waits::render(waits)))?;
            }
        }
        for (id, line) in &known {
            if !now.contains_key(id) {
                output::part(&format!("- {line}\n"))?;
            }
        }
        known = now;
        tokio::time::sleep(LOOK).await;
    }
}

/// The entries that wait now. Without a daemon: none; one may come.
async fn look(client: &mut Option<Client>) -> Result<Vec<Waits>, Error> {
    if client.is_none() {
        *client = reach::running("inbox", Role::Watch).await?;
    }
    let Some(connected) = client else {
        return Ok(Vec::new());
    };
    match waits::gather(connected).await {
        Ok(waiting) => Ok(waiting),
        Err(
            CallError::Lost { .. }
            | CallError::Connect(
                ConnectError::Absent { .. }
                | ConnectError::Gone { .. }
                | ConnectError::Stopped { .. },
            ),
        ) => {
            *client = None;
            Ok(Vec::new())
        }
        Err(error) => Err(error.into()),
    }
}

/// Prints pieces on standard error: the person who answers sees the whole question once more.
fn show(pieces: Vec<Piece>) {
    let mut painter = Painter::new(output::colour(&std::io::stderr()), usize::MAX);
    for piece in pieces {
        output::progress_part(&painter.paint(&piece));
    }
}

/// The interaction with this id.
async fn find(client: &Client, id: &str) -> Result<Option<Dialog>, Error> {
    let all = ListParams::default();
    let mut open = client
        .call::<InteractionList>(&all)
        .await?
        .interactions
        .into_iter();
    let found = open.find(|open| open.interaction_id.0 == id);
    Ok(found.map(Dialog::new))
}

/// The parameters that answer an interaction. If it is not open any more, the daemon says who answered it.
fn params(open: Option<&Dialog>, id: &str, answer: InteractionAnswer) -> AnswerParams {
    match open {
        Some(open) => open.params(answer),
        None => ShownInteraction {
            id: InteractionId(id.to_owned()),
            shown_hash: String::new(),
        }
        .params(answer),
    }
}

/// Answers a question of a model.
async fn reply_to(client: &Client, id: String, answers: &[String]) -> Result<(), Error> {
    let open = find(client, &id).await?;
    let mut replies = Vec::new();
    if let Some(open) = &open {
        show(open.pieces());
        if answers.is_empty()
            && let Some(fields) = open.form().fields()
        {
            let words = vec!["N"; fields.questions.len()].join(" ");
            output::progress(&format!("· {}", say!(Msg::AnswerHow, id, words)));
            return Ok(());
        }
        // The daemon says what kind it is if it has no fields.
        if let Some(fields) = open.form().fields() {
            replies = read(&id, fields, answers)?;
        }
    }
    let answer = match &open {
        Some(open) => open.form().reply(replies),
        None => form::untyped_replies(replies),
    };
    let sent = dialog::send(client, &params(open.as_ref(), &id, answer)).await;
    report(sent, &id, say!(Msg::Answered))
}

/// A reply for each question, as they were typed.
fn read(id: &str, fields: &Fields<'_>, answers: &[String]) -> Result<Vec<Reply>, Error> {
    let questions = &fields.questions;
    let count = questions.len();
    if answers.len() != count {
        let given = answers.len();
        let what = match count {
            1 => say!(Msg::NeedsOneAnswer, id, given),
            _ => say!(Msg::NeedsAnswers, id, count, given),
        };
        let hint = say!(Msg::AnswerHow, id, vec!["N"; count].join(" "));
        return Err(Error::usage(what, hint));
    }
    let answers = questions.iter().zip(answers).enumerate();
    answers
        .map(|(index, (question, words))| {
            reply::read(question, fields.reply_rules(index), words).map_err(|why| {
                let what = say!(Msg::AnswerWhy, index + 1, translated(&why));
                Error::usage(what, say!(Msg::InboxLists))
            })
        })
        .collect()
}

/// What became of an answer, which is reported in these words: somebody may have been before us.
fn report(sent: Result<(), CallError>, id: &str, words: &str) -> Result<(), Error> {
    match sent {
        Ok(()) => {
            output::progress(&format!("· {id}: {words}"));
            Ok(())
        }
        Err(CallError::Failure(failure)) => Err(match client::hint::answered_before(&failure) {
            Some(words) => Error::Failed {
                what: say!(Msg::QuestionWords, id, translated(&words)),
                hint: String::new(),
            },
            None => CallError::Failure(failure).into(),
        }),
        Err(error) => Err(error.into()),
    }
}

/// The scope of an approval with this rule.
fn offered(scopes: &[Scope], rule: &str) -> Result<Scope, Error> {
    scopes
        .iter()
        .find(|scope| scope.rule == rule)
        .cloned()
        .ok_or_else(|| {
            let rules: Vec<_> = scopes
                .iter()
                .map(|scope| format!("`{}`", text::line(&scope.rule)))
                .collect();
            let hint = match rules.is_empty() {
                true => say!(Msg::OnlyOnce).to_owned(),
                false => say!(Msg::Offered, rules.join(", ")),
            };
            Error::usage(say!(Msg::RuleNotOffered), hint)
        })
}

/// Decides about a call or a plan, with the hash of the content shown here: a user who types the id sees all of it once more.
async fn decide(
    client: &Client,
    id: String,
    decision: ApprovalDecision,
    note: Option<String>,
    rule: Option<String>,
) -> Result<(), Error> {
    let open = find(client, &id).await?;
    if let Some(open) = &open {
        show(open.pieces());
    }
    let form = open.as_ref().map(Dialog::form);
    let shape = form.as_ref().and_then(Form::decision);
    let more = matches!(
        decision,
        ApprovalDecision::AllowSession | ApprovalDecision::AllowAlways
    );
    let refusal = shape.and_then(|shape| shape.once_only?.command);
    if let Some(why) = refusal.filter(|_| more) {
        let hint = say!(Msg::LeaveOut);
        return Err(Error::usage(format!("{id} {}", translated(why)), hint));
    }
    let scope = match (&rule, shape) {
        (Some(rule), Some(shape)) => Some(offered(shape.scopes, rule)?),
        _ => None,
    };
    let declines = form
        .as_ref()
        .and_then(Form::fields)
        .is_some_and(Fields::can_decline);
    if declines && note.is_some() {
        let what = say!(Msg::NoNoteToServer, id);
        return Err(Error::usage(what, say!(Msg::NoNoteToServerHint, id)));
    }
    let words = match shape {
        Some(shape) => (shape.sent)(decision),
        None if declines && decision.denies() => ElicitationDecision::Decline.called(),
        None => form::untyped_decision_words(decision),
    };
    // The daemon says what kind it is if no decision answers it.
    let answer = match &form {
        Some(form) => form.decide(decision, scope, note),
        None => form::untyped_decision(decision, scope, note),
    };
    let sent = dialog::send(client, &params(open.as_ref(), &id, answer)).await;
    report(sent, &id, &translated(words))
}

/// Has another command run in place of the shown one, and the hash of the content shown here.
async fn change(client: &Client, id: String, command: String) -> Result<(), Error> {
    let open = find(client, &id).await?;
    if let Some(open) = &open {
        show(open.pieces());
    }
    // The daemon says what kind it is if it has no command.
    let answer = form::untyped_edit(command);
    let sent = dialog::send(client, &params(open.as_ref(), &id, answer)).await;
    report(sent, &id, say!(Msg::AllowedEdited))
}

/// Approves a plan, and keeps asking about calls.
async fn approve_keep_asking(client: &Client, id: String) -> Result<(), Error> {
    let open = find(client, &id).await?;
    if let Some(open) = &open {
        show(open.pieces());
    }
    // The daemon says what kind it is if it is no plan.
    let answer = kinds::approve_keep_asking();
    let sent = dialog::send(client, &params(open.as_ref(), &id, answer)).await;
    report(sent, &id, say!(Msg::ApprovedKeepAsking))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_does_not_begin_with_the_number_of_a_question() {
        let note = |line: &str| {
            let words: Vec<_> = line
                .split(' ')
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect();
            joined(&words)
        };
        assert!(note("3.2").is_err());
        assert!(note("3.2 3.3").is_err());
        for words in ["use 3.2", "3. is wrong", "3.2, not 3.1", "1.2.3", "no"] {
            assert_eq!(note(words).ok().flatten().as_deref(), Some(words));
        }
        assert!(note("").is_ok_and(|note| note.is_none()));
    }
}
