//! `reasonix budget`: what a session, its project and the day may use, and have used.

use client::amounts;
use proto::SessionOptions;
use proto::budget::{Budget, BudgetNode, BudgetNodeKind, Dimension};
use proto::methods::SessionInspect;
use proto::params::session::{InspectOutput, InspectParams, InspectPart};

use crate::exit::Error;
use crate::messages::Head;
use crate::messages::cost::Msg;
use crate::{output, reach, text};

/// Show usage and limits of a session, its project and the day.
///
/// With options: change the limits of the session. The limits of a session apply to its whole life; 0 removes a limit.
/// The config sets the limits of the day and of projects (`budget.day.usd`, `budget.project.tokens`, …). No request is
/// sent once any limit is reached.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session: pid, id, or name [default: the most recent one of this directory].
    session: Option<String>,
    #[command(flatten)]
    limits: Limits,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The limits that are to change.
#[derive(Debug, clap::Args)]
struct Limits {
    /// Set the limit in US dollars.
    #[arg(long, value_name = "DOLLARS", value_parser = amounts::usd)]
    usd: Option<u64>,
    /// Set the limit in tokens, prompts and answers (`100k`, `2M`).
    #[arg(long, value_name = "N", value_parser = amounts::count)]
    tokens: Option<u64>,
    /// Set the limit in requests to the model.
    #[arg(long, value_name = "N", value_parser = amounts::count)]
    steps: Option<u64>,
    /// Set the limit in minutes of running turns.
    #[arg(long, value_name = "MINUTES", value_parser = amounts::minutes)]
    minutes: Option<u64>,
}

/// Shows it, or changes it and shows it.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("budget").await?;
    let session = match args.session {
        Some(session) => session,
        None => {
            let here = reach::utf8(&reach::cwd(None)?)?;
            reach::last_session(&client, &here).await?.pid.to_string()
        }
    };
    let change = Budget {
        cost_micros: args.limits.usd,
        tokens: args.limits.tokens,
        steps: args.limits.steps,
        ms: args.limits.minutes,
    };
    if change != Budget::default() {
        let options = SessionOptions {
            budget: Some(change),
            ..SessionOptions::default()
        };
        client.set(&session, options).await?;
    }
    let params = InspectParams {
        session,
        part: InspectPart::Budget,
    };
    let shown = client.call::<SessionInspect>(&params).await?;
    if args.json {
        output::json(&shown)?;
    } else if let InspectOutput::Budget { nodes } = &shown {
        table(nodes)?;
    }
    Ok(0)
}

/// The nodes, from the day down to the session.
pub(super) fn table(nodes: &[BudgetNode]) -> Result<(), Error> {
    let rows: Vec<_> = nodes.iter().map(row).collect();
    output::table(
        [
            Head::Of,
            Head::Name,
            Head::Money,
            Head::Tokens,
            Head::Steps,
            Head::Minutes,
        ],
        &rows,
    )?;
    if nodes.iter().any(|node| node.spent.unpriced > 0) {
        output::line(say!(Msg::PlusUnknown))?;
    }
    for used_up in nodes.iter().filter_map(used_up) {
        output::progress(&used_up);
    }
    Ok(())
}

/// What a node has nothing left of; no request is sent while that is so.
fn used_up(node: &BudgetNode) -> Option<String> {
    let up = |dimension: &Dimension| {
        let limit = node.limit.limit(*dimension);
        limit.is_some_and(|limit| node.spent.of(*dimension) >= limit)
    };
    let what = Dimension::ALL.into_iter().find(up)?;
    let (kind, name) = (node.kind.as_str(), text::line(&node.name));
    let (what, option) = match what {
        Dimension::Money => (say!(Msg::Money), "usd"),
        Dimension::Tokens => (say!(Msg::Tokens), "tokens"),
        Dimension::Steps => (say!(Msg::Steps), "steps"),
        Dimension::Time => (say!(Msg::Minutes), "minutes"),
    };
    let more = match node.kind {
        BudgetNodeKind::Session => format!("reasonix budget {name} --{option} N"),
        BudgetNodeKind::Day | BudgetNodeKind::Project => {
            format!("reasonix config set budget.{kind}.{option} N")
        }
    };
    Some(say!(Msg::UsedUp, self::kind(node.kind), name, what, more))
}

fn kind(kind: BudgetNodeKind) -> &'static str {
    match kind {
        BudgetNodeKind::Day => say!(Msg::Day),
        BudgetNodeKind::Project => say!(Msg::Project),
        BudgetNodeKind::Session => say!(Msg::Session),
    }
}

fn row(node: &BudgetNode) -> [String; 6] {
    let used = |dimension| amounts::used(node, dimension);
    [
        kind(node.kind).to_owned(),
        text::line(&node.name),
        used(Dimension::Money),
        used(Dimension::Tokens),
        used(Dimension::Steps),
        used(Dimension::Time),
    ]
}
