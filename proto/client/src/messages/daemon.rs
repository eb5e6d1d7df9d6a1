//! Sentences that come to a client as text, in other languages: of the daemon why a call is asked about, why something
//! waits, and notices; of this library why a call failed, and hints. [`failures`], [`health`] and [`library`] have more.
//!
//! The first column is the sentence as it is written there, and how it is found. Tests compare it with the sources: each
//! row is still said, and the notices, scopes and refusals that they find there have a row. A sentence that is not here
//! is shown as it came.

use std::borrow::Cow;

use super::{Language, Message, failures, fill, health, library, session_failures, settings};

crate::catalog! {
    GoalInterrupted = "a turn was interrupted", "有一个回合被中断";
    GoalOutOfTime = "the time limit of a turn was reached", "达到了回合的时间上限";
    GoalBudget = "a budget is used up", "预算已用尽";
    GoalTurnFailed = "a turn failed", "有一个回合失败";
    GoalContextFull = "the context is full", "上下文已满";
    GoalDenied = "a call needed an approval and did not get it", "某个调用需要批准，但未获批准";
    GoalTurnBlocked = "a turn was blocked", "有一个回合受阻";
    GoalStopped = "stopped", "停止";
    GoalReplaced = "replaced by another goal", "被另一个目标取代";
    GoalSessionEnded = "the session ended", "会话已结束";
    GoalModeChanged = "the mode was changed", "模式已更改";
    GoalNoProgress = "no progress in {0} turns", "{0} 个回合没有进展";
    GoalOneTurn = "its 1 turn is used up", "1 个回合已用完";
    GoalTurns = "its {0} turns are used up", "{0} 个回合已用完";
    GoalOpenItems = "the todo list has open items", "待办列表还有未完成的项目";
    GoalNoEvidence = "`evidence` that shows that the goal is reached", "说明目标已达成的 `evidence`";
    GoalChecksFailed = "the check commands did not succeed", "检查命令没有成功";
    ResultDenied = "Denied: {0} (built-in).", "已拒绝：{0}。";
    ResultDeniedByRule = "Denied by the rule `{0}` ({1}).", "被规则 `{0}` 拒绝（{1}）。";
    ResultDeniedByUser = "Denied by the user ({0}).", "用户（{0}）已拒绝。";
    ResultDeniedByReviewer = "Denied by the reviewer of risky calls: {0}. Do without this call, or say what it is needed for.", "审查模型已拒绝：{0}。请不使用此调用，或说明为何需要它。";
    ReviewNoVerdict = "its answer has no verdict", "其回答中没有结论";
    ReviewTimedOut = "it timed out", "超时";
    StoppedByTime = "stopped at its time limit of {0} s", "达到 {0} 秒的时间上限，已停止";
    StoppedByOutput = "stopped after {0} MB of output", "输出超过 {0} MB，已停止";
    StoppedByMemory = "killed for its memory: with all its processes it used more than the limit of {0} MB (`sandbox.memory_limit_mb`)", "因内存被终止：它与其所有进程使用的内存超过了 {0} MB 的上限（`sandbox.memory_limit_mb`）";
    RestartWaits = "a restart waits", "等待重启";
    RestartStopped = "the restart was stopped", "重启已取消";
    ResultDeniedNote = "Denied by the user ({0}): {1}", "用户（{0}）已拒绝：{1}";
    ResultDeniedWithRest = "Denied: the user denied every call of that answer that needs approval.", "已拒绝：用户拒绝了该回答中所有需要批准的调用。";
    ResultDeniedBefore = "Denied: the same call was denied before in this turn, and stays denied.", "已拒绝：同样的调用在本回合中已被拒绝，仍然拒绝。";
    ResultPlanMode = "Not run: the session is in plan mode, and this call may change something.", "未执行：会话处于计划模式，而此调用可能改动内容。";
    ResultReadOnly = "Not run: this session only reads, and this call may change something.", "未执行：会话只读，而此调用可能改动内容。";
    ResultPlanApproved = "The user ({0}) approved the plan.", "用户（{0}）批准了计划。";
    ResultPlanRejected = "The user ({0}) did not approve the plan.", "用户（{0}）没有批准计划。";
    ResultPlanNobody = "Nobody is there to approve the plan.", "没有人在场批准计划。";
    ResultNobody = "Nobody is there to answer.", "没有人在场回答。";
    OutsideDirs = "`{0}` is outside the writable directories ({1}). Write below one of them; the user can add a directory with `--add-dir` or `sandbox.allow_write`", "`{0}` 在可写目录（{1}）之外。可写在其中之一；用户可用 `--add-dir` 或 `sandbox.allow_write` 添加目录";
    CompactTooLittle = "It would free too little to justify a cache reset.", "释放的内容太少，不值得重置缓存。";
    CompactAllStay = "All messages must stay unchanged: there is nothing to compact.", "所有消息都必须原样保留：没有可压缩的内容。";
    SetPrice = "Set `price = {0}` (for a million tokens) in the `[[providers]]` entry of `{1}`, or limit tokens instead.", "请在 `{1}` 的 `[[providers]]` 条目中设置 `price = {0}`（每百万词元），或改为限制词元数。";
    StatsTotal = "total", "合计";
    AgentExplore = "Search and read the project, fast; changes nothing", "快速搜索和阅读项目；不作任何改动";
    AgentGeneral = "Do a task of several steps by itself", "独立完成多步骤的任务";
    AgentPlan = "Work out how to do something; changes nothing", "想出做法；不作任何改动";
    AgentReview = "Look for faults in changes or files; changes nothing", "在改动或文件中查找问题；不作任何改动";
    CommandInit = "write a first AGENTS.md for this project", "为本项目写第一份 AGENTS.md";
    CommandReview = "review uncommitted changes, a commit, or a branch", "审查未提交的改动、一个提交或一个分支";
    LayerBuiltIn = "built-in", "内置";
    NoRule = "no rule allows it", "没有规则允许";
    NoRuleBecause = "no rule allows it: {0}", "没有规则允许：{0}";
    Undeclared = "the call was written as text, not made as a tool call", "该调用写在回答的文字中，而不是作为工具调用发出";
    AlwaysDenyRule = "always asked: the deny rule `{0}` cannot be read", "始终询问：无法读取拒绝规则 `{0}`";
    AlwaysCheckpoint = "always asked: `{0}` cannot be saved in a checkpoint", "始终询问：检查点无法保存 `{0}`";
    AlwaysNames = "always asked: the command names `{0}`, which is a config file of the agent, its repository, an editor or a shell", "始终询问：命令提到 `{0}`，它是代理、仓库、编辑器或 shell 的配置文件";
    AlwaysNamesSetting = "always asked: the command names `{0}`, a git setting that makes git run a program", "始终询问：命令提到 `{0}`，它是让 git 运行程序的 git 设置";
    AlwaysMayMatch = "always asked: a pattern of the command may match `{0}`, which is a config file of the agent, its repository, an editor or a shell", "始终询问：命令中的通配模式可能匹配 `{0}`，它是代理、仓库、编辑器或 shell 的配置文件";
    AlwaysConfigures = "always asked: `{0}` is a config file of the agent, its repository, an editor or a shell", "始终询问：`{0}` 是代理、仓库、编辑器或 shell 的配置文件";
    AlwaysTool = "always asked: `{0}`", "始终询问：`{0}`";
    PlanOver = "the approved plan over: {0}", "已批准的计划优先于：{0}";
    SettingsStricter = "The settings became stricter; this session follows them from its next call: {0}. What they loosen applies to new sessions.", "设置变得更严格，此会话从下一次调用起遵守：{0}。放宽的部分在新会话中生效。";
    AutoOver = "approval mode `auto` over: {0}", "审批模式 `auto` 优先于：{0}";
    YoloOver = "approval mode `yolo` over: {0}", "审批模式 `yolo` 优先于：{0}";
    CannotHold = "{0}; the sandbox cannot protect all denied paths", "{0}；沙箱无法保护所有禁止访问的路径";
    NotUnderstoodRules = "the deny and ask rules cannot be fully checked: {0}", "无法完整检查拒绝和询问规则：{0}";
    NotUnderstood = "cannot be fully checked: {0}", "无法完整检查：{0}";
    DoubtEmpty = "the command is empty", "命令为空";
    DoubtTooLong = "it has more than 10,000 characters", "超过 10,000 个字符";
    DoubtCharacters = "it contains control, invisible or text-direction characters", "含有控制字符、不可见字符或文字方向字符";
    DoubtSyntax = "it cannot be parsed", "语法无法解析";
    DoubtTooDeep = "it is nested too deeply", "嵌套过深";
    DoubtTooMuch = "it is too long to analyse", "内容过长，无法分析";
    DoubtMisread = "shells may read it in different ways", "不同的 shell 可能有不同的解读";
    DoubtProgram = "it runs a program whose name is not a plain word", "运行的程序名不是普通单词";
    DoubtCode = "it runs inline code", "运行内联代码";
    DoubtCodeIn = "it runs inline {0}", "运行内联 {0} 代码";
    DoubtInput = "it runs commands from a file or from standard input", "运行来自文件或标准输入的命令";
    DoubtLauncher = "it starts another program, and it is unclear which", "会启动另一程序，但无法确定是哪个";
    DoubtEvaluates = "it evaluates variables as code", "会把变量的值当作代码求值";
    DoubtChanges = "it changes the meaning of later commands", "会改变后续命令的含义";
    SetsVariable = "it sets a variable", "设置了变量";
    Redirects = "it has a redirection", "含有重定向";
    Coded = "{0} is written in escape codes", "{0} 以转义编码书写";
    Listed = "{0} comes from a list in braces", "{0} 来自花括号中的列表";
    KnownOnlyThenDeny = "the value of {0} is only known at run time, and a deny rule names `{1}`", "{0} 的值要到运行时才知道，而有一条拒绝规则涉及 `{1}`";
    KnownOnlyThenAsk = "the value of {0} is only known at run time, and an ask rule names `{1}`", "{0} 的值要到运行时才知道，而有一条询问规则涉及 `{1}`";
    KnownOnlyThen = "the value of {0} is only known at run time", "{0} 的值要到运行时才知道";
    Background = "it runs in the background", "在后台运行";
    PipeBoth = "`|&` is a redirection", "`|&` 是重定向";
    Negated = "it is negated with `!`", "用 `!` 取反";
    Group = "it is in a group", "位于命令组中";
    Loop = "it is in a loop", "位于循环中";
    Condition = "it is in a condition", "位于条件中";
    Function = "it is in a function", "位于函数中";
    Substitution = "it is in a substitution", "位于命令替换中";
    OtherLine = "another command runs it", "由另一命令运行";
    GitRuns = "the repository's git config may run another program: {0}", "仓库的 git 配置可能运行另一程序：{0}";
    ChangedBefore = "an earlier command changed `{0}`, so the effect of this one is unknown", "之前的命令改动了 `{0}`，因此这条命令的效果未知";
    PrefixWord = "no prefix rule can cover `{0}`", "前缀规则无法涵盖 `{0}`";
    PrefixGit = "this prefix rule does not cover `git {0}`", "此前缀规则不涵盖 `git {0}`";
    CommandMade = "what a command made can configure or run something", "命令创建的内容可以更改配置或运行程序";
    NothingHolds = "nothing restricts a command to `{0}`", "没有机制能把命令限制在 `{0}` 之内";
    Closed = "tools may not access `{0}`", "工具不得访问 `{0}`";
    TooLongForPaths = "the command is too long to check against path rules", "命令过长，无法用路径规则检查";
    TooManyWords = "the command has too many words to check against path rules", "命令的单词过多，无法用路径规则检查";
    ShellFiles = "the path rules cannot check which files the shell inserts", "路径规则无法检查 shell 会展开为哪些文件";
    ShellFilesBelow = "cannot tell which files under `{0}`, outside the workspace, the shell inserts", "无法得知 shell 会展开为工作区之外 `{0}` 下的哪些文件";
    NotLookedUp = "the path `{0}` in the command was not checked", "命令中的路径 `{0}` 未经检查";
    ReadsAgents = "the command reads `{0}`, which belongs to the agent or the system and is denied to tools", "命令会读取 `{0}`，它属于代理或系统，禁止工具访问";
    ReadsDenied = "the command reads `{0}`, which `sandbox.deny_read` denies to tools", "命令会读取 `{0}`，`sandbox.deny_read` 禁止工具读取它";
    ReadsBelow = "the command reads files under `{0}`, and some of them are denied to tools", "命令会读取 `{0}` 下的文件，其中一部分禁止工具访问";
    AnotherSpelling = "this may be another spelling of `{0}`", "可能是 `{0}` 的另一种写法";
    TooLongForDeny = "the command is too long to check against all deny rules", "命令过长，无法用全部拒绝规则检查";
    TooLongForAsk = "the command is too long to check against all ask rules", "命令过长，无法用全部询问规则检查";
    PathTooLong = "the path is too long to check against all rules", "路径过长，无法用全部规则检查";
    NoPath = "the arguments do not contain a path", "参数中没有路径";
    UnknownCall = "this call cannot be checked", "无法检查此调用";
    UnknownPath = "this path cannot be checked", "无法检查此路径";
    PathNotLookedUp = "a path of the call was not checked", "调用的某个路径未经检查";
    OutsideWritable = "`{0}` is outside the writable directories", "`{0}` 在可写目录之外";
    LeadsNowhere = "`{0}` cannot be resolved", "无法解析 `{0}`";
    ChangesProtected = "it changes `{0}`, which is protected", "它会改动 `{0}`，该路径受保护";
    WritesOutside = "it writes outside the workspace or to a protected file", "它写入工作区之外或受保护的文件";
    NeedsNetwork = "it needs the network, which the sandbox blocks", "它需要网络，而沙箱禁止访问网络";
    NeedsClosed = "it needs `{0}`, which the sandbox denies", "它需要 `{0}`，而沙箱禁止访问";
    NeedsSystem = "it makes a system call that the sandbox denies", "它发出了沙箱禁止的系统调用";
    OwnNetwork = "the sandbox gives the command a separate network without access to any server, including servers on this machine", "沙箱为该命令提供独立的网络，无法访问任何服务器，包括本机的服务器";
    Rewind = "rewind", "回退";
    Exit = "exit", "退出";
    Compaction = "compaction", "压缩";
    Reload = "reload", "重新加载";
    CompactionUndone = "compaction undone", "撤销压缩";
    DaemonStopped = "the daemon stopped", "守护进程停止";
    GoalWaitsForProvider = "{0} (the goal waits for the provider)", "{0}（目标等待服务商）";
    TryFollows = "{0} (attempt {1} of {2})", "{0}（接下来第 {1} 次尝试，共 {2} 次）";
    NoKey = "no key for `{0}`", "没有 `{0}` 的密钥";
    CauseRecovered = "recovered", "已恢复";
    CausePrompt = "prompt", "提示词";
    CauseTurnEnded = "turn ended", "回合已结束";
    CauseTurnEnds = "turn ends", "回合结束中";
    CauseSent = "the request is sent", "请求已发送";
    CauseAnother = "another try", "再次尝试";
    CauseStopping = "stopping", "停止中";
    CauseSummary = "the model is writing a summary", "模型正在撰写摘要";
    CauseServerCompaction = "the provider is compacting the conversation", "服务商正在压缩对话";
    CauseContext = "the context is ready", "上下文已就绪";
    CausePaused = "paused by {0}", "由 {0} 暂停";
    CauseResumed = "resumed by {0}", "由 {0} 恢复";
    CauseReopened = "reopened by {0}", "由 {0} 重新打开";
    CauseApproval = "approval {0}", "审批 {0}";
    CauseQuestion = "questions {0}", "提问 {0}";
    CausePlan = "plan {0}", "计划 {0}";
    CauseElicitation = "elicitation {0}", "服务器提问 {0}";
    GoesOnKept = "The daemon was restarted during an answer. The part shown so far is kept, and the turn continues from there.", "守护进程在回答途中重启。已显示的部分保留，回合从那里继续。";
    GoesOn = "The daemon was restarted; the turn continues where it was.", "守护进程已重启；回合从原处继续。";
    GoalAtDayBudget = "A budget has ended the goal that is not its own to change. When there is room in it again, `reasonix goal change {0} --max-turns {1}` lets the goal go on.", "目标因不属于它自己的预算而结束。该预算再有余量时，`reasonix goal change {0} --max-turns {1}` 让目标继续。";
    GoalAtLimit = "A limit has ended the goal. `reasonix goal change {0} {1} N` lets it go on.", "目标因上限而结束。`reasonix goal change {0} {1} N` 让它继续。";
    AtStepLimit = "The step limit of this turn is reached. Continue with `reasonix resume {0} --add-steps N`, or send a prompt.", "已达到本回合的步数上限。用 `reasonix resume {0} --add-steps N` 继续，或发送提示词。";
    AtTimeLimit = "The time limit of this turn is reached. Continue with `reasonix resume {0} --add-minutes N`, or send a prompt.", "已达到本回合的时限。用 `reasonix resume {0} --add-minutes N` 继续，或发送提示词。";
    AddsSteps = "The work continues; more steps: {0}.", "工作继续；增加的步数：{0}。";
    AddsTime = "The work continues for {0}.", "工作继续，时限 {0}。";
    StillPaused = "The daemon was restarted; the session is still paused.", "守护进程已重启；会话仍处于暂停状态。";
    WasEndedOne = "The daemon stopped during this turn, so the turn was ended. Send a prompt to continue. One queued prompt runs first.", "守护进程在此回合途中停止，回合已结束。发送提示词即可继续。有一条提示词在排队，会先执行。";
    WasEndedMany = "The daemon stopped during this turn, so the turn was ended. Send a prompt to continue. {0} queued prompts run first.", "守护进程在此回合途中停止，回合已结束。发送提示词即可继续。有 {0} 条提示词在排队，会先执行。";
    WasEnded = "The daemon stopped during this turn, so the turn was ended. Send a prompt to continue.", "守护进程在此回合途中停止，回合已结束。发送提示词即可继续。";
    LogBroken = "The log contained calls without a result; results were added.", "日志中有缺少结果的调用，已补上结果。";
    HalfRewound = "A rewind was interrupted while restoring files: some files may be restored, others not. Rewind again to finish it, or undo it to restore the previous state.", "回退在恢复文件时中断：有些文件可能已恢复，有些没有。再次回退可完成恢复，撤销可还原到之前的状态。";
    MechanicalSummary = "Older messages were replaced by a plain list, without a summary by the model. To restore them, use `/compact undo` or `reasonix compact --undo`.", "旧消息已替换为一份简单清单，没有模型写的摘要。用 `/compact undo` 或 `reasonix compact --undo` 可恢复原文。";
    InvalidCall = "The provider refused a badly formed tool call; the model is asked again.", "提供方拒绝了格式有误的工具调用；正在让模型重新回答。";
    CutAnswer = "The answer was cut off by the model's output limit.", "回答因达到模型的输出上限而被截断。";
    NoSummaryWriter = "The model of `agent.compaction_model` cannot be used ({0}), so the session's own model writes the summary.", "`agent.compaction_model` 的模型无法使用（{0}），摘要由会话自己的模型撰写。";
    NoServerCompaction = "The provider did not compact the conversation ({0}), so the model writes a summary.", "服务商没有压缩对话（{0}），摘要由模型撰写。";
    NoPlan = "There is no plan for this turn, and the session's model works without one: {0}.", "本回合没有计划，会话的模型直接工作：{0}。";
    NotCompacted = "The context was not compacted, and nothing changed: {0}", "上下文没有压缩，没有任何改动：{0}";
    CacheExpired = "The provider's cache of this conversation has expired ({0} since the last request; it is kept for {1}): {2}.", "服务商对本对话的缓存已过期（距上次请求 {0}，保留 {1}）：{2}。";
    CacheProbably = "The provider's cache of this conversation has probably expired ({0} since the last request): {1}.", "服务商对本对话的缓存可能已过期（距上次请求 {0}）：{1}。";
    CacheMissed = "The provider's cache missed: {0}, although the earlier messages did not change. The entry was evicted, or another server answered.", "服务商的缓存未命中：{0}，尽管之前发送的内容没有变化。缓存已被清除，或由另一台服务器应答。";
    CacheServed = "{0} of {1} tokens were served from it", "{1} 个词元中有 {0} 个来自缓存";
    BehindTurn = "{0} until you raise the session's budget or send another prompt.", "{0}，等待提高会话预算或发送新的提示词。";
    OnePromptWaits = "1 prompt is queued", "有 1 条提示词在排队";
    PromptsWait = "{0} prompts are queued", "有 {0} 条提示词在排队";
    FallbackAgent = "The agent `{0}` failed, so its fallback `{1}` works on the task as session {2}: {3}.", "代理 `{0}` 失败，由其后备代理 `{1}` 以会话 {2} 处理该任务：{3}。";
    StandsIn = "`{0}` is not available, so `{1}` answers for the rest of this turn: {2}.", "`{0}` 不可用，本回合剩余部分由 `{1}` 应答：{2}。";
    NoStandIn = "`{0}` is not available ({1}), and its fallback `{2}` cannot be used: {3}", "`{0}` 不可用（{1}），其备用模型 `{2}` 也无法使用：{3}";
    EndedInCircles = "The turn was ended: the model kept repeating the same calls with the same results, even after a reminder.", "回合已结束：模型在提醒后仍反复发出相同的调用，结果也相同。";
    NotExtracted = "The reasoning could not be extracted: {0}. This notice appears only once; the session continues.", "无法提取推理内容：{0}。此提示只出现一次，会话继续。";
    NotAttached = "`@{0}` is not attached: {1}.", "未附上 `@{0}`：{1}。";
    NotAttachedDisk = "What the prompt refers to is not attached: the disk does not answer.", "提示词引用的内容没有附上：磁盘没有响应。";
    NotAttachedMany = "{0} references are not attached: a prompt may have {1}.", "有 {0} 个引用没有附上：一条提示词最多可有 {1} 个。";
    AttachedLines = "`{0}` is attached only up to line {1}.", "`{0}` 只附上了前 {1} 行。";
    AttachedCutLines = "`{0}` is attached with its lines cut after {1} bytes.", "`{0}` 的行在 {1} 字节之后被截断。";
    AttachedBytes = "`@{0}` is attached only up to byte {1}.", "`@{0}` 只附上了前 {1} 字节。";
    ListedPart = "`{0}` is listed only in part: {1} entries.", "`{0}` 只列出了一部分：{1} 项。";
    AttachedFull = "the files of this prompt have more than 64000 tokens", "此提示词的文件超过 64000 个词元";
    AttachedMissing = "there is no such file or directory", "没有这个文件或目录";
    AttachedOutside = "its links lead out of the workspace, to `{0}`; refer to that path if you mean it", "其链接指向工作区之外的 `{0}`；若确有此意，请直接引用该路径";
    AttachedReversed = "line {0} is behind line {1}: write `:{2}`", "第 {0} 行在第 {1} 行之后：请写 `:{2}`";
    AttachedLineZero = "lines count from 1", "行号从 1 开始";
    AttachedLinkToNothing = "it is a link to nothing", "它是指向不存在目标的链接";
    AttachedNoSymbol = "`{0}` defines no `{1}`", "`{0}` 没有定义 `{1}`";
    AttachedPlaces = "`@{0}` is defined in {1} places; the first {2} are attached. Name one as `@{3}#{4}`.", "`@{0}` 有 {1} 处定义；已附上前 {2} 处。请用 `@{3}#{4}` 指定一处。";
    AttachedShort = "it has {0} lines", "它只有 {0} 行";
    AttachedDenied = "`{0}` denies it", "规则 `{0}` 禁止读取";
    AttachedNoTool = "the session has no tool that reads, to check it by", "会话没有可用来检查它的读取工具";
    AttachedForeign = "it is outside of the workspace, and the command is the project's", "它在工作区之外，而命令属于项目";
    AttachedStdin = "it is outside of the workspace, and the prompt came from standard input", "它在工作区之外，而提示词来自标准输入";
    StartsInPlanMode = "This prompt looks like work of many steps, so the session starts in plan mode: nothing changes until you approve a plan. Leave plan mode to do without one; `agent.auto_plan = false` turns this off for new sessions.", "这条提示词看起来是需要多个步骤的工作，因此会话以计划模式开始：在你批准计划之前不作任何改动。退出计划模式即可不用计划；`agent.auto_plan = false` 会对新会话关闭此功能。";
    ProjectsCommand = "`/{0}` is the project's `{1}`, in place of the program's command of this name.", "`/{0}` 是项目的 `{1}`，代替了程序自带的同名命令。";
    ProjectsSkill = "`/{0}` is the project's `{1}`, in place of your own skill of this name.", "`/{0}` 是项目的 `{1}`，代替了你自己的同名技能。";
    AttachedNoFile = "`{0}` is {1}, not a file", "`{0}` 是{1}，不是文件";
    AttachedClosed = "`{0}` belongs to Reasonix or to the system and is closed to tools", "`{0}` 属于 Reasonix 或系统，不对工具开放";
    AttachedDenyRead = "reading `{0}` is denied by `deny_read` (`{1}`)", "`deny_read`（`{1}`）禁止读取 `{0}`";
    FileLeftOut = "`{0}` is left out: {1}.", "已略过 `{0}`：{1}。";
    FrontMatterOpen = "its front matter has no end", "其前置元数据没有结束标记";
    FrontMatterWrong = "its front matter is not valid: {0}", "其前置元数据无效：{0}";
    CommandEmpty = "it says nothing to the model", "其中没有给模型的内容";
    SkillName = "its name has letters that a skill cannot have", "名称中含有技能不能使用的字符";
    SkillRenamed = "its name has letters that a skill cannot have, so it is called `{0}`, like its directory", "名称中含有技能不能使用的字符，因此沿用目录名 `{0}`";
    CommandName = "its name has letters that a command cannot have", "名称中含有命令不能使用的字符";
    FileTooLong = "it has more than {0} bytes", "超过 {0} 字节";
    FactElsewhere = "facts of the type `{0}` belong in `{1}`", "类型为 `{0}` 的记忆应放在 `{1}`";
    FileNoText = "it is not a text file", "不是文本文件";
    FileOutside = "it leads out of the workspace", "指向工作区之外";
    CommandModel = "`{0}`: `model` has no effect in a command. Choose the model with `/model` or `--model`.", "`{0}`：`model` 在命令中不起作用。请用 `/model` 或 `--model` 选择模型。";
    NoExamples = "The model gets no examples: `agent.examples_file` names `{0}`: {1}.", "模型没有得到示例：`agent.examples_file` 指定的是 `{0}`：{1}。";
    ShippedPrompt = "The shipped system prompt is used: `agent.system_prompt_file` names `{0}`: {1}.", "使用内置系统提示词：`agent.system_prompt_file` 指定的是 `{0}`：{1}。";
    NotTrusted = "`{0}` is not trusted; these settings have no effect until it is: {1}", "`{0}` 未受信任；以下设置在受信任之前不生效：{1}";
    UntrustedInstructions = "Instructions from a project that is not trusted: {0}. The model reads them; they permit nothing.", "来自未受信任项目的指令：{0}。模型会读取它们；它们不授予任何权限。";
    MovedAway = "`{0}` appeared while a command ran. It can configure or run something, so it was moved to `{1}`. To take it back: mv {2} {3}", "命令运行期间出现了 `{0}`。它可以更改配置或运行程序，因此已移到 `{1}`。如需取回：mv {2} {3}";
    ReplacedAndMoved = "`{0}` was replaced while a command ran, and can run more than before. The command may have done that, so it was moved to `{1}`, and the original is back. To take it: mv {2} {3}", "命令运行期间 `{0}` 被替换，并且能比以前运行更多内容。这可能是该命令所为，因此它已移到 `{1}`，原来的内容已恢复。如需采用：mv {2} {3}";
    ReplacedByAnother = "`{0}` was replaced by another program while a command ran, and the command could change it from then on: look at it.", "命令运行期间 `{0}` 被另一个程序替换，此后该命令可以更改它：请检查。";
    NotMovedAway = "`{0}` appeared while a command ran. It can configure or run something, and could not be moved away ({1}): look at it.", "命令运行期间出现了 `{0}`。它可以更改配置或运行程序，但无法移走（{1}）：请检查。";
    NoFallback = "No fallback model: {0}", "没有备用模型：{0}";
    NoProviderChosen = "No provider is configured: using `{0}`, because its key {1} is set. Choose another one with `reasonix setup`.", "未配置服务商：因已设置密钥 {1}，使用 `{0}`。可用 `reasonix setup` 选择其他服务商。";
    ShortenedLog = "The log ends at record {0}, but record {1} had been saved: it was cut, or restored from a backup. The session continues from record {0}; files may contain later changes.", "日志止于第 {0} 条记录，但第 {1} 条记录曾已保存：日志被截断，或由备份还原。会话从第 {0} 条记录继续；文件可能含有之后的更改。";
    TornLog = "The end of the log was damaged and was moved away ({0} bytes in `{1}`): {2}", "日志末尾已损坏，已移到别处（`{1}` 中 {0} 字节）：{2}";
    PriceUnknown = "The price of `{0}` is unknown, so a budget in money cannot limit its requests. Limits on tokens, steps and time apply.", "`{0}` 的价格未知，金额预算无法限制其请求。词元、步数和时间限制仍然有效。";
    UseNotReported = "The provider of `{0}` does not report usage, so budgets in money and tokens cannot limit its requests. Limits on steps and time apply.", "`{0}` 的服务商不报告用量，金额和词元预算无法限制其请求。步数和时间限制仍然有效。";
    EffortUnknown = "`{0}` does not support the effort `{1}`: {2}.", "`{0}` 不支持推理强度 `{1}`：{2}。";
    EffortOfEntry = "it uses `{0}` from its config entry", "使用其配置中的 `{0}`";
    EffortOwn = "it uses the model's default", "使用模型的默认强度";
    ScopeExact = "this exact command", "仅这条命令";
    ScopePrefix = "`{0}` with any arguments", "`{0}`，参数不限";
    ScopeEdits = "editing files in the workspace", "编辑工作区中的文件";
    ScopeEdit = "editing `{0}`", "编辑 `{0}`";
    ScopeFetch = "fetching from `{0}`", "从 `{0}` 获取内容";
    ScopeServer = "every tool of the MCP server `{0}`", "MCP 服务器 `{0}` 的所有工具";
    AskedChangedDefinition = "always asked: its server changed the definition of `{0}` since it was approved", "总是询问：其服务器在批准之后更改了 `{0}` 的定义";
    ServerWithoutTools = "The MCP server `{0}` gives this session no tools: {1}. Sessions that start once it is ready have them; `reasonix mcp list` shows its state.", "MCP 服务器 `{0}` 没有为此会话提供工具：{1}。在其就绪之后开始的会话将拥有它们；`reasonix mcp list` 显示其状态。";
    ServerToolLeftOut = "the tool {0} of the MCP server `{1}` is left out: {2}", "已略过 MCP 服务器 `{1}` 的工具 {0}：{2}";
    ServerMoreLeftOut = "{0} more tools or prompts of the MCP server `{1}` are left out", "还略过了 MCP 服务器 `{1}` 的另外 {0} 个工具或提示词";
    ServerNotTrusted = "its project is not trusted; `reasonix trust` shows what it brings, and trusts it", "其项目未受信任；`reasonix trust` 显示其内容并可信任它";
    ServerTrustChanged = "{0} has changed since it was trusted; `reasonix trust` shows what it brings, and trusts it", "{0} 在受信任之后已更改；`reasonix trust` 显示其内容并可信任它";
    ServerRemoved = "it was removed from {0}", "它已从 {0} 中移除";
    ServerDisabled = "{0} disables it now", "{0} 现已将其停用";
    ScopeTool = "every call of `{0}`", "`{0}` 的所有调用";
    IsApproval = "This is an approval request for a call.", "这是一次调用的审批请求。";
    HintApproval = "Allow or deny it: `reasonix inbox allow ID`, `reasonix inbox deny ID`.", "请允许或拒绝：`reasonix inbox allow ID`、`reasonix inbox deny ID`。";
    IsQuestion = "This is a question from the model.", "这是模型的提问。";
    HintQuestion = "Answer it: `reasonix inbox answer ID …`.", "请作答：`reasonix inbox answer ID …`。";
    IsPlan = "This is a plan from the model.", "这是模型的计划。";
    HintPlan = "Approve it with `reasonix inbox allow ID` (`--keep-asking` keeps asking about calls), or reject it with `reasonix inbox deny ID`.", "用 `reasonix inbox allow ID` 同意（加 `--keep-asking` 则仍照常询问调用），或用 `reasonix inbox deny ID` 退回。";
    HintScope = "Choose one of the offered scopes, or allow it once.", "请选择所提供的范围之一，或仅允许一次。";
    IsElicitation = "This is a question from an MCP server.", "这是 MCP 服务器的提问。";
    HintElicitation = "Answer it with `reasonix inbox answer ID …`, or decline with `reasonix inbox deny ID`.", "请用 `reasonix inbox answer ID …` 回答，或用 `reasonix inbox deny ID` 拒绝回答。";
    HintValues = "Correct that answer, or decline.", "请更正该回答，或拒绝回答。";
    HintReplies = "Choose options by their labels, or write your own answer.", "请按标签选择选项，或自行填写回答。";
    ScopeNotOffered = "This scope was not offered.", "未提供此范围。";
    NotAlways = "This call cannot always be allowed.", "此调用不能始终允许。";
    EditOutside = "Outside the sandbox only the same command can run: its text cannot be changed.", "在沙箱外只能运行同一条命令，不能改动。";
    HintEditOutside = "Deny it, and tell the model which command to run instead.", "请拒绝，并告诉模型该改为运行什么命令。";
    EditNone = "This call has no command that can be changed.", "此调用没有可以改动的命令。";
    HintEditNone = "Allow it as it is, or deny it and say what to do instead.", "请原样允许，或拒绝并说明该怎么做。";
    EditOnce = "A changed command can only be allowed once.", "改动过的命令只能允许一次。";
    HintEditOnce = "Send it with `allow_once`.", "请以 `allow_once` 发送。";
    EditEmpty = "The changed command is empty.", "改动后的命令为空。";
    HintEditEmpty = "Write a command, or deny the call.", "请写一条命令，或拒绝此调用。";
    EditZero = "The changed command contains a zero byte.", "改动后的命令含有零字节。";
    HintEditZero = "Remove it; a command is text.", "请删去；命令应为文本。";
    CallWaitsNot = "The call no longer waits for an answer.", "此调用已不再等待回答。";
    HintViewAgain = "View the session again.", "请重新查看会话。";
    RepliesMisfit = "There are {0} questions, but {1} answers were given.", "有 {0} 个问题，但给出了 {1} 个回答。";
    ReplyMissing = "There is no answer to `{0}`.", "没有回答 `{0}`。";
    ReplyOne = "`{0}` takes only one answer.", "`{0}` 只能选一项。";
    ReplyUnknown = "`{0}` has no option `{1}`.", "`{0}` 没有选项 `{1}`。";
    ValuesMisfit = "{0} values are asked for, but {1} answers were given.", "需要 {0} 个值，但给出了 {1} 个回答。";
    ValueOption = "`{0}` takes only one of its options.", "`{0}` 只能取其选项之一。";
    ValueNumber = "`{0}` must be a number.", "`{0}` 必须是数字。";
    ValueInteger = "`{0}` must be a whole number.", "`{0}` 必须是整数。";
    ValueLeast = "`{0}` must be at least {1}.", "`{0}` 至少为 {1}。";
    ValueEmail = "`{0}` must be an email address, like `ann@example.org`.", "`{0}` 必须是电子邮件地址，例如 `ann@example.org`。";
    ValueUri = "`{0}` must be an address with its scheme, like `https://example.org/page`.", "`{0}` 必须是带协议的地址，例如 `https://example.org/page`。";
    ValueDate = "`{0}` must be a date, like `2026-01-31`.", "`{0}` 必须是日期，例如 `2026-01-31`。";
    ValueDateTime = "`{0}` must be a date and time with its zone, like `2026-01-31T09:30:00Z`.", "`{0}` 必须是带时区的日期和时间，例如 `2026-01-31T09:30:00Z`。";
    ValueMost = "`{0}` must be at most {1}.", "`{0}` 至多为 {1}。";
    LastLeft = "the last client that could answer has disconnected. Allow the call with a rule (`--allow`), or use `--on-ask wait`.", "最后一个能作答的客户端已断开。可用规则（`--allow`）允许该调用，或使用 `--on-ask wait`。";
    AnsweredFirstSo = "{0} answered first: {1}.", "{0} 已先作答：{1}。";
    AnsweredFirst = "{0} answered first.", "{0} 已先作答。";
    NothingLeft = "There is nothing left to do.", "无需再做任何事。";
    NoSuchInteraction = "There is no open question `{0}`.", "没有待回答的问题 `{0}`。";
    HintInbox = "List open questions with `reasonix inbox`.", "用 `reasonix inbox` 查看待回答的问题。";
    NotWhatWaits = "The question has changed since it was shown.", "问题在显示之后已改变。";
    HintLookAgain = "View it again, then answer.", "请重新查看后再回答。";
    RuleNotKept = "The rule could not be saved because of a bug in Reasonix.", "由于 Reasonix 的错误，规则未能保存。";
    HintAllowOnce = "Allow it once instead.", "请改为仅允许一次。";
    RuleKeptEnded = "The rule was saved, but the question is already closed: {0}", "规则已保存，但该问题已关闭：{0}";
    HintRules = "Show the rule with `reasonix permissions list`; remove it with `reasonix permissions revoke`.", "用 `reasonix permissions list` 查看规则，用 `reasonix permissions revoke` 移除。";
    ReadLines = "lines {0}–{1} of {2}", "第 {0}–{1} 行，共 {2} 行";
    NearModelsMore = "Did you mean {0}? {1} more: `reasonix models`.", "是否想用 {0}？另有 {1} 个：`reasonix models`。";
    ModelsMore = "Models: {0}. {1} more: `reasonix models`.", "可用模型：{0}。另有 {1} 个：`reasonix models`。";
    SessionsNear = "Did you mean {0}? List sessions with `reasonix ls`.", "是否想用 {0}？用 `reasonix ls` 查看会话。";
    NamesNear = "Did you mean {0}?", "是否想用 {0}？";
    ModelsKnown = "Models: {0}.", "可用模型：{0}。";
    NoWorkTree = "Changes by commands cannot be undone: this is not a git work tree.", "命令所做的改动无法撤回：这里不是 git 工作树。";
    NotKept = "Changes by commands cannot be undone: {0}.", "命令所做的改动无法撤回：{0}。";
    NotKeptFiles = "Changes by commands to files that git both tracks and ignores cannot be undone: {0}.", "命令对 git 跟踪并忽略的文件所做的改动无法撤回：{0}。";
    /// Of what a rewind does not bring back.
    TurnNote = "Turn {0}: {1}", "第 {0} 回合：{1}";
    ProviderAnswered = "`{0}` answered {1}: {2}", "`{0}` 应答 {1}：{2}";
    ProviderRateLimited = "`{0}` rate-limited the request (429): {1}", "`{0}` 限制了请求频率（429）：{1}";
    ProviderError = "`{0}` answered with an error: {1}", "`{0}` 应答出错：{1}";
    ProviderNoConnection = "`{0}` has no connection to {1}: {2}", "`{0}` 无法连接 {1}：{2}";
    ProviderLostConnection = "`{0}` lost its connection to {1}: {2}", "`{0}` 与 {1} 的连接断开：{2}";
    NothingListens = "connection refused: nothing listens there", "连接被拒绝：那里没有程序在监听";
    NoTls = "the server does not speak TLS: try `http://` in `base_url`", "服务器不使用 TLS：请在 `base_url` 中改用 `http://`";
    TurnStopped = "the turn was stopped", "回合已停止";
    ProviderNoKey = "`{0}` has no key: `{1}` is not set", "`{0}` 没有密钥：未设置 `{1}`";
    NoReason = "no reason given", "没有给出原因";
    KeyNotSet = "`api_key_env` (not set)", "`api_key_env`（未设置）";
    ProbeModelsKeyless = "{0} answered with {1} models, and a prompt of one token, after {2} ms", "{0} 应答了 {1} 个模型和一条一个词元的提示词，用时 {2} 毫秒";
    ProbeModelsUnknown = "{0} answered with {1} models, but no prompt, so whether it needs a key is unknown, after {2} ms", "{0} 应答了 {1} 个模型；没有提示词得到应答，因此不知道它是否需要密钥，用时 {2} 毫秒";
    ProbePromptRefused = "{0} answered with {1} models, but refused a prompt of one token: it answered {2}, after {3} ms", "{0} 应答了 {1} 个模型，但拒绝了一条一个词元的提示词：应答 {2}，用时 {3} 毫秒";
    ProbePromptRefusedOne = "{0} answered with one model, but refused a prompt of one token: it answered {1}, after {2} ms", "{0} 应答了一个模型，但拒绝了一条一个词元的提示词：应答 {1}，用时 {2} 毫秒";
    ProbeSeeAgain = "send a prompt to see whether it lasts", "发送一条提示词，看是否仍然如此";
    ProbeNoPrompts = "{0} lists its models, but takes no prompts at this address", "{0} 列出了模型，但在此地址不接受提示词";
    ProbePromptsAt = "{0} takes no prompts at this address, but at `{1}`", "{0} 在此地址不接受提示词，但在 `{1}` 接受";
    ProbeModelsKey = "{0} answered with {1} models; the key works, after {2} ms", "{0} 应答了 {1} 个模型；密钥可用，用时 {2} 毫秒";
    ProbeModelsPrompt = "{0} answered with {1} models, and a prompt of one token; the key works, after {2} ms", "{0} 应答了 {1} 个模型和一条一个词元的提示词；密钥可用，用时 {2} 毫秒";
    ProbeModelsNoKey = "{0} answered with {1} models; no key is set, after {2} ms", "{0} 应答了 {1} 个模型；未设置密钥，用时 {2} 毫秒";
    ProbeModelsOpen = "{0} answered with {1} models, but it does so without a key too, so the key was not checked, after {2} ms", "{0} 应答了 {1} 个模型，但没有密钥也会应答，因此密钥未经检查，用时 {2} 毫秒";
    ProbePrompt = "{0} has no list of models, but answered a prompt of one token, after {1} ms", "{0} 没有模型列表，但应答了一条一个词元的提示词，用时 {1} 毫秒";
    ProbeKeyRefused = "{0} refuses the key: it answered {1}: {2}, after {3} ms", "{0} 拒绝了密钥：应答 {1}：{2}，用时 {3} 毫秒";
    ProbeKeyNeeded = "{0} requires a key, and none is set: it answered {1}: {2}, after {3} ms", "{0} 需要密钥，但未设置：应答 {1}：{2}，用时 {3} 毫秒";
    ProbeKeyUnnamed = "{0} requires a key, and the provider has no `api_key_env`: it answered {1}: {2}, after {3} ms", "{0} 需要密钥，但该服务商没有 `api_key_env`：应答 {1}：{2}，用时 {3} 毫秒";
    ProbeBetter = "{0} has no API at this address, but one at `{1}`", "{0} 在此地址没有 API，但在 `{1}` 有";
    ProbeNoApi = "{0} has no API at this address: neither a list of models nor prompts", "{0} 在此地址没有 API：既没有模型列表，也不接受提示词";
    ProbeNoConnection = "no connection: {0}", "无法连接：{0}";
    ProbeSilent = "no answer within {0} s", "{0} 秒内没有应答";
    HintProbeUrl = "set `base_url` to `{0}`", "请将 `base_url` 设为 `{0}`";
    HintProbeKey = "check the key in `{0}`, and that it belongs to this provider", "请检查 `{0}` 中的密钥，以及它是否属于该服务商";
    HintProbeAnyKey = "check the key, and that it belongs to this provider", "请检查密钥，以及它是否属于该服务商";
    HintProbeNetwork = "check `base_url`, the network and the proxy variables; a model on this machine must be running", "请检查 `base_url`、网络和代理变量；本机上的模型须在运行";
    HintProbeStatus = "check `base_url`, the network and the provider's status page", "请检查 `base_url`、网络和服务商的状态页";
    HintProbeEntry = "check `base_url` and `headers` of this provider", "请检查该服务商的 `base_url` 和 `headers`";
    HintProbeStoreKey = "set `{0}` in the environment, or store the key", "请在环境中设置 `{0}` 或保存密钥";
    HintProbeModel = "give the model that it has", "请给出它所具有的模型";
    HintProbePrompt = "send a prompt to check the key", "请发送一条提示来检查密钥";
    HintProbeKeyVariable = "set `api_key_env` to the variable that holds the key", "请将 `api_key_env` 设为存放密钥的变量";
    HintProbeAnyPrompt = "send a prompt to check it", "请发送一条提示来检查";
    HintProbeVersion = "check `base_url`: the part of the provider's address before `/chat/completions`, `/responses` or `/messages`; many end in `/v1`", "请检查 `base_url`：它是服务商文档中 `/chat/completions`、`/responses` 或 `/messages` 之前的部分；很多以 `/v1` 结尾";
    HintNetwork = "this may be temporary: try again; if it persists, check the network, `base_url` and the provider's status page", "可能是暂时的：请重试；若仍失败，请检查网络、`base_url` 和服务商的状态页";
    HintSetKey = "set `{0}` in the environment or store the key, then try again", "请在环境中设置 `{0}` 或保存密钥，然后重试";
    HintTooLong = "the conversation is too long for the model: compact it, or use a model with a larger context window", "对话过长，超出模型的上下文窗口：请压缩，或换用窗口更大的模型";
    HintCheckKey = "check the key in {0}, or set another one with `reasonix login {1}`", "请检查 {0} 中的密钥，或用 `reasonix login {1}` 设置另一个";
    HintRateWait = "the provider's rate limit was reached: wait {0}, or run fewer sessions", "已达到服务商的频率限制：请等待 {0}，或减少会话数";
    HintRate = "the provider's rate limit was reached: wait, or run fewer sessions", "已达到服务商的频率限制：请稍候，或减少会话数";
    HintInvalidCall = "`{0}` wrote a tool call that the provider cannot read: send the prompt again, or use another model", "`{0}` 写出的工具调用无法被服务商解析：请重新发送提示，或换用其他模型";
    HintNotRunning = "start the server on this machine, or check the port in `base_url`", "请启动本机上的服务器，或检查 `base_url` 中的端口";
    HintProvider = "the provider has a problem: try again later, and check its status page", "服务商故障：请稍后重试，并查看其状态页";
    HintTopUp = "add credit to the account of the key in {0}", "请为 {0} 中密钥所属的账户充值";
    HintRights = "the key in {0} may not use `{1}`, or not from this location: check the account's permissions", "{0} 中的密钥无权使用 `{1}`，或不允许从此处使用：请检查账户权限";
    ConnectionLost = "{0}: the connection to the daemon was lost before its answer", "{0}：在应答之前与守护进程的连接已断开";
    AnswerTimeout = "{0}: no answer within {1} s", "{0}：{1} 秒内没有应答";
    AnswerUnread = "{0}: the daemon's answer cannot be read", "{0}：无法读取守护进程的应答";
    TooLarge = "{0}: {1} bytes do not fit into one message; the limit is {2}", "{0}：{1} 字节超出一条消息的上限 {2}";
    NoMethod = "the daemon has no method `{0}`", "守护进程没有方法 `{0}`";
    NoDaemon = "no daemon answers on `{0}`", "`{0}` 上没有守护进程应答";
    DaemonGone = "the daemon stopped and did not return within {0} s", "守护进程已停止，{0} 秒内没有恢复";
    DaemonWasStopped = "the daemon was stopped", "守护进程已被停止";
    HomeGone = "The home `{0}` no longer exists.", "主目录 `{0}` 已不存在。";
    DaemonEnded = "the daemon exited right after its start ({0})", "守护进程启动后随即退出（{0}）";
    DaemonSilent = "the daemon did not answer within {0} s", "守护进程在 {0} 秒内没有应答";
    HintStart = "start one with `reasonix daemon start`", "用 `reasonix daemon start` 启动";
    HintStartAgain = "start it again with `reasonix daemon start`; its sessions continue", "用 `reasonix daemon start` 重新启动；会话将继续";
    HintLogs = "see `reasonix daemon logs` and `reasonix doctor`", "请用 `reasonix daemon logs` 和 `reasonix doctor` 查看";
    HintVersions = "client and daemon may have different versions: run `reasonix doctor` to check", "客户端与守护进程的版本可能不同：用 `reasonix doctor` 检查";
    HintLook = "check whether it was done before you repeat it", "重复之前，请先查看是否已经完成";
    HintStatus = "check the daemon with `reasonix daemon status` and `reasonix daemon logs`", "用 `reasonix daemon status` 和 `reasonix daemon logs` 查看它在做什么";
    HintFile = "put the text in a file and name the file in the prompt", "请把文字放入文件，并在提示词中写明文件名";
    HintRestart = "run `reasonix daemon restart` to start the installed version", "用 `reasonix daemon restart` 启动已安装的版本";
    HintDoctor = "check the session's log with `reasonix doctor`", "用 `reasonix doctor` 检查会话日志";
    AnsweredBeforeAt = "{0} already answered it: {1} at {2}", "{0} 已经作答：{1}，时间 {2}";
    AnsweredBefore = "{0} already answered it: {1}", "{0} 已经作答：{1}";
    AllowedOnce = "allowed once", "允许一次";
    WasDeniedRest = "denied, with all calls of its answer that need approval", "已拒绝，连同该回答中其余需要批准的调用";
    AllowedEdited = "allowed with a changed command", "改动命令后允许";
    AllowedSession = "allowed for the session", "在本会话内允许";
    AllowedAlways = "always allowed", "始终允许";
    WasDenied = "denied", "已拒绝";
    PlanApproved = "approved", "已同意";
    PlanApprovedKeepAsking = "approved, keep asking", "已同意，仍照常询问";
    PlanSentBack = "sent back", "已退回";
    ElicitationAnswered = "answered", "已回答";
    ElicitationDeclined = "declined", "已拒绝回答";
    ElicitationCancelled = "cancelled", "已取消";
}

impl Language {
    /// A sentence of the daemon's in this language; as it came if it is not known.
    #[must_use]
    pub fn translate(self, text: &str) -> Cow<'_, str> {
        if self == Self::English {
            return Cow::Borrowed(text);
        }
        if let Some((place, problem)) = placed(text) {
            return match self.translate(problem) {
                Cow::Owned(problem) => Cow::Owned(format!("{place}: {problem}")),
                Cow::Borrowed(_) => Cow::Borrowed(text),
            };
        }
        // Of several sentences that fit, the one that says more is meant.
        let found = KNOWN
            .iter()
            .filter_map(|rows| rows(text))
            .max_by_key(|found| found.words);
        let Some(found) = found else {
            return self.translate_list(text);
        };
        let value = |(value, is_name)| match is_name {
            true => Cow::Borrowed(value),
            false => self.translate(value),
        };
        let values: Vec<_> = found.values.into_iter().map(value).collect();
        let values: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
        Cow::Owned(fill(found.chinese, &values))
    }

    /// Several sentences that a semicolon separates, each by itself; as they came if none is known.
    fn translate_list(self, text: &str) -> Cow<'_, str> {
        if !text.contains("; ") {
            return Cow::Borrowed(text);
        }
        let parts: Vec<_> = text.split("; ").map(|part| self.translate(part)).collect();
        match parts.iter().any(|part| matches!(part, Cow::Owned(_))) {
            true => Cow::Owned(parts.join("；")),
            false => Cow::Borrowed(text),
        }
    }
}

/// A problem in a config file: the file, mostly with a line, and what is wrong there.
fn placed(text: &str) -> Option<(&str, &str)> {
    let (place, problem) = text.split_once(": ")?;
    let file = place.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let file = file.strip_suffix(':').unwrap_or(place);
    let is_config = file.ends_with(".toml") || file.ends_with(".json");
    (file.starts_with('/') && is_config).then_some((place, problem))
}

/// The catalogs of sentences that come as text.
const KNOWN: [fn(&str) -> Option<SentenceMatch<'_>>; 6] = [
    |text| best(Msg::ALL, text),
    |text| best(failures::Msg::ALL, text),
    |text| best(session_failures::Msg::ALL, text),
    |text| best(health::Msg::ALL, text),
    |text| best(library::Msg::ALL, text),
    |text| best(settings::Msg::ALL, text),
];

/// A row that a text fits.
struct SentenceMatch<'a> {
    chinese: &'static str,
    values: Vec<(&'a str, bool)>,
    /// Bytes of the row that are not values.
    words: usize,
}

/// The row of a catalog that says most of a text.
fn best<'a, M: Message>(rows: &[M], text: &'a str) -> Option<SentenceMatch<'a>> {
    let found = rows.iter().filter_map(|row| {
        let values = values(row.english(), text)?;
        let of_values: usize = values.iter().map(|(value, _)| value.len()).sum();
        Some(SentenceMatch {
            chinese: row.chinese(),
            words: text.len() - of_values,
            values,
        })
    });
    found.max_by_key(|found| found.words)
}

/// The values in a text for a sentence's `{0}`, `{1}`, …, in their order, and whether each is in backticks there,
/// and so is a name. `None`: it is another sentence.
fn values<'a>(sentence: &str, text: &'a str) -> Option<Vec<(&'a str, bool)>> {
    let mut words = sentence.split(['{', '}']).step_by(2);
    let first = words.next()?;
    let mut rest = text.strip_prefix(first)?;
    let mut ticks = first.matches('`').count();
    let words: Vec<&str> = words.collect();
    let mut values = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let end = match index + 1 == words.len() {
            true => rest.ends_with(word).then(|| rest.len() - word.len()),
            false => rest.find(word),
        };
        let value = rest.get(..end?).filter(|value| !value.is_empty())?;
        values.push((value, ticks % 2 == 1));
        ticks += word.matches('`').count();
        rest = rest.get(value.len() + word.len()..)?;
    }
    rest.is_empty().then_some(values)
}
