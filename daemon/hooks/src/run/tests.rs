//! Chains with a fake that plays the processes. Integration tests run real shells.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Mutex;

use contract::spawn::ChildControl;
use contract::{ChildExit, SpawnError};
use futures::future::BoxFuture;
use proto::SessionId;
use proto::params::process::ChildProcess;

use super::*;
use crate::settings::read;

/// The behaviour of the next command.
#[derive(Clone)]
enum Scripted {
    Exits(i32, &'static str),
    Floods,
    Hangs,
    DoesNotStart,
    NeverStarts,
    /// Starts after this many seconds, and exits with 0.
    StartsLate(u64),
}

/// Places every hook so.
struct Placing(HookPlacement);

impl PlaceHook for Placing {
    fn place(&self, _: &Hook) -> HookPlacement {
        self.0.clone()
    }
}

#[derive(Default)]
struct FakeSpawn {
    script: Mutex<VecDeque<Scripted>>,
    started: Mutex<Vec<Command>>,
    stopped: Arc<Mutex<Vec<u64>>>,
}

struct StopRecorder(Arc<Mutex<Vec<u64>>>);

impl ChildControl for StopRecorder {
    fn stop(&self, grace_ms: u64) {
        self.0.lock().unwrap().push(grace_ms);
    }
}

impl Spawn for FakeSpawn {
    fn spawn(&self, _: Pid, command: Command) -> BoxFuture<'static, Result<Child, SpawnError>> {
        let plays = self
            .script
            .lock()
            .unwrap()
            .pop_front()
            .expect("no more commands");
        self.started.lock().unwrap().push(command);
        let control = Box::new(StopRecorder(Arc::clone(&self.stopped)));
        Box::pin(async move {
            let exited = |code| {
                ChildEvent::Exited(ChildExit {
                    code: Some(code),
                    signal: None,
                    swept: 0,
                    over_memory: None,
                })
            };
            let events = match plays {
                Scripted::Exits(code, said) => futures::stream::iter([
                    ChildEvent::Stderr(said.as_bytes().to_vec()),
                    exited(code),
                ])
                .boxed(),
                Scripted::Floods => futures::stream::iter(0..1000)
                    .map(|_| ChildEvent::Stderr(vec![b'x'; 64 * 1024]))
                    .chain(futures::stream::iter([exited(1)]))
                    .boxed(),
                Scripted::Hangs => futures::stream::pending().boxed(),
                Scripted::NeverStarts => std::future::pending().await,
                Scripted::StartsLate(seconds) => {
                    tokio::time::sleep(Duration::from_secs(seconds)).await;
                    futures::stream::iter([exited(0)]).boxed()
                }
                Scripted::DoesNotStart => {
                    return Err(SpawnError::Start {
                        program: "/bin/sh".to_owned(),
                        reason: "no such file".to_owned(),
                    });
                }
            };
            Ok(Child {
                os_pid: 1,
                events,
                control,
            })
        })
    }

    fn running(&self, _: Pid) -> Vec<ChildProcess> {
        Vec::new()
    }

    fn stop_session(&self, _: Pid, _: u64) {}
}

const THREE: &str =
    r#"{"hooks": {"UserPromptSubmit": [{"command": "1"}, {"command": "2"}, {"command": "3"}]}}"#;

/// Plays the hooks of a file. Returns the outcome of each.
async fn play(
    settings: &str,
    script: &[Scripted],
    stop: &CancellationToken,
) -> (Option<HookChain>, Arc<FakeSpawn>) {
    let fake = Arc::new(FakeSpawn::default());
    fake.script.lock().unwrap().extend(script.iter().cloned());
    let spawn: Arc<dyn Spawn> = Arc::<FakeSpawn>::clone(&fake);
    let ground = HookEnvironment {
        spawn,
        session: Pid(7),
        env: Arc::new(vec![("PATH".to_owned(), "/bin".to_owned())]),
        cwd: PathBuf::from("/proj/sub"),
        root: PathBuf::from("/proj"),
        placement: Arc::new(Placing(HookPlacement::Outside { path: None })),
    };
    let file = Path::new("/proj/.reasonix/settings.json");
    let hooks = Hooks {
        hooks: read(settings, file, HookScope::Project).hooks,
        problems: Vec::new(),
    };
    let session = crate::HookSession {
        session: SessionId(uuid::Uuid::nil()),
        pid: Pid(7),
        cwd: PathBuf::from("/proj/sub"),
    };
    let what = HookPayload::Prompt { text: "hello" };
    (run_all(&ground, &hooks, &session, what, stop).await, fake)
}

async fn outcomes(script: &[Scripted]) -> Vec<(HookOutcome, Option<String>)> {
    let (chain, fake) = play(THREE, script, &CancellationToken::new()).await;
    assert!(fake.script.lock().unwrap().is_empty(), "not all ran");
    let finished = chain.unwrap().finished;
    finished
        .into_iter()
        .map(|finished| (finished.outcome, finished.reason))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn the_first_block_stops_the_chain_and_a_warning_does_not() {
    use HookOutcome as O;
    let said = |text: &str| Some(text.to_owned());
    assert_eq!(
        outcomes(&[
            Scripted::Exits(1, "w"),
            Scripted::Exits(0, "x"),
            Scripted::Exits(0, "")
        ])
        .await,
        [(O::Warn, said("w")), (O::Pass, None), (O::Pass, None)]
    );
    assert_eq!(
        outcomes(&[Scripted::Exits(1, "w"), Scripted::Exits(2, "no")]).await,
        [(O::Warn, said("w")), (O::Block, said("no"))]
    );
    assert_eq!(outcomes(&[Scripted::Hangs]).await, [(O::Timeout, None)]);
    assert_eq!(
        outcomes(&[Scripted::NeverStarts]).await,
        [(O::Block, said("it could not be started within 30 s"))]
    );
    let started = outcomes(&[
        Scripted::DoesNotStart,
        Scripted::Exits(0, ""),
        Scripted::Exits(0, ""),
    ])
    .await;
    assert_eq!(started[0].0, O::Error);
    assert!(started[0].1.as_ref().unwrap().contains("no such file"));
}

/// The start is Reasonix's own work: on a busy machine it may take longer than the hook's limit.
#[tokio::test(start_paused = true)]
async fn the_limit_of_a_hook_counts_from_its_start() {
    let late = [(); 3].map(|()| Scripted::StartsLate(20));
    assert_eq!(
        outcomes(&late).await,
        [(); 3].map(|()| (HookOutcome::Pass, None))
    );
}

#[tokio::test(start_paused = true)]
async fn a_flood_is_read_to_its_end_and_bounded() {
    let flood = outcomes(&[Scripted::Floods, Scripted::Exits(2, "")]).await;
    assert_eq!(flood[0].0, HookOutcome::Warn);
    assert!(flood[0].1.as_ref().unwrap().len() < 5_000);
}

#[tokio::test(start_paused = true)]
async fn a_hanging_hook_gets_half_a_second_to_end() {
    let (chain, fake) = play(THREE, &[Scripted::Hangs], &CancellationToken::new()).await;
    let finished = chain.unwrap().finished;
    assert_eq!(*fake.stopped.lock().unwrap(), [500]);
    assert!(
        (5_000..9_000).contains(&finished[0].duration_ms),
        "{finished:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_running_hook_without_a_result() {
    let stop = CancellationToken::new();
    let cancel = stop.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    });
    let (chain, fake) = play(THREE, &[Scripted::Hangs], &stop).await;
    assert!(chain.is_none());
    assert_eq!(*fake.stopped.lock().unwrap(), [500]);
}

#[tokio::test(start_paused = true)]
async fn a_projects_hook_runs_in_the_project_directory() {
    let (_, fake) = play(THREE, &[Scripted::Exits(2, "")], &CancellationToken::new()).await;
    let started = fake.started.lock().unwrap();
    let command = &started[0];
    assert_eq!(command.argv, ["/bin/sh", "-c", "1"]);
    assert_eq!(command.cwd, Path::new("/proj"));
    assert!(command.sandbox.is_none());
    assert_eq!(
        command.env,
        [
            ("PATH".to_owned(), "/bin".to_owned()),
            ("REASONIX_PROJECT_DIR".to_owned(), "/proj".to_owned()),
            ("CLAUDE_PROJECT_DIR".to_owned(), "/proj".to_owned()),
        ]
    );
    let contract::Stdin::Text(line) = &command.stdin else {
        panic!("a hook gets its input as text");
    };
    let session: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(
        (&session["prompt"], &session["cwd"]),
        (&"hello".into(), &"/proj/sub".into())
    );
}
