//! Words of approvals, questions of the model, and of a yes or no.

super::catalog! {
    TitleTrust = "Trust this project?", "信任此项目？";
    TitleConfirm = "Are you sure?", "确定吗？";
    /// 0: which one, 1: of how many.
    Position = "{0} of {1}", "第 {0} / {1} 项";
    /// 0: rows that are not shown, 1 and 2: keys.
    Above = "↑ {0} more lines ({1}, {2})", "↑ 上方还有 {0} 行（{1}、{2}）";
    Below = "↓ {0} more lines ({1}, {2})", "↓ 下方还有 {0} 行（{1}、{2}）";
    /// 0: above, 1: below, 2 and 3: keys.
    AboveBelow = "↑ {0} · ↓ {1} more lines ({2}, {3})", "↑ {0} · ↓ {1} 行未显示（{2}、{3}）";
    /// 0: rows that were not shown yet, 1: the key that scrolls, 2: the key that opens the pager.
    ReadFirst = "Not answered yet: {0} more lines to read first ({1}, or {2} for all of it)", "尚未作答：请先阅读其余 {0} 行（{1}，或按 {2} 阅读全部）";
    /// 0: the key that opens the pager.
    TooSmall = "Window too small: enlarge it, or press {0} to read it", "窗口太小：请放大窗口，或按 {0} 阅读全部";
    TooSmallToShow = "Window too small to show this: enlarge it to answer yes", "窗口太小，无法显示：请放大窗口后再同意";
    /// 0: the key that scrolls.
    ReadConfirm = "Read to the end first ({0})", "请先读到末尾（{0}）";
    /// 0: the tool, where the title does not name it.
    Tool = "tool: {0}", "工具：{0}";
    /// 0: the scope of the rule.
    KeySession = "yes, {0} for the session", "允许，本会话内：{0}";
    KeySessionShort = "session", "本会话";
    /// 0: the scope of the rule.
    KeyAlways = "always allow: {0}", "始终允许：{0}";
    KeyAlwaysShort = "always", "始终";
    /// 0: how many others.
    KeyRest = "no, also to the others that need approval (up to {0} more)", "拒绝此项，以及其余最多 {0} 个调用中需要批准的";
    KeyRestShort = "no to the rest (up to {0} more)", "其余最多 {0} 个也拒绝";
    KeyEdit = "edit the command first", "先修改命令";
    KeyEditShort = "edit", "修改";
    KeyScope = "choose the scope", "选择范围";
    KeyScopeShort = "scope", "范围";
    KeyAside = "answer later", "稍后回答";
    KeyAsideShort = "later", "稍后";
    /// Above the command that is being changed.
    EditTitle = "Edit the command. It is checked again before it runs.", "修改命令。运行前会重新检查。";
    EditEmpty = "The command is empty: write one, or press Esc.", "命令为空：请填写，或按 Esc。";
    KeyRun = "run it", "运行";
    KeyNewline = "new line", "换行";
    ScopeEdit = "editing files in the workspace", "编辑工作区中的文件";
    /// {0}: a file.
    ScopeFile = "editing {0}", "编辑 {0}";
    /// {0}: a host.
    ScopeHost = "fetching from {0}", "访问 {0}";
    ScopeExact = "this exact command", "仅这条命令";
    /// 0: how the command begins.
    ScopeBegins = "{0} (any arguments)", "{0}（参数不限）";
    /// 0: words of the scope, 1: its rule.
    ScopeWords = "{0} · {1}", "{0} · {1}";
    /// {0}: the scope in words, with its rule.
    ScopeSessionOnly = "{0} · for this session only", "{0} · 仅限本会话";
    ScopeTitle = "What should be allowed for this session or always?", "本会话内或始终允许的范围是什么？";
    KeyTake = "select (does not answer yet)", "选定（尚不作答）";
    KeyBack = "back", "返回";
    KeySend = "deny", "拒绝";
    Watching = "You are watching: only a client with the role approve or drive can answer.", "你正在旁观：只有角色为 approve 或 drive 的客户端才能作答。";
    /// 0: the key that brings it back.
    SetAside = "Question still open: press {0} to answer", "问题仍待回答：按 {0} 作答";
    /// 0: which part, 1: of how many.
    QuestionPart = "question {0} of {1}", "问题 {0} / {1}";
    ChooseOne = "choose one, or write your own answer", "选择一项，或自行填写";
    ChooseOnlyOne = "choose one", "选择一项";
    ChooseOnlySeveral = "choose one or more", "可选多项";
    ChooseSeveral = "choose one or more, or write your own answer", "可选多项，或自行填写";
    WriteAnswer = "write your answer", "请填写回答";
    MayStayEmpty = "Optional.", "可以不填。";
    KeyDecline = "decline to answer", "拒绝回答";
    OwnWords = "your own answer: {0}", "自己的回答：{0}";
    Writing = "Your own answer:", "自己的回答：";
    Nothing = "Nothing chosen yet: choose an option, or write your own answer.", "尚未选择：请选择一项，或自行填写。";
    KeyNumbers = "choose", "选择";
    KeyToggle = "toggle", "选中或取消";
    KeyNext = "next question", "下一题";
    KeyAnswer = "answer", "作答";
    KeyOther = "own answer", "自行填写";
    KeyBefore = "previous question", "上一题";
    KeyYes = "yes", "是";
    KeyNo = "no", "否";
}
