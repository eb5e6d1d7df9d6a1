//! `reasonix completions`: words for a shell's Tab key.

use clap_complete::Shell;

use crate::exit::Error;
use crate::output;

/// Print the completion script of a shell.
///
/// For instance `reasonix completions bash > ~/.local/share/bash-completion/completions/reasonix`.
#[derive(Debug, clap::Args)]
pub struct Args {
    shell: Shell,
}

/// Prints it.
pub async fn run(args: Args) -> Result<u8, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::command(), "reasonix", &mut script);
    output::part(&String::from_utf8_lossy(&script))?;
    Ok(0)
}
