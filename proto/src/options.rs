//! The options of a session: what `session.create` and `session.set` take, and what the log keeps of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::record::Rules;
use crate::state::{ApprovalMode, Kind, Mode, OnAsk, RestartPolicy};

/// Options of a session. An absent one keeps its value, or its default in a new session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionOptions {
    /// Model to ask: a provider's name, a model, or `provider/model`; absent in a new session: `default_model`. Records
    /// hold `provider/model`. Another model invalidates the provider's prompt cache: `session.set` needs `confirm` for it
    /// once there is a conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Model that plans the work of each turn in a session of its own; empty: none; absent in a new session:
    /// `agent.planner_model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planner_model: Option<String>,
    /// Reasoning effort, in the provider's terms (`low`, `high`, …); empty: the model's own; absent in a new session: as
    /// the provider's entry in the config says. As `model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Which tool calls run without asking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_mode: Option<ApprovalMode>,
    /// Plan mode or normal mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Refuse every call that changes anything, in all modes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// Take the user's home, or a directory that holds it, for an ordinary workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_home: Option<bool>,
    /// How to handle approval requests when no client is attached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_ask: Option<OnAsk>,
    /// Name of the session; empty: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// Permission rules of this session only. Fixed when the session is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Rules>,
    /// Maximum number of steps per turn; 0: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u64>,
    /// Time limit of a turn in milliseconds; absent or 0: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Limits of the session for its whole life. A change names only the limits that change; 0 removes a limit. Usage
    /// so far stays, and prompts that wait for a budget continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Start prompts that look like work of many steps in plan mode; absent in a new session: `agent.auto_plan`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_plan: Option<bool>,
    /// Extract lists from the model's reasoning with a separate request; absent in a new session: `reasoning.extract`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extract_reasoning: Option<bool>,
    /// Sample N answers and keep the least uncertain one (1 to 8).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// When a headless session, or one with a goal, goes on by itself after the end of a turn; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<RestartPolicy>,
}

impl SessionOptions {
    /// Overwrites the options that `change` names. An empty name or effort removes the old one, and so does a limit of 0
    /// in the budget.
    pub fn apply(&mut self, change: &Self) {
        // Without `..`: a new option does not compile until it is merged too.
        let Self {
            model,
            planner_model,
            effort,
            approval_mode,
            mode,
            read_only,
            in_home,
            on_ask,
            name,
            labels,
            rules,
            max_steps,
            timeout_ms,
            budget,
            kind,
            auto_plan,
            extract_reasoning,
            samples,
            restart,
        } = change;
        set(&mut self.model, model);
        set(&mut self.planner_model, planner_model);
        self.planner_model.take_if(|model| model.is_empty());
        set(&mut self.effort, effort);
        self.effort.take_if(|effort| effort.is_empty());
        set(&mut self.approval_mode, approval_mode);
        set(&mut self.mode, mode);
        set(&mut self.read_only, read_only);
        set(&mut self.in_home, in_home);
        set(&mut self.on_ask, on_ask);
        set(&mut self.name, name);
        self.name.take_if(|name| name.is_empty());
        set(&mut self.labels, labels);
        set(&mut self.rules, rules);
        set(&mut self.max_steps, max_steps);
        set(&mut self.timeout_ms, timeout_ms);
        if let Some(budget) = budget {
            let changed = self.budget.unwrap_or_default().changed_by(budget);
            self.budget = Some(changed.without_zeros()).filter(|budget| !budget.is_empty());
        }
        set(&mut self.kind, kind);
        set(&mut self.auto_plan, auto_plan);
        set(&mut self.extract_reasoning, extract_reasoning);
        set(&mut self.samples, samples);
        set(&mut self.restart, restart);
    }

    /// Whether no option is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The model's provider, where the model is given as `provider/model`, as records hold it.
    #[must_use]
    pub fn provider(&self) -> &str {
        self.provider_and_model().0
    }

    /// The model without its provider.
    #[must_use]
    pub fn model_name(&self) -> &str {
        self.provider_and_model().1
    }

    fn provider_and_model(&self) -> (&str, &str) {
        let model = self.model.as_deref().unwrap_or_default();
        model.split_once('/').unwrap_or(("", model))
    }
}

/// Overwrites an option that a change names.
fn set<T: Clone>(option: &mut Option<T>, change: &Option<T>) {
    if change.is_some() {
        option.clone_from(change);
    }
}

#[cfg(test)]
mod tests;
