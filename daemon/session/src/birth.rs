//! How a session is made: setup, prefix, pid, log, first records; and what a repeated wish for it gets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proto::params::session::{CreateOutput, CreateParams, ReadParams};
use proto::record::{PromptQueued, SessionCreated};
use proto::state::{Kind, OnAsk};
use proto::{ErrorName, Failure, Pid, PromptId, Seq};
use store::log::LogFile;

use crate::handle::SessionHandle;
use crate::keys::Keys;
use crate::load::{self, Parts};
use crate::supervisor::{Client, Supervisor, blocking};
use crate::{opening, prefix};

/// Names of variables whose values may stand in the log: what commands need to find programs and to print well.
const LOGGED: [&str; 14] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "EDITOR",
    "TERM",
    "COLORTERM",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

impl Supervisor {
    /// Makes a session, with its first prompt in the same commit. A repeat answers with the same session.
    ///
    /// # Errors
    /// `invalid_config`, `not_found` (model), `invalid_params`, `storage`, `shutting_down`.
    pub async fn create(
        &self,
        params: CreateParams,
        client: &Client,
    ) -> Result<CreateOutput, Failure> {
        self.refuse_when_closing()?;
        let (slot, known) = self.slot(params.session);
        if known || self.ground.home.session_dir(params.session).exists() {
            return self.created_before(&params).await;
        }
        let mut prompt_id = None;
        let made = slot
            .get_or_try_init(async || {
                let (handle, prompt) = self.bear(&params, client).await?;
                prompt_id = prompt;
                Ok::<_, Failure>(handle)
            })
            .await;
        match made {
            Ok(handle) => {
                let summary = handle.summary();
                Ok(CreateOutput {
                    session: handle.id(),
                    pid: handle.pid(),
                    model: summary.model,
                    prompt_id,
                })
            }
            Err(failure) => {
                self.forget(params.session);
                Err(failure)
            }
        }
    }

    /// The answer to a repeated create.
    async fn created_before(&self, params: &CreateParams) -> Result<CreateOutput, Failure> {
        let handle = self.load(params.session, false).await?;
        let summary = handle.summary();
        if summary.cwd != params.cwd {
            return Err(Failure::new(
                ErrorName::RequestIdReused,
                "A session with this id exists, in another directory.",
                "Make a new id for each session.",
            ));
        }
        let first = self
            .read(&ReadParams {
                session: handle.pid().to_string(),
                from_seq: Seq(1),
                limit: 8,
            })
            .await?;
        let prompt_id = first.events.iter().find_map(|event| match event.body() {
            Ok(proto::Body::PromptQueued(prompt)) => Some(prompt.prompt_id),
            _ => None,
        });
        Ok(CreateOutput {
            session: handle.id(),
            pid: handle.pid(),
            model: summary.model,
            prompt_id,
        })
    }

    async fn bear(
        &self,
        params: &CreateParams,
        client: &Client,
    ) -> Result<(SessionHandle, Option<PromptId>), Failure> {
        let cwd = PathBuf::from(&params.cwd);
        if !cwd.is_absolute() || !cwd.is_dir() {
            return Err(Failure::new(
                ErrorName::InvalidParams,
                format!("`{}` is no directory that exists.", params.cwd),
                "Give the absolute path of the directory to work in.",
            ));
        }
        if params
            .prompt
            .as_ref()
            .is_some_and(|prompt| prompt.trim().is_empty())
        {
            return Err(Failure::new(
                ErrorName::InvalidParams,
                "The prompt is empty.",
                "Say what you want done.",
            ));
        }
        let setup = self.ground.assembly.create(&cwd, params.model.as_deref())?;
        let prefix = prefix::render(setup.codec.as_ref(), &setup.model, &setup.tools);
        let keys = Arc::new(Keys::default());
        keys.put(params.credentials.clone());
        let (pids, home, session) = (
            Arc::clone(&self.pids),
            Arc::clone(&self.ground.home),
            params.session,
        );
        let (pid, file) = blocking(move || {
            let pid = pids.next().map_err(|error| store::reason(&error))?;
            let file = LogFile::create(&home.session_dir(session))
                .map_err(|error| store::reason(&error))?;
            Ok::<_, String>((pid, file))
        })
        .await?
        .map_err(|reason| {
            Failure::new(
                ErrorName::Storage,
                reason,
                "Look at the disk: is it full, or read-only?",
            )
        })?;
        let env = without_keys(&params.env, &setup.secret_variables);
        let created = self.first_record(params, &setup, &prefix, pid, &cwd, &env);
        let notices = setup.notices.clone();
        let parts = Parts {
            created: created.clone(),
            file,
            index: store::log::Index::new(),
            facts: turn::Facts::default(),
            prefix,
            setup,
            keys,
            env,
            marked: false,
            read_only: None,
        };
        let (mut actor, inbox, handle) = load::build(&self.ground, parts).inspect_err(|_| {
            // Nobody was told of it: an empty directory would only be in the way.
            let dir = self.ground.home.session_dir(session);
            if let Err(error) = std::fs::remove_dir_all(&dir) {
                tracing::warn!(%error, dir = %dir.display(), "the directory of a session that was not made stays");
            }
        })?;
        let prompt = params.prompt.as_ref().map(|text| PromptQueued {
            prompt_id: PromptId::new(),
            text: text.clone(),
            steer: false,
            by: client.name.clone(),
            request_id: params.request_id,
        });
        let prompt_id = prompt.as_ref().map(|prompt| prompt.prompt_id);
        let (born, on_disk) = tokio::sync::oneshot::channel();
        actor.bear(created, notices, prompt, born);
        tokio::spawn(actor.run(inbox));
        match on_disk.await {
            Ok(written) => written?,
            Err(_) => {
                return Err(Failure::new(
                    ErrorName::Internal,
                    "The session ended before it began.",
                    "",
                ));
            }
        }
        Ok((handle, prompt_id))
    }

    fn first_record(
        &self,
        params: &CreateParams,
        setup: &crate::setup::Setup,
        prefix: &contract::Prefix,
        pid: Pid,
        cwd: &Path,
        env: &BTreeMap<String, String>,
    ) -> SessionCreated {
        let user_home = self.ground.assembly.user_home();
        let root = setup
            .workspace_root
            .clone()
            .unwrap_or_else(|| opening::root_of(cwd, &user_home));
        let logged = |name: &str| LOGGED.contains(&name) || name.starts_with("LC_");
        let (env, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
            env.clone().into_iter().partition(|(name, _)| logged(name));
        let on_ask = params.on_ask.unwrap_or(match params.kind {
            Kind::Headless => OnAsk::Sandboxed,
            Kind::Interactive => OnAsk::Wait,
        });
        SessionCreated {
            session: params.session,
            pid,
            ppid: Pid(0),
            epoch: 1,
            cwd: params.cwd.clone(),
            root: root.to_string_lossy().into_owned(),
            provider: setup.provider_name.clone(),
            provider_kind: setup.provider_kind.clone(),
            model: setup.model.clone(),
            context_window: setup.context_window,
            prefix_sha256: prefix::hash(prefix),
            kind: params.kind,
            posture: params.posture.unwrap_or(setup.posture),
            on_ask,
            name: params.name.clone(),
            labels: params.labels.clone(),
            max_steps: params.max_steps.unwrap_or(setup.max_steps),
            timeout_ms: params.timeout_ms.unwrap_or(0),
            rules: params.rules.clone(),
            env,
            env_names: others
                .into_keys()
                .chain(params.credentials.keys().cloned())
                .collect(),
            request_id: params.request_id,
            version: proto::VERSION.to_owned(),
        }
    }
}

/// The environment without the providers' keys: a client leaves out what is named like a secret, and cannot know the rest.
fn without_keys(env: &BTreeMap<String, String>, secret: &[String]) -> BTreeMap<String, String> {
    let kept = env.iter().filter(|(name, _)| !secret.contains(name));
    kept.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
