use proptest::prelude::*;
use proto::hook::{HookEvent, HookFinished, HookOutcome};

use super::*;

#[test]
fn an_exit_of_a_hook_has_the_documented_effect() {
    let ends = [
        (
            HookExit::Exited { code: 0 },
            HookOutcome::Pass,
            HookOutcome::Pass,
        ),
        (
            HookExit::Exited { code: 2 },
            HookOutcome::Block,
            HookOutcome::Warn,
        ),
        (
            HookExit::Exited { code: 1 },
            HookOutcome::Warn,
            HookOutcome::Warn,
        ),
        (
            HookExit::Exited { code: 3 },
            HookOutcome::Warn,
            HookOutcome::Warn,
        ),
        (
            HookExit::Exited { code: 127 },
            HookOutcome::Warn,
            HookOutcome::Warn,
        ),
        (
            HookExit::Exited { code: 255 },
            HookOutcome::Warn,
            HookOutcome::Warn,
        ),
        (
            HookExit::Signal { signal: 9 },
            HookOutcome::Warn,
            HookOutcome::Warn,
        ),
        (
            HookExit::TimedOut,
            HookOutcome::Timeout,
            HookOutcome::Timeout,
        ),
        (
            HookExit::NotStarted("no".to_owned()),
            HookOutcome::Error,
            HookOutcome::Error,
        ),
    ];
    for event in HookEvent::ALL {
        for (end, gating, observing) in &ends {
            let wanted = if event.is_gating() {
                *gating
            } else {
                *observing
            };
            let (got, _) = outcome(event, end, "", None);
            assert_eq!(got, wanted, "{} {end:?}", event.as_str());
            let blocks = event.is_gating()
                && (*end == HookExit::TimedOut || *end == HookExit::Exited { code: 2 });
            assert_eq!(got.blocks(event), blocks, "{} {end:?}", event.as_str());
        }
    }
}

#[test]
fn standard_error_is_the_reason() {
    let blocked = outcome(
        HookEvent::PreToolUse,
        &HookExit::Exited { code: 2 },
        " no rm \n",
        None,
    );
    assert_eq!(blocked, (HookOutcome::Block, Some("no rm".to_owned())));
    let silent = outcome(
        HookEvent::PreToolUse,
        &HookExit::Exited { code: 2 },
        "",
        None,
    );
    assert_eq!(silent.1.as_deref(), Some("it gave no reason"));
    let warned = outcome(HookEvent::Stop, &HookExit::Exited { code: 7 }, "", None);
    assert_eq!(warned.1.as_deref(), Some("it exited with 7"));
    let flood = "ä".repeat(REASON_MAX);
    let (_, reason) = outcome(HookEvent::Stop, &HookExit::Exited { code: 1 }, &flood, None);
    assert!(reason.unwrap().len() <= REASON_MAX + 4);
    let passed = outcome(
        HookEvent::PreToolUse,
        &HookExit::Exited { code: 0 },
        "chatter",
        None,
    );
    assert_eq!(passed, (HookOutcome::Pass, None));
}

#[test]
fn a_claude_code_block_decision_blocks_events_that_can_be_blocked() {
    let says = |stdout| block_reason(stdout);
    assert_eq!(
        says(r#"{"decision":"block","reason":"not so"}"#),
        Some("not so".to_owned())
    );
    assert_eq!(
        says(
            r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"why"}}"#
        ),
        Some("why".to_owned())
    );
    assert_eq!(says(r#"{"continue":false}"#), Some(String::new()));
    for other in [
        "",
        "done",
        "[]",
        "null",
        r#"{"decision":"approve"}"#,
        r#"{"continue":true}"#,
    ] {
        assert_eq!(says(other), None, "{other}");
    }
    let end = HookExit::Exited { code: 0 };
    let no = Some("why".to_owned());
    assert_eq!(
        outcome(HookEvent::PreToolUse, &end, "", no.clone()).0,
        HookOutcome::Block
    );
    assert_eq!(outcome(HookEvent::Stop, &end, "", no).0, HookOutcome::Pass);
}

#[test]
fn a_blocking_hook_is_named_with_its_reason() {
    let mut chain = HookChain::default();
    assert!(chain.take(finished(HookEvent::PreToolUse, HookOutcome::Warn)));
    assert_eq!(chain.why_blocked(), None);
    assert!(!chain.take(HookFinished {
        hook: "no rm".to_owned(),
        reason: Some("denied".to_owned()),
        ..finished(HookEvent::PreToolUse, HookOutcome::Block)
    }));
    assert_eq!(
        chain.why_blocked().unwrap(),
        "The PreToolUse hook `no rm` blocked it: denied"
    );
    let mut late = HookChain::default();
    late.take(HookFinished {
        duration_ms: 5_020,
        ..finished(HookEvent::UserPromptSubmit, HookOutcome::Timeout)
    });
    assert_eq!(
        late.why_blocked().unwrap(),
        "The UserPromptSubmit hook `h` blocked it: it did not finish within 5 s"
    );
}

fn finished(event: HookEvent, outcome: HookOutcome) -> HookFinished {
    HookFinished {
        event,
        hook: "h".to_owned(),
        source: "/s".to_owned(),
        outcome,
        reason: None,
        duration_ms: 1,
        call: None,
    }
}

proptest! {
    /// Only the first block stops the chain, and observing events cannot be blocked.
    #[test]
    fn a_chain_ends_at_the_first_block(
        event in prop::sample::select(HookEvent::ALL.to_vec()),
        ends in prop::collection::vec((0u8..4, 0i32..4), 0..12),
    ) {
        let outcomes: Vec<_> = ends
            .iter()
            .map(|(kind, code)| match kind {
                0 => HookExit::Exited { code: *code },
                1 => HookExit::Signal { signal: *code },
                2 => HookExit::TimedOut,
                _ => HookExit::NotStarted(String::new()),
            })
            .map(|end| outcome(event, &end, "", None).0)
            .collect();
        let mut chain = HookChain::default();
        for outcome in &outcomes {
            if !chain.take(finished(event, *outcome)) {
                break;
            }
        }
        let first = outcomes.iter().position(|outcome| outcome.blocks(event));
        prop_assert_eq!(chain.finished.len(), first.map_or(outcomes.len(), |at| at + 1));
        prop_assert_eq!(chain.blocked().is_some(), first.is_some());
        prop_assert_eq!(chain.why_blocked().is_some(), first.is_some());
        if !event.is_gating() {
            prop_assert!(first.is_none());
        }
    }
}
