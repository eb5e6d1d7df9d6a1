//! `reasonix pin`: what stays word for word in every compaction.

use proto::methods::SessionPin;
use proto::params::compact::PinParams;
use proto::{ItemId, RequestId};

use crate::exit::Error;
use crate::{output, reach};

/// Keep a turn, or one message, word for word in every compaction.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Pid, id, or name.
    session: String,
    /// A turn by its number, or a message by its id (`m7.3`).
    what: String,
    /// It is to stay no longer.
    #[arg(long)]
    remove: bool,
}

/// Pins it.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("pin").await?;
    let item = match args.what.parse::<u64>() {
        Ok(turn) => ItemId(format!("m{turn}")),
        Err(_) => ItemId(args.what),
    };
    let params = PinParams {
        session: args.session,
        item: item.clone(),
        unpin: args.remove,
        request_id: Some(RequestId::new()),
    };
    client.call::<SessionPin>(&params).await?;
    output::progress(&match args.remove {
        true => format!("· unpinned {item}"),
        false => format!("· pinned {item}: compaction keeps it unchanged"),
    });
    Ok(0)
}
