//! `reasonix config`: settings in force, their sources, and changing one's own.

use clap::Subcommand;
use client::Client;
use proto::methods::{ConfigCheck, ConfigSet, ProviderList};
use proto::params::config::{CheckOutput, CheckParams, ProviderListParams, SetParams, Value};
use schemars::JsonSchema;
use serde::Serialize;

use super::models;
use super::setup::key::here;
use crate::exit::{self, Error};
use crate::messages::Head;
use crate::messages::daemon::Msg;
use crate::messages::translated;
use crate::{near, output, reach, text};

/// Show the settings in force and where each is set; change your own.
///
/// Without a command: all settings.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    what: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show one setting, one table, or all settings.
    Get {
        /// Setting or table, for instance `agent.max_steps` or `agent`.
        key: Option<String>,
        /// Print only the value.
        #[arg(short, long, requires = "key", conflicts_with = "json")]
        quiet: bool,
    },
    /// Set a value in your config; comments and order of the file are kept.
    Set {
        /// Setting, for instance `agent.max_steps`.
        key: String,
        /// Value in TOML: `50`, `true`, `["a", "b"]`; anything else is text.
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a setting from your config; its default applies again.
    Unset {
        /// Setting, for instance `agent.max_steps`.
        key: String,
    },
    /// Check the config. Exits with code 78 if there are problems.
    Check,
    /// Print the path of your config.
    Path,
}

/// Shows or changes.
pub async fn run(args: Args) -> Result<u8, Error> {
    let what = args.what.unwrap_or(Action::Get {
        key: None,
        quiet: false,
    });
    if let Action::Path = what {
        let path = client::paths::from_env()?.home.join("config.toml");
        let path = path.display().to_string();
        match args.json {
            true => output::json(&path)?,
            false => output::line(&text::line(&path))?,
        }
        return Ok(0);
    }
    let client = reach::daemon("config").await?;
    match what {
        Action::Get { key: None, .. } => all(&client, args.json).await,
        Action::Get {
            key: Some(key),
            quiet,
        } => get(&client, &key, quiet, args.json).await,
        Action::Set { key, value } => set(&client, key, Some(read(&value)), args.json).await,
        Action::Unset { key } => set(&client, key, None, args.json).await,
        Action::Check => check(&client, args.json).await,
        Action::Path => Ok(0),
    }
}

/// What `config get` prints: one setting, or all of a table.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Shown<'a> {
    One(&'a Value),
    Many(&'a [&'a Value]),
}

async fn in_force(client: &Client) -> Result<CheckOutput, Error> {
    let params = CheckParams { cwd: here() };
    Ok(client.call::<ConfigCheck>(&params).await?)
}

async fn all(client: &Client, json: bool) -> Result<u8, Error> {
    let found = in_force(client).await?;
    print(&found.values.iter().collect::<Vec<_>>(), json)?;
    if !found.problems.is_empty() && !json {
        output::progress(say!(Msg::ConfigProblems));
    }
    Ok(0)
}

async fn get(client: &Client, key: &str, quiet: bool, json: bool) -> Result<u8, Error> {
    let found = in_force(client).await?;
    if let Some(value) = found.values.iter().find(|value| value.key == key) {
        if json {
            output::json(&Shown::One(value))?;
            return Ok(0);
        }
        output::line(&text::line(&alone(&value.value)))?;
        if !quiet {
            output::progress(&text::line(&say!(Msg::FromOrigin, origin(value))));
        }
        return Ok(0);
    }
    let table = format!("{}.", key.trim_end_matches('.'));
    let of: Vec<&Value> = found
        .values
        .iter()
        .filter(|value| value.key.starts_with(&table))
        .collect();
    if of.is_empty() {
        let keys = found.values.iter().map(|value| value.key.as_str());
        return Err(Error::usage(
            say!(Msg::NoSetting, key),
            near::hint(key, keys, say!(Msg::GetLists)),
        ));
    }
    print(&of, json)?;
    Ok(0)
}

fn print(values: &[&Value], json: bool) -> Result<(), Error> {
    if json {
        return output::json(&Shown::Many(values));
    }
    let rows: Vec<_> = values
        .iter()
        .map(|value| {
            [
                value.key.clone(),
                match &value.value {
                    serde_json::Value::Null => say!(Msg::NotSet).to_owned(),
                    value => value.to_string(),
                },
                origin(value).to_owned(),
            ]
        })
        .collect();
    output::table([Head::Setting, Head::Value, Head::From], &rows)
}

/// Where a value is from, for people.
fn origin(value: &Value) -> &str {
    match value.origin.as_str() {
        "default" => say!(Msg::ByDefault),
        file => file,
    }
}

/// A value by itself: text without its quotes, nothing if it is not set.
fn alone(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

async fn set(
    client: &Client,
    key: String,
    value: Option<serde_json::Value>,
    json: bool,
) -> Result<u8, Error> {
    let params = SetParams {
        key,
        value,
        cwd: here(),
    };
    let mut done = client.call::<ConfigSet>(&params).await?;
    done.notices.extend(uncounted(client, &done.value).await);
    if json {
        output::json(&done)?;
        return Ok(0);
    }
    let value = &done.value;
    let now = match &value.value {
        serde_json::Value::Null => say!(Msg::IsNotSet).to_owned(),
        now => say!(Msg::IsNow, now),
    };
    output::progress(&text::line(&say!(Msg::NowIs, value.key, now, done.file)));
    for notice in &done.notices {
        output::progress(&text::line(&format!("! {}", translated(notice))));
    }
    Ok(0)
}

/// Says that requests to the default model do not count toward a limit in money, if its price is unknown.
async fn uncounted(client: &Client, limit: &Value) -> Option<String> {
    let table = limit.key.strip_suffix(".usd")?;
    let is_limit = limit.value.as_f64().is_some_and(|dollars| dollars > 0.0);
    if !table.starts_with("budget.") || !is_limit {
        return None;
    }
    let params = ProviderListParams { cwd: here() };
    // The value is set, whatever is known of the models.
    let list = client.call::<ProviderList>(&params).await.ok()?;
    let model = models::unpriced_default(&list)?;
    let tokens = format!("{table}.tokens");
    Some(say!(Msg::UnpricedLimit, model, limit.key, tokens))
}

async fn check(client: &Client, json: bool) -> Result<u8, Error> {
    let found = in_force(client).await?;
    let code = if found.problems.is_empty() {
        0
    } else {
        exit::CONFIG
    };
    if json {
        output::json(&found)?;
        return Ok(code);
    }
    for (at, problem) in found.problems.iter().enumerate() {
        output::line(&format!("! {}", text::line(&translated(problem))))?;
        // One hint for all problems in a row that it fits.
        let hint = found.hints.get(at).filter(|hint| !hint.is_empty());
        if let Some(hint) = hint
            && found.hints.get(at + 1) != Some(hint)
        {
            output::line(&format!("  {}", text::line(&translated(hint))))?;
        }
    }
    for line in &found.held_back {
        output::line(&say!(Msg::WithoutEffect, text::line(line)))?;
    }
    if !found.held_back.is_empty() {
        output::progress(say!(Msg::TrustShows));
    }
    if found.problems.is_empty() {
        output::progress(say!(Msg::NoProblems));
    }
    Ok(code)
}

/// A value as it is typed: TOML if it is TOML, else text. Pure.
fn read(typed: &str) -> serde_json::Value {
    let as_text = || serde_json::Value::String(typed.to_owned());
    let Ok(table) = toml::from_str::<toml::Table>(&format!("value = {typed}")) else {
        return as_text();
    };
    match table.get("value") {
        // Several settings on separate lines are not a value.
        Some(value) if table.len() == 1 && !matches!(value, toml::Value::Datetime(_)) => {
            serde_json::to_value(value).unwrap_or_else(|_| as_text())
        }
        _ => as_text(),
    }
}

#[cfg(test)]
mod tests;
