//! `reasonix permissions`: which rules are in force, their verdict on a call, and removing them.

mod check;

use std::path::PathBuf;

use clap::Subcommand;
use client::Client;
use proto::hello::Role;
use proto::methods::{PermissionExplain, RulesList, RulesRevoke};
use proto::params::rules::{
    ExplainOutput, ExplainParams, ExplainedPart, ListParams, Place, RevokeParams,
};
use proto::state::ApprovalMode;
use serde_json::Map;

use crate::exit::Error;
use crate::messages::Head;
use crate::messages::asking::Msg;
use crate::messages::translated;
use crate::session_options::one_of;
use crate::{output, reach, text, unread_rules};

pub use check::Line;

/// Show, test and revoke permission rules.
///
/// Without a command: the rules in force here.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
    /// Print only the rules, one per line.
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
    #[command(subcommand)]
    what: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the rules in force and where each is set, with the ones that are not understood.
    List {
        /// Include the rules of this session: pid, id, or name.
        #[arg(short, long)]
        session: Option<String>,
        /// Print only the rules, one per line.
        #[arg(short, long, conflicts_with = "json")]
        quiet: bool,
    },
    /// Show how a command or tool call would be judged: its parts, the rule for each, the verdict. Runs nothing.
    Explain(Explain),
    /// Revoke an allow rule: of a session, of this workspace, or of your config.
    Revoke {
        /// Rule, as `list` shows it.
        rule: String,
        /// Also search the rules of this session: pid, id, or name.
        #[arg(short, long)]
        session: Option<String>,
        /// Source of the rule, if several have it.
        #[arg(long, value_name = "PLACE", value_parser = one_of!(Place))]
        from: Option<Place>,
    },
    /// Check a file of test cases (calls, rules, expected verdicts); print one JSON line each. Exits 1 if any fails.
    Check {
        /// JSON file with `cases`.
        file: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
struct Explain {
    /// Judge as in this session: pid, id, or name [default: a new session here].
    #[arg(short, long)]
    session: Option<String>,
    /// Judge under this approval mode [default: the current one].
    #[arg(long, value_name = "MODE", value_parser = one_of!(ApprovalMode))]
    approval_mode: Option<ApprovalMode>,
    /// Judge a call of this tool instead of a command; `--args` gives its arguments.
    #[arg(long, conflicts_with = "command")]
    tool: Option<String>,
    /// Arguments of the tool, as a JSON object.
    #[arg(long, value_name = "JSON", requires = "tool")]
    args: Option<String>,
    /// Command: one quoted line, or its words.
    #[arg(trailing_var_arg = true, required_unless_present = "tool")]
    command: Vec<String>,
}

/// Shows, explains, takes back, checks.
pub async fn run(args: Args) -> Result<u8, Error> {
    let json = args.json;
    let what = args.what.unwrap_or(Action::List {
        session: None,
        quiet: args.quiet,
    });
    match what {
        Action::List { session, quiet } => list(session, json, quiet).await,
        Action::Explain(what) => explain(what, json).await,
        Action::Revoke {
            rule,
            session,
            from,
        } => revoke(rule, session, from, json).await,
        Action::Check { file } => check::run(&file, json).await,
    }
}

async fn watching() -> Result<Client, Error> {
    reach::with("permissions", |options| options.role = Role::Watch).await
}

/// The directory, if no session is named.
fn here(session: Option<&String>) -> Result<Option<String>, Error> {
    super::here(session.is_none())
}

async fn list(session: Option<String>, json: bool, quiet: bool) -> Result<u8, Error> {
    let client = watching().await?;
    let params = ListParams {
        cwd: here(session.as_ref())?,
        session,
        from: 0,
    };
    let found = client.all::<RulesList>(params).await?;
    if json {
        output::json(&found)?;
        return Ok(0);
    }
    if quiet {
        output::names(found.rules.iter().map(|rule| rule.rule.as_str()))?;
        return Ok(0);
    }
    let rows: Vec<_> = found
        .rules
        .iter()
        .map(|rule| {
            let rule_text = match rule.problem {
                Some(_) => format!("! {}", rule.rule),
                None => rule.rule.clone(),
            };
            [
                rule.list.as_str().to_owned(),
                text::line(&rule_text),
                text::line(&format!("{}: {}", rule.layer, rule.origin)),
            ]
        })
        .collect();
    match rows.is_empty() {
        true => output::progress(say!(Msg::NoRules)),
        false => output::table([Head::List, Head::Rule, Head::From], &rows)?,
    }
    for line in reach::cwd(None)
        .iter()
        .flat_map(|cwd| unread_rules::lines(cwd))
    {
        output::progress(&format!("! {line}"));
    }
    for problem in &found.problems {
        output::progress(&text::line(&format!("! {}", translated(problem))));
    }
    Ok(0)
}

/// The words of a command as one line: a single word is the line itself.
fn one_line(words: &[String]) -> String {
    match words {
        [line] => line.clone(),
        words => {
            let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
            words.join(" ")
        }
    }
}

/// A word as a shell reads it back.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%^".contains(c);
    // What our shell has passed on as an operator was meant as one only in quotes: it is a word.
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

async fn explain(what: Explain, json: bool) -> Result<u8, Error> {
    let arguments = match &what.args {
        None => Map::new(),
        Some(text) => serde_json::from_str(text).map_err(|error| {
            Error::usage(say!(Msg::ArgsNotJson, error), say!(Msg::ArgsNotJsonHint))
        })?,
    };
    let params = ExplainParams {
        cwd: here(what.session.as_ref())?,
        session: what.session,
        command: what.tool.is_none().then(|| one_line(&what.command)),
        tool: what.tool,
        arguments,
        approval_mode: what.approval_mode,
    };
    let client = watching().await?;
    let found = client.call::<PermissionExplain>(&params).await?;
    if json {
        output::json(&found)?;
        return Ok(0);
    }
    for line in render(&found) {
        output::line(&text::line(&line))?;
    }
    Ok(0)
}

/// What would become of the call, in lines. Pure.
fn render(found: &ExplainOutput) -> Vec<String> {
    let mut lines = vec![say!(
        Msg::Explained,
        found.verdict.as_str(),
        translated(&found.rule),
        translated(&found.layer),
        found.approval_mode.as_str()
    )];
    if found.read_only {
        lines.push(say!(Msg::ChangesNothing).to_owned());
    }
    if let Some(doubt) = &found.doubt {
        lines.push(say!(Msg::NotUnderstood, translated(doubt)));
    }
    for part in &found.parts {
        lines.extend(part_told(part));
    }
    for scope in &found.scopes {
        let reach = match scope.always {
            true => say!(Msg::ForSessionAlways),
            false => say!(Msg::ForSession),
        };
        lines.push(say!(
            Msg::CouldCover,
            reach,
            translated(&scope.words),
            scope.rule
        ));
    }
    lines
}

fn part_told(part: &ExplainedPart) -> Vec<String> {
    let via = match part.via.is_empty() {
        true => String::new(),
        false => format!(", {}", part.via.join(", ")),
    };
    let mut lines = vec![
        format!("  {:5}  {}", part.verdict.as_str(), part.text),
        say!(
            Msg::ByRule,
            translated(&part.rule),
            translated(&part.layer),
            via
        ),
    ];
    if let Some(doubt) = &part.doubt {
        lines.push(say!(Msg::CommandsUnknown, translated(doubt)));
    }
    lines
}

async fn revoke(
    rule: String,
    session: Option<String>,
    from: Option<Place>,
    json: bool,
) -> Result<u8, Error> {
    let params = RevokeParams {
        rule,
        cwd: here(session.as_ref())?,
        session,
        place: from,
    };
    let client = reach::daemon("permissions").await?;
    let gone = client.call::<RulesRevoke>(&params).await?;
    if json {
        output::json(&gone)?;
        return Ok(0);
    }
    let rest = match gone.place {
        Place::Session | Place::Persisted => "",
        Place::User => say!(Msg::LoadedKeep),
    };
    output::progress(&text::line(&say!(
        Msg::Revoked,
        params.rule,
        gone.origin,
        rest
    )));
    Ok(0)
}

#[cfg(test)]
mod tests;
