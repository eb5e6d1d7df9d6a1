//! Words of approvals, questions of the model, and of a yes or no.

super::catalog! {
    TitleTrust = "Trust this project?", "信任此项目？";
    TitleConfirm = "Really?", "确定吗？";
    /// 0: which one, 1: of how many.
    Position = "{0} of {1}", "第 {0} / {1} 项";
    /// 0: rows that are not shown, 1 and 2: keys.
    Above = "↑ {0} more lines ({1}, {2})", "↑ 上方还有 {0} 行（{1}、{2}）";
    Below = "↓ {0} more lines ({1}, {2})", "↓ 下方还有 {0} 行（{1}、{2}）";
    /// 0: above, 1: below, 2 and 3: keys.
    AboveBelow = "↑ {0} · ↓ {1} more lines ({2}, {3})", "↑ {0} · ↓ {1} 行未显示（{2}、{3}）";
    /// 0: the tool, where the title does not name it.
    Tool = "tool: {0}", "工具：{0}";
    /// 0: what it covers.
    KeySession = "yes for this session: {0}", "本会话内允许：{0}";
    KeySessionLong = "yes for this session, as written above", "本会话内允许，范围见上文";
    /// 0: what it covers.
    KeyAlways = "yes, always in this workspace: {0}", "在此工作区始终允许：{0}";
    KeyAlwaysLong = "yes, always, as written above", "始终允许，范围见上文";
    /// {0}: the scope in words, with its rule.
    AlwaysCovers = "always, in this workspace, covers: {0}", "在此工作区始终允许的范围：{0}";
    SessionCovers = "a yes for this session covers: {0}", "本会话内允许的范围：{0}";
    KeyScope = "choose how far", "选择范围";
    KeyAside = "set aside", "暂放";
    ScopeEdit = "editing files in the workspace", "编辑工作区中的文件";
    /// {0}: a file.
    ScopeFile = "editing `{0}`", "编辑 `{0}`";
    /// {0}: a host.
    ScopeHost = "fetching from `{0}`", "访问 `{0}`";
    ScopeExact = "this command", "这条命令";
    /// 0: how the command begins.
    ScopeBegins = "`{0}` with any arguments", "`{0}`，参数不限";
    /// 0: words of the scope, 1: its rule.
    ScopeWords = "{0} ({1})", "{0}（{1}）";
    /// {0}: the scope in words, with its rule.
    ScopeSessionOnly = "{0} · for this session only", "{0} · 仅限本会话";
    ScopeTitle = "How far does a yes for this session, or always, reach?", "本会话内允许或始终允许的范围多大？";
    KeyTake = "take it (does not answer yet)", "选定（尚不作答）";
    KeyBack = "back", "返回";
    KeySend = "send the no", "发送拒绝";
    Watching = "You only watch: a client with the role approve or drive answers.", "你仅在旁观：由角色为 approve 或 drive 的客户端作答。";
    /// 0: the key that brings it back.
    SetAside = "Set aside, still open: {0} brings it back", "已暂放，问题仍未答复：按 {0} 重新打开";
    /// 0: which part, 1: of how many.
    QuestionPart = "question {0} of {1}", "问题 {0} / {1}";
    ChooseOne = "one of these, or words of your own", "选择一项，或自行填写";
    ChooseSeveral = "one or several of these, or words of your own", "可选多项，或自行填写";
    OwnWords = "your own words: {0}", "自己的话：{0}";
    Writing = "Your own words:", "自己的话：";
    Nothing = "Nothing is chosen yet: choose an option, or write your own words.", "尚未选择：请选择一项，或自行填写。";
    KeyNumbers = "choose", "选择";
    KeyToggle = "choose or unchoose", "选中或取消";
    KeyNext = "next question", "下一题";
    KeyAnswer = "answer", "作答";
    KeyOther = "own words", "自行填写";
    KeyBefore = "question before", "上一题";
    KeyYes = "yes", "是";
    KeyNo = "no", "否";
}
