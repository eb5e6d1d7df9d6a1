//! Another model for a session: who it is, whether it can be asked, and what the change costs.

use std::path::PathBuf;
use std::sync::Arc;

use proto::params::session::SetParams;
use proto::{ErrorName, Failure};

use crate::handle::SessionHandle;
use crate::supervisor::{Supervisor, blocking};

/// Who is to be asked, as the log notes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// `provider/model`.
    pub model: Option<String>,
    /// Empty: as the model does by itself.
    pub effort: Option<String>,
}

impl Supervisor {
    /// Looks up the model and effort that a session is to ask from its next request on. Nothing is changed yet.
    ///
    /// # Errors
    /// No such model, no usable provider, an effort that its models lack; `confirm_needed`: the cache starts anew, and
    /// nobody has said that this is meant.
    pub async fn choose(
        &self,
        handle: &SessionHandle,
        params: &SetParams,
    ) -> Result<Chosen, Failure> {
        if params.model.is_none() && params.effort.is_none() {
            return Ok(Chosen::default());
        }
        let summary = handle.summary();
        let wanted = params
            .model
            .clone()
            .unwrap_or_else(|| summary.model.clone());
        let effort = params.effort.clone().or_else(|| summary.effort.clone());
        let effort = effort.filter(|effort| !effort.is_empty());
        let (assembly, cwd) = (
            Arc::clone(&self.ground.assembly),
            PathBuf::from(&summary.cwd),
        );
        let (of, thinks) = (wanted.clone(), effort.clone());
        let setup = blocking(move || assembly.switch(&cwd, &of, thinks.as_deref())).await??;
        let model = format!("{}/{}", setup.provider_name, setup.model);
        let changes = model != summary.model || effort != summary.effort;
        if changes && summary.context_tokens > 0 && !params.confirm {
            let tokens = summary.context_tokens;
            return Err(Failure::new(
                ErrorName::ConfirmNeeded,
                format!(
                    "The vendor's cache starts anew with this: about {tokens} tokens are read at full price with the next request."
                ),
                "Say it again with `confirm` (`--yes`), or fork the session and change the fork.",
            )
            .with("tokens", tokens)
            .with("model", model));
        }
        Ok(Chosen {
            model: params.model.is_some().then_some(model),
            effort: params.effort.clone(),
        })
    }
}
