//! `reasonix model`: who is asked in a session, from its next request on.

use proto::RequestId;
use proto::methods::{SessionGet, SessionSet};
use proto::params::session::{OneParams, SessionSummary, SetParams};

use crate::exit::Error;
use crate::{output, reach, text};

/// Show which model a session asks, or have it ask another one from its next request on.
///
/// The conversation goes on; what only the old vendor can read (its signed reasoning) is left out. The vendor's cache starts
/// anew: once there is a conversation, `--yes` says that this is meant.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Pid, id, or name.
    session: String,
    /// A provider, a model, or `provider/model`.
    model: Option<String>,
    /// How hard it is to think, as the model knows the words; empty: as it does by itself.
    #[arg(long)]
    effort: Option<String>,
    /// A new start of the cache is meant.
    #[arg(short, long)]
    yes: bool,
    /// Print JSON: the session in short.
    #[arg(long)]
    json: bool,
}

/// Shows it, or changes it.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("model").await?;
    let changes = args.model.is_some() || args.effort.is_some();
    let summary = if changes {
        let params = SetParams {
            session: args.session,
            model: args.model,
            effort: args.effort,
            confirm: args.yes,
            request_id: Some(RequestId::new()),
            ..SetParams::default()
        };
        client.call::<SessionSet>(&params).await?
    } else {
        let session = args.session;
        client.call::<SessionGet>(&OneParams { session }).await?
    };
    if args.json {
        output::json(&summary)?;
    } else if changes {
        let asks = format!(
            "· session {} asks {} from its next request on",
            summary.pid,
            words(&summary)
        );
        output::progress(&asks);
    } else {
        output::line(&words(&summary))?;
    }
    Ok(0)
}

fn words(summary: &SessionSummary) -> String {
    let model = text::line(&summary.model);
    match &summary.effort {
        Some(effort) => format!("{model}, effort {}", text::line(effort)),
        None => model,
    }
}
