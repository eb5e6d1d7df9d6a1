//! The table is sound, and configured providers come first.

use std::collections::BTreeSet;

use super::*;

#[test]
fn every_shipped_entry_can_be_opened_and_has_a_name_of_its_own() {
    let entries = all();
    let names: BTreeSet<_> = entries.iter().map(|entry| entry.name.clone()).collect();
    assert_eq!(names.len(), entries.len());
    for entry in entries {
        assert!(
            providers::KINDS.contains(&entry.kind.as_str()),
            "{}",
            entry.name
        );
        let local = entry.base_url.starts_with("http://127.0.0.1:");
        assert_eq!(local, entry.api_key_env.is_none(), "{}", entry.name);
        assert!(
            local || entry.base_url.starts_with("https://"),
            "{}",
            entry.name
        );
        assert!(!entry.base_url.ends_with('/'), "{}", entry.name);
        if let Some(variable) = entry.api_key_env {
            assert!(crate::credentials::is_variable(&variable), "{variable}");
        }
    }
}

/// Its chat completions refuse tools for models that reason.
#[test]
fn the_vendor_with_two_apis_is_asked_over_the_one_that_takes_tools() {
    let entries = all();
    let entry = entries.iter().find(|entry| entry.name == "openai").unwrap();
    assert_eq!(entry.kind, "openai-responses");
    for model in &entry.models {
        let known = catalog::find(&entry.base_url, model);
        assert!(known.is_some_and(|known| known.price.is_some()), "{model}");
    }
}

#[test]
fn sessions_of_a_shipped_entry_go_on_in_the_kind_that_it_had() {
    let find = |name: &str| all().into_iter().find(|entry| entry.name == name).unwrap();
    let openai = || find("openai");
    assert_eq!(of_kind(openai(), "openai").unwrap().kind, "openai");
    let kind = openai().kind;
    assert_eq!(of_kind(openai(), &kind), Some(openai()));
    assert_eq!(of_kind(openai(), "anthropic"), None);
    assert_eq!(of_kind(find("deepseek"), "anthropic"), None);
    // Of a user's own entry the config has the last word.
    let own = ProviderEntry {
        origin: "config.toml".to_owned(),
        ..openai()
    };
    assert_eq!(of_kind(own, "openai"), None);
}

#[test]
fn a_configured_name_hides_the_shipped_one_and_others_stay() {
    let own = ProviderEntry {
        name: "deepseek".into(),
        kind: "openai".into(),
        base_url: "https://mine.example".into(),
        models: vec!["m".into()],
        ..ProviderEntry::default()
    };
    let configured = [own];
    assert_eq!(besides(&configured).len(), all().len() - 1);
    let (entry, model) = find_any(&configured, "deepseek").unwrap();
    assert_eq!(
        (entry.base_url.as_str(), model.as_str()),
        ("https://mine.example", "m")
    );
    let refused = find_any(&configured, "deepseek/other").unwrap_err();
    assert_eq!(
        refused.name,
        ErrorName::NotFound,
        "a configured entry lists its models"
    );
    assert_eq!(find_any(&configured, "mistral").unwrap().0.origin, ORIGIN);
}

#[test]
fn a_shipped_entry_takes_any_model_and_says_when_none_is_chosen() {
    let (entry, model) = find_any(&[], "ollama/some-model:7b").unwrap();
    assert_eq!(
        (entry.name.as_str(), model.as_str()),
        ("ollama", "some-model:7b")
    );
    let (entry, model) = find_any(&[], "openrouter/acme/large").unwrap();
    assert_eq!(
        (entry.name.as_str(), model.as_str()),
        ("openrouter", "acme/large")
    );
    let refused = find_any(&[], "ollama").unwrap_err();
    assert!(refused.hint.contains("`ollama/MODEL`"), "{}", refused.hint);
    let refused = find_any(&[], "nobody").unwrap_err();
    assert!(refused.hint.contains("deepseek"), "{}", refused.hint);
}

#[test]
fn the_first_whose_key_is_there_is_taken_and_never_a_local_one() {
    let name =
        |keys: &[&str]| with_key(&|variable| keys.contains(&variable)).map(|entry| entry.name);
    assert_eq!(name(&[]), None);
    assert_eq!(name(&["XAI_API_KEY"]).as_deref(), Some("xai"));
    assert_eq!(
        name(&["XAI_API_KEY", "DEEPSEEK_API_KEY"]).as_deref(),
        Some("deepseek")
    );
    assert_eq!(name(&["MOONSHOT_API_KEY"]), None, "no model is chosen");
}
