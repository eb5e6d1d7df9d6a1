//! Words of the pager and of help.

super::catalog! {
    Transcript = "Transcript", "完整记录";
    Help = "Help", "帮助";
    CommandsTitle = "Commands", "命令";
    /// First row; last row; all.
    Rows = "{0}–{1} of {2}", "第 {0}–{1} 行，共 {2} 行";
    Empty = "nothing to read", "没有内容";
    Raw = "as written", "原文";
    ReadingEarlier = "reading what was before…", "正在读取更早的内容…";
    Waits = "? waits for you", "? 等待你处理";
    Close = "{0} close", "{0} 关闭";
    Search = "{0} search", "{0} 搜索";
    Next = "{0} next match", "{0} 下一个匹配";
    Part = "{0} next part", "{0} 下一部分";
    Open = "{0} open", "{0} 展开";
    All = "{0} all", "{0} 全部";
    Written = "{0} as written", "{0} 原文";
    NoMatch = "`{0}` is not here", "没有找到“{0}”";
    Wrapped = "on from the other end", "已从另一端继续";
    /// Added; removed.
    Changed = "+{0} −{1}", "+{0} −{1}";
    WritingTitle = "What to write", "如何输入";
    WriteSend = "Write what you want done and press {0}. While a turn runs, what you send waits its turn.", "写下想做的事，按 {0} 发送。回合进行中发送的内容会排队。";
    WriteFile = "a file: choose it by a part of its path", "文件：输入路径的一部分来选择";
    WriteSlash = "at the beginning: a command; two begin a prompt with a slash", "在开头：命令；两个斜杠则是以斜杠开头的提示词";
    WriteNewline = "at the end of a line: a new line, in every terminal", "在行尾：换行，任何终端都可用";
    WritePaste = "several lines stay one prompt; a long one stands as a short mark and is sent whole", "多行粘贴仍是一条提示词；很长的显示为简短标记，发送时为全文";
    Paste = "paste", "粘贴";
}
