//! The first record of a session: what it was made with.

use std::collections::BTreeMap;
use std::path::Path;

use proto::params::session::CreateParams;
use proto::record::SessionCreated;
use proto::state::{Kind, OnAsk};
use proto::{Pid, SessionOptions};

use crate::assembly::setup::Setup;
use crate::context::first_message;
use crate::context::prefix::{self, FrozenPrefix};
use crate::supervisor::load::SessionServices;

/// Names of variables whose values may be in the log: what commands need to find programs and to print well.
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

/// What the log begins with. The caller adds what is of a parent or of a preset.
pub(super) fn first_record(
    services: &SessionServices,
    params: &CreateParams,
    setup: &Setup,
    prefix: &FrozenPrefix,
    pid: Pid,
    env: &BTreeMap<String, String>,
) -> SessionCreated {
    let user_home = services.assembly.user_home();
    let root = first_message::workspace_root(setup, Path::new(&params.cwd), &user_home);
    let logged = |name: &str| LOGGED.contains(&name) || name.starts_with("LC_");
    let (env, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
        env.clone().into_iter().partition(|(name, _)| logged(name));
    SessionCreated {
        session: params.session,
        pid,
        ppid: Pid(0),
        epoch: 1,
        cwd: params.cwd.clone(),
        root: root.to_string_lossy().into_owned(),
        provider_kind: setup.profile.model.provider_kind.clone(),
        context_window: setup.profile.model.context_window,
        prefix_sha256: prefix::hash(&prefix.prefix),
        instructions: prefix.instruction_names(),
        add_dirs: params.profile.add_dirs.clone(),
        tools: setup.profile.tools.names().map(str::to_owned).collect(),
        env,
        env_names: others
            .into_keys()
            .chain(params.credentials.keys().cloned())
            .collect(),
        env_held: Vec::new(),
        request_id: params.request_id,
        origin: None,
        agent: None,
        version: services.assembly.version().to_owned(),
        options: resolved(&params.options, setup),
    }
}

/// The options of a new session: the client's, else those of the config.
fn resolved(wanted: &SessionOptions, setup: &Setup) -> SessionOptions {
    let mut options = SessionOptions::default();
    options.apply(&setup.options);
    options.apply(wanted);
    let kind = *options.kind.get_or_insert_default();
    options.on_ask.get_or_insert(match kind {
        Kind::Headless => OnAsk::Sandboxed,
        Kind::Interactive => OnAsk::Wait,
    });
    let model = &setup.profile.model;
    options.model = Some(model.full_name());
    options.effort.clone_from(&model.effort);
    options
}
