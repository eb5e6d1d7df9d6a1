//! The verbs, a file each; the doc comment of a command's `Args` is its help.

pub mod attach;
pub mod daemon;
pub mod demo;
pub mod doctor;
pub mod inbox;
pub mod kill;
pub mod logs;
pub mod ls;
pub mod ps;
pub mod rpc;
pub mod run;
pub mod wait;

/// How a listing is printed.
#[derive(Debug, Default, clap::Args)]
pub struct Listing {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Print ids only, one a line.
    #[arg(short, long, conflicts_with = "json")]
    pub quiet: bool,
}
