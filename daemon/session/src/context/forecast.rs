//! What the next prompt costs: now, and after an act that changes its earlier bytes. Pure.

use catalog::Price;
use contract::provider::Reported;
use proto::Stamp;
use proto::params::forecast::Forecast;
use turn::{Facts, Limits};

/// The prompt of the next request now, of about so many tokens: the provider's cache serves the part that it still holds.
pub fn standing(
    facts: &Facts,
    tokens: u64,
    limits: &Limits,
    price: Option<&Price>,
    now: Stamp,
) -> Forecast {
    let wire = &facts.wire;
    let held = facts
        .cache
        .holds(wire, now, limits.cache_ttl_ms, limits.cache_block);
    let is_same = facts.options.model == Some(wire.full_model());
    // Who is asked next is not who was asked before: nothing is known of that price here.
    let (held, price) = match facts.wants_rebase() {
        true => (0, price.filter(|_| is_same)),
        false => (held, price),
    };
    let model = facts.options.model.clone().unwrap_or_default();
    ahead(model, tokens, held, price, now)
}

/// A prompt of so many tokens.
pub fn ahead(
    model: String,
    prompt_tokens: u64,
    cached_tokens: u64,
    price: Option<&Price>,
    now: Stamp,
) -> Forecast {
    let cached_tokens = cached_tokens.min(prompt_tokens);
    let cost = |price: &Price| {
        // Where a vendor asks for what goes into its cache, all that is new goes there.
        let written = price.rates_of(prompt_tokens, now).cache_write;
        let reported = Reported {
            prompt_tokens,
            cached_tokens,
            cache_write_tokens: written.map_or(0, |_| prompt_tokens - cached_tokens),
            ..Reported::default()
        };
        price.cost(&reported, now)
    };
    Forecast {
        model,
        prompt_tokens,
        cached_tokens,
        cost_micros: price.map(cost),
    }
}
