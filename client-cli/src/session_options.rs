//! The options of a session as flags. Every command that has them flattens [`SessionArgs`].

use std::path::PathBuf;

use proto::SessionOptions;
use proto::budget::Budget;
use proto::params::profile::ProfileParams;
use proto::record::Rules;
use proto::state::{ApprovalMode, Mode, OnAsk, RestartPolicy};

use crate::exit::Error;
use crate::reach;

/// Parses a value that is one of the words of a type; help lists them.
macro_rules! one_of {
    ($type:ty) => {{
        use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
        let words = <$type>::ALL.map(|one| match one.about() {
            "" => PossibleValue::new(one.as_str()),
            about => PossibleValue::new(one.as_str()).help(about),
        });
        PossibleValuesParser::new(words).try_map(|word| {
            <$type>::named(&word).ok_or(say!($crate::messages::common::Msg::UnknownValue))
        })
    }};
}

pub(crate) use one_of;

/// Options of a session.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SessionArgs {
    /// Model to use: a provider, a model, or `provider/model`.
    #[arg(short, long)]
    model: Option<String>,
    /// Model that plans each turn in a session of its own; empty: no planner [default: from the config].
    #[arg(long, value_name = "MODEL")]
    planner_model: Option<String>,
    /// Reasoning effort, in the model's terms: `low`, `high`, …; empty: the model's default [default: from the config].
    #[arg(long, value_name = "LEVEL")]
    effort: Option<String>,
    /// Preset of model, effort and samples: `fast`, `smart`, `max`, or one from the config.
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Approval mode: which tool calls run without asking.
    // Scripts that check the answers of vendors use the flag's first name.
    #[arg(long, alias = "posture", value_name = "MODE", value_parser = one_of!(ApprovalMode))]
    approval_mode: Option<ApprovalMode>,
    /// Start in plan mode: change nothing until you approve a plan.
    #[arg(long)]
    plan: bool,
    /// Refuse every call that changes anything, even after a plan is approved.
    #[arg(long)]
    read_only: bool,
    /// Allow your home directory, or a directory that contains it, as the workspace.
    #[arg(long)]
    in_home: bool,
    /// How to handle approval requests when no client is attached [default: `sandboxed` for `run`, else `wait`].
    #[arg(long, value_name = "ACTION", value_parser = one_of!(OnAsk))]
    on_ask: Option<OnAsk>,
    /// Allow calls that match this rule, for instance `Bash(cargo test:*)`; repeatable.
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Ask before calls that match this rule; repeatable.
    #[arg(long, value_name = "RULE")]
    ask: Vec<String>,
    /// Deny calls that match this rule; repeatable.
    #[arg(long, value_name = "RULE")]
    deny: Vec<String>,
    /// Stop a turn after N requests to the model; 0: no limit.
    #[arg(long, value_name = "N", value_parser = crate::numbers::whole::<u64>(0..=u64::MAX, 50))]
    max_steps: Option<u64>,
    /// Interrupt a turn after this many seconds. `run` then exits with code 124.
    #[arg(long, value_name = "SECONDS", value_parser = crate::when::seconds)]
    timeout: Option<u64>,
    /// Stop when the session has cost this many US dollars in total; 0: no limit. `run` then exits with code 2.
    #[arg(long, value_name = "DOLLARS", value_parser = client::amounts::usd)]
    budget_usd: Option<u64>,
    /// Stop when the session has used this many tokens in total, prompts and answers (`100k`, `2M`); 0: no limit. `run`
    /// then exits with code 2.
    #[arg(long, value_name = "N", value_parser = client::amounts::count)]
    budget_tokens: Option<u64>,
    /// When a run or a goal goes on by itself after the end of a turn [default: never].
    #[arg(long, value_name = "POLICY", value_parser = one_of!(RestartPolicy))]
    restart: Option<RestartPolicy>,
    /// Set the name of the session.
    #[arg(long)]
    name: Option<String>,
    /// Add a label to the session; repeatable.
    #[arg(long)]
    label: Vec<String>,
    /// Extract subgoals, hypotheses and doubts from the model's reasoning, with a separate request.
    #[arg(long, alias = "harvest")]
    extract_reasoning: bool,
    /// Sample N answers and keep the least uncertain one (1–8). Every sample is billed.
    #[arg(long, alias = "branch", value_name = "N", value_parser = crate::numbers::whole::<u32>(1..=8, 3))]
    samples: Option<u32>,
    /// Add text to the end of the system prompt of a new session.
    #[arg(long, value_name = "TEXT")]
    append_system_prompt: Option<String>,
    /// Give the model of a new session only these tools, separated by commas: `read_file,grep` [default: all].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools: Option<Vec<String>>,
    /// Let a new session write in this directory too; repeatable.
    #[arg(long, value_name = "DIR")]
    add_dir: Vec<PathBuf>,
}

impl SessionArgs {
    /// The options that the flags name.
    #[must_use]
    pub fn options(&self) -> SessionOptions {
        let rules = Rules {
            allow: self.allow.clone(),
            ask: self.ask.clone(),
            deny: self.deny.clone(),
        };
        let budget = Budget {
            cost_micros: self.budget_usd,
            tokens: self.budget_tokens,
            ..Budget::default()
        };
        SessionOptions {
            model: self.model.clone(),
            planner_model: self.planner_model.clone(),
            effort: self.effort.clone(),
            approval_mode: self.approval_mode,
            mode: self.plan.then_some(Mode::Plan),
            read_only: self.read_only.then_some(true),
            in_home: self.in_home.then_some(true),
            on_ask: self.on_ask,
            name: self.name.clone(),
            labels: (!self.label.is_empty()).then(|| self.label.clone()),
            rules: (!rules.is_empty()).then_some(rules),
            max_steps: self.max_steps,
            timeout_ms: self.timeout,
            budget: (budget != Budget::default()).then_some(budget),
            kind: None,
            auto_plan: None,
            extract_reasoning: self.extract_reasoning.then_some(true),
            samples: self.samples,
            restart: self.restart,
        }
    }

    /// The bundle of options that is named.
    #[must_use]
    pub fn preset(&self) -> Option<String> {
        self.preset.clone()
    }

    /// What the model of a new session is given to read and may do.
    ///
    /// # Errors
    /// A directory does not exist, or its path is not valid UTF-8.
    pub fn profile(&self) -> Result<ProfileParams, Error> {
        let dirs = self.add_dir.iter().map(|dir| {
            let dir = reach::directory(dir, "--add-dir")?;
            reach::utf8(&dir)
        });
        Ok(ProfileParams {
            append_system_prompt: self.append_system_prompt.clone(),
            tools: self.tools.clone(),
            add_dirs: dirs.collect::<Result<_, _>>()?,
        })
    }

    /// The first flag that only a new session can have.
    #[must_use]
    pub fn only_for_new(&self) -> Option<&'static str> {
        let flags = [
            (
                self.append_system_prompt.is_some(),
                "--append-system-prompt",
            ),
            (self.tools.is_some(), "--tools"),
            (!self.add_dir.is_empty(), "--add-dir"),
        ];
        let given = flags.into_iter().find(|(given, _)| *given);
        given.map(|(_, flag)| flag)
    }

    /// Whether no flag is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.preset.is_none() && self.only_for_new().is_none() && self.options().is_empty()
    }
}

#[cfg(test)]
mod tests;
