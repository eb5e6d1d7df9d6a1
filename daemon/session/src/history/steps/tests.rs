//! Logs as sessions write them, and the steps that are in them.

use proto::item::{AssistantMessage, CallStatus, Display, Finish, ToolCall, ToolMessage};
use proto::params::interaction::{
    Approval, ApprovalDecision, Interaction, InteractionAnswer, InteractionRequest,
};
use proto::record::{InteractionResolved, PolicyDecided, ToolFinished, ToolStarted, Verdict};
use proto::{ItemId, Pid, Seq};

use super::*;

/// A log in the making: each record a second after the one before.
#[derive(Default)]
struct Log {
    records: Vec<Record>,
    turn: u64,
}

impl Log {
    fn add(&mut self, body: Body) -> &mut Self {
        let seq = Seq(self.records.len() as u64 + 1);
        self.records.push(Record {
            seq,
            at: Stamp(seq.0.cast_signed() * 1_000),
            turn: Some(self.turn),
            body,
        });
        self
    }

    fn usage(&mut self, item: &str, attempt: u32, prompt_tokens: u64) -> &mut Self {
        self.add(Body::Usage(Usage {
            item: ItemId(item.into()),
            provider: String::new(),
            model: String::new(),
            purpose: proto::record::Purpose::Answer,
            step: 1,
            attempt,
            prompt_tokens,
            cached_tokens: 2,
            expected_cached: None,
            output_tokens: 3,
            reasoning_tokens: 0,
            cache_write_tokens: 0,
            reported: true,
            cost_micros: None,
            request_bytes: 400,
            first_token_ms: 50,
            duration_ms: 60,
            cache_miss: None,
        }))
    }

    fn says(&mut self, item: &str, text: &str, calls: &[&str]) -> &mut Self {
        let calls = calls.iter().map(|call| ToolCall {
            id: CallId((*call).into()),
            name: "bash".into(),
            arguments: "{}".into(),
            cut: false,
            found: false,
        });
        self.add(Body::Assistant(AssistantMessage {
            item: ItemId(item.into()),
            text: text.into(),
            reasoning: String::new(),
            calls: calls.collect(),
            thoughts: Vec::new(),
            finish: Finish::Stop,
        }))
    }

    fn started(&mut self, call: &str, subject: &str) -> &mut Self {
        self.add(Body::ToolStarted(ToolStarted {
            kind: proto::item::ToolKind::Other,
            outside: false,
            call: CallId(call.into()),
            tool: "bash".into(),
            subject: subject.into(),
            read_only: false,
        }))
    }

    fn finished(&mut self, call: &str, status: CallStatus, duration_ms: u64) -> &mut Self {
        self.add(Body::ToolFinished(ToolFinished {
            changed: Vec::new(),
            known: Vec::new(),
            reported: Vec::new(),
            skill: None,
            agent: None,
            call: CallId(call.into()),
            tool: "bash".into(),
            status,
            duration_ms,
            display: Display::Line {
                text: String::new(),
            },
            spill: None,
        }))
    }

    fn result(&mut self, call: &str, status: CallStatus) -> &mut Self {
        self.add(Body::Tool(ToolMessage {
            item: ItemId("m1.9".into()),
            call: CallId(call.into()),
            tool: "bash".into(),
            status,
            text: "a result".into(),
            images: Vec::new(),
        }))
    }

    fn decided(&mut self, call: &str, verdict: Verdict, subject: &str) -> &mut Self {
        self.add(Body::PolicyDecided(PolicyDecided {
            call: CallId(call.into()),
            tool: "bash".into(),
            verdict,
            rule: "fallback".into(),
            layer: "built-in".into(),
            read_only: false,
            unattended: None,
            subject: subject.into(),
            why: None,
            input_sha256: String::new(),
        }))
    }

    fn asked(&mut self, id: &str, call: &str) -> &mut Self {
        self.add(Body::InteractionOpened(Interaction {
            interaction_id: InteractionId(id.into()),
            session: Pid(1),
            call: CallId(call.into()),
            shown_hash: String::new(),
            opened_at: Stamp(0),
            request: InteractionRequest::Approval(Approval {
                review: None,
                escape: None,
                quarantined: Vec::new(),
                programs: Vec::new(),
                left_out: Vec::new(),
                again: false,
                tool: "bash".into(),
                kind: proto::item::ToolKind::Other,
                subject: "rm it".into(),
                preview: Display::Line {
                    text: String::new(),
                },
                rule: String::new(),
                scopes: Vec::new(),
                following: 0,
                adds_dir: None,
                editable: false,
            }),
        }))
    }

    fn answered(&mut self, id: &str, call: &str) -> &mut Self {
        self.add(Body::InteractionResolved(InteractionResolved {
            interaction_id: InteractionId(id.into()),
            call: CallId(call.into()),
            answer: Some(InteractionAnswer::Approval {
                decision: ApprovalDecision::AllowOnce,
                scope: None,
                note: None,
                edited_command: None,
            }),
            edit: None,
            reason: None,
            by: "ann".into(),
            unattended: false,
            request_id: None,
        }))
    }

    fn steps(&self, wanted: StepFilter) -> StepsOutput {
        let mut steps = Steps::new(wanted);
        for record in &self.records {
            if Steps::reads(record.body.kind()) {
                steps.take(record);
            }
        }
        steps.finish()
    }
}

#[test]
fn a_step_is_an_answer_with_what_it_took_and_the_calls_it_led_to() {
    let mut log = Log {
        turn: 4,
        ..Log::default()
    };
    log.usage("m4.2", 1, 7)
        .usage("m4.2", 2, 10)
        .says("m4.2", "\n  First line. \nSecond.", &["a", "b", "c"])
        .decided("a", Verdict::Allow, "ls")
        .started("a", "ls")
        .finished("a", CallStatus::Failed, 12)
        .result("a", CallStatus::Failed)
        .decided("b", Verdict::Ask, "rm it")
        .asked("1.1", "b")
        .answered("1.1", "b")
        .started("b", "rm it")
        .decided("c", Verdict::Deny, "curl")
        .result("c", CallStatus::Denied);
    let out = log.steps(StepFilter::default());
    assert_eq!(out.next, None);
    let [step] = &out.steps[..] else {
        panic!("{out:?}")
    };
    let call = |call: &str, subject: &str, status, duration_ms, asked_ms| StepCall {
        call: call.into(),
        tool: "bash".into(),
        subject: subject.into(),
        status,
        duration_ms,
        asked_ms,
    };
    let expected = Step {
        n: 1,
        turn: 4,
        seq: Seq(3),
        at: Stamp(3_000),
        attempts: 2,
        request_bytes: 400,
        first_token_ms: 50,
        duration_ms: 60,
        prompt_tokens: 10,
        cached_tokens: 2,
        output_tokens: 3,
        text: "First line.".into(),
        calls: vec![
            call("a", "ls", Some(CallStatus::Failed), 12, 0),
            call("b", "rm it", None, 0, 1_000),
            call("c", "curl", Some(CallStatus::Denied), 0, 0),
        ],
    };
    assert_eq!(*step, expected);
}

#[test]
fn usage_of_one_request_is_not_attributed_to_another_answer() {
    let mut log = Log::default();
    // A try that was counted and came to nothing; the kept part of the next one has no separate count.
    log.usage("m0.1", 1, 7).says("m0.2", "partial", &[]);
    let out = log.steps(StepFilter::default());
    assert_eq!((out.steps[0].prompt_tokens, out.steps[0].attempts), (0, 1));
}

#[test]
fn pages_join_without_gap_or_repeat() {
    let mut log = Log::default();
    for number in 1..=25 {
        log.turn = number / 10 + 1;
        log.says(&format!("m{number}"), "words", &["x"]);
    }
    for limit in 1..=26 {
        let (mut after, mut seen) = (0, Vec::new());
        loop {
            let page = log.steps(StepFilter {
                turn: None,
                after,
                limit,
            });
            assert!(page.steps.len() as u64 <= limit);
            seen.extend(page.steps.iter().map(|step| step.n));
            match page.next {
                Some(next) => after = next,
                None => break,
            }
        }
        assert_eq!(seen, (1..=25).collect::<Vec<_>>(), "limit {limit}");
    }
    let of_turn = log.steps(StepFilter {
        turn: Some(2),
        ..StepFilter::default()
    });
    let numbers: Vec<_> = of_turn.steps.iter().map(|step| step.n).collect();
    assert_eq!(numbers, (10..=19).collect::<Vec<_>>());
}

#[test]
fn a_page_fits_a_frame() {
    let mut log = Log::default();
    let subject = "€".repeat(50_000);
    for number in 1..=400 {
        log.says(&format!("m{number}"), &"€".repeat(1_000), &["x"])
            .started("x", &subject);
    }
    let page = log.steps(StepFilter {
        limit: 10_000,
        ..StepFilter::default()
    });
    assert!(serde_json::to_string(&page).expect("JSON").len() < PAGE_BYTES + 1_000);
    assert_eq!(page.next, Some(page.steps.len() as u64));
    assert!(page.steps.len() > 100, "{}", page.steps.len());
    assert_eq!(page.steps[0].text.chars().count(), 120);
    assert_eq!(page.steps[0].calls[0].subject.chars().count(), SUBJECT_MAX);
}
