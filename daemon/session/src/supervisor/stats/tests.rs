use proptest::prelude::*;

use super::*;

fn wanted(ahead_minutes: i32) -> StatsFilter {
    StatsFilter::new(
        &StatsParams {
            utc_offset_minutes: ahead_minutes,
            ..StatsParams::default()
        },
        None,
    )
}

fn used(prompt_tokens: u64) -> UsageTotals {
    UsageTotals {
        requests: 1,
        prompt_tokens,
        ..UsageTotals::default()
    }
}

fn of(model: &str, session: Option<Pid>) -> Of<'_> {
    Of {
        model,
        purpose: Purpose::Answer,
        session,
    }
}

fn at(text: &str) -> Stamp {
    text.parse().unwrap()
}

fn keys(rows: &[StatsRow]) -> Vec<(&str, u64)> {
    let key = |row: &StatsRow| row.usage.prompt_tokens;
    rows.iter()
        .map(|row| (row.key.as_str(), key(row)))
        .collect()
}

#[test]
fn days_begin_where_the_callers_clock_says() {
    for (ahead, days) in [
        (0, vec![("2026-11-20", 1), ("2026-11-21", 2)]),
        (30, vec![("2026-11-21", 3)]),
        (-60, vec![("2026-11-20", 3)]),
    ] {
        let mut sums = Sums::new(wanted(ahead));
        sums.add(
            at("2026-11-20T23:45:00.000Z"),
            of("v/m", Some(Pid(1))),
            1,
            &used(1),
        );
        sums.add(
            at("2026-11-21T00:15:00.000Z"),
            of("v/m", Some(Pid(1))),
            1,
            &used(2),
        );
        assert_eq!(keys(&sums.finish().days), days, "{ahead}");
    }
}

#[test]
fn models_and_sessions_come_by_their_tokens_and_deleted_ones_are_one_row() {
    let mut sums = Sums::new(wanted(0));
    let now = at("2026-11-21T00:15:00.000Z");
    sums.add(now, of("v/small", Some(Pid(1))), 1, &used(1));
    sums.add(now, of("v/large", Some(Pid(2))), 1, &used(7));
    sums.add(now, of("v/small", None), 0, &used(2));
    sums.add(now, of("v/small", None), 0, &used(3));
    sums.add(now, of("", None), 5, &UsageTotals::default());
    let out = sums.finish();
    assert_eq!(keys(&out.models), [("v/large", 7), ("v/small", 6)]);
    assert_eq!(keys(&out.sessions), [("2", 7), ("deleted", 5), ("1", 1)]);
    assert_eq!(
        (out.total.usage.requests, out.total.usage.prompt_tokens),
        (4, 13)
    );
    assert_eq!(keys(&out.purposes), [("answer", 13)]);
    // Turns are of sessions and days, and of no model.
    assert_eq!(out.total.turns, 7);
    assert!(
        out.models
            .iter()
            .chain(&out.purposes)
            .all(|row| row.turns == 0)
    );
}

#[test]
fn the_quarter_that_since_is_in_counts() {
    let params = StatsParams {
        since: Some(at("2026-11-21T00:29:00.000Z")),
        ..StatsParams::default()
    };
    let mut sums = Sums::new(StatsFilter::new(&params, None));
    for (time, tokens) in [("00:00", 1), ("00:15", 2), ("00:30", 4)] {
        let time = at(&format!("2026-11-21T{time}:00.000Z"));
        sums.add(time, of("v/m", None), 0, &used(tokens));
    }
    assert_eq!(sums.finish().total.usage.prompt_tokens, 6);
}

proptest! {
    #[test]
    fn every_stats_grouping_sums_to_the_total(
        all in prop::collection::vec((0i64..10_000_000_000, 0u64..3, prop::option::of(1u64..5), any::<u32>()), 0..40),
        ahead in -720i32..840,
    ) {
        let mut sums = Sums::new(wanted(ahead));
        for (ms, model, pid, tokens) in &all {
            let model = format!("v/{model}");
            let usage = used(u64::from(*tokens));
            sums.add(usage_ledger::quarter_start(Stamp(*ms)), of(&model, pid.map(Pid)), 1, &usage);
        }
        let out = sums.finish();
        let tokens = |rows: &[StatsRow]| rows.iter().map(|row| row.usage.prompt_tokens).sum::<u64>();
        for rows in [&out.days, &out.models, &out.sessions, &out.purposes] {
            prop_assert_eq!(tokens(rows), out.total.usage.prompt_tokens);
        }
        prop_assert_eq!(out.total.usage.requests, all.len() as u64);
    }
}

#[test]
fn hooks_are_counted_by_file_event_and_name_and_those_that_took_longest_come_first() {
    use proto::hook::{HookEvent, HookFinished, HookOutcome};
    let mut hooked = hooked::HookTally::default();
    let ran = |hook: &str, event, outcome, duration_ms| HookFinished {
        event,
        hook: hook.to_owned(),
        source: "/home/settings.json".to_owned(),
        outcome,
        reason: None,
        duration_ms,
        call: None,
    };
    for one in [
        ran("lint", HookEvent::PreToolUse, HookOutcome::Pass, 10),
        ran("lint", HookEvent::PreToolUse, HookOutcome::Block, 20),
        ran("lint", HookEvent::PreToolUse, HookOutcome::Timeout, 30),
        ran("lint", HookEvent::PreToolUse, HookOutcome::Warn, 5),
        ran("lint", HookEvent::Stop, HookOutcome::Timeout, 500),
        ran("lint", HookEvent::Stop, HookOutcome::Error, u64::MAX),
    ] {
        hooked.count(&one);
    }
    let rows = hooked.finish();
    let counts = |row: &proto::params::history::HookRow| {
        (row.event, row.runs, row.blocked, row.failed, row.time_ms)
    };
    let counted: Vec<_> = rows.iter().map(counts).collect();
    assert_eq!(
        counted,
        [
            (HookEvent::Stop, 2, 0, 2, u64::MAX),
            (HookEvent::PreToolUse, 4, 2, 1, 65),
        ]
    );
}

#[test]
fn tools_are_counted_by_name_and_the_longest_results_come_first() {
    use proto::item::{CallStatus, ToolMessage};
    let mut tooled = tooled::ToolTally::default();
    let message = |tool: &str, text: &str| {
        proto::Body::Tool(ToolMessage {
            item: proto::ItemId("i".into()),
            call: proto::CallId("c".into()),
            tool: tool.into(),
            status: CallStatus::Ok,
            text: text.into(),
            images: Vec::new(),
        })
    };
    let finished = |tool: &str, status: &str, duration_ms: u64| {
        let json = serde_json::json!({
            "call": "c", "tool": tool, "status": status, "duration_ms": duration_ms,
            "display": {"type": "line", "text": ""},
        });
        proto::Body::ToolFinished(serde_json::from_value(json).unwrap())
    };
    for body in [
        finished("ls", "ok", 3),
        message("ls", "abcd"),
        finished("grep", "failed", u64::MAX),
        message("grep", "中文中文"),
        finished("grep", "denied", 1),
        message("grep", ""),
    ] {
        tooled.count(&body);
    }
    let rows = tooled.finish();
    let reported = |row: &proto::params::history::ToolRow| {
        (
            row.tool.clone(),
            (row.calls, row.failed, row.time_ms),
            (row.result_bytes, row.result_tokens),
        )
    };
    let reported: Vec<_> = rows.iter().map(reported).collect();
    assert_eq!(
        reported,
        [
            ("grep".to_owned(), (2, 2, u64::MAX), (12, 4)),
            ("ls".to_owned(), (1, 0, 3), (4, 1)),
        ]
    );
}
