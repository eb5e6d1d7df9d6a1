//! What the client library itself says as text: why a call failed and what to do, and the lines in which a question is asked.
//! A part of [`super::daemon`], which translates.

crate::catalog! {
    NotADollar = "`{0}` is not an amount in dollars such as `0.50` or `20`", "`{0}` 不是 `0.50` 或 `20` 这样的美元金额";
    NotMinutes = "`{0}` is not a number of minutes such as `90` or `1.5`", "`{0}` 不是 `90` 或 `1.5` 这样的分钟数";
    InstallDaemon = "install `reasonixd` next to `reasonix`, or set `REASONIX_DAEMON` to its path", "请将 `reasonixd` 安装在 `reasonix` 旁边，或将 `REASONIX_DAEMON` 设为其路径";
    WritableHome = "set `REASONIX_HOME` to a writable directory", "请将 `REASONIX_HOME` 设为可写的目录";
    CheckDaemonPath = "check `REASONIX_DAEMON`: it must be the path of a program", "请检查 `REASONIX_DAEMON`：它必须是程序的路径";
    SocketOther = "the socket belongs to another user, you cannot access its directory, or this runs in a sandbox", "套接字属于其他用户，或你无权访问其目录，或此命令在沙箱中运行";
    NothingSentThere = "nothing was sent there: set `REASONIX_SOCKET` or `XDG_RUNTIME_DIR` to a path of your own", "没有向那里发送任何内容：请将 `REASONIX_SOCKET` 或 `XDG_RUNTIME_DIR` 设为你自己的路径";
    ChmodIt = "run `chmod 700` on it, or set `REASONIX_SOCKET` or `XDG_RUNTIME_DIR` to a path of your own", "请对它运行 `chmod 700`，或将 `REASONIX_SOCKET` 或 `XDG_RUNTIME_DIR` 设为你自己的路径";
    AskCall = "allow `{0}` to run?", "允许运行 `{0}` 吗？";
    AskedBecause = "asked because {0}", "询问原因：{0}";
    /// 0: the rule.
    RuleAsks = "the rule `{0}` asks about it", "规则 `{0}` 要求询问";
    /// 0: a file.
    NamesProtected = "it names the protected file `{0}`", "它提到受保护的文件 `{0}`";
    NamesGitSetting = "it names `{0}`, a git setting that makes git run a program", "它提到 `{0}`，它是让 git 运行程序的 git 设置";
    MayMatchProtected = "a pattern in it may match the protected file `{0}`", "其中的通配模式可能匹配受保护的文件 `{0}`";
    IsProtected = "`{0}` is a protected file", "`{0}` 是受保护的文件";
    /// 0: a tool.
    ToolAlways = "`{0}` always needs your answer", "`{0}` 始终需要你的同意";
    ReviewAsks = "the reviewer leaves it to you: {0}", "审查模型交由你决定：{0}";
    ReviewAllows = "the reviewer sees no harm in it: {0}", "审查模型认为无害：{0}";
    ReviewDenies = "the reviewer is against it: {0}", "审查模型表示反对：{0}";
    ReviewFailed = "the review failed: {0}", "审查未能完成：{0}";
    ReviewWithoutReason = "no reason was given", "未说明原因";
    AskAgain = "asked again, because this session may change a program that would run: really run `{0}`?", "再次询问，因为本会话可以更改将要运行的程序：确定运行 `{0}` 吗？";
    LineRuns = "runs {0}", "运行 {0}";
    LineRunsOwn = "WARNING: runs {0}, which this session may change", "警告：运行 {0}，本会话可以更改它";
    LineRunsUnknown = "WARNING: runs `{0}`, and which file that is depends on what the command does before", "警告：运行 `{0}`，具体是哪个文件取决于命令之前的操作";
    LineNotLookedIn = "programs are not looked for in {0}: this session may change it", "不在 {0} 中查找程序：本会话可以更改它";
    HowCallEdit = "`y` allows it once, `n` denies it; `/deny REASON` also gives the model a reason; `/change COMMAND` runs that instead", "`y` 允许一次，`n` 拒绝；`/deny 原因` 还会把原因告诉模型；`/change 命令` 改为运行该命令";
    PutBackChangedAsk = "{0} came or changed while the command ran, can configure or run something, and was moved away — put it back?", "命令运行期间出现或更改了 {0}，它可以更改配置或运行程序，因此已移走 — 放回原处吗？";
    PutBackAsk = "the command made {0}, which can configure or run something, and it was moved away — put it back?", "命令创建了 {0}，它可以更改配置或运行程序，因此已移走 — 放回原处吗？";
    PutBackHow = "`y` puts it back, `n` leaves it moved away; `/deny REASON` also gives the model a reason", "`y` 放回原处，`n` 不放回；`/deny 原因` 还会把原因告诉模型";
    PutBackOnly = "it can only be put back or left: y or n", "只能放回或不放回：y 或 n";
    PutBackYes = "put back", "放回";
    PutBackNo = "leave", "不放回";
    HowCall = "`y` allows it once, `n` denies it; `/deny REASON` also gives the model a reason", "`y` 允许一次，`n` 拒绝；`/deny 原因` 还会把原因告诉模型";
    AskOutside = "the sandbox may have blocked it: {0} — run `{1}` once outside the sandbox, with all your rights?", "似乎被沙箱阻止：{0} — 以你的全部权限在沙箱外运行一次 `{1}` 吗？";
    OutsideSuffix = "{0} outside the sandbox", "{0}（沙箱外）";
    LineOnce = "once", "一次";
    LineNo = "no", "否";
    LineOutside = "once, outside the sandbox", "一次，在沙箱外";
    NoOthers = "no other call of that answer waits: deny this one alone", "该回答没有其他调用在等待：请只拒绝此项";
    OutsideAddsDir = "the session may then also write in `{0}`, from now on", "此后会话也可以写入 `{0}`";
    OutsideOnly = "outside the sandbox a call can only be allowed once: y or n", "在沙箱外的调用只能允许一次：y 或 n";
    AskPlan = "the model proposes a plan", "模型提出了一个计划";
    PlanMeansLine = "approving ends plan mode; until the turn ends, calls then run without asking, unless you choose to keep asking", "同意后退出计划模式；在回合结束前，调用不再询问即可执行，除非你选择仍照常询问";
    HowPlan = "`/approve` carries it out without asking about calls; `/approve ask` carries it out and keeps asking; `/deny REASON` makes the model keep planning", "`/approve` 执行计划，不再询问；`/approve ask` 执行计划，但仍照常询问；`/deny 原因` 让模型继续计划";
    PlanOnce = "is a plan: it can only be approved once, for its turn", "是计划：只能在其回合内同意一次";
    LineApprove = "approve, run calls without asking", "同意，执行调用不再询问";
    LineKeepAsking = "approve, keep asking", "同意，仍照常询问";
    LineKeepPlanning = "keep planning", "继续计划";
    PlanWasRejected = "rejected", "已退回";
    PlanWasApproved = "approved, for its turn", "已同意，限于其回合";
    AskQuestion = "the model asks", "模型提问";
    HowQuestion = "type the number of an option, or `/answer` and your own words", "输入选项的编号，或用 `/answer` 加自己的文字";
    AskQuestions = "the model asks {0} questions", "模型提出了 {0} 个问题";
    HowQuestions = "answer one after another: type the number of an option, or `/answer` and your own words", "逐个回答：输入选项的编号，或用 `/answer` 加自己的文字";
    AskServer = "the MCP server `{0}` asks", "MCP 服务器 `{0}` 提问";
    ServerWords = "the server wrote this text and receives your answer: do not enter a password or key", "以上内容来自该服务器，回答会发给它：请勿填写密码或密钥";
    HowServer = "answer one after another: the number of an option, or `/answer` and your own words; `/deny` declines", "逐个回答：选项的编号，或用 `/answer` 加自己的文字；`/deny` 拒绝回答";
    HowYesNo = "type the number of an option; `/deny` declines", "输入选项的编号；`/deny` 拒绝回答";
    NotAlwaysHere = "this cannot always be allowed: allow it once or for the session", "不能始终允许：请允许一次，或在本会话内允许";
    AlwaysWorkspace = "always allowed in this workspace", "在此工作区始终允许";
    NotANumber = "`{0}` is not a number such as `100000`, `100k` or `2M`", "`{0}` 不是 `100000`、`100k` 或 `2M` 这样的数字";
    GiveNumber = "give the number of an option, or your own words", "请给出选项的编号，或自行填写";
    NoOption = "there is no option {0}: give 1 to {1}, or your own words", "没有选项 {0}：请给出 1 到 {1}，或自行填写";
    OnlyOptions = "give the number of one of the options: there is no other answer", "请给出某个选项的编号：没有其他回答";
    OnlyOne = "only one of them can be chosen", "只能选择其中一项";
    DaemonNotFound = "`reasonixd` was not found next to this program or on PATH", "在此程序旁边和 PATH 中都没有找到 `reasonixd`";
    CreateHome = "create the home `{0}`", "创建主目录 `{0}`";
    NoVersion = "`{0}` did not print its version: it cannot run or is not `reasonixd`", "`{0}` 没有输出版本：它无法运行，或不是 `reasonixd`";
    CannotStart = "the daemon cannot be started", "无法启动守护进程";
    ForeignSocket = "`{0}` belongs to user {1}, not to user {2}", "`{0}` 属于用户 {1}，而不是用户 {2}";
    OpenDirectory = "`{0}`, the directory of the socket, is accessible to others or is not a directory (owner: user {1})", "套接字的目录 `{0}` 可被其他用户访问，或不是目录（所有者：用户 {1}）";
    OpenSocket = "open `{0}`", "打开 `{0}`";
    RunProgram = "run `{0}`", "运行 `{0}`";
    SayHello = "say hello to the daemon", "与守护进程建立会话";
    PartsDiffer = "{0}: the parts of the answer do not match", "{0}：应答的各部分不一致";
    FollowGap = "following the session failed: record {0} is missing", "跟随会话失败：缺少记录 {0}";
    NoHome = "no home: neither `REASONIX_HOME` nor `HOME` is set", "没有主目录：`REASONIX_HOME` 和 `HOME` 都未设置";
    SocketLong = "the socket path `{0}` has {1} bytes; {2} are possible", "套接字路径 `{0}` 有 {1} 字节；最多 {2} 字节";
}
