//! `reasonix mcp`: the MCP servers that sessions have.

mod login;
pub(crate) mod presets;

use std::time::Duration;

use clap::Subcommand;
use client::Client;
use proto::hello::Role;
use proto::methods::{McpAdd, McpList, McpLogs, McpRemove, McpRestart, McpTest};
use proto::params::mcp::{
    AddParams, ListOutput, ListParams, McpServer, RemoveParams, RestartParams, ServerParams,
};
use serde_json::{Map, Value};

use super::setup::key::here;
use crate::exit::Error;
use crate::messages::asking::Msg;
use crate::messages::{Head, language};
use crate::{output, reach, text};

/// The longest time that the entry of a server may give it for its start.
const START_MAX: Duration = Duration::from_secs(3600);

/// Manage MCP servers, which give the model more tools.
///
/// Without a command: list the servers of this directory. Servers are configured in `mcp.json` in the home, in `.mcp.json` of a trusted project, and as `[[plugins]]` in config files. New sessions have their tools.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
    /// Print only the id or name of each, one per line.
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the servers of this directory with their states, tools, and the entries that are ignored.
    List {
        /// Print only the id or name of each, one per line.
        #[arg(short, long, conflicts_with = "json")]
        quiet: bool,
    },
    /// Add a server to your `mcp.json`.
    ///
    /// Without an address or program, adds the preset called NAME, for example `playwright`. `reasonix mcp presets` lists
    /// the presets.
    Add(Add),
    /// List presets: servers that `mcp add NAME` adds without a command.
    Presets {
        /// Print only the id or name of each, one per line.
        #[arg(short, long, conflicts_with = "json")]
        quiet: bool,
    },
    /// Remove a server from your `mcp.json`.
    Remove {
        /// Name of the server.
        name: String,
    },
    /// Start a server, wait until it is ready, and list its tools. Exits 1 if it does not work.
    Test {
        /// Name of the server.
        name: String,
    },
    /// Print the newest lines that a server wrote to its standard error.
    Logs {
        /// Name of the server.
        name: String,
    },
    /// Restart the process of a server. Its running calls fail.
    Restart {
        /// Name of the server.
        name: String,
    },
    /// Log in to an HTTP server in the browser.
    ///
    /// Prints the address to open. If the browser runs on another machine, its last page does not load: paste the address of that page here. The tokens are stored with the provider keys.
    Login {
        /// Name of the server.
        name: String,
        /// Do not open a browser.
        #[arg(long)]
        no_browser: bool,
    },
    /// Log out of a server: delete its stored tokens, and revoke them at the server.
    Logout {
        /// Name of the server.
        name: String,
    },
}

#[derive(Debug, clap::Args)]
struct Add {
    /// Name of the server: its tools are `mcp__NAME__TOOL`.
    name: String,
    /// Environment variable of the server; `${VAR}` in the value is replaced when it starts.
    #[arg(long, short, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Header of requests to an address; `${VAR}` in the value is replaced.
    #[arg(long, value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// Run its program in the sandbox of commands.
    #[arg(long)]
    sandbox: bool,
    /// Address of the server, or its program and arguments: put `--` before them if one begins with `-` [default: taken from the preset NAME].
    target: Vec<String>,
}

/// Asks, and prints.
pub async fn run(args: Args) -> Result<u8, Error> {
    let what = args.what.unwrap_or(What::List { quiet: args.quiet });
    if let What::Presets { quiet } = what {
        presets::list(args.json, quiet)?;
        return Ok(0);
    }
    let client = match &what {
        What::List { .. } | What::Presets { .. } | What::Logs { .. } => {
            reach::with("mcp", |options| options.role = Role::Watch).await?
        }
        // The daemon answers once the server does, which may take as long as its entry says.
        What::Test { .. } => reach::with("mcp", |options| options.silence = START_MAX).await?,
        What::Add(_)
        | What::Remove { .. }
        | What::Restart { .. }
        | What::Login { .. }
        | What::Logout { .. } => reach::daemon("mcp").await?,
    };
    let asked = |name: String| ServerParams { name, cwd: here() };
    match what {
        What::List { quiet } => {
            let list = client.call::<McpList>(&ListParams { cwd: here() }).await?;
            print(&list, args.json, quiet)?;
        }
        What::Add(add) => {
            let name = add.name.clone();
            let (entry, note) = entry(add)?;
            let params = AddParams {
                entry,
                name: name.clone(),
            };
            let list = client.call::<McpAdd>(&params).await?;
            changed(&list, args.json, || say!(Msg::McpAdded, name))?;
            if let (Some(note), false) = (note, args.json) {
                output::progress(&note);
            }
        }
        // It was printed without the daemon.
        What::Presets { .. } => {}
        What::Remove { name } => {
            let params = RemoveParams { name: name.clone() };
            let list = client.call::<McpRemove>(&params).await?;
            changed(&list, args.json, || say!(Msg::McpRemoved, name))?;
        }
        What::Login { name, no_browser } => {
            return login::login(&client, name, !no_browser, args.json).await;
        }
        What::Logout { name } => return login::logout(&client, name, args.json).await,
        What::Test { name } => return test(&client, &asked(name), args.json).await,
        What::Logs { name } => {
            let logs = client.call::<McpLogs>(&asked(name.clone())).await?;
            if args.json {
                output::json(&logs)?;
            } else if logs.lines.is_empty() {
                output::progress(&say!(Msg::McpLogEmpty, name));
            } else {
                let mut lines = logs.lines.iter();
                lines.try_for_each(|line| output::line(&text::line(line)))?;
            }
        }
        What::Restart { name } => {
            let params = RestartParams {
                name: name.clone(),
                cwd: here(),
                session: None,
            };
            let done = client.call::<McpRestart>(&params).await?;
            if args.json {
                output::json(&done)?;
            }
            output::progress(&say!(Msg::McpRestarted, name));
        }
    }
    Ok(0)
}

async fn test(client: &Client, params: &ServerParams, json: bool) -> Result<u8, Error> {
    let server = client.call::<McpTest>(params).await?;
    let code = u8::from(server.state != "ready");
    if json {
        output::json(&server)?;
        return Ok(code);
    }
    let rows = [row(&server)];
    output::table(HEADS, &rows)?;
    server
        .tools
        .iter()
        .try_for_each(|tool| output::line(&format!("  {}", text::line(tool))))?;
    causes(&server);
    Ok(code)
}

/// The entry of `mcp.json` that the arguments describe, and what the user must know of it.
fn entry(add: Add) -> Result<(Map<String, Value>, Option<String>), Error> {
    let pairs = |list: &[String], between: char, option: &str| {
        let pair = |text: &String| match text.split_once(between) {
            Some((name, value)) if !name.trim().is_empty() => {
                Ok((name.trim().to_owned(), Value::from(value.trim())))
            }
            Some(_) | None => Err(Error::usage(
                say!(Msg::McpPair, option, text),
                say!(Msg::McpPairHint, option, between),
            )),
        };
        list.iter().map(pair).collect::<Result<Map<_, _>, _>>()
    };
    let (env, headers) = (
        pairs(&add.env, '=', "--env")?,
        pairs(&add.header, ':', "--header")?,
    );
    let sandbox = add
        .sandbox
        .then(|| ("sandbox".to_owned(), Value::Bool(true)));
    let mut words = add.target.into_iter();
    let Some(first) = words.next() else {
        let (mut entry, note) = presets::entry(&add.name)?;
        add_to(&mut entry, "env", env);
        add_to(&mut entry, "headers", headers);
        entry.extend(sandbox);
        return Ok((entry, note));
    };
    let mut entry = Map::new();
    let rest: Vec<_> = words.map(Value::from).collect();
    if first.starts_with("http://") || first.starts_with("https://") {
        entry.insert("type".to_owned(), "http".into());
        entry.insert("url".to_owned(), first.into());
    } else {
        entry.insert("command".to_owned(), first.into());
    }
    if !rest.is_empty() {
        entry.insert("args".to_owned(), rest.into());
    }
    add_to(&mut entry, "env", env);
    add_to(&mut entry, "headers", headers);
    entry.extend(sandbox);
    Ok((entry, None))
}

/// Adds values to those that an entry has under this key, and replaces those of the same names.
fn add_to(entry: &mut Map<String, Value>, key: &str, more: Map<String, Value>) {
    if more.is_empty() {
        return;
    }
    let values = entry.entry(key).or_insert_with(|| Map::new().into());
    if let Value::Object(values) = values {
        values.extend(more);
    }
}

fn changed(list: &ListOutput, json: bool, words: impl FnOnce() -> String) -> Result<(), Error> {
    if json {
        return output::json(list);
    }
    output::progress(&words());
    Ok(())
}

const HEADS: [Head; 5] = [
    Head::Name,
    Head::State,
    Head::Tools,
    Head::Command,
    Head::From,
];

fn print(list: &ListOutput, json: bool, quiet: bool) -> Result<(), Error> {
    if json {
        return output::json(list);
    }
    if quiet {
        return output::names(list.servers.iter().map(|server| server.name.as_str()));
    }
    if list.servers.is_empty() {
        // Problems say more.
        if list.problems.is_empty() {
            output::progress(say!(Msg::McpNone));
        }
    } else {
        let rows: Vec<_> = list.servers.iter().map(row).collect();
        output::table(HEADS, &rows)?;
    }
    list.servers.iter().for_each(causes);
    super::print_problems(&list.problems);
    Ok(())
}

/// Why it does not work, and which of its tools are left out.
fn causes(server: &McpServer) {
    if let Some(reason) = &server.reason {
        let (name, reason) = (text::line(&server.name), text::line(reason));
        output::progress(&format!("! {name}: {reason}"));
    }
    for problem in &server.problems {
        output::progress(&format!("! {}", text::line(problem)));
    }
}

fn row(server: &McpServer) -> [String; 5] {
    let state = client::server_state::words(language(), &server.state).into_owned();
    [
        text::line(&server.name),
        match server.sandbox {
            true => say!(Msg::McpSandboxed, state),
            false => state,
        },
        server.tools.len().to_string(),
        text::line(&server.target),
        text::line(&server.source),
    ]
}
