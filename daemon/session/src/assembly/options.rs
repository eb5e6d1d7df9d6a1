//! Which options a session may have.

use std::path::Path;

use proto::budget::{Budget, Dimension};
use proto::state::ApprovalMode;
use proto::{ErrorName, Failure, SessionOptions};

use crate::assembly::names;
use crate::assembly::setup::{Assembly, Effort};

/// Samples of a request at most: they run side by side.
pub const SAMPLES_MAX: u32 = 8;

/// Checks the options of a new session.
///
/// # Errors
/// `invalid_params`, in words, for the first that a session cannot have.
pub fn check(options: &SessionOptions) -> Result<(), Failure> {
    options.name.as_deref().map_or(Ok(()), names::check_name)?;
    names::check_labels(options.labels.as_deref().unwrap_or_default())?;
    let samples = options.samples;
    if !samples.is_none_or(|samples| (1..=SAMPLES_MAX).contains(&samples)) {
        return Err(Failure::new(
            ErrorName::InvalidParams,
            format!("A request has 1 to {SAMPLES_MAX} samples."),
            "Use 1 for a single answer.",
        ));
    }
    Ok(())
}

/// Refuses a budget in money for a model without a price: nothing would ever count toward it.
///
/// # Errors
/// `invalid_config`, with the setting that gives the model a price.
pub fn check_budget(budget: Option<Budget>, model: &str, is_priced: bool) -> Result<(), Failure> {
    let limit = budget.and_then(|budget| budget.limit(Dimension::Money));
    if is_priced || limit.is_none() {
        return Ok(());
    }
    let provider = model
        .split_once('/')
        .map_or(model, |(provider, _)| provider);
    Err(Failure::new(
        ErrorName::InvalidConfig,
        format!("The price of `{model}` is unknown, so a budget in money cannot limit it."),
        format!(
            "Set `price = {{ input = DOLLARS, output = DOLLARS }}` (for a million tokens) in the `[[providers]]` entry of `{provider}`, or limit tokens instead."
        ),
    ))
}

/// Refuses a planner that cannot be asked, or that a budget in money cannot limit. An empty name means that there is none.
/// Blocks: reads files.
///
/// # Errors
/// As [`Assembly::switch`] and [`check_budget`].
pub fn check_planner(
    assembly: &dyn Assembly,
    cwd: &Path,
    planner: Option<&str>,
    budget: Option<Budget>,
) -> Result<(), Failure> {
    let Some(planner) = planner.filter(|planner| !planner.is_empty()) else {
        return Ok(());
    };
    let found = assembly.switch(cwd, planner, Effort::Configured)?;
    check_budget(budget, &found.full_name(), found.price.is_some())
}

/// How much an approval mode leaves to the model, in an order.
pub(crate) fn rank(mode: ApprovalMode) -> u8 {
    match mode {
        ApprovalMode::Ask => 0,
        ApprovalMode::Auto => 1,
        ApprovalMode::Yolo => 2,
    }
}

/// Checks a change of a sub-agent: what it may do is what it started with, or less.
///
/// # Errors
/// `not_allowed`: it would do more than now.
pub fn check_agent_change(now: &SessionOptions, change: &SessionOptions) -> Result<(), Failure> {
    let widens_mode = change
        .approval_mode
        .is_some_and(|mode| rank(mode) > rank(now.approval_mode.unwrap_or_default()));
    let only_reads = now.read_only.unwrap_or_default();
    if widens_mode || (only_reads && change.read_only == Some(false)) {
        return Err(Failure::new(
            ErrorName::NotAllowed,
            "A sub-agent may do what it started with, or less: it is never widened.",
            "Change the session that starts it, and let it start the sub-agent again.",
        ));
    }
    Ok(())
}

/// Checks a change of options. An empty name removes the name.
///
/// # Errors
/// As [`check`]; `invalid_params` for rules: they are fixed when the session is created.
pub fn check_change(change: &SessionOptions) -> Result<(), Failure> {
    if change.rules.is_some() {
        return Err(Failure::new(
            ErrorName::InvalidParams,
            "The rules of a session are fixed when it is created.",
            "Leave out `rules`, or create a new session with them.",
        ));
    }
    let name = change.name.clone().filter(|name| !name.is_empty());
    check(&SessionOptions {
        name,
        ..change.clone()
    })
}
