//! `reasonix compact`: old messages folded into a digest, and back.

use client::transcript::compacted_words;
use proto::RequestId;
use proto::methods::SessionCompact;
use proto::params::compact::CompactParams;

use crate::exit::Error;
use crate::{output, reach};

/// Fold old messages into a digest that the model writes, so that the context has room again.
///
/// Word for word stay: the user's own messages of at most 4,000 tokens, earlier digests, what is pinned, and the newest
/// messages. The vendor's cache starts anew. Nothing is erased: `--undo` brings the originals back, until a turn that began
/// behind it has ended; the log keeps them for good.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Pid, id, or name.
    session: String,
    /// What the digest is to keep, in words for the model.
    instructions: Vec<String>,
    /// Only tell what it would do: nothing is asked, and nothing changes.
    #[arg(long, conflicts_with = "undo")]
    preview: bool,
    /// Take the newest compaction back.
    #[arg(long, conflicts_with = "instructions")]
    undo: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Compacts, previews, or takes back. Exits 1 where there was nothing to fold.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("compact").await?;
    let instructions = args.instructions.join(" ");
    let params = CompactParams {
        session: args.session,
        instructions: Some(instructions).filter(|words| !words.trim().is_empty()),
        preview: args.preview,
        undo: args.undo,
        request_id: (!args.preview).then(RequestId::new),
    };
    let done = client.call::<SessionCompact>(&params).await?;
    if args.json {
        output::json(&done)?;
    } else {
        let words = compacted_words(params.preview, params.undo, &done);
        output::progress(&format!("· {words}"));
    }
    Ok(u8::from(done.why.is_some()))
}
