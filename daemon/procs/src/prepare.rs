//! Prepares a sandboxed command: requirements before its start and while it runs.

use std::sync::Arc;
use std::time::Instant;

use contract::SandboxSpec;
use proto::Pid;
use sandbox::{AbsentName, HeldFile, HostFileSystem, MountPlan, ProcessRestrictions};

use crate::arrivals::{ArrivalWatch, Arrivals, Watched};
use crate::findings;
use crate::procs::DAEMON;
use crate::spawner::NamespaceSetup;

/// The requirements of one command.
#[derive(Default)]
pub(crate) struct PreparedCommand {
    /// The namespaces around the helper.
    pub setup: NamespaceSetup,
    /// The restrictions that the second stage applies to itself.
    pub inner: Option<ProcessRestrictions>,
    /// The program that runs the command, with its arguments.
    pub before: Vec<String>,
    /// Finished when no process of the command is left.
    pub watch: Option<Arc<ArrivalWatch>>,
}

/// Prepares a command of a session, which may run in the background. Without a sandbox nothing is needed. The error is a text for the user.
pub(crate) async fn prepare(
    (session, in_background): (Pid, bool),
    sandbox: Option<Arc<SandboxSpec>>,
    by: findings::SandboxBackend,
    arrivals: Arc<Arrivals>,
) -> Result<PreparedCommand, String> {
    let Some(sandbox) = sandbox else {
        return Ok(PreparedCommand::default());
    };
    match by {
        findings::SandboxBackend::Not(why) => Err(format!("the sandbox does not work here: {why}")),
        findings::SandboxBackend::Landlock { brokered } => {
            blocking(move || {
                let prepared = Instant::now();
                // Nothing in the workspace is protected by this layer. What comes is still noticed.
                let plan = MountPlan::of(&sandbox, &HostFileSystem);
                let absent = plan.map_or_else(|_| Vec::new(), |plan| plan.absent);
                Ok(PreparedCommand {
                    inner: Some(ProcessRestrictions::without_mounts(
                        &sandbox,
                        &HostFileSystem,
                        brokered,
                    )),
                    watch: watched(
                        &arrivals,
                        (session, in_background),
                        (absent, Vec::new()),
                        (&sandbox, prepared),
                    )?,
                    ..PreparedCommand::default()
                })
            })
            .await
        }
        findings::SandboxBackend::Seatbelt => {
            let profile = sandbox::seatbelt::profile(&sandbox);
            let before = [sandbox::seatbelt::PROGRAM, "-p", &profile];
            Ok(PreparedCommand {
                before: before.map(str::to_owned).into(),
                ..PreparedCommand::default()
            })
        }
        findings::SandboxBackend::Mounts { shared, brokered } => {
            let mut prepared =
                blocking(move || mounts(&sandbox, brokered, &arrivals, (session, in_background)))
                    .await?;
            // The daemon's own belong together in nothing: each has its own network.
            prepared.setup.session = Some(session).filter(|_| shared && session != DAEMON);
            Ok(prepared)
        }
    }
}

/// Prepares it where it may block: the file system may be slow.
async fn blocking(
    prepare: impl FnOnce() -> Result<PreparedCommand, String> + Send + 'static,
) -> Result<PreparedCommand, String> {
    let prepared = tokio::task::spawn_blocking(prepare).await;
    prepared.map_err(|error| error.to_string())?
}

fn watched(
    arrivals: &Arrivals,
    command: (Pid, bool),
    (absent, held): (Vec<AbsentName>, Vec<HeldFile>),
    (sandbox, prepared): (&SandboxSpec, Instant),
) -> Result<Option<Arc<ArrivalWatch>>, String> {
    let watched = Watched {
        absent,
        held,
        repositories: sandbox.repositories.clone(),
    };
    arrivals.begin(command, watched, prepared).map_err(|error| {
        format!(
            "the sandbox: the list of protected names that do not exist cannot be stored: {error}"
        )
    })
}

fn mounts(
    sandbox: &SandboxSpec,
    brokered: bool,
    arrivals: &Arrivals,
    command: (Pid, bool),
) -> Result<PreparedCommand, String> {
    let prepared = Instant::now();
    let refused = |why: sandbox::PlanError| format!("the sandbox: {why}");
    let mut plan = MountPlan::of(sandbox, &HostFileSystem).map_err(refused)?;
    let absent = std::mem::take(&mut plan.absent);
    let held = std::mem::take(&mut plan.held).into_iter();
    let held = held.filter_map(|(path, obeyed)| HeldFile::of(&path, obeyed));
    let held = held.collect();
    Ok(PreparedCommand {
        inner: Some(ProcessRestrictions::inside_mounts(&plan, brokered)),
        setup: NamespaceSetup {
            plan: Some(plan),
            session: None,
        },
        watch: watched(arrivals, command, (absent, held), (sandbox, prepared))?,
        ..PreparedCommand::default()
    })
}
