//! Words of the list of models.

super::catalog! {
    Title = "Models", "模型";
    None = "No models: configure a provider with `reasonix setup`.", "没有模型：请用 `reasonix setup` 配置服务商。";
    Key = "key", "有密钥";
    NoKey = "no key", "无密钥";
    Price = "${0} in, ${1} out per million tokens", "每百万词元：入 ${0}，出 ${1}";
    PriceUnknown = "price unknown", "价格未知";
    Window = "context window {0}", "上下文窗口 {0}";
    WindowUnknown = "context window unknown", "上下文窗口未知";
    KeyNotNeeded = "needs no key", "不需要密钥";
    KeyThere = "the key is there", "密钥已就绪";
    KeyMissing = "the key is missing: set {0}, or run `reasonix login {1}`", "缺少密钥：请设置 {0}，或运行 `reasonix login {1}`";
    Next = "new sessions of this window use {0}", "本窗口的新会话将使用 {0}";
}
