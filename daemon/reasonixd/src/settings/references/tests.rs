use proto::{ErrorName, Stamp};
use providers::ListedModel;

use super::super::model_lists::ModelList;
use super::super::providers::ProviderEntry;
use super::{find, unknown};

fn entry(name: &str, models: &[&str], listed: Option<&[&str]>) -> ProviderEntry {
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    ProviderEntry {
        name: name.to_owned(),
        models: texts(models),
        list: listed.map(|listed| {
            let listed = listed.iter().map(|&id| ListedModel {
                id: id.to_owned(),
                context_window: None,
            });
            ModelList::new("", listed.collect(), Stamp(0))
        }),
        ..ProviderEntry::default()
    }
}

fn found(providers: &[ProviderEntry], wanted: &str) -> Result<String, ErrorName> {
    let found = find(providers, wanted);
    found
        .map(|(entry, model)| format!("{} {model}", entry.name))
        .map_err(|failure| failure.name)
}

#[test]
fn what_an_endpoint_lists_is_known_behind_what_the_config_says() {
    let providers = [
        entry("open", &["small"], Some(&["small", "deep/chat", "large"])),
        entry("deep", &["chat"], Some(&["large", "coder"])),
    ];
    assert_eq!(found(&providers, "coder").as_deref(), Ok("deep coder"));
    assert_eq!(found(&providers, "open/large").as_deref(), Ok("open large"));
    assert_eq!(
        found(&providers, "deep/chat").as_deref(),
        Ok("deep chat"),
        "the config goes before a list"
    );
    assert_eq!(
        found(&providers, "open/deep/chat").as_deref(),
        Ok("open deep/chat")
    );
    assert_eq!(found(&providers, "large"), Err(ErrorName::Ambiguous));
    assert_eq!(found(&providers, "open/coder"), Err(ErrorName::NotFound));
}

#[test]
fn any_model_may_be_meant_where_the_endpoint_has_no_list() {
    let providers = [
        entry("none", &["a"], Some(&[])),
        entry("unasked", &["a"], None),
    ];
    assert_eq!(found(&providers, "none/b").as_deref(), Ok("none b"));
    assert_eq!(found(&providers, "none/ "), Err(ErrorName::NotFound));
    assert_eq!(found(&providers, "unasked/b"), Err(ErrorName::NotFound));
}

#[test]
fn the_failure_names_three_models_and_counts_the_others() {
    let listed = ["fast-1", "fast-2", "fast-3", "fast-4", "other"];
    let providers = [entry("one", &["slow"], Some(&listed))];
    let shipped = [entry("built", &["fast-5"], None)];
    let failure = unknown(&providers, &shipped, "fast");
    assert_eq!(failure.message, "Unknown model `fast`.");
    assert_eq!(
        failure.hint,
        "Did you mean `one/fast-1`, `one/fast-2`, `one/fast-3`? 3 more: `reasonix models`."
    );
    let failure = unknown(&providers, &[], "zzzzzzzz");
    assert_eq!(
        failure.hint,
        "Models: `one/slow`, `one/fast-1`, `one/fast-2`. 3 more: `reasonix models`."
    );
    assert_eq!(failure.details["nearest"], serde_json::json!([]));
    let failure = unknown(&[entry("one", &["slow"], None)], &[], "one/slw");
    assert_eq!(failure.hint, "Did you mean `one/slow`?");
}

#[test]
fn models_of_a_provider_of_nearly_that_name_are_near() {
    let providers = [
        entry("fake", &["m"], None),
        entry("keyed", &["m"], None),
        entry("slow", &["m"], None),
    ];
    let nearest = |wanted| {
        let hint = unknown(&providers, &[], wanted).hint;
        hint.split('?').next().unwrap_or_default().to_owned()
    };
    assert_eq!(nearest("slw"), "Did you mean `slow/m`");
    assert_eq!(nearest("keyd"), "Did you mean `keyed/m`");
    assert!(nearest("keyd/m").starts_with("Did you mean `keyed/m`"));
}
