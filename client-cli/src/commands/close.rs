//! `reasonix close`: an end to sessions that can be taken up again.

use proto::methods::SessionClose;
use proto::params::session::OneParams;

use super::SessionSelection;
use super::signal::Sent;
use crate::exit::{self, Error};
use crate::{output, reach};

/// Close idle sessions; their next prompt opens them again.
///
/// Closed sessions stay stored. `reasonix rm` deletes sessions.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON: one result object per session, one per line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    many: SessionSelection,
}

/// Closes each, also if one of them does not exist.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("close").await?;
    let mut code = 0;
    for session in args.many.named(&client).await? {
        let params = OneParams { session };
        let answer = client.call::<SessionClose>(&params).await;
        let answer = answer.map_err(Error::from);
        if args.json {
            let closed = answer.as_ref().map(|_| true);
            output::json(&Sent::of(&params.session, closed))?;
        }
        if let Err(error) = answer {
            code = exit::tell(&error, false);
        }
    }
    Ok(code)
}
