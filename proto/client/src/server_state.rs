//! The state of an MCP server, as people read it.

use std::borrow::Cow;

use crate::messages::Language;
use crate::text;

crate::catalog! {
    Starting = "starting", "正在启动";
    Ready = "ready", "就绪";
    Unreachable = "does not answer", "无应答";
    BackingOff = "waiting to restart", "等待重启";
    Failed = "failed", "失败";
    NeedsLogin = "needs login", "需要登录";
    Disabled = "disabled", "已停用";
    Stopped = "stopped", "未运行";
}

/// The words of a state that the daemon names so (`McpServer::state`).
#[must_use]
pub fn words(language: Language, state: &str) -> Cow<'static, str> {
    let message = match state {
        "starting" => Msg::Starting,
        "ready" => Msg::Ready,
        "unreachable" => Msg::Unreachable,
        "backing off" => Msg::BackingOff,
        "failed" => Msg::Failed,
        "needs login" => Msg::NeedsLogin,
        "disabled" => Msg::Disabled,
        "stopped" => Msg::Stopped,
        // A daemon of a later version may know more.
        state => return text::line(state).into(),
    };
    language.say(message).into()
}
