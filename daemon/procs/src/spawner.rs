//! The thread that starts every helper.
//!
//! It must live as long as the daemon: the kernel ties a helper's "my parent died" signal to the thread
//! that started it, not to the process. It does nothing else, so that a start never waits for anything,
//! except that the first one waits until it is known how helpers are best started here.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, JoinHandle};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use crate::mechanism::Mechanism;
use crate::options::{Helper, Options};
use crate::probe;
use crate::recipe::Recipe;

/// Starts that may wait for the thread; a further one waits in its task.
const QUEUE: usize = 64;

/// A helper that has just been started, and our ends of its three channels.
pub(crate) struct Launched {
    /// Reaps the helper; says nothing of the command.
    pub helper: Child,
    pub control: UnixStream,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    /// The helper is what opens a namespace; the one that holds the command is its child, in there.
    pub namespace: bool,
}

struct Job {
    /// Where the sockets and pipes are to be registered.
    runtime: Handle,
    reply: oneshot::Sender<io::Result<Launched>>,
}

/// A way to the thread. The thread ends with the last of them.
#[derive(Clone)]
pub(crate) struct Launcher(mpsc::Sender<Job>);

impl Launcher {
    /// Starts the thread, which first finds out how helpers are best started, and says so there.
    pub fn start(
        options: Options,
        found: Arc<OnceLock<Mechanism>>,
    ) -> io::Result<(Self, JoinHandle<()>)> {
        let (sender, mut jobs) = mpsc::channel::<Job>(QUEUE);
        let thread = Builder::new()
            .name("procs-spawner".to_owned())
            .spawn(move || {
                let (recipe, mechanism) = probe::strongest(&options);
                tracing::info!(%mechanism, "how commands are held together");
                found.get_or_init(|| mechanism);
                while let Some(job) = jobs.blocking_recv() {
                    let _inside = job.runtime.enter();
                    // Nobody waits any more: dropping our ends tells the helper to go.
                    let _ = job.reply.send(launch(&options.helper, recipe.as_ref()));
                }
            })?;
        Ok((Self(sender), thread))
    }

    /// Has a helper started by the thread.
    pub async fn launch(&self) -> io::Result<Launched> {
        let (reply, launched) = oneshot::channel();
        let job = Job {
            runtime: Handle::current(),
            reply,
        };
        let ended = || io::Error::other("the thread that starts processes has ended");
        self.0.send(job).await.map_err(|_| ended())?;
        launched.await.map_err(|_| ended())?
    }
}

fn launch(helper: &Helper, recipe: Option<&Recipe>) -> io::Result<Launched> {
    let (ours, theirs) = StdStream::pair()?;
    let mut command = match recipe {
        Some(recipe) => {
            hand_over(&ours, recipe)?;
            let mut command = std::process::Command::new(recipe.program());
            command.args(recipe.to_hold());
            command
        }
        None => {
            let mut command = std::process::Command::new(&helper.program);
            command.arg0(OsStr::new("reasonixd"));
            command.args(&helper.arguments);
            command
        }
    };
    ours.set_nonblocking(true)?;
    command
        // The daemon's environment may hold keys, and the helper's can be read by the command.
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut helper = tokio::process::Command::from(command).spawn()?;
    let pipe = || io::Error::other("the helper came without its pipes");
    Ok(Launched {
        control: UnixStream::from_std(ours)?,
        stdout: helper.stdout.take().ok_or_else(pipe)?,
        stderr: helper.stderr.take().ok_or_else(pipe)?,
        helper,
        namespace: recipe.is_some(),
    })
}

/// Lays ready, on a new channel to a helper in a namespace, what it takes first: one byte, with the
/// directory of switches where it needs that.
pub(crate) fn hand_over(ours: &StdStream, recipe: &Recipe) -> io::Result<()> {
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let switches = recipe.switches().map(|switches| [switches.as_fd()]);
    if let Some(switches) = &switches {
        control.push(SendAncillaryMessage::ScmRights(switches));
    }
    sendmsg(
        ours,
        &[io::IoSlice::new(b"\n")],
        &mut control,
        SendFlags::empty(),
    )?;
    Ok(())
}
