//! Presets: bundles of model, effort and number of samples. Three come with the program; the config changes them and
//! adds its own, as `[presets.NAME]`.

use std::collections::BTreeMap;

use proto::{ErrorName, Failure};
use serde::Deserialize;
use session::{EffortChoice, PresetOptions, SAMPLES_MAX};
use toml_edit::{Item, Table};

use super::Settings;
use super::project::flat;

/// Those that come with the program.
pub const SHIPPED: [&str; 3] = ["fast", "smart", "max"];

/// What may be in `[presets.NAME]`.
pub const FIELDS: &[(&str, &str)] = &[
    (
        "model",
        "A provider, a model, or `provider/model`. Unset: the session's model (`fast`: `agent.fast_model`).",
    ),
    (
        "effort",
        "Reasoning effort, in the provider's terms. Unset: for `fast` the lowest known level, for `smart` `high` or \
         the second highest, for `max` the highest, for others the model's default.",
    ),
    (
        "samples",
        "Sample N answers and keep the least uncertain one (1 to 8). Every sample is billed. Unset: 1; `max`: 3.",
    ),
];

/// What the config says of a preset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    pub model: Option<String>,
    pub effort: Option<String>,
    pub samples: Option<u32>,
}

impl Preset {
    /// What another layer says goes first, member by member.
    fn overlay(&mut self, over: Self) {
        self.model = over.model.or(self.model.take());
        self.effort = over.effort.or(self.effort.take());
        self.samples = over.samples.or(self.samples);
    }
}

/// Adds the presets of a file. Returns the problems: each with the item that it is about.
pub(super) fn take<'a>(
    presets: &mut BTreeMap<String, Preset>,
    table: &'a Table,
) -> Vec<(&'a Item, String)> {
    let mut wrong = Vec::new();
    for (name, item) in table {
        let shown = super::near::shown(name);
        let Some(entry) = item.as_table() else {
            wrong.push((
                item,
                format!("a preset is a table, `[presets.{shown}]`; it is ignored"),
            ));
            continue;
        };
        match toml::from_str::<Preset>(&flat(entry)) {
            Ok(preset)
                if preset
                    .samples
                    .is_some_and(|samples| !(1..=SAMPLES_MAX).contains(&samples)) =>
            {
                let why = format!(
                    "`samples` of the preset `{shown}` must be from 1 to {SAMPLES_MAX}; the preset is ignored"
                );
                wrong.push((item, why));
            }
            Ok(preset) => presets.entry(name.to_owned()).or_default().overlay(preset),
            Err(error) => {
                let known: Vec<_> = FIELDS.iter().map(|(name, _)| *name).collect();
                let (why, known) = (error.message(), known.join(", "));
                let why = format!("the preset `{shown}` is ignored: {why} (it may have {known})");
                wrong.push((item, why));
            }
        }
    }
    wrong
}

/// All that there are, the shipped ones first.
pub fn names(settings: &Settings) -> Vec<String> {
    let own = settings.presets.keys().map(String::as_str);
    let own = own.filter(|name| !SHIPPED.contains(name));
    SHIPPED.into_iter().chain(own).map(str::to_owned).collect()
}

/// The model that `fast` asks, where the config names one.
pub fn fast_model(settings: &Settings) -> Option<&str> {
    let own = settings.presets.get("fast");
    own.and_then(|preset| preset.model.as_deref())
        .or(settings.fast_model.as_deref())
        .filter(|model| !model.is_empty())
}

/// The options of a preset.
///
/// # Errors
/// `not_found`, with those that there are.
pub fn bundle(settings: &Settings, name: &str) -> Result<PresetOptions, Failure> {
    let known = names(settings);
    if !known.iter().any(|known| known == name) {
        let text = format!("Unknown preset `{}`.", super::near::shown(name));
        let hint = format!("Presets: {}.", known.join(", "));
        return Err(Failure::new(ErrorName::NotFound, text, hint).with("presets", known));
    }
    let own = settings.presets.get(name).cloned().unwrap_or_default();
    let model = match name {
        "fast" => fast_model(settings).map(str::to_owned),
        _ => own.model.filter(|model| !model.is_empty()),
    };
    let pace = match (own.effort, name) {
        (Some(effort), _) => EffortChoice::Word(effort),
        (None, "fast") => EffortChoice::Lowest,
        (None, "smart") => EffortChoice::High,
        (None, "max") => EffortChoice::Highest,
        (None, _) => EffortChoice::Word(String::new()),
    };
    let samples = own.samples.unwrap_or(if name == "max" { 3 } else { 1 });
    Ok(PresetOptions {
        model,
        pace,
        samples,
    })
}

#[cfg(test)]
mod tests;
