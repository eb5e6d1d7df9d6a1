//! What goes from settings to a provider.

use futures::future::BoxFuture;

use super::*;

/// Nothing is started by opening an entry.
struct NoProcesses;

impl Spawn for NoProcesses {
    fn spawn(
        &self,
        _: proto::Pid,
        _: contract::Command,
    ) -> BoxFuture<'static, Result<contract::Child, contract::SpawnError>> {
        Box::pin(async { Err(contract::SpawnError::Stopping) })
    }

    fn running(&self, _: proto::Pid) -> Vec<proto::params::process::ChildProcess> {
        Vec::new()
    }

    fn stop_session(&self, _: proto::Pid, _: u64) {}
}

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
    let settings = crate::settings::load(
        home.path(),
        None,
        Path::new("/nonexistent"),
        &crate::settings::tests::known_tools(),
    )
    .settings;
    let means = providers::ProviderContext {
        spawn: Arc::new(NoProcesses),
    };
    assert!(open(&entry, "m", &settings, &means).is_ok());
}
