//! Texts about completed and failed actions.

super::catalog! {
    Watching = "this client is not allowed to do that; attach with `--role drive`", "此客户端无权这样做：请用 `--role drive` 连接后再操作";
    /// 0: the version, 1: the model, 2: the directory, 3: the instruction files, each after a dot.
    Greeting = "Reasonix {0} · {1} · {2}{3} · `/help` lists commands and keys", "Reasonix {0} · {1} · {2}{3} · `/help` 列出命令与按键";
    /// The greeting if no model is known.
    GreetingPlain = "Reasonix {0} · {1}{2} · `/help` lists commands and keys", "Reasonix {0} · {1}{2} · `/help` 列出命令与按键";
    NoSession = "no session yet: send a prompt first", "还没有会话：请先发送提示词";
    Wait = "the session is being created", "会话正在创建";
    Loading = "the session is loading, please wait", "会话正在载入，请稍候";
    StaysOpen = "not connected: the question stays open; answer it after reconnecting", "连接已断开：问题仍待作答，重新连接后再回答";
    Apart = "not connected: the text is kept; send it after reconnecting", "连接已断开：文字已保留，重新连接后再发送";
    UseShell = "write a shell command after `!`; put a space before `!` to send it as a prompt", "在 `!` 后面写一条 shell 命令；在前面加一个空格可作为提示词发送";
    ShellBusy = "a turn is running: wait for its end, or stop it with Esc, then run the command", "正在进行一个回合：等它结束，或用 Esc 停止，然后再运行命令";
    ShellAgain = "another command of yours is running; Ctrl-C stops it", "另一条命令正在运行；Ctrl-C 可停止它";
    StoppingCommand = "stopping the command; press Ctrl-C again to quit now (the session stays)", "正在停止该命令；再按一次 Ctrl-C 立即退出（会话保留）";
    Unknown = "unknown command /{0}; `/help` lists all commands", "未知命令 /{0}；用 `/help` 查看全部命令";
    UnknownHere = "no /{0} here: use {1}", "未知命令 /{0}；这里用 {1}";
    NoParent = "this session is not a sub-agent; /agents lists its sub-agents", "本会话不是子代理；/agents 列出它的子代理";
    /// How it ended.
    GoalDone = "reasonix: {0}", "reasonix：{0}";
    GoalAtLimit = "reasonix: the goal is paused at its time limit; `/continue minutes N` lets it go on", "reasonix：目标已在时限处暂停；`/continue minutes N` 让它继续";
    NoGoal = "no goal: `/goal TEXT` sets one", "没有目标：用 `/goal TEXT` 设定";
    NothingToClear = "there is no conversation yet", "还没有对话";
    UnknownNear = "unknown command /{0}; did you mean /{1}?", "未知命令 /{0}；是否想用 /{1}？";
    /// 0: the command, 1: its arguments, 2: what it does.
    Needs = "usage: /{0} {1} ({2})", "用法：/{0} {1}（{2}）";
    Alone = "/{0} takes no arguments", "/{0} 不接受参数";
    Interrupting = "interrupting the turn; press Ctrl-C again to quit now (the session stays)", "正在中断回合；再按一次 Ctrl-C 立即退出（会话保留）";
    /// When leaving, above a text.
    Unsent = "not sent:", "未发送：";
    AgainQuits = "press Ctrl-C again to quit", "再按一次 Ctrl-C 退出";
    AgainLeaves = "press Ctrl-C again to quit (the session stays)", "再按一次 Ctrl-C 退出（会话保留）";
    LeavesWhenEmpty = "Ctrl-D quits on an empty line; Ctrl-C empties it", "Ctrl-D 在空行时退出；Ctrl-C 清空输入行";
    AgainRewinds = "press Esc again to rewind to an earlier turn", "再按一次 Esc 可回退到之前的回合";
    TakenBack = "interrupted; queued prompts are back in the prompt line", "已中断；排队的提示词已放回输入行";
    NothingRuns = "no turn is running", "当前没有正在运行的回合";
    Reconnected = "reconnected", "已重新连接";
    Ended = "disconnected from this session for good; open it again with `/sessions`", "已与此会话断开且无法恢复；请用 `/sessions` 重新打开";
    EndedKeeps = "not sent, the text is kept: this session is disconnected", "未发送，文字已保留：已与此会话断开";
    Unwritable = "the log cannot be written: {0}", "日志无法写入：{0}";
    ApprovalMode = "approval mode: {0}", "审批模式：{0}";
    ApprovalModeNow = "approval mode: {0}; change it with `/approval-mode ask|auto|yolo`", "审批模式：{0}；用 `/approval-mode ask|auto|yolo` 更改";
    PlanMode = "plan mode: changes are refused until you approve a plan", "计划模式：在你同意计划之前，任何改动都会被拒绝";
    NormalMode = "plan mode is off", "已退出计划模式";
    OnlyReads = "read-only session: changes are refused; `/safe off` allows them again", "只读会话：任何改动都会被拒绝；用 `/safe off` 解除";
    NotOnlyReads = "changes are allowed again", "已重新允许改动";
    ApprovalModeYolo = "With `yolo`, every call that no rule denies runs without asking: any command, and any file that you can write.", "使用 `yolo` 时，凡未被规则拒绝的调用都会直接执行：任何命令、任何你可写的文件。";
    ApprovalModeSure = "Change this session to `yolo`?", "将本会话改为 `yolo`？";
    ClearWhat = "This hides the whole conversation from the model. Files stay unchanged; `/redo` undoes it.", "这会对模型隐藏全部对话。文件保持不变；`/redo` 可撤销。";
    ClearSure = "Hide the conversation?", "隐藏对话？";
    NewSession = "new session: your next prompt starts it", "新会话：下一条提示词将创建它";
    /// The goal in progress.
    ReplaceGoalWhat = "This session works towards a goal: {0}. The new one replaces it.", "本会话正在朝目标工作：{0}。新目标会取代它。";
    ReplaceGoalSure = "Replace the goal?", "取代该目标？";
    ForgetWhat = "This permanently deletes session {0} and its log. Files that it changed stay as they are.", "这会永久删除会话 {0} 及其全部日志。它改动过的文件保留。";
    ForgetSure = "Delete the session?", "删除该会话？";
    Forgotten = "session {0} was deleted", "会话 {0} 已删除";
    QuitWhat = "A turn is running. `/detach` quits and keeps it running.", "回合正在进行。`/detach` 退出并让它继续运行。";
    QuitSure = "Interrupt the turn and quit?", "中断回合并退出？";
    Forked = "forked: this is session {0}, from turn {1}", "已分出副本：这是会话 {0}，自第 {1} 回合起";
    Renamed = "renamed to `{0}`", "已命名为 `{0}`";
    SetModel = "model: {0}", "模型：{0}";
    SetPreset = "preset: {0}", "预设：{0}";
    SetEffort = "effort: {0}", "推理强度：{0}";
    SetEffortDefault = "effort: the model's default", "推理强度：模型默认值";
    SetSamples = "{0} samples for each request: each is billed", "每个请求 {0} 个采样：每个都计费";
    SetNoSamples = "1 answer for each request", "每个请求 1 个回答";
    SetExtraction = "reasoning extraction: on", "推理提取：开";
    SetNoExtraction = "reasoning extraction: off", "推理提取：关";
    NotPaused = "nothing to continue: the session is not paused", "没有可继续的：会话没有暂停";
    AlreadyPaused = "the session is already paused", "会话已经暂停";
    NoTurn = "no turn to undo", "没有可撤销的回合";
    NothingToUndo = "nothing to undo: the last turn changed no files, or was undone already", "无可撤销：上一回合没有改动文件，或已撤销";
    NoTodos = "there is no todo list", "没有待办列表";
    NoFile = "no files to restore", "没有需要恢复的文件";
    OneChangedSince = "skipped {0} file that others changed since; `/rewind` can restore it anyway", "已跳过 {0} 个之后被他人改动的文件；用 `/rewind` 可强制恢复";
    ChangedSince = "skipped {0} files that others changed since; `/rewind` can restore them anyway", "已跳过 {0} 个之后被他人改动的文件；用 `/rewind` 可强制恢复";
    Copied = "copied: {0} characters", "已复制：{0} 个字符";
    CopiedFile = "too long for the terminal's clipboard; written to {0}", "内容过长，无法放入终端剪贴板：已写入 {0}";
    NoAnswer = "no answer to copy yet", "还没有可复制的回答";
    OneAnswer = "there is only one answer: `/copy` copies it", "只有一个回答：`/copy` 即可复制";
    FewAnswers = "there are only {0} answers; 1 is the latest", "只有 {0} 个回答；1 为最后一个";
    NoCode = "the answer contains no code", "该回答中没有代码";
    NoDiff = "this session has not changed any files", "本会话尚未改动文件";
    /// 0: the command.
    ChangedByCommand = "changed by {0}; no diff available", "由 {0} 改动；没有差异可显示";
    RemovedByCommand = "removed by {0}", "由 {0} 删除";
    DiffTitle = "changes in this session", "本会话的改动";
    Exported = "written to {0}: {1} bytes", "已写入 {0}：{1} 字节";
    ThemeNow = "colours: {0}; save with `reasonix config set tui.theme {0}`", "配色：{0}；`reasonix config set tui.theme {0}` 可保存";
    ThemeWhich = "colours: {0}; choose from {1}", "当前配色：{0}；可选 {1}";
    LanguageNow = "language: English; save with `reasonix config set language en`", "语言：简体中文；`reasonix config set language zh` 可保存";
    LanguageWhich = "languages: en, zh", "可选语言：en、zh";
    VimOn = "vim keys on; save with `reasonix config set tui.vim true`", "已启用 vim 按键；`reasonix config set tui.vim true` 可保存";
    VimOff = "vim keys off", "已关闭 vim 按键";
    OutputOpen = "tool output expanded", "已展开工具输出";
    OutputFolded = "tool output collapsed", "已折叠工具输出";
    ReasoningOpen = "reasoning expanded", "已展开思考过程";
    ReasoningFolded = "reasoning collapsed", "已折叠思考过程";
    Trusted = "this project's settings are now in effect", "本项目的设置从现在起生效";
    TrustNothing = "this project has no settings that need trust", "本项目没有需要信任才能生效的设置";
    TrustWhat = "These settings in {0} have no effect until you trust them:", "{0} 中的以下设置在你信任之前不会生效：";
    TrustInstructions = "The model reads the project's instructions all the same ({0}); they permit nothing.", "模型仍会读取项目的指令（{0}）；它们不授予任何权限。";
    TrustSure = "Trust these settings?", "信任这些设置？";
    Context = "context: {0} tokens{1} · {2} messages of {3} · system prompt and tools {4}", "上下文：{0} 词元{1} · {2} 条消息，共 {3} · 系统提示与工具 {4}";
    OfWindow = " of {0} ({1} %)", " / {0}（{1} %）";
    CacheSaved = "cache: {0} % of {1} prompt tokens came from the provider's cache", "缓存：{1} 个输入词元中有 {0} % 命中";
    OneRequest = "{0} request", "{0} 次请求";
    Requests = "{0} requests", "{0} 次请求";
    /// Requests; tokens; cost.
    Cost = "{0} · {1} tokens in, {2} out · {3}", "{0} · 输入 {1}、输出 {2} 词元 · {3}";
    Budget = "{0} {1}: {2} · tokens {3} · steps {4}", "{0} {1}：{2} · 词元 {3} · 步数 {4}";
    BudgetMinutes = "{0} · {1} minutes", "{0} · {1} 分钟";
    BudgetDay = "day", "当日";
    BudgetProject = "project", "项目";
    BudgetSession = "session", "会话";
    ContinueHow = "after a pause: /continue; after a limit: /continue steps 20 or /continue minutes 10", "暂停后：/continue；达到上限后：/continue steps 20 或 /continue minutes 10";
    BudgetHow = "`/budget {0}` does not name a limit and its amount; for example /budget usd 2, /budget tokens 100k, /budget steps 50, /budget minutes 90; 0: no limit", "`/budget {0}` 没有写明限额及其数值；例如 /budget usd 2、/budget tokens 100k、/budget steps 50、/budget minutes 90；0 表示不限";
    CostUnknown = "price unknown", "价格未知";
    MemoryTitle = "memory", "记忆";
    MemoryNone = "no facts; `/memory add NAME TEXT` saves one", "没有记忆：用 `/memory add NAME TEXT` 添加";
    MemorySaved = "saved {0}; new sessions know it, this one after `/reload`", "已保存 {0}；新会话会知道它，本会话在 `/reload` 之后知道";
    MemoryForgotten = "archived {0}; `/memory restore {0}` brings it back", "已归档 {0}；`/memory restore {0}` 可恢复";
    MemoryUnchanged = "{0} is unchanged", "{0} 未改动";
    MemoryRestored = "restored {0}; `/memory` shows whether it holds", "已恢复 {0}；`/memory` 显示它是否有效";
    MemoryArchived = "Archived:", "已归档：";
    MemorySuperseded = "superseded by {0}", "已被 {0} 取代";
    MemoryExpired = "expired on {0}", "已于 {0} 过期";
    HooksTitle = "hooks", "钩子";
    HooksNone = "no hooks configured; `settings.json` in Reasonix's home or in `.reasonix` adds them", "没有配置钩子：在 Reasonix 主目录或 `.reasonix` 的 `settings.json` 中添加";
    HooksReloaded = "reloaded hooks: {0}", "已重新载入钩子：{0}";
    HookAll = "all tools", "所有工具";
    HookUntrusted = "does not run: the project is not trusted (/trust)", "不会运行：项目未受信任（/trust）";
    HookBroken = "does not run: {0}", "不会运行：{0}";
    HookLast = "last: {0}, {1} ms", "上次：{0}，{1} 毫秒";
    ServersTitle = "MCP servers", "MCP 服务器";
    ServersNone = "no MCP server is configured here; `reasonix mcp add` adds one", "此处没有配置 MCP 服务器；用 `reasonix mcp add` 添加";
    /// 0: the name.
    ServerRestarted = "restarting {0}; /mcp shows its state", "正在重新启动 {0}；用 /mcp 查看状态";
    /// 0: why.
    ServerFailed = "does not work: {0}", "不可用：{0}";
    /// 0: their number, 1: their names.
    ServerTools = "tools ({0}): {1}", "工具（{0}）：{1}";
    ServerToolsNone = "no tools are known yet", "尚不知道有哪些工具";
    ServerSandboxed = "sandboxed", "在沙箱内";
    StatsTitle = "usage", "用量统计";
    StatsTotal = "total", "合计";
    StatsDays = "by day", "按日";
    StatsModels = "by model", "按模型";
    RulesTitle = "permission rules", "权限规则";
    /// {0}: the workspace, {1}: the approval mode.
    RulesWhere = "in {0} · approval mode {1}", "工作区 {0} · 审批模式 {1}";
    RulesDeny = "denied", "从不执行";
    RulesAsk = "ask first", "需要询问";
    RulesAllow = "run without asking", "无需询问即可执行";
    /// {0}: the rule, {1}: its layer and file.
    RuleFrom = "  {0}  ({1})", "  {0}（{1}）";
    RulesNone = "no rules are in effect: Reasonix asks before anything is changed", "没有生效的规则：任何改动都会先询问";
    RulesProblems = "invalid or without effect", "无效或不起作用";
    RulesRevoke = "`/permissions revoke RULE` removes a rule", "`/permissions revoke 规则` 移除一条规则";
    /// {0}: the rule, {1}: the file it was in.
    RuleRevoked = "removed {0} from {1}", "已从 {1} 中移除 {0}";
    NeedsYou = "reasonix needs your answer: {0}", "reasonix 等待你处理：{0}";
    TurnDone = "reasonix has finished: {0}", "reasonix 已完成：{0}";
    SessionBegins = "session {0}", "会话 {0}";
    Made = "created session {0}", "已创建会话 {0}";
    OneTurnEnded = "{0} turn ended", "结束 {0} 个回合";
    TurnsEnded = "{0} turns ended", "结束 {0} 个回合";
    OneCommandRan = "{0} command ran", "运行 {0} 条命令";
    CommandsRan = "{0} commands ran", "运行 {0} 条命令";
    OneFileChanged = "{0} file changed", "改动 {0} 个文件";
    FilesChanged = "{0} files changed", "改动 {0} 个文件";
    /// Turns; commands; files.
    Away = "while you were away: {0}, {1}, {2}", "离开期间：{0}，{1}，{2}";
    ReadOnly = "this session is read-only: {0}", "此会话只读：{0}";
    NotSent = "not sent, the text is back in the input: {0}", "未能发送，文字已放回输入框：{0}";
}
