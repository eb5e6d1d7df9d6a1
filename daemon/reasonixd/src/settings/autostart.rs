//! `[[autostart]]` of the user's config: goals that the daemon starts and MCP servers that it keeps running. Called by
//! `layers`; a project's config has none.

use std::path::PathBuf;

use proto::SessionOptions;
use proto::budget::Budget;
use proto::params::config;
use proto::state::{ApprovalMode, OnAsk, RestartPolicy};
use serde::Deserialize;
use serde_json::json;

/// What may be in `[[autostart]]`.
pub const FIELDS: &[(&str, &str)] = &[
    (
        "name",
        "Name of the entry: letters, digits, `-` and `_`. Its sessions have the label `autostart:NAME`.",
    ),
    (
        "goal",
        "Goal, in words for the model. The daemon starts it once, in a session of its own, and goes on with it after \
         restarts until it has ended. Another text, or another `dir`, is another goal, which replaces this one.",
    ),
    (
        "server",
        "In place of `goal`: MCP server of your own configuration, to start with the daemon and to keep running.",
    ),
    (
        "dir",
        "Directory to work in: absolute or below `~`. A goal needs one; for a server unset: your home.",
    ),
    (
        "required",
        "Whether the daemon refuses to start if the entry cannot be started. Unset: false; then `reasonix doctor` and \
         the daemon's log report it.",
    ),
    (
        "max_turns",
        "Number of turns after which the goal ends; 0: no limit. Unset: `goal.max_turns`.",
    ),
    (
        "check",
        "Shell commands that must succeed before the goal counts as complete, beside those of `goal.check`.",
    ),
    (
        "budget_usd",
        "US dollars that the goal's session may use; 0: no limit. Unset, for all budgets: `budget.session`.",
    ),
    ("budget_tokens", "Tokens that it may use; 0: no limit."),
    (
        "budget_steps",
        "Requests to the model that it may send; 0: no limit.",
    ),
    (
        "budget_minutes",
        "Minutes that its turns may run; 0: no limit.",
    ),
    (
        "max_steps",
        "Maximum number of steps per turn; 0: no limit. Unset: `agent.max_steps`.",
    ),
    (
        "model",
        "Model: a provider, a model, or `provider/model`. Unset: `default_model`.",
    ),
    (
        "effort",
        "Reasoning effort, in the provider's terms. Unset: the provider's entry decides.",
    ),
    (
        "approval_mode",
        "Approval mode: `ask`, `auto` or `yolo`. Unset: `permissions.mode`.",
    ),
    (
        "on_ask",
        "How to handle approval requests when no client is attached: `sandboxed`, `allow`, `deny` or `wait`. Unset: \
         `sandboxed`.",
    ),
    (
        "restart",
        "When the session goes on by itself after a failed turn: `never`, `on-failure` or `always`. Unset: `never`.",
    ),
];

/// The longest name: a label of a session has 64 characters.
const NAME_MAX: usize = 48;

/// The entries of the user's config.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Autostart {
    pub entries: Vec<AutostartEntry>,
    /// Problems of entries that are required and cannot be used: the daemon does not start with them.
    pub refused: Vec<String>,
}

/// One entry.
#[derive(Clone, Debug, PartialEq)]
pub struct AutostartEntry {
    pub name: String,
    /// Its file and line.
    pub place: String,
    pub required: bool,
    pub what: AutostartAction,
}

/// What an entry starts.
#[derive(Clone, Debug, PartialEq)]
pub enum AutostartAction {
    Goal(Box<AutostartGoal>),
    Server {
        name: String,
        /// `None`: the user's home.
        dir: Option<PathBuf>,
    },
}

/// A goal, and the options of its session.
#[derive(Clone, Debug, PartialEq)]
pub struct AutostartGoal {
    pub text: String,
    pub dir: PathBuf,
    pub max_turns: Option<u64>,
    pub check: Vec<String>,
    pub options: SessionOptions,
}

/// An entry as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    goal: Option<String>,
    server: Option<String>,
    dir: Option<String>,
    #[serde(default)]
    required: bool,
    max_turns: Option<u64>,
    #[serde(default)]
    check: Vec<String>,
    budget_usd: Option<f64>,
    budget_tokens: Option<u64>,
    budget_steps: Option<u64>,
    budget_minutes: Option<f64>,
    max_steps: Option<u64>,
    model: Option<String>,
    effort: Option<String>,
    approval_mode: Option<ApprovalMode>,
    on_ask: Option<OnAsk>,
    restart: Option<RestartPolicy>,
}

impl Autostart {
    /// Takes an entry, as TOML. `dir`: makes a path absolute, or says why it cannot be one. The error is a problem.
    pub(super) fn take(
        &mut self,
        text: &str,
        place: String,
        dir: &dyn Fn(&str) -> Result<PathBuf, String>,
    ) -> Result<(), String> {
        let entry = toml::from_str::<Written>(text)
            .map_err(|error| {
                let known: Vec<_> = FIELDS.iter().map(|(name, _)| *name).collect();
                let message = error.message();
                // The parser lists the keys too.
                let (what, _) = message
                    .split_once(", expected one of")
                    .unwrap_or((message, ""));
                format!("{what} (it may have {})", known.join(", "))
            })
            .and_then(|written| self.checked(written, &place, dir));
        match entry {
            Ok(entry) => {
                self.entries.push(entry);
                Ok(())
            }
            Err(why) => {
                let problem = format!("{place}: this autostart entry is ignored: {why}");
                let table: toml::Table = text.parse().unwrap_or_default();
                if table.get("required").and_then(toml::Value::as_bool) == Some(true) {
                    self.refused.push(problem.clone());
                }
                Err(problem)
            }
        }
    }

    fn checked(
        &self,
        written: Written,
        place: &str,
        dir: &dyn Fn(&str) -> Result<PathBuf, String>,
    ) -> Result<AutostartEntry, String> {
        check_name(&written.name)?;
        if self.entries.iter().any(|other| other.name == written.name) {
            return Err(format!("another entry has the name `{}`", written.name));
        }
        let place_of = |path: &str| dir(path).map_err(|why| format!("`dir`: {why}"));
        let dir = written.dir.as_deref().map(place_of).transpose()?;
        let (name, required) = (written.name.clone(), written.required);
        let what = match (written.goal.as_deref(), written.server.as_deref()) {
            (Some(_), Some(_)) => return Err("it has both `goal` and `server`".to_owned()),
            (None, None) => return Err("it needs a `goal` or a `server`".to_owned()),
            (Some(text), None) if text.trim().is_empty() => {
                return Err("the goal must not be empty".to_owned());
            }
            (Some(text), None) => {
                let text = text.trim().to_owned();
                let dir = dir.ok_or("a goal needs `dir`, the directory to work in")?;
                AutostartAction::Goal(Box::new(goal(written, text, dir)?))
            }
            (None, Some(server)) => {
                if let Some(option) = option_of_goals(&written) {
                    return Err(format!("a server has no `{option}`"));
                }
                AutostartAction::Server {
                    name: server.to_owned(),
                    dir,
                }
            }
        };
        Ok(AutostartEntry {
            name,
            place: place.to_owned(),
            required,
            what,
        })
    }

    /// As `config.check` lists them.
    pub(super) fn values(&self) -> impl Iterator<Item = config::Value> {
        self.entries.iter().map(|entry| config::Value {
            key: format!("autostart.{}", entry.name),
            value: match &entry.what {
                AutostartAction::Goal(goal) => json!({
                    "goal": goal.text,
                    "dir": goal.dir.to_string_lossy(),
                    "required": entry.required,
                }),
                AutostartAction::Server { name, dir } => json!({
                    "server": name,
                    "dir": dir.as_ref().map(|dir| dir.to_string_lossy()),
                    "required": entry.required,
                }),
            },
            origin: entry.place.clone(),
        })
    }
}

/// A name is part of a label of sessions, and of a key of the config.
fn check_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let starts = name.chars().next().is_some_and(char::is_alphanumeric);
    match starts && name.chars().all(fits) && name.chars().count() <= NAME_MAX {
        true => Ok(()),
        false => Err(format!(
            "`name` must have 1 to {NAME_MAX} letters, digits, `-` or `_`, and start with a letter or digit"
        )),
    }
}

/// The first option that only a goal may have.
fn option_of_goals(written: &Written) -> Option<&'static str> {
    let given = [
        ("max_turns", written.max_turns.is_some()),
        ("check", !written.check.is_empty()),
        ("budget_usd", written.budget_usd.is_some()),
        ("budget_tokens", written.budget_tokens.is_some()),
        ("budget_steps", written.budget_steps.is_some()),
        ("budget_minutes", written.budget_minutes.is_some()),
        ("max_steps", written.max_steps.is_some()),
        ("model", written.model.is_some()),
        ("effort", written.effort.is_some()),
        ("approval_mode", written.approval_mode.is_some()),
        ("on_ask", written.on_ask.is_some()),
        ("restart", written.restart.is_some()),
    ];
    let found = given.into_iter().find(|(_, given)| *given);
    found.map(|(name, _)| name)
}

fn goal(written: Written, text: String, dir: PathBuf) -> Result<AutostartGoal, String> {
    let budget = Budget {
        cost_micros: scaled("budget_usd", written.budget_usd, 1_000_000.0)?,
        tokens: written.budget_tokens,
        steps: written.budget_steps,
        ms: scaled("budget_minutes", written.budget_minutes, 60_000.0)?,
    };
    Ok(AutostartGoal {
        text,
        dir,
        max_turns: written.max_turns,
        check: written.check,
        options: SessionOptions {
            model: written.model,
            effort: written.effort,
            approval_mode: written.approval_mode,
            on_ask: Some(written.on_ask.unwrap_or(OnAsk::Sandboxed)),
            max_steps: written.max_steps,
            budget: (!budget.is_empty()).then_some(budget),
            restart: written.restart,
            ..SessionOptions::default()
        },
    })
}

/// An amount in its small unit. Less than one counts as one: it is meant as a limit.
fn scaled(name: &str, amount: Option<f64>, factor: f64) -> Result<Option<u64>, String> {
    /// As the settings of budgets have it.
    const MAX: f64 = 1_000_000.0;
    let Some(amount) = amount else {
        return Ok(None);
    };
    if !(0.0..=MAX).contains(&amount) {
        return Err(format!("`{name}` must be a number from 0 to 1000000"));
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within the bounds above"
    )]
    let scaled = (amount * factor).ceil() as u64;
    Ok(Some(scaled))
}

#[cfg(test)]
mod tests;
