//! What the prompt of a session's next request costs, reported before an act that changes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The prompt of the next request, as far as it is known before it is made: without the words that are to come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Forecast {
    /// `provider/model` that is asked.
    pub model: String,
    /// Estimated.
    pub prompt_tokens: u64,
    /// Expected cached tokens.
    pub cached_tokens: u64,
    /// Cost in millionths of a US dollar; absent: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

/// Cost of the next prompt, now and after an action.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Forecasts {
    pub now: Forecast,
    pub then: Forecast,
}

impl Forecast {
    /// The cost in dollars, if it is known.
    #[must_use]
    pub fn price(&self) -> Option<String> {
        self.cost_micros.map(dollars)
    }

    /// For people: `about 30000 tokens, 29952 of them from the cache, $0.0123`.
    #[must_use]
    pub fn words(&self) -> String {
        let cached = match self.cached_tokens {
            0 => "none of them from the cache".to_owned(),
            cached => format!("{cached} of them from the cache"),
        };
        let price = self.price().unwrap_or_else(|| "price unknown".to_owned());
        format!("about {} tokens, {cached}, {price}", self.prompt_tokens)
    }
}

impl Forecasts {
    /// For people: both, one after the other.
    #[must_use]
    pub fn words(&self) -> String {
        format!(
            "the next prompt: {}; without the reset: {}",
            self.then.words(),
            self.now.words()
        )
    }
}

/// Four digits after the point: what a prompt costs is seldom a cent.
fn dollars(micros: u64) -> String {
    match (micros + 50) / 100 {
        0 if micros > 0 => "under $0.0001".to_owned(),
        hundreds => format!("${}.{:04}", hundreds / 10_000, hundreds % 10_000),
    }
}

#[cfg(test)]
mod tests {
    //! A forecast in words.

    use super::*;

    #[test]
    fn forecast_says_price_unknown_instead_of_zero() {
        let mut forecast = Forecast {
            model: "p/m".into(),
            prompt_tokens: 30_000,
            cached_tokens: 29_952,
            cost_micros: Some(12_349),
        };
        let words = "about 30000 tokens, 29952 of them from the cache, $0.0123";
        assert_eq!(forecast.words(), words);
        forecast.cost_micros = None;
        forecast.cached_tokens = 0;
        let words = "about 30000 tokens, none of them from the cache, price unknown";
        assert_eq!(forecast.words(), words);
        assert_eq!(dollars(0), "$0.0000");
        assert_eq!(dollars(3), "under $0.0001");
    }
}
