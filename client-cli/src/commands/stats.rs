//! `reasonix stats`: tokens and money.

use clap::ValueEnum;
use proto::Stamp;
use proto::hello::Role;
use proto::methods::StatsQuery;
use proto::params::history::{StatsOutput, StatsParams, StatsRow};

use super::Listing;
use crate::exit::Error;
use crate::{output, reach, when};

/// Show what requests to models took: tokens, cache hits, cost; also of sessions that have been deleted.
///
/// `reasonix stats --today --json` has the day's cost as `.total.usage.cost_micros`, in millionths of a dollar.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Since midnight.
    #[arg(long, conflicts_with = "since")]
    today: bool,
    /// From then on: a time ago (`7d`), a day (`2026-11-01`), or a moment.
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    since: Option<Stamp>,
    /// What a row is; `--json` has all three.
    #[arg(long, value_enum, default_value_t = By::Day)]
    by: By,
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
enum By {
    Day,
    Model,
    Session,
}

fn moment(text: &str) -> Result<Stamp, String> {
    when::moment(text, Stamp::now(), &when::zone()).ok_or_else(|| when::FORMS.to_owned())
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
    };
    let stats = client.call::<StatsQuery>(&params).await?;
    print(&stats, args.by, &args.listing)?;
    Ok(0)
}

fn print(stats: &StatsOutput, by: By, listing: &Listing) -> Result<(), Error> {
    if listing.json {
        return output::json(stats);
    }
    let (head, rows) = match by {
        By::Day => ("DAY", &stats.days),
        By::Model => ("MODEL", &stats.models),
        By::Session => ("SESSION", &stats.sessions),
    };
    if listing.quiet {
        return rows
            .iter()
            .try_for_each(|row| output::line(&crate::text::line(&row.key)));
    }
    let rows: Vec<_> = rows
        .iter()
        .chain(std::iter::once(&stats.total))
        .map(row)
        .collect();
    output::table([head, "REQUESTS", "SENT", "CACHED", "GOT", "COST"], &rows)
}

fn row(row: &StatsRow) -> [String; 6] {
    let usage = &row.usage;
    // Of no tokens no share is cached.
    let share = usage
        .cached_tokens
        .saturating_mul(100)
        .checked_div(usage.prompt_tokens);
    [
        row.key.clone(),
        usage.requests.to_string(),
        output::short(usage.prompt_tokens),
        share.map_or_else(|| "-".to_owned(), |percent| format!("{percent} %")),
        output::short(usage.output_tokens),
        output::cost(usage),
    ]
}
