//! A price as people write it into the config: US dollars for a million tokens.

use catalog::{Price, Rates, Tier};
use serde::Deserialize;

/// The highest price that is taken, in dollars: more is a slip of the unit.
const DOLLARS_MAX: f64 = 1_000_000.0;
const MICROS: f64 = 1_000_000.0;

/// `{ input = 0.15, cached = 0.003, output = 0.6, tiers = [{ above = 200000, input = 0.3, output = 1.2 }] }`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DollarPrice {
    input: Dollars,
    #[serde(default)]
    cached: Option<Dollars>,
    #[serde(default)]
    cache_write: Option<Dollars>,
    output: Dollars,
    #[serde(default)]
    tiers: Vec<DollarTier>,
}

/// The rates of requests whose prompts have more tokens than `above`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct DollarTier {
    above: u64,
    input: Dollars,
    #[serde(default)]
    cached: Option<Dollars>,
    #[serde(default)]
    cache_write: Option<Dollars>,
    output: Dollars,
}

/// Millionths of a dollar, written as dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
struct Dollars(u64);

impl TryFrom<f64> for Dollars {
    type Error = String;
    fn try_from(dollars: f64) -> Result<Self, String> {
        if !(0.0..=DOLLARS_MAX).contains(&dollars) {
            return Err(format!("a price is 0 to {DOLLARS_MAX} dollars"));
        }
        // Within 0 and 10^12: exact, and no number of another sign.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let micros = (dollars * MICROS).round() as u64;
        Ok(Self(micros))
    }
}

impl DollarPrice {
    /// As costs are reckoned with.
    #[must_use]
    pub fn price(&self) -> Price {
        let rates = |input: Dollars,
                     cached: Option<Dollars>,
                     written: Option<Dollars>,
                     output: Dollars| Rates {
            input: input.0,
            cached: cached.map(|price| price.0),
            cache_write: written.map(|price| price.0),
            output: output.0,
        };
        let tiers = self.tiers.iter().map(|tier| Tier {
            above: tier.above,
            rates: rates(tier.input, tier.cached, tier.cache_write, tier.output),
        });
        Price {
            rates: rates(self.input, self.cached, self.cache_write, self.output),
            tiers: tiers.collect(),
            peak: None,
        }
    }
}

#[cfg(test)]
mod tests;
