use super::*;

#[test]
fn setup_writes_only_changed_settings() {
    let mut provider = pick::unknown("deep", "https://deep.example/v1");
    provider.models = vec!["a".into()];
    let same = changes(Some(&provider), &provider, Some("a"), (false, false));
    let expected = ProviderSetParams {
        name: "deep".into(),
        default: Some("a".into()),
        make_default: true,
        ..ProviderSetParams::default()
    };
    assert_eq!(same, expected);
    let other = changes(None, &provider, Some("b"), (true, false));
    assert_eq!(other.models, ["a", "b"]);
    assert_eq!(other.base_url.as_deref(), Some("https://deep.example/v1"));
    assert_eq!(other.api_key_env.as_deref(), Some("DEEP_API_KEY"));
    let listed = changes(None, &provider, Some("b"), (true, true));
    assert!(
        listed.models.is_empty(),
        "the daemon keeps the endpoint's list"
    );
}
