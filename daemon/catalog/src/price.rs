//! Prices, and the cost of one request.
//!
//! All values are integers: prices are millionths of a US dollar per million tokens, costs are
//! millionths of a US dollar, rounded once per request.

use contract::provider::Reported;
use proto::Stamp;
use serde::Deserialize;

/// The number of tokens that a rate refers to.
const PER_TOKENS: u128 = 1_000_000;
const MS_OF_HOUR: i64 = 60 * 60 * 1000;
const HOURS_OF_WEEK: i64 = 7 * 24;
/// The Unix epoch was on the fourth day of a week that starts on Monday.
const HOURS_BEFORE_EPOCH: i64 = 3 * 24;

/// Millionths of a US dollar per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    pub input: u64,
    /// Input from the provider's cache. Absent: as input.
    pub cached: Option<u64>,
    /// Input written to the provider's cache. Absent: as input.
    pub cache_write: Option<u64>,
    /// Output, including reasoning.
    pub output: u64,
}

/// The rates of a request whose prompt exceeds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// Applies if the prompt, cached or not, has more tokens than this.
    pub above: u64,
    pub rates: Rates,
}

/// The rates at peak hours.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peak {
    /// From the first full hour until before the second, UTC.
    pub hours: Vec<[u8; 2]>,
    /// Excludes Saturdays and Sundays (UTC). Holidays are unknown, so their cost is overestimated.
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
    /// The rates of a request with this prompt length at this time. A tier takes precedence over
    /// the peak.
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

    /// The cost of a request in millionths of a US dollar, rounded half up. No token counts twice,
    /// whatever was reported. Saturates.
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
