//! The benchmark of the figures runs (this test ignores its speed), and its page mentions every budget.

use std::path::Path;

use tests::figures::{GROUPS, SMOKE, page, table};

#[test]
fn the_figures_can_be_measured() {
    let mut failed = Vec::new();
    for group in GROUPS.iter().filter(|group| !group.asked) {
        // One group that fails does not keep the others from being tried.
        match std::panic::catch_unwind(|| (group.measure)(SMOKE)) {
            Ok(figures) => assert!(
                figures
                    .iter()
                    .all(|figure| figure.ratio.is_none_or(f64::is_finite)),
                "{}",
                table(&figures)
            ),
            Err(_) => failed.push(group.name),
        }
    }
    assert_eq!(failed, Vec::<&str>::new(), "groups that failed");
}

/// How a row of the contract's budgets begins, and the rows of the page's tables that answer it, each with its group.
const BUDGETS: &[(&str, &[(&str, &str)])] = &[
    (
        "`reasonix run \"hello\"`",
        &[("basics", "run \"hello\", daemon warm: start → request")],
    ),
    (
        "the same, daemon not running",
        &[("basics", "the same, daemon not running")],
    ),
    ("start → exit", &[("basics", "start → exit")]),
    (
        "added per tool round",
        &[
            ("basics", "added per round of one read, p50"),
            ("basics", "added per round of one read, p95"),
        ],
    ),
    (
        "ten rounds of 4 parallel reads",
        &[("basics", "added per round of four reads, p50")],
    ),
    (
        "an answer of 20,000 tokens",
        &[("basics", "an answer of 20,000 tokens")],
    ),
    (
        "60-turn edit session: CPU",
        &[("edits", "60-turn edit session: CPU")],
    ),
    ("… prompt-token bill", &[("edits", "… prompt-token bill")]),
    (
        "… prefix breaks",
        &[
            ("edits", "… prefix breaks"),
            ("edits", "… prefix breaks across resume and restart"),
        ],
    ),
    ("frozen prefix", &[("edits", "frozen prefix")]),
    (
        "scripted faults survived",
        &[("faults", "scripted faults survived")],
    ),
    (
        "… a round with a file write, durable",
        &[("disk", "a round with a file write, durable")],
    ),
    (
        "four parallel read-only shell calls",
        &[("parallel", "four parallel read-only shell calls")],
    ),
    (
        "daemon start to first answer",
        &[("beside", "daemon start → first answer")],
    ),
    (
        "assembling a request from a 10 MB history",
        &[("assembly", "assembling a request from a 10 MB history")],
    ),
    ("RPC round trip", &[("basics", "RPC round trip")]),
    (
        "fan-out: 64 clients",
        &[
            ("fanout", "64 clients, 2,000 deltas/s"),
            ("fanout", "… durable events lost"),
            ("fanout", "… the last delta → the turn's end"),
        ],
    ),
    (
        "resident memory",
        &[
            ("basics", "resident memory: daemon idle"),
            ("edits", "… peak resident memory"),
        ],
    ),
    (
        "per idle loaded session with a 1 MB log",
        &[
            ("idle", "memory of an idle loaded session"),
            ("idle", "… of one that has left memory"),
        ],
    ),
    (
        "200 concurrent sessions streaming",
        &[("crowd", "200 sessions stream at once")],
    ),
    (
        "start of a sub-agent",
        &[(
            "agents",
            "a sub-agent: the answer with its call → its request",
        )],
    ),
    (
        "100 sub-agents in the life of a session",
        &[
            ("agents", "resident memory after 100 more sub-agents"),
            ("agents", "… descriptors that are left of them"),
            ("agents", "… threads that are left of them"),
        ],
    ),
    (
        "opening a session with a 100,000-record log",
        &[
            ("opening", "opening a session"),
            ("opening", "attach to its tail"),
        ],
    ),
    (
        "history search over 1,000,000 messages",
        &[("recall", "history search over 1,000,000 messages")],
    ),
    (
        "`grep`, `glob`",
        &[("trees", "grep over"), ("trees", "glob over")],
    ),
    (
        "TUI",
        &[
            ("interface", "`reasonix` → first frame"),
            ("interface", "100,000 lines: key → frame, inline"),
            ("interface", "100,000 lines: key → frame, full screen"),
            ("interface", "200 tokens a second"),
        ],
    ),
    (
        "`top` of 50 sessions",
        &[
            ("top", "a change of one of 50 sessions → its row"),
            ("top", "… the interface's share of a core"),
        ],
    ),
    (
        "binaries, stripped",
        &[
            ("sizes", "`reasonix`, stripped"),
            ("sizes", "`reasonixd`, stripped"),
        ],
    ),
];

#[test]
fn every_budget_of_the_contract_has_its_figure() {
    let chapter = document("contract/95-quality.md");
    let figures = document("performance.md");
    let (_, budgets) = chapter.split_once("## Budgets").expect("the budgets");
    let (budgets, _) = budgets.split_once("\n## ").expect("what follows them");
    let budgets = page::first_cells(budgets);
    assert!(budgets.len() > 20, "{budgets:?}");
    let waiting = figures.split_once("## Not measured yet");
    let waiting = waiting.map_or("", |(_, list)| list);
    for budget in &budgets {
        let said = |line: &str| line.starts_with(&format!("- {budget}: "));
        if waiting.lines().any(said) {
            continue;
        }
        let found = BUDGETS.iter().find(|(begin, _)| budget.starts_with(begin));
        let (_, rows) = found.unwrap_or_else(|| panic!("nobody says what measures: {budget}"));
        for (group, begin) in *rows {
            assert!(
                page::rows(&figures, group)
                    .iter()
                    .any(|row| row.starts_with(begin)),
                "the page has no row `{begin}` in the table of `{group}`, for: {budget}"
            );
        }
    }
    for (begin, _) in BUDGETS {
        assert!(
            budgets.iter().any(|budget| budget.starts_with(begin)),
            "the contract has no budget `{begin}`"
        );
    }
    for group in &GROUPS {
        let place = page::replace(&figures, group.name, "");
        assert!(place.is_ok(), "the bench has nowhere to write: {place:?}");
    }
}

fn document(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
