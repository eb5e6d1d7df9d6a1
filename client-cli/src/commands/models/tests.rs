use super::super::setup::pick::unknown;
use super::*;

#[test]
fn the_default_is_marked_however_it_is_named() {
    let mut provider = unknown("deep", "https://deep.example");
    provider.models = vec!["a".into(), "b".into()];
    provider.default = "b".into();
    let marked = |default: &str| -> Vec<String> {
        let rows = of(
            &provider,
            &["c".to_owned(), "a".to_owned()],
            &[],
            Some(default),
        );
        assert_eq!(rows.len(), 3, "each once");
        let marked = rows.into_iter().filter(|row| row.default);
        marked.map(|row| row.model).collect()
    };
    assert_eq!(marked("deep"), ["deep/b"]);
    assert_eq!(marked("deep/a"), ["deep/a"]);
    assert_eq!(marked("c"), ["deep/c"]);
    assert!(marked("other").is_empty());
}

#[test]
fn prices_are_dollars_and_what_is_not_known_is_a_dash() {
    let known = ModelPrice {
        input: 435_000,
        cached: Some(3_625),
        output: 15_000_000,
        varies: true,
        ..ModelPrice::default()
    };
    assert_eq!(price(&known), "0.435 / 0.003625 / 15 ~");
    let flat = ModelPrice {
        cached: None,
        varies: false,
        ..known
    };
    assert_eq!(price(&flat), "0.435 / 0.435 / 15");
    assert_eq!(
        (size(0), size(1_000_000)),
        ("-".to_owned(), "1.0M".to_owned())
    );
    assert_eq!(dollars(0), "0");
}

#[test]
fn what_the_daemon_knows_of_a_model_stands_in_its_row() {
    let facts = |model: &str, context_window| ModelFacts {
        model: model.into(),
        context_window,
        ..ModelFacts::default()
    };
    let mut provider = unknown("deep", "https://deep.example");
    provider.models = vec!["a".into()];
    provider.facts = vec![facts("a", 5)];
    let rows = of(
        &provider,
        &["b".to_owned(), "c".to_owned()],
        &[facts("c", 7)],
        None,
    );
    let windows: Vec<_> = rows.iter().map(|row| row.facts.context_window).collect();
    assert_eq!(windows, [5, 0, 7]);
}
