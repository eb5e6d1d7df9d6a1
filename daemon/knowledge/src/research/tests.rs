use proptest::prelude::*;
use proto::Stamp;

use super::*;

/// Goals, as people write them, and whether they are research.
const GOALS: &[(bool, &str)] = &[
    // Research
    (
        true,
        "Investigate why our search quality dropped; compare several approaches to fix it",
    ),
    (
        true,
        "Research vector databases for our case, evaluate three alternatives, and write a report",
    ),
    (
        true,
        "Run experiments with different batch sizes until the loss is below 0.3, overnight",
    ),
    (
        true,
        "Reverse engineer the file format and document every field",
    ),
    // Debugging
    (
        true,
        "Find the root cause of the flaky login test and keep trying until it passes 100 times in a row",
    ),
    (
        true,
        "Diagnose the memory leak of the daemon: it grows 5 MB an hour",
    ),
    (
        true,
        "Debug the flaky test suite, find the root cause and fix it",
    ),
    (true, "调试这个偶发失败的测试，找出根本原因并修复"),
    (
        true,
        "The build fails intermittently. Bisect it and fix the race condition, performance must not suffer",
    ),
    (true, "Track down the memory leak in the worker"),
    (true, "Hunt down the race condition between the two writers"),
    (
        true,
        "Find out why the nightly build takes twice as long since Tuesday and make it fast again",
    ),
    // Optimisation
    (
        true,
        "Reduce the binary size as far as you can without losing features",
    ),
    (true, "Bring the memory usage of the worker below 80 MB"),
    (true, "Optimize the parser until p95 is below 5 ms"),
    (true, "Make startup 3x faster, measure with the benchmark"),
    (true, "Reduce the latency of the search endpoint by 30%"),
    (true, "Improve throughput of the queue systematically"),
    // Implementation
    (true, "Implement a SQL engine from scratch"),
    (
        true,
        "Migrate the whole code base from Python 2 to 3 and keep every test green",
    ),
    (true, "Rewrite the scheduler in Rust, end to end"),
    // Chinese
    (true, "研究为什么搜索变慢，对比多种方案"),
    (true, "排查偶发的登录失败，直到连续通过 100 次"),
    (true, "优化解析器性能，p95 低于 5 毫秒"),
    (true, "把启动时间提速 3 倍"),
    (true, "优化启动时间，直到低于 200 毫秒"),
    (true, "尽可能减小安装包体积"),
    (true, "追查内存泄漏"),
    (true, "从零实现一个 SQL 引擎"),
    (true, "把整个项目迁移到 Rust"),
    // Not research
    (false, "Make the tests pass"),
    (false, "Fix the typo in README.md"),
    (false, "Rename the function parse to parse_line everywhere"),
    (false, "Add a flag --verbose to the command line"),
    (false, "Implement the function add in src/lib.rs"),
    (
        false,
        "Explain the performance of this module and compare it with the other one",
    ),
    (false, "Write a test for every public function"),
    (false, "Update the dependencies"),
    (
        false,
        "Just speed up the slow test, it takes 30 seconds until it ends",
    ),
    (false, "Summarise the research papers in docs/"),
    (false, "Fix the flaky test test_login"),
    (false, "Debug the login page"),
    (false, "让测试通过"),
    (false, "修复 README 里的错别字"),
    (false, "给命令行加一个 --verbose 选项"),
    (false, "解释一下这个模块的性能，对比另一个模块"),
    (false, "实现 add 函数"),
    (false, "尽量用中文写注释"),
    (false, "在状态栏显示启动时间"),
    (false, "把变量 a 重命名为 b，直到全部改完"),
    (
        false,
        "Track down who added parse_line and ask them to review",
    ),
    (false, "Print the binary size in the release notes"),
    (false, "Let the animation take twice as long"),
    (
        false,
        "Find out why the link in README.md is dead and fix it",
    ),
    (false, "Document as much as possible of the public API"),
    (false, "Fix the memory leak in close()"),
    (false, "Explain why the build is slower than before"),
    // A word inside another one is no sign
    (false, "Delete the untilled folder and the wholesale page"),
];

#[test]
fn goals_are_research_by_their_words() {
    let wrong: Vec<_> = GOALS
        .iter()
        .filter(|(research, goal)| looks_like_research(goal) != *research)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn directories_have_time_and_words() {
    let at = Stamp(1_795_748_645_123);
    let name = |goal: &str, number| new_directory(goal, at, number);
    assert_eq!(
        name("Make it faster!\nBy 30%", 1),
        ".reasonix/autoresearch/20261127-030405-make-it-faster"
    );
    assert_eq!(
        name("../../x", 2),
        ".reasonix/autoresearch/20261127-030405-x-2"
    );
    assert_eq!(
        name("优化 解析器", 1),
        ".reasonix/autoresearch/20261127-030405-优化-解析器"
    );
    assert_eq!(name("…", 1), ".reasonix/autoresearch/20261127-030405-goal");
}

#[test]
fn run_that_a_goal_names_is_found() {
    let found = |goal: &str| named_directory(goal);
    let name = ".reasonix/autoresearch/20261127-030405-make-it-faster";
    assert_eq!(
        found(&format!("Go on with `{name}/`.")).as_deref(),
        Some(name)
    );
    assert_eq!(found(&format!("{name}/state.json")).as_deref(), Some(name));
    assert_eq!(found("Go on with .reasonix/autoresearch/../../etc"), None);
    assert_eq!(found("Go on"), None);
}

proptest! {
    /// Whatever a goal says: one directory directly below that of the runs, whose name any file system takes, and which
    /// is found again by its name.
    #[test]
    fn directory_of_any_goal_is_one_plain_name(goal in "\\PC{0,200}", number in 1u32..9) {
        let name = new_directory(&goal, Stamp(1_795_748_645_123), number);
        let last = name.strip_prefix(".reasonix/autoresearch/").expect("below the runs");
        prop_assert!(!last.contains(['/', '\0']) && last.len() < 250, "{last}");
        prop_assert_eq!(named_directory(&name), Some(name.clone()));
        let _ = looks_like_research(&goal);
    }
}
