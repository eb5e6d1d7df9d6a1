//! Words of `mcp presets` and `mcp add NAME`.

client::catalog! {
    Context7 = "look up current documentation of libraries", "查询库的最新文档";
    Fetch = "fetch web pages as Markdown", "以 Markdown 获取网页";
    Filesystem = "read and change files of the working directory", "读取和修改工作目录中的文件";
    Git = "read, diff, stage and commit in git repositories", "在 git 仓库中查看、比较、暂存和提交";
    Github = "issues, pull requests and code on GitHub", "GitHub 上的议题、拉取请求和代码";
    Memory = "a graph of facts that outlives sessions", "跨会话保留的事实图谱";
    Playwright = "control a browser (Chrome): open pages, click, type, take snapshots", "控制浏览器（Chrome）：打开网页、点击、输入、获取快照";
    SequentialThinking = "think a problem through step by step", "逐步思考问题";
    Time = "the time, and conversions between time zones", "时间以及时区换算";
    NeedsNpx = "· it is started with `npx`, which comes with Node.js; the first start downloads it", "· 它由 `npx`（随 Node.js 提供）启动；首次启动会下载";
    NeedsUvx = "· it is started with `uvx`, which comes with uv; the first start downloads it", "· 它由 `uvx`（随 uv 提供）启动；首次启动会下载";
    NeedsVariable = "· it needs a token: set the environment variable {0} where you start `reasonix`", "· 它需要令牌：请在启动 `reasonix` 的环境中设置变量 {0}";
    Unknown = "there is no preset `{0}`, and no command was given", "没有名为 `{0}` 的预设，也没有给出命令";
    UnknownHint = "`reasonix mcp presets` lists the presets; to add another server give its command or address: `reasonix mcp add {0} COMMAND`", "`reasonix mcp presets` 列出预设；要添加其他服务器，请给出其命令或地址：`reasonix mcp add {0} COMMAND`";
}
