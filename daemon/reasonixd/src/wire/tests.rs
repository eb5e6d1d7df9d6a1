//! What goes from settings to a provider.

use super::*;

#[test]
fn members_may_have_members() {
    let table: toml::Table = toml::from_str("thinking = { type = \"enabled\" }").expect("TOML");
    assert_eq!(members(&table), r#""thinking":{"type":"enabled"}"#);
    assert_eq!(members(&toml::Table::new()), "");
    let entry = ProviderEntry {
        name: "a".into(),
        kind: "openai".into(),
        base_url: "https://a.example/v1".into(),
        model: Some("m".into()),
        extra: table,
        ..ProviderEntry::default()
    };
    let home = tempfile::tempdir().expect("a directory");
    let settings = settings::load(home.path(), None, Path::new("/nonexistent")).settings;
    assert!(open(&entry, "m", &settings).is_ok());
}
