//! `reasonix compact`: old messages folded into a summary, and back.

use client::transcript::words;
use client::{CallError, Client};
use proto::RequestId;
use proto::methods::{SessionCompact, SessionInterrupt};
use proto::params::compact::{CompactOutput, CompactParams};
use proto::params::session::OneParams;

use crate::exit::{self, Error};
use crate::messages::language;
use crate::signals::Signals;
use crate::{output, reach};

/// Replace old messages with a summary, to make room in the context.
///
/// Kept word for word: user messages of at most 4,000 tokens, earlier summaries, pinned messages, and the newest
/// messages. The provider's prompt cache is lost. `--undo` restores the originals until a later turn has ended. The log
/// keeps them for good.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session: pid, id, or name.
    session: String,
    /// Instructions for the summary: what to keep.
    instructions: Vec<String>,
    /// Show the effect; send and change nothing.
    #[arg(long, conflicts_with = "undo")]
    preview: bool,
    /// Undo the newest compaction.
    #[arg(long, conflicts_with = "instructions")]
    undo: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Waits for the end of it. Ctrl-C stops the compaction, which then changes nothing; a second one leaves.
async fn compacted(
    client: &Client,
    params: &CompactParams,
) -> Result<Option<CompactOutput>, Error> {
    let mut signals = Signals::listen()?;
    let mut call = std::pin::pin!(client.call::<SessionCompact>(params));
    let mut stopped = false;
    loop {
        tokio::select! {
            done = &mut call => return match done {
                Err(CallError::Failure(failure)) if stopped => {
                    output::progress(&format!("· {}", language().translate(&failure.message)));
                    Ok(None)
                }
                done => Ok(Some(done?)),
            },
            _ = signals.next() => {
                if std::mem::replace(&mut stopped, true) {
                    return Ok(None);
                }
                let session = params.session.clone();
                client.call::<SessionInterrupt>(&OneParams { session }).await?;
            }
        }
    }
}

/// Compacts, previews, or takes back. Exits 1 if there was nothing to fold.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("compact").await?;
    let instructions = args.instructions.join(" ");
    let params = CompactParams {
        session: args.session,
        instructions: Some(instructions).filter(|words| !words.trim().is_empty()),
        preview: args.preview,
        undo: args.undo,
        request_id: (!args.preview).then(RequestId::new),
        credentials: client.credentials().await,
    };
    let Some(done) = compacted(&client, &params).await? else {
        return Ok(exit::INTERRUPTED);
    };
    if args.json {
        output::json(&done)?;
    } else {
        let words = words::compacted(language(), params.preview, params.undo, &done);
        output::progress(&format!("· {words}"));
    }
    Ok(u8::from(done.why.is_some()))
}
