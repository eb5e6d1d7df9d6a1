//! `reasonix pin`: what stays word for word in every compaction.

use proto::methods::SessionPin;
use proto::params::compact::PinParams;
use proto::{ItemId, RequestId};

use crate::exit::Error;
use crate::messages::stored::Msg;
use crate::{output, reach};

/// Keep a turn or a message word for word in compactions.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session: pid, id, or name.
    session: String,
    /// Turn number, or message id (`m7.3`).
    what: String,
    /// Remove the pin.
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
        true => say!(Msg::Unpinned, item),
        false => say!(Msg::Pinned, item),
    });
    Ok(0)
}
