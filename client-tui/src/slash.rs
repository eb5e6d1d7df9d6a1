//! The table of slash commands: what can be said beside prompts. The menu, help and the tests are made from it.

use proto::hello::Role;
use proto::params::command::{CommandInfo, CommandSource};

use crate::messages::Words;

pub mod foreign;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Without the slash.
    pub name: &'static str,
    /// Other names of the same.
    pub aliases: &'static [&'static str],
    pub command: Command,
    /// Usage of the arguments: `[NAME]`, `TEXT`; empty if there are none.
    pub arguments: &'static str,
    /// The least role that may say it.
    pub role: Role,
    /// Whether it needs a session: before the first prompt there is none.
    pub session: bool,
    pub about: Words,
}

const WATCH: (Role, bool) = (Role::Watch, false);
const WATCH_SESSION: (Role, bool) = (Role::Watch, true);
const DRIVE: (Role, bool) = (Role::Drive, false);
const DRIVE_SESSION: (Role, bool) = (Role::Drive, true);

/// A row for each command: its name, aliases, arguments, role, whether it needs a session, and its description.
macro_rules! commands {
    ($($command:ident $name:literal [$($alias:literal),*] $arguments:literal $needs:ident = $english:literal, $chinese:literal;)*) => {
        /// A command.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Command { $($command,)* }

        /// Every command, in the order of the menu.
        pub const COMMANDS: &[Row] = &[$(Row {
            name: $name,
            aliases: &[$($alias),*],
            command: Command::$command,
            arguments: $arguments,
            role: $needs.0,
            session: $needs.1,
            about: Words($english, $chinese),
        }),*];
    };
}

commands! {
    Help "help" ["keys", "?"] "" WATCH = "keys and commands", "按键与命令";
    New "new" [] "" DRIVE = "start a new session in this directory", "在本目录开始新会话";
    Clear "clear" [] "" DRIVE = "hide the conversation from the model; files stay", "对模型隐藏之前的对话，文件不变";
    Resume "resume" [] "[SESSION]" WATCH = "open a stored session: by pid, id or name, or pick one of this directory", "打开已存的会话：按会话号、标识或名称，或从本目录中选择";
    Sessions "sessions" [] "" WATCH = "switch between sessions", "切换会话";
    Search "search" [] "WORDS" WATCH = "search the messages of all sessions; Enter opens one", "搜索所有会话中的消息，回车打开所在会话";
    Top "top" ["ps"] "" WATCH = "show running sessions and commands; pause or stop them", "查看正在运行的会话和命令，可暂停或结束";
    Agents "agents" [] "" WATCH_SESSION = "list this session's sub-agents; Enter opens one", "列出本会话的子代理，回车打开";
    Inbox "inbox" [] "" WATCH = "show open questions of all sessions", "查看所有会话中待回答的问题";
    Forget "forget" [] "" DRIVE_SESSION = "permanently delete this session", "永久删除本会话";
    Fork "fork" [] "[NAME]" DRIVE_SESSION = "continue in a copy of this session", "在本会话的副本中继续";
    Rewind "rewind" [] "" DRIVE_SESSION = "rewind to an earlier turn", "回退到之前的回合";
    Undo "undo" [] "" DRIVE_SESSION = "restore files to before the last turn", "把文件恢复到上一回合之前";
    Redo "redo" [] "" DRIVE_SESSION = "undo the latest rewind", "撤销最近一次回退";
    Queue "queue" [] "" WATCH_SESSION = "show queued prompts", "排队的提示词";
    Steer "steer" [] "TEXT" DRIVE_SESSION = "send a message into the running turn", "向正在进行的回合插话";
    Pause "pause" [] "" DRIVE_SESSION = "pause: start nothing new", "不再开始新的步骤";
    Continue "continue" [] "[steps|minutes N]" DRIVE_SESSION = "continue after a pause, or after a limit with more steps or time", "暂停后继续；达到上限后增加步数或时间再继续";
    Rename "rename" [] "NAME" DRIVE_SESSION = "name the session", "为会话命名";
    Compact "compact" [] "[preview|undo|WORDS]" DRIVE_SESSION = "replace old messages by a summary, or undo that", "把旧消息压缩为摘要，或撤销";
    Reload "reload" [] "" DRIVE_SESSION = "read the instruction files again", "重新读取指令文件";
    Pin "pin" [] "[TURN]" DRIVE_SESSION = "keep a turn unchanged in every compaction", "压缩时逐字保留某一回合";
    Model "model" [] "[MODEL]" DRIVE = "pick another model, or switch to this one, from the next request on", "选择其他模型或换用指定模型，从下一次请求起生效";
    Effort "effort" [] "LEVEL|auto" DRIVE = "set the reasoning effort", "设置推理强度";
    Budget "budget" [] "[LIMIT AMOUNT]" DRIVE_SESSION = "show or change the session's budget", "查看或修改会话的预算";
    Preset "preset" [] "fast|smart|max" DRIVE = "switch model, effort and samples together", "一次切换模型、推理强度与采样数";
    ExtractReasoning "extract-reasoning" [] "on|off" DRIVE = "extract the reasoning of each answer (one extra request per answer)", "提取每个回答的推理要点（每个回答多一次请求）";
    Samples "samples" [] "N" DRIVE = "samples per request, 1 to 8; every sample is billed", "每个请求的采样数，1 到 8；全部计费";
    ApprovalMode "approval-mode" [] "[ask|auto|yolo]" DRIVE = "show or set the approval mode", "查看或设置审批模式";
    Permissions "permissions" [] "[revoke RULE]" WATCH = "show the permission rules in effect, or remove one", "查看生效的权限规则，或移除一条";
    Goal "goal" [] "[OPTION] [TEXT|clear]" DRIVE = "work towards a goal (`--research`), change it (`--change turns 80`), show or end it", "朝目标工作（`--research`），更改（`--change turns 80`）、查看或结束目标";
    Plan "plan" [] "" DRIVE = "plan mode: change nothing until a plan is approved", "计划模式：同意计划前不做任何改动";
    Normal "normal" [] "" DRIVE = "end plan mode", "退出计划模式";
    Safe "safe" [] "[off]" DRIVE = "read-only: refuse all changes in every mode", "只读：在任何模式下都拒绝改动";
    Trust "trust" [] "" DRIVE = "trust this project's settings", "信任本项目的设置";
    Todos "todos" [] "" WATCH_SESSION = "show or hide the todo list", "显示或隐藏待办列表";
    View "view" [] "" WATCH_SESSION = "read the whole transcript", "阅读完整记录";
    Copy "copy" [] "[N|code]" WATCH_SESSION = "copy the last answer, or its code", "复制最后的回答或其中的代码";
    Diff "diff" [] "" WATCH_SESSION = "show the changes of this session", "本会话改动了什么";
    Context "context" ["cache"] "" WATCH_SESSION = "show context and cache use", "上下文占用与缓存命中";
    Cost "cost" [] "" WATCH_SESSION = "show the usage of this session", "本会话的用量";
    Stats "stats" [] "" WATCH = "show the usage of all sessions", "所有会话的用量";
    Memory "memory" [] "[add|edit|… NAME]" WATCH = "show facts, or add, edit, forget or restore one", "查看事实；add、edit、forget、restore 更改一条";
    Commands "commands" [] "" WATCH = "list custom commands and where they come from", "查看自定义命令及其来源";
    Skills "skills" [] "" WATCH = "list skills; Enter uses one", "查看技能，回车使用";
    Hooks "hooks" [] "[reload]" WATCH = "list hooks; `reload` reads them again", "查看钩子；reload 重新读取";
    Mcp "mcp" [] "[restart NAME]" WATCH = "list MCP servers; `restart NAME` starts one again", "查看 MCP 服务器；restart NAME 重新启动一个";
    Export "export" [] "FILE" WATCH_SESSION = "write the session to a file", "将会话写入文件";
    Theme "theme" [] "[NAME]" WATCH = "change the colours: auto, dark, light, 16 or none", "更换配色：auto、dark、light、16 或 none";
    Language "language" [] "[en|zh]" WATCH = "change the language", "更换语言";
    Vim "vim" [] "" WATCH = "turn vim keys on or off", "开关 vim 按键";
    Editor "editor" [] "" DRIVE = "edit the prompt in your editor", "用外部编辑器编写提示词";
    Detach "detach" [] "" WATCH = "quit; the session keeps running", "退出，会话继续运行";
    Quit "quit" ["exit", "q"] "" WATCH = "quit; asks first if a turn is running", "退出；若回合进行中会先询问";
}

/// A line that begins with a slash, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// Not for us: it goes to the model as it is. Two slashes begin a prompt that begins with one.
    Prompt(&'a str),
    Command(&'static Row, &'a str),
    /// An unknown command.
    Unknown(&'a str),
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.command == other.command
    }
}

impl Eq for Row {}

impl Row {
    /// Whether it is called so, by its name or another one.
    #[must_use]
    pub fn is_named(&self, word: &str) -> bool {
        self.name == word || self.aliases.contains(&word)
    }
}

/// Whether a command of this interface runs instead of a custom one of the same name.
#[must_use]
pub fn is_own(command: &CommandInfo) -> bool {
    let is_own = COMMANDS.iter().any(|row| row.is_named(&command.name));
    is_own && command.source != CommandSource::BuiltIn
}

/// Parses a submitted line.
#[must_use]
pub fn parse(text: &str) -> Line<'_> {
    let line = text.trim();
    if let Some(rest) = line.strip_prefix("//") {
        // The second slash is the prompt's own.
        return Line::Prompt(&line[line.len() - rest.len() - 1..]);
    }
    let Some(said) = line.strip_prefix('/') else {
        // As in a shell; as a prompt to a model these words alone mean nothing.
        return match named("quit").filter(|_| matches!(line, "exit" | "quit")) {
            Some(quit) => Line::Command(quit, ""),
            None => Line::Prompt(line),
        };
    };
    let (word, arguments) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
    match named(word) {
        Some(row) => Line::Command(row, arguments.trim()),
        // A path or the like: pasted text is often not a command.
        None if word.contains(['/', '.', '*']) => Line::Prompt(line),
        None => Line::Unknown(word),
    }
}

/// The command of this name or alias.
#[must_use]
pub fn named(word: &str) -> Option<&'static Row> {
    let mut rows = COMMANDS.iter();
    rows.find(|row| row.is_named(word))
}

#[cfg(test)]
mod tests;
