//! Help of line mode.

client::catalog! {
    /// Commands of line mode, a row each, after the first letter of the role that they need.
    Line:
    Text = "D TEXT                send a prompt, or queue it (`//` in front: one that starts with a slash)", "D TEXT                发送提示词，或将其排队（以斜杠开头的提示词前面加 `//`）";
    Steer = "D /steer TEXT         add a prompt to the running turn, after its next tool results", "D /steer TEXT         把一条提示词加入正在进行的回合，在下一批工具结果之后";
    Shell = "D !COMMAND            run a shell command yourself, outside the sandbox; the model sees it with the next prompt", "D !命令               自己运行一条 shell 命令（在沙箱之外）；模型会随下一条提示词看到它";
    SteerQueued = "D /steer N            add queued prompt N to the running turn", "D /steer N            把排队的第 N 条提示词加入正在进行的回合";
    Queue = "W /queue              list the queued prompts", "W /queue              列出排队的提示词";
    Edit = "D /edit N TEXT        replace the text of queued prompt N (N may be the start of its id)", "D /edit N TEXT        替换排队的第 N 条提示词（N 可以是其编号的开头）";
    Move = "D /move N M           move queued prompt N to position M", "D /move N M           把排队的第 N 条提示词移到第 M 位";
    Drop = "D /drop N             remove queued prompt N", "D /drop N             移除排队的第 N 条提示词";
    Pause = "D /pause, /resume     start nothing new; continue", "D /pause, /resume     不再开始新的步骤；继续";
    Plan = "D /plan, /normal      enter plan mode (change nothing until a plan is approved); leave it", "D /plan, /normal      进入计划模式（在计划获批之前不做任何改动）；退出";
    Safe = "D /safe, /safe off    refuse every call that changes anything; stop that", "D /safe, /safe off    拒绝任何改动；解除";
    Interrupt = "D /interrupt          stop the running turn", "D /interrupt          停止正在进行的回合";
    Approve = "A /approve [ID]       approve the oldest request or plan, or this one", "A /approve [ID]       同意最早的请求或计划，或指定的那个";
    ApproveKeepAsking = "A /approve ask [ID]   approve a plan, but keep asking about calls", "A /approve ask [ID]   同意计划，但仍照常询问调用";
    Deny = "A /deny [ID] [NOTE]   deny it; the model gets the note", "A /deny [ID] [NOTE]   拒绝；附言会交给模型";
    Change = "A /change [ID] CMD    run this command instead of the one that waits for approval", "A /change [ID] CMD    改为运行此命令，代替等待批准的命令";
    Answer = "A N, or /answer TEXT  answer a question of the model: `2`, `1,3`, `2: and why`, or your own text after `/answer`", "A N, or /answer TEXT  回答模型的提问：`2`、`1,3`、`2: 理由`，或在 `/answer` 后自行填写";
    AnswerDigit = "D                     (while a question is open, a line that starts with a digit answers it)", "D                     （有提问时，以数字开头的一行就是回答）";
    Todos = "W /todos              show the to-do list", "W /todos              显示待办列表";
    Goal = "D /goal [TEXT|clear]  work towards a goal (`--research`, `--simple`), change its limits (`--change turns 80`); alone: show it", "D /goal [TEXT|clear]  朝目标工作（`--research`、`--simple`），更改其上限（`--change turns 80`）；单独使用：显示目标";
    Undo = "D /undo, /redo        restore the files as before the last turn; undo the newest rewind", "D /undo, /redo        把文件恢复到上一回合之前；撤销最近一次回退";
    Rewind = "D /rewind [N]         go back to the end of turn N (`N chat`, `N files`: only one of both); without N: list the turns", "D /rewind [N]         回退到第 N 回合结束处（`N chat`、`N files`：只回退其一）；不带 N：列出回合";
    Clear = "D /clear              hide the whole conversation from the model; files stay", "D /clear              对模型隐藏全部对话；文件保留";
    Reload = "D /reload             read instruction files (AGENTS.md …) and MCP tools again", "D /reload             重新读取指令文件（AGENTS.md 等）和 MCP 工具";
    Fork = "D /fork [NAME]        copy the session into a new one", "D /fork [NAME]        把会话复制为新会话";
    Rename = "D /rename NAME        set the name of the session", "D /rename NAME        设置会话的名称";
    Export = "W /export FILE        export the session to a new file, as Markdown (`.jsonl`: as events)", "W /export FILE        把会话导出到新文件，格式为 Markdown（`.jsonl`：为事件）";
    Help = "W /help               show this help", "W /help               显示此帮助";
    Quit = "W /quit               leave; the session stays", "W /quit               离开；会话保留";
}
