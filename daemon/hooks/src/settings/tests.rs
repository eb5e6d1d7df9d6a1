use proto::hook::HookEvent;

use super::*;
use crate::names::tests::tool;

fn read(text: &str) -> ParsedHooks {
    super::read(
        text,
        Path::new("/proj/.reasonix/settings.json"),
        HookScope::Project,
    )
}

#[test]
fn both_forms_are_read_in_the_order_of_the_file() {
    let read = read(
        r#"{"model": "x", "hooks": {
            "PreToolUse": [
                {"match": "shell", "command": "one", "description": "first", "timeout": 1500},
                {"matcher": "Edit|Write", "hooks": [
                    {"type": "command", "command": "two", "timeout": 3},
                    {"command": "three"}
                ]}
            ],
            "Stop": [{"hooks": [{"type": "command", "command": "four"}]}]
        }}"#,
    );
    assert_eq!(read.problem, None);
    let kept: Vec<_> = read
        .hooks
        .iter()
        .map(|hook| {
            (
                hook.event.as_str(),
                hook.name(),
                hook.limit.as_millis(),
                hook.claude,
            )
        })
        .collect();
    assert_eq!(
        kept,
        [
            ("PreToolUse", "first", 1500, false),
            ("PreToolUse", "two", 3000, true),
            ("PreToolUse", "three", 5000, true),
            ("Stop", "four", 30_000, true),
        ]
    );
    assert!(read.hooks[1].runs(HookEvent::PreToolUse, Some(&tool("write_file"))));
    assert!(!read.hooks[1].runs(HookEvent::PreToolUse, Some(&tool("bash"))));
    assert!(!read.hooks[1].runs(HookEvent::PostToolUse, Some(&tool("write_file"))));
    assert!(read.hooks[3].runs(HookEvent::Stop, None));
    assert_eq!(read.hooks[0].project(), Some(Path::new("/proj")));
}

#[test]
fn mark_of_the_encoding_at_the_start_of_a_file_is_ignored() {
    let read = read("\u{feff}{\"hooks\": {\"Stop\": [{\"command\": \"one\"}]}}");
    assert_eq!((read.hooks.len(), read.problem), (1, None));
}

#[test]
fn a_malformed_file_has_no_hooks_and_one_problem() {
    for text in [
        "",
        "{",
        "[]",
        "7",
        r#"{"hooks": []}"#,
        r#"{"hooks": "PreToolUse"}"#,
        r#"{"hooks": {"PreToolUse": [{"command": "x"}]},}"#,
    ] {
        let read = read(text);
        assert!(read.hooks.is_empty(), "{text}");
        let problem = read.problem.expect(text);
        assert!(
            problem.starts_with("/proj/.reasonix/settings.json: "),
            "{problem}"
        );
        assert!(problem.contains("none of its hooks run"), "{problem}");
    }
    for text in ["{}", r#"{"hooks": {}}"#, r#"{"hooks": {"Stop": []}}"#] {
        assert_eq!(read(text).problem, None, "{text}");
    }
}

#[test]
fn an_invalid_hook_is_listed_and_never_runs() {
    let read = read(
        r#"{"hooks": {
            "PreToolUse": [
                {"match": "[unclosed", "command": "a"},
                {"match": 7, "command": "b"},
                {"match": "shell"},
                {"hooks": [{"type": "prompt", "prompt": "c"}]},
                "d",
                {"command": "good"}
            ],
            "SessionStart": [{"command": "e"}],
            "Stop": {"command": "f"},
            "Notification": [{"match": "[not looked at", "command": "g"}]
        }}"#,
    );
    let running: Vec<_> = read
        .hooks
        .iter()
        .filter(|hook| hook.fits.is_ok())
        .map(|hook| hook.command.as_str())
        .collect();
    assert_eq!(running, ["good", "g"]);
    assert_eq!(read.hooks.len(), 7);
    let runs = |tool| {
        read.hooks
            .iter()
            .filter(|hook| hook.runs(HookEvent::PreToolUse, Some(tool)))
            .count()
    };
    assert_eq!(runs(&tool("bash")), 1);
    let problem = read.problem.unwrap();
    for part in [
        "PreToolUse[0]",
        "PreToolUse[1]",
        "PreToolUse[2]",
        "`PreToolUse[3].hooks[0]`",
        "PreToolUse[4]",
        "\"SessionStart\"",
        "`Stop` must be a list",
    ] {
        assert!(problem.contains(part), "{part}: {problem}");
    }
}

#[test]
fn a_limit_stays_within_bounds() {
    let limit = |event: &str, timeout: &str| {
        let read = read(&format!(
            r#"{{"hooks": {{"{event}": [{{"command": "x", "timeout": {timeout}}}]}}}}"#
        ));
        (read.hooks[0].limit.as_millis(), read.problem.is_some())
    };
    assert_eq!(limit("PreToolUse", "700"), (700, false));
    assert_eq!(limit("PreToolUse", "5"), (100, true));
    assert_eq!(limit("PreToolUse", "600000"), (60_000, true));
    assert_eq!(limit("Stop", "600000"), (600_000, false));
    assert_eq!(limit("Stop", "1e99"), (30_000, true));
    assert_eq!(limit("Stop", "-1"), (30_000, true));
    assert_eq!(limit("Stop", "\"5\""), (30_000, true));
    assert_eq!(limit("Stop", "null"), (30_000, false));
}

#[test]
fn hooks_that_differ_have_lines_that_differ() {
    let texts = [
        r#"{"command": "a"}"#,
        r#"{"command": "a", "description": "d"}"#,
        r#"{"command": "a", "match": "bash"}"#,
        r#"{"command": "a", "timeout": 200}"#,
        r#"{"command": "a\nhook PreToolUse: \"b\""}"#,
        r#"{"hooks": [{"command": "a"}]}"#,
        r#"{"command": "b"}"#,
    ];
    let lines: std::collections::BTreeSet<_> = texts
        .iter()
        .map(|text| {
            let read = read(&format!(r#"{{"hooks": {{"PreToolUse": [{text}]}}}}"#));
            read.hooks[0].line()
        })
        .collect();
    assert_eq!(lines.len(), texts.len());
    assert!(lines.iter().all(|line| !line.contains('\n')));
}

#[test]
fn untrusted_hooks_never_run() {
    let mut hook = read(r#"{"hooks": {"Stop": [{"command": "a"}]}}"#)
        .hooks
        .remove(0);
    hook.trusted = false;
    assert!(!hook.runs(HookEvent::Stop, None));
}

mod any {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_text_is_a_panic(text in "\\PC*", inner in "[\\[\\]{}\",:a-zA-Z0-9 ]*") {
            let _ = read(&text);
            let _ = read(&format!(r#"{{"hooks": {{"PreToolUse": [{inner}]}}}}"#));
            let _ = read(&format!(r#"{{"hooks": {inner}}}"#));
        }
    }
}
