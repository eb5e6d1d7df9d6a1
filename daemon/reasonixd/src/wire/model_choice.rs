//! The model of a session that names none, the model that stands in for one that is down, and what is said if there is none.

use proto::{ErrorName, Failure};
use session::Effort;
use store::home::Home;

use crate::settings::{Loaded, Settings, effort, shipped};

/// What a session gets that names no model: the setting, else the first provider. If nothing is configured, the
/// first of those that come with the program whose key is there; not where an entry was lost that may have been meant.
pub fn default_model(loaded: &Loaded, has_key: &dyn Fn(&str) -> bool) -> Option<String> {
    let settings = &loaded.settings;
    let first = || settings.providers.first().map(|entry| entry.name.clone());
    let set = settings.default_model.clone();
    let configured = set.filter(|model| !model.is_empty()).or_else(first);
    configured.or_else(|| {
        let entry = loaded
            .providers_lost
            .is_empty()
            .then(|| shipped::with_key(has_key));
        entry.flatten().map(|entry| entry.name)
    })
}

/// The model that answers if the model of a session is down. One that does not exist is listed in the problems of the settings.
pub(super) fn fallback(settings: &Settings) -> Result<Option<turn::Fallback>, Failure> {
    let wanted = settings.fallback_model.as_deref();
    let found = wanted.and_then(|wanted| shipped::find_any(&settings.providers, wanted).ok());
    let Some((entry, model)) = found else {
        return Ok(None);
    };
    let effort = effort::resolve(&entry, &model, Effort::Configured)?;
    Ok(Some(turn::Fallback {
        provider: entry.name,
        model,
        effort,
    }))
}

pub(super) fn no_provider(loaded: &Loaded, home: &Home) -> Failure {
    if let Some(problem) = loaded.providers_lost.first().or(loaded.problems.first()) {
        // The problem may be in the very entry that is missing.
        return Failure::new(
            ErrorName::InvalidConfig,
            format!("No provider is configured, and the config has a problem: {problem}"),
            "Fix it; `reasonix doctor` lists all problems.",
        )
        .with("file", home.config().display().to_string())
        .with("problems", loaded.problems.clone());
    }
    let held_back = loaded
        .project
        .as_ref()
        .is_some_and(|project| !project.config_trusted);
    let hint = if held_back {
        "The project's providers have no effect until you trust the project; put your own in your user config.".to_owned()
    } else {
        format!(
            "Set the key of a known provider, choose a provider with `reasonix setup`, or add a `[[providers]]` entry to {} (see reasonix.example.toml).",
            home.config().display()
        )
    };
    Failure::new(ErrorName::InvalidConfig, "No provider is configured.", hint)
        .with("file", home.config().display().to_string())
        .with("problems", loaded.problems.clone())
}

/// Of a model that is not found, where entries were ignored: the one that is meant may be among them.
pub(super) fn with_ignored_entries(mut failure: Failure, loaded: &Loaded) -> Failure {
    if failure.name == ErrorName::NotFound
        && let Some(problem) = loaded.providers_lost.first()
    {
        failure.message = format!("{} The config has a problem: {problem}", failure.message);
        failure.hint = format!(
            "Fix it; `reasonix doctor` lists all problems. {}",
            failure.hint
        );
    }
    failure
}
