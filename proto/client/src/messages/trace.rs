//! Words of the trace: a line a happening.

crate::catalog! {
    Seconds = "{0} s", "{0} 秒";
    /// Of a duration that is long.
    Slow = "{0} (slow)", "{0}（慢）";
    TurnStart = "turn {0} start \"{1}\"", "第 {0} 回合开始 \"{1}\"";
    TurnEnd = "turn {0} {1}", "第 {0} 回合{1}";
    Start = "start \"{0}\"", "开始 \"{0}\"";
    /// Outcome; duration; steps; calls.
    End = "end {0} {1}, {2}, {3}", "结束：{0}，{1}，{2}，{3}";
    Step = "{0} step", "{0} 步";
    Steps = "{0} steps", "{0} 步";
    Call = "{0} call", "{0} 次调用";
    Calls = "{0} calls", "{0} 次调用";
    File = "{0} file", "{0} 个文件";
    Files = "{0} files", "{0} 个文件";
    /// What happened; why.
    Because = "{0}: {1}", "{0}：{1}";
    /// What happened; who did it.
    By = "{0} by {1}", "{0}（{1}）";
    /// Pid; model; directory.
    Session = "session {0} {1} in {2}", "会话 {0} {1}，目录 {2}";
    /// A session; its turn.
    ForkedFrom = " forked from {0} after turn {1}", "，从会话 {0} 的第 {1} 回合之后分出";
    Prompt = "prompt by {0} \"{1}\"", "{0} 的提示词 \"{1}\"";
    Steer = "steer by {0} \"{1}\"", "{0} 的插话 \"{1}\"";
    Requeued = "prompt {0} \"{1}\"", "提示词{0} \"{1}\"";
    TakenBack = "taken back", "已收回";
    EditedBy = "edited by {0}", "已由 {0} 修改";
    MovedTo = "moved to place {0} by {1}", "已由 {1} 移到第 {0} 位";
    Prompted = "prompted \"{0}\"", "提示 \"{0}\"";
    Steered = "steered \"{0}\"", "插话 \"{0}\"";
    ToldBySession = "message from a session \"{0}\"", "来自会话的消息 \"{0}\"";
    Reminded = "reminded \"{0}\"", "提醒 \"{0}\"";
    /// Number and purpose; try; bytes.
    Request = "request {0} try {1} → {2}", "请求 {0}，第 {1} 次尝试 → {2}";
    FirstToken = "first token {0} {1}", "首个词元 {0} {1}";
    Answer = "answer {0} {1}", "回答 {0} {1}";
    NoTokens = " tokens not reported", " 未报告词元";
    Tokens = " {0}→{1} tokens (cached {2})", " {0}→{1} 词元（缓存 {2}）";
    Retry = "retry: {0}", "重试：{0}";
    RetryIn = "retry in {0}: {1}", "{0}后重试：{1}";
    WaitsForKey = "waits for a key: {0}", "等待密钥：{0}";
    Paused = "paused", "已暂停";
    Resumed = "resumed", "已恢复";
    Set = "set {0}", "设置 {0}";
    Suspended = "suspended: the daemon hands over", "已挂起：守护进程正在交接";
    Reopened = "reopened by {0}", "{0} 重新打开";
    /// Number; outcome of the turn before.
    Restart = "restart {0} after a turn: {1}", "第 {0} 次重启，上一回合：{1}";
    RestartIn = "restart {0} in {2} after a turn: {1}", "{2}后第 {0} 次重启，上一回合：{1}";
    /// Event; hook; outcome; duration.
    Hook = "hook {0} `{1}` {2} {3}", "钩子 {0} `{1}` {2} {3}";
    /// Who set it; its text.
    GoalStarted = "goal by {0} \"{1}\"", "{0} 的目标 \"{1}\"";
    /// Who changed it; its limits.
    GoalChanged = "goal changed by {0}: {1}", "{0} 更改了目标：{1}";
    Notice = "notice: {0}", "提示：{0}";
    Warning = "warning: {0}", "警告：{0}";
    Error = "error: {0}", "错误：{0}";
    /// Outcome; code.
    Exited = "exited {0} code {1}", "已退出：{0}，退出码 {1}";
    /// Tool; subject; verdict; rule; its layer.
    CallOf = "call {0} \"{1}\" {2}: {3} ({4})", "调用 {0} \"{1}\" {2}：{3}（{4}）";
    /// Tool; verdict.
    Review = "review {0} {1}", "审查 {0} {1}";
    Asks = "asks {0} {1} \"{2}\"", "询问 {0} {1} \"{2}\"";
    AsksPutBack = " put back: {0}", "，放回原处：{0}";
    AsksOutside = " outside the sandbox: {0}", "，在沙箱外：{0}";
    AsksOne = "asks {0} \"{1}\"", "提问 {0} \"{1}\"";
    AsksMore = "asks {0} \"{1}\" and {2} more", "提问 {0} \"{1}\"，另有 {2} 个";
    Proposes = "proposes {0} \"{1}\"", "提出计划 {0} \"{1}\"";
    ServerAsks = "{0} asks {1} \"{2}\"", "{0} 提问 {1} \"{2}\"";
    AnsweredAlone = "asked {0} → no client was attached", "询问 {0} → 没有客户端";
    AnsweredNot = "asked {0} → closed by {1}", "询问 {0} → 由 {1} 关闭";
    Answered = "asked {0} → {1} by {2}", "询问 {0} → {1}（{2}）";
    After = "{0} after {1}", "{0}，用时 {1}";
    EditedTo = "edited to: {0}", "改为：{0}";
    CallStart = "start {0} \"{1}\"", "开始 {0} \"{1}\"";
    CallOutside = " outside the sandbox", "（沙箱外）";
    /// Tool; duration; why.
    Blocked = "blocked {0} {1}, by the sandbox: {2}", "被沙箱阻止 {0} {1}：{2}";
    Run = "run {0} {1}", "运行 {0} {1}";
    /// Tool; duration; how it ended.
    RunEnd = "run {0} {1} {2}", "运行 {0} {1} {2}";
    Exit = "exit {0}", "退出码 {0}";
    Signal = "signal {0}", "信号 {0}";
    /// Tool; status; text.
    Result = "result {0} {1}: {2}", "结果 {0} {1}：{2}";
    ChildSpawned = "child {0} spawned \"{1}\"", "后台命令 {0} 已启动 \"{1}\"";
    ChildExited = "child {0} exited {1}", "后台命令 {0} 已结束：{1}";
    Todos = "todos {0}/{1} done", "待办已完成 {0}/{1}";
    Checkpoint = "checkpoint {0}", "检查点 {0}";
    CheckpointTree = " and the tree", "和文件树";
    CheckpointSkipped = ", commands not kept: {0}", "，未保存命令的改动：{0}";
    /// Turn; of what; who; files.
    RewoundTo = "rewound to turn {0} ({1}) by {2}, {3} restored", "{2} 回退到第 {0} 回合（{1}），恢复 {3}";
    RewindUndone = "rewind of record {0} undone ({1}) by {2}, {3} restored", "{2} 撤销了记录 {0} 的回退（{1}），恢复 {3}";
    RewindSkipped = ", {0} skipped", "，跳过 {0} 个";
    RewindFailed = ", {0} failed", "，失败 {0} 个";
    Pinned = "pinned {0} by {1}", "{1} 已固定 {0}";
    Unpinned = "unpinned {0} by {1}", "{1} 已取消固定 {0}";
    Repaired = "repaired calls: {0}", "已修复调用：{0}";
    RepairedText = "{0} recovered from the answer's text", "从回答文字中恢复 {0} 个";
    RepairedClosed = "{0} cut-off calls completed", "补全被截断的 {0} 个";
    RepairedNested = "{0} calls with flattened arguments rebuilt", "重建参数被展平的 {0} 个";
    CacheReset = "cache reset: {0}", "缓存重置：{0}";
    Denied = "denied", "已拒绝";
    Allowed = "allowed", "已允许";
    ReviewAgainst = "against it, left to the user", "反对，交由用户决定";
    ReviewHarmless = "harmless, left to the user", "无害，交由用户决定";
    ReviewAsks = "left to the user", "交由用户决定";
    ReviewFailed = "failed, left to the user", "未完成，交由用户决定";
    ToBeAsked = "to be asked", "需询问";
    AllowedUnasked = "allowed without asking", "未询问即允许";
    DeniedUnasked = "denied because nobody could be asked", "因无人可问而拒绝";
    HookPass = "pass", "通过";
    HookBlock = "block", "已阻止";
    HookWarn = "warn", "警告";
    HookTimeout = "timeout", "超时";
    HookError = "error", "无法运行";
}
