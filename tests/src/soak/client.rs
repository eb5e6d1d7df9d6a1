//! A client of a soak: it comes, wants something, looks on for a while, and goes without a word.

use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use proto::{ErrorName, Failure};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Shared, connect};
use crate::interactions::raw_decide;
use crate::wait::{pace, within};
use crate::{Chance, Raw};

/// Prompts after which a session makes room for another.
const PROMPTS: u32 = 12;
/// The longest pause between two requests of a client, in milliseconds.
const PAUSE: u64 = 400;

/// Makes the first sessions.
///
/// # Panics
/// One cannot be made.
pub(super) fn fill(shared: &Shared, sessions: usize) {
    let mut raw = connect(shared.house).expect("a daemon that answers");
    for number in 0..sessions {
        let pid = create(shared, &mut raw, number as u64).expect("a session");
        slots(shared).push((pid, 0));
    }
}

fn slots<'a>(shared: &'a Shared<'_>) -> MutexGuard<'a, Vec<(u64, u32)>> {
    shared.slots.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new session; every third asks a person.
fn create(shared: &Shared, raw: &mut Raw, number: u64) -> Option<u64> {
    let mut params = serde_json::to_value(shared.house.create("begin")).expect("JSON");
    params["approval_mode"] = json!(if number.is_multiple_of(3) {
        "ask"
    } else {
        "yolo"
    });
    let created = raw.try_call("session.create", &params)?;
    expected("session.create", &created);
    created.ok()?["pid"].as_u64()
}

/// The number of some session in use.
pub(super) fn some_session(shared: &Shared, chance: &mut Chance) -> String {
    let slots = slots(shared);
    slots[chance.index(slots.len())].0.to_string()
}

/// Until the soak stops.
pub(super) fn live(shared: &Shared, mut chance: Chance) {
    let mut raw: Option<Raw> = None;
    while !shared.stop.load(Ordering::SeqCst) {
        pace(Instant::now() + Duration::from_millis(chance.below(PAUSE)));
        raw = match raw.take() {
            // Nobody is there between two lives of the daemon.
            None => connect(shared.house),
            // It goes without a word, whatever was on its way.
            Some(_) if chance.once_in(12) => None,
            Some(mut there) => random_request(shared, &mut chance, &mut there).map(|()| there),
        };
    }
}

/// One request; `None`: the connection has ended, or is not to be used any more.
fn random_request(shared: &Shared, chance: &mut Chance, raw: &mut Raw) -> Option<()> {
    let at = chance.index(slots(shared).len());
    let (pid, prompts) = slots(shared)[at];
    let session = pid.to_string();
    if prompts >= PROMPTS {
        return renew(shared, chance, raw, at, pid);
    }
    match chance.below(27) {
        0..=5 => {
            slots(shared)[at].1 += 1;
            shared.prompts.fetch_add(1, Ordering::SeqCst);
            let when = if chance.once_in(3) { "steer" } else { "queue" };
            say(
                raw,
                "session.prompt",
                &json!({"session": session, "text": "go on", "when": when}),
            )?;
        }
        6..=11 => answers(shared, chance, raw)?,
        12 => drop(say(raw, "session.interrupt", &json!({"session": session}))?),
        13 => drop(say(raw, "session.compact", &json!({"session": session}))?),
        14 => {
            say(
                raw,
                "session.signal",
                &json!({"session": session, "signal": "PAUSE"}),
            )?;
            say(
                raw,
                "session.signal",
                &json!({"session": session, "signal": "RESUME"}),
            )?;
        }
        15..=18 => {
            let after = if chance.once_in(2) {
                json!(0)
            } else {
                Value::Null
            };
            follow(
                raw,
                &json!({"session": session, "subscription": "s", "after_seq": after, "ephemeral": true}),
                chance,
            )?;
            return None;
        }
        19 => program(shared, &["attach", "--plain", &session], chance),
        20 => program(shared, &["ps"], chance),
        21 | 22 => {
            let goal = json!({"session": session, "text": "go on for a while", "max_turns": 3});
            say(raw, "goal.start", &goal)?;
        }
        23 => drop(say(raw, "goal.stop", &json!({"session": session}))?),
        _ => {
            say(raw, "session.list", &json!({"limit": 20}))?;
            say(
                raw,
                "session.read",
                &json!({"session": session, "from_seq": 1}),
            )?;
        }
    }
    Some(())
}

/// Ends a session that has had its prompts, and puts a new one in its place.
fn renew(shared: &Shared, chance: &mut Chance, raw: &mut Raw, at: usize, old: u64) -> Option<()> {
    // Whoever is first does it.
    let mut all = slots(shared);
    if all[at].0 != old || all[at].1 < PROMPTS {
        return Some(());
    }
    all[at].1 = 0;
    drop(all);
    say(
        raw,
        "session.signal",
        &json!({"session": old.to_string(), "signal": "TERM"}),
    )?;
    let fresh = create(shared, raw, chance.below(9))?;
    slots(shared)[at].0 = fresh;
    Some(())
}

/// Answers every open interaction.
fn answers(shared: &Shared, chance: &mut Chance, raw: &mut Raw) -> Option<()> {
    let open = say(raw, "interaction.list", &json!({}))?.unwrap_or_default();
    for interaction in open["interactions"].as_array().into_iter().flatten() {
        let decision = if chance.once_in(4) {
            "deny"
        } else {
            "allow_once"
        };
        let answer = raw_decide(interaction, decision);
        if say(raw, "interaction.answer", &answer)?.is_some() {
            shared.answers.fetch_add(1, Ordering::SeqCst);
        }
    }
    Some(())
}

/// Attaches, sees some events, and has had enough.
fn follow(raw: &mut Raw, params: &Value, chance: &mut Chance) -> Option<()> {
    say(raw, "session.attach", params)?;
    raw.patience(Duration::from_millis(200));
    for _ in 0..chance.below(50) {
        raw.some()?;
    }
    Some(())
}

/// The real client; it gets a moment, and is killed.
fn program(shared: &Shared, arguments: &[&str], chance: &mut Chance) {
    let mut running = shared.house.start(arguments);
    let moment = Duration::from_millis(chance.below(600));
    if within(moment, &mut || (!running.runs()).then_some(())).is_none() {
        running.signal(Signal::KILL);
    }
}

/// Makes a call: its answer, if it is not a refusal; `None`: the connection has ended.
fn say(raw: &mut Raw, method: &str, params: &Value) -> Option<Option<Value>> {
    let answered = raw.try_call(method, params)?;
    expected(method, &answered);
    Some(answered.ok())
}

/// Others want other things at the same time: so much may be answered. Everything else is a finding.
fn expected(method: &str, answered: &Result<Value, Failure>) {
    let Err(failure) = answered else {
        return;
    };
    let usual = matches!(
        failure.name,
        ErrorName::Busy
            | ErrorName::AlreadyResolved
            | ErrorName::NotFound
            | ErrorName::Stale
            | ErrorName::NotReady
            | ErrorName::ShuttingDown
            | ErrorName::Limit
            | ErrorName::InvalidParams
    );
    assert!(usual, "{method}: {failure:?}");
}
