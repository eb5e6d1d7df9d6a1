//! Which prompts ask for work of many steps, so that a plan is worth a question. Pure.
//!
//! Each row of [`KINDS`] that the text matches counts two; each row of [`HINTS`] counts one, as does a long text, a list
//! of three items or more, and three files that it refers to; [`AGAINST`] and a question take three away.

use contract::{has_phrase, listed_items, weight};

/// A prompt with this many points is complex.
const ENOUGH: i32 = 3;

/// A text of this weight is a long one.
const LONG: usize = 400;

/// Kinds of work that take many steps. English words end at a word's end; `*` stands for any ending.
const KINDS: &[&[&str]] = &[
    // Making something new
    &[
        "implement*",
        "build a",
        "build an",
        "develop*",
        "create a",
        "integrate*",
        "introduce*",
        "add support",
        "write a",
        "实现",
        "开发",
        "构建",
        "集成",
        "引入",
        "新增",
        "支持",
    ],
    // Changing what is there in many places
    &[
        "refactor*",
        "rewrite*",
        "redesign*",
        "restructur*",
        "reorgani*",
        "migrat*",
        "port the",
        "port it",
        "convert*",
        "replace*",
        "upgrade*",
        "split the",
        "重构",
        "重写",
        "重新设计",
        "迁移",
        "移植",
        "改造",
        "替换",
        "升级",
        "拆分",
    ],
];

/// Signs that the work is large.
const HINTS: &[&[&str]] = &[
    &[
        "entire",
        "whole",
        "across",
        "everywhere",
        "all modules",
        "all files",
        "every",
        "codebase",
        "end to end",
        "整个",
        "全部",
        "所有",
        "各处",
        "端到端",
    ],
    &[
        "architecture",
        "subsystem*",
        "pipeline*",
        "schema*",
        "database*",
        "api",
        "authentication",
        "backend",
        "frontend",
        "架构",
        "系统",
        "模块",
        "数据库",
        "接口",
        "认证",
        "后端",
        "前端",
    ],
    &[
        "step by step",
        "phase*",
        "first",
        "then",
        "finally",
        "步骤",
        "阶段",
        "首先",
        "然后",
        "最后",
    ],
    &[
        "with tests",
        "and tests",
        "tests for",
        "documentation",
        "backward*",
        "rollback",
        "测试",
        "文档",
        "兼容",
        "回滚",
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
    "what does",
    "why",
    "how does",
    "how do",
    "where is",
    "translate",
    "错别字",
    "改名",
    "重命名",
    "只需",
    "只要",
    "简单",
    "小改",
    "解释",
    "总结",
    "翻译",
    "是什么",
    "为什么",
];

/// Whether a prompt looks like work of many steps.
pub(crate) fn looks_complex(prompt: &str) -> bool {
    let text = prompt.to_lowercase();
    let any = |phrases: &[&str]| phrases.iter().any(|phrase| has_phrase(&text, phrase));
    let rows = |table: &[&[&str]]| {
        let matched = table.iter().filter(|row| any(row)).count();
        i32::try_from(matched).unwrap_or(i32::MAX)
    };
    let is_question = text.trim_end().ends_with(['?', '？']);
    let references = text.split_whitespace().filter(|word| word.starts_with('@'));
    let mut points = 2 * rows(KINDS) + rows(HINTS);
    points += i32::from(weight(&text) >= LONG);
    points += i32::from(listed_items(&text) >= 3);
    points += i32::from(references.count() >= 3);
    if is_question || any(AGAINST) {
        points -= 3;
    }
    points >= ENOUGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_many_steps_is_told_from_small_jobs_and_questions() {
        for (complex, prompt) in [
            (
                true,
                "Refactor the storage module and migrate all callers to the new API",
            ),
            (
                true,
                "Implement OAuth login end to end: backend, frontend, and tests for both",
            ),
            (
                true,
                "Migrate the database from SQLite to Postgres, with a rollback",
            ),
            (true, "Rewrite the parser, then port every test"),
            (true, "Add support for plugins across the codebase"),
            (
                true,
                "Build a CLI for the service:\n1. list\n2. add\n3. remove",
            ),
            (
                true,
                "Replace logging everywhere: first @a.rs, then @b.rs and @c.rs",
            ),
            (true, "重构整个认证模块"),
            (true, "实现用户登录系统，然后补充测试"),
            (true, "把数据库迁移到 Postgres，并支持回滚"),
            (false, "Fix the failing test"),
            (false, "Fix the typo in the architecture document"),
            (false, "Rename the database module everywhere"),
            (false, "Write a test for this function"),
            (false, "What is the architecture of this system?"),
            (false, "Explain how the whole pipeline is implemented"),
            (false, "How do I implement an API across modules?"),
            (false, "Just replace the API key in every file"),
            (false, "Run the tests"),
            (false, "Add a flag `--quiet`"),
            (false, "continue"),
            (false, ""),
            (false, "修好这个测试"),
            (false, "解释整个系统的架构"),
            (false, "实现一个函数"),
            (false, "这个接口是什么？"),
        ] {
            assert_eq!(looks_complex(prompt), complex, "{prompt}");
        }
    }
}
