use proptest::prelude::*;
use proto::outcome::{Denied, UsageTotals};
use proto::params::session::QueuedPrompt;
use proto::record::TurnStarted;
use proto::{CallId, Failure, PromptId, Record};

use super::*;

fn ended(outcome: OutcomeKind, reason: Option<Reason>, error: Option<&str>) -> TurnEnded {
    TurnEnded {
        outcome,
        reason,
        text: String::new(),
        error: error.map(|words| Failure::new(ErrorName::ProviderFailed, words, "")),
        usage: UsageTotals::default(),
        tree_usage: None,
        steps: 0,
        tool_calls: 0,
        duration_ms: 0,
        denied: Vec::new(),
        hooks: false,
        supervised: true,
    }
}

fn apply(facts: &mut Facts, at: i64, body: Body) {
    let record = Record {
        seq: facts.seq.next(),
        at: Stamp(at),
        turn: None,
        body,
    };
    facts.apply(&record);
}

fn restart(number: u64) -> Body {
    Body::SessionRestarted(SessionRestarted {
        number,
        outcome: OutcomeKind::Failed,
        reason: "it broke".into(),
        wait_ms: 0,
        prompt: Some(RestartPrompt {
            prompt_id: proto::SessionId::default().restart_prompt(number),
            text: "go on".into(),
            on_ask: None,
        }),
    })
}

#[test]
fn prompt_of_a_restart_that_was_moved_is_still_the_daemons_after_the_next_restart() {
    let mut facts = Facts::default();
    apply(&mut facts, 0, restart(1));
    let waits = facts.queue.front().expect("it waits").clone();
    let mut of_goal = restart(2);
    if let Body::SessionRestarted(restarted) = &mut of_goal {
        restarted.prompt = None;
    }
    apply(&mut facts, 1, of_goal);
    assert!(facts.is_restart(&waits));
    apply(&mut facts, 2, restart(3));
    assert!(facts.is_restart(&waits));
    let edited = QueuedPrompt {
        text: "Try this".into(),
        ..waits
    };
    assert!(!facts.is_restart(&edited), "those are a user's words");
}

fn any_outcome() -> impl Strategy<Value = (OutcomeKind, Option<Reason>)> {
    let reasons = [
        None,
        Some(Reason::User),
        Some(Reason::Timeout),
        Some(Reason::Shutdown),
        Some(Reason::Term),
        Some(Reason::Denied),
        Some(Reason::Loop),
    ];
    (
        prop::sample::select(OutcomeKind::ALL.to_vec()),
        prop::sample::select(reasons.to_vec()),
    )
}

proptest! {
    /// Whatever has happened before: these ends are never followed by a restart.
    #[test]
    fn nothing_restarts_after_a_stop_a_budget_a_denial_or_an_empty_account(
        (outcome, reason) in any_outcome(),
        always in any::<bool>(),
        denied in any::<bool>(),
        no_credit in any::<bool>(),
        of_goal in any::<bool>(),
        max_restarts in 0..5_u32,
    ) {
        let mut ended = ended(outcome, reason, Some("it broke"));
        if denied {
            ended.denied.push(Denied {
                call: CallId::from("a"),
                tool: "write".into(),
                subject: String::new(),
                why: String::new(),
 agent: None,
});
        }
        if no_credit && let Some(error) = &mut ended.error {
            error.name = ErrorName::OutOfCredit;
        }
        let policy = if always { RestartPolicy::Always } else { RestartPolicy::OnFailure };
        let limits = RestartLimits { max_restarts, ..RestartLimits::default() };
        let turn = TurnEnd { ended: &ended, of_goal, at: Stamp(0) };
        let step = decide(policy, limits, &RestartHistory::default(), turn);
        let failed = matches!(outcome, OutcomeKind::Failed | OutcomeKind::ContextFull);
        if step == Some(Supervised::Restart) {
            prop_assert!(failed || outcome == OutcomeKind::Completed && always && !of_goal);
            prop_assert!(!denied && max_restarts > 0);
            prop_assert!(!(failed && no_credit));
        }
        let never = decide(RestartPolicy::Never, limits, &RestartHistory::default(), turn);
        prop_assert_eq!(never, None);
    }

    /// Each wait is at least as long as the one before, and none is longer than the cap.
    #[test]
    fn waits_grow_up_to_the_cap(base_ms in 0..100_000_u64, cap_ms in 0..1_000_000_u64, in_row in 0..u32::MAX) {
        let limits = RestartLimits { base_ms, cap_ms, ..RestartLimits::default() };
        let (wait, next) = (limits.wait_ms(in_row), limits.wait_ms(in_row.saturating_add(1)));
        prop_assert!(wait <= next && next <= cap_ms);
        prop_assert_eq!(limits.wait_ms(0), base_ms.min(cap_ms));
        prop_assert!(base_ms > 0 || wait == 0);
    }

    /// However the clock is set: a restart waits at most as long as it was to, and not at all after its turn has started,
    /// a prompt of a user, or when it is taken back.
    #[test]
    fn wait_is_bounded_and_ends(at in 0..1_000_000_i64, now in -1_000_000..3_000_000_i64, wait_ms in 1..600_000_u64, end in 0..4_usize) {
        let mut facts = Facts::default();
        let mut body = restart(1);
        let mut prompt_id = PromptId::new();
        if let Body::SessionRestarted(restarted) = &mut body {
            restarted.wait_ms = wait_ms;
            prompt_id = restarted.prompt.as_ref().expect("a prompt").prompt_id;
        }
        apply(&mut facts, at, body);
        let left = facts.supervision.wait_left_ms(Stamp(now));
        prop_assert!(facts.supervision.is_due() && left <= wait_ms);
        if now >= at {
            let over = u64::try_from(now - at).unwrap();
            prop_assert_eq!(left, wait_ms.saturating_sub(over));
        }
        let end = match end {
            0 => Body::TurnStarted(TurnStarted { prompt_id }),
            1 => Body::PromptUnqueued(proto::record::PromptUnqueued { prompt_id }),
            2 => Body::SessionExited(proto::record::SessionExited {
                outcome: OutcomeKind::Failed,
                reason: None,
                exit_code: 1,
                request_id: None,
            }),
            _ => Body::PromptQueued(proto::record::PromptQueued {
                untyped: Vec::new(),
                from: None,
                added: None,
                references: None,
                on_ask: None,
                prompt_id: PromptId::new(),
                text: "Try this".into(),
                steer: false,
                by: "ann".into(),
                request_id: None,
            }),
        };
        apply(&mut facts, now, end);
        prop_assert!(!facts.supervision.is_due());
    }

    /// Turns that fail at any times, with any of a few failures: no window ever has more restarts than are allowed, and no
    /// failure comes more than three times in a row.
    #[test]
    fn restarts_stay_within_every_window(
        turns in prop::collection::vec((0..40_000_i64, 0..3_usize), 1..60),
        max_restarts in 0..5_u32,
        window_ms in 1..100_000_u64,
    ) {
        let limits = RestartLimits { max_restarts, window_ms, ..RestartLimits::default() };
        let mut facts = Facts::default();
        let (mut at, mut restarts, mut row) = (0_i64, Vec::new(), Vec::new());
        let mut prompt = PromptId::new();
        for (wait, failure) in turns {
            at += wait;
            apply(&mut facts, at, Body::TurnStarted(TurnStarted { prompt_id: prompt }));
            let words = ["no key", "the server is down", "bad answer"][failure];
            let ended = ended(OutcomeKind::Failed, None, Some(words));
            apply(&mut facts, at, Body::TurnEnded(ended.clone()));
            row.push(words);
            let turn = TurnEnd { ended: &ended, of_goal: false, at: Stamp(at) };
            let same = row.iter().rev().take_while(|before| **before == words).count();
            let window = i64::try_from(window_ms).unwrap();
            let within = restarts.iter().filter(|then| at - **then < window).count();
            match decide(RestartPolicy::OnFailure, limits, &facts.supervision, turn) {
                Some(Supervised::Restart) => {
                    prop_assert!(same < 3);
                    prop_assert!(within < max_restarts as usize);
                    restarts.push(at);
                    let number = restarts.len() as u64;
                    let body = restart(number);
                    if let Body::SessionRestarted(SessionRestarted { prompt: Some(own), .. }) = &body {
                        prompt = own.prompt_id;
                    }
                    apply(&mut facts, at, body);
                }
                Some(Supervised::GiveUp(GaveUpReason::SameFailure)) => {
                    prop_assert_eq!(same, 3);
                    return Ok(());
                }
                step => {
                    prop_assert_eq!(step, Some(Supervised::GiveUp(GaveUpReason::TooMany)));
                    prop_assert_eq!(within, max_restarts as usize);
                    return Ok(());
                }
            }
        }
    }
}

#[test]
fn failures_are_the_same_whatever_their_numbers_and_ids() {
    let print = |words| fingerprint(&ended(OutcomeKind::Failed, None, Some(words)));
    assert_eq!(
        print("`p` answered: overloaded (request req_011CSx7, try 3 of 8)"),
        print("`p` answered: Overloaded (request req_9f, try 8 of 8)."),
    );
    assert_ne!(print("no key"), print("no answer"));
    let with_status = |status: u64| {
        let mut ended = ended(OutcomeKind::Failed, None, Some("it broke"));
        ended.error = ended.error.map(|error| error.with("status", status));
        fingerprint(&ended)
    };
    assert_ne!(with_status(500), with_status(503));
    assert_eq!(
        fingerprint(&ended(OutcomeKind::Completed, None, None)),
        None
    );
}

#[test]
fn ids_of_restart_prompts_differ() {
    let session = proto::SessionId::new();
    let ids: std::collections::BTreeSet<_> = (0..100)
        .map(|number| session.restart_prompt(number))
        .collect();
    assert_eq!(ids.len(), 100);
}
