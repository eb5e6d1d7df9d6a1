//! Words of commands about running sessions.

client::catalog! {
    ACommand = "a command", "一条命令";
    OnlyMemory = "{0} (only in the daemon's memory)", "{0}（仅在守护进程的内存中）";
    LostAtRestart = "{0} (lost when the daemon restarted; the next prompt from a client that has it restores it)", "{0}（守护进程重启时丢失；由拥有它的客户端发送下一条提示词即可恢复）";
    NotPassed = "{0} (not passed to commands; `tools.shell.pass` can pass it unless it is a provider's key)", "{0}（不传给命令；若不是服务商的密钥，可用 `tools.shell.pass` 传入）";
    TokensOf = "{0} in ({1} cached), {2} out, {3} requests", "输入 {0}（缓存 {1}），输出 {2}，{3} 次请求";
    Ago = "{0} ago", "{0}前";
    MayAnswer = "may answer", "可作答";
    QueuedNumber = "queued {0}", "排队 {0}";
    ByText = "by {0}: {1}", "{0}：{1}";
    OfWindow = " of {0} ({1} %)", " / {0}（{1} %）";
    WindowUnknown = " (context window unknown)", "（上下文窗口未知）";
    BytesSha = "{0} bytes, SHA-256 {1}", "{0} 字节，SHA-256 {1}";
    BytesOf = "{0}, {1} bytes", "{0}，{1} 字节";
    SystemPrompt = "system prompt", "系统提示词";
    OlderMessages = "older messages", "较早的消息";
    CommaPinned = ", pinned", "，已固定";
    NoSuchPid = "There is no session or command {0}.", "没有会话或命令 {0}。";
    PsLists = "`reasonix ps -a` lists them", "`reasonix ps -a` 列出它们";
    IsBackground = "{0} is a background command; only sessions can be paused", "{0} 是后台命令；只有会话可以暂停";
    KillStops = "stop it with `reasonix kill {0}`", "用 `reasonix kill {0}` 停止它";
    Paused = "· {0} is paused: `reasonix resume {0}` continues it", "· {0} 已暂停：`reasonix resume {0}` 继续";
    Resumed = "· {0} is resumed", "· {0} 已恢复";
    NothingToStop = "nothing to stop", "没有可停止的内容";
    AlreadyPaused = "is already paused or has exited", "已经暂停或已退出";
    NotPaused = "is not paused; continue an exited session with `reasonix run -s {0} PROMPT`", "没有暂停；用 `reasonix run -s {0} PROMPT` 继续已退出的会话";
    NoResultYet = " (no result yet)", "（尚无结果）";
    OutcomeUnknown = " (outcome unknown)", "（结果未知）";
    NotRun = " (not run)", "（未执行）";
    AskedFor = " (asked for {0})", "（询问 {0}）";
    TopOtherwise = "use `reasonix ps`, or `reasonix ps --json` in scripts", "请用 `reasonix ps`，脚本中用 `reasonix ps --json`";
    NotInTime = "{0}: not finished in time", "{0}：没有及时完成";
    EndedCode = "ended with exit code {0}", "已结束，退出码 {0}";
    NeedsKey = "needs a key ({0}); run any `reasonix` command in an environment that sets its variable", "需要密钥（{0}）；请在设置了该变量的环境中运行任一 `reasonix` 命令";
    WaitsForYou = "waits for you: see `reasonix inbox`", "等待你处理：见 `reasonix inbox`";
}
