//! Another model for a session: who it is, whether it can be asked, and what the change costs.

use std::path::PathBuf;
use std::sync::Arc;

use proto::params::forecast::Forecasts;
use proto::params::session::{SessionSummary, SetParams};
use proto::{ErrorName, Failure, SessionOptions, Stamp};

use crate::actor::handle::SessionHandle;
use crate::assembly::options;
use crate::assembly::setup::{Effort, ModelSetup};
use crate::context::forecast;
use crate::context::omitted_content::OmittedContent;
use crate::supervisor::{Supervisor, storage};
use crate::tasks::blocking;

/// Who is to be asked, as the log notes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// `provider/model`.
    pub model: Option<String>,
    /// Empty: as the model does by itself. Always said with another model: it goes by itself with it.
    pub effort: Option<String>,
    /// Samples of each request.
    pub samples: Option<u32>,
    /// Notice to users: the effort that was in force is not the other model's.
    pub notice: Option<String>,
}

impl Supervisor {
    /// Looks up the model and effort that a session is to ask from its next request on. Nothing is changed yet.
    ///
    /// Another model keeps the effort if it knows that effort, else it uses the effort of its entry.
    ///
    /// # Errors
    /// No such model, no usable provider, an effort that the model lacks; `confirm_needed`: the cache would be lost, and
    /// the caller has not confirmed that.
    pub async fn choose(
        &self,
        handle: &SessionHandle,
        params: &SetParams,
    ) -> Result<Chosen, Failure> {
        let summary = handle.summary();
        let asks = params.preset.is_some()
            || params.options.model.is_some()
            || params.options.effort.is_some();
        if let Some(first) = summary.instead_of.as_ref().filter(|_| asks) {
            let busy = Failure::new(
                ErrorName::Busy,
                format!(
                    "`{first}` is not available, and its fallback answers for the rest of this turn."
                ),
                "Try again after the turn, or interrupt the turn first.",
            );
            return Err(busy.retryable());
        }
        let resolved;
        let params = match &params.preset {
            Some(name) => {
                resolved = self.resolved(params, name, &summary).await?;
                &resolved
            }
            None => params,
        };
        self.check_planner(&summary, params).await?;
        if params.options.model.is_none() && params.options.effort.is_none() {
            let samples = params.options.samples;
            return Ok(Chosen {
                samples,
                ..Chosen::default()
            });
        }
        let found = self.switched(&summary, params).await?;
        let model = found.full_name();
        options::check_budget(params.options.budget, &model, found.price.is_some())?;
        let same = model == summary.model;
        let effort = match same && params.options.effort.is_none() {
            true => summary.effort.clone(),
            false => found.effort.clone(),
        };
        let changes = !same || effort != summary.effort;
        if changes && summary.context_tokens > 0 && !params.confirm {
            let (tokens, price) = (summary.context_tokens, found.price.as_ref());
            let now = Stamp::now();
            let forecasts = Forecasts {
                now: handle.forecast().await?,
                then: forecast::ahead(model.clone(), tokens, 0, price, now),
            };
            let omitted = count_omitted(handle, found).await?;
            let price = format!("This resets the provider's cache; {}.", forecasts.words());
            return Err(Failure::new(
                ErrorName::ConfirmNeeded,
                format!("{price}{}", omitted.sentence()),
                "Confirm with `--yes`, or fork the session and change the fork.",
            )
            .with("tokens", tokens)
            .with("omitted", serde_json::json!(omitted))
            .with("forecasts", serde_json::json!(forecasts))
            .with("model", model));
        }
        let lost = summary
            .effort
            .as_ref()
            .filter(|_| params.options.effort.is_none());
        let lost = lost.filter(|before| effort.as_ref() != Some(before));
        let notice = lost.map(|before| dropped(&model, before, effort.as_deref()));
        Ok(Chosen {
            model: params.options.model.is_some().then_some(model),
            effort: Some(effort.unwrap_or_default()),
            samples: params.options.samples,
            notice,
        })
    }

    /// Refuses a planner that cannot be asked.
    async fn check_planner(
        &self,
        summary: &SessionSummary,
        params: &SetParams,
    ) -> Result<(), Failure> {
        let Some(planner) = params.options.planner_model.clone() else {
            return Ok(());
        };
        let assembly = Arc::clone(&self.services.assembly);
        let cwd = PathBuf::from(&summary.cwd);
        let budget = params.options.budget;
        blocking(move || options::check_planner(&*assembly, &cwd, Some(&planner), budget)).await?
    }

    /// What asking the other model takes.
    async fn switched(
        &self,
        summary: &SessionSummary,
        params: &SetParams,
    ) -> Result<ModelSetup, Failure> {
        let wanted = params
            .options
            .model
            .as_ref()
            .unwrap_or(&summary.model)
            .clone();
        let (said, before) = (params.options.effort.clone(), summary.effort.clone());
        let (assembly, cwd) = (
            Arc::clone(&self.services.assembly),
            PathBuf::from(&summary.cwd),
        );
        let look = move || {
            let effort = match (&said, &before) {
                (Some(said), _) => Effort::Exactly(Some(said)),
                (None, Some(before)) => Effort::Before(before),
                (None, None) => Effort::Configured,
            };
            assembly.switch(&cwd, &wanted, effort)
        };
        blocking(look).await?
    }

    /// Fills in from the preset what the caller did not choose, unless that is in force already.
    async fn resolved(
        &self,
        params: &SetParams,
        name: &str,
        summary: &SessionSummary,
    ) -> Result<SetParams, Failure> {
        let assembly = Arc::clone(&self.services.assembly);
        let cwd = PathBuf::from(&summary.cwd);
        let (name, said, now) = (name.to_owned(), params.clone(), summary.model.clone());
        let resolving = blocking(move || {
            let bundle = assembly.preset(&cwd, &name, Some(&now))?;
            // All options are named, also those in force: the same call comes to the same when it is repeated.
            let model = said.options.model.clone().or(bundle.model).unwrap_or(now);
            let found = assembly.switch(&cwd, &model, Effort::Exactly(None))?;
            let effort = bundle.pace.of(&found.efforts);
            let options = SessionOptions {
                model: Some(model),
                effort: said.options.effort.or(Some(effort)),
                samples: said.options.samples.or(Some(bundle.samples)),
                ..said.options
            };
            Ok::<_, Failure>(SetParams {
                preset: None,
                options,
                ..said
            })
        });
        resolving.await?
    }
}

/// Counts the content of the session's conversation that the new model will not receive.
async fn count_omitted(
    handle: &SessionHandle,
    other: ModelSetup,
) -> Result<OmittedContent, Failure> {
    // If the session's provider is no longer configured, its requests cannot be read.
    let Ok(composition) = handle.makeup().await else {
        return Ok(OmittedContent::default());
    };
    blocking(move || composition.count_omitted(&other))
        .await?
        .map_err(storage)
}

fn dropped(model: &str, before: &str, now: Option<&str>) -> String {
    let now = match now {
        Some(now) => format!("it uses `{now}` from its config entry"),
        None => "it uses the model's default".to_owned(),
    };
    format!("`{model}` does not support the effort `{before}`: {now}.")
}
