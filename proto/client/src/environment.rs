//! What this process has in its environment for the tools of a session.

use std::collections::BTreeMap;

use proto::methods::SessionInspect;
use proto::params::session::{InspectOutput, InspectParams, InspectPart};

use crate::Client;

/// The environment for a session's tools: this process's, without what is named like a secret or holds a key.
#[must_use]
pub fn own(keys: &[String]) -> BTreeMap<String, String> {
    let harmless = |name: &str| !proto::secret_name(name) && !keys.iter().any(|key| key == name);
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| harmless(name))
        .collect()
}

/// Values that this process has for variables that a session lost with an earlier life of the daemon. None where the
/// daemon does not say: a prompt goes on without them.
pub async fn lost(client: &Client, session: &str) -> BTreeMap<String, String> {
    let params = InspectParams {
        session: session.to_owned(),
        part: InspectPart::Env,
    };
    let Ok(InspectOutput::Env { lost, .. }) = client.call::<SessionInspect>(&params).await else {
        return BTreeMap::new();
    };
    if lost.is_empty() {
        return BTreeMap::new();
    }
    let mut own = own(&client.hello().await.key_variables);
    own.retain(|name, _| lost.contains(name));
    own
}
