//! Another model for a session: who it is, whether it can be asked, and what the change costs.

use std::path::PathBuf;
use std::sync::Arc;

use proto::params::session::{SessionSummary, SetParams};
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
    /// Samples of each request.
    pub branch: Option<u32>,
}

/// Samples of a request at most: they run side by side.
const BRANCH_MAX: u32 = 8;

/// Whether there may be so many samples.
pub(crate) fn check_branch(branch: Option<u32>) -> Result<(), Failure> {
    if branch.is_none_or(|branch| (1..=BRANCH_MAX).contains(&branch)) {
        return Ok(());
    }
    Err(Failure::new(
        ErrorName::InvalidParams,
        format!("A request has 1 to {BRANCH_MAX} samples."),
        "Say `branch` with such a number; 1 is as ever.",
    ))
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
        check_branch(params.branch)?;
        let summary = handle.summary();
        let resolved;
        let params = match &params.preset {
            Some(name) => {
                resolved = self.resolved(params, name, &summary).await?;
                &resolved
            }
            None => params,
        };
        if params.model.is_none() && params.effort.is_none() {
            let branch = params.branch;
            return Ok(Chosen {
                branch,
                ..Chosen::default()
            });
        }
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
            branch: params.branch,
        })
    }

    /// The same with what the preset says of what is not said beside it, where that is not so already.
    async fn resolved(
        &self,
        params: &SetParams,
        name: &str,
        summary: &SessionSummary,
    ) -> Result<SetParams, Failure> {
        let assembly = Arc::clone(&self.ground.assembly);
        let cwd = PathBuf::from(&summary.cwd);
        let (name, said, now) = (name.to_owned(), params.clone(), summary.model.clone());
        let resolving = blocking(move || {
            let bundle = assembly.preset(&cwd, &name, Some(&now))?;
            let model = said.model.clone().or(bundle.model);
            let setup = assembly.switch(&cwd, model.as_deref().unwrap_or(&now), None)?;
            let effort = bundle.pace.of(&setup.efforts);
            Ok::<_, Failure>(SetParams {
                model,
                effort: said.effort.clone().or(Some(effort)),
                branch: said.branch.or(Some(bundle.branch)),
                preset: None,
                ..said
            })
        });
        let mut resolved = resolving.await??;
        if resolved.model.is_none()
            && resolved.effort.as_deref() == Some(summary.effort.as_deref().unwrap_or_default())
        {
            resolved.effort = None;
        }
        Ok(resolved)
    }
}
