//! A session in short, for people.

use client::{CallError, Client};
use proto::methods::{SessionCheckpoints, SessionInspect};
use proto::params::session::{
    InspectOutput, InspectParams, InspectPart, OneParams, QueuedPrompt, SessionSummary,
};

use super::exchange::{self, Exchange};
use crate::exit::Error;
use crate::messages::Thing;
use crate::messages::stored::Msg;
use crate::messages::{Label, translated};
use crate::paint::Painter;
use crate::pieces::{Piece, Tone, prompt_pieces, turn_ended};
use crate::{commands, output};

/// Prints it.
pub async fn show(client: &Client, session: String, json: bool) -> Result<(), Error> {
    let one = OneParams { session };
    let summary = client.session(&one.session).await?;
    if json {
        return output::json(&summary);
    }
    let queue = queue(client, &one.session).await?;
    for (name, value) in facts(&summary) {
        output::fact(name, &value)?;
    }
    for queued in queue {
        output::fact(Label::Queued, &say!(Msg::ByText, queued.by, queued.text))?;
    }
    let turns = match client.call::<SessionCheckpoints>(&one).await {
        Ok(found) if found.turns.is_empty() => say!(Msg::NoTurnToRewind).to_owned(),
        Ok(found) => say!(
            Msg::TurnsToRewind,
            output::counted(found.turns.len() as u64, Thing::Turn),
            summary.pid
        ),
        // What else is known is shown all the same.
        Err(CallError::Failure(failure)) => say!(Msg::Unknown, translated(&failure.message)),
        Err(error) => return Err(error.into()),
    };
    output::fact(Label::Checkpoints, &turns)?;
    if let Some(last) = exchange::last(client, &one.session, summary.seq).await? {
        output::line("")?;
        paint(&last)?;
    }
    Ok(())
}

/// The prompts that wait.
async fn queue(client: &Client, session: &str) -> Result<Vec<QueuedPrompt>, Error> {
    let params = InspectParams {
        session: session.to_owned(),
        part: InspectPart::Status,
    };
    Ok(match client.call::<SessionInspect>(&params).await? {
        InspectOutput::Status { queue, .. } => queue,
        _ => Vec::new(),
    })
}

fn facts(summary: &SessionSummary) -> Vec<(Label, String)> {
    let usage = &summary.usage;
    let mut facts = vec![(
        Label::Session,
        format!("{} ({})", summary.pid, summary.session),
    )];
    facts.extend(summary.name.clone().map(|name| (Label::Name, name)));
    if !summary.labels.is_empty() {
        facts.push((Label::Labels, summary.labels.join(", ")));
    }
    let state = commands::ls::state(summary);
    facts.push((
        Label::State,
        format!("{state} ({})", translated(&summary.cause)),
    ));
    facts.extend(
        summary
            .read_only
            .as_ref()
            .map(|why| (Label::ReadOnly, translated(why).into_owned())),
    );
    facts.push((Label::Model, summary.model.clone()));
    facts.push((Label::Directory, summary.cwd.clone()));
    if let Some(origin) = &summary.origin {
        let from = say!(Msg::ForkOf, origin.pid, origin.turn);
        facts.push((Label::Origin, from));
    }
    facts.push((Label::Turns, summary.turns.to_string()));
    let tokens = say!(
        Msg::TokensOf,
        output::short(usage.prompt_tokens),
        output::short(usage.cached_tokens),
        output::short(usage.output_tokens),
        output::counted(usage.requests, Thing::Request)
    );
    facts.push((Label::Tokens, tokens));
    let own = output::cost(usage);
    facts.push((
        Label::Cost,
        match &summary.tree_usage {
            None => own,
            Some(_) => say!(Msg::CostWithAgents, own, output::cost(summary.cost())),
        },
    ));
    facts.push((Label::Context, context(summary)));
    let created: String = summary.created_at.to_string().chars().take(16).collect();
    let active = output::ago(summary.active_at);
    facts.push((Label::Created, say!(Msg::CreatedActive, created, active)));
    let waits = waits(summary);
    if !waits.is_empty() {
        facts.push((Label::Waits, waits));
    }
    facts
}

fn context(summary: &SessionSummary) -> String {
    let share = commands::ls::context(summary);
    match (summary.context_tokens, summary.context_window) {
        (0, _) => say!(Msg::NoRequestYet).to_owned(),
        (_, 0) => say!(Msg::ShareUnknown, share),
        (tokens, window) => {
            say!(
                Msg::ShareOf,
                share,
                output::short(tokens),
                output::short(window)
            )
        }
    }
}

/// The interactions that wait for the user, and how to answer them.
fn waits(summary: &SessionSummary) -> String {
    let counts = [
        (summary.pending_interactions, say!(Msg::Questions)),
        (summary.queued, say!(Msg::QueuedPrompts)),
    ];
    let mut words: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{what}: {count}"))
        .collect();
    if summary.pending_interactions > 0 {
        words.push(say!(Msg::AnswerInbox).to_owned());
    }
    words.join(", ")
}

/// The words of both, as an attached client shows them.
fn paint(last: &Exchange) -> Result<(), Error> {
    let mut painter = Painter::new(output::colour(&std::io::stdout()), usize::MAX);
    for piece in prompt_pieces(&last.prompt, &last.attached) {
        output::part(&painter.paint(&piece))?;
    }
    let mut block = |tone, text: &str| {
        let text = text.to_owned();
        output::part(&painter.paint(&Piece::Block { tone, text }))
    };
    for warning in &last.warnings {
        block(Tone::Warning, &translated(warning))?;
    }
    match (last.answer.as_str(), &last.ended) {
        ("", None) => block(Tone::State, say!(Msg::NoAnswerYet))?,
        ("", Some(_)) => {}
        (answer, _) => block(Tone::Answer, answer)?,
    }
    let ended = last.ended.as_ref();
    for piece in ended.map_or_else(Vec::new, |ended| turn_ended(ended, |_| false)) {
        output::part(&painter.paint(&piece))?;
    }
    Ok(())
}
