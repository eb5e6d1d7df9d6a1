//! Changes of a session's model, effort, samples and extraction, in words.

use client::text;
use proto::SessionOptions;
use proto::params::session::{SessionSummary, SetParams};

use crate::messages::Language;
use crate::messages::app::Msg;

/// What a request changes, a line each: shown before it is confirmed.
pub(super) fn requested(language: Language, params: &SetParams) -> Vec<String> {
    let preset = params.preset.as_ref();
    let preset = preset.map(|preset| language.fill(Msg::SetPreset, &[&text::line(preset)]));
    let options = lines(language, &params.options);
    preset.into_iter().chain(options).collect()
}

/// What a request changed, a line each. `now`: the session after it.
pub(super) fn outcome(language: Language, params: &SetParams, now: &SessionSummary) -> Vec<String> {
    let options = match params.preset {
        None => params.options.clone(),
        Some(_) => SessionOptions {
            model: Some(now.model.clone()),
            effort: Some(now.effort.clone().unwrap_or_default()),
            samples: Some(now.samples),
            ..params.options.clone()
        },
    };
    lines(language, &options)
}

/// Changed options in words, a line each.
pub(in crate::update) fn lines(language: Language, options: &SessionOptions) -> Vec<String> {
    let model = options.model.as_ref();
    let model = model.map(|model| language.fill(Msg::SetModel, &[&text::line(model)]));
    let effort = options.effort.as_deref().map(|effort| match effort {
        "" => language.say(Msg::SetEffortDefault).to_owned(),
        effort => language.fill(Msg::SetEffort, &[&text::line(effort)]),
    });
    let samples = options.samples.map(|samples| match samples {
        0 | 1 => language.say(Msg::SetNoSamples).to_owned(),
        many => language.fill(Msg::SetSamples, &[&many.to_string()]),
    });
    let extraction = options.extract_reasoning.map(|on| {
        let message = if on {
            Msg::SetExtraction
        } else {
            Msg::SetNoExtraction
        };
        language.say(message).to_owned()
    });
    let lines = [model, effort, samples, extraction];
    lines.into_iter().flatten().collect()
}
