//! The thread that starts every helper.
//!
//! It must live as long as the daemon: the kernel ties a helper's "my parent died" signal to the thread
//! that started it, not to the process. It does nothing else, so that a start never waits for anything.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::thread::{Builder, JoinHandle};

use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use crate::options::Helper;

/// Starts that may wait for the thread; a further one waits in its task.
const QUEUE: usize = 64;

/// A helper that has just been started, and our ends of its three channels.
pub(crate) struct Launched {
    /// Reaps the helper; says nothing of the command.
    pub helper: Child,
    pub control: UnixStream,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
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
    /// Starts the thread.
    pub fn start(helper: Helper) -> io::Result<(Self, JoinHandle<()>)> {
        let (sender, mut jobs) = mpsc::channel::<Job>(QUEUE);
        let thread = Builder::new()
            .name("procs-spawner".to_owned())
            .spawn(move || {
                while let Some(job) = jobs.blocking_recv() {
                    let _inside = job.runtime.enter();
                    // Nobody waits any more: dropping our ends tells the helper to go.
                    let _ = job.reply.send(launch(&helper));
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

fn launch(helper: &Helper) -> io::Result<Launched> {
    let (ours, theirs) = StdStream::pair()?;
    ours.set_nonblocking(true)?;
    let mut command = std::process::Command::new(&helper.program);
    command
        .arg0(OsStr::new("reasonixd"))
        .args(&helper.arguments)
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
    })
}
