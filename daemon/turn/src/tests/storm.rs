//! The invariants, in thousands of worlds. More by `PROPTEST_CASES`.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proto::Body;
use proto::params::interaction::{Interaction, InteractionAnswer, InteractionRequest};

use super::world::{log_of, play};
use crate::{Facts, words};

/// Worlds in a default run: seconds in a debug build.
pub fn storms() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() {
        default.cases
    } else {
        3_000
    };
    // A failure names the call that repeats it; no files are left in the source tree.
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..default
    }
}

proptest! {
    #![proptest_config(storms())]

    /// Long lives: several turns, crashes and shutdowns.
    #[test]
    fn a_session_survives_everything_in_every_order(seed in any::<u64>().no_shrink(), steps in 0_usize..200) {
        play(seed, steps);
    }

    /// Short lives: most end within their first turn.
    #[test]
    fn a_turn_survives_everything_in_every_order(seed in any::<u64>().no_shrink(), steps in 0_usize..40) {
        play(seed, steps);
    }

    /// Logs of other versions, and logs that somebody edited, are read as well as can be.
    #[test]
    fn a_log_with_holes_is_folded_all_the_same(seed in any::<u64>().no_shrink(), keep in any::<u64>(), steps in 0_usize..100) {
        let log = log_of(seed, steps);
        let facts = Facts::fold(log.iter().filter(|record| keep.rotate_left(record.seq.0 as u32) & 3 != 0));
        prop_assert!(facts.seq <= log.last().expect("a log has records").seq);
    }
}

/// Worlds that a default run meets once in twenty thousand: one where a compaction fails in a session that was made
/// headless at rest.
#[test]
fn rare_worlds_are_survived() {
    play(0xde6e_ffac_bd34_dcd8, 99);
}

/// A storm in which nothing happens proves nothing.
#[test]
fn the_storm_reaches_everything() {
    let mut seen = BTreeSet::new();
    for seed in 0..4_800 {
        for record in log_of(seed, 150) {
            seen.insert(record.body.kind().to_owned());
            match &record.body {
                Body::TurnEnded(ended) => {
                    seen.insert(format!("{:?} {:?}", ended.outcome, ended.reason))
                }
                Body::Tool(message) => seen.insert(format!("{:?}", message.status)),
                Body::SessionState(state) => {
                    seen.insert(format!("{:?}", state.state));
                    seen.insert(format!("{:?}", state.waiting_for))
                }
                Body::User(message) if message.text == words::GO_ON => seen.insert("go on".into()),
                Body::User(message) => seen.insert(format!("{:?}", message.voice)),
                Body::Assistant(message) => seen.insert(format!("{:?}", message.finish)),
                Body::Notice(notice) => seen.insert(notice.text.clone()),
                Body::InteractionResolved(resolved) => {
                    if resolved.edit.is_some() {
                        seen.insert("edited".into());
                    }
                    let kind = match &resolved.answer {
                        Some(InteractionAnswer::Approval { .. }) => "approval",
                        Some(InteractionAnswer::Questions { .. }) => "questions",
                        Some(InteractionAnswer::Plan { .. }) => "plan",
                        None => "nothing",
                    };
                    let who = match resolved.unattended {
                        true => "nobody",
                        false => &resolved.by,
                    };
                    seen.insert(format!("{who} {kind}"))
                }
                Body::SessionSet(set) if set.stand_in.is_some() => seen.insert("stands in".into()),
                Body::ToolStarted(started) if started.outside => seen.insert("outside".into()),
                Body::InteractionOpened(Interaction {
                    request: InteractionRequest::Approval(asked),
                    ..
                }) if asked.escape.is_some() => seen.insert("asked to let it out".into()),
                Body::Usage(usage) => seen.insert(format!(
                    "{:?}, in a turn {}",
                    usage.purpose,
                    record.turn.is_some()
                )),
                Body::CacheReset(reset) => {
                    if let Some(done) = &reset.compaction {
                        let how = if done.mechanical { "list" } else { "summary" };
                        seen.insert(format!("{:?} {how}", done.trigger));
                    }
                    let rendered = reset.base.is_some();
                    seen.insert(format!("{}, rendered {rendered}", reset.reason))
                }
                Body::SessionRewound(rewound) => {
                    let (undo, shown) = (rewound.undoes.is_some(), rewound.shown.is_some());
                    seen.insert(format!("rewound, undo {undo}, shown {shown}"))
                }
                _ => false,
            };
        }
    }
    // The machine writes all of them but this one, which comes when a log is loaded.
    let kinds = Body::KINDS.iter().copied();
    let kinds = kinds.filter(|kind| *kind != "session.shortened");
    let outcomes = [
        "Completed None",
        "Failed None",
        "MaxSteps None",
        "ContextFull None",
        "Blocked Some(Denied)",
        "Interrupted Some(User)",
        "Interrupted Some(Timeout)",
        "Interrupted Some(Term)",
        "Interrupted Some(Shutdown)",
        "Killed Some(User)",
    ];
    let statuses = [
        "Ok",
        "Failed",
        "Denied",
        "Interrupted",
        "Unknown",
        "Refused",
    ];
    let others = [
        "Some(Interaction(Approval))",
        "Some(Interaction(Questions))",
        "Some(Interaction(Plan))",
        "Some(Retry)",
        "Some(Credentials)",
        "Prompt",
        "Steer",
        "Daemon",
        "go on",
    ];
    let answers = [
        "ann approval",
        "ann questions",
        "ann plan",
        "nobody nothing",
        "reasonix nothing",
    ];
    let outside = ["asked to let it out", "outside", "stands in", "edited"];
    let rewinds = [
        "rewound, undo false, shown true",
        "rewound, undo false, shown false",
        "rewound, undo true, shown true",
        "rewound, undo true, shown false",
    ];
    let resets = [
        "rewind, rendered false",
        "compaction, rendered true",
        "compaction undone, rendered false",
        "switch, rendered true",
        "switch, rendered false",
        "Auto summary",
        "Auto list",
        "Manual summary",
        "Manual list",
        "TooLong summary",
        "TooLong list",
        "Summary, in a turn true",
        "Summary, in a turn false",
    ];
    let states = ["Idle", "Running", "Waiting", "Paused"];
    let finishes = [
        "Stop",
        "ToolCalls",
        "Length",
        "ContentFilter",
        "Interrupted",
    ];
    let notices = [
        words::GOES_ON,
        words::GOES_ON_FROM_KEPT,
        words::STILL_PAUSED,
        words::WAS_ENDED,
        words::HALF_REWOUND,
    ];
    let wanted = kinds.chain(outcomes).chain(statuses).chain(others);
    let wanted = wanted.chain(states).chain(finishes).chain(notices);
    let wanted = wanted
        .chain(answers)
        .chain(rewinds)
        .chain(outside)
        .chain(resets);
    let missing: Vec<_> = wanted.filter(|name| !seen.contains(*name)).collect();
    assert!(missing.is_empty(), "never seen: {missing:?}");
}
