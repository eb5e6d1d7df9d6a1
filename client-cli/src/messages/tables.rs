//! Heads of tables, names of facts, and counted nouns.

use client::messages::{Language, Message as _};

client::catalog! {
    /// The head of a column.
    Head:
    Empty = "", "";
    About = "ABOUT", "说明";
    Active = "ACTIVE", "活动";
    Added = "ADDED", "增加";
    Age = "AGE", "时长";
    Ago = "AGO", "距今";
    Approval = "APPROVAL", "审批";
    Attached = "ATTACHED", "客户端";
    Block = "BLOCK", "块";
    Blocked = "BLOCKED", "阻止";
    By = "BY", "来自";
    Bytes = "BYTES", "字节";
    Cached = "CACHED", "缓存";
    Calls = "CALLS", "调用";
    Cause = "CAUSE", "原因";
    Command = "COMMAND", "命令";
    Skill = "SKILL", "技能";
    Context = "CONTEXT", "上下文";
    Cost = "COST", "费用";
    Created = "CREATED", "创建";
    Cwd = "CWD", "目录";
    Day = "DAY", "日期";
    Effort = "EFFORT", "强度";
    Event = "EVENT", "事件";
    Expected = "EXPECTED", "预期";
    Failed = "FAILED", "失败";
    Files = "FILES", "文件";
    First = "FIRST", "首字";
    For = "FOR", "等待内容";
    From = "FROM", "来源";
    Gap = "GAP", "间隔";
    Got = "GOT", "收到";
    Hit = "HIT", "命中";
    Hook = "HOOK", "钩子";
    Id = "ID", "编号";
    Key = "KEY", "密钥";
    /// Of the table of settings.
    Setting = "KEY", "设置项";
    Kind = "KIND", "类型";
    Labels = "LABELS", "标签";
    Title = "TITLE", "标题";
    Last = "LAST", "最近内容";
    List = "LIST", "列表";
    Match = "MATCH", "匹配";
    Minutes = "MINUTES", "分钟";
    Model = "MODEL", "模型";
    Money = "MONEY", "金额";
    Name = "NAME", "名称";
    Needs = "NEEDS", "需要";
    Of = "OF", "范围";
    OsPid = "OS PID", "系统进程号";
    Output = "OUTPUT", "输出";
    Part = "PART", "部分";
    Path = "PATH", "路径";
    Pid = "PID", "编号";
    Place = "PLACE", "位置";
    Price = "PRICE", "价格";
    Prompt = "PROMPT", "提示词";
    Purpose = "PURPOSE", "用途";
    Removed = "REMOVED", "删除";
    Requests = "REQUESTS", "请求";
    Results = "RESULTS", "结果";
    Rule = "RULE", "规则";
    Runs = "RUNS", "运行";
    Sent = "SENT", "发送";
    Session = "SESSION", "会话";
    Size = "SIZE", "大小";
    State = "STATE", "状态";
    Tools = "TOOLS", "工具";
    Step = "STEP", "步";
    Steps = "STEPS", "步数";
    Time = "TIME", "用时";
    Tokens = "TOKENS", "词元";
    Took = "TOOK", "用时";
    Tool = "TOOL", "工具";
    Tries = "TRIES", "尝试";
    Turn = "TURN", "回合";
    Turns = "TURNS", "回合";
    Value = "VALUE", "值";
    Vision = "VISION", "图像";
    Waits = "WAITS", "已等待";
    Wants = "WANTS", "内容";
    What = "WHAT", "内容";
    When = "WHEN", "时间";
    Window = "WINDOW", "窗口";
}

client::catalog! {
    /// Something that is counted: English adds an `s` for several.
    Thing:
    Turn = "turn", "个回合";
    Day = "day", "天";
    Session = "session", "个会话";
    Request = "request", "次请求";
    Reset = "reset", "次重置";
    Rewrite = "rewrite", "次重写";
}

client::catalog! {
    /// The name of a fact, before its value on a line.
    Label:
    Privacy = "privacy", "隐私";
    Store = "store", "存储";
    Logs = "logs", "日志";
    Index = "index", "索引";
    Instructions = "instructions", "指令";
    History = "history", "历史";
    Config = "config", "配置";
    Credentials = "credentials", "密钥";
    Trust = "trust", "信任";
    Providers = "providers", "服务商";
    Versions = "versions", "版本";
    Daemon = "daemon", "守护进程";
    Provider = "provider", "服务商";
    Active = "active", "活动";
    Autostart = "autostart", "自启动";
    Background = "background", "后台命令";
    Checkpoints = "checkpoints", "检查点";
    Client = "client", "客户端";
    Confinement = "sandbox", "沙箱";
    Context = "context", "上下文";
    Cost = "cost", "费用";
    Created = "created", "创建";
    Directory = "directory", "目录";
    Home = "home", "主目录";
    Labels = "labels", "标签";
    Memory = "memory", "内存";
    Messages = "messages", "消息";
    Model = "model", "模型";
    Name = "name", "名称";
    Origin = "origin", "来源";
    Pid = "pid", "进程号";
    Prefix = "prefix", "前缀";
    Problem = "problem", "问题";
    Questions = "questions", "问题";
    Queued = "queued", "排队";
    ReadOnly = "read-only", "只读";
    Records = "records", "记录";
    Rules = "rules", "规则";
    Session = "session", "会话";
    Sessions = "sessions", "会话";
    Socket = "socket", "套接字";
    State = "state", "状态";
    Tokens = "tokens", "词元";
    Turns = "turns", "回合";
    Uptime = "uptime", "运行时间";
    Version = "version", "版本";
    Waits = "waits", "等待";
}

impl Label {
    /// A name that the daemon gives, in the language of the user; as it came if it is not known. Of two words the
    /// second is whose it is.
    pub fn shown(name: &str) -> String {
        let (first, rest) = match name.split_once(' ') {
            Some((first, rest)) => (first, format!(" {rest}")),
            None => (name, String::new()),
        };
        let mut labels = Self::ALL.iter();
        let known = labels.find(|label| label.english() == first);
        let first = known.map_or(first, |label| super::language().say(*label));
        format!("{first}{rest}")
    }
}

client::catalog! {
    /// The name of a session's setting, as the wire has it.
    SessionSetting:
    Allow = "allow", "允许规则";
    ApprovalMode = "approval_mode", "审批模式";
    Ask = "ask", "询问规则";
    AutoPlan = "auto_plan", "自动计划";
    Budget = "budget", "预算";
    Deny = "deny", "拒绝规则";
    Effort = "effort", "推理强度";
    ExtractReasoning = "extract_reasoning", "推理提取";
    Grants = "grants", "会话授权";
    InHome = "in_home", "在主目录";
    Kind = "kind", "类型";
    Labels = "labels", "标签";
    MaxSteps = "max_steps", "步数上限";
    Mode = "mode", "模式";
    Model = "model", "模型";
    Name = "name", "名称";
    OnAsk = "on_ask", "无人审批时";
    PlannerModel = "planner_model", "计划模型";
    ReadOnly = "read_only", "只读";
    Restart = "restart", "重启策略";
    Samples = "samples", "采样数";
    Timeout = "timeout_ms", "时限毫秒";
}

impl SessionSetting {
    /// The name in this language; as it came if it is not known.
    pub fn shown(language: Language, name: &str) -> &str {
        let mut settings = Self::ALL.iter();
        let known = settings.find(|setting| setting.english() == name);
        known.map_or(name, |setting| language.say(*setting))
    }
}
