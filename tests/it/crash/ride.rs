//! A session of several turns, driven by one client and approved by another, whose daemon is killed at moments that a
//! seed chooses. Afterwards the test compares acknowledgements, log and files.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use client::{Client, Follow, FollowEvent};
use proto::hello::Role;
use proto::methods::{SessionCreate, SessionGet};
use proto::params::interaction::Interaction;
use proto::params::session::{OneParams, SessionSummary};
use proto::record::Rules;
use proto::state::State;
use proto::{Body, Event, RequestId, Seq, SessionId};
use rustix::process::Signal;
use testkit::model::{Answer, Gate, Model, Place, Request, Script};
use tests::follow::wire;
use tests::interactions::{allow_once, answer};
use tests::{Chance, House, follow, processes, soon, until};
use tokio::sync::watch;

use crate::scripted::commands;

use super::driver::{Driver, DriverOptions};
use super::story::{self, STEPS, SentPrompt, TURNS, step};

/// Whether a client's answers to questions are on disk: the request ids of those that were acknowledged.
type Answered = Arc<Mutex<Vec<RequestId>>>;

/// Where the next answer of the model is held, and whether it has been.
type Hold = Arc<Mutex<Option<(usize, Place, Gate)>>>;

/// When to kill.
#[derive(Debug)]
enum Moment {
    /// A request has come, and its answer is held at this place.
    Answer { later: usize, place: Place },
    /// A command with side effects has begun and not ended.
    Command,
    /// A question is open, or has just been answered.
    Question,
    /// A prompt or an answer has just been acknowledged.
    Acknowledged,
    /// The log has grown by so many lines.
    Lines(usize),
    /// After a while.
    Later(Duration),
}

impl Moment {
    fn by(chance: &mut Chance) -> Self {
        let below =
            |chance: &mut Chance, bound: u64| usize::try_from(chance.below(bound)).unwrap_or(0);
        match chance.below(7) {
            0 | 1 => {
                let place = [Place::Before, Place::Middle, Place::End][below(chance, 3)];
                Self::Answer {
                    later: 1 + below(chance, 6),
                    place,
                }
            }
            2 => Self::Command,
            3 => Self::Question,
            4 => Self::Acknowledged,
            5 => Self::Lines(1 + below(chance, 40)),
            _ => Self::Later(Duration::from_micros(chance.below(150_000))),
        }
    }
}

/// A session under way.
struct Ride {
    house: House,
    model: Model,
    hold: Hold,
    session: SessionId,
    /// Set when the last turn has ended.
    over: Arc<AtomicBool>,
    seen: Arc<Mutex<Vec<Event>>>,
    /// Counts acknowledgements.
    acknowledged: watch::Sender<u64>,
}

/// Plays a session to its end under kills, and checks it.
pub fn ride(seed: u64, kills: u64) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let mut chance = Chance::of(seed);
        let hold: Hold = Hold::default();
        let model = Model::start(script(Arc::clone(&hold)));
        let house = House::new();
        house.settings("[daemon]\nrecover = \"continue\"\n\n[internal]\nretry_base_ms = 10\n");
        house.provider(&model.entry("model", None));
        story::project(&house);
        house.daemon();

        let driver = house.client("driver", Role::Drive).await;
        let approver = house.client("approver", Role::Approve).await;
        let mut create = house.create("");
        create.prompt = None;
        create.options.rules = Some(Rules {
            allow: story::rules(),
            ..Rules::default()
        });
        let created = soon("a session", driver.call::<SessionCreate>(&create))
            .await
            .expect("create a session");
        let follower = follow::from_the_start(&driver, created.session).await;
        let questions = follow::from_the_start(&approver, created.session).await;
        let mut ride = Ride {
            house,
            model,
            hold,
            session: created.session,
            over: Arc::default(),
            seen: Arc::default(),
            acknowledged: watch::channel(0).0,
        };
        let end = watch::Sender::new(None);
        let following = tokio::spawn(keep(follower, Arc::clone(&ride.seen), end.subscribe()));
        let answered = Answered::default();
        let answering = tokio::spawn(approve(
            questions,
            approver,
            Arc::clone(&answered),
            ride.acknowledged.clone(),
        ));
        let manner = DriverOptions {
            ahead: chance.once_in(2),
            steers: chance.once_in(2),
            pauses: chance.once_in(3),
        };
        let person = Driver {
            client: driver.clone(),
            session: created.session,
            seen: Arc::clone(&ride.seen),
            acknowledgements: ride.acknowledged.clone(),
            given: Vec::new(),
        };
        let over = Arc::clone(&ride.over);
        let driving = tokio::spawn({
            let client = driver.clone();
            async move {
                let given = person.drive(manner).await;
                rest(&client, created.session).await;
                over.store(true, Ordering::SeqCst);
                given
            }
        });

        for kill in 0..kills {
            let moment = Moment::by(&mut chance);
            let both = kill == 2 || chance.below(3) == 0;
            ride.kill_at(&moment, both).await;
        }
        let prompts = bound("all prompts to be done", driving).await;
        let summary = soon("the summary", rest(&driver, created.session)).await;
        end.send_replace(Some(summary.seq));
        bound("the last event", following).await;
        answering.abort();
        drop(driver);
        ride.finish(&prompts, &answered, &summary, kills);
    });
}

/// The model: by how much it has said; one answer is held where a kill is to come.
fn script(hold: Hold) -> Script {
    Script::by(move |request: &Request| {
        let answer = step(story::said(request));
        let mut hold = hold.lock().unwrap_or_else(PoisonError::into_inner);
        match &*hold {
            Some((number, place, gate)) if request.number >= *number => {
                let held: Answer = answer.held(*place, gate);
                *hold = None;
                held
            }
            _ => answer,
        }
    })
}

async fn bound<T>(what: &str, task: tokio::task::JoinHandle<T>) -> T {
    match tokio::time::timeout(Duration::from_secs(60), task).await {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => std::panic::resume_unwind(error.into_panic()),
        Err(_) => panic!("waited a minute in vain for: {what}"),
    }
}

/// Keeps every durable event, until everything is over and the last one has come.
async fn keep(
    mut follow: Follow,
    seen: Arc<Mutex<Vec<Event>>>,
    mut end: watch::Receiver<Option<Seq>>,
) {
    loop {
        let newest = lock(&seen).last().and_then(|event| event.seq);
        if end.borrow().is_some_and(|end| newest >= Some(end)) {
            return;
        }
        tokio::select! {
            followed = follow.next() => {
                if let FollowEvent::Event(event) = followed.expect("follow the session")
                    && event.seq.is_some()
                {
                    lock(&seen).push(wire(&event));
                }
            }
            changed = end.changed() => changed.expect("the ride goes on"),
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until the session has nothing left to do; its newest record.
async fn rest(client: &Client, session: SessionId) -> SessionSummary {
    let one = OneParams {
        session: session.to_string(),
    };
    loop {
        // A daemon that is being killed does not answer; the next one does.
        if let Ok(summary) = client.call::<SessionGet>(&one).await
            && summary.state == State::Idle
            && summary.queued == 0
        {
            return summary;
        }
        tests::wait::step().await;
    }
}

/// Allows every call that waits for an approval.
async fn approve(
    mut follow: Follow,
    client: Client,
    answered: Answered,
    acknowledgements: watch::Sender<u64>,
) {
    loop {
        let Ok(followed) = follow.next().await else {
            return;
        };
        let FollowEvent::Event(event) = followed else {
            continue;
        };
        if let Some(Body::InteractionOpened(open)) = event.body() {
            tokio::spawn(allow(
                client.clone(),
                open.clone(),
                Arc::clone(&answered),
                acknowledgements.clone(),
            ));
        }
    }
}

async fn allow(
    client: Client,
    open: Interaction,
    answered: Answered,
    acknowledgements: watch::Sender<u64>,
) {
    let params = allow_once(&open);
    // The library makes the call again when the connection breaks; the id makes it one answer.
    let reply = answer(&client, &params).await;
    acknowledgements.send_modify(|count| *count += 1);
    reply.unwrap_or_else(|failure| panic!("answer {}: {failure}", params.interaction_id));
    answered
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .extend(params.request_id);
}

impl Ride {
    /// Waits for a moment, or the session's end, and kills; then waits until a daemon is back.
    async fn kill_at(&mut self, moment: &Moment, both: bool) {
        let house = &self.house;
        // Looked up before: nothing must come between the moment and the kill.
        let (daemon, parent) = tokio::task::block_in_place(|| {
            let daemon = house.wait_for_daemon();
            let found = processes::all()
                .into_iter()
                .find(|process| process.pid == daemon);
            (daemon, found.expect("the daemon's process").ppid)
        });
        self.await_moment(moment).await;
        let killed = if both {
            vec![parent, daemon]
        } else {
            vec![daemon]
        };
        for pid in &killed {
            processes::send(*pid, Signal::KILL);
        }
        let running = commands(house, "append");
        tokio::task::block_in_place(|| {
            let all_gone = |pids: &[u32]| !pids.iter().any(|pid| processes::runs(*pid));
            until("the killed process to be gone", || {
                all_gone(&killed).then_some(())
            });
            if both {
                house.daemon();
            } else {
                house.wait_for_daemon();
            }
            until("the commands of the killed daemon to be gone (I12)", || {
                all_gone(&running).then_some(())
            });
        });
        *self.hold.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    async fn await_moment(&self, moment: &Moment) {
        let gate = Gate::new();
        if let Moment::Answer { later, place } = moment {
            let number = self.model.count() + later;
            *self.hold.lock().unwrap_or_else(PoisonError::into_inner) =
                Some((number, *place, gate.clone()));
        }
        let (lines, begun) = (self.lines(), story::begun(&self.house).len());
        let questions = self.questions();
        let mut acknowledgements = self.acknowledged.subscribe();
        let acknowledged = *acknowledgements.borrow_and_update();
        let since = std::time::Instant::now();
        let come = || match moment {
            Moment::Answer { .. } => gate.is_reached(),
            Moment::Command => story::begun(&self.house).len() > begun,
            Moment::Question => self.questions() > questions,
            Moment::Acknowledged => *self.acknowledged.borrow() > acknowledged,
            Moment::Lines(more) => self.lines() >= lines + more,
            Moment::Later(delay) => since.elapsed() >= *delay,
        };
        while !come() && !self.over.load(Ordering::SeqCst) {
            assert!(
                since.elapsed() < Duration::from_secs(30),
                "{moment:?} did not come\n{}",
                self.house.daemon_log()
            );
            tokio::select! {
                _ = acknowledgements.changed() => {}
                () = tests::wait::step() => {}
            }
        }
    }

    /// Lines of the log, whole or not.
    fn lines(&self) -> usize {
        let path = self
            .house
            .home()
            .join("sessions")
            .join(self.session.to_string())
            .join("log.jsonl");
        std::fs::read(path)
            .unwrap_or_default()
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
    }

    fn questions(&self) -> usize {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.iter()
            .filter(|event| event.kind == "interaction.opened")
            .count()
    }

    /// Compares everything.
    fn finish(
        self,
        prompts: &[SentPrompt],
        answered: &Answered,
        summary: &SessionSummary,
        kills: u64,
    ) {
        tokio::task::block_in_place(|| {
            self.house.stop_daemon();
            let directory = self
                .house
                .home()
                .join("sessions")
                .join(self.session.to_string());
            let scan = store::log::read(&directory, &mut |_| {}).expect("read the log");
            assert_eq!(scan.invalid, None, "the log is valid to its end");
            let log = self.house.log(summary.pid);
            story::prompts_are_there(&log, prompts);
            let answered = answered.lock().unwrap_or_else(PoisonError::into_inner);
            story::answers_are_there(&log, &answered);
            story::all_was_seen_once(
                &log,
                &self.seen.lock().unwrap_or_else(PoisonError::into_inner),
            );
            story::turns_completed(&log);
            story::effects_once(&log, &self.house);
            story::usage_adds_up(&log, &summary.usage);
            self.model.assert_strict();
            let rollbacks = story::rollbacks(&self.model);
            assert!(
                rollbacks <= kills,
                "{rollbacks} requests went back, with {kills} kills"
            );
            assert!(self.model.count() >= TURNS * STEPS);
        });
    }
}
