//! Goals that are long research: which ones are, and the directory that keeps such a run's state in the project.
//!
//! A goal is research if its text has enough signals of work that takes many experiments. Each row of [`KINDS`] that
//! the text matches counts two; each row of [`HINTS`] counts one; [`AGAINST`] takes three away. A goal that a user
//! forces to be research, or not to be, is not looked at here.

mod run_directory;

use contract::{has_phrase, listed_items, weight};

pub use run_directory::{
    BRIEF_FILE, RunState, STATE_FILE, named_directory, new_directory, starting_files,
};

/// A goal with this many points is research.
const ENOUGH: i32 = 3;

/// A text with at least this many characters is a long one. A Chinese character counts as three.
const LONG: usize = 400;

/// Kinds of work that take experiments. English words end at a word's end; `*` stands for any ending.
const KINDS: &[&[&str]] = &[
    // Research
    &[
        "research*",
        "investigat*",
        "survey*",
        "explore*",
        "exploring",
        "experiment*",
        "hypothes*",
        "evaluate",
        "reverse engineer*",
        "研究",
        "调研",
        "调查",
        "探索",
        "实验",
        "假设",
        "评估",
        "复现",
    ],
    // Finding the cause of something
    &[
        "root cause*",
        "find out why",
        "figure out why",
        "diagnos*",
        "bisect*",
        "flaky",
        "intermittent*",
        "race condition*",
        "deadlock*",
        "memory leak*",
        "data corruption",
        "根因",
        "根本原因",
        "排查",
        "定位",
        "偶发",
        "偶现",
        "间歇",
        "死锁",
        "内存泄漏",
        "竞态",
    ],
    // Making something better by measuring
    &[
        "optimi*",
        "speed up",
        "faster",
        "fast again",
        "slower",
        "slowed down",
        "twice as long",
        "times as long",
        "performance",
        "throughput",
        "latency",
        "benchmark*",
        "profile the",
        "tune",
        "tuning",
        "startup time",
        "build time*",
        "binary size",
        "bundle size",
        "image size",
        "memory usage",
        "memory footprint",
        "优化",
        "性能",
        "提速",
        "加速",
        "吞吐",
        "延迟",
        "基准",
        "调优",
        "启动时间",
        "构建时间",
        "体积",
        "内存占用",
    ],
    // Building something large
    &[
        "from scratch",
        "rewrite",
        "migrat*",
        "port it to",
        "port the",
        "reimplement*",
        "从零",
        "重写",
        "迁移",
        "移植",
    ],
];

/// Signs that the work is long: its scope, an end that is measured, several ways to try, a search.
const HINTS: &[&[&str]] = &[
    &[
        "until",
        "keep trying",
        "keep going",
        "as long as it takes",
        "overnight",
        "as far as you can",
        "as far as possible",
        "as much as you can",
        "as much as possible",
        "尽可能",
        "尽量",
        "直到",
        "不断",
        "一直",
        "持续",
    ],
    &[
        "entire",
        "whole",
        "every",
        "end to end",
        "thorough*",
        "systematic*",
        "全部",
        "所有",
        "整个",
        "彻底",
        "系统地",
        "系统性",
        "端到端",
    ],
    &[
        "approaches",
        "alternatives",
        "options",
        "compare",
        "several ways",
        "trade-offs",
        "多种",
        "各种",
        "不同方案",
        "对比",
        "比较",
    ],
    &["implement*", "develop*", "build a", "实现", "开发", "构建"],
    &[
        "debug*",
        "track down",
        "hunt down",
        "pin down",
        "get to the bottom",
        "调试",
        "追查",
        "查明",
    ],
];

/// Signs of a small job, or of a question.
const AGAINST: &[&str] = &[
    "typo*",
    "rename",
    "just",
    "quick*",
    "simple",
    "small",
    "one-line*",
    "explain",
    "summari*",
    "what is",
    "translate",
    "错别字",
    "改名",
    "重命名",
    "只需",
    "只要",
    "简单",
    "快速修",
    "小改",
    "解释",
    "总结",
    "翻译",
    "是什么",
];

/// Whether a goal looks like long research, debugging, optimisation or implementation.
#[must_use]
pub fn looks_like_research(goal: &str) -> bool {
    let text = goal.to_lowercase();
    let any = |phrases: &[&str]| phrases.iter().any(|phrase| has_phrase(&text, phrase));
    let rows = |table: &[&[&str]]| {
        let matched = table.iter().filter(|row| any(row)).count();
        i32::try_from(matched).unwrap_or(i32::MAX)
    };
    let mut points = 2 * rows(KINDS) + rows(HINTS);
    points += i32::from(has_target(&text));
    points += i32::from(weight(&text) >= LONG || listed_items(&text) >= 3);
    if any(AGAINST) {
        points -= 3;
    }
    points >= ENOUGH
}

/// Whether an end is named that can be measured: `30%`, `5 ms`, `p95`, `3x`, `2 倍`.
fn has_target(text: &str) -> bool {
    const UNITS: &[&str] = &["%", "ms", "x", "mb", "gb", "倍", "毫秒", "秒", "times"];
    if ["p50", "p95", "p99"]
        .iter()
        .any(|mark| has_phrase(text, mark))
    {
        return true;
    }
    let digits = text.char_indices().filter(|(_, one)| one.is_ascii_digit());
    digits.into_iter().any(|(at, _)| {
        let rest = text[at + 1..].trim_start_matches(' ');
        UNITS.iter().any(|unit| {
            let after = rest.strip_prefix(unit).map(|rest| rest.chars().next());
            after.is_some_and(|next| {
                !unit.is_ascii() || !next.is_some_and(|next| next.is_ascii_alphanumeric())
            })
        })
    })
}

#[cfg(test)]
mod tests;
