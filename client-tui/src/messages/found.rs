//! Words of the lists of skills and of search hits.

super::catalog! {
    SkillsTitle = "Skills", "技能";
    /// The words.
    SearchTitle = "Messages with {0}", "含有 {0} 的消息";
    NoSkills = "No skills. A `SKILL.md` in `.reasonix/skills/NAME/` appears here.", "没有技能。`.reasonix/skills/名称/` 中的 `SKILL.md` 会出现在这里。";
    NoHits = "No message has these words. Fewer or other words may; hits of all sessions appear here.", "没有消息含有这些词。请减少或更换词语；所有会话中的匹配都会出现在这里。";
    OfProject = "project", "项目";
    OfUser = "user", "用户";
    OfSetting = "setting", "设置";
    Fault = "left out", "已略过";
    HiddenBy = "hidden by `{0}`", "被 `{0}` 遮蔽";
    IsCommand = "`/{0}` runs the command of this name", "`/{0}` 会运行同名命令";
    NotTrusted = "from a project that is not trusted", "来自未受信任的项目";
    CommandsTitle = "Custom commands", "自定义命令";
    NoCommands = "no custom commands", "没有自定义命令";
    OfServer = "MCP server", "MCP 服务器";
    OfProgram = "comes with Reasonix", "内置";
    OwnCommand = "`/{0}` is a command of this interface, which runs instead", "`/{0}` 是界面自带的命令，会改为运行它";
    OnlyTools = "only these tools while in force: {0}", "生效期间只能用这些工具：{0}";
    NewestMissing = "the newest messages may be missing: {0}", "可能缺少最新的消息：{0}";
    IndexingUnknown = "the index is being built", "索引正在建立";
    /// How many sessions are in the index, of how many.
    Indexing = "the index has {0} of {1} sessions so far", "索引目前有 {1} 个会话中的 {0} 个";
    /// How many are listed, of how many.
    MoreHits = "{0} of {1}", "{1} 条中的 {0} 条";
}
