//! Which options a session may have.

use proto::{ErrorName, Failure, SessionOptions};

use crate::assembly::names;

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
