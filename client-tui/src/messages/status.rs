//! Texts of the status line, of the rows above the composer, and of the exit report.

super::catalog! {
    Idle = "idle", "空闲";
    Working = "working", "工作中";
    Planning = "planning", "制定计划中";
    /// Its first line; its turn, and why that started.
    Goal = "goal: {0} · {1}", "目标：{0} · {1}";
    GoalTurn = "turn {0}", "第 {0} 回合";
    GoalTurnOf = "turn {0} of {1}", "第 {0}/{1} 回合";
    Compacting = "compacting", "压缩上下文中";
    WaitsForYou = "needs answer", "等待你处理";
    WaitsForRetry = "retrying", "等待重试";
    WaitsForKey = "needs a key", "需要密钥";
    Paused = "paused", "已暂停";
    Reconnecting = "reconnecting…", "重新连接中…";
    Loading = "loading…", "载入中…";
    Starting = "starting…", "启动中…";
    Ended = "ended", "已结束";
    /// How many prompts wait.
    Queued = "{0} queued", "排队 {0}";
    /// The page of the transcript is scrolled up.
    MoreBelow = "↓ more below", "↓ 下方还有内容";
    ReadOnly = "read-only", "只读";
    PlanMode = "plan mode", "计划模式";
    OnlyReads = "read-only", "只读";
    Watching = "watching", "旁观";
    Answering = "can only answer", "仅可答复";
    Effort = "effort {0}", "推理强度 {0}";
    Samples = "{0} samples", "{0} 个采样";
    Context = "context {0}%", "上下文 {0}%";
    Cache = "cache {0}%", "缓存 {0}%";
    CacheEnds = "cache expires in {0}", "缓存 {0} 后过期";
    CacheExpired = "cache expired", "缓存已过期";
    CacheExpiredWithCost = "cache expired, next prompt about {0}", "缓存已过期，下一条提示词约 {0}";
    Tokens = "{0} tokens", "{0} 词元";
    Running = "running {0}", "正在运行 {0}";
    /// The key.
    Stops = "{0} interrupts", "{0} 中断";
    RetryIn = "in {0}", "{0} 后";
    KeyAdvice = "set the key in your environment or with `reasonix setup`, then attach again", "请在环境变量中或用 `reasonix setup` 设置密钥，然后重新连接";
    PausedAdvice = "continue with /continue", "用 /continue 继续";
    GoalAtLimit = "the goal is paused at its time limit", "目标已在时限处暂停";
    GoalAtLimitAdvice = "`/continue minutes 10` lets it go on", "`/continue minutes 10` 让它继续";
    LostAdvice = "connection lost; reconnecting…", "连接已断开，正在重新连接…";
    StoppedAdvice = "the daemon was stopped; waiting until it is started again", "守护进程已停止，等待其重新启动";
    AwayAdvice = "no answer from the daemon; the session continues when it is back", "守护进程没有应答；恢复应答后会话将继续";
    /// The key.
    EndedAdvice = "disconnected from this session: {0} opens another, `/new` starts a new one", "已与此会话断开：{0} 打开其他会话，`/new` 新建会话";
    OneWaits = "1 open question", "1 个问题待回答";
    ManyWait = "{0} open questions", "{0} 个问题待回答";
    /// Done; all.
    Todos = "To do {0}/{1}", "待办 {0}/{1}";
    TodosDone = "all items done ({0})", "{0} 项全部完成";
    More = "… {0} more", "… 还有 {0} 项";
    OneChild = "1 background command: {0}", "1 个后台命令：{0}";
    Children = "{0} background commands: {1}", "{0} 个后台命令：{1}";
    OneAgent = "1 sub-agent at work: /agents", "1 个子代理正在工作：/agents";
    Agents = "{0} sub-agents at work: /agents", "{0} 个子代理正在工作：/agents";
    /// It waits for the model's answer.
    Thinks = "thinking", "思考中";
    OneElsewhere = "1 question waits in another session: /inbox", "另一会话中有 1 项等待处理：/inbox";
    Elsewhere = "{0} questions wait in other sessions: /inbox", "其他会话中有 {0} 项等待处理：/inbox";
    /// Name and number; the key that leads to the session that started it.
    AgentOf = "sub-agent of session {0}: {1} returns to that session", "会话 {0} 的子代理：{1} 返回该会话";
    QueuedPrompt = "queued: {0}", "排队：{0}";
    QueuedSteer = "queued for this turn: {0}", "排队，将插入本回合：{0}";
    /// Pid.
    SummarySession = "session {0}", "会话 {0}";
    SummaryOneTurn = "{0} turn", "{0} 个回合";
    SummaryTurns = "{0} turns", "{0} 个回合";
    SummaryHere = "{0} here", "在此 {0}";
    /// Read; written.
    SummaryTokens = "tokens: {0} in, {1} out", "词元：输入 {0}，输出 {1}";
    SummaryCost = "cost: {0}", "费用：{0}";
    SummaryCostWithAgents = "cost: {0} (with sub-agents)", "费用：{0}（含子代理）";
    /// The command.
    SummaryAttach = "attach again: {0}", "重新连接：{0}";
    SummaryGoesOn = "it keeps running", "会话仍在继续工作";
    SummaryWaits = "it waits for your answer", "会话在等待你的答复";
}
