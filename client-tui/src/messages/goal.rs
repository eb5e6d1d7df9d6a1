//! Words of the goal of a session: its rows, and what `/goal` shows.

super::catalog! {
    Title = "Goal", "目标";
    /// Its turn, with the number of turns.
    Mark = "goal {0}", "目标 {0}";
    Continued = "continued: {0}", "继续原因：{0}";
    Report = "the model reports: {0}", "模型的报告：{0}";
    Evidence = "evidence: {0}", "依据：{0}";
    NextStep = "next: {0}", "下一步：{0}";
    Stalled = "turns without progress: {0}", "无进展的回合：{0}";
    Check = "check: `{0}`", "检查：`{0}`";
    Research = "long research, its notes are in {0}", "长期研究，记录在 {0}";
    NoChecks = "no check commands", "没有检查命令";
    NotChecked = "not checked yet", "尚未检查";
    Passed = "checks passed", "检查已通过";
    /// What is missing.
    Missing = "not complete: {0}", "未完成：{0}";
    Spent = "{0} tokens", "{0} 词元";
    StartedBy = "started by {0}", "由 {0} 启动";
    Limits = "limits: {0}", "上限：{0}";
    Keys = "`/goal clear` ends it; `/goal TEXT` sets another one; `/goal --change turns N` changes its limits", "`/goal clear` 结束目标；`/goal 文字` 设置新目标；`/goal --change turns N` 更改上限";
}
