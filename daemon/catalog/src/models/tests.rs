//! The table parses, is plausible, and matches only by host and name.

use std::collections::HashSet;

use super::{find, host, read, undated};

#[test]
fn the_table_is_whole_and_its_prices_are_plausible() {
    let vendors = read().unwrap();
    assert!(!vendors.is_empty());
    for vendor in &vendors {
        let mut seen = HashSet::new();
        for model in &vendor.models {
            let name = &model.names[0];
            assert!(model.names.iter().all(|name| seen.insert(name)), "{name}");
            assert_eq!(model.price.is_some(), model.price_as_of.is_some(), "{name}");
            let as_of = model.price_as_of.as_deref().unwrap_or("2026-01-01");
            assert_eq!(undated(&format!("x-{as_of}")), Some("x"), "{name}");
            let window = model.context_window.unwrap_or(1_000_000);
            assert!((8_000..=2_000_000).contains(&window), "{name}");
            assert!(
                model.max_output_tokens.is_none_or(|most| most < window),
                "{name}"
            );
            let price = model.price.iter();
            let all = price.flat_map(|price| {
                let tiers = price.tiers.iter().map(|tier| tier.rates);
                let peak = price.peak.iter().map(|peak| peak.rates);
                std::iter::once(price.rates).chain(tiers).chain(peak)
            });
            for rates in all {
                // Between one cent and one hundred dollars: detects a unit error by a factor of
                // 1000.
                assert!((10_000..=100_000_000).contains(&rates.input), "{name}");
                assert!(rates.output >= rates.input, "{name}");
                assert!(
                    rates.cached.is_none_or(|cached| cached < rates.input),
                    "{name}"
                );
                let written = rates.cache_write.unwrap_or(rates.input);
                assert!((rates.input..=2 * rates.input).contains(&written), "{name}");
            }
        }
    }
}

#[test]
fn a_model_is_found_by_the_host_of_its_vendor() {
    let known = find("https://api.deepseek.com", "deepseek-v4-pro").unwrap();
    assert_eq!(known.context_window, Some(1_000_000));
    assert_eq!(known.cache.block_tokens, Some(128));
    let same = find(
        "https://API.deepseek.com:443/anthropic?x",
        "deepseek-v4-pro",
    );
    assert_eq!(same, Some(known));
    for stranger in [
        "https://openrouter.ai/api/v1",
        "https://api.deepseek.com.example.org",
        "http://127.0.0.1:8080/api.deepseek.com",
        "api.deepseek.com",
        "",
    ] {
        assert_eq!(find(stranger, "deepseek-v4-pro"), None, "{stranger}");
    }
}

#[test]
fn only_the_date_of_a_snapshot_may_follow_a_name() {
    let named = |model: &str| find("https://api.anthropic.com/v1", model);
    assert_eq!(
        named("claude-haiku-4-5-20251001"),
        named("claude-haiku-4-5")
    );
    assert!(named("claude-haiku-4-5").is_some());
    let openai = |model: &str| find("https://api.openai.com/v1", model);
    assert_eq!(openai("gpt-5-2025-08-07"), openai("gpt-5"));
    for other in [
        "gpt-5-pro",
        "gpt-5.9",
        "gpt-5-2025-08-07-x",
        "gpt-5-2025",
        "gpt",
        "",
    ] {
        assert_eq!(openai(other), None, "{other}");
    }
}

#[test]
fn the_host_of_a_url_is_between_the_slashes() {
    assert_eq!(
        host("https://user:key@Host.example:8080/v1").as_deref(),
        Some("host.example")
    );
    assert_eq!(host("https:///v1"), None);
    assert_eq!(host("no address"), None);
}

#[test]
fn names_of_any_letters_are_looked_up_safely() {
    assert_eq!(undated("模型-2026-01-0é"), None);
    assert_eq!(undated("-20260101"), None);
}
