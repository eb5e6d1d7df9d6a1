//! Dollars become whole millionths, and nonsense is refused.

use super::DollarPrice;

#[test]
fn dollars_become_whole_millionths() {
    let text = "input = 0.435\ncached = 0.003625\noutput = 1\ntiers = [{ above = 5, input = 2, output = 3 }]";
    let price = toml::from_str::<DollarPrice>(text).unwrap().price();
    assert_eq!(price.rates.input, 435_000);
    assert_eq!(price.rates.cached, Some(3_625));
    assert_eq!(price.rates.cache_write, None);
    assert_eq!(price.rates.output, 1_000_000);
    assert_eq!(
        (price.tiers[0].above, price.tiers[0].rates.input),
        (5, 2_000_000)
    );
}

#[test]
fn what_is_no_price_is_refused() {
    for text in [
        "input = -1\noutput = 1",
        "input = nan\noutput = 1",
        "input = inf\noutput = 1",
        "input = 1e9\noutput = 1",
        "input = 1",
        "input = \"1\"\noutput = 1",
        "input = 1\noutput = 1\ncurrency = \"EUR\"",
        "input = 1\noutput = 1\ntiers = [{ above = -1, input = 1, output = 1 }]",
    ] {
        assert!(toml::from_str::<DollarPrice>(text).is_err(), "{text}");
    }
}
