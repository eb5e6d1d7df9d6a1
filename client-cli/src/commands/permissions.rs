//! `reasonix permissions`: which rules are in force, what they say of a call, and taking them back.

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
use crate::session_options::one_of;
use crate::{output, reach, text};

pub use check::Line;

/// Show the permission rules in force, and what they say of a call; take back what was allowed.
///
/// Without a word behind it: the rules in force here.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show the rules in force, with where each stands, and those that are not understood.
    List {
        /// Those of a session, with what was allowed in it: pid, id, or name.
        #[arg(short, long)]
        session: Option<String>,
    },
    /// Show what would become of a command or another call: its parts, the rule for each, the verdict. Nothing is done.
    Explain(Explain),
    /// Take back what was allowed: in a session, always, or in your own config.
    Revoke {
        /// The rule as `list` shows it.
        rule: String,
        /// Also look at what was allowed in this session: pid, id, or name.
        #[arg(short, long)]
        session: Option<String>,
        /// Where it stands, if it stands in several places.
        #[arg(long, value_name = "PLACE", value_parser = one_of!(Place))]
        from: Option<Place>,
    },
    /// Run a file of cases, calls under rules with the verdicts that are right, and print a JSON line for each. Exits 1
    /// where one is wrong.
    Check {
        /// A JSON file with `cases`.
        file: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
struct Explain {
    /// As in this session: pid, id, or name [default: as in a new session here].
    #[arg(short, long)]
    session: Option<String>,
    /// As under this approval mode [default: the one that is in force].
    #[arg(long, value_name = "MODE", value_parser = one_of!(ApprovalMode))]
    approval_mode: Option<ApprovalMode>,
    /// A call of this tool, not a command; what it is called with is said by `--args`.
    #[arg(long, conflicts_with = "command")]
    tool: Option<String>,
    /// Arguments of the tool, as a JSON object.
    #[arg(long, value_name = "JSON", requires = "tool")]
    args: Option<String>,
    /// The command: a line in quotes, or its words.
    #[arg(trailing_var_arg = true, required_unless_present = "tool")]
    command: Vec<String>,
}

/// Shows, explains, takes back, checks.
pub async fn run(args: Args) -> Result<u8, Error> {
    let json = args.json;
    match args.what.unwrap_or(What::List { session: None }) {
        What::List { session } => list(session, json).await,
        What::Explain(what) => explain(what, json).await,
        What::Revoke {
            rule,
            session,
            from,
        } => revoke(rule, session, from, json).await,
        What::Check { file } => check::run(&file, json).await,
    }
}

async fn watching() -> Result<Client, Error> {
    reach::with("permissions", |options| options.role = Role::Watch).await
}

/// The directory, where no session is named.
fn here(session: Option<&String>) -> Result<Option<String>, Error> {
    super::here(session.is_none())
}

async fn list(session: Option<String>, json: bool) -> Result<u8, Error> {
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
    output::table(["LIST", "RULE", "FROM"], &rows)?;
    if rows.is_empty() {
        output::progress("· no rules are in effect: Reasonix asks before anything is changed");
    }
    for problem in &found.problems {
        output::progress(&text::line(&format!("! {problem}")));
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
fn quoted(word: &str) -> String {
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
            Error::usage(
                format!("`--args` is not a JSON object: {error}"),
                "example: `--args '{\"path\": \"README.md\"}'`",
            )
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
    for line in told(&found) {
        output::line(&text::line(&line))?;
    }
    Ok(0)
}

/// What would become of the call, in lines. Pure.
fn told(found: &ExplainOutput) -> Vec<String> {
    let mut lines = vec![format!(
        "{}: {} ({}), approval mode {}",
        found.verdict.as_str(),
        found.rule,
        found.layer,
        found.approval_mode.as_str()
    )];
    if found.read_only {
        lines.push("  it changes nothing".to_owned());
    }
    if let Some(doubt) = &found.doubt {
        lines.push(format!("  not fully understood: {doubt}"));
    }
    for part in &found.parts {
        lines.extend(part_told(part));
    }
    for scope in &found.scopes {
        let reach = match scope.always {
            true => "for the session, or always",
            false => "for the session",
        };
        lines.push(format!(
            "  can be allowed {reach}: {} ({})",
            scope.words, scope.rule
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
        format!("         by {} ({}){via}", part.rule, part.layer),
    ];
    if let Some(doubt) = &part.doubt {
        lines.push(format!("         cannot tell what it runs: {doubt}"));
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
        Place::Session | Place::Kept => "",
        Place::User => "; loaded sessions keep it until they are unloaded",
    };
    output::progress(&text::line(&format!(
        "· removed `{}` from {}{rest}",
        params.rule, gone.origin
    )));
    Ok(0)
}

#[cfg(test)]
mod tests;
