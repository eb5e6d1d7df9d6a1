//! Words of the pager and of help.

super::catalog! {
    Transcript = "Transcript", "完整记录";
    Help = "Help", "帮助";
    CommandsTitle = "Commands", "命令";
    /// First row; last row; all.
    Rows = "{0}–{1} of {2}", "第 {0}–{1} 行，共 {2} 行";
    Empty = "nothing to show", "没有内容";
    Raw = "raw", "原文";
    ReadingEarlier = "loading earlier entries…", "正在载入更早的内容…";
    Waits = "? needs answer", "? 等待你处理";
    Close = "{0} close", "{0} 关闭";
    Search = "{0} search", "{0} 搜索";
    Next = "{0} next match", "{0} 下一个匹配";
    Part = "{0} next part", "{0} 下一部分";
    Open = "{0} open", "{0} 展开";
    All = "{0} all", "{0} 全部";
    Written = "{0} raw", "{0} 原文";
    NoMatch = "no match for `{0}`", "没有找到“{0}”";
    Wrapped = "search wrapped around", "已从另一端继续";
    /// Added; removed.
    Changed = "+{0} −{1}", "+{0} −{1}";
    WritingTitle = "How to write prompts", "如何输入";
    WriteSend = "Describe a task and press {0}. Prompts that you send during a turn are queued.", "写下任务，按 {0} 发送。回合进行中发送的提示词会排队。";
    WriteFile = "a file: type part of its path to choose it", "文件：输入路径的一部分来选择";
    WriteSlash = "at the start: a command; type two slashes to start a prompt with a slash", "在开头：命令；输入两个斜杠可发送以斜杠开头的提示词";
    WriteShell = "a shell command of your own; the model sees it with the next prompt", "你自己的 shell 命令；模型会随下一条提示词看到它";
    WriteNewline = "at the end of a line: a new line, in every terminal", "在行尾：换行，任何终端都可用";
    WritePaste = "pasted lines stay one prompt; a long paste is shown as a short mark and sent in full", "多行粘贴仍是一条提示词；很长的显示为简短标记，发送时为全文";
    Paste = "paste", "粘贴";
}
