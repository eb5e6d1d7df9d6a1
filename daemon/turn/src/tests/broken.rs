//! Edited logs: every line is valid, but the log as a whole is not. The next request still is (I2).

use proptest::prelude::*;
use proto::item::{AssistantMessage, Finish, ToolCall, ToolMessage};
use proto::outcome::{OutcomeKind, TurnEnded};
use proto::params::elicitation::ElicitationDecision;
use proto::params::interaction::{
    ApprovalDecision, Interaction, InteractionAnswer, InteractionRequest, PlanDecision,
};
use proto::params::session::When;
use proto::record::{PromptQueued, SessionExited, ToolStarted, TurnStarted, Verdict};
use proto::reset::{CacheReset, Wire};
use proto::state::Kind;
use proto::{Body, CallId, ItemId, Record, Seq, Stamp};

use super::made::{created, elicited, judgement, outcome, prompt_id, reply};
use super::random_runs::random_config;
use super::simulation::log_of;
use crate::compacting::{ResetJob, ResetJobOutcome, ResetReason};
use crate::compaction::NothingToCompact;
use crate::input::Unattended;
use crate::{Answer, Effect, Facts, Input, Judgement, Limits, Machine, Now, RecoverPolicy};

const POLICIES: [RecoverPolicy; 2] = [RecoverPolicy::Continue, RecoverPolicy::Idle];

/// Whether a log is valid for the strictest provider: each call has exactly one result before the next message.
#[derive(Default)]
struct Conversation {
    unanswered: Vec<CallId>,
    /// A line in the middle is missing, and later lines cannot replace it.
    lost: bool,
}

impl Conversation {
    fn take(&mut self, body: &Body) {
        match body {
            Body::User(_) => self.lost |= !self.unanswered.is_empty(),
            Body::Assistant(message) => {
                self.lost |= !self.unanswered.is_empty();
                self.unanswered = message.calls.iter().map(|call| call.id.clone()).collect();
            }
            Body::Tool(message) => {
                let place = self.unanswered.iter().position(|id| *id == message.call);
                match place {
                    Some(place) => {
                        self.unanswered.remove(place);
                    }
                    None => self.lost = true,
                }
            }
            _ => {}
        }
    }
}

/// Recovers a session from this log, sends a prompt, and lets everything succeed. Panics if a request is invalid.
/// `None` if the log itself lacks lines that recovery cannot replace.
fn recover_and_prompt(log: &[Record], policy: RecoverPolicy) -> Option<Machine> {
    recover_and_prompt_with(log, policy, true)
}

/// Like `recover_and_prompt`. `runs_hold`: the runs that its rewinds name are correct.
fn recover_and_prompt_with(
    log: &[Record],
    policy: RecoverPolicy,
    runs_hold: bool,
) -> Option<Machine> {
    let mut said = Conversation::default();
    log.iter().for_each(|record| said.take(&record.body));
    let lost = said.lost;
    let mut all = log.to_vec();
    let now = Now {
        wall: log.last().expect("a log has records").at,
        mono_ms: 0,
    };
    let mut machine = Machine::new(Facts::fold(log), Limits::default());
    let mut todo = machine.recover(policy, None, now);
    let prompt = PromptQueued {
        untyped: Vec::new(),
        from: None,
        added: None,
        references: None,
        on_ask: None,
        prompt_id: prompt_id(77_777),
        text: "go on".into(),
        steer: false,
        by: "ann".into(),
        request_id: None,
    };
    let mut next = vec![
        Input::Prompt {
            prompt,
            when: When::Queue,
        },
        Input::Pause {
            paused: false,
            tree: false,
            by: "ann".into(),
            request_id: None,
        },
    ];
    let mut asked = 0;
    for _ in 0..10_000 {
        let mut happens = Vec::new();
        for effect in std::mem::take(&mut todo) {
            match effect {
                Effect::Append(record) => {
                    said.take(&record.body);
                    all.push(record);
                }
                Effect::Ask { upto, .. } => {
                    asked += 1;
                    if runs_hold && !lost {
                        shows_whole_turns(&machine.facts().shown_upto(upto), &all);
                    }
                    assert!(
                        lost || (said.unanswered.is_empty() && !said.lost),
                        "I2: every call has its result before the next request"
                    );
                    happens.push(Input::Answered(Box::new(Answer {
                        text: "Done.".into(),
                        finish: Some(Finish::Stop),
                        ..Answer::default()
                    })));
                }
                Effect::Plan(request) => {
                    happens.push(Input::Planned(Box::new(request.failed("it is down"))));
                }
                Effect::Reset(job) => happens.push(reset(&machine, &job)),
                Effect::Judge { call } => {
                    let mut judgement =
                        judgement(&call, Verdict::Allow, Unattended::Wait, false, 0);
                    if let Judgement::Decided(decided) = &mut judgement {
                        decided.effective_permissions = machine.facts().effective_permissions();
                    }
                    happens.push(Input::Judged {
                        call: call.id,
                        judgement: Box::new(judgement),
                    });
                }
                Effect::Run { call, .. } => happens.push(Input::CallEnded {
                    call: call.id,
                    outcome: Box::new(outcome(proto::item::CallStatus::Ok)),
                    duration_ms: 1,
                }),
                _ => {}
            }
        }
        if happens.is_empty() {
            let open = machine.facts().interactions.values().next();
            match (open.map(agree), next.pop()) {
                (Some(answer), input) => {
                    next.extend(input);
                    happens.push(answer);
                }
                (None, Some(input)) => happens.push(input),
                (None, None) => break,
            }
        }
        for input in happens {
            todo.extend(machine.step(input, now));
        }
    }
    assert!(machine.is_idle(), "it comes to rest");
    assert!(machine.facts().queue.is_empty(), "and all is worked off");
    assert!(asked > 0, "the model was asked");
    (!lost).then_some(machine)
}

/// The model changes; a compaction fails.
fn reset(machine: &Machine, job: &ResetJob) -> Input {
    let facts = machine.facts();
    let end = match job.why {
        ResetReason::Compaction { .. } => ResetJobOutcome::Nothing(NothingToCompact::TooLittle),
        ResetReason::Rebase => ResetJobOutcome::Reset(CacheReset {
            base: Some(facts.pieces_upto(job.upto)),
            wire: Some(Wire {
                provider: facts.options.provider().to_owned(),
                model: facts.options.model_name().to_owned(),
                effort: facts.options.effort.clone(),
                ..facts.wire.clone()
            }),
            ..CacheReset::default()
        }),
    };
    Input::JobEnded {
        number: job.number,
        end: Box::new(end),
    }
}

/// Checks that a request shows a valid conversation, whatever rewinds have hidden.
fn shows_whole_turns(runs: &[(Seq, Seq)], all: &[Record]) {
    let mut shown = Conversation::default();
    let among = |seq: Seq| runs.iter().any(|run| (run.0..=run.1).contains(&seq));
    let records = all.iter().filter(|record| among(record.seq));
    records.for_each(|record| shown.take(&record.body));
    assert!(
        shown.unanswered.is_empty() && !shown.lost,
        "I2: what is shown has its results"
    );
}

fn agree(open: &Interaction) -> Input {
    let note = None;
    let answer = match &open.request {
        InteractionRequest::Approval(_) => InteractionAnswer::Approval {
            decision: ApprovalDecision::AllowOnce,
            scope: None,
            note,
            edited_command: None,
        },
        InteractionRequest::Questions { .. } => InteractionAnswer::Questions {
            replies: vec![reply("red")],
        },
        InteractionRequest::Plan { .. } => InteractionAnswer::Plan {
            decision: PlanDecision::Approve,
            note,
        },
        InteractionRequest::Elicitation(_) => elicited(ElicitationDecision::Accept, Some("Ann")),
    };
    Input::Resolved(Box::new(crate::input::InteractionResolution {
        interaction_id: open.interaction_id.clone(),
        answer: Some(answer),
        edit: None,
        reason: None,
        by: "ann".into(),
        unattended: false,
        request_id: None,
    }))
}

/// Builds a log of these records after the first one, each with its turn.
fn log(records: Vec<(Option<u64>, Body)>) -> Vec<Record> {
    let first = (None, Body::SessionCreated(created(Kind::Interactive, 0, 0)));
    std::iter::once(first)
        .chain(records)
        .zip(1..)
        .map(|((turn, body), seq)| Record {
            seq: Seq(seq),
            at: Stamp(1),
            turn,
            body,
        })
        .collect()
}

fn turn_starts(number: u64) -> (Option<u64>, Body) {
    let prompt_id = prompt_id(number);
    (Some(number), Body::TurnStarted(TurnStarted { prompt_id }))
}

fn prompt(number: u64) -> (Option<u64>, Body) {
    let prompt = PromptQueued {
        untyped: Vec::new(),
        from: None,
        added: None,
        references: None,
        on_ask: None,
        prompt_id: prompt_id(number),
        text: "go".into(),
        steer: false,
        by: "ann".into(),
        request_id: None,
    };
    (None, Body::PromptQueued(prompt))
}

fn said(number: u64) -> (Option<u64>, Body) {
    let message = proto::item::UserMessage {
        item: ItemId(format!("m{number}.1")),
        prompt_id: Some(prompt_id(number)),
        text: "go".into(),
        context: None,
        voice: proto::item::Voice::Prompt,
        from: None,
        attached: Vec::new(),
        reported: Vec::new(),
    };
    (Some(number), Body::User(message))
}

fn calls(number: u64, ids: &[&str]) -> (Option<u64>, Body) {
    let message = AssistantMessage {
        item: ItemId(format!("m{number}.2")),
        text: String::new(),
        reasoning: String::new(),
        calls: ids
            .iter()
            .map(|id| ToolCall {
                id: CallId::from(*id),
                name: "write".into(),
                arguments: "{}".into(),
                cut: false,
                found: false,
            })
            .collect(),
        thoughts: Vec::new(),
        finish: Finish::ToolCalls,
    };
    (Some(number), Body::Assistant(message))
}

fn starts(number: u64, id: &str) -> (Option<u64>, Body) {
    let started = ToolStarted {
        kind: proto::item::ToolKind::Other,
        call: CallId::from(id),
        tool: "write".into(),
        subject: String::new(),
        read_only: false,
        outside: false,
    };
    (Some(number), Body::ToolStarted(started))
}

fn result(number: u64, id: &str) -> (Option<u64>, Body) {
    let message = ToolMessage {
        item: ItemId(format!("m{number}.3")),
        call: CallId::from(id),
        tool: "write".into(),
        status: proto::item::CallStatus::Ok,
        text: "ok".into(),
        images: Vec::new(),
    };
    (Some(number), Body::Tool(message))
}

fn turn_ends(number: u64) -> (Option<u64>, Body) {
    let ended = TurnEnded {
        outcome: OutcomeKind::Completed,
        reason: None,
        text: String::new(),
        error: None,
        usage: proto::outcome::UsageTotals::default(),
        tree_usage: None,
        steps: 1,
        tool_calls: 2,
        duration_ms: 1,
        denied: Vec::new(),
        hooks: false,
        supervised: false,
    };
    (Some(number), Body::TurnEnded(ended))
}

fn exits() -> (Option<u64>, Body) {
    let exited = SessionExited {
        outcome: OutcomeKind::Completed,
        reason: None,
        exit_code: 0,
        request_id: None,
    };
    (None, Body::SessionExited(exited))
}

#[test]
fn calls_of_a_turn_that_ended_get_their_results() {
    for policy in POLICIES {
        let mut records = vec![prompt(1), turn_starts(1), said(1), calls(1, &["a", "b"])];
        for more in [starts(1, "a"), result(1, "a")] {
            records.push(more);
            let mut ended = records.clone();
            ended.push(turn_ends(1));
            let machine = recover_and_prompt(&log(ended.clone()), policy).expect("nothing is lost");
            assert_eq!(
                machine.facts().turns,
                2,
                "the next prompt has a turn of its own"
            );
            ended.push(exits());
            recover_and_prompt(&log(ended), policy).expect("nothing is lost");
        }
    }
}

#[test]
fn started_call_of_an_ended_turn_is_not_run_again() {
    for policy in POLICIES {
        let log = log(vec![
            prompt(1),
            turn_starts(1),
            said(1),
            calls(1, &["a", "b"]),
            starts(1, "a"),
            turn_ends(1),
        ]);
        let mut machine = Machine::new(Facts::fold(&log), Limits::default());
        let statuses: Vec<_> = machine
            .recover(policy, None, Now::default())
            .iter()
            .filter_map(|effect| match effect {
                Effect::Append(record) => match &record.body {
                    Body::Tool(message) => Some((message.call.0.clone(), message.status)),
                    _ => None,
                },
                other => panic!("nothing is begun: {other:?}"),
            })
            .collect();
        use proto::item::CallStatus::{Interrupted, Unknown};
        assert_eq!(
            statuses,
            [("a".to_owned(), Unknown), ("b".to_owned(), Interrupted)]
        );
        assert!(machine.is_idle());
        assert_eq!(
            machine.recover(policy, None, Now::default()),
            [],
            "once is enough"
        );
    }
}

#[test]
fn turn_within_a_turn_starts_after_the_first_ones_results() {
    for policy in POLICIES {
        let log = log(vec![
            prompt(1),
            turn_starts(1),
            said(1),
            calls(1, &["a", "b"]),
            prompt(2),
            turn_starts(2),
        ]);
        recover_and_prompt(&log, policy).expect("nothing is lost");
    }
}

#[test]
fn an_answer_outside_a_turn_gets_the_results_of_its_calls() {
    for policy in POLICIES {
        let log = log(vec![prompt(1), said(1), calls(1, &["a"])]);
        recover_and_prompt(&log, policy).expect("nothing is lost");
    }
}

#[test]
fn a_turn_in_an_exited_session_reopens_it() {
    for policy in POLICIES {
        let log = log(vec![exits(), prompt(1), turn_starts(1), said(1)]);
        recover_and_prompt(&log, policy).expect("nothing is lost");
    }
}

#[test]
fn late_prompt_message_follows_the_results() {
    for policy in POLICIES {
        // The prompt's message was removed; the turn still has its calls.
        let log = log(vec![
            prompt(1),
            turn_starts(1),
            calls(1, &["a", "b"]),
            starts(1, "a"),
        ]);
        recover_and_prompt(&log, policy).expect("nothing is lost");
    }
}

proptest! {
    #![proptest_config(random_config())]

    /// Any lines may be missing: nothing panics, and everything repairable is repaired.
    #[test]
    fn a_log_with_holes_goes_on_with_valid_requests(
        seed in any::<u64>().no_shrink(),
        gone in any::<u64>(),
        steps in 0_usize..60,
        goes_on in any::<bool>(),
    ) {
        let policy = POLICIES[usize::from(goes_on)];
        let log: Vec<_> = log_of(seed, steps)
            .into_iter()
            .filter(|record| record.seq.0 == 1 || gone.rotate_left(record.seq.0 as u32) & 7 != 0)
            .collect();
        recover_and_prompt(&log, policy);
    }
}

/// The log of a simulation with random edits: lines are removed, duplicated, moved, or taken from another simulation.
fn edited(seed: u64, steps: usize) -> Vec<Record> {
    let mut chance = super::chance::Chance::new(seed);
    let mut log = log_of(seed, steps);
    let other = log_of(seed ^ 0x5555, steps);
    for _ in 0..=chance.below(4) {
        if log.len() < 3 {
            break;
        }
        let place = 1 + chance.below(log.len() - 1);
        match chance.below(5) {
            0 => drop(log.remove(place)),
            1 => log.insert(place, log[place].clone()),
            2 => {
                let record = log.remove(place);
                log.insert(1 + chance.below(log.len()), record);
            }
            3 => log.insert(place, other[chance.below(other.len())].clone()),
            _ => log.truncate(place),
        }
    }
    for (record, seq) in log.iter_mut().zip(1..) {
        record.seq = Seq(seq);
    }
    log
}

proptest! {
    #![proptest_config(random_config())]

    /// After any edits of the lines, nothing panics, and the session becomes idle.
    #[test]
    fn log_with_moved_lines_continues(
        seed in any::<u64>().no_shrink(),
        steps in 0_usize..60,
        goes_on in any::<bool>(),
    ) {
        recover_and_prompt_with(&edited(seed, steps), POLICIES[usize::from(goes_on)], false);
    }
}

/// Cases that once failed the test above.
#[test]
fn logs_with_moved_lines_that_once_stalled_continue() {
    let cases = [
        (659_948_416_961_590_916, 29),
        (9_517_687_894_071_887_415, 49),
        (18_267_859_405_261_538_825, 7),
        (10_604_893_390_311_641_882, 12),
        (677_360_714_950_960_217, 24),
        (11_076_715_316_640_943_046, 1),
    ];
    for (seed, steps) in cases {
        for policy in POLICIES {
            recover_and_prompt_with(&edited(seed, steps), policy, false);
        }
    }
}

#[test]
fn log_may_end_after_any_record() {
    for seed in 0..40 {
        let log = log_of(seed, 60);
        for end in 1..=log.len() {
            for policy in POLICIES {
                recover_and_prompt(&log[..end], policy).expect("nothing is lost");
            }
        }
    }
}

#[test]
fn absurd_numbers_of_a_provider_stop_at_the_largest() {
    let usage = proto::record::Usage {
        item: proto::ItemId("m1.2".into()),
        provider: String::new(),
        model: String::new(),
        purpose: proto::record::Purpose::Answer,
        step: 1,
        attempt: 1,
        prompt_tokens: u64::MAX,
        cached_tokens: 0,
        expected_cached: None,
        output_tokens: u64::MAX,
        reasoning_tokens: 0,
        cache_write_tokens: 0,
        reported: true,
        cost_micros: Some(u64::MAX),
        request_bytes: 0,
        first_token_ms: 0,
        duration_ms: 0,
        cache_miss: None,
    };
    let mut facts = Facts::default();
    for seq in 1..=2 {
        facts.apply(&Record {
            seq: Seq(seq),
            at: proto::Stamp(0),
            turn: None,
            body: Body::Usage(usage.clone()),
        });
    }
    assert_eq!(facts.usage.prompt_tokens, u64::MAX);
    assert_eq!(facts.context_tokens, u64::MAX);
}
