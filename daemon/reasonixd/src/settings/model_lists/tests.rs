use proto::Stamp;
use proto::params::config::KeyState;
use providers::{ListedModel, ProbeResult};

use super::super::providers::ProviderEntry;
use super::{AGE_MAX_MS, LOCAL_AGE_MAX_MS, ModelList, keep, read};

fn probed(reachable: bool, key: KeyState, models: &[&str]) -> ProbeResult {
    ProbeResult {
        host: "host".to_owned(),
        reachable,
        key,
        duration: std::time::Duration::ZERO,
        listed: models.iter().map(|model| listed(model, None)).collect(),
        text: String::new(),
        hint: String::new(),
        better_base_url: None,
    }
}

fn listed(id: &str, context_window: Option<u64>) -> ListedModel {
    ListedModel {
        id: id.to_owned(),
        context_window,
    }
}

fn entry(name: &str, base_url: &str) -> ProviderEntry {
    ProviderEntry {
        name: name.to_owned(),
        base_url: base_url.to_owned(),
        ..ProviderEntry::default()
    }
}

#[test]
fn a_list_is_found_again_for_its_address_only() {
    let home = tempfile::tempdir().unwrap();
    let list = ModelList::new("http://a/v1", vec![listed("m", Some(4_096))], Stamp(5));
    keep(home.path(), "one", &list);
    assert_eq!(
        read(home.path(), &entry("one", "http://a/v1")),
        Some(list.clone())
    );
    assert_eq!(read(home.path(), &entry("one", "http://b/v1")), None);
    assert_eq!(read(home.path(), &entry("two", "http://a/v1")), None);
    keep(home.path(), "../one", &list);
    assert!(!home.path().join("one.json").exists());
    std::fs::write(home.path().join("models/one.json"), "{").unwrap();
    assert_eq!(read(home.path(), &entry("one", "http://a/v1")), None);
}

#[test]
fn only_an_answer_says_that_there_is_no_list() {
    let of = |reachable, key, models: &[&str]| {
        let list = ModelList::of("u", &probed(reachable, key, models), Stamp(1));
        list.map(|list| (list.models.len(), list.complete))
    };
    assert_eq!(of(true, KeyState::Works, &["a", "b"]), Some((2, true)));
    assert_eq!(of(true, KeyState::Unknown, &["a"]), Some((1, true)));
    assert_eq!(of(true, KeyState::Works, &[]), Some((0, false)));
    assert_eq!(of(true, KeyState::Wrong, &[]), None);
    assert_eq!(of(false, KeyState::NotNeeded, &[]), None);
    let many = vec!["m"; providers::MODELS_MAX];
    assert_eq!(
        of(true, KeyState::Works, &many),
        Some((providers::MODELS_MAX, false)),
        "it may be cut off"
    );
}

#[test]
fn a_list_is_old_after_a_day() {
    let list = ModelList::new("u", Vec::new(), Stamp(1_000));
    assert!(!list.is_old(Stamp(1_000)));
    assert!(!list.is_old(Stamp(1_000 + AGE_MAX_MS - 1)));
    assert!(list.is_old(Stamp(1_000 + AGE_MAX_MS)));
    assert!(list.is_old(Stamp(0)), "the clock was set back");
    // A server on this machine may have been started anew.
    let local = ModelList::new("http://127.0.0.1:8080/v1", Vec::new(), Stamp(1_000));
    assert!(!local.is_old(Stamp(1_000)));
    assert!(local.is_old(Stamp(1_000 + LOCAL_AGE_MAX_MS)));
}
