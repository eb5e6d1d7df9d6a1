//! `--trust`: the project of the directory is trusted as long as the run is connected.

use client::Client;
use proto::methods::{TrustGet, TrustSet};
use proto::params::config::{TrustGetParams, TrustSetParams};

use crate::exit::Error;
use crate::messages::run::Msg;
use crate::{output, text};

/// Trusts what the project of this directory brings, and shows it. Ends with the connection.
pub(super) async fn for_the_run(client: &Client, cwd: &str) -> Result<(), Error> {
    let cwd = cwd.to_owned();
    let params = TrustGetParams { cwd: cwd.clone() };
    let shown = client.call::<TrustGet>(&params).await?;
    let Some(directory) = shown.directory.filter(|_| !shown.trusted) else {
        return Ok(());
    };
    let params = TrustSetParams {
        cwd,
        trusted: true,
        hash: shown.hash,
        connection: true,
    };
    client.call::<TrustSet>(&params).await?;
    let directory = text::exact(&directory).replace('\n', "⏎");
    output::progress(&say!(Msg::TrustedForRun, directory));
    for line in &shown.held_back {
        output::progress(&format!("  {}", text::exact(line).replace('\n', "⏎")));
    }
    Ok(())
}
