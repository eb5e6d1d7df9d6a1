//! Sentences that come to a client as text, in other languages: of the daemon why a call is asked about, why something
//! waits, and notices; of this library why a call failed, and hints.
//!
//! The first column is the sentence as it is written there, and how it is found. Tests compare it with the sources: each
//! row is still said, and the notices, scopes and refusals that they find there have a row. A sentence that is not here
//! is shown as it came.

use std::borrow::Cow;

use super::{Language, Message as _};

crate::catalog! {
    NoRule = "no rule allows it", "没有规则允许";
    NoRuleBecause = "no rule allows it: {0}", "没有规则允许：{0}";
    Undeclared = "found in the answer's words, not declared as a call", "出现在回答的文字中，并未声明为调用";
    AlwaysDenyRule = "always asked: the deny rule `{0}` cannot be read", "始终询问：无法读取拒绝规则 `{0}`";
    AlwaysCheckpoint = "always asked: no checkpoint can hold `{0}`", "始终询问：检查点无法保存 `{0}`";
    AlwaysNames = "always asked: the command names `{0}`, which configures the agent, its repository, an editor or a shell", "始终询问：命令提到 `{0}`，它会影响代理、仓库、编辑器或 shell 的配置";
    AlwaysConfigures = "always asked: `{0}` configures the agent, its repository, an editor or a shell", "始终询问：`{0}` 会影响代理、仓库、编辑器或 shell 的配置";
    AlwaysTool = "always asked: `{0}`", "始终询问：`{0}`";
    PlanOver = "the approved plan over: {0}", "已批准的计划优先于：{0}";
    AutoOver = "approval mode `auto` over: {0}", "审批模式 `auto` 优先于：{0}";
    YoloOver = "approval mode `yolo` over: {0}", "审批模式 `yolo` 优先于：{0}";
    CannotHold = "{0}; the sandbox cannot hold all that is closed here", "{0}；沙箱无法守住此处关闭的全部内容";
    NotUnderstoodRules = "not understood: {0}, and rules that deny or ask cannot be tried against all of it", "无法理解：{0}，因此拒绝或询问的规则无法完整检验";
    NotUnderstood = "not understood: {0}", "无法理解：{0}";
    DoubtEmpty = "it is empty", "命令为空";
    DoubtTooLong = "it has more than 10,000 characters", "超过 10,000 个字符";
    DoubtCharacters = "it has control, invisible or text-direction characters", "含有控制字符、不可见字符或文字方向字符";
    DoubtSyntax = "it does not parse", "语法无法解析";
    DoubtTooDeep = "it is nested too deep", "嵌套过深";
    DoubtTooMuch = "it is too much to be read", "内容过多，无法读取";
    DoubtMisread = "it is written in a way that shells read differently", "写法会被不同的 shell 作不同理解";
    DoubtProgram = "a program in it is not a plain word", "其中的程序名不是普通单词";
    DoubtCode = "a program in it is given code", "其中的程序被传入代码";
    DoubtInput = "a program in it takes its commands from elsewhere", "其中的程序从别处获取命令";
    DoubtLauncher = "what a program in it launches is not clear", "其中的程序会启动什么并不清楚";
    DoubtEvaluates = "it evaluates the values of variables", "会对变量的值求值";
    DoubtChanges = "it changes what later commands mean", "会改变后续命令的含义";
    SetsVariable = "it sets a variable", "设置了变量";
    Redirects = "it has a redirection", "含有重定向";
    Coded = "`{0}` is written in codes", "`{0}` 以编码形式书写";
    KnownOnlyThenRule = "`{0}` is known only when it runs, and a rule to {1} speaks of `{2}`", "`{0}` 要到运行时才知道，而有一条规则（{1}）涉及 `{2}`";
    KnownOnlyThen = "`{0}` is known only when it runs", "`{0}` 要到运行时才知道";
    Background = "it runs in the background", "在后台运行";
    PipeBoth = "`|&` is a redirection", "`|&` 是重定向";
    Negated = "it stands behind `!`", "位于 `!` 之后";
    Group = "it stands in a group", "位于命令组中";
    Loop = "it stands in a loop", "位于循环中";
    Condition = "it stands in a condition", "位于条件中";
    Function = "it stands in a function", "位于函数中";
    Substitution = "it stands in a substitution", "位于命令替换中";
    OtherLine = "it stands in a line of another command", "位于另一命令的命令行中";
    GitRuns = "the repository's own config may have git run another program: {0}", "仓库自身的配置可能让 git 运行另一程序：{0}";
    ChangedBefore = "an earlier command has changed `{0}`, so what this one does is not known", "之前的命令改动了 `{0}`，因此不知道这条命令会做什么";
    PrefixWord = "`{0}` is not covered by a prefix", "`{0}` 不在前缀规则范围内";
    PrefixGit = "`git {0}` is not covered by this prefix", "`git {0}` 不在此前缀规则范围内";
    NothingHolds = "nothing holds a command to `{0}`", "没有机制能把命令限制在 `{0}` 之内";
    Closed = "`{0}` is closed to tools", "`{0}` 不对工具开放";
    TooLongForPaths = "the command is too long for the rules over paths", "命令过长，无法用路径规则检验";
    TooManyWords = "the command has too many words to be tried against the rules over paths", "命令的单词过多，无法用路径规则检验";
    ShellFiles = "which files the shell puts in is not known to the rules over paths", "路径规则无法得知 shell 会展开为哪些文件";
    ShellFilesBelow = "which files the shell puts in below `{0}`, outside the workspace, is not known", "无法得知 shell 会展开为工作区之外 `{0}` 下的哪些文件";
    NotLookedUp = "`{0}` of the command was not looked up", "命令中的 `{0}` 未经查找";
    ReadsAgents = "the command reads `{0}`, which belongs to the agent or the system and is closed to tools", "命令会读取 `{0}`，它属于代理或系统，不对工具开放";
    ReadsDenied = "the command reads `{0}`, which `sandbox.deny_read` closes to tools", "命令会读取 `{0}`，`sandbox.deny_read` 不允许工具读取它";
    ReadsBelow = "the command reads what is below `{0}`, and some of that is closed to tools", "命令会读取 `{0}` 下的内容，其中一部分不对工具开放";
    AnotherSpelling = "perhaps another spelling of what `{0}` names", "可能是 `{0}` 所指内容的另一种写法";
    TooLongForRules = "the command is too long to be tried against all {0} rules", "命令过长，无法用全部 {0} 规则检验";
    PathTooLong = "the path is too long to be tried against all rules", "路径过长，无法用全部规则检验";
    NoPath = "the arguments do not say which path is meant", "参数没有说明指哪个路径";
    UnknownCall = "nothing is known of this call", "对此调用一无所知";
    UnknownPath = "nothing is known of this path", "对此路径一无所知";
    PathNotLookedUp = "a path of the call was not looked up", "调用的某个路径未经查找";
    OutsideWritable = "`{0}` is outside the writable directories", "`{0}` 在可写目录之外";
    LeadsNowhere = "`{0}` leads nowhere that is known", "`{0}` 没有指向已知的位置";
    ChangesProtected = "it changes `{0}`, which is protected in the workspace", "它会改动 `{0}`，该路径在工作区中受保护";
    WritesOutside = "it writes where it may not: outside the workspace, or in a file that is protected", "它写入了不允许写入的位置：工作区之外，或受保护的文件";
    NeedsNetwork = "it needs the network, and there is none", "它需要网络，而此处没有网络";
    NeedsClosed = "it needs `{0}`, which is closed", "它需要 `{0}`，而该路径已关闭";
    NeedsSystem = "it asks the system for something that the sandbox does not give", "它向系统请求了沙箱不提供的内容";
    OwnNetwork = "the network in here is the command's own, and reaches no server outside, also none on this machine", "沙箱内的网络只属于该命令，无法访问外部服务器，也无法访问本机的服务器";
    Rewind = "rewind", "回退";
    Compaction = "compaction", "压缩";
    CompactionUndone = "compaction undone", "撤销压缩";
    DaemonStopped = "the daemon stopped", "守护进程停止";
    TryFollows = "{0} (try {1} of {2} follows)", "{0}（即将进行第 {1} 次尝试，共 {2} 次）";
    NoKey = "there is no key for `{0}`", "没有 `{0}` 的密钥";
    CauseRecovered = "recovered", "已恢复";
    CausePrompt = "prompt", "提示词";
    CauseTurnEnded = "turn ended", "回合已结束";
    CauseTurnEnds = "turn ends", "回合结束中";
    CauseSent = "the request is sent", "请求已发送";
    CauseAnother = "another try", "再次尝试";
    CauseStopping = "stopping", "停止中";
    CauseSummary = "a summary is asked for", "正在请求摘要";
    CauseContext = "the context is as it is to be", "上下文已就绪";
    CausePaused = "paused by {0}", "由 {0} 暂停";
    CauseResumed = "resumed by {0}", "由 {0} 恢复";
    CauseReopened = "reopened by {0}", "由 {0} 重新打开";
    CauseApproval = "approval {0}", "批准 {0}";
    CauseQuestion = "questions {0}", "提问 {0}";
    CausePlan = "plan {0}", "计划 {0}";
    GoesOnKept = "The daemon was restarted in the middle of an answer; what had been shown of it is kept, and the turn goes on from there.", "守护进程在回答途中重启；已显示的内容保留，回合从那里继续。";
    GoesOn = "The daemon was restarted; the turn goes on where it was.", "守护进程已重启；回合从原处继续。";
    StillPaused = "The daemon was restarted; the session is still paused.", "守护进程已重启；会话仍处于暂停状态。";
    WasEndedOne = "The daemon stopped in the middle of this turn; the turn was ended. Prompt again to go on. One prompt waits, and goes first.", "守护进程在此回合途中停止，回合已结束。重新输入提示词即可继续。有一条提示词在等待，它会先执行。";
    WasEndedMany = "The daemon stopped in the middle of this turn; the turn was ended. Prompt again to go on. {0} prompts wait, and go first.", "守护进程在此回合途中停止，回合已结束。重新输入提示词即可继续。有 {0} 条提示词在等待，它们会先执行。";
    WasEnded = "The daemon stopped in the middle of this turn; the turn was ended. Prompt again to go on.", "守护进程在此回合途中停止，回合已结束。重新输入提示词即可继续。";
    LogBroken = "The log had calls without a result where none can be; they were given one.", "日志中有不应缺少结果的调用，已为其补上结果。";
    HalfRewound = "Files were being put back, and that broke off: some may be as they were then, and some not. Rewind again to finish it, or undo it to have all as it was.", "恢复文件的过程中断：有些文件可能已恢复，有些没有。再次回退可完成恢复，撤销则可全部还原。";
    MechanicalSummary = "The model could not write a summary: the context was compacted with a mere list. `/compact undo` (`reasonix compact --undo`) brings the originals back.", "模型未能写出摘要：上下文已用一份清单压缩。`/compact undo`（`reasonix compact --undo`）可恢复原文。";
    CutAnswer = "The answer was cut off by the model's output limit.", "回答因达到模型的输出上限而被截断。";
    NotCompacted = "The context was not compacted, and nothing has changed: {0}", "上下文没有压缩，也没有任何改动：{0}";
    CacheExpired = "The provider's cache of this conversation has expired ({0} since the last request; it is kept for {1}): {2}.", "服务商对本对话的缓存已过期（距上次请求 {0}，保留 {1}）：{2}。";
    CacheProbably = "The provider's cache of this conversation has probably expired ({0} since the last request): {1}.", "服务商对本对话的缓存可能已过期（距上次请求 {0}）：{1}。";
    CacheMissed = "The provider's cache has missed: {0}, though nothing that was sent before has changed. It was evicted, or another server answered.", "服务商的缓存未命中：{0}，尽管之前发送的内容没有变化。缓存已被清除，或由另一台服务器应答。";
    CacheServed = "{0} of {1} tokens were served from it", "{1} 个词元中有 {0} 个来自缓存";
    BehindTurn = "{0} behind this turn, until the session's budget is raised or something more is said.", "{0}排在此回合之后，等待提高会话预算或继续输入。";
    OnePromptWaits = "1 prompt waits", "有 1 条提示词";
    PromptsWait = "{0} prompts wait", "有 {0} 条提示词";
    StandsIn = "`{0}` is down, and `{1}` answers for the rest of this turn: {2}.", "`{0}` 不可用，本回合剩余部分由 `{1}` 应答：{2}。";
    NoStandIn = "`{0}` is down ({1}), and its fallback `{2}` cannot be asked: {3}", "`{0}` 不可用（{1}），其备用模型 `{2}` 也无法使用：{3}";
    EndedInCircles = "The turn was ended: the model made the same calls again and again, with the same results, and went on when it was told.", "回合已结束：模型反复发出相同的调用，结果相同，经提醒后仍未停止。";
    NotExtracted = "The reasoning could not be extracted: {0}. This is said once; the session goes on.", "无法提取推理内容：{0}。此提示只出现一次，会话继续。";
    NotTrusted = "`{0}` is not trusted; without effect until it is: {1}", "`{0}` 未受信任；在受信任之前不生效：{1}";
    NoFallback = "There is no fallback: {0}", "没有备用模型：{0}";
    NoProviderChosen = "No provider is configured: `{0}` is used, because its key {1} is there. `reasonix setup` chooses another one.", "未配置服务商：因存在密钥 {1}，使用 `{0}`。可用 `reasonix setup` 选择其他服务商。";
    TornLog = "The end of the log was torn and has been set aside ({0} bytes in `{1}`): {2}", "日志末尾已损坏，已另行保存（`{1}` 中 {0} 字节）：{2}";
    PriceUnknown = "The price of `{0}` is not known: a budget in money does not hold its requests; those in tokens, steps and time do.", "`{0}` 的价格未知：金额预算无法约束其请求；词元、步数和时间预算仍然有效。";
    UseNotReported = "The provider of `{0}` does not report what requests use: budgets in money and tokens do not hold them; those in steps and time do.", "`{0}` 的服务商不报告请求用量：金额和词元预算无法约束其请求；步数和时间预算仍然有效。";
    EffortUnknown = "`{0}` does not know the effort `{1}`: {2}.", "`{0}` 不支持推理强度 `{1}`：{2}。";
    EffortOfEntry = "it thinks with `{0}`, as its entry says", "按其配置使用 `{0}`";
    EffortOwn = "it thinks as it does by itself", "使用其自身的默认强度";
    ScopeExact = "this exact command", "仅这条命令";
    ScopePrefix = "`{0}` with any arguments", "`{0}`，参数不限";
    ScopeEdits = "editing files in the workspace", "编辑工作区中的文件";
    ScopeEdit = "editing `{0}`", "编辑 `{0}`";
    ScopeFetch = "fetching from `{0}`", "从 `{0}` 获取内容";
    ScopeTool = "every call of `{0}`", "`{0}` 的所有调用";
    IsApproval = "This is an approval of a call.", "这是对一次调用的审批。";
    HintApproval = "Allow or deny it: `reasonix inbox allow ID`, `reasonix inbox deny ID`.", "请允许或拒绝：`reasonix inbox allow ID`、`reasonix inbox deny ID`。";
    IsQuestion = "This is a question of the model.", "这是模型的提问。";
    HintQuestion = "Answer it: `reasonix inbox answer ID …`.", "请作答：`reasonix inbox answer ID …`。";
    IsPlan = "This is a plan of the model.", "这是模型的计划。";
    HintPlan = "`reasonix inbox allow ID` approves it, `reasonix inbox deny ID` sends it back.", "`reasonix inbox allow ID` 表示同意，`reasonix inbox deny ID` 表示退回。";
    HintScope = "Take one of the scopes of the approval, or allow it once.", "请选择审批所提供的范围之一，或仅允许一次。";
    HintReplies = "Choose among the options by their labels, or say something else in words of your own.", "请按标签选择选项，或用自己的话作答。";
    ScopeNotOffered = "This scope was not offered.", "未提供此范围。";
    NotAlways = "This cannot be allowed always.", "此项不能始终允许。";
    RepliesMisfit = "There are {0} questions, and {1} replies.", "有 {0} 个问题，{1} 个回答。";
    ReplyMissing = "Nothing is said to `{0}`.", "没有回答 `{0}`。";
    ReplyOne = "`{0}` has one answer.", "`{0}` 只能选一项。";
    ReplyUnknown = "`{0}` has no option `{1}`.", "`{0}` 没有选项 `{1}`。";
    LastLeft = "the last person who could have answered has left. Allow it with a rule (`--allow`), or with `--on-ask wait`.", "最后一位能作答的人已离开。可用规则（`--allow`）或 `--on-ask wait` 允许它。";
    AnsweredFirstSo = "{0} answered first: {1}.", "{0} 已先作答：{1}。";
    AnsweredFirst = "{0} answered first.", "{0} 已先作答。";
    NothingLeft = "Nothing is left to be done.", "无需再做任何事。";
    NoSuchInteraction = "Nothing that waits is called `{0}`.", "没有名为 `{0}` 的待处理项。";
    HintInbox = "`reasonix inbox` lists what waits.", "用 `reasonix inbox` 查看待处理项。";
    NotWhatWaits = "What was shown is not what waits.", "所显示的内容与待处理项不一致。";
    HintLookAgain = "Look at it again, and answer what you see.", "请重新查看，并按所见作答。";
    RuleNotKept = "The rule could not be kept, because of a bug in Reasonix.", "由于 Reasonix 的错误，规则未能保存。";
    HintAllowOnce = "Allow it once.", "请改为仅允许一次。";
    RuleKeptEnded = "The rule is kept, but the question has ended: {0}", "规则已保存，但该问题已结束：{0}";
    HintRules = "`reasonix permissions list` shows it, `reasonix permissions revoke` takes it back.", "用 `reasonix permissions list` 查看，用 `reasonix permissions revoke` 撤回。";
    ReadLines = "lines {0}–{1} of {2}", "第 {0}–{1} 行，共 {2} 行";
    NoWorkTree = "Changes by commands cannot be taken back: this is no git work tree.", "命令所做的改动无法撤回：这里不是 git 工作树。";
    NotKept = "Changes by commands cannot be taken back: {0}.", "命令所做的改动无法撤回：{0}。";
    NotKeptFiles = "Changes by commands to files that git tracks and ignores cannot be taken back: {0}.", "命令对 git 跟踪并忽略的文件所做的改动无法撤回：{0}。";
    ProviderAnswered = "`{0}` answered {1}: {2}", "`{0}` 应答 {1}：{2}";
    ProviderError = "`{0}` answered with an error: {1}", "`{0}` 应答出错：{1}";
    ProviderNoKey = "`{0}` has no key: `{1}` is not set", "`{0}` 没有密钥：未设置 `{1}`";
    NoReason = "no reason given", "没有给出原因";
    KeyNotSet = "`api_key_env` (not set)", "`api_key_env`（未设置）";
    HintNetwork = "it may pass: try again, and look at the network, `base_url` and the vendor's status page if it stays", "可能会自行恢复：请重试；若仍失败，请检查网络、`base_url` 和服务商的状态页";
    HintSetKey = "set `{0}` in the environment, or store the key, and try again", "请在环境中设置 `{0}` 或保存密钥，然后重试";
    HintTooLong = "the conversation is too long for the model: compact it, or take a model with a larger window", "对话超出模型的长度：请压缩，或换用窗口更大的模型";
    HintCheckKey = "check the key in {0}, or give another one with `reasonix login {1}`", "请检查 {0} 中的密钥，或用 `reasonix login {1}` 设置另一个";
    HintRate = "the vendor's rate limit: wait, or lower the number of sessions", "服务商的频率限制：请稍候，或减少会话数";
    HintVendor = "the vendor has a problem: try again later, and look at its status page", "服务商故障：请稍后重试，并查看其状态页";
    HintTopUp = "top up the account that the key in {0} belongs to", "请为 {0} 中密钥所属的账户充值";
    HintRights = "the key in {0} may not use `{1}`, or not from here: check the account's rights", "{0} 中的密钥无权使用 `{1}`，或不允许从此处使用：请检查账户权限";
    ConnectionLost = "{0}: the connection to the daemon was lost before its answer", "{0}：在应答之前与守护进程的连接已断开";
    AnswerTimeout = "{0}: no answer within {1} s", "{0}：{1} 秒内没有应答";
    AnswerUnread = "{0}: the daemon's answer does not read", "{0}：无法读取守护进程的应答";
    TooLarge = "{0}: {1} bytes do not fit into one message; {2} do", "{0}：{1} 字节超出一条消息的上限（{2}）";
    NoMethod = "the daemon has no method `{0}`", "守护进程没有方法 `{0}`";
    NoDaemon = "no daemon answers on `{0}`", "`{0}` 上没有守护进程应答";
    DaemonGone = "the daemon is gone, and did not come back within {0} s", "守护进程已消失，{0} 秒内没有恢复";
    DaemonWasStopped = "the daemon was stopped", "守护进程已被停止";
    HomeGone = "The home `{0}` is gone.", "主目录 `{0}` 已不存在。";
    DaemonEnded = "the daemon ended at once ({0})", "守护进程随即结束（{0}）";
    DaemonSilent = "the daemon did not answer within {0} s", "守护进程在 {0} 秒内没有应答";
    HintStart = "`reasonix daemon start` starts one", "用 `reasonix daemon start` 启动";
    HintStartAgain = "`reasonix daemon start` starts it again; its sessions go on", "用 `reasonix daemon start` 重新启动；会话将继续";
    HintLogs = "`reasonix daemon logs` shows more", "用 `reasonix daemon logs` 查看更多";
    HintVersions = "client and daemon may be of different versions: `reasonix doctor` tells", "客户端与守护进程的版本可能不同：用 `reasonix doctor` 检查";
    HintLook = "look whether it was done before doing it again", "重复之前，请先查看是否已经完成";
    HintStatus = "`reasonix daemon status` and `reasonix daemon logs` tell what it does", "用 `reasonix daemon status` 和 `reasonix daemon logs` 查看它在做什么";
    HintFile = "put the text into a file and name the file in the prompt", "请把文字放入文件，并在提示词中写明文件名";
    HintRestart = "`reasonix daemon restart` starts the one that is installed", "用 `reasonix daemon restart` 启动已安装的版本";
    HintDoctor = "`reasonix doctor` checks the session's log", "用 `reasonix doctor` 检查会话日志";
    AnsweredBeforeAt = "{0} answered it already: {1} at {2}", "{0} 已经作答：{1}，时间 {2}";
    AnsweredBefore = "{0} answered it already: {1}", "{0} 已经作答：{1}";
    AllowedOnce = "allowed once", "允许一次";
    AllowedSession = "allowed for the session", "在本会话内允许";
    AllowedAlways = "allowed always", "始终允许";
    WasDenied = "denied", "已拒绝";
    PlanApproved = "approved", "已同意";
    PlanSentBack = "sent back", "已退回";
}

impl Language {
    /// A sentence of the daemon's in this language; as it came where it is not known.
    #[must_use]
    pub fn translate(self, text: &str) -> Cow<'_, str> {
        if self == Self::English {
            return Cow::Borrowed(text);
        }
        let mut known = Msg::ALL.iter();
        let found = known.find_map(|message| Some((message, values(message.english(), text)?)));
        found.map_or(Cow::Borrowed(text), |(message, values)| {
            let value = |(value, is_name)| match is_name {
                true => Cow::Borrowed(value),
                false => self.translate(value),
            };
            let values: Vec<_> = values.into_iter().map(value).collect();
            let values: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
            Cow::Owned(self.fill(*message, &values))
        })
    }
}

/// What stands in a text where a sentence has `{0}`, `{1}`, …, in their order, and whether it stands in backticks there,
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
