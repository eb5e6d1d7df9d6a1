//! Words of approvals, questions of the model, and of a yes or no.

super::catalog! {
    TitleCommand = "Run this command?", "运行这条命令？";
    TitleOutside = "Run this once outside the sandbox?", "在沙箱外运行一次？";
    TitleChange = "Change this file?", "修改这个文件？";
    TitlePatch = "Change these files?", "应用这些修改？";
    TitleWrite = "Write this file?", "写入这个文件？";
    TitleDelete = "Delete this file?", "删除这个文件？";
    TitleMove = "Move this file?", "移动这个文件？";
    TitleCopy = "Copy this file?", "复制这个文件？";
    TitleDirectory = "Make this directory?", "创建这个目录？";
    TitleRead = "Read this?", "读取这项内容？";
    TitleOther = "May this tool run?", "允许运行这个工具吗？";
    TitleQuestion = "A question for you", "有问题想问你";
    TitlePlan = "Carry out this plan?", "执行这个计划？";
    /// What a yes does.
    PlanMeans = "A yes ends plan mode. What the plan needs runs unasked until this turn ends, but for what is denied or always asked.", "同意后退出计划模式；在本回合结束前，计划所需的调用不再询问，被拒绝或始终需询问的除外。";
    KeyApprove = "yes, carry it out", "同意并执行";
    KeyKeepPlanning = "no, keep planning", "不，继续计划";
    PlanNoteTitle = "Keep planning. What is missing? Enter sends, also without words.", "继续计划。还缺什么？按 Enter 发送，可不填。";
    PlanApproved = "plan approved", "已同意计划";
    PlanRejected = "keep planning", "继续计划";
    PlanClosed = "closed without an answer", "未作答即关闭";
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
    /// 0: the rule.
    Because = "asked because: {0}", "询问原因：{0}";
    /// 0: why.
    StoppedBecause = "the sandbox seems to have stopped it: {0}", "似乎被沙箱阻止：{0}";
    OutsideMeans = "Outside it may do all that you may: change any file of yours, and use the network. It has run within the sandbox already, as far as it came.", "在沙箱外，它可以做您能做的一切：修改您的任何文件、使用网络。它已在沙箱内运行过一次，直到被阻止为止。";
    KeyOutside = "yes, once, outside the sandbox", "允许，在沙箱外仅此一次";
    KeyOnce = "yes, once", "允许，仅此一次";
    /// 0: what it covers.
    KeySession = "yes for this session: {0}", "本会话内允许：{0}";
    KeySessionLong = "yes for this session, as written above", "本会话内允许，范围见上文";
    /// 0: what it covers.
    KeyAlways = "yes, always in this workspace: {0}", "在此工作区始终允许：{0}";
    KeyAlwaysLong = "yes, always, as written above", "始终允许，范围见上文";
    /// {0}: the scope in words, with its rule.
    AlwaysCovers = "always, in this workspace, covers: {0}", "在此工作区始终允许的范围：{0}";
    SessionCovers = "a yes for this session covers: {0}", "本会话内允许的范围：{0}";
    KeyDeny = "no", "拒绝";
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
    NoteTitle = "No. Why? Enter sends, also without words.", "拒绝。原因？按 Enter 发送，可不填。";
    KeySend = "send the no", "发送拒绝";
    Watching = "You only watch: a client with the role approve or drive answers.", "你仅在旁观：由角色为 approve 或 drive 的客户端作答。";
    /// 0: the key that brings it back.
    SetAside = "Set aside, still open: {0} brings it back", "已暂放，问题仍未答复：按 {0} 重新打开";
    /// 0: who, 1: what.
    AnsweredBy = "{0} answered: {1}", "{0} 已作答：{1}";
    QuestionAnsweredBy = "{0} answered the question", "{0} 已回答该问题";
    AllowedOnce = "allowed once", "允许一次";
    AllowedSession = "allowed for this session", "本会话内允许";
    AllowedAlways = "allowed always", "始终允许";
    Denied = "denied", "拒绝";
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
