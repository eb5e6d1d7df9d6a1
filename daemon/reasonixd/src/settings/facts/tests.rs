//! The config goes before the catalog, member by member.

use super::{Facts, for_client, of};
use crate::settings::providers::ProviderEntry;

fn entry(text: &str) -> ProviderEntry {
    let begin = "name = \"own\"\nkind = \"openai\"\nbase_url = \"https://api.deepseek.com\"";
    toml::from_str(&format!("{begin}\n{text}")).unwrap()
}

#[test]
fn the_catalog_fills_what_the_config_does_not_say() {
    let known = of(&entry(""), "deepseek-v4-pro");
    assert_eq!(known.context_window, 1_000_000);
    assert!(known.price.is_some() && known.price_as_of.is_some());
    let said = of(
        &entry("context_window = 5000\nefforts = [\"x\"]\nprice = { input = 1, output = 2 }"),
        "deepseek-v4-pro",
    );
    assert_eq!(said.context_window, 5000);
    assert_eq!(said.efforts, ["x"]);
    assert_eq!(said.price.map(|price| price.rates.output), Some(2_000_000));
    assert_eq!(said.price_as_of, None);
    // Facts that it does not name are still the catalog's.
    assert_eq!(said.max_output_tokens, known.max_output_tokens);
    assert_eq!(said.vision, known.vision);
    assert_eq!(said.cache, known.cache);
}

#[test]
fn the_window_that_an_endpoint_lists_counts_if_nothing_else_says_one() {
    use crate::settings::model_lists::ModelList;
    let listed = |base_url: &str, text: &str| {
        let model = |id: &str| providers::ListedModel {
            id: id.to_owned(),
            context_window: Some(2_048),
        };
        let models = vec![model("deepseek-v4-pro"), model("smol")];
        ProviderEntry {
            base_url: base_url.to_owned(),
            list: Some(ModelList::new(base_url, models, proto::Stamp(0))),
            ..entry(text)
        }
    };
    let window = |entry: &ProviderEntry, model: &str| of(entry, model).context_window;
    let local = listed("http://127.0.0.1:8080/v1", "");
    assert_eq!(window(&local, "smol"), 2_048);
    assert_eq!(window(&local, "other"), 0);
    let said = listed("http://127.0.0.1:8080/v1", "context_window = 4096");
    assert_eq!(window(&said, "smol"), 4_096);
    let vendor = listed("https://api.deepseek.com", "");
    assert_eq!(window(&vendor, "deepseek-v4-pro"), 1_000_000);
}

#[test]
fn clients_get_the_present_price() {
    // A Saturday, and the Friday before it, within the hours of the peak.
    let at = |moment: &str| {
        for_client(&entry(""), "deepseek-v4-pro", moment.parse().unwrap())
            .price
            .unwrap()
    };
    let (quiet, busy) = (
        at("2026-11-21T02:00:00.000Z"),
        at("2026-11-20T02:00:00.000Z"),
    );
    assert_eq!(
        (busy.input, busy.output),
        (2 * quiet.input, 2 * quiet.output)
    );
    assert!(quiet.varies && quiet.as_of.is_some());
}

#[test]
fn of_a_strange_model_nothing_is_known() {
    assert_eq!(of(&entry(""), "another"), Facts::default());
}
