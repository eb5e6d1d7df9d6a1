//! How a transcript looks to users.

use client::DecodedEvent;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::messages::Language;
use crate::model::transcript::tests::scene::*;
use crate::render::wrap;
use crate::theme::{TextRole, Theme};

fn look(columns: u16, language: Language) -> ViewOptions {
    ViewOptions {
        columns,
        language,
        ..ViewOptions::default()
    }
}

fn narrow() -> ViewOptions {
    look(40, Language::English)
}

fn folded(events: &[DecodedEvent]) -> Transcript {
    let mut transcript = Transcript::default();
    for event in events {
        transcript.fold(event);
    }
    transcript
}

/// Rows of the whole transcript in full screen.
fn height(transcript: &Transcript, look: &ViewOptions, cache: &mut Cache) -> usize {
    Below::of(transcript, look, cache, 0).rows
}

fn all(transcript: &Transcript, look: &ViewOptions) -> Vec<Line<'static>> {
    let mut cache = Cache::default();
    let rows = height(transcript, look, &mut cache);
    page(transcript, look, &mut cache, 0, rows)
}

fn texts(rows: &[Line<'static>]) -> Vec<String> {
    let rows = rows.iter().map(|row| row.to_string().trim_end().to_owned());
    rows.collect()
}

fn shown(events: &[DecodedEvent], look: &ViewOptions) -> Vec<String> {
    texts(&all(&folded(events), look))
}

fn user(seq: u64, text: &str, voice: &str) -> DecodedEvent {
    let data = json!({"item": "m1.0", "text": text, "voice": voice});
    event(Some(seq), "message.user", &data)
}

fn command(code: i32, tail: &str) -> Value {
    json!({"type": "command", "exit_code": code, "signal": null, "output_bytes": tail.len(), "tail": tail})
}

/// A turn as it commonly is.
fn turn() -> Vec<DecodedEvent> {
    let diff = json!({"type": "diff", "path": "src/a.rs", "added": 1, "removed": 1,
        "diff": "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1 @@\n-old\n+new\n"});
    vec![
        user(1, "make it new, wherever it is old, and tell me", "prompt"),
        message(2, "**The plan**\n\nFirst a look.", "", "tool_calls"),
        started(3, "a", "edit_file", "src/a.rs"),
        finished(4, "a", "ok", &diff),
        started(5, "b", "bash", "cargo test --workspace --all-features"),
        finished(6, "b", "failed", &command(101, "1\n2\n3\n4\n5\n6\n7\n")),
        user(7, "also the docs", "steer"),
        event(
            Some(8),
            "message.assistant",
            &json!({"item": "m1.4", "text": "Done.", "finish": "length"}),
        ),
        ended(9, "completed", 72_000, &json!([])),
    ]
}

#[test]
fn a_turn_reads_well_at_forty_columns() {
    assert_eq!(
        shown(&turn(), &narrow()),
        [
            "▌> make it new, wherever it is old, and",
            "▌  tell me",
            "",
            "∴ thought: The plan",
            "",
            "✓ edit_file src/a.rs · +1 −1",
            "   1 - old",
            "   1 + new",
            "✗ bash cargo test --workspac… · exit 101",
            "  │ … 2 earlier lines (/view expands)",
            "  │ 3",
            "  │ 4",
            "  │ 5",
            "  │ 6",
            "  │ 7",
            "",
            "▌» also the docs",
            "",
            "Done.",
            "! the output limit cut off the answer",
            "",
            "· worked for 1m 12s · 34k tokens · $0.01",
        ]
    );
}

#[test]
fn turn_is_shown_in_chinese_with_reasoning_and_output_expanded() {
    let chinese = ViewOptions {
        output: true,
        reasoning: true,
        ..look(80, Language::Chinese)
    };
    let rows = shown(&turn(), &chinese);
    let expected = [
        "∴ **The plan**",
        "  First a look.",
        "✗ bash cargo test --workspace --all-features · 退出码 101",
        "  │ 1",
        "! 回答因达到输出上限而被截断",
        "· 用时 1m 12s · 34k 词元 · $0.01",
    ];
    for line in expected {
        assert!(rows.iter().any(|row| row == line), "{line}: {rows:#?}");
    }
}

#[test]
fn daemon_messages_are_shown_in_the_interface_language() {
    let notice = "The daemon was restarted; the session is still paused.";
    let compaction = json!({"trigger": "auto", "tokens_before": 80_000, "tokens_after": 30_000,
        "folded": 1, "shortened": 0, "kept": 2});
    let refused = "The provider did not compact the conversation (no such route), so the model writes a summary.";
    let by_provider = json!({"trigger": "auto", "tokens_before": 80_000, "tokens_after": 30_000,
        "folded": 1, "shortened": 0, "kept": 2, "server": true});
    let events = [
        event(Some(1), "notice", &json!({"level": "info", "text": notice})),
        event(
            Some(2),
            "cache.reset",
            &json!({"reason": "compaction", "compaction": compaction}),
        ),
        event(
            Some(3),
            "message.pinned",
            &json!({"item": "m1", "pinned": true, "by": "ann"}),
        ),
        event(
            Some(4),
            "session.state",
            &json!({"state": "waiting", "waiting_for": "credentials", "cause": "no key for `x`"}),
        ),
        event(
            Some(5),
            "notice",
            &json!({"level": "info", "text": refused}),
        ),
        event(
            Some(6),
            "cache.reset",
            &json!({"reason": "compaction", "compaction": by_provider}),
        ),
    ];
    let rows = shown(&events, &look(80, Language::Chinese));
    assert_eq!(
        rows,
        [
            "· 守护进程已重启；会话仍处于暂停状态。",
            "· 缓存重置：压缩, 约从 80000 到 30000 词元, 摘要 1 条消息, 原样保留 2 条",
            "· 已固定 m1，压缩时原样保留（ann）",
            "! 需要密钥：没有 `x` 的密钥",
            "· 服务商没有压缩对话（no such route），摘要由模型撰写。",
            "· 缓存重置：压缩, 约从 80000 到 30000 词元, 摘要 1 条消息, 原样保留 2 条, 由服务",
            "  商压缩",
        ]
    );
}

#[test]
fn reasoning_is_dim_folded_and_open() {
    for reasoning in [false, true] {
        let look = ViewOptions {
            reasoning,
            ..look(80, Language::English)
        };
        let (dim, plain) = (
            look.theme.style(TextRole::Dim),
            look.theme.style(TextRole::Text),
        );
        assert_ne!(dim, plain);
        let rows = all(&folded(&turn()), &look);
        let thought = rows.iter().find(|row| row.to_string().contains("The plan"));
        let words = thought.expect("the reasoning").spans.iter();
        let words = words.filter(|span| !span.content.trim().is_empty());
        assert!(words.clone().count() > 0);
        assert!(words.clone().all(|span| span.style == dim), "{thought:?}");
    }
}

#[test]
fn a_running_command_shows_the_end_of_its_output() {
    let mut events = vec![started(
        1,
        "c",
        "bash",
        "make -j 你好世界你好世界你好世界你好世界",
    )];
    events.push(output("c", 0, "1\n2\n3\n4\n5\n6"));
    assert_eq!(
        shown(&events, &narrow()),
        [
            "• bash make -j 你好世界你好世界你好世界…",
            "  │ … 2 earlier lines (/view expands)",
            "  │ 3",
            "  │ 4",
            "  │ 5",
            "  │ 6"
        ]
    );
}

#[test]
fn outcomes_of_calls_are_shown_by_mark_and_word() {
    let line = |text: &str| json!({"type": "line", "text": text});
    let cases = [
        (
            "ok",
            line("src/a.rs: 120 lines"),
            "✓ bash src/a.rs · 120 lines",
            "",
        ),
        ("ok", command(0, ""), "✓ bash src/a.rs", ""),
        ("ok", command(0, "a\n"), "✓ bash src/a.rs · 1 line", "  │ a"),
        (
            "failed",
            line("no such file"),
            "✗ bash src/a.rs",
            "  │ no such file",
        ),
        (
            "denied",
            line("by a rule"),
            "⊘ bash src/a.rs · denied",
            "  │ by a rule",
        ),
        ("refused", line(""), "⊘ bash src/a.rs · not run", ""),
        ("interrupted", line(""), "■ bash src/a.rs · interrupted", ""),
        (
            "unknown",
            line(""),
            "? bash src/a.rs · the daemon stopped",
            "",
        ),
    ];
    for (status, display, head, body) in cases {
        let rows = shown(
            &[
                started(1, "c", "bash", "src/a.rs"),
                finished(2, "c", status, &display),
            ],
            &look(80, Language::English),
        );
        assert!(rows[0].starts_with(head), "{status}: {rows:?}");
        assert_eq!(rows.get(1).map_or("", String::as_str), body, "{status}");
    }
}

#[test]
fn long_things_are_folded_and_open_wholly() {
    let long: String = (0..40).map(|n| format!("+line {n}\n")).collect();
    let prompt: String = (0..30).map(|n| format!("line {n}\n")).collect();
    let diff = json!({"type": "diff", "path": "a", "added": 40, "removed": 0,
        "diff": format!("--- /dev/null\n+++ b/a\n@@ -0,0 +1,40 @@\n{long}")});
    let events = [
        user(1, &prompt, "prompt"),
        started(2, "c", "write_file", "a"),
        finished(3, "c", "ok", &diff),
    ];
    let rows = shown(&events, &narrow());
    assert!(
        rows.contains(&"▌  … 18 more lines (/view expands)".to_owned()),
        "{rows:#?}"
    );
    assert!(rows.len() < 12 + 1 + 1 + 1 + 22, "{rows:#?}");
    // If nothing is printed for good, the key opens it.
    let full = ViewOptions {
        fullscreen: true,
        ..narrow()
    };
    let rows = shown(&events, &full);
    assert!(
        rows.contains(&"▌  … 18 more lines (Ctrl-B expands)".to_owned()),
        "{rows:#?}"
    );
    let open = ViewOptions {
        output: true,
        ..narrow()
    };
    let rows = shown(&events, &open);
    assert!(
        rows.iter().any(|row| row.contains("line 39")) && rows.len() > 70,
        "{rows:#?}"
    );
    let transcript = folded(&events);
    let one = entry(
        &transcript.entries[1],
        &narrow(),
        &mut Cache::default(),
        0,
        true,
    );
    assert!(one.len() > 40, "one is opened by itself");
}

#[test]
fn reprinting_begins_with_a_part_on_the_screen() {
    let transcript = folded(&turn());
    let (look, mut cache) = (narrow(), Cache::default());
    let mut printed = Printed::default();
    let rows = settled(&transcript, &mut printed, &look, &mut cache, usize::MAX);
    assert_eq!(texts(&bare(&rows)), texts(&all(&transcript, &look)));
    let begun = |from: usize| -> Vec<PartIndex> {
        let rows = rows.iter().skip(from);
        rows.filter_map(|row| row.begins).collect()
    };
    for look in [
        look.clone(),
        ViewOptions {
            columns: 25,
            ..look
        },
    ] {
        let all = texts(&all(&transcript, &look));
        for from in 0..rows.len() {
            let again = again(&transcript, &printed, &look, &mut cache, &begun(from));
            let Some((place, rows)) = again else {
                assert_eq!(begun(from), []);
                continue;
            };
            assert_eq!(Some(&place), begun(from).first());
            assert_eq!(rows[0].begins, Some(place));
            assert!(all.ends_with(&texts(&bare(&rows))), "from row {from}");
        }
    }
    let look = narrow();
    assert!(again(&transcript, &printed, &look, &mut cache, &[]).is_none());
}

#[test]
fn reasoning_that_is_folded_now_is_not_printed_again_from_its_middle() {
    let mut transcript = Transcript::default();
    let thought: String = (0..30).map(|line| format!("Thought {line}.\n")).collect();
    transcript.fold(&delta("delta.reasoning", "m1.1", 0, &thought));
    let data = json!({"item": "m1.1", "text": "So be it.", "reasoning": thought, "finish": "stop"});
    transcript.fold(&event(Some(1), "message.assistant", &data));
    let (open, mut cache) = (
        ViewOptions {
            reasoning: true,
            ..narrow()
        },
        Cache::default(),
    );
    let mut printed = Printed::default();
    let rows = settled(&transcript, &mut printed, &open, &mut cache, usize::MAX);
    let places: Vec<PartIndex> = rows.iter().filter_map(|row| row.begins).collect();
    let inner = places.iter().position(|place| place.part > 0);
    let visible = &places[inner.expect("reasoning in parts")..];
    let from = |look: &ViewOptions, printed: &Printed| {
        let again = again(&transcript, printed, look, &mut Cache::default(), visible);
        texts(&bare(&again.unwrap().1)).join("|")
    };
    assert!(from(&open, &printed).contains("Thought 29."));
    let folded = from(&narrow(), &printed);
    assert_eq!(folded.trim_start_matches('|'), "So be it.");
}

/// The lines themselves.
fn bare(rows: &[PrintedLine]) -> Vec<Line<'static>> {
    rows.iter().map(|row| row.line.clone()).collect()
}

/// Text that would harm a terminal or a reader.
const HOSTILE: &str =
    "a\u{1b}]0;title\u{7}b\u{1b}[2Jc\u{9b}31md\u{202e}e\u{200b}f\r\ng\th\u{7f}\u{0}你\u{2028}好👩‍👩‍👧";

fn hostile() -> Vec<DecodedEvent> {
    let id = "01890000-0000-7000-8000-0000000000aa";
    let h = HOSTILE;
    let line = json!({"type": "line", "text": h});
    let diff = json!({"type": "diff", "path": h, "added": 1, "removed": 1,
        "diff": format!("--- a/{h}\n+++ b/{h}\n@@ -1 +1 @@\n-{h}\n+{h}\n")});
    let error = json!({"name": "internal", "message": h, "hint": h});
    let denied = json!([{"call": "x", "tool": h, "subject": h, "why": h}]);
    let ended = serde_json::to_value(ended(90, "failed", 5, &denied)).unwrap();
    let mut end = ended["data"].clone();
    end["error"] = error;
    let mut records = vec![
        ("message.user", json!({"item": "m1.0", "text": h})),
        (
            "message.assistant",
            json!({"item": "m1.1", "reasoning": h, "text": h, "finish": "interrupted"}),
        ),
        ("notice", json!({"level": "error", "text": h})),
        ("cache.reset", json!({"reason": h})),
        ("session.set", json!({"paused": true, "by": h})),
        ("session.reopened", json!({"by": h})),
        (
            "session.state",
            json!({"state": "waiting", "waiting_for": "credentials", "cause": h}),
        ),
        (
            "prompt.queued",
            json!({"prompt_id": id, "text": h, "by": h}),
        ),
        (
            "prompt.edited",
            json!({"prompt_id": id, "text": h, "by": h}),
        ),
        (
            "prompt.moved",
            json!({"prompt_id": id, "position": 1, "by": h}),
        ),
        ("prompt.unqueued", json!({"prompt_id": id})),
        (
            "child.spawned",
            json!({"pid": 9, "kind": "shell", "call": "c", "command": h}),
        ),
        ("child.exited", json!({"pid": 9, "cause": h})),
        ("checkpoint.created", json!({"skipped": h})),
        (
            "interaction.resolved",
            json!({"interaction_id": h, "call": "q",
                "answer": {"type": "approval", "decision": "deny", "note": h}, "by": h}),
        ),
        (
            "interaction.resolved",
            json!({"interaction_id": h, "call": "q",
                "answer": {"type": "questions", "replies": [{"labels": [h], "other": h}]}, "by": h}),
        ),
        (
            "session.rewound",
            json!({"to_turn": 1, "what": "both", "by": h, "files": [
            {"path": h, "result": {"did": "restored"}, "before": {"is": "absent"}, "after": {"is": "absent"}},
            {"path": h, "result": {"did": "failed", "why": h}, "before": {"is": "absent"}, "after": {"is": "absent"}}]}),
        ),
        ("turn.ended", end),
    ];
    for (call, status, display) in [
        ("a", "failed", line),
        ("b", "ok", diff),
        ("c", "failed", command(1, h)),
    ] {
        records.push((
            "tool.started",
            json!({"call": call, "tool": h, "subject": h, "read_only": true}),
        ));
        records.push((
            "tool.finished",
            json!({"call": call, "tool": h, "status": status, "duration_ms": 2000,
            "display": display, "spill": h}),
        ));
    }
    records.push((
        "tool.started",
        json!({"call": "r", "tool": h, "subject": h, "read_only": true}),
    ));
    let mut events: Vec<_> = (1..)
        .zip(records)
        .map(|(seq, (kind, data))| event(Some(seq), kind, &data))
        .collect();
    events.push(output("r", 0, h));
    events.push(delta("delta.reasoning", "m2.1", 0, h));
    events.push(delta("delta.text", "m2.1", 0, h));
    events
}

#[test]
fn nothing_that_a_terminal_obeys_reaches_it_and_no_row_is_too_wide() {
    let mut transcript = folded(&hostile());
    transcript.divide(HOSTILE);
    assert!(transcript.entries.len() > 20);
    for (columns, language) in [
        (80, Language::English),
        (40, Language::Chinese),
        (40, Language::English),
    ] {
        for open in [false, true] {
            let look = ViewOptions {
                output: open,
                reasoning: open,
                ..look(columns, language)
            };
            for row in all(&transcript, &look) {
                let words = row.to_string();
                let bad = |letter: char| {
                    letter.is_control() || "\u{202e}\u{200b}\u{2028}".contains(letter)
                };
                assert!(!words.contains(bad), "{words:?}");
                assert!(
                    wrap::width(&words) <= usize::from(columns),
                    "{columns}: {words:?}"
                );
            }
        }
    }
}

#[test]
fn a_page_of_a_hundred_thousand_rows_renders_only_visible_ones() {
    let prompt = "line\n".repeat(10);
    let events: Vec<_> = (1..=9_000)
        .map(|seq| user(seq, &prompt, "prompt"))
        .collect();
    let transcript = folded(&events);
    let look = narrow();
    let mut cache = Cache::default();
    assert_eq!(page(&transcript, &look, &mut cache, 0, 30).len(), 30);
    assert!(cache.kept() < 10, "{} are made", cache.kept());
    assert_eq!(height(&transcript, &look, &mut cache), 9_000 * 11 - 1);
    let top = page(&transcript, &look, &mut cache, usize::MAX, 30);
    assert_eq!(texts(&top)[0], "▌> line");
    assert!(
        cache.kept() < 10,
        "entries that are only counted are not cached"
    );
}

/// Answers of eleven rows each, with code in them.
fn answers(count: u64) -> Transcript {
    let text = format!("Words.\n\n```rust\n{}```\n", "let a = 1;\n".repeat(7));
    let events: Vec<_> = (1..=count)
        .map(|seq| {
            let data = json!({"item": format!("m{seq}.1"), "text": text, "finish": "stop"});
            event(Some(seq), "message.assistant", &data)
        })
        .collect();
    folded(&events)
}

#[test]
fn of_many_rows_at_once_the_newest_are_coloured() {
    let transcript = answers(200);
    let (look, mut cache) = (narrow(), Cache::default());
    let (mut printed, mut rows, mut frames) = (Printed::default(), Vec::new(), 0);
    while waits(&transcript, &printed) {
        let more = bare(&settled(&transcript, &mut printed, &look, &mut cache, 300));
        assert!((300..320).contains(&more.len()) || !waits(&transcript, &printed));
        rows.extend(more);
        frames += 1;
    }
    assert_eq!(frames, 8);
    let whole = all(&transcript, &look);
    assert_eq!(texts(&rows), texts(&whole));
    let coloured = rows.len() - printed::COLOURED;
    assert_eq!(rows[coloured..], whole[coloured..]);
    let plain = (rows.iter().zip(&whole)).position(|(row, other)| row != other);
    assert!(plain.is_some_and(|first| first < 20), "{plain:?}");
    let code = |row: &&Line<'static>| row.to_string().contains("let a");
    assert!(
        rows[..coloured - 60]
            .iter()
            .filter(code)
            .all(|row| row.spans.len() == 2)
    );
    // Nothing is kept of what will not be drawn again.
    assert!(cache.kept() < 200, "{}", cache.kept());
}

#[test]
fn streamed_code_is_coloured() {
    let mut transcript = Transcript::default();
    let (look, mut cache) = (narrow(), Cache::default());
    let (mut printed, mut rows) = (Printed::default(), Vec::new());
    let line = "let a = 1;\n";
    transcript.fold(&delta("delta.text", "m1.1", 0, "```rust\n"));
    for index in 0..900 {
        let at = 8 + index * line.len();
        transcript.fold(&delta("delta.text", "m1.1", at, line));
        let more = settled(&transcript, &mut printed, &look, &mut cache, 1_000);
        rows.extend(bare(&more));
    }
    assert!(rows.len() > 800);
    let whole = all(&transcript, &look);
    assert_eq!(rows, whole[..rows.len()]);
}

#[test]
fn scrolling_stops_at_the_first_row() {
    let transcript = answers(10);
    let (look, mut cache) = (narrow(), Cache::default());
    let all = texts(&all(&transcript, &look));
    let (mut below, mut scroll) = (None, 0_usize);
    let mut press = |by: isize| {
        scroll = scrolled(
            &transcript,
            &look,
            &mut cache,
            &mut below,
            scroll.saturating_add_signed(by),
            20,
        );
        let page = texts(&page(&transcript, &look, &mut cache, scroll, 20));
        let from = all.len() - scroll - 20;
        assert_eq!(page, all[from..from + 20]);
        from
    };
    for _ in 0..20 {
        press(18);
    }
    assert_eq!(press(isize::MAX), 0);
    assert_eq!(press(18), 0);
    assert_eq!(press(-18), 18, "the first key down moves");
}

#[test]
fn a_short_transcript_cannot_be_scrolled() {
    let transcript = answers(1);
    let (look, mut cache) = (narrow(), Cache::default());
    assert_eq!(
        scrolled(&transcript, &look, &mut cache, &mut None, 18, 20),
        0
    );
    assert_eq!(
        scrolled(&transcript, &look, &mut cache, &mut None, 18, 3),
        7
    );
}

#[test]
fn new_rows_below_do_not_move_the_visible_ones() {
    let mut transcript = answers(10);
    let (look, mut cache) = (narrow(), Cache::default());
    let mut below = None;
    let mut scroll = 30;
    let mut seen = None;
    for (at, words) in ["One.\n\n", "Two.\n\n", "Three."].into_iter().enumerate() {
        scroll = scrolled(&transcript, &look, &mut cache, &mut below, scroll, 20);
        let page = texts(&page(&transcript, &look, &mut cache, scroll, 20));
        assert_eq!(*seen.get_or_insert_with(|| page.clone()), page);
        transcript.fold(&delta("delta.text", "m99.1", at * 6, words));
    }
    transcript.fold(&user(99, "more", "prompt"));
    scroll = scrolled(&transcript, &look, &mut cache, &mut below, scroll, 20);
    assert_eq!(
        seen,
        Some(texts(&page(&transcript, &look, &mut cache, scroll, 20)))
    );
    assert!(scroll > 35, "{scroll}");
}

#[test]
fn short_scroll_counts_the_rows_of_nearby_entries_only() {
    let transcript = answers(1_000);
    let (look, mut cache) = (narrow(), Cache::default());
    let mut below = None;
    assert_eq!(
        scrolled(&transcript, &look, &mut cache, &mut below, 18, 20),
        18
    );
    page(&transcript, &look, &mut cache, 18, 20);
    assert!(cache.counted() < 50, "{}", cache.counted());
}

#[test]
fn reasoning_that_grows_is_made_once() {
    let open = ViewOptions {
        reasoning: true,
        ..narrow()
    };
    let mut transcript = Transcript::default();
    let mut cache = Cache::default();
    let mut made = 0;
    for line in 0..1_000 {
        transcript.fold(&delta("delta.reasoning", "m1.1", line * 7, "a line\n"));
        live(&transcript, &Printed::default(), &open, &mut cache, 10);
        made = cache.kept();
    }
    assert!(made > 100, "{made} parts are kept");
    let rows = live(
        &transcript,
        &Printed::default(),
        &open,
        &mut cache,
        usize::MAX,
    );
    assert_eq!(rows.len(), 1_000);
    assert_eq!(texts(&rows[..2]), ["∴ a line", "  a line"]);
    let folded = live(&transcript, &Printed::default(), &narrow(), &mut cache, 10);
    assert_eq!(texts(&folded), ["∴ thinking: a line"]);
}

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a test has few of them")]
enum Step {
    Event(DecodedEvent),
    /// This many rows.
    Print(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let words = prop::sample::select(vec![
        "One.\n\n",
        "two ",
        "```\ncode\n",
        "```\n",
        "- a\n",
        "\n",
        "| a | b |\n|---|---|\n",
        "你好\n\n",
    ]);
    let item = prop::sample::select(vec!["m1.1", "m1.2"]);
    let call = prop::sample::select(vec!["a", "b"]);
    let grow = (item.clone(), words.clone(), 0usize..40, any::<bool>()).prop_map(
        |(item, words, at, text)| {
            let kind = if text {
                "delta.text"
            } else {
                "delta.reasoning"
            };
            Step::Event(delta(kind, item, at, words))
        },
    );
    let whole = (item.clone(), words.clone(), words.clone()).prop_map(|(item, text, reasoning)| {
        let data = json!({"item": item, "text": text.repeat(3), "reasoning": reasoning, "finish": "length"});
        Step::Event(event(Some(1), "message.assistant", &data))
    });
    let live = (item.clone(), words.clone()).prop_map(|(item, words)| {
        Step::Event(sync(
            &json!([{"item": item, "offset": 0, "text": words.repeat(4)}]),
        ))
    });
    let broken = (item, any::<bool>()).prop_map(|(item, superseded)| {
        let data = json!({"item": item, "superseded": superseded});
        Step::Event(event(None, "message.partial", &data))
    });
    let tool = (call, words, 0u8..3).prop_map(|(call, words, what)| {
        Step::Event(match what {
            0 => started(1, call, "bash", words),
            1 => output(call, 0, words),
            _ => finished(1, call, "failed", &command(1, words)),
        })
    });
    let other = prop::sample::select(vec![
        user(1, "hi", "prompt"),
        event(Some(1), "notice", &json!({"level": "info", "text": "hm"})),
        ended(1, "failed", 5, &json!([])),
    ]);
    prop_oneof![
        5 => grow, 2 => whole, 1 => live, 1 => broken, 3 => tool,
        1 => other.prop_map(Step::Event), 2 => Just(Step::Print(usize::MAX)), 1 => (0usize..4).prop_map(Step::Print),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// At any time, however much is printed: the printed and the live lines together are the whole transcript, and
    /// printed lines stay valid.
    #[test]
    fn printed_and_live_lines_are_the_whole_transcript(steps in prop::collection::vec(step(), 0..40), scroll in 0usize..60, rows in 0usize..30) {
        let (look, mut cache) = (narrow(), Cache::default());
        let mut transcript = Transcript::default();
        let (mut printed, mut out) = (Printed::default(), Vec::new());
        for (seq, step) in (1u64..).zip(steps) {
            match step {
                Step::Event(mut event) => {
                    event.seq = event.seq.map(|_| proto::Seq(seq));
                    transcript.fold(&event);
                }
                Step::Print(most) => {
                    let rows = settled(&transcript, &mut printed, &look, &mut cache, most);
                    prop_assert!(rows.len() >= most || !waits(&transcript, &printed));
                    out.extend(bare(&rows));
                }
            }
            let mut seen = out.clone();
            seen.extend(live(&transcript, &printed, &look, &mut cache, usize::MAX));
            prop_assert_eq!(texts(&seen), texts(&all(&transcript, &look)));
        }
        let all = all(&transcript, &look);
        let end = all.len().saturating_sub(scroll).max(rows.min(all.len()));
        let expected = &all[end.saturating_sub(rows)..end];
        let seen = page(&transcript, &look, &mut cache, scroll, rows);
        prop_assert_eq!(seen.len(), rows);
        prop_assert_eq!(texts(&seen[rows - expected.len()..]), texts(expected));
        let few = live(&transcript, &printed, &look, &mut cache, 3);
        let many = live(&transcript, &printed, &look, &mut cache, usize::MAX);
        prop_assert_eq!(texts(&few), texts(&many[many.len().saturating_sub(3)..]));
    }
}

#[test]
fn command_that_reached_a_limit_is_shown_with_that_limit() {
    let display = json!({"type": "command", "exit_code": null, "signal": 15, "output_bytes": 2, "tail": "y\n",
        "stopped": "stopped after 64 MB of output"});
    let events = [
        started(3, "a", "bash", "yes"),
        finished(4, "a", "failed", &display),
    ];
    let seen = shown(&events, &look(80, Language::English));
    assert_eq!(
        seen[0], "✗ bash yes · stopped after 64 MB of output",
        "{seen:?}"
    );
}

#[test]
fn sandbox_denials_differ_from_failures_and_appear_once() {
    let stopped = json!({"type": "command", "exit_code": 1, "signal": null, "output_bytes": 3, "tail": "no\n",
        "sandbox_stopped": true});
    let blocked = event(
        Some(4),
        "tool.blocked",
        &json!({"call": "a", "tool": "bash", "reason": "it writes outside", "status": "failed", "duration_ms": 1,
            "display": stopped, "text": "no"}),
    );
    let begin = vec![started(3, "a", "bash", "touch /etc/x"), blocked];
    let within = [
        "⊘ bash touch /etc/x · exit 1",
        "  │ no",
        "  ! the sandbox may have blocked it: it writes outside",
    ];
    let wide = look(80, Language::English);
    assert_eq!(shown(&begin, &wide), within);
    // Nobody let it out: the end of the call says nothing new.
    let mut ended = begin.clone();
    ended.push(finished(5, "a", "failed", &stopped));
    assert_eq!(shown(&ended, &wide), within);
    let mut again = begin;
    again.push(event(
        Some(5),
        "tool.started",
        &json!({"call": "a", "tool": "bash", "subject": "touch /etc/x", "read_only": false, "outside": true}),
    ));
    again.push(finished(6, "a", "ok", &command(0, "")));
    let seen = shown(&again, &wide);
    assert_eq!(seen[..3], within);
    let last = seen.last().unwrap();
    assert_eq!(last, "✓ bash once outside the sandbox: touch /etc/x");
}

#[test]
fn a_call_that_failed_before_anybody_judged_it_is_named_by_its_arguments() {
    let asked = json!({"item": "m1.1", "text": "", "finish": "tool_calls", "calls": [
        {"id": "c", "name": "edit_file", "arguments": "{\"path\":\"src/a.rs\",\"old_string\":\"x\"}"}]});
    let line = json!({"type": "line", "text": "not read yet"});
    let rows = shown(
        &[
            event(Some(1), "message.assistant", &asked),
            finished(2, "c", "failed", &line),
        ],
        &look(80, Language::English),
    );
    assert_eq!(rows[0], "✗ edit_file src/a.rs", "{rows:?}");
}

#[test]
fn the_line_of_a_call_does_not_repeat_its_subject() {
    let cases = [
        ("read src/a.rs: lines 1–2 of 2", " · 2 lines"),
        ("read src/a.rs: lines 2–3 of 9", " · lines 2–3 of 9"),
        ("src/a.rs: 120 lines", " · 120 lines"),
        ("read src/a.rsx: lines 1–2", " · read src/a.rsx: lines 1–2"),
    ];
    for (text, end) in cases {
        let line = json!({"type": "line", "text": text});
        let rows = shown(
            &[
                started(1, "c", "read_file", "src/a.rs"),
                finished(2, "c", "ok", &line),
            ],
            &look(80, Language::English),
        );
        assert_eq!(rows[0], format!("✓ read_file src/a.rs{end}"));
    }
}

#[test]
fn a_long_output_shows_both_ends_and_counts_the_lines_between() {
    let all: Vec<String> = (1..=400).map(|line| format!("line {line}")).collect();
    let shown = |count: usize, kept: usize, head: usize| {
        let tail = all[count - kept..count].join("\n") + "\n";
        let display = json!({"type": "command", "exit_code": 0, "signal": null, "output_bytes": 1, "output_lines": count,
            "head": all[..head].join("\n"), "tail": tail});
        let events = [
            started(1, "c", "bash", "x"),
            finished(2, "c", "ok", &display),
        ];
        texts(&super::tests::all(&folded(&events), &narrow()))[1..]
            .join("|")
            .replace("  │ ", "")
    };
    let ends = "line 1|line 2|… {} more lines (/view expands)|line {a}|line {b}|line {c}";
    let of = |between: &str, from: usize| {
        let text = ends.replace("{}", between);
        let text = text.replace("{a}", &from.to_string());
        text.replace("{b}", &(from + 1).to_string())
            .replace("{c}", &(from + 2).to_string())
    };
    assert_eq!(shown(20, 20, 0), of("15", 18));
    assert_eq!(shown(400, 50, 3), of("395", 398));
    assert_eq!(shown(6, 6, 0), all[..6].join("|"));
    // Nothing is known of its beginning.
    let end = "… 397 earlier lines (/view expands)|line 398|line 399|line 400";
    assert_eq!(shown(400, 50, 0), end);
}

#[test]
fn searches_show_their_query_and_number_of_matches() {
    let asked = |name: &str, arguments: &Value| json!({"item": "m1.1", "text": "", "finish": "tool_calls", "calls": [{"id": "c", "name": name, "arguments": arguments.to_string()}]});
    let head = |name: &str, arguments: &Value, text: &str, language| {
        let events = [
            event(Some(1), "message.assistant", &asked(name, arguments)),
            started(2, "c", name, "."),
            finished(3, "c", "ok", &json!({"type": "line", "text": text})),
        ];
        shown(&events, &look(80, language)).pop().unwrap()
    };
    let grep = json!({"pattern": "total\\("});
    let within = json!({"pattern": "a", "path": "src"});
    let glob = json!({"pattern": "**/*.rs"});
    let (english, chinese) = (Language::English, Language::Chinese);
    for (found, wanted) in [
        (
            head("grep", &grep, "4 matches in 3 files", english),
            "✓ grep \"total\\(\" · 4 in 3 files",
        ),
        (
            head("grep", &grep, "1 matches in 1 files", english),
            "✓ grep \"total\\(\" · 1 in 1 file",
        ),
        (
            head("grep", &within, "0 matches in 0 files", english),
            "✓ grep \"a\" in src · no matches",
        ),
        (
            head("grep", &grep, "4 matches in 3 files", chinese),
            "✓ grep \"total\\(\" · 3 个文件中 4 处",
        ),
        (
            head("glob", &glob, "17 files", english),
            "✓ glob **/*.rs · 17 files",
        ),
        (
            head("glob", &glob, "1 files", chinese),
            "✓ glob **/*.rs · 1 个文件",
        ),
    ] {
        assert_eq!(found, wanted);
    }
}

#[test]
fn a_prompt_is_marked_in_every_theme() {
    let events = [user(
        1,
        "make it new, wherever it is old, and tell me",
        "prompt",
    )];
    for theme in [Theme::Dark, Theme::Light, Theme::Sixteen, Theme::None] {
        let rows = all(&folded(&events), &ViewOptions { theme, ..narrow() });
        assert_eq!(rows.len(), 2);
        let style = theme.style(TextRole::Prompt);
        for row in &rows {
            assert!(row.to_string().starts_with('▌'), "{row}");
            assert!(row.spans.iter().all(|span| span.style.bg == style.bg));
        }
        let filled = matches!(theme, Theme::Dark | Theme::Light);
        assert_eq!(style.bg.is_some(), filled);
        let cells = |row: &Line<'static>| crate::render::wrap::cells(row);
        assert_eq!(cells(&rows[0]) == cells(&rows[1]), filled, "one block");
    }
}
