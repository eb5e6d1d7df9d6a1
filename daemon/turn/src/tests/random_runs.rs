//! The invariants, checked in thousands of random simulations. `PROPTEST_CASES` sets the number.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proto::Body;
use proto::params::interaction::{Interaction, InteractionAnswer, InteractionRequest};

use super::simulation::{log_of, play};
use crate::{Facts, words};

/// Configuration for random tests. The default number of simulations takes seconds in a debug build.
pub fn random_config() -> ProptestConfig {
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
    #![proptest_config(random_config())]

    /// Long simulations: several turns, crashes and shutdowns.
    #[test]
    fn a_session_survives_everything_in_every_order(seed in any::<u64>().no_shrink(), steps in 0_usize..200) {
        play(seed, steps);
    }

    /// Short simulations: most end within their first turn.
    #[test]
    fn a_turn_survives_everything_in_every_order(seed in any::<u64>().no_shrink(), steps in 0_usize..40) {
        play(seed, steps);
    }

    /// Logs of other versions, and edited logs, are folded as well as possible.
    #[test]
    fn a_log_with_holes_is_folded_all_the_same(seed in any::<u64>().no_shrink(), keep in any::<u64>(), steps in 0_usize..100) {
        let log = log_of(seed, steps);
        let facts = Facts::fold(log.iter().filter(|record| keep.rotate_left(record.seq.0 as u32) & 3 != 0));
        prop_assert!(facts.seq <= log.last().expect("a log has records").seq);
    }
}

/// Simulations that a default run meets once in ten thousand: a compaction fails in a session that became headless while
/// idle; a goal is replaced whose next turn waits in the queue; a goal is complete in a turn that a shutdown stops; an
/// answer is kept whose plan did not reach the disk.
#[test]
fn rare_simulations_survive() {
    play(0xde6e_ffac_bd34_dcd8, 99);
    play(0xc10e_2793_47e5_e950, 77);
    play(0xc7c1_09e7_3aff_731c, 16);
    play(0x51ae_022f_3b4d_de1e, 36);
}

/// Checks that the simulations cover all cases.
#[test]
fn simulations_reach_every_case() {
    let mut seen = BTreeSet::new();
    for seed in 0..6_400 {
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
                        Some(InteractionAnswer::Elicitation { decision, .. }) => decision.as_str(),
                        None => "nothing",
                    };
                    let who = match resolved.unattended {
                        true => "nobody",
                        false => &resolved.by,
                    };
                    seen.insert(format!("{who} {kind}"))
                }
                Body::SessionSet(set) if set.stand_in.is_some() => seen.insert("fallback".into()),
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
    // A log is found shortened when it is loaded; the machine never writes it.
    let written = |kind: &&str| *kind != "session.shortened";
    let kinds = Body::KINDS.iter().copied().filter(written);
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
        "Some(Interaction(Elicitation))",
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
        "ann accept",
        "ann decline",
        "nobody nothing",
        "reasonix nothing",
    ];
    let outside = ["asked to let it out", "outside", "fallback", "edited"];
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
