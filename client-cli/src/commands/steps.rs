//! `reasonix steps`: the answers of the model, one by one.

use proto::item::CallStatus;
use proto::methods::SessionSteps;
use proto::params::session::{Step, StepCall, StepsParams};

use super::Listing;
use crate::exit::Error;
use crate::messages::Head;
use crate::messages::running::Msg;
use crate::{output, reach};

/// List the requests of a session: time, tokens, tool calls.
///
/// `reasonix show SESSION --step N` prints one of them in full.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session: pid, id, or name.
    session: String,
    /// Only this turn.
    #[arg(long, value_name = "N", value_parser = crate::numbers::whole::<u64>(1..=u64::MAX, 2))]
    turn: Option<u64>,
    #[command(flatten)]
    listing: Listing,
}

/// Lists them, all pages.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("steps").await?;
    let params = StepsParams {
        session: args.session.clone(),
        turn: args.turn,
        after: 0,
        limit: 0,
    };
    let steps = client.all::<SessionSteps>(params).await?.steps;
    if let (Some(turn), true) = (args.turn, steps.is_empty()) {
        reach::has_turn(&client, &args.session, turn).await?;
    }
    if args.listing.quiet {
        return steps
            .iter()
            .try_for_each(|step| output::line(&step.n.to_string()))
            .map(|()| 0);
    }
    if args.listing.json {
        output::json(&steps)?;
        return Ok(0);
    }
    let rows: Vec<_> = steps.iter().map(row).collect();
    output::table(
        [
            Head::Step,
            Head::Turn,
            Head::Tries,
            Head::Sent,
            Head::First,
            Head::Took,
            Head::Tokens,
            Head::Cached,
            Head::What,
        ],
        &rows,
    )?;
    Ok(0)
}

fn row(step: &Step) -> [String; 9] {
    let calls: Vec<String> = step.calls.iter().map(call).collect();
    let what = match (step.text.as_str(), calls.is_empty()) {
        (text, true) => text.to_owned(),
        ("", false) => calls.join(", "),
        (text, false) => format!("{} · {text}", calls.join(", ")),
    };
    // A request has some tokens: if there are none, the provider did not report them.
    let reported = step.prompt_tokens > 0 || step.output_tokens > 0;
    let (tokens, cached) = if reported {
        let sent = output::short(step.prompt_tokens);
        let got = output::short(step.output_tokens);
        (format!("{sent}→{got}"), output::short(step.cached_tokens))
    } else {
        ("-".to_owned(), "-".to_owned())
    };
    [
        step.n.to_string(),
        step.turn.to_string(),
        step.attempts.to_string(),
        format!("{}B", output::short(step.request_bytes)),
        output::lasted(step.first_token_ms),
        output::lasted(step.duration_ms),
        tokens,
        cached,
        what,
    ]
}

/// A call in a few words: `bash cargo test 4.2 s`, with what else is to be known.
fn call(call: &StepCall) -> String {
    let how = match call.status {
        None => say!(Msg::NoResultYet),
        Some(CallStatus::Ok) => "",
        Some(CallStatus::Failed) => say!(Msg::WasFailed),
        Some(CallStatus::Denied) => say!(Msg::WasDenied),
        Some(CallStatus::Interrupted) => say!(Msg::WasInterrupted),
        Some(CallStatus::Unknown) => say!(Msg::OutcomeUnknown),
        Some(CallStatus::Refused) => say!(Msg::NotRun),
    };
    let asked = match call.asked_ms {
        0 => String::new(),
        ms => say!(Msg::AskedFor, output::lasted(ms)),
    };
    let took = output::lasted(call.duration_ms);
    format!("{} {} {took}{asked}{how}", call.tool, call.subject)
}
