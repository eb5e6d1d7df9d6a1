//! What changes the context that a provider caches, and what a prompt costs then, in words.

use proto::params::compact::CompactOutput;
use proto::params::forecast::{Forecast, Forecasts};
use proto::params::reload::ReloadOutput;
use proto::reset::{CacheReset, Compaction, Pinned};

use super::rewind::named;
use super::who;
use crate::messages::Language;
use crate::messages::transcript::Msg;
use crate::text;

/// What a cache reset was for: `rewind`, `switch to p/m`, `effort changed to high`, `compaction, about 80000 to 30000
/// tokens, …`.
#[must_use]
pub fn reset(language: Language, reset: &CacheReset) -> String {
    let reason = language.translate(&reset.reason);
    // A reload keeps the model.
    if let Some(wire) = reset.wire.as_ref().filter(|_| reset.reason != "reload") {
        let effort = wire.effort.as_ref();
        if reset.reason == "effort" {
            return match effort {
                Some(effort) => language.fill(Msg::ResetOtherEffort, &[effort]),
                None => language.say(Msg::ResetDefaultEffort).to_owned(),
            };
        }
        let effort = effort.map_or_else(String::new, |effort| {
            language.fill(Msg::ResetEffort, &[effort])
        });
        let model = format!("{}/{}", wire.provider, wire.model);
        return language.fill(Msg::ResetTo, &[&reason, &model, &effort]);
    }
    match &reset.compaction {
        Some(done) => format!("{reason}, {}", compaction(language, done)),
        None => reason.into_owned(),
    }
}

/// The outcome of a compaction, of its preview, or of its undoing.
#[must_use]
pub fn compacted(language: Language, preview: bool, undo: bool, done: &CompactOutput) -> String {
    if let Some(why) = &done.why {
        return language.fill(Msg::CompactNothing, &[&language.translate(why)]);
    }
    let Some(of) = &done.compaction else {
        return language.say(Msg::CompactBefore).to_owned();
    };
    let mut of = of.clone();
    let message = match (preview, undo) {
        (true, _) => Msg::CompactWould,
        (_, true) => Msg::CompactUndone,
        _ => Msg::Compacted,
    };
    let mechanical = of.mechanical && !undo;
    if undo {
        // It goes the other way.
        std::mem::swap(&mut of.tokens_before, &mut of.tokens_after);
    }
    let mut words = language.fill(message, &[&compaction(language, &of)]);
    if mechanical {
        words.push_str(language.say(Msg::CompactMechanical));
    }
    if let Some(price) = &done.forecasts {
        words.push_str(&forecasts(language, Msg::Forecasts, price));
    }
    words
}

/// The outcome of a reload, in lines.
#[must_use]
pub fn reloaded(language: Language, done: &ReloadOutput) -> Vec<String> {
    let problems = done.problems.iter();
    let mut lines: Vec<_> = problems
        .map(|problem| text::line(&language.translate(problem)))
        .collect();
    if done.seq.is_none() && done.changed.is_empty() {
        lines.push(language.say(Msg::ReloadNothing).to_owned());
        return lines;
    }
    let names: Vec<_> = done.changed.iter().map(|name| text::line(name)).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let outcome = match done.seq {
        Some(_) => Msg::Reloaded,
        None => Msg::ReloadedForFree,
    };
    let mut words = language.fill(outcome, &[&named(language, &names)]);
    if let Some(price) = &done.forecasts {
        words.push_str(&forecasts(language, Msg::ReloadForecasts, price));
    }
    lines.push(words);
    lines
}

/// What a prompt would cost: tokens, how many of them are cached, and the price.
#[must_use]
pub fn forecast(language: Language, forecast: &Forecast) -> String {
    let tokens = forecast.prompt_tokens.to_string();
    let cached = match forecast.cached_tokens {
        0 => language.say(Msg::CachedNone).to_owned(),
        cached => language.fill(Msg::Cached, &[&cached.to_string()]),
    };
    let price = match forecast.price() {
        Some(price) => price,
        None => language.say(Msg::PriceUnknown).to_owned(),
    };
    language.fill(Msg::Forecast, &[&tokens, &cached, &price])
}

/// What the next prompt would cost, and costs without the change.
fn forecasts(language: Language, message: Msg, forecasts: &Forecasts) -> String {
    let one = |of: &Forecast| forecast(language, of);
    let (then, now) = (one(&forecasts.then), one(&forecasts.now));
    language.fill(message, &[&then, &now])
}

/// Its numbers.
fn compaction(language: Language, done: &Compaction) -> String {
    let (before, after) = (
        done.tokens_before.to_string(),
        done.tokens_after.to_string(),
    );
    let mut parts = vec![language.fill(Msg::CompactTokens, &[&before, &after])];
    for (count, one, many) in [
        (done.folded, Msg::FoldedOne, Msg::Folded),
        (done.shortened, Msg::ShortenedOne, Msg::Shortened),
        (done.kept, Msg::Kept, Msg::Kept),
    ] {
        match count {
            0 => {}
            1 => parts.push(language.fill(one, &["1"])),
            _ => parts.push(language.fill(many, &[&count.to_string()])),
        }
    }
    if done.server {
        parts.push(language.say(Msg::CompactServer).to_owned());
    }
    parts.join(", ")
}

/// That a message stays word for word in every compaction, or no longer.
pub(super) fn pin(language: Language, pinned: &Pinned) -> String {
    let message = match pinned.pinned {
        true => Msg::Pinned,
        false => Msg::Unpinned,
    };
    language.fill(
        message,
        &[&pinned.item.to_string(), &who(language, &pinned.by)],
    )
}

#[cfg(test)]
mod tests {
    use proto::reset::Wire;

    use super::*;

    #[test]
    fn changed_effort_is_not_called_a_switch() {
        let words = |reason: &str, effort: Option<&str>| {
            let wire = Wire {
                provider: "loc".to_owned(),
                model: "m1".to_owned(),
                effort: effort.map(str::to_owned),
                ..Wire::default()
            };
            let reset = CacheReset {
                reason: reason.to_owned(),
                wire: Some(wire),
                ..CacheReset::default()
            };
            super::reset(Language::English, &reset)
        };
        assert_eq!(words("effort", Some("high")), "effort changed to high");
        assert_eq!(
            words("effort", None),
            "effort changed to the model's default"
        );
        assert_eq!(words("switch", None), "switch to loc/m1");
    }
}
