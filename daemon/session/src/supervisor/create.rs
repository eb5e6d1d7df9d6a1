//! How a session is made: setup, prefix, pid, log, first records; and the answer to a repeated request.

mod checks;
mod first_record;
mod profile;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hooks::HookPayload;
use knowledge::ResolvedReferences;
use proto::hook::{HookEvent, HookFinished};
use proto::params::session::{CreateOutput, CreateParams, ReadParams};
use proto::record::{PromptQueued, SessionCreated};
use proto::{ErrorName, Failure, Pid, PromptId, Seq, SessionId, UntypedText};
use store::home::Home;
use store::log::LogFile;

use crate::actor::handle::SessionHandle;
use crate::actor::start::FirstNotices;
use crate::actor::{Actor, Inbox};
use crate::assembly::setup::ProfileChoice;
use crate::calls::hooks as hooked;
use crate::calls::references::{self, PromptText};
use crate::context::first_message;
use crate::journal::DISK_FULL;
use crate::request::keys::Keys;
use crate::supervisor::agents::Parent;
use crate::supervisor::build::{Parts, build};
use crate::supervisor::load::{SessionLog, SessionServices};
use crate::supervisor::workspaces::SessionPlace;
use crate::supervisor::{Client, Supervisor, prefixes, storage};
use crate::tasks::blocking;
use first_record::first_record;

/// How long a directory, a config or the store may take to answer.
const PREPARING_MAX: Duration = Duration::from_secs(30);

/// Records in which the first prompt of a session is looked for.
const FIRST_RECORDS: u64 = 64;

impl Supervisor {
    /// Makes a session, with its first prompt in the same commit. A repeat answers with the same session.
    ///
    /// # Errors
    /// `invalid_config`, `not_found` (model), `invalid_params`, `storage`, `shutting_down`.
    pub async fn create(
        &self,
        params: CreateParams,
        client: &Client,
        profile: &ProfileChoice,
    ) -> Result<CreateOutput, Failure> {
        self.create_for(params, client, profile, None).await
    }

    /// The same, for a call of another session if there is a `parent`. Every session is made here.
    pub(crate) async fn create_for(
        &self,
        params: CreateParams,
        client: &Client,
        profile: &ProfileChoice,
        parent: Option<&Parent>,
    ) -> Result<CreateOutput, Failure> {
        self.refuse_when_closing()?;
        let prompt = params.prompt.as_deref().unwrap_or_default();
        UntypedText::check(prompt, &params.untyped)?;
        let slot = self.slots.claim(params.session);
        if slot.known || self.exists(params.session).await? {
            return self.created_before(&params).await;
        }
        let mut prompt_id = None;
        let made = slot
            .cell
            .get_or_try_init(async || {
                let made = self.create_new(&params, client, profile, parent).await;
                let (handle, prompt) = made?;
                prompt_id = prompt;
                Ok::<_, Failure>(handle)
            })
            .await
            .cloned();
        drop(slot);
        let handle = self.unless_closing(made?).await?;
        Ok(output(&handle, prompt_id))
    }

    /// Whether there is such a session. What a crash left of one that nobody was notified of is cleared away.
    pub(crate) async fn exists(&self, session: SessionId) -> Result<bool, Failure> {
        let home = Arc::clone(&self.services.home);
        blocking(move || {
            // One that cannot be read is there.
            let exists = store::session_dirs::was_created(&home, session).unwrap_or(true);
            if !exists {
                store::session_dirs::remove_dir(&home.session_dir(session))
                    .map_err(|error| storage(store::reason(&error)))?;
            }
            Ok(exists)
        })
        .await?
    }

    /// The answer to a repeated create.
    async fn created_before(&self, params: &CreateParams) -> Result<CreateOutput, Failure> {
        let handle = self.load(params.session).await?;
        // With a worktree, the session works in a directory that was made for it.
        if !params.worktree && handle.summary().cwd != params.cwd {
            return Err(Failure::new(
                ErrorName::RequestIdReused,
                "A session with this id already exists in another directory.",
                "Use a new id for each session.",
            ));
        }
        let first = ReadParams {
            session: handle.pid().to_string(),
            from_seq: Seq(1),
            limit: FIRST_RECORDS,
        };
        let first = self.read(&first).await?;
        let prompt = first.events.iter().find_map(|event| match event.body() {
            Ok(proto::Body::PromptQueued(prompt)) => Some(prompt),
            _ => None,
        });
        let is_whole = first.next.is_none();
        let is_same = match (&params.prompt, &prompt) {
            (None, _) => true,
            (Some(text), Some(prompt)) => *text == prompt.text,
            // Notices precede it: if there are very many of them, it is not known.
            (Some(_), None) => !is_whole,
        };
        if !is_same {
            return Err(Failure::new(
                ErrorName::RequestIdReused,
                "A session with this id already exists, with another first prompt.",
                "Use a new id for each session, or send the prompt with `session.prompt`.",
            ));
        }
        Ok(output(&handle, prompt.map(|prompt| prompt.prompt_id)))
    }

    async fn create_new(
        &self,
        params: &CreateParams,
        client: &Client,
        profile: &ProfileChoice,
        parent: Option<&Parent>,
    ) -> Result<(SessionHandle, Option<PromptId>), Failure> {
        if !params.worktree {
            return self.create_in(params, client, profile, parent).await;
        }
        let inside = self.make_own_worktree(params).await?;
        let apart = CreateParams {
            cwd: inside.to_string_lossy().into_owned(),
            ..params.clone()
        };
        let created = self.create_in(&apart, client, profile, parent).await;
        if created.is_err() && matches!(self.exists(params.session).await, Ok(false)) {
            self.discard_worktree(params.session).await;
        }
        created
    }

    /// Makes a session that works in the directory of these parameters.
    async fn create_in(
        &self,
        params: &CreateParams,
        client: &Client,
        profile: &ProfileChoice,
        parent: Option<&Parent>,
    ) -> Result<(SessionHandle, Option<PromptId>), Failure> {
        let (services, wanted) = (self.services.clone(), params.clone());
        let (profile, made_for) = (profile.clone(), parent.cloned());
        // Config, cassette, directory and log are on disks that may hang: not on this thread, and not for ever.
        let preparing = blocking(move || prepare(&services, &wanted, &profile, made_for.as_ref()));
        let Ok(prepared) = tokio::time::timeout(PREPARING_MAX, preparing).await else {
            return Err(storage(format!("`{}` does not answer.", params.cwd)));
        };
        let mut prepared = prepared??;
        let first = match first_prompt(&mut prepared, params, client, parent).await {
            Ok(first) => first,
            Err(failure) => {
                drop(prepared);
                self.discard(params.session).await;
                return Err(failure);
            }
        };
        let paused = parent.is_some_and(|parent| parent.paused);
        let paused_by = paused.then(|| client.name.clone());
        self.begin(prepared, first, paused_by).await
    }

    /// Writes the first records of a session and runs it. Answers when they are on disk.
    async fn begin(
        &self,
        prepared: Prepared,
        first: FirstPrompt,
        paused_by: Option<String>,
    ) -> Result<(SessionHandle, Option<PromptId>), Failure> {
        let Prepared {
            mut actor,
            inbox,
            handle,
            created,
            notices,
        } = prepared;
        let session = created.session;
        let prompt_id = first.prompt.as_ref().map(|prompt| prompt.prompt_id);
        let (created_on_disk, on_disk) = tokio::sync::oneshot::channel();
        let notices = FirstNotices {
            of_session: notices,
            of_prompt: first.problems,
        };
        // Its first request may go out before it is on disk.
        self.slots.begins(session, handle.pid());
        actor.write_first_records(created, notices, paused_by, first.prompt, created_on_disk);
        actor.tell_hooks(first.hooks);
        self.house(&handle, actor, inbox);
        match on_disk.await {
            Ok(Ok(())) => Ok((handle, prompt_id)),
            Ok(Err(failure)) => {
                drop(handle);
                self.discard(session).await;
                // A session that was never made is not called read-only.
                Err(match failure.details.contains_key(DISK_FULL) {
                    true => no_space(&self.services.home),
                    false => failure,
                })
            }
            Err(_) => Err(Failure::new(
                ErrorName::Internal,
                "The session ended before it started.",
                "",
            )),
        }
    }
}

impl Supervisor {
    /// Takes away what there is of a session whose first records did not reach the disk. Nobody was notified of it, and
    /// what a failed sync left of its log must never be taken for one.
    async fn discard(&self, session: SessionId) {
        let home = Arc::clone(&self.services.home);
        let gone = blocking(move || {
            std::fs::remove_dir_all(home.session_dir(session))
                .map_err(|error| error.to_string())?;
            store::markers::unmark(&home, session)
                .and_then(|()| store::markers::unmark_ephemeral(&home, session))
                .map_err(|error| store::reason(&error))
        });
        match gone.await {
            Ok(Ok(())) => {}
            Ok(Err(reason)) => {
                tracing::warn!(%session, reason, "the rest of a session that was not made stays");
            }
            Err(failure) => {
                tracing::warn!(%session, %failure, "the rest of a session that was not made stays");
            }
        }
    }
}

/// A session that is ready to write its first record.
struct Prepared {
    actor: Actor,
    inbox: Inbox,
    handle: SessionHandle,
    created: SessionCreated,
    notices: Vec<String>,
}

/// The first prompt of a session, if it has one, with what came of its references and hooks.
struct FirstPrompt {
    prompt: Option<PromptQueued>,
    /// References that are not attached, in words for the user.
    problems: Vec<String>,
    hooks: Vec<HookFinished>,
}

/// Resolves the references of the first prompt and asks its hooks. Nothing is on disk yet: a refused prompt makes no session.
async fn first_prompt(
    prepared: &mut Prepared,
    params: &CreateParams,
    client: &Client,
    parent: Option<&Parent>,
) -> Result<FirstPrompt, Failure> {
    let references = first_references(prepared, params, parent).await?;
    let prompt = params.prompt.as_ref().map(|text| PromptQueued {
        untyped: params.untyped.clone(),
        from: None,
        added: None,
        references: references.found,
        on_ask: None,
        prompt_id: PromptId::new(),
        text: text.clone(),
        steer: false,
        by: client.name.clone(),
        request_id: params.request_id,
    });
    let mut hooks = Vec::new();
    let asked = prompt.as_ref().filter(|_| parent.is_none());
    let asker = prepared.actor.asker(HookEvent::UserPromptSubmit);
    if let (Some(prompt), Some(asker)) = (asked, asker) {
        let what = HookPayload::Prompt { text: &prompt.text };
        let chain = asker.ask(what, prepared.actor.life.ended()).await;
        let chain = chain.unwrap_or_default();
        if let Some(failure) = hooked::refused(&chain) {
            return Err(failure);
        }
        hooks = chain.finished;
    }
    Ok(FirstPrompt {
        prompt,
        problems: references.problems,
        hooks,
    })
}

/// What the first prompt refers to. What a model writes refers to nothing, and runs no command of the user.
async fn first_references(
    prepared: &mut Prepared,
    params: &CreateParams,
    parent: Option<&Parent>,
) -> Result<ResolvedReferences, Failure> {
    let recalls = prepared.handle.recalls();
    let typed = params.prompt.as_deref().filter(|_| parent.is_none());
    let typed = typed.map(|text| PromptText::new(text, &params.untyped));
    let Some(text) = typed.filter(|text| recalls || text.may_refer()) else {
        return Ok(ResolvedReferences {
            found: parent.and_then(|parent| parent.references.clone()),
            problems: Vec::new(),
        });
    };
    let standing = prepared.actor.standing_of(Some(&prepared.created));
    let resolved = references::resolve(standing, text).await?;
    let calls = &mut prepared.actor.calls;
    calls.note_references(resolved.found.as_ref());
    Ok(resolved)
}

/// Everything that touches a disk before the first record. Blocks.
fn prepare(
    services: &SessionServices,
    params: &CreateParams,
    choice: &ProfileChoice,
    parent: Option<&Parent>,
) -> Result<Prepared, Failure> {
    checks::check(params)?;
    let cwd = PathBuf::from(&params.cwd);
    let inherited = parent.map(|parent| parent.keys.names()).unwrap_or_default();
    let keys = params.credentials.iter();
    let brought = keys
        .filter(|(_, key)| !key.trim().is_empty())
        .map(|(variable, _)| variable.as_str());
    let brought: Vec<_> = brought
        .chain(inherited.iter().map(String::as_str))
        .collect();
    let preset = params.preset.as_deref();
    let bundle = preset
        .map(|name| services.assembly.preset(&cwd, name, None))
        .transpose()?;
    let mut setup = profile::begin(services, params, bundle.as_ref(), &cwd, &brought)?;
    profile::narrow(services, &mut setup, choice, parent)?;
    profile::pace(services, params, &mut setup, bundle.as_ref(), &cwd)?;
    checks::check_models(services, params, parent, &setup.profile.model, &brought)?;
    let rules = params.options.rules.clone().unwrap_or_default();
    checks::check_rules(&rules, &setup.profile.tools)?;
    let root = first_message::workspace_root(&setup, &cwd, &services.assembly.user_home());
    let place = SessionPlace {
        root: &root,
        cwd: &cwd,
        rules: &rules,
    };
    let (prefix, problems) = prefixes::frozen_prefix(services, &mut setup, place)?;
    let keys = session_keys(services, params, parent);
    let (pid, file) = new_log(services, params)?;
    // A client withholds the secrets it knows of; those that another client sends are held back here.
    let (env, mut held) = setup.environment_filter().split(&params.env);
    held.extend(params.env_held.iter().cloned());
    let mut created = first_record(services, params, &setup, &prefix, pid, &env);
    created.env_held = held.into_iter().collect();
    if let Some(parent) = parent {
        created.ppid = parent.pid;
        created.agent = Some(parent.agent.clone());
        created.env_names.extend(inherited);
    }
    let bundled = bundle
        .map(|bundle| bundle.samples)
        .filter(|samples| *samples > 1);
    created.options.samples = created.options.samples.or(bundled);
    let mut notices = setup.notices.clone();
    notices.extend(problems);
    let parts = Parts {
        created: created.clone(),
        log: SessionLog::new(file, prefix),
        setup,
        keys,
        env,
        marked: false,
    };
    let (actor, inbox, handle) = build_or_remove(services, parts)?;
    notices.extend(actor.calls.kept_rules().problems());
    Ok(Prepared {
        actor,
        inbox,
        handle,
        created,
        notices,
    })
}

/// The keys of a new session: those that its client brought, then those of its parent.
fn session_keys(
    services: &SessionServices,
    params: &CreateParams,
    parent: Option<&Parent>,
) -> Arc<Keys> {
    let keys = Keys::restored(Some(params.session), services.assembly.key_keeper());
    keys.put(params.credentials.clone());
    if let Some(parent) = parent {
        keys.fill_from(&parent.keys);
    }
    Arc::new(keys)
}

/// Builds the actor of a new session. If that fails, the session's directory is removed.
fn build_or_remove(
    services: &SessionServices,
    parts: Parts,
) -> Result<(Actor, Inbox, SessionHandle), Failure> {
    let dir = services.home.session_dir(parts.created.session);
    build(services, parts).inspect_err(|_| {
        // Nobody was notified of it: an empty directory would only be in the way.
        if let Err(error) = std::fs::remove_dir_all(&dir) {
            tracing::warn!(%error, dir = %dir.display(), "the directory of a session that was not made stays");
        }
    })
}

/// The log of a session that is being made, and its pid.
fn new_log(services: &SessionServices, params: &CreateParams) -> Result<(Pid, LogFile), Failure> {
    let home = &services.home;
    let pid = services
        .pids
        .next()
        .map_err(|error| not_stored(home, &error))?;
    if params.ephemeral {
        store::markers::mark_ephemeral(home, params.session)
            .map_err(|error| not_stored(home, &error))?;
    }
    let dir = home.session_dir(params.session);
    let file = LogFile::create(&dir).map_err(|error| not_stored(home, &error))?;
    Ok((pid, file.with_syncer(services.assembly.syncer())))
}

/// Why a new session could not be stored.
fn not_stored(home: &Home, error: &(dyn std::error::Error + 'static)) -> Failure {
    match store::is_full(error) {
        true => no_space(home),
        false => storage(store::reason(error)),
    }
}

fn no_space(home: &Home) -> Failure {
    Failure::new(
        ErrorName::Storage,
        format!(
            "There is no space left on the disk of `{}`.",
            home.root().display()
        ),
        "Free some space there, then try again.",
    )
}

fn output(handle: &SessionHandle, prompt_id: Option<PromptId>) -> CreateOutput {
    CreateOutput {
        session: handle.id(),
        pid: handle.pid(),
        model: handle.summary().model,
        prompt_id,
    }
}
