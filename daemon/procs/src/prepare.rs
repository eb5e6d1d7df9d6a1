//! Prepares a sandboxed command: requirements before its start and while it runs.

use std::sync::Arc;

use contract::SandboxSpec;
use proto::Pid;
use sandbox::{HostFileSystem, MountPlan, ProcessRestrictions, Stubs};

use crate::findings;
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
    /// Kept until no process of the command is left.
    pub held: Stubs,
}

/// Prepares a command. Without a sandbox nothing is needed. The error is a text for the user.
pub(crate) async fn prepare(
    session: Pid,
    sandbox: Option<Arc<SandboxSpec>>,
    by: findings::SandboxBackend,
) -> Result<PreparedCommand, String> {
    let Some(sandbox) = sandbox else {
        return Ok(PreparedCommand::default());
    };
    match by {
        findings::SandboxBackend::Not(why) => Err(format!("the sandbox does not work here: {why}")),
        findings::SandboxBackend::Landlock { brokered } => Ok(PreparedCommand {
            inner: Some(ProcessRestrictions::without_mounts(
                &sandbox,
                &HostFileSystem,
                brokered,
            )),
            ..PreparedCommand::default()
        }),
        findings::SandboxBackend::Seatbelt => {
            let profile = sandbox::seatbelt::profile(&sandbox);
            let before = [sandbox::seatbelt::PROGRAM, "-p", &profile];
            Ok(PreparedCommand {
                before: before.map(str::to_owned).into(),
                ..PreparedCommand::default()
            })
        }
        findings::SandboxBackend::Mounts { shared, brokered } => {
            // It queries the file system, which may be slow.
            let prepared = tokio::task::spawn_blocking(move || mounts(&sandbox, brokered)).await;
            let mut prepared = prepared.map_err(|error| error.to_string())??;
            prepared.setup.session = Some(session).filter(|_| shared);
            Ok(prepared)
        }
    }
}

fn mounts(sandbox: &SandboxSpec, brokered: bool) -> Result<PreparedCommand, String> {
    let refused = |why: sandbox::PlanError| format!("the sandbox: {why}");
    let mut plan = MountPlan::of(sandbox, &HostFileSystem).map_err(refused)?;
    let held = Stubs::make(&mut plan).map_err(refused)?;
    Ok(PreparedCommand {
        inner: Some(ProcessRestrictions::inside_mounts(&plan, brokered)),
        setup: NamespaceSetup {
            plan: Some(plan),
            session: None,
        },
        held,
        ..PreparedCommand::default()
    })
}
