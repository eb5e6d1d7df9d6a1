//! Prices, and what one request costs by them.
//!
//! Everything is a whole number: prices are millionths of a US dollar for a million tokens, costs are millionths of a
//! US dollar, rounded once a request.

use contract::provider::Reported;
use proto::Stamp;
use serde::Deserialize;

/// Tokens that a rate is the price of.
const PER_TOKENS: u128 = 1_000_000;
const MS_OF_HOUR: i64 = 60 * 60 * 1000;
const HOURS_OF_WEEK: i64 = 7 * 24;
/// The first moment of Stamps was the fourth day of a week that begins on Monday, counted from 0.
const HOURS_BEFORE_EPOCH: i64 = 3 * 24;

/// Millionths of a US dollar for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    pub input: u64,
    /// Of input that came from the vendor's cache; absent: as input.
    pub cached: Option<u64>,
    /// Of input that went into the vendor's cache; absent: as input.
    pub cache_write: Option<u64>,
    /// Of what the model wrote, its reasoning included.
    pub output: u64,
}

/// What a whole request costs whose prompt is longer than a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// Tokens of the prompt, from the cache or not: with more than these the tier counts.
    pub above: u64,
    pub rates: Rates,
}

/// What a request costs that is made when many ask.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peak {
    /// From the one full hour to before the other, UTC.
    pub hours: Vec<[u8; 2]>,
    /// Not on Saturdays and Sundays (UTC). Holidays are not known here: on those the cost is put too high.
    #[serde(default)]
    pub weekdays: bool,
    pub rates: Rates,
}

/// The price of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub rates: Rates,
    /// In any order.
    #[serde(default)]
    pub tiers: Vec<Tier>,
    pub peak: Option<Peak>,
}

impl Price {
    /// The rates of a request with a prompt of so many tokens at that moment. A tier goes before the peak.
    #[must_use]
    pub fn rates_of(&self, prompt_tokens: u64, at: Stamp) -> Rates {
        let reached = self.tiers.iter().filter(|tier| prompt_tokens > tier.above);
        if let Some(tier) = reached.max_by_key(|tier| tier.above) {
            return tier.rates;
        }
        match &self.peak {
            Some(peak) if peak.is_at(at) => peak.rates,
            _ => self.rates,
        }
    }

    /// What a request costs, in millionths of a US dollar, rounded half up. No token counts twice, whatever was
    /// reported; a sum that no number holds is the largest one.
    #[must_use]
    pub fn cost(&self, reported: &Reported, at: Stamp) -> u64 {
        let rates = self.rates_of(reported.prompt_tokens, at);
        let prompt = reported.prompt_tokens;
        let cached = reported.cached_tokens.min(prompt);
        let written = reported.cache_write_tokens.min(prompt - cached);
        let fresh = prompt - cached - written;
        let parts = [
            (fresh, rates.input),
            (cached, rates.cached.unwrap_or(rates.input)),
            (written, rates.cache_write.unwrap_or(rates.input)),
            (reported.output_tokens, rates.output),
        ];
        let sum = parts.into_iter().fold(0_u128, |sum, (tokens, rate)| {
            sum.saturating_add(u128::from(tokens) * u128::from(rate))
        });
        let rounded = sum / PER_TOKENS + u128::from(sum % PER_TOKENS >= PER_TOKENS / 2);
        u64::try_from(rounded).unwrap_or(u64::MAX)
    }
}

impl Peak {
    fn is_at(&self, at: Stamp) -> bool {
        let hour_of_week =
            (at.0.div_euclid(MS_OF_HOUR) + HOURS_BEFORE_EPOCH).rem_euclid(HOURS_OF_WEEK);
        let (day, hour) = (hour_of_week / 24, hour_of_week % 24);
        let is_weekend = day >= 5;
        let in_hours = |[from, to]: &[u8; 2]| (i64::from(*from)..i64::from(*to)).contains(&hour);
        !(self.weekdays && is_weekend) && self.hours.iter().any(in_hours)
    }
}

#[cfg(test)]
mod tests;
