//! Words of the transcript.

crate::catalog! {
    /// Rows that are left out below, and the key or command that opens them.
    MoreLines = "… {0} more lines ({1} expands)", "… 还有 {0} 行（{1} 展开）";
    /// Rows that are left out above, and the key or command that opens them.
    EarlierLines = "… {0} earlier lines ({1} expands)", "… 前面还有 {0} 行（{1} 展开）";
    /// Rows of an output that are left out above, if it is open.
    LinesMissing = "… {0} earlier lines", "… 前面还有 {0} 行";
    Thinking = "thinking: {0}", "思考中：{0}";
    Thought = "thought: {0}", "思考：{0}";
    AnswerLength = "the output limit cut off the answer", "回答因达到输出上限而被截断";
    AnswerFilter = "the provider's content filter cut off the answer", "回答被服务商的内容过滤截断";
    AnswerInterrupted = "the answer was interrupted", "回答被中断";
    StartsAgain = "the answer restarts", "回答重新开始";
    BrokeOff = "the answer was cut off", "回答中途断开";
    Exit = "exit {0}", "退出码 {0}";
    Signal = "signal {0}", "信号 {0}";
    Line = "1 line", "1 行";
    Files = "{0} files", "{0} 个文件";
    File = "1 file", "1 个文件";
    /// The search result: places, files.
    Matches = "{0} in {1}", "{1}中 {0} 处";
    NoMatches = "no matches", "没有匹配";
    Lines = "{0} lines", "{0} 行";
    Entry = "1 entry", "1 项";
    Entries = "{0} entries", "{0} 项";
    Bytes = "{0} bytes", "{0} 字节";
    Token = "1 token", "1 词元";
    /// Name; size; tokens.
    Attached = "attached `{0}`: {1}, about {2}", "已附上 `{0}`：{1}，约 {2}";
    AttachedPart = "attached in part `{0}`: {1}, about {2}", "已附上 `{0}` 的一部分：{1}，约 {2}";
    /// Name; size; tokens.
    NewInstructions = "new instructions `{0}`: {1}, about {2}", "新的指令文件 `{0}`：{1}，约 {2}";
    /// Name; size.
    AttachedBinary = "`{0}` is a binary file of {1}: only its name is attached", "`{0}` 是二进制文件（{1}），只附上了名称";
    Done = "done", "完成";
    Failed = "failed", "失败";
    Denied = "denied", "已拒绝";
    Interrupted = "interrupted", "已中断";
    Unknown = "the daemon stopped while it ran; its effects are unknown", "守护进程在其运行时停止，结果未知";
    Refused = "not run", "未执行";
    Sandbox = "the sandbox blocked something", "沙箱阻止了部分操作";
    /// 0: why.
    SandboxBecause = "the sandbox may have blocked it: {0}", "似乎被沙箱阻止：{0}";
    /// 0: the command.
    OutsideSandbox = "once outside the sandbox: {0}", "在沙箱外仅此一次：{0}";
    AllOfIt = "full output: {0}", "完整输出：{0}";
    ResolvedDenied = "{0} denied {1}", "{0} 拒绝了 {1}";
    ResolvedDeniedRest = "{0} denied {1} and all others of that answer that need approval", "{0} 拒绝了 {1} 及该回答中其余需要批准的调用";
    ResolvedAlone = "no client was attached to approve {0}", "没有可批准 {0} 的客户端";
    /// 0: who, 1: the call, 2: the new command.
    ResolvedEdited = "{0} changed {1} to: {2}", "{0} 把 {1} 改成了：{2}";
    ResolvedAlways = "{0} allowed {1} in this workspace from now on", "{0} 在此工作区始终允许 {1}";
    ResolvedSession = "{0} allowed {1} for this session", "{0} 在本会话内允许了 {1}";
    /// 0: who, 1: paths.
    ResolvedPutBack = "{0} had {1} put back", "{0} 已让 {1} 放回原处";
    ResolvedLeft = "{0} left {1} moved away", "{0} 未让 {1} 放回原处";
    /// Who acted, where it is a terminal of the user.
    You = "you", "你";
    /// The command.
    YouBy = "you (`{0}`)", "你（`{0}`）";
    ACall = "a call", "一次调用";
    Answered = "answered by {0}", "{0} 已回答";
    AnsweredAlone = "no client was attached to answer", "没有可作答的客户端";
    AnsweredNot = "{0} closed it without an answer", "{0} 未作回答即关闭";
    NoAnswer = "no answer", "未回答";
    ChildRuns = "{0} runs in the background: {1}", "{0} 在后台运行：{1}";
    ChildEnded = "background command {0} ended: {1}", "后台命令 {0} 已结束：{1}";
    ExitUnknown = "exit status unknown", "原因未知";
    Worked = "worked for {0}", "用时 {0}";
    TurnEnded = "turn ended: {0}", "回合结束：{0}";
    Tokens = "{0} tokens", "{0} 词元";
    CallDenied = "denied: {0}", "已拒绝：{0}";
    /// The cost of a turn.
    CostWithAgents = "{0} (with sub-agents)", "{0}（含子代理）";
    /// Its pid.
    MessageOf = "message of session {0}", "来自会话 {0} 的消息";
    /// Name of its definition; its pid; the call.
    AgentsCallDenied = "denied to the sub-agent {0} (session {1}): {2}", "已拒绝子代理 {0}（会话 {1}）：{2}";
    /// Name of its definition; its pid.
    AskedByAgent = "asked by the sub-agent {0} (session {1})", "由子代理 {0} 提出（会话 {1}）";
    /// Its pid.
    AgentAnswered = "the question of sub-agent {0} is no longer open", "子代理 {0} 的提问已不再待答";
    Session = "session {0} · {1} · {2}", "会话 {0} · {1} · {2}";
    Instructions = "instructions: {0}", "指令文件：{0}";
    InstructionsAndMore = "instructions: {0} and {1} more", "指令文件：{0} 等，另有 {1} 个";
    ForkedAt = "forked from {0} after turn {1}", "从会话 {0} 的第 {1} 回合之后分出";
    ForkedBefore = "forked from {0} before its first turn", "从会话 {0} 的第一回合之前分出";
    Behind = "this client is {0} events behind and catching up", "此客户端落后 {0} 个事件，正在追赶";
    PlanMode = "plan mode: changes are refused until a plan is approved", "计划模式：在计划获批之前，任何改动都会被拒绝";
    PlanModeBy = "plan mode (by {0}): changes are refused until a plan is approved", "{0} 已进入计划模式：在计划获批之前，任何改动都会被拒绝";
    PlanModeEnded = "plan mode ended", "计划模式已结束";
    PlanModeEndedBy = "{0} ended plan mode", "{0} 已结束计划模式";
    AddedDir = "the session may also write in {0} from now on", "从现在起会话也可以写入 {0}";
    OnlyReads = "read-only from now on: changes are refused", "从现在起只读：任何改动都会被拒绝";
    OnlyReadsBy = "{0} made the session read-only: changes are refused", "{0} 已设为只读：任何改动都会被拒绝";
    ChangesAgain = "changes are allowed again", "已重新允许改动";
    ChangesAgainBy = "{0} allowed changes again", "{0} 已重新允许改动";
    /// A wait; why.
    RetryIn = "retrying in {0}: {1}", "{0}后重试：{1}";
    WaitSeconds = "{0} s", "{0} 秒";
    WaitMinutes = "{0} min {1} s", "{0} 分 {1} 秒";
    WaitHours = "{0} h {1} min", "{0} 小时 {1} 分";
    Retry = "retrying: {0}", "等待重试：{0}";
    Joined = "{0} joined", "{0} 已加入";
    Left = "{0} left", "{0} 已离开";
    Samples = "{0} of {1} samples finished", "{1} 个采样中已有 {0} 个完成";
    CacheReset = "cache reset: {0}", "缓存重置：{0}";
    /// What the reset is for; the model; the effort.
    ResetTo = "{0} to {1}{2}", "{0} → {1}{2}";
    ResetOtherEffort = "effort changed to {0}", "推理强度改为 {0}";
    ResetDefaultEffort = "effort changed to the model's default", "推理强度改为模型默认值";
    ResetEffort = ", effort {0}", "，推理强度 {0}";
    CompactNothing = "nothing was done: {0}", "未作任何处理：{0}";
    CompactBefore = "it was already done", "此前已经完成";
    CompactWould = "expected result: {0}", "预计结果：{0}";
    CompactUndone = "undone: {0}", "已撤销：{0}";
    Compacted = "compacted: {0}", "已压缩：{0}";
    CompactMechanical = "; older messages were replaced by a plain list, without a summary by the model", "；旧消息已替换为一份简单清单，没有模型写的摘要";
    /// Tokens of the prompt; how many are cached; the price.
    Forecast = "about {0} tokens, {1}, {2}", "约 {0} 词元，{1}，{2}";
    Forecasts = "; next request: {0}; without compaction: {1}", "；下一次请求：{0}；不压缩时：{1}";
    ReloadForecasts = "; next request: {0}; before the reload: {1}", "；下一次请求：{0}；重新加载前：{1}";
    ReloadNothing = "no instruction file or tool has changed: nothing was reset", "指令文件和工具没有变化：未作任何重置";
    Reloaded = "reloaded: {0}", "已重新加载：{0}";
    /// Tools that `tool_search` finds.
    ReloadedForFree = "reloaded without a cache reset: {0}", "已重新加载，未重置缓存：{0}";
    Cached = "{0} of them from the cache", "其中 {0} 来自缓存";
    CachedNone = "none of them from the cache", "均不来自缓存";
    PriceUnknown = "price unknown", "价格未知";
    CompactServer = "by the provider", "由服务商压缩";
    CompactTokens = "about {0} to {1} tokens", "约从 {0} 到 {1} 词元";
    FoldedOne = "{0} message summarised", "摘要 {0} 条消息";
    Folded = "{0} messages summarised", "摘要 {0} 条消息";
    ShortenedOne = "{0} result shortened", "缩短 {0} 个结果";
    Shortened = "{0} results shortened", "缩短 {0} 个结果";
    Kept = "{0} kept unchanged", "原样保留 {0} 条";
    /// A message; who pinned it.
    Pinned = "pinned {0}: compaction keeps it unchanged ({1})", "已固定 {0}，压缩时原样保留（{1}）";
    Unpinned = "unpinned {0} ({1})", "已取消固定 {0}（{1}）";
    Extraction = "from the reasoning", "来自推理过程";
    HarvestNothing = "nothing to extract from the reasoning", "推理过程中没有可提取的内容";
    Subgoals = "subgoals", "子目标";
    Hypotheses = "hypotheses", "假设";
    Uncertainties = "uncertainties", "不确定之处";
    RejectedPaths = "rejected paths", "已放弃的思路";
    /// The planner's model.
    Planning = "planning with `{0}`", "正在用 `{0}` 制定计划";
    /// The planner's session; how long it took; the plan.
    Planned = "plan by session {0} ({1} s):\n{2}", "会话 {0} 的计划（{1} 秒）：\n{2}";
    Paused = "paused: nothing new starts until it is resumed", "已暂停：恢复之前不会开始新的步骤";
    PausedBy = "{0} paused the session: nothing new starts until it is resumed", "{0} 已暂停：恢复之前不会开始新的步骤";
    Resumed = "resumed", "已恢复";
    ResumedBy = "resumed by {0}", "{0} 已恢复";
    Credentials = "needs a key: {0}", "需要密钥：{0}";
    Exited = "session ended: {0}", "会话已结束：{0}";
    AuthorUser = "user", "用户";
    AuthorAssistant = "assistant", "助手";
    AuthorTool = "tool", "工具";
    GoalStarted = "goal by {0}: {1}", "{0} 设定的目标：{1}";
    ResearchStarted = "goal by {0}, long research: {1}; its notes are in {2}", "{0} 设定的目标（长期研究）：{1}；记录在 {2}";
    GoalContinues = "goal, turn {0}: {1}", "目标，第 {0} 回合：{1}";
    GoalContinuesWith = "goal, turn {0}: {1}: {2}", "目标，第 {0} 回合：{1}：{2}";
    GoalWhyStarted = "started", "已开始";
    GoalWhyReported = "work is left", "尚未完成";
    GoalWhyNoReport = "the last turn made no report", "上一回合没有报告";
    GoalWhyRefused = "not complete", "尚不算完成";
    GoalWhyBlocked = "looks for a way around a block", "正在寻找绕过阻碍的办法";
    GoalWhyNoProgress = "reminded", "已提醒";
    GoalWhyStepLimit = "the last turn reached its step limit", "上一回合达到步数上限";
    GoalWhyRestarted = "the daemon was restarted", "守护进程已重启";
    GoalWhyLimitRaised = "a limit was raised", "上限已提高";
    GoalChanged = "goal changed by {0}: {1}", "{0} 更改了目标：{1}";
    GoalResumed = "goal resumed by {0}: {1}", "{0} 让目标继续：{1}";
    LimitTurns = "turns: {0}", "回合：{0}";
    LimitMoney = "money: {0}", "费用：{0}";
    LimitTokens = "tokens: {0}", "词元：{0}";
    LimitSteps = "steps: {0}", "步数：{0}";
    LimitMinutes = "minutes: {0}", "分钟：{0}";
    NoLimit = "no limit", "不限";
    GoalWhyFailed = "the last turn failed", "上一回合失败";
    OneTurn = "{0} turn", "{0} 个回合";
    Turns = "{0} turns", "{0} 个回合";
    /// Number of turns; why.
    GoalComplete = "goal complete after {0}: {1}", "目标已完成，共 {0}：{1}";
    GoalBlocked = "goal blocked after {0}: {1}", "目标受阻，共 {0}：{1}";
    GoalStopped = "goal stopped after {0}: {1}", "目标已停止，共 {0}：{1}";
    GoalOutOfBudget = "goal out of budget after {0}: {1}", "目标预算用尽，共 {0}：{1}";
    GoalOutOfTurns = "goal out of turns: {1}", "目标回合用尽：{1}";
    GoalFailed = "goal failed after {0}: {1}", "目标失败，共 {0}：{1}";
    GoalBy = "{1} by {0}", "{0} {1}";
    /// The option; those that there are.
    GoalUnknownOption = "`/goal` has no option `{0}`, only {1}; `/goal -- TEXT` takes the text as it is", "`/goal` 没有选项 `{0}`，只有 {1}；`/goal -- 文字` 原样接受文字";
    GoalChangeHow = "/goal --change turns 80, /goal --change usd 5, tokens 2M, steps 500 or minutes 240; 0: no limit", "/goal --change turns 80、/goal --change usd 5、tokens 2M、steps 500 或 minutes 240；0 表示不限";
    GoalNoText = "`/goal` needs a text after its options", "`/goal` 的选项之后需要文字";
    Restarted = "restart {0}: the session starts again", "第 {0} 次重启：会话再次开始";
    RestartedAfter = "restart {0}: the session goes on after a failure: {1}", "第 {0} 次重启：会话在失败后继续：{1}";
    OneRestart = "{0} restart", "{0} 次重启";
    Restarts = "{0} restarts", "{0} 次重启";
    RestartedIn = "restart {0}: the session starts again in {1}", "第 {0} 次重启：会话将在 {1}后再次开始";
    RestartedAfterIn = "restart {0}: the session goes on in {2} after a failure: {1}", "第 {0} 次重启：会话将在失败后 {2}继续：{1}";
    /// Number of restarts; why.
    GaveUp = "gave up after {0}: {1}", "{0}后放弃：{1}";
    GaveUpTooMany = "too many restarts in a short time", "短时间内重启过多";
    GaveUpSameFailure = "the same failure came three times in a row", "同样的失败连续出现了三次";
    GaveUpOutOfCredit = "the provider's account has no credit", "服务商账户余额不足";
    GaveUpBudget = "a budget is used up", "预算已用尽";
    GaveUpDenied = "a call needed an approval and did not get it", "某个调用需要批准，但未获批准";
    GaveUpLimit = "the turn reached its limit of steps or time", "回合达到步数或时间上限";
    GaveUpBlocked = "the turn was blocked", "回合受阻";
    /// The tool; in the reviewer's words.
    ReviewDenied = "the reviewer denied `{0}`: {1}", "审查模型拒绝了 `{0}`：{1}";
    ReviewAllowed = "the reviewer allowed `{0}`: {1}", "审查模型允许了 `{0}`：{1}";
    ReviewAsks = "the reviewer leaves `{0}` to you: {1}", "审查模型将 `{0}` 交由你决定：{1}";
    ReviewHarmless = "the reviewer sees no harm in `{0}` and leaves it to you: {1}", "审查模型认为 `{0}` 无害，交由你决定：{1}";
    ReviewAgainst = "the reviewer is against `{0}` and leaves it to you: {1}", "审查模型反对 `{0}`，交由你决定：{1}";
    /// The tool; why.
    ReviewFailed = "the review of `{0}` failed: {1}", "对 `{0}` 的审查未能完成：{1}";
    NoReason = "no reason was given", "未说明原因";
    Reopened = "session reopened by {0}", "{0} 重新打开了会话";
    Suspended = "the daemon is being replaced; the session continues in the new one", "守护进程正在交接给新进程，会话将继续";
    ReadOnly = "the session is read-only: {0}", "会话只读：{0}";
    /// Event; hook.
    HookWarned = "the {0} hook `{1}` warned", "{0} 钩子“{1}”警告";
    HookBlocked = "the {0} hook `{1}` blocked", "{0} 钩子“{1}”已阻止";
    HookTimeout = "the {0} hook `{1}` timed out", "{0} 钩子“{1}”超时";
    HookError = "the {0} hook `{1}` could not run", "{0} 钩子“{1}”无法运行";
    /// What happened; why.
    Because = "{0}: {1}", "{0}：{1}";
    /// An outcome; its reason.
    InBrackets = "{0} ({1})", "{0}（{1}）";
    QueuedPrompt = "the queued prompt \"{0}\"", "排队的提示词“{0}”";
    AQueuedPrompt = "a queued prompt", "一条排队的提示词";
    PromptEdited = "{0} changed {1}: {2}", "{0} 修改了{1}：{2}";
    PromptSteers = "{0} will be sent into this turn", "{0}将插入本回合";
    Revoked = "{0} revoked the rule {1}", "{0} 已移除规则 {1}";
    PromptMoved = "{0} moved {1} to position {2}", "{0} 将{1}移到第 {2} 位";
    PromptDropped = "{0} was removed", "已移除{0}";
    TheBeginning = "the start", "开头";
    Turn = "turn {0}", "第 {0} 回合";
    RewoundAll = "{0} rewound to {1}: later turns are hidden", "{0} 回退到{1}：之后的回合已隐藏";
    Cleared = "{0} hid the whole conversation; files stay unchanged", "{0} 已隐藏全部对话，文件保持不变";
    RewoundTalk = "{0} rewound to {1}: later turns are hidden; files stay unchanged", "{0} 回退到{1}：之后的回合已隐藏，文件保持不变";
    RewoundCode = "{0} rewound files to {1}; the conversation stays unchanged", "{0} 将文件回退到{1}，对话保持不变";
    UndoneTalk = "{0} undid the rewind: the conversation continues after {1} again", "{0} 撤销了回退：对话重新延续到{1}";
    UndoneCode = "{0} undid the rewind of files", "{0} 撤销了文件回退";
    Removed = "removed: {0}", "已删除：{0}";
    Restored = "restored: {0}", "已恢复：{0}";
    ChangedSince = "skipped, because someone else changed it since: {0}", "已跳过，因为之后被他人改动：{0}";
    NotRestored = "not restored: {0}: {1}", "未能恢复：{0}：{1}";
    AndMore = "{0} and {1} more", "{0} 等，另有 {1} 个";
    Completed = "completed", "完成";
    OutcomeFailed = "failed", "失败";
    OutcomeInterrupted = "interrupted", "已中断";
    Killed = "killed", "已强制终止";
    BudgetExceeded = "budget exceeded", "超出预算";
    MaxSteps = "step limit reached", "达到步数上限";
    ContextFull = "context full", "上下文已满";
    Blocked = "blocked", "受阻";
    ByPerson = "by the user", "由用户操作";
    ByTimeout = "time limit", "超过时限";
    ByShutdown = "the daemon stopped", "守护进程停止";
    ByTerm = "TERM", "TERM 信号";
    ByLoop = "the model was in a loop", "模型陷入循环";
    ByNobody = "no client was attached to approve it", "没有可批准的客户端";
}
