//! `reasonix model`: who is asked in a session, from its next request on.

use proto::SessionOptions;
use proto::methods::SessionSet;
use proto::params::session::{SessionSummary, SetParams};

use crate::exit::Error;
use crate::messages::cost::Msg;
use crate::{output, reach, text};

/// Show or change the model of a session.
///
/// A change applies from the next request. The conversation stays, except the signed reasoning that only the old
/// provider can read. The prompt cache is lost: once there is a conversation, confirm with `--yes`. The effort is kept
/// if the new model supports it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session: pid, id, or name.
    session: String,
    /// New model: a provider, a model, or `provider/model`.
    model: Option<String>,
    /// Reasoning effort, in the model's terms: `low`, `high`, …; empty: the model's default.
    #[arg(long)]
    effort: Option<String>,
    /// Preset of model, effort and samples: `fast`, `smart`, `max`, or one from the config. Other options override it.
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Sample N answers and keep the least uncertain one (1–8); 1: no sampling. Every sample is billed.
    #[arg(long, alias = "branch", value_name = "N", value_parser = crate::numbers::whole::<u32>(1..=8, 3))]
    samples: Option<u32>,
    /// Turn extraction of lists from the model's reasoning on or off.
    #[arg(long, alias = "harvest", value_name = "on|off", value_parser = on_or_off)]
    extract_reasoning: Option<bool>,
    /// Confirm that the provider's prompt cache will be lost.
    #[arg(short, long)]
    yes: bool,
    /// Print JSON: the summary of the session.
    #[arg(long)]
    json: bool,
}

/// Shows it, or changes it.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("model").await?;
    let asks = args.model.is_some() || args.effort.is_some() || args.preset.is_some();
    let changes = asks || args.samples.is_some() || args.extract_reasoning.is_some();
    let summary = if changes {
        let options = SessionOptions {
            model: args.model,
            effort: args.effort,
            samples: args.samples,
            extract_reasoning: args.extract_reasoning,
            ..SessionOptions::default()
        };
        let params = SetParams {
            confirm: args.yes,
            preset: args.preset,
            ..SetParams::new(args.session, options)
        };
        client.call::<SessionSet>(&params).await?
    } else {
        client.session(&args.session).await?
    };
    if args.json {
        output::json(&summary)?;
    } else if changes {
        let asks = say!(Msg::UsesFromNext, summary.pid, words(&summary));
        output::progress(&asks);
    } else {
        output::line(&words(&summary))?;
    }
    Ok(0)
}

fn words(summary: &SessionSummary) -> String {
    let model = text::line(&summary.model);
    let mut words = match &summary.effort {
        Some(effort) => say!(Msg::WithEffort, model, text::line(effort)),
        None => model,
    };
    if summary.samples > 1 {
        words.push_str(&say!(Msg::WithSamples, summary.samples));
    }
    if summary.extract_reasoning {
        words.push_str(say!(Msg::WithExtraction));
    }
    words
}

fn on_or_off(word: &str) -> Result<bool, String> {
    match word {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(say!(Msg::GiveOnOff).to_owned()),
    }
}
