//! The commands, a file each; the doc comment of a command's `Args` is its help.
//!
//! A new command is its file, its `mod` line, its line in the table, and for each paragraph of its help a row in Chinese
//! (`messages/help/rows.rs`).

pub mod agents;
pub mod attach;
pub mod bare;
pub mod budget;
pub mod cache;
pub mod close;
pub mod compact;
pub mod completions;
pub mod config;
pub mod custom;
pub mod daemon;
pub mod demo;
pub mod doctor;
pub mod export;
pub mod fork;
pub mod goal;
pub mod help;
pub mod history;
pub mod hooks;
pub mod inbox;
pub mod inspect;
pub mod kill;
pub mod login;
pub mod logs;
pub mod ls;
pub mod man;
pub mod mcp;
pub mod memory;
pub mod model;
pub mod models;
pub mod pause;
pub mod permissions;
pub mod pin;
pub mod prompt;
pub mod ps;
pub mod queue;
pub mod reload;
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
pub mod skills;
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
use serde::Serialize;

use crate::exit::Error;
use crate::messages::common::Msg;
use crate::messages::{Head, translated};
use crate::{output, reach, text};

/// Boxed, so that the one future of all commands is not as large as the largest on the stack of each.
pub type Done = Pin<Box<dyn Future<Output = Result<u8, Error>>>>;

macro_rules! commands {
    ($verbose:ident; $($title:literal {
        $($(#[$meta:meta])* $name:ident = $module:ident $(($more:ident))? $(, $rare:ident)?;)*
    })*) => {
        /// All commands.
        #[derive(Debug, Subcommand)]
        pub enum Command {
            $($($(#[$meta])* $name(Box<$module::Args>),)*)*
        }

        /// Groups of commands as help lists them: title, and name and mark (`rare` or empty) of each command.
        pub const GROUPS: &[(&str, &[(&str, &str)])] = &[$(
            ($title, &[$((stringify!($name), concat!($(stringify!($rare))?)),)*]),
        )*];

        impl Command {
            /// Runs the command; returns the exit code.
            pub fn run(self, $verbose: bool) -> Done {
                match self {
                    $($(Self::$name(args) => Box::pin($module::run(*args $(, $more)?)),)*)*
                }
            }
        }
    };
}

// `rare`: only `reasonix help --all` lists it.
commands! {
    verbose;
    "Start and talk" {
        #[command(alias = "code")]
        Chat = bare;
        Run = run;
        Goal = goal;
        Attach = attach;
        Send = send;
        Queue = queue, rare;
    }
    "Running sessions" {
        Ps = ps(verbose);
        Top = top;
        Wait = wait;
        Pause = pause;
        Resume = resume;
        Close = close;
        Kill = kill;
        Inspect = inspect, rare;
        Strace = strace, rare;
        Steps = steps, rare;
    }
    "Stored sessions" {
        Ls = ls(verbose);
        Show = show;
        #[command(alias = "log")]
        Logs = logs;
        Search = search;
        History = history, rare;
        Export = export;
        Rename = rename;
        Fork = fork;
        Rewind = rewind;
        Compact = compact;
        Rm = rm;
        Reload = reload, rare;
        Pin = pin, rare;
    }
    "Approvals and permissions" {
        Inbox = inbox;
        Permissions = permissions;
        Trust = trust;
    }
    "Knowledge and tools of a project" {
        Memory = memory;
        Skills = skills;
        Commands = custom;
        #[command(alias = "agent")]
        Agents = agents;
        Mcp = mcp;
        Hooks = hooks;
    }
    "Cost and models" {
        Model = model;
        Models = models;
        Budget = budget;
        Stats = stats;
        Cache = cache, rare;
        Prompt = prompt, rare;
    }
    "Setup and maintenance" {
        Setup = setup;
        Login = login;
        Config = config;
        Doctor = doctor;
        Daemon = daemon;
        Demo = demo;
        Help = help;
        Completions = completions, rare;
        Man = man, rare;
        Rpc = rpc, rare;
    }
}

/// Sessions, by name or by label.
#[derive(Debug, clap::Args)]
pub struct SessionSelection {
    /// Sessions: pids, ids, or names.
    #[arg(required_unless_present = "label")]
    session: Vec<String>,
    /// Add every session with this label that has not exited.
    #[arg(short, long)]
    label: Option<String>,
}

impl SessionSelection {
    /// The sessions that are meant, each once.
    async fn named(self, client: &Client) -> Result<Vec<String>, Error> {
        let mut named = self.session;
        if let Some(label) = self.label {
            let params = ListParams {
                all: false,
                label: Some(label.clone()),
                ..ListParams::default()
            };
            let labelled = client.call::<ProcessList>(&params).await?.processes;
            if labelled.is_empty() && named.is_empty() {
                return Err(Error::usage(
                    say!(Msg::NoneLabelled, label),
                    say!(Msg::NoneLabelledHint, label),
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
    /// Print only the id or name of each, one per line.
    #[arg(short, long, conflicts_with = "json")]
    pub quiet: bool,
}

/// A list of named items, with the entries that were left out.
pub struct NamedList<'a, const N: usize> {
    /// The names of the items that count, without those that others hide.
    pub names: Vec<&'a str>,
    pub heads: [Head; N],
    pub rows: Vec<[String; N]>,
    /// What is said in place of a table without rows.
    pub none: &'static str,
    pub problems: &'a [String],
}

impl Listing {
    /// Prints a list as JSON (`output`), as names, or as a table with its problems below.
    pub fn print<const N: usize>(
        &self,
        output: &impl Serialize,
        list: &NamedList<'_, N>,
    ) -> Result<(), Error> {
        if self.json {
            return output::json(output);
        }
        if self.quiet {
            return output::names(list.names.iter().copied());
        }
        match list.rows.is_empty() {
            true => output::progress(list.none),
            false => output::table(list.heads, &list.rows)?,
        }
        print_problems(list.problems);
        Ok(())
    }
}

/// Prints the entries left out of a list, to standard error.
pub fn print_problems(problems: &[String]) {
    for problem in problems {
        output::progress(&format!("! {}", text::line(&translated(problem))));
    }
}
