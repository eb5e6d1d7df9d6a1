//! The verbs, a file each; the doc comment of a command's `Args` is its help.
//!
//! A new one is its file, its `mod` line and its line in the table.

pub mod attach;
pub mod bare;
pub mod budget;
pub mod cache;
pub mod close;
pub mod compact;
pub mod completions;
pub mod config;
pub mod daemon;
pub mod demo;
pub mod doctor;
pub mod export;
pub mod fork;
pub mod hooks;
pub mod inbox;
pub mod inspect;
pub mod kill;
pub mod login;
pub mod logs;
pub mod ls;
pub mod man;
pub mod model;
pub mod models;
pub mod pause;
pub mod permissions;
pub mod pin;
pub mod prompt;
pub mod ps;
pub mod queue;
pub mod rename;
pub mod resume;
pub mod rewind;
pub mod rm;
pub mod rpc;
pub mod run;
pub mod search;
pub mod send;
pub mod setup;
pub mod show;
pub mod signal;
pub mod stats;
pub mod steps;
pub mod strace;
pub mod top;
pub mod trust;
pub mod wait;

use std::future::Future;
use std::pin::Pin;

use clap::Subcommand;
use client::Client;
use proto::methods::ProcessList;
use proto::params::process::ListParams;

use crate::exit::Error;
use crate::reach;

/// Boxed, so that the one future of all commands is not as large as the largest on the stack of each.
pub type Done = Pin<Box<dyn Future<Output = Result<u8, Error>>>>;

macro_rules! commands {
    ($verbose:ident; $($(#[$meta:meta])* $name:ident = $module:ident $(($more:ident))?;)*) => {
        /// What can be done.
        #[derive(Debug, Subcommand)]
        pub enum Command {
            $($(#[$meta])* $name(Box<$module::Args>),)*
        }

        impl Command {
            /// Does it; says the exit code.
            pub fn run(self, $verbose: bool) -> Done {
                match self {
                    $(Self::$name(args) => Box::pin($module::run(*args $(, $more)?)),)*
                }
            }
        }
    };
}

commands! {
    verbose;
    #[command(alias = "code")]
    Chat = bare;
    Run = run;
    Attach = attach;
    Ls = ls(verbose);
    Ps = ps(verbose);
    Top = top;
    Send = send;
    Kill = kill;
    Pause = pause;
    Resume = resume;
    Queue = queue;
    Inspect = inspect;
    Strace = strace;
    Steps = steps;
    Cache = cache;
    Prompt = prompt;
    Show = show;
    Wait = wait;
    #[command(alias = "log")]
    Logs = logs;
    Search = search;
    Export = export;
    Rename = rename;
    Fork = fork;
    Rewind = rewind;
    Compact = compact;
    Pin = pin;
    Model = model;
    Budget = budget;
    Close = close;
    Rm = rm;
    Stats = stats;
    Hooks = hooks;
    Inbox = inbox;
    Daemon = daemon;
    Demo = demo;
    Setup = setup;
    Login = login;
    Models = models;
    Config = config;
    Trust = trust;
    Permissions = permissions;
    Doctor = doctor;
    Completions = completions;
    Man = man;
    Rpc = rpc;
}

/// Sessions, by name or by label.
#[derive(Debug, clap::Args)]
pub struct Many {
    /// Pids, ids, or names.
    #[arg(required_unless_present = "label")]
    session: Vec<String>,
    /// Also all sessions with this label that have not exited.
    #[arg(short, long)]
    label: Option<String>,
}

impl Many {
    /// The sessions that are meant, each once.
    async fn named(self, client: &Client) -> Result<Vec<String>, Error> {
        let mut named = self.session;
        if let Some(label) = self.label {
            let params = ListParams {
                all: false,
                label: Some(label.clone()),
            };
            let labelled = client.call::<ProcessList>(&params).await?.processes;
            if labelled.is_empty() && named.is_empty() {
                return Err(Error::usage(
                    format!("no active session has the label `{label}`"),
                    format!("include exited sessions with `reasonix ps -a -l {label}`"),
                ));
            }
            for session in labelled {
                let pid = session.pid.to_string();
                if !named.contains(&pid) {
                    named.push(pid);
                }
            }
        }
        Ok(named)
    }
}

/// The working directory as sessions store it, where only its sessions are wanted.
fn here(wanted: bool) -> Result<Option<String>, Error> {
    wanted.then(|| reach::utf8(&reach::cwd(None)?)).transpose()
}

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
