//! `reasonix cache`: what the provider's cache served of each request.

use proto::methods::SessionCache;
use proto::params::cache::{CacheOutput, CacheParams, CacheRow, CachedRequest};
use proto::record::{CacheMiss, MissCause, Purpose};
use proto::{Seq, Stamp};

use crate::exit::Error;
use crate::messages::cost::Msg;
use crate::messages::{Head, Thing};
use crate::{output, reach};

/// Show prompt-cache hits per request, and the causes of misses.
///
/// HIT is the share of the prompt that the provider's cache served. EXPECTED is the share that a perfect cache would
/// have served: the previous request's prompt, in whole blocks.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session: pid, id, or name.
    session: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints it, all pages.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("cache").await?;
    let params = CacheParams {
        session: args.session,
        after: Seq(0),
        limit: 0,
    };
    let answer = client.all::<SessionCache>(params).await?;
    if args.json {
        output::json(&answer)?;
        return Ok(0);
    }
    let rows: Vec<_> = answer.rows.iter().map(row).collect();
    output::table(
        [
            Head::Turn,
            Head::Step,
            Head::Ago,
            Head::Prompt,
            Head::Cached,
            Head::Expected,
            Head::Hit,
            Head::Gap,
            Head::Cause,
        ],
        &rows,
    )?;
    for line in summary(&answer, Stamp::now()) {
        output::line(&line)?;
    }
    Ok(0)
}

fn row(row: &CacheRow) -> [String; 9] {
    let none = || "-".to_owned();
    match row {
        CacheRow::Reset { at, reason, .. } => {
            let mut cells = std::array::from_fn(|_| none());
            cells[2] = output::ago(*at);
            cells[8] = say!(Msg::Reset, reason);
            cells
        }
        CacheRow::Request(request) => {
            let counted = |tokens: u64| match request.reported {
                true => output::short(tokens),
                false => none(),
            };
            [
                request.turn.to_string(),
                request.step.to_string(),
                output::ago(request.at),
                counted(request.prompt_tokens),
                counted(request.cached_tokens),
                request.expected_cached.map_or_else(none, output::short),
                hit(request.cached_tokens, request.prompt_tokens),
                request.gap_ms.map_or_else(none, output::lasted),
                why(request),
            ]
        }
    }
}

/// Why less was served, or what else is to be known of a request.
fn why(request: &CachedRequest) -> String {
    let mut words = Vec::new();
    match request.purpose {
        Purpose::Answer => {}
        Purpose::Summary => words.push(say!(Msg::ForSummary).to_owned()),
        Purpose::Extraction => words.push(say!(Msg::ForExtraction).to_owned()),
        Purpose::Sample => words.push(say!(Msg::ASample).to_owned()),
        Purpose::Server => words.push(say!(Msg::ForServer).to_owned()),
        Purpose::Review => words.push(say!(Msg::ForReview).to_owned()),
    }
    if !request.reported {
        words.push(say!(Msg::NothingReported).to_owned());
    }
    words.extend(request.miss.as_ref().map(cause));
    words.join(", ")
}

fn cause(miss: &CacheMiss) -> String {
    match miss.cause {
        MissCause::Expired => say!(Msg::Expired).to_owned(),
        MissCause::ProbablyExpired => say!(Msg::ProbablyExpired).to_owned(),
        MissCause::Ours => {
            let place = miss.differs.as_deref().unwrap_or("?");
            say!(Msg::ChangedPrompt, place)
        }
        MissCause::Vendor => say!(Msg::Evicted).to_owned(),
        MissCause::NotReported => say!(Msg::NotReported).to_owned(),
    }
}

/// A part of a whole, to a tenth of a percent.
fn hit(cached: u64, prompt: u64) -> String {
    if prompt == 0 {
        return "-".to_owned();
    }
    let permille = u128::from(cached) * 1_000 / u128::from(prompt);
    format!("{}.{} %", permille / 10, permille % 10)
}

fn summary(answer: &CacheOutput, now: Stamp) -> Vec<String> {
    let totals = &answer.totals;
    let misses = match totals.misses {
        1 => say!(Msg::OneMiss).to_owned(),
        count => say!(Msg::Misses, count),
    };
    let mut lines = vec![say!(
        Msg::CacheSum,
        output::counted(totals.requests, Thing::Request),
        output::short(totals.cached_tokens),
        output::short(totals.prompt_tokens),
        hit(totals.cached_tokens, totals.prompt_tokens),
        output::counted(totals.resets, Thing::Reset),
        misses,
        output::counted(totals.rewrites, Thing::Rewrite)
    )];
    lines.push(say!(
        Msg::Prefix,
        output::bytes(answer.prefix_bytes),
        answer.prefix_sha256
    ));
    lines.push(match (answer.ttl_ms, answer.expires_at) {
        (None, _) => say!(Msg::LifetimeUnknown).to_owned(),
        (Some(ttl), None) => say!(Msg::HasExpired, output::lasted(ttl)),
        (Some(_), Some(at)) if at > now => {
            let left = u64::try_from(at.0.saturating_sub(now.0)).unwrap_or(0) / 1_000;
            say!(Msg::ExpiresIn, left / 60, format_args!("{:02}", left % 60))
        }
        (Some(_), Some(at)) => say!(Msg::ExpiredAgo, output::ago(at)),
    });
    lines
}

#[cfg(test)]
mod tests;
