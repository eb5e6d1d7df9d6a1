//! `reasonix demo`: the main job on a small project made on the spot. Real daemon, real tools, a scripted model.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use client::messages::Language;
use client::{Client, DecodedEvent, FollowEvent, FollowFrom, Options};
use proto::methods::SessionCreate;
use proto::outcome::TurnEnded;
use proto::params::daemon::ShutdownMode;
use proto::params::session::CreateParams;
use proto::state::{Kind, OnAsk};
use proto::{Body, Pid, Seq, SessionOptions};

use crate::exit::Error;
use crate::messages::daemon::Msg;
use crate::messages::{language, translated};
use crate::paint::Painter;
use crate::pieces::{Piece, Tone, Transcript};
use crate::signals::{OsSignal, Signals};
use crate::{output, reach, text};

const CASSETTE: &str = include_str!("../demo/cassette.jsonl");

/// The same in Chinese.
const CASSETTE_CHINESE: &str = include_str!("../demo/cassette.zh.jsonl");
const MEDIAN: &str = include_str!("../demo/median.sh");
const TEST: &str = include_str!("../demo/test.sh");
const PROMPT: Msg = Msg::DemoPrompt;

/// Lines of a tool's output that are shown.
const OUTPUT_LINES: usize = 20;

/// Longer than this, and the socket does not fit into the home.
const TEMP_MAX: usize = 50;

/// Fix a failing test in a sample project, without a key.
///
/// A scripted model answers; nothing goes over the network. Removes its files afterwards.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Keep the daemon running and the files in place, so that you can attach to the session.
    #[arg(long)]
    keep: bool,
}

/// Plays it. Exits 0 only if the project's test passes in the end.
pub async fn run(args: Args) -> Result<u8, Error> {
    let mut signals = Signals::listen()?;
    let place = DemoProject::make()?;
    let paths = client::paths::of_home(&place.home);
    let mut options = Options::new(paths, "reasonix demo");
    options.interactive = false;
    let client = match Client::connect(options).await {
        Ok(client) => client,
        Err(error) => {
            place.remove();
            return Err(error.into());
        }
    };
    // However it ends, the daemon and the files are seen to below.
    let played = tokio::select! {
        played = play(&client, &place) => played,
        arrived = signals.next() => Err(stopped(arrived)),
    };
    let keep = args.keep && played.is_ok();
    let result = match played {
        Ok(pid) => print_result(&place, pid, keep),
        Err(error) => Err(error),
    };
    if !keep {
        let gone = client.stop(ShutdownMode::Now).await;
        place.remove();
        gone?;
    }
    result
}

fn stopped(arrived: OsSignal) -> Error {
    let what = match arrived {
        OsSignal::Int => say!(Msg::DemoInterrupted),
        OsSignal::Term | OsSignal::Hup => say!(Msg::AskedToStop),
    };
    Error::Failed {
        what: say!(Msg::DemoWas, what),
        hint: say!(Msg::FilesRemoved).to_owned(),
    }
}

/// The files of the demo: a home and a project, in a private directory of an unpredictable name.
struct DemoProject {
    root: PathBuf,
    home: PathBuf,
    project: PathBuf,
}

impl DemoProject {
    fn make() -> Result<Self, Error> {
        let temp = Some(std::env::temp_dir()).filter(|path| path.as_os_str().len() <= TEMP_MAX);
        let temp = temp.unwrap_or_else(|| PathBuf::from("/tmp"));
        let unique = uuid::Uuid::new_v4().simple().to_string();
        let root = temp.join(format!("reasonix-demo-{}", &unique[..12]));
        let place = Self {
            home: root.join("home"),
            project: root.join("project"),
            root,
        };
        place.fill().map_err(|source| {
            place.remove();
            Error::io(say!(Msg::DoDemoFiles, place.root.display()), source)
        })?;
        Ok(place)
    }

    fn fill(&self) -> io::Result<()> {
        for directory in [&self.root, &self.home, &self.project] {
            // Fails if it exists already: then it is somebody else's.
            fs::DirBuilder::new().mode(0o700).create(directory)?;
        }
        let cassette = self.home.join("cassette.jsonl");
        let script = match language() {
            Language::English => CASSETTE,
            Language::Chinese => CASSETTE_CHINESE,
        };
        write(&cassette, script)?;
        // A path in a TOML basic string is written as in JSON.
        let quoted = serde_json::to_string(&cassette.to_string_lossy())?;
        let config = format!(
            "default_model = \"demo\"\n\n[[providers]]\nname = \"demo\"\nkind = \"replay\"\nmodel = {quoted}\n"
        );
        write(&self.home.join("config.toml"), &config)?;
        write(&self.project.join("median.sh"), MEDIAN)?;
        write(&self.project.join("test.sh"), TEST)
    }

    /// Whether the project's own test passes: not what the model says, but the fact.
    fn test_passes(&self) -> io::Result<bool> {
        let status = Command::new("sh")
            .arg("test.sh")
            .current_dir(&self.project)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        Ok(status.success())
    }

    fn remove(&self) {
        if let Err(error) = fs::remove_dir_all(&self.root)
            && error.kind() != io::ErrorKind::NotFound
        {
            output::progress(&say!(Msg::DemoRemove, self.root.display(), error));
        }
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?
        .write_all(text.as_bytes())
}

/// Runs the session and shows it.
async fn play(client: &Client, place: &DemoProject) -> Result<Pid, Error> {
    if place
        .test_passes()
        .map_err(|source| Error::io(say!(Msg::DoDemoTest), source))?
    {
        return Err(Error::Failed {
            what: say!(Msg::DemoPasses).to_owned(),
            hint: say!(Msg::DemoPassesHint).to_owned(),
        });
    }
    output::line(&say!(Msg::DemoProject, place.project.display()))?;
    output::line(say!(Msg::DemoScripted))?;
    let options = SessionOptions {
        kind: Some(Kind::Interactive),
        on_ask: Some(OnAsk::Allow),
        name: Some("demo".to_owned()),
        ..SessionOptions::default()
    };
    let params = CreateParams {
        prompt: Some(say!(PROMPT).to_owned()),
        ..client
            .new_session(reach::utf8(&place.project)?, options)
            .await
    };
    let created = client.call::<SessionCreate>(&params).await?;
    let mut follow = client
        .follow(
            &created.session.to_string(),
            FollowFrom::After(Seq(0)),
            true,
        )
        .await?;
    let mut screen = Screen::new();
    loop {
        let FollowEvent::Event(event) = follow.next().await? else {
            continue;
        };
        screen.show(&event)?;
        match event.body() {
            Some(Body::TurnEnded(ended)) => {
                return well(ended).map(|()| created.pid);
            }
            Some(Body::SessionExited(exited)) => {
                return Err(Error::Failed {
                    what: say!(Msg::DemoEndedCode, exited.exit_code),
                    hint: say!(Msg::DemoDoctor).to_owned(),
                });
            }
            _ => {}
        }
    }
}

fn well(ended: &TurnEnded) -> Result<(), Error> {
    if ended.exit_code() == 0 {
        return Ok(());
    }
    let words = client::transcript::words::outcome(language(), ended.outcome, ended.reason);
    let why = ended.error.as_ref().map_or_else(String::new, |error| {
        format!(": {}", translated(&error.message))
    });
    Err(Error::Failed {
        what: say!(Msg::DemoTurnEnded, words, why),
        hint: say!(Msg::DemoDoctor).to_owned(),
    })
}

/// The output of the session, on standard output.
struct Screen {
    transcript: Transcript,
    painter: Painter,
}

impl Screen {
    fn new() -> Self {
        let painter = Painter::new(output::colour(&io::stdout()), OUTPUT_LINES);
        Self {
            transcript: Transcript::default(),
            painter,
        }
    }

    fn show(&mut self, event: &DecodedEvent) -> Result<(), Error> {
        for piece in self.transcript.fold(event) {
            // Do not report who joined: it is this client.
            if !matches!(
                piece,
                Piece::Block {
                    tone: Tone::State,
                    ..
                }
            ) {
                output::part(&self.painter.paint(&piece))?;
            }
        }
        Ok(())
    }
}

/// What happened, and how to look at it.
fn print_result(place: &DemoProject, pid: Pid, keep: bool) -> Result<u8, Error> {
    let passes = place
        .test_passes()
        .map_err(|source| Error::io(say!(Msg::DoDemoTest), source))?;
    output::line("")?;
    if !passes {
        output::line(say!(Msg::DemoFailed))?;
        return Ok(1);
    }
    output::line(&say!(Msg::DemoDone, pid))?;
    if keep {
        let home = text::line(&place.home.display().to_string());
        output::line(say!(Msg::DemoRunning))?;
        output::line(&format!("  REASONIX_HOME={home} reasonix attach {pid}\n"))?;
        output::line(say!(Msg::DemoStop))?;
        let root = text::line(&place.root.display().to_string());
        output::line(&format!(
            "  REASONIX_HOME={home} reasonix daemon stop; rm -r {root}"
        ))?;
    } else {
        output::line(say!(Msg::DemoKeep))?;
    }
    Ok(0)
}
