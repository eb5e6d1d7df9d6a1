//! Where a session's requests go: one model, and all that follows from the choice.

use std::sync::Arc;

use contract::{Codec, Prefix, Provider, Secret};

use crate::assembly::setup::ModelSetup;

/// The model that requests are sent to. Replaced as a whole when the session changes its model.
pub(crate) struct ModelRoute {
    pub codec: Arc<dyn Codec>,
    pub provider: Arc<dyn Provider>,
    /// The frozen prefix, as rendered for this model.
    pub prefix: Arc<Prefix>,
    /// The variable that holds the provider's key, if it needs one.
    pub key_variable: Option<String>,
    /// The daemon's own key.
    pub own_key: Option<Secret>,
    /// `None`: not known.
    pub price: Option<Arc<catalog::Price>>,
    /// Whether requests may name a temperature.
    pub temperature: bool,
    /// Whether malformed calls of the model are repaired.
    pub repairs: bool,
}

impl ModelRoute {
    pub fn new(model: &ModelSetup, prefix: Prefix) -> Self {
        Self {
            codec: Arc::clone(&model.codec),
            provider: Arc::clone(&model.provider),
            prefix: Arc::new(prefix),
            key_variable: model.key_variable.clone(),
            own_key: model.own_key.clone(),
            price: model.price.clone().map(Arc::new),
            temperature: model.temperature,
            repairs: model.repair,
        }
    }

    /// Bytes of the prefix that a request holds.
    pub fn prefix_bytes(&self) -> u64 {
        let prefix = &self.prefix;
        let parts = [&prefix.system, &prefix.tools, &prefix.extra];
        parts.iter().map(|part| part.len() as u64).sum()
    }
}
