//! Costs: exact for small examples, and properties for all inputs.

use contract::provider::Reported;
use proptest::prelude::*;
use proto::Stamp;

use super::{Peak, Price, Rates, Tier};

fn price() -> Price {
    Price {
        rates: Rates {
            input: 3_000_000,
            cached: Some(300_000),
            cache_write: Some(3_750_000),
            output: 15_000_000,
        },
        ..Price::default()
    }
}

fn reported(prompt: u64, cached: u64, written: u64, output: u64) -> Reported {
    Reported {
        prompt_tokens: prompt,
        cached_tokens: cached,
        cache_write_tokens: written,
        output_tokens: output,
        reasoning_tokens: 0,
    }
}

fn at(text: &str) -> Stamp {
    text.parse().unwrap()
}

const ANY: Stamp = Stamp(0);

#[test]
fn the_parts_of_a_prompt_are_priced_apart() {
    // 1000 fresh at $3, 2000 from the cache at $0.30, 4000 into it at $3.75, 500 written at $15 a
    // million.
    let cost = price().cost(&reported(7000, 2000, 4000, 500), ANY);
    assert_eq!(cost, 3000 + 600 + 15_000 + 7500);
}

#[test]
fn half_a_millionth_is_rounded_up_and_once() {
    let price = Price {
        rates: Rates {
            input: 250_000,
            output: 250_000,
            ..Rates::default()
        },
        ..Price::default()
    };
    assert_eq!(price.cost(&reported(1, 0, 0, 0), ANY), 0);
    assert_eq!(price.cost(&reported(1, 0, 0, 1), ANY), 1);
    assert_eq!(price.cost(&reported(3, 0, 0, 2), ANY), 1);
}

#[test]
fn cached_tokens_cost_as_input_unless_priced() {
    let price = Price {
        rates: Rates {
            input: 2_000_000,
            output: 1,
            ..Rates::default()
        },
        ..Price::default()
    };
    assert_eq!(price.cost(&reported(100, 60, 30, 0), ANY), 200);
}

#[test]
fn a_tier_begins_above_its_limit_and_the_highest_one_counts() {
    let rates = |input| Rates {
        input,
        ..Rates::default()
    };
    let tier = |above, input| Tier {
        above,
        rates: rates(input),
    };
    let price = Price {
        rates: rates(1_000_000),
        tiers: vec![tier(300, 3_000_000), tier(200, 2_000_000)],
        peak: None,
    };
    assert_eq!(price.cost(&reported(200, 0, 0, 0), ANY), 200);
    assert_eq!(price.cost(&reported(201, 0, 0, 0), ANY), 402);
    assert_eq!(price.cost(&reported(301, 300, 0, 0), ANY), 903);
}

#[test]
fn the_peak_is_by_hour_and_day_of_the_week() {
    let rates = |input| Rates {
        input,
        ..Rates::default()
    };
    let mut price = Price {
        rates: rates(1),
        tiers: Vec::new(),
        peak: Some(Peak {
            hours: vec![[1, 4], [6, 10]],
            weekdays: true,
            rates: rates(2),
        }),
    };
    let input = |price: &Price, moment| price.rates_of(1, at(moment)).input;
    // 2026-11-20 was a Friday.
    for (moment, wanted) in [
        ("2026-11-20T00:59:59.999Z", 1),
        ("2026-11-20T01:00:00.000Z", 2),
        ("2026-11-20T03:59:59.999Z", 2),
        ("2026-11-20T04:00:00.000Z", 1),
        ("2026-11-20T09:30:00.000Z", 2),
        ("2026-11-21T09:30:00.000Z", 1),
        ("2026-11-22T09:30:00.000Z", 1),
        ("2026-11-23T09:30:00.000Z", 2),
    ] {
        assert_eq!(input(&price, moment), wanted, "{moment}");
    }
    if let Some(peak) = &mut price.peak {
        peak.weekdays = false;
    }
    assert_eq!(input(&price, "2026-11-21T09:30:00.000Z"), 2);
}

fn any_rates() -> impl Strategy<Value = Rates> {
    let rate = || prop_oneof![0..10_000_000_u64, any::<u64>()];
    (
        rate(),
        proptest::option::of(rate()),
        proptest::option::of(rate()),
        rate(),
    )
        .prop_map(|(input, cached, cache_write, output)| Rates {
            input,
            cached,
            cache_write,
            output,
        })
}

fn any_reported() -> impl Strategy<Value = Reported> {
    let count = || prop_oneof![0..2_000_000_u64, any::<u64>()];
    (count(), count(), count(), count())
        .prop_map(|(prompt, cached, written, output)| reported(prompt, cached, written, output))
}

proptest! {
    #[test]
    fn any_numbers_give_a_cost(rates in any_rates(), reported in any_reported()) {
        let price = Price { rates, ..Price::default() };
        // At most the cost of all tokens at the highest rate.
        let most = [rates.input, rates.cached.unwrap_or(0), rates.cache_write.unwrap_or(0), rates.output];
        let most = u128::from(most.into_iter().max().unwrap_or(0));
        let tokens = u128::from(reported.prompt_tokens) + u128::from(reported.output_tokens);
        let limit = most.saturating_mul(tokens) / 1_000_000 + 1;
        prop_assert!(u128::from(price.cost(&reported, ANY)) <= limit);
    }

    #[test]
    fn more_tokens_never_cost_less(
        rates in any_rates(), reported in any_reported(), more in any::<u32>(),
    ) {
        let price = Price { rates, ..Price::default() };
        let longer = |prompt: u64, output: u64| Reported {
            prompt_tokens: reported.prompt_tokens.saturating_add(prompt),
            output_tokens: reported.output_tokens.saturating_add(output),
            ..reported
        };
        // A longer prompt costs more only if its cached parts stay the same.
        let is_whole = u128::from(reported.cached_tokens) + u128::from(reported.cache_write_tokens)
            <= u128::from(reported.prompt_tokens);
        if is_whole {
            prop_assert!(price.cost(&longer(more.into(), 0), ANY) >= price.cost(&reported, ANY));
        }
        prop_assert!(price.cost(&longer(0, more.into()), ANY) >= price.cost(&reported, ANY));
    }

    #[test]
    fn the_parts_add_up(
        fresh in 0..1_000_000_u64, cached in 0..1_000_000_u64, written in 0..1_000_000_u64,
        output in 0..1_000_000_u64,
    ) {
        let price = price();
        let cost = |counts: &Reported| price.cost(counts, ANY);
        let whole = cost(&reported(fresh + cached + written, cached, written, output));
        let parts = cost(&reported(fresh, 0, 0, 0)) + cost(&reported(cached, cached, 0, 0))
            + cost(&reported(written, 0, written, 0)) + cost(&reported(0, 0, 0, output));
        // Each part is rounded separately, by at most half a millionth.
        prop_assert!(whole.abs_diff(parts) <= 2);
    }
}
