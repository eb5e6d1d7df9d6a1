//! What this process has in its environment for the tools of a session.

use std::collections::BTreeMap;

use proto::hello::HelloOutput;
use proto::methods::SessionInspect;
use proto::params::session::{InspectOutput, InspectParams, InspectPart};

use crate::Client;

/// This process's environment, parted.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// For a session's tools.
    pub shared: BTreeMap<String, String>,
    /// Names of what stays here: what holds a key, is named like a secret or has a
    /// password in its value, or changes how programs are loaded.
    pub held: Vec<String>,
}

/// This process's environment, as this daemon wants it.
#[must_use]
pub fn own(hello: &HelloOutput) -> Environment {
    let (keys, pass) = (&hello.key_variables, &hello.passed_variables);
    let mut own = Environment::default();
    for (name, value) in std::env::vars_os() {
        let (Ok(name), Ok(value)) = (name.into_string(), value.into_string()) else {
            continue;
        };
        if proto::held_back(&name, &value, keys, pass) {
            own.held.push(name);
        } else {
            own.shared.insert(name, value);
        }
    }
    own.held.sort();
    own
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
    let mut own = own(&client.hello().await).shared;
    own.retain(|name, _| lost.contains(name));
    own
}
