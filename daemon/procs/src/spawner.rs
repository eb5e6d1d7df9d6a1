//! The thread that starts every helper.
//!
//! It must live as long as the daemon: the kernel ties a helper's parent-death signal to the thread
//! that started it, not to the process. It does nothing else, so that starts never wait. Only the
//! first start waits for the probe.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use proto::Pid;
use rustix::fs::{Mode, OFlags};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};

use crate::findings::ProbeResults;
use crate::memory::MemoryControl;
use crate::memory_groups::{MemoryGroup, MemoryGroups};
use crate::options::{BackendChoice, HelperProgram, ProcsOptions};
use crate::probe;
use crate::recipe::{NamespaceOptions, Purpose, Recipe};
use crate::session_networks::SessionNetworks;

/// Number of starts that may wait for the thread. Further ones wait in their tasks.
const QUEUE: usize = 64;

/// A started helper, with our ends of its three channels.
pub(crate) struct LaunchedHelper {
    /// To reap the helper. Says nothing about the command.
    pub helper: Child,
    pub control: UnixStream,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    /// Bounds its memory. Kept as long as it exists.
    pub group: Option<MemoryGroup>,
    /// The helper process is a namespace opener. The managing process is its child inside the
    /// namespace.
    pub namespace: bool,
}

/// The namespaces around a helper besides the process namespace. Empty for a command without a
/// sandbox.
#[derive(Default)]
pub(crate) struct NamespaceSetup {
    pub plan: Option<sandbox::MountPlan>,
    /// The session whose loopback it shares. `None`: a separate one.
    pub session: Option<Pid>,
}

struct LaunchJob {
    setup: NamespaceSetup,
    /// The runtime in which to register the sockets and pipes.
    runtime: Handle,
    reply: oneshot::Sender<io::Result<LaunchedHelper>>,
}

/// Sends requests to the thread. The thread ends when the last sender is dropped.
#[derive(Clone)]
pub(crate) struct Launcher(mpsc::Sender<LaunchJob>);

impl Launcher {
    /// Starts the thread, which first probes the machine and publishes the result.
    pub fn start(
        options: ProcsOptions,
        found: watch::Sender<Option<ProbeResults>>,
        networks: SessionNetworks,
    ) -> io::Result<(Self, JoinHandle<()>)> {
        let (sender, mut jobs) = mpsc::channel::<LaunchJob>(QUEUE);
        let thread = Builder::new()
            .name("procs-spawner".to_owned())
            .spawn(move || {
                let (recipe, mut what) = probe::strongest(&options);
                let (groups, memory) = memory_control(&options);
                what.memory = memory;
                tracing::info!(mechanism = %what.mechanism, "how the processes of a command are tracked");
                found.send_replace(Some(what));
                while let Some(job) = jobs.blocking_recv() {
                    let _inside = job.runtime.enter();
                    // If nobody waits anymore, dropping our ends tells the helper to exit.
                    let _ = job.reply.send(launch(
                        &options.helper,
                        recipe.as_ref(),
                        groups.as_ref(),
                        &job.setup,
                        &networks,
                    ));
                }
            })?;
        Ok((Self(sender), thread))
    }

    /// Starts a helper on the thread.
    pub async fn launch(&self, setup: NamespaceSetup) -> io::Result<LaunchedHelper> {
        let (reply, launched) = oneshot::channel();
        let job = LaunchJob {
            setup,
            runtime: Handle::current(),
            reply,
        };
        let ended = || io::Error::other("the thread that starts processes has ended");
        self.0.send(job).await.map_err(|_| ended())?;
        launched.await.map_err(|_| ended())?
    }
}

/// What limits the memory of commands here.
fn memory_control(options: &ProcsOptions) -> (Option<MemoryGroups>, MemoryControl) {
    let limit = options.limits.memory;
    // Without any layer the helper's program may be no helper.
    let may = options.memory_groups && options.layers != BackendChoice::Off;
    let found = match limit {
        Some(limit) if may => MemoryGroups::find(limit, &options.helper),
        _ => Err("they are not used".to_owned()),
    };
    let why = found.as_ref().err().cloned();
    (found.ok(), MemoryControl { limit, why })
}

fn launch(
    helper: &HelperProgram,
    recipe: Option<&Recipe>,
    groups: Option<&MemoryGroups>,
    setup: &NamespaceSetup,
    networks: &SessionNetworks,
) -> io::Result<LaunchedHelper> {
    let (ours, theirs) = StdStream::pair()?;
    let wanted = setup
        .plan
        .as_ref()
        .filter(|_| recipe.is_some_and(Recipe::needs_empty_files));
    let empty_files = wanted.map_or(Ok(Vec::new()), empty_files)?;
    let mut around = NamespaceOptions {
        plan: setup.plan.as_ref(),
        network: setup.plan.as_ref().is_some_and(|plan| !plan.network),
        empty_files: &empty_files,
    };
    // Without a group the helper's watchdog still holds it.
    let group = groups.and_then(|groups| {
        let made = groups.make();
        made.inspect_err(|error| tracing::warn!(%error, "no control group for a command"))
            .ok()
    });
    let mut command = match recipe {
        Some(recipe) => {
            let session_network = session_network(setup, recipe, networks)?;
            around.network &= session_network.is_none();
            let mut command = recipe.command(Purpose::Hold, &around);
            // First, with the rights that opened it.
            group
                .iter()
                .for_each(|group| group.enter_on_start(&mut command));
            if let Some(session_network) = session_network {
                sandbox::enter_on_start(&mut command, session_network);
            }
            command
        }
        None => {
            let mut command = std::process::Command::new(&helper.program);
            command.arg0(OsStr::new("reasonixd"));
            command.args(&helper.arguments);
            group
                .iter()
                .for_each(|group| group.enter_on_start(&mut command));
            command
        }
    };
    command
        // The daemon's environment may contain keys, and the command can read the helper's.
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut helper = tokio::process::Command::from(command).spawn()?;
    if let Some(recipe) = recipe {
        // If this fails, the process has ended, and its standard error says why.
        let _ = recipe.instruct(&ours, Purpose::Hold, &around);
    }
    ours.set_nonblocking(true)?;
    let pipe = || io::Error::other("the helper came without its pipes");
    Ok(LaunchedHelper {
        control: UnixStream::from_std(ours)?,
        stdout: helper.stdout.take().ok_or_else(pipe)?,
        stderr: helper.stderr.take().ok_or_else(pipe)?,
        helper,
        group,
        namespace: recipe.is_some(),
    })
}

/// The loopback of the session, if the command should have it.
fn session_network(
    setup: &NamespaceSetup,
    recipe: &Recipe,
    networks: &SessionNetworks,
) -> io::Result<Option<Arc<sandbox::NetworkNamespace>>> {
    let wanted = setup.plan.as_ref().is_some_and(|plan| !plan.network);
    let session = setup.session.filter(|_| wanted);
    session
        .map(|session| networks.of(session, recipe))
        .transpose()
}

/// One empty descriptor per empty file of the plan. Every process started while they are open
/// inherits them, and only this thread starts processes.
fn empty_files(plan: &sandbox::MountPlan) -> io::Result<Vec<OwnedFd>> {
    let open = || rustix::fs::open("/dev/null", OFlags::RDONLY, Mode::empty());
    let all = (0..plan.empty_files()).map(|_| open().map_err(io::Error::from));
    all.collect()
}
