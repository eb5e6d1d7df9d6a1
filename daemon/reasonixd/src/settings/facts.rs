//! The facts about a model of an entry: those of the config go first, then the catalog's, then what the endpoint's list says.

use catalog::{Cache, Price};

use proto::Stamp;
use proto::params::config::{ModelFacts, ModelPrice};

use super::providers::ProviderEntry;

/// The known facts. An absent, 0 or empty one is not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Tokens; 0: not known.
    pub context_window: u64,
    /// The longest answer that it gives, or that is asked for; 0: not known.
    pub max_output_tokens: u64,
    pub efforts: Vec<String>,
    pub vision: Option<bool>,
    pub price: Option<Price>,
    /// The day of the catalog's price; `None`: the price is the config's, or there is none.
    pub price_as_of: Option<String>,
    pub cache: Cache,
    /// A request with a temperature is refused.
    pub refuses_temperature: bool,
}

/// The facts about one model of an entry.
#[must_use]
pub fn of(entry: &ProviderEntry, model: &str) -> Facts {
    let known = catalog::find(&entry.base_url, model);
    let own = |said: u64, known: Option<u64>| match said {
        0 => known.unwrap_or(0),
        said => said,
    };
    let priced = entry.price.as_ref().map(|price| price.price());
    let price_as_of = match priced {
        Some(_) => None,
        None => known.and_then(|known| known.price_as_of.clone()),
    };
    Facts {
        context_window: own(
            entry.context_window,
            known
                .and_then(|known| known.context_window)
                .or_else(|| entry.list.as_ref()?.windows.get(model).copied()),
        ),
        max_output_tokens: own(
            entry.max_output_tokens,
            known.and_then(|known| known.max_output_tokens),
        ),
        efforts: match entry.efforts.as_slice() {
            [] => known.map(|known| known.efforts.clone()).unwrap_or_default(),
            said => said.to_vec(),
        },
        vision: entry
            .vision
            .or_else(|| known.and_then(|known| known.vision)),
        price: priced.or_else(|| known.and_then(|known| known.price.clone())),
        price_as_of,
        cache: known.map(|known| known.cache).unwrap_or_default(),
        refuses_temperature: known.and_then(|known| known.temperature) == Some(false),
    }
}

/// The same for clients, with the price of this moment.
#[must_use]
pub fn for_client(entry: &ProviderEntry, model: &str, now: Stamp) -> ModelFacts {
    let facts = of(entry, model);
    let as_of = facts.price_as_of;
    let price = facts.price.map(|price| {
        let rates = price.rates_of(0, now);
        ModelPrice {
            input: rates.input,
            cached: rates.cached,
            cache_write: rates.cache_write,
            output: rates.output,
            varies: price.peak.is_some() || !price.tiers.is_empty(),
            as_of,
        }
    });
    ModelFacts {
        model: model.to_owned(),
        context_window: facts.context_window,
        max_output_tokens: facts.max_output_tokens,
        efforts: facts.efforts,
        vision: facts.vision,
        price,
    }
}

/// Of several models, at this moment.
#[must_use]
pub fn for_clients(entry: &ProviderEntry, models: &[String]) -> Vec<ModelFacts> {
    let now = Stamp::now();
    models
        .iter()
        .map(|model| for_client(entry, model, now))
        .collect()
}

#[cfg(test)]
mod tests;
