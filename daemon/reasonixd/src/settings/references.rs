//! What a reference to a model means: a provider's name, a bare model, or `provider/model`. Pure.

use proto::near::nearest;
use proto::{ErrorName, Failure};

use super::near;
use super::providers::ProviderEntry;

/// Finds what a reference means: a provider's name, a bare model of the config, `provider/model`, or a bare model that
/// an endpoint lists; the first that fits, in that order.
///
/// # Errors
/// `not_found` with the nearest names; `ambiguous` with the candidates.
pub fn find<'a>(
    providers: &'a [ProviderEntry],
    wanted: &str,
) -> Result<(&'a ProviderEntry, String), Failure> {
    if let Some(entry) = providers.iter().find(|entry| entry.name == wanted) {
        let model = entry.all_models().into_iter().next();
        return model.map(|model| (entry, model)).ok_or_else(|| {
            Failure::new(
                ErrorName::InvalidConfig,
                format!("The provider `{wanted}` has no model."),
                format!("Add `model = \"…\"` to it in {}.", entry.origin),
            )
        });
    }
    if let Some(entry) = only(providers, wanted, ProviderEntry::all_models)? {
        return Ok((entry, wanted.to_owned()));
    }
    if let Some((name, model)) = wanted.split_once('/')
        && let Some(entry) = providers.iter().find(|entry| entry.name == name)
        && has(entry, model)
    {
        return Ok((entry, model.to_owned()));
    }
    if let Some(entry) = only(providers, wanted, ProviderEntry::listed)? {
        return Ok((entry, wanted.to_owned()));
    }
    Err(unknown(providers, &[], wanted))
}

/// The only provider with a bare model among those that `models` gives; `None`: there is none.
fn only<'a>(
    providers: &'a [ProviderEntry],
    wanted: &str,
    models: fn(&ProviderEntry) -> Vec<String>,
) -> Result<Option<&'a ProviderEntry>, Failure> {
    let has = |entry: &&ProviderEntry| models(entry).iter().any(|model| model == wanted);
    let offering: Vec<_> = providers.iter().filter(has).collect();
    let [first, _, ..] = offering.as_slice() else {
        return Ok(offering.first().copied());
    };
    let names = offering.iter();
    let candidates: Vec<_> = names
        .map(|entry| format!("{}/{wanted}", entry.name))
        .collect();
    Err(Failure::new(
        ErrorName::Ambiguous,
        format!(
            "Several providers offer the model `{wanted}`: {}.",
            candidates.join(", ")
        ),
        format!(
            "Give one of them, for example `{}`.",
            format_args!("{}/{wanted}", first.name)
        ),
    )
    .with("candidates", candidates))
}

/// Whether an entry has this model, as far as is known.
fn has(entry: &ProviderEntry, model: &str) -> bool {
    let known = entry.all_models().into_iter().chain(entry.listed());
    let any = entry.takes_any_model() && !model.trim().is_empty();
    any || known.into_iter().any(|known| known == model)
}

/// The failure for a reference that means nothing, with the nearest names. `shipped`: entries that come with the
/// program; their names may be near, and they are not counted where others are configured.
#[must_use]
pub fn unknown(configured: &[ProviderEntry], shipped: &[ProviderEntry], wanted: &str) -> Failure {
    let all_of = |entry: &ProviderEntry| {
        let models = entry.all_models().into_iter().chain(entry.listed());
        let name = entry.name.clone();
        models
            .map(move |model| format!("{name}/{model}"))
            .collect::<Vec<_>>()
    };
    let own: Vec<String> = configured.iter().flat_map(all_of).collect();
    let shipped: Vec<String> = shipped.iter().flat_map(all_of).collect();
    let near = like(wanted, own.iter().chain(&shipped));
    let counted = if own.is_empty() { &shipped } else { &own };
    let shown: Vec<&String> = match near.is_empty() {
        true => counted.iter().take(NAMES_MAX).collect(),
        false => near.iter().collect(),
    };
    let more = counted.iter().filter(|name| !shown.contains(name)).count();
    let names: Vec<String> = shown.iter().map(|name| format!("`{name}`")).collect();
    let names = names.join(", ");
    let hint = match (near.is_empty(), more) {
        (false, 0) => format!("Did you mean {names}?"),
        (false, more) => format!("Did you mean {names}? {more} more: `reasonix models`."),
        (true, 0) => format!("Models: {names}."),
        (true, more) => format!("Models: {names}. {more} more: `reasonix models`."),
    };
    let text = format!("Unknown model `{}`.", near::shown(wanted));
    Failure::new(ErrorName::NotFound, text, hint).with("nearest", near)
}

/// The nearest names: as they are written, without their provider, or the models of a provider of nearly that name.
fn like<'a>(wanted: &str, names: impl Iterator<Item = &'a String> + Clone) -> Vec<String> {
    let whole = nearest(wanted, names.clone().map(String::as_str));
    let model = wanted.rsplit('/').next().unwrap_or(wanted);
    let bare = |name: &'a str| name.split_once('/').map_or(name, |(_, model)| model);
    let parts = nearest(model, names.clone().map(|name| bare(name)));
    let of_parts = parts.iter().flat_map(|part| {
        let names = names.clone();
        names.filter(move |name| bare(name) == *part)
    });
    let provider = |name: &'a str| name.split_once('/').map_or(name, |(provider, _)| provider);
    let provider_like = nearest(
        wanted.split('/').next().unwrap_or(wanted),
        names.clone().map(|name| provider(name)),
    );
    let of_providers = provider_like.iter().flat_map(|near| {
        let names = names.clone();
        names.filter(move |name| provider(name) == *near)
    });
    let of_parts = of_parts.chain(of_providers);
    let mut near: Vec<String> = Vec::new();
    for name in whole.into_iter().chain(of_parts.map(String::as_str)) {
        if near.len() < NAMES_MAX && !near.iter().any(|known| known == name) {
            near.push(name.to_owned());
        }
    }
    near
}

/// Names in a hint.
const NAMES_MAX: usize = 3;

#[cfg(test)]
mod tests;
