use super::super::setup::pick::unknown;
use super::*;

#[test]
fn the_default_is_marked_however_it_is_named() {
    let mut provider = unknown("deep", "https://deep.example");
    provider.models = vec!["a".into(), "b".into()];
    provider.default = "b".into();
    let marked = |default: &str| -> Vec<String> {
        let rows = of(&provider, &["c".to_owned(), "a".to_owned()], Some(default));
        assert_eq!(rows.len(), 3, "each once");
        let marked = rows.into_iter().filter(|row| row.default);
        marked.map(|row| row.model).collect()
    };
    assert_eq!(marked("deep"), ["deep/b"]);
    assert_eq!(marked("deep/a"), ["deep/a"]);
    assert_eq!(marked("c"), ["deep/c"]);
    assert!(marked("other").is_empty());
}
