//! Words of models, budgets and what was used.

client::catalog! {
    PlusUnknown = "+: plus requests of unknown price", "+：另有价格未知的请求";
    UsedUp = "! the {0} budget ({1}) has no {2} left: no requests are sent until you raise it with `{3}` (0: no limit)", "! {0}预算（{1}）已没有剩余的{2}：在用 `{3}` 提高之前不会发送请求（0 表示不限）";
    Reset = "reset: {0}", "重置：{0}";
    ForSummary = "for a summary", "用于摘要";
    ForExtraction = "for an extraction", "用于推理提取";
    ASample = "a sample", "采样";
    NothingReported = "nothing reported", "没有报告";
    ProbablyExpired = "probably expired", "可能已过期";
    ChangedPrompt = "Reasonix changed the prompt from {0} on (a bug)", "Reasonix 从 {0} 起改动了提示词（程序错误）";
    Evicted = "evicted, or another server", "已被清除，或由另一台服务器应答";
    NotReported = "the provider reports no cache usage", "服务商不报告缓存用量";
    CacheSum = "{0}: {1} of {2} prompt tokens from the cache ({3}); {4}, {5}, {6}", "{0}：{2} 个输入词元中有 {1} 个来自缓存（{3}）；{4}，{5}，{6}";
    OneMiss = "1 miss", "1 次未命中";
    Misses = "{0} misses", "{0} 次未命中";
    Prefix = "prefix: {0}, sha256 {1}", "前缀：{0}，sha256 {1}";
    LifetimeUnknown = "cache lifetime unknown", "缓存保留时间未知";
    HasExpired = "the cache has expired; its lifetime is {0}", "缓存已过期；保留时间为 {0}";
    ExpiresIn = "expires in {0}:{1}", "{0}:{1} 后过期";
    ExpiredAgo = "expired {0} ago", "{0}前已过期";
    UsesFromNext = "· session {0} uses {1} from its next request on", "· 会话 {0} 从下一次请求起使用 {1}";
    WithEffort = "{0}, effort {1}", "{0}，推理强度 {1}";
    WithSamples = ", {0} samples per request", "，每次请求 {0} 个采样";
    WithExtraction = ", extracts reasoning", "，提取推理内容";
    GiveOnOff = "give `on` or `off`", "请给出 `on` 或 `off`";
    BuiltIn = "built in", "内置";
    NoModelYet = "· no model can be used yet: run `reasonix setup`", "· 还没有可用的模型：请运行 `reasonix setup`";
    FromCount = "estimated from the latest token count of the provider", "按服务商最近一次的词元计数估算";
    FourBytes = "estimated: 4 bytes per token", "按每词元 4 字节估算";
    PromptSum = "{0} and {1} tokens ({2}) for {3}/{4}", "{3}/{4}：{0}，{1} 词元（{2}）";
    SystemPrompt = "system prompt", "系统提示词";
    Tool = "tool {0}", "工具 {0}";
    ExtraParameters = "extra parameters", "额外参数";
    Money = "money", "金额";
    Tokens = "tokens", "词元";
    Steps = "steps", "步数";
    Minutes = "minutes", "分钟";
    Day = "day", "当日";
    Project = "project", "项目";
    Session = "session", "会话";
    Expired = "expired", "已过期";
    Yes = "yes", "是";
    No = "no", "否";
    Listed = "listed", "已列出";
    Tools = "tools", "工具";
}
