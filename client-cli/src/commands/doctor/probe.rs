//! Providers, asked whether they answer and take the key.

use client::Client;
use proto::methods::ProviderList;
use proto::params::config::{Check, CheckLevel, KeyState, ProviderListParams, ProviderStatus};

use super::check;
use crate::commands::setup::key::{self, answer, here};
use crate::commands::setup::pick::is_usable;
use crate::exit::Error;
use crate::messages::daemon::Msg;

/// A check for each provider that can be used. Only the one that sessions use by default must work.
pub async fn checks(client: &Client) -> Result<Vec<Check>, Error> {
    let params = ProviderListParams { cwd: here() };
    let list = client.call::<ProviderList>(&params).await?;
    let default = list.default_model.as_deref();
    let usable: Vec<_> = list.providers.iter().filter(|one| is_usable(one)).collect();
    if usable.is_empty() {
        let hint = say!(Msg::ConfigureOne);
        return Ok(vec![check(
            "provider",
            CheckLevel::Failed,
            say!(Msg::NoProviderKey),
            hint,
        )]);
    }
    key::announce_cost();
    let mut checks = Vec::new();
    for provider in usable {
        checks.push(probed(client, provider, is_default(provider, default)).await?);
    }
    Ok(checks)
}

/// Whether the default is one of its models.
fn is_default(provider: &ProviderStatus, default: Option<&str>) -> bool {
    default.is_some_and(|default| {
        default == provider.name
            || default
                .split_once('/')
                .is_some_and(|(name, _)| name == provider.name)
            || provider.models.iter().any(|model| model == default)
    })
}

async fn probed(client: &Client, provider: &ProviderStatus, default: bool) -> Result<Check, Error> {
    let probed = key::probed(client, provider).await?;
    let works = probed.reachable && !matches!(probed.key, KeyState::Wrong | KeyState::Missing);
    // It answers, and no prompt was answered.
    let is_unclear = works && probed.key == KeyState::Unknown && !probed.hint.is_empty();
    let level = match (works, default) {
        (true, _) if is_unclear => CheckLevel::Warning,
        (true, _) => CheckLevel::Ok,
        (false, true) => CheckLevel::Failed,
        (false, false) => CheckLevel::Warning,
    };
    let hint = match (works && !is_unclear, probed.hint.is_empty()) {
        (true, _) => "",
        (false, false) => probed.hint.as_str(),
        (false, true) => say!(Msg::StoreAnother),
    };
    let name = say!(Msg::ProviderNamed, provider.name);
    Ok(check(&name, level, &answer(&probed), hint))
}
