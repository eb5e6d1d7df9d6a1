//! Sentences of the daemon about settings: what is wrong in a config file, and what a setting may be.

crate::catalog! {
    UnknownSetting = "unknown setting `{0}`", "未知设置 `{0}`";
    Near = "did you mean `{0}`?", "是否想用 `{0}`？";
    IsIgnored = "it is ignored", "已忽略";
    OldName = "`{0}` is the old name of `{1}`, which is set too; it is ignored", "`{0}` 是 `{1}` 的旧名称，而后者也已设置；已忽略";
    MustBeElse = "`{0}` must be {1}; {2}", "`{0}` 应为：{1}；{2}";
    MustBeWritten = "`{0}` must be written as `{1}`", "`{0}` 必须写作 `{1}`";
    StaysUnset = "it stays unset", "视为未设置";
    Counts = "{0} counts", "采用 {0}";
    Text = "a text", "文本";
    Flag = "true or false", "true 或 false";
    OneOf = "one of {0}", "以下之一：{0}";
    Whole = "a whole number from {0} to {1}", "{0} 到 {1} 之间的整数";
    Decimal = "a number from {0} to {1}, with or without a fraction", "{0} 到 {1} 之间的数，可带小数";
    ListOf = "a list of {0}", "列表，其元素为{0}";
    OfTools = "names of tools", "工具名称";
    OfPaths = "paths", "路径";
    OfGlobs = "globs", "通配模式";
    OfVariables = "names of variables", "变量名称";
    OfSkills = "names of skills", "技能名称";
    OfCommands = "shell commands", "shell 命令";
    OfRules = "rules: strings, or tables such as {0}", "规则：字符串，或如 {0} 的表";
    DirectoryPath = "a directory path", "目录路径";
    FilePath = "a file path", "文件路径";
    Directory = "a directory: {0}", "目录：{0}";
    File = "a file: {0}", "文件：{0}";
    NotEmpty = "it must not be empty", "不得为空";
    NotRoot = "not `/`, which is the whole file system", "不得是 `/`，即整个文件系统";
    OwnHome = "`~` works only for your own home", "`~` 只能表示自己的主目录";
    NoGlob = "not a valid glob: {0}", "不是有效的通配模式：{0}";
    NotToml = "not valid TOML, so the whole file is ignored: {0}", "不是有效的 TOML，整个文件已忽略：{0}";
    CannotRead = "cannot be read: {0}", "无法读取：{0}";
    EntryIgnored = "an entry of `{0}` is ignored: {1}", "`{0}` 中的一项已忽略：{1}";
    Entry = "an entry of `{0}`: {1}", "`{0}` 中的一项：{1}";
    RuleUsed = "`{0}`: {1}; it is used as read", "`{0}`：{1}；仍按读到的内容采用";
    RuleIgnored = "`{0}`: {1}; it is ignored until that is fixed", "`{0}`：{1}；修正之前不采用";
    RuleParenthesis = "a parenthesis is missing", "缺少括号";
    RuleTool = "unknown tool `{0}`", "未知工具 `{0}`";
    RuleToolNear = "unknown tool `{0}` (did you mean `{1}`?)", "未知工具 `{0}`（是否想用 `{1}`？）";
    RulesLost = "{0}; until this is fixed, every call that changes something needs approval", "{0}；修正之前，任何会改动内容的调用都需要批准";
    ProviderTwice = "the provider `{0}` is already defined; this one is ignored", "服务商 `{0}` 已经定义；此条目已忽略";
    ProviderIgnoredBecause = "{0}; this provider is ignored", "{0}；此服务商已忽略";
    ProviderKey = "a provider has no key `{0}`", "服务商没有 `{0}` 这一键";
    ProviderIgnored = "this provider is ignored: {0} (it may have {1})", "此服务商已忽略：{0}（可有：{1}）";
    MissingField = "missing field `{0}`", "缺少字段 `{0}`";
}
