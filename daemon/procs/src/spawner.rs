//! The thread that starts every helper.
//!
//! It must live as long as the daemon: the kernel ties a helper's "my parent died" signal to the thread
//! that started it, not to the process. It does nothing else, so that a start never waits for anything,
//! except that the first one waits until it is known how helpers are best started here.

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

use crate::found::Found;
use crate::options::{Helper, Options};
use crate::place::Places;
use crate::probe;
use crate::recipe::{Around, Purpose, Recipe};

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

/// What is opened around a helper besides the process namespace. Nothing, for a command without walls.
#[derive(Default)]
pub(crate) struct Opening {
    pub plan: Option<sandbox::Plan>,
    /// Whose loopback it shares. `None`: one of its own.
    pub session: Option<Pid>,
}

struct Job {
    opening: Opening,
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
        found: watch::Sender<Option<Found>>,
        places: Places,
    ) -> io::Result<(Self, JoinHandle<()>)> {
        let (sender, mut jobs) = mpsc::channel::<Job>(QUEUE);
        let thread = Builder::new()
            .name("procs-spawner".to_owned())
            .spawn(move || {
                let (recipe, what) = probe::strongest(&options);
                tracing::info!(mechanism = %what.mechanism, "how commands are held together");
                found.send_replace(Some(what));
                while let Some(job) = jobs.blocking_recv() {
                    let _inside = job.runtime.enter();
                    // Nobody waits any more: dropping our ends tells the helper to go.
                    let _ = job.reply.send(launch(
                        &options.helper,
                        recipe.as_ref(),
                        &job.opening,
                        &places,
                    ));
                }
            })?;
        Ok((Self(sender), thread))
    }

    /// Has a helper started by the thread.
    pub async fn launch(&self, opening: Opening) -> io::Result<Launched> {
        let (reply, launched) = oneshot::channel();
        let job = Job {
            opening,
            runtime: Handle::current(),
            reply,
        };
        let ended = || io::Error::other("the thread that starts processes has ended");
        self.0.send(job).await.map_err(|_| ended())?;
        launched.await.map_err(|_| ended())?
    }
}

fn launch(
    helper: &Helper,
    recipe: Option<&Recipe>,
    opening: &Opening,
    places: &Places,
) -> io::Result<Launched> {
    let (ours, theirs) = StdStream::pair()?;
    let wanted = opening
        .plan
        .as_ref()
        .filter(|_| recipe.is_some_and(Recipe::wants_nothings));
    let nothings = wanted.map_or(Ok(Vec::new()), nothings)?;
    let mut around = Around {
        plan: opening.plan.as_ref(),
        network: opening.plan.as_ref().is_some_and(|plan| !plan.network),
        nothings: &nothings,
    };
    let mut command = match recipe {
        Some(recipe) => {
            let place = place(opening, recipe, places)?;
            around.network &= place.is_none();
            let mut command = recipe.command(Purpose::Hold, &around);
            if let Some(place) = place {
                sandbox::enter_on_start(&mut command, place);
            }
            command
        }
        None => {
            let mut command = std::process::Command::new(&helper.program);
            command.arg0(OsStr::new("reasonixd"));
            command.args(&helper.arguments);
            command
        }
    };
    command
        // The daemon's environment may hold keys, and the helper's can be read by the command.
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut helper = tokio::process::Command::from(command).spawn()?;
    if let Some(recipe) = recipe {
        // Where that fails it has ended already, and what it complained of says why.
        let _ = recipe.instruct(&ours, Purpose::Hold, &around);
    }
    ours.set_nonblocking(true)?;
    let pipe = || io::Error::other("the helper came without its pipes");
    Ok(Launched {
        control: UnixStream::from_std(ours)?,
        stdout: helper.stdout.take().ok_or_else(pipe)?,
        stderr: helper.stderr.take().ok_or_else(pipe)?,
        helper,
        namespace: recipe.is_some(),
    })
}

/// The loopback of the session, where the command is to have it.
fn place(
    opening: &Opening,
    recipe: &Recipe,
    places: &Places,
) -> io::Result<Option<Arc<sandbox::Place>>> {
    let wanted = opening.plan.as_ref().is_some_and(|plan| !plan.network);
    let session = opening.session.filter(|_| wanted);
    session
        .map(|session| places.of(session, recipe))
        .transpose()
}

/// As many ways to read nothing as the plan has empty files. They are inherited by whatever is started while
/// they are open, and only this thread starts anything.
fn nothings(plan: &sandbox::Plan) -> io::Result<Vec<OwnedFd>> {
    let open = || rustix::fs::open("/dev/null", OFlags::RDONLY, Mode::empty());
    let all = (0..plan.nothings()).map(|_| open().map_err(io::Error::from));
    all.collect()
}
