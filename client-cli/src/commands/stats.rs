//! `reasonix stats`: tokens and money.

use clap::ValueEnum;
use proto::Stamp;
use proto::hello::Role;
use proto::methods::StatsQuery;
use proto::params::history::{HookRow, StatsOutput, StatsParams, StatsRow, ToolRow};
use schemars::JsonSchema;
use serde::Serialize;

use super::Listing;
use crate::exit::Error;
use crate::messages::{Head, translated};
use crate::{output, reach, when};

/// Show tokens, cache hits and cost, including deleted sessions.
///
/// `reasonix stats --today --json` prints the cost of the day as `.totalCostUsd`, in dollars.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Count from midnight.
    #[arg(long, conflicts_with = "since")]
    today: bool,
    /// Count from this time: `7d` ago, a date (`2026-11-01`), or a timestamp.
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    since: Option<Stamp>,
    /// Group rows by this. `--json` always has days, models, purposes and sessions; tools and hooks only if asked for.
    #[arg(long, value_enum, default_value_t = Grouping::Day)]
    by: Grouping,
    /// Only sessions of this directory.
    #[arg(long)]
    here: bool,
    /// Only this session: pid, id, or name.
    #[arg(long, short)]
    session: Option<String>,
    #[command(flatten)]
    listing: Listing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Grouping {
    Day,
    Model,
    Session,
    /// Purpose of the request: answers, summaries and other side requests.
    Purpose,
    /// Outcomes of tool calls, without deleted sessions and without cost.
    Tool,
    /// Outcomes of hooks, without deleted sessions.
    Hook,
}

/// Reads a time of the past.
pub(super) fn moment(text: &str) -> Result<Stamp, String> {
    when::moment(text, Stamp::now(), &when::zone()).ok_or_else(|| say!(when::FORMS).to_owned())
}

/// Asks, and prints.
pub async fn run(args: Args) -> Result<u8, Error> {
    let cwd = super::here(args.here)?;
    let client = reach::with("stats", |options| options.role = Role::Watch).await?;
    let (now, zone) = (Stamp::now(), when::zone());
    let params = StatsParams {
        since: args.since.or(args.today.then(|| when::today(now, &zone))),
        session: args.session,
        cwd,
        utc_offset_minutes: when::offset_minutes(now, &zone),
        hooks: args.by == Grouping::Hook,
        tools: args.by == Grouping::Tool,
    };
    let stats = client.call::<StatsQuery>(&params).await?;
    print(&stats, args.by, &args.listing)?;
    Ok(0)
}

/// What `--json` prints: the answer, and its total again in the names that scripts know.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Stats")]
#[serde(rename_all = "camelCase")]
pub struct Shown<'a> {
    #[serde(flatten)]
    stats: &'a StatsOutput,
    /// US dollars, as far as prices are known.
    total_cost_usd: f64,
    requests: u64,
    prompt_tokens: u64,
    cached_tokens: u64,
    output_tokens: u64,
    /// Of the tokens that were sent, those that came from a cache: 0 to 1.
    cache_hit_ratio: f64,
    /// Of the tokens that were sent, those that went into a cache, where the vendor tells.
    cache_write_tokens: u64,
    reasoning_tokens: u64,
    /// Requests whose price is not known: their cost is in no sum.
    unknown_cost_calls: u64,
    /// Turns that ended.
    turns: u64,
}

impl<'a> Shown<'a> {
    #[allow(clippy::cast_precision_loss, reason = "sums that people read")]
    fn of(stats: &'a StatsOutput) -> Self {
        let usage = &stats.total.usage;
        let ratio = usage.cached_tokens as f64 / usage.prompt_tokens.max(1) as f64;
        Self {
            stats,
            total_cost_usd: usage.cost_micros as f64 / 1e6,
            requests: usage.requests,
            prompt_tokens: usage.prompt_tokens,
            cached_tokens: usage.cached_tokens,
            output_tokens: usage.output_tokens,
            cache_hit_ratio: ratio,
            cache_write_tokens: usage.cache_write_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            unknown_cost_calls: usage.unknown_cost_calls,
            turns: stats.total.turns,
        }
    }
}

fn print(stats: &StatsOutput, by: Grouping, listing: &Listing) -> Result<(), Error> {
    if listing.json {
        return output::json(&Shown::of(stats));
    }
    let (head, rows) = match by {
        Grouping::Day => (Head::Day, &stats.days),
        Grouping::Model => (Head::Model, &stats.models),
        Grouping::Session => (Head::Session, &stats.sessions),
        Grouping::Purpose => (Head::Purpose, &stats.purposes),
        Grouping::Tool => return print_tools(&stats.tools, listing.quiet),
        Grouping::Hook => return print_hooks(&stats.hooks, listing.quiet),
    };
    if listing.quiet {
        return rows
            .iter()
            .try_for_each(|row| output::line(&crate::text::line(&row.key)));
    }
    let mut rows: Vec<_> = rows.iter().map(row).collect();
    let mut total = row(&stats.total);
    total[0] = translated(&stats.total.key).into_owned();
    rows.push(total);
    output::table(
        [
            head,
            Head::Requests,
            Head::Turns,
            Head::Sent,
            Head::Cached,
            Head::Got,
            Head::Cost,
        ],
        &rows,
    )
}

fn print_hooks(hooks: &[HookRow], quiet: bool) -> Result<(), Error> {
    if quiet {
        let mut names = hooks.iter().map(|row| crate::text::line(&row.hook));
        return names.try_for_each(|name| output::line(&name));
    }
    let rows: Vec<_> = hooks
        .iter()
        .map(|row| {
            [
                crate::text::line(&row.hook),
                row.event.as_str().to_owned(),
                row.runs.to_string(),
                row.blocked.to_string(),
                row.failed.to_string(),
                output::lasted(row.time_ms),
            ]
        })
        .collect();
    output::table(
        [
            Head::Hook,
            Head::Event,
            Head::Runs,
            Head::Blocked,
            Head::Failed,
            Head::Time,
        ],
        &rows,
    )
}

fn print_tools(tools: &[ToolRow], quiet: bool) -> Result<(), Error> {
    if quiet {
        let mut names = tools.iter().map(|row| crate::text::line(&row.tool));
        return names.try_for_each(|name| output::line(&name));
    }
    let rows: Vec<_> = tools
        .iter()
        .map(|row| {
            [
                crate::text::line(&row.tool),
                row.calls.to_string(),
                row.failed.to_string(),
                output::lasted(row.time_ms),
                output::bytes(row.result_bytes),
                output::short(row.result_tokens),
            ]
        })
        .collect();
    output::table(
        [
            Head::Tool,
            Head::Calls,
            Head::Failed,
            Head::Time,
            Head::Results,
            Head::Tokens,
        ],
        &rows,
    )
}

fn row(row: &StatsRow) -> [String; 7] {
    let usage = &row.usage;
    // Of no tokens no share is cached.
    let share = usage
        .cached_tokens
        .saturating_mul(100)
        .checked_div(usage.prompt_tokens);
    [
        row.key.clone(),
        usage.requests.to_string(),
        match row.turns {
            0 => "-".to_owned(),
            turns => turns.to_string(),
        },
        output::short(usage.prompt_tokens),
        share.map_or_else(|| "-".to_owned(), |percent| format!("{percent} %")),
        output::short(usage.output_tokens),
        output::cost(usage),
    ]
}
