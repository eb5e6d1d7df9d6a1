use proptest::prelude::*;
use proto::item::{UserMessage, Voice};
use proto::outcome::UsageTotals;
use proto::record::{GoalReport, GoalReported, GoalStarted, TurnStarted};
use proto::{Body, CallId, GoalId, ItemId, Pid, PromptId, Record, Stamp};

use super::*;
use crate::facts::Facts;

/// A goal whose turns report and end as told.
struct Run {
    facts: Facts,
}

impl Run {
    fn new(max_turns: u64) -> Self {
        let mut run = Self {
            facts: Facts::default(),
        };
        run.log(Body::GoalStarted(GoalStarted {
            goal: GoalId::default(),
            text: "Make it work".into(),
            max_turns,
            check: None,
            research: None,
            by: "ann".into(),
            request_id: None,
        }));
        run
    }

    fn log(&mut self, body: Body) {
        let record = Record {
            seq: self.facts.seq.next(),
            at: Stamp(0),
            turn: None,
            body,
        };
        self.facts.apply(&record);
    }

    fn next(&self) -> GoalStep {
        let goal = self.facts.goal.as_ref().expect("a goal");
        let ended = self.facts.ended.as_ref().filter(|_| goal.turns > 0);
        next_after_turn(goal, ended)
    }

    /// A turn, with progress if a finished item says so, and with these reports.
    fn turn(
        &mut self,
        progress: bool,
        reports: &[(ReportStatus, &str)],
        outcome: OutcomeKind,
        reason: Option<Reason>,
    ) -> GoalStep {
        self.log(Body::TurnStarted(TurnStarted {
            prompt_id: PromptId::new(),
        }));
        for (status, summary) in reports {
            self.log(Body::GoalReported(GoalReported {
                call: CallId::from("a"),
                report: GoalReport {
                    status: *status,
                    summary: (*summary).into(),
                    evidence: None,
                    next: None,
                },
                missing: Vec::new(),
                checking: false,
            }));
        }
        if progress {
            let done = self.facts.todos.len() + 1;
            let mut todo = crate::tests::made::todo("item");
            todo.status = proto::record::TodoStatus::Completed;
            self.log(Body::TodoUpdated(proto::record::TodoUpdated {
                todos: vec![todo; done],
            }));
        }
        self.log(Body::TurnEnded(TurnEnded {
            outcome,
            reason,
            text: String::new(),
            error: None,
            usage: UsageTotals::default(),
            tree_usage: None,
            steps: 1,
            tool_calls: 0,
            duration_ms: 0,
            denied: Vec::new(),
            hooks: false,
            supervised: false,
        }));
        self.next()
    }

    fn silent(&mut self) -> GoalStep {
        self.turn(false, &[], OutcomeKind::Completed, None)
    }
}

fn why(step: &GoalStep) -> String {
    match step {
        GoalStep::Continue { why, .. } => why.as_str().to_owned(),
        GoalStep::End { outcome, .. } => format!("ends {}", outcome.as_str()),
    }
}

#[test]
fn end_of_a_turn_decides_what_happens_to_its_goal() {
    use OutcomeKind as O;
    use ReportStatus as S;
    let blocked: &[_] = &[(S::Blocked, "no network")];
    let complete: &[_] = &[(S::Complete, "all done")];
    let corrected: &[_] = &[(S::Complete, "all done"), (S::Continue, "not yet")];
    let cases = [
        (&[][..], O::Completed, None, "no_report"),
        (&[(S::Continue, "half")], O::Completed, None, "reported"),
        (blocked, O::Completed, None, "blocked"),
        (complete, O::Completed, None, "ends complete"),
        (corrected, O::Completed, None, "reported"),
        // What is reached stays reached, however the turn went on.
        (
            complete,
            O::Interrupted,
            Some(Reason::User),
            "ends complete",
        ),
        (complete, O::MaxSteps, None, "ends complete"),
        (&[], O::MaxSteps, None, "step_limit"),
        (&[], O::Interrupted, Some(Reason::User), "ends stopped"),
        (&[], O::Interrupted, Some(Reason::Timeout), "ends stopped"),
        (&[], O::Interrupted, Some(Reason::Term), "ends stopped"),
        (&[], O::Interrupted, Some(Reason::Shutdown), "restarted"),
        (&[], O::Killed, Some(Reason::User), "ends stopped"),
        (&[], O::BudgetExceeded, None, "ends out_of_budget"),
        (&[], O::Failed, None, "ends failed"),
        (&[], O::ContextFull, None, "ends failed"),
        (&[], O::Blocked, Some(Reason::Denied), "ends blocked"),
        (&[], O::Blocked, None, "ends blocked"),
    ];
    for (reports, outcome, reason, wanted) in cases {
        let mut run = Run::new(50);
        assert_eq!(why(&run.next()), "started");
        let step = run.turn(true, reports, outcome, reason);
        assert_eq!(why(&step), wanted, "{reports:?} {outcome:?} {reason:?}");
    }
}

#[test]
fn the_same_block_reported_three_times_ends_the_goal_however_it_is_spelled() {
    let mut run = Run::new(50);
    let mut blocked = |words: &str| {
        let reports = [(ReportStatus::Blocked, words)];
        why(&run.turn(true, &reports, OutcomeKind::Completed, None))
    };
    assert_eq!(blocked("Missing API key: FOO_KEY!"), "blocked");
    assert_eq!(blocked("disk is full"), "blocked");
    assert_eq!(blocked("missing  api-key FOO KEY"), "blocked");
    assert_eq!(
        blocked("Ｍｉｓｓｉｎｇ　ＡＰＩ　ｋｅｙ（foo_key）"),
        "ends blocked"
    );
}

#[test]
fn message_of_another_session_clears_no_block() {
    for (voice, wanted) in [(Voice::Session, "ends blocked"), (Voice::Steer, "blocked")] {
        let mut run = Run::new(50);
        for _ in 0..2 {
            let reports = [(ReportStatus::Blocked, "no network")];
            let step = run.turn(true, &reports, OutcomeKind::Completed, None);
            assert_eq!(why(&step), "blocked");
        }
        run.log(Body::User(UserMessage {
            item: ItemId::from("m3.1"),
            prompt_id: Some(PromptId::new()),
            text: "It is done.".into(),
            context: None,
            voice,
            from: (voice == Voice::Session).then_some(Pid(9)),
            attached: Vec::new(),
            reported: Vec::new(),
        }));
        let reports = [(ReportStatus::Blocked, "no network")];
        let step = run.turn(true, &reports, OutcomeKind::Completed, None);
        assert_eq!(why(&step), wanted, "{voice:?}");
    }
}

#[test]
fn eight_turns_without_progress_bring_a_reminder_and_the_ninth_ends_the_goal() {
    let mut run = Run::new(50);
    for _ in 1..8 {
        assert_eq!(why(&run.silent()), "no_report");
    }
    let step = run.silent();
    assert_eq!(why(&step), "no_progress");
    let GoalStep::Continue {
        why: reason,
        detail,
    } = step
    else {
        panic!("it continues");
    };
    run.log(Body::GoalContinued(proto::record::GoalContinued {
        prompt_id: PromptId::new(),
        number: 9,
        why: reason,
        detail,
        text: String::new(),
    }));
    assert_eq!(why(&run.silent()), "ends blocked");
}

#[test]
fn progress_after_the_reminder_starts_the_count_again() {
    let mut run = Run::new(0);
    for _ in 0..8 {
        run.silent();
    }
    run.log(Body::GoalContinued(proto::record::GoalContinued {
        prompt_id: PromptId::new(),
        number: 9,
        why: ContinueReason::NoProgress,
        detail: String::new(),
        text: String::new(),
    }));
    let step = run.turn(true, &[], OutcomeKind::Completed, None);
    assert_eq!(why(&step), "no_report");
    for _ in 1..8 {
        assert_eq!(why(&run.silent()), "no_report");
    }
    assert_eq!(why(&run.silent()), "no_progress");
}

#[test]
fn goal_ends_after_its_last_allowed_turn() {
    let mut run = Run::new(2);
    assert_eq!(why(&run.silent()), "no_report");
    assert_eq!(why(&run.silent()), "ends out_of_turns");
}

#[test]
fn a_new_goal_clears_the_counts() {
    let mut run = Run::new(3);
    let blocked = [(ReportStatus::Blocked, "no key")];
    for _ in 0..2 {
        run.turn(false, &blocked, OutcomeKind::Completed, None);
    }
    let again = Run::new(3);
    let Some(started) = again.facts.goal.clone() else {
        panic!("a goal");
    };
    run.log(Body::GoalStarted(GoalStarted {
        goal: started.id,
        text: started.text,
        max_turns: 3,
        check: None,
        research: None,
        by: "ann".into(),
        request_id: None,
    }));
    let goal = run.facts.goal.as_ref().expect("a goal");
    assert_eq!(
        (goal.turns, goal.stalled, goal.times_blocked("no key")),
        (0, 0, 0)
    );
    assert_eq!(why(&run.next()), "started");
    let step = run.turn(false, &blocked, OutcomeKind::Completed, None);
    assert_eq!(why(&step), "blocked");
}

#[test]
fn reasons_without_letters_differ() {
    assert_ne!(normalise("404"), normalise("403"));
    assert_ne!(normalise("?"), normalise("!"));
    assert_eq!(normalise("需要 API 密钥。"), normalise("需要API密钥"));
}

fn any_turn() -> impl Strategy<Value = (bool, u8, u8)> {
    (any::<bool>(), 0..4_u8, 0..3_u8)
}

proptest! {
    /// Whatever the turns do, a goal ends: no sequence of ordinary turns goes beyond its limit, and each end has a cause.
    #[test]
    fn goal_never_outlives_its_limits(max in 1..30_u64, turns in prop::collection::vec(any_turn(), 1..60)) {
        let mut run = Run::new(max);
        let mut count = 0;
        for (progress, report, words) in turns {
            let words = ["no key", "no disk", "no time"][usize::from(words)];
            let reports: &[(ReportStatus, &str)] = match report {
                0 => &[],
                1 => &[(ReportStatus::Continue, "on")],
                _ => &[(ReportStatus::Blocked, words)],
            };
            count += 1;
            let step = run.turn(progress, reports, OutcomeKind::Completed, None);
            let goal = run.facts.goal.as_ref().expect("a goal");
            prop_assert_eq!(goal.turns, count);
            match step {
                GoalStep::End { outcome: GoalOutcome::OutOfTurns, .. } => {
                    prop_assert_eq!(count, max);
                    return Ok(());
                }
                GoalStep::End { outcome, .. } => {
                    prop_assert_eq!(outcome, GoalOutcome::Blocked);
                    prop_assert!(goal.stalled > STALLED || goal.times_blocked(words) >= SAME_BLOCK);
                    return Ok(());
                }
                GoalStep::Continue { why, detail } => {
                    prop_assert!(count < max);
                    prop_assert_eq!(why == ContinueReason::NoProgress, goal.stalled == STALLED);
                    run.log(Body::GoalContinued(proto::record::GoalContinued {
                        prompt_id: PromptId::new(),
                        number: count + 1,
                        why,
                        detail,
                        text: String::new(),
                    }));
                }
            }
        }
    }

    /// Case, spaces, punctuation and width change nothing; letters do.
    #[test]
    fn spelling_does_not_change_a_reason(words in prop::collection::vec("[a-z0-9]{1,8}", 1..6), marks in "[ ,.!?:;()_-]{0,4}") {
        let plain = words.join(" ");
        let spelled = words.join(&format!(" {marks}")).to_uppercase();
        let wide: String = plain.chars().map(|c| match c {
            '!'..='~' => char::from_u32(u32::from(c) + 0xFEE0).unwrap_or(c),
            ' ' => '\u{3000}',
            c => c,
        }).collect();
        prop_assert_eq!(normalise(&plain), normalise(&spelled));
        prop_assert_eq!(normalise(&plain), normalise(&wide));
        prop_assert_ne!(normalise(&plain), normalise(&format!("{plain}x")));
        prop_assert_eq!(normalise(&normalise(&plain)), normalise(&plain));
    }
}

#[test]
fn ids_of_the_prompts_of_a_goal_differ() {
    let goal = GoalId::new();
    let ids: std::collections::BTreeSet<_> = (0..100).map(|number| goal.prompt(number)).collect();
    assert_eq!(ids.len(), 100);
}

#[test]
fn turn_of_a_goal_counts_from_its_start_whoever_started_it() {
    let mut run = Run::new(9);
    let turn = |run: &Run| run.facts.goal_line().expect("a goal").turn;
    assert_eq!(turn(&run), 0);
    let started = || {
        Body::TurnStarted(TurnStarted {
            prompt_id: PromptId::new(),
        })
    };
    run.log(started());
    assert_eq!(turn(&run), 1);
    run.turn(false, &[], OutcomeKind::Interrupted, Some(Reason::Timeout));
    assert_eq!(turn(&run), 1);
    // A prompt, or more time, has started it.
    run.log(started());
    assert_eq!(turn(&run), 2);
}
