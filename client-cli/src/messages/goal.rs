//! Sentences about goals.

client::catalog! {
    Goal = "goal: {0}", "目标：{0}";
    Turn = "turn {0}", "第 {0} 回合";
    TurnOf = "turn {0} of {1}", "第 {0} 回合，共 {1} 回合";
    NoTurn = "no turn yet", "尚无回合";
    WaitsForTurn = "· session {0} is busy: the goal waits until its turn has ended; Ctrl-C ends the goal", "· 会话 {0} 正忙：目标等待其当前回合结束；按 Ctrl-C 结束目标";
    WaitsForResume = "· session {0} is paused: the goal waits until `reasonix resume {0}`; Ctrl-C ends the goal", "· 会话 {0} 已暂停：目标等待 `reasonix resume {0}`；按 Ctrl-C 结束目标";
    Ending = "\n· ending the goal; Ctrl-C again exits at once, and the goal may stay", "\n· 正在结束目标；再按一次 Ctrl-C 立即退出，目标可能保留";
    LeftWaiting = "· exited before the goal had ended: `reasonix goal status {0}` shows whether it still waits", "· 在目标结束之前已退出：用 `reasonix goal status {0}` 查看它是否仍在等待";
    StartsAfter = "no turn yet: it starts after the running turn", "尚无回合：将在当前回合之后开始";
    TurnRetries = "{0}, waiting to retry: {1}", "{0}，等待重试：{1}";
    TurnRestarts = "{0}, failed: the next turn starts by itself soon", "{0}，失败：稍后将自动开始下一回合";
    TurnPaused = "{0}, paused: `reasonix resume {1}` continues it", "{0}，已暂停：`reasonix resume {1}` 继续";
    TurnAtLimit = "{0}, stopped by its time limit: `reasonix resume {1} --add-minutes N` lets it go on", "{0}，已达到时限：`reasonix resume {1} --add-minutes N` 让它继续";
    QueuedBefore = "prompts queued before its next turn: {0}", "排在其下一回合之前的提示词：{0}";
    TurnWaits = "{0}, waiting: `reasonix inbox` shows for what", "{0}，等待中：`reasonix inbox` 显示原因";
    Continued = "continued: {0}", "继续的原因：{0}";
    ContinuedWith = "continued: {0}: {1}", "继续的原因：{0}：{1}";
    ReportedContinue = "last report, work is left: {0}", "最近的报告，尚未完成：{0}";
    ReportedComplete = "last report, complete: {0}", "最近的报告，已完成：{0}";
    ReportedBlocked = "last report, blocked: {0}", "最近的报告，受阻：{0}";
    Stalled = "turns without progress: {0}", "没有进展的回合：{0}";
    Check = "check: {0}", "检查：{0}";
    Research = "long research, its notes are in {0}", "长期研究，记录在 {0}";
    ResearchBegins = "long research (`--simple` turns that off): plan, journal and findings are in {0}", "长期研究（`--simple` 可关闭）：计划、日志和结论在 {0}";
    Limits = "limits: {0}", "上限：{0}";
    ChangeResumed = "the goal goes on", "目标继续";
    ChangeLastTurn = "the goal ends after the running turn", "目标将在当前回合后结束";
    ChangeEnded = "the goal has ended: it has had its turns", "目标已结束：回合已用完";
    GoesOn = "`reasonix goal change {0} {1} N` lets it go on", "`reasonix goal change {0} {1} N` 让它继续";
    DayBudget = "when there is room in that budget again, `reasonix goal change {0} --max-turns N` lets it go on", "该预算再有余量时，`reasonix goal change {0} --max-turns N` 让它继续";
    Ended = "{0} after {1}: {2}", "{0}，共 {1}：{2}";
    NoGoal = "this session has no goal", "本会话没有目标";
    GoalStopped = "the goal is stopped", "目标已停止";
    Complete = "complete", "已完成";
    Blocked = "blocked", "受阻";
    Stopped = "stopped", "已停止";
    OutOfBudget = "out of budget", "预算用尽";
    OutOfTurns = "out of turns", "回合用尽";
    Failed = "failed", "失败";
    GiveGoal = "give a goal: `reasonix goal \"make the tests pass\" --check \"make test\"`", "请给出目标：`reasonix goal \"让测试通过\" --check \"make test\"`";
}
