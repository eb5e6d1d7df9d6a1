//! One session over many lives of the engine, with clients that do not give up.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use proto::SessionId;
use session::{Client, ProfileChoice, Supervisor};
use store::catalog::Catalog;
use store::home::Home;
use store::pids::PidCounter;
use tests::Chance;
use tokio::sync::Notify;
use turn::RecoverPolicy;

use super::clients::{Clients, approve, drive, follow, heard, rests};
use super::engine::EngineSetup;
use super::world::{Kill, Point, World};

/// A session that is killed.
pub struct Scenario {
    /// Removed with it.
    _dir: tempfile::TempDir,
    home: Arc<Home>,
    catalog: Arc<Catalog>,
    bench: Arc<EngineSetup>,
    pub world: Arc<World>,
    pub clients: Clients,
}

impl Scenario {
    pub fn of(chance: &mut Chance) -> Self {
        // Everything that counts as synced is counted here: the real disk need not be waited for.
        let place = PathBuf::from("/dev/shm");
        let place = if place.is_dir() {
            place
        } else {
            std::env::temp_dir()
        };
        let dir = tempfile::Builder::new()
            .prefix("rxf")
            .tempdir_in(place)
            .expect("a place");
        let project = dir.path().join("project");
        std::fs::create_dir(&project).expect("a project");
        std::fs::write(project.join("notes.txt"), "some notes\n").expect("a file");
        let home = Arc::new(Home::open(&dir.path().join("home")).expect("a home"));
        let catalog = Arc::new(Catalog::open(&home).expect("a catalog").catalog);
        let session = SessionId::new();
        let log = home.session_dir(session).join("log.jsonl");
        let world = World::new(log, chance.once_in(2));
        let recover = if chance.once_in(3) {
            RecoverPolicy::Idle
        } else {
            RecoverPolicy::Continue
        };
        let bench = Arc::new(EngineSetup {
            world: Arc::clone(&world),
            project,
            recover,
        });
        let clients = Clients::of(session, chance, recover);
        Self {
            _dir: dir,
            home,
            catalog,
            bench,
            world,
            clients,
        }
    }

    pub fn log(&self) -> PathBuf {
        self.home
            .session_dir(self.clients.session)
            .join("log.jsonl")
    }

    /// One life: to the kill, or to the session's end (`true`).
    pub fn live(&mut self, kill: Option<Kill>) -> bool {
        self.world.begin(kill);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let world = Arc::clone(&self.world);
        let ended = runtime.block_on(async {
            let life = async {
                tokio::select! {
                    biased;
                    () = world.stops() => false,
                    () = self.go_on() => true,
                }
            };
            tokio::time::timeout(tests::BOUND, life).await
        });
        let ended = ended.unwrap_or_else(|_| {
            panic!(
                "neither killed nor at its end; the newest points: {:?}; the log:\n{}",
                world
                    .state()
                    .trail
                    .iter()
                    .rev()
                    .take(20)
                    .collect::<Vec<_>>(),
                std::fs::read_to_string(self.log()).unwrap_or_default(),
            )
        });
        // What still runs is not heard any more; threads that write end at their next point.
        runtime.shutdown_timeout(Duration::from_secs(10));
        ended
    }

    async fn go_on(&mut self) {
        let pids = Arc::new(PidCounter::open(&self.home).expect("the pids"));
        let assembly = Arc::clone(&self.bench) as Arc<dyn session::Assembly>;
        let supervisor = Supervisor::new(
            Arc::clone(&self.home),
            Arc::clone(&self.catalog),
            pids,
            assembly,
        );
        let supervisor = supervisor.expect("a supervisor");
        supervisor.recover().await;
        let create = self.clients.create(&self.bench.project);
        let client = Client {
            name: "driver".into(),
        };
        heard(
            &self.world,
            supervisor
                .create(create, &client, &ProfileChoice::default())
                .await,
        )
        .await;
        self.world
            .pass_or_wait(Point::Acknowledged, |state| {
                state.acknowledged_seq = state.acknowledged_seq.max(1);
            })
            .await;
        let id = self.clients.session.to_string();
        let handle = heard(&self.world, supervisor.find(&id).await).await;
        let news = Notify::new();
        let Clients {
            prompts,
            ahead,
            interrupts,
            answers,
            answered,
            ..
        } = &mut self.clients;
        let world = &self.world;
        let driving = async {
            loop {
                drive(world, &handle, prompts, *ahead, interrupts).await;
                if rests(&handle) {
                    return;
                }
            }
        };
        tokio::select! {
            () = driving => {}
            () = follow(world, &handle, &news) => {}
            () = approve(world, &handle, answers, answered, &news) => {}
        }
        supervisor.shutdown().await;
    }
}
