//! The key table: what each key does where. Help, the reference and the key tests are made from it.

use client::messages::Message;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::messages::{Words, catalog};

catalog! {
    /// Where a key is pressed. The innermost that is open is asked first, then [`Context::Everywhere`]. In the order of help.
    Context:
    /// Whatever is open.
    Everywhere = "Everywhere", "任何位置";
    /// Nothing is open: the composer has the keys.
    Composer = "Writing", "编写";
    /// The menu of commands or files below the composer.
    Menu = "Menu", "菜单";
    /// A question about a tool call.
    Approval = "Approval of a call", "工具调用的审批";
    /// A question of the model.
    Question = "Question of the model", "模型的提问";
    /// A list of sessions, turns, prompts, processes.
    List = "Lists", "列表";
    /// Processes and sessions at work (`top`), beside the keys of lists.
    Processes = "Processes", "进程";
    /// The queue, beside the keys of lists.
    Queue = "Queue", "队列";
    /// The whole transcript, help, a diff: something to read.
    Pager = "Reading", "阅读";
    /// A yes or no.
    Confirm = "Yes or no", "是或否";
}

catalog! {
    /// What a key does.
    Action:
    // Everywhere
    Interrupt = "interrupt the turn; twice: quit now", "中断当前回合；连按两次立即退出";
    Leave = "on an empty line: quit (the session stays)", "空行时：退出（会话保留）";
    Suspend = "suspend to the shell (`fg` returns)", "挂起到 shell（`fg` 返回）";
    Redraw = "redraw the screen", "重绘屏幕";
    Help = "show keys and commands", "显示按键与命令";
    Sessions = "switch between sessions", "切换会话";
    Attention = "show the inbox: open questions of all sessions", "查看所有会话中待回答的问题";
    ApprovalMode = "switch the approval mode between ask and auto", "切换审批模式：ask 或 auto";
    Mode = "switch between normal and plan mode", "切换模式：普通或计划";
    Todos = "show or hide the todo list", "显示或隐藏待办列表";
    Output = "expand or collapse tool output", "展开或折叠工具输出";
    Reasoning = "expand or collapse reasoning", "展开或折叠思考过程";
    Parent = "from a sub-agent: back to the session that started it", "从子代理返回启动它的会话";
    ScrollUp = "scroll up", "向上滚动";
    ScrollDown = "scroll down", "向下滚动";
    // Composer
    Send = "send (during a turn: queue)", "发送；回合进行中则排队";
    Steer = "send into the running turn", "插入到正在进行的回合";
    Newline = "new line", "换行";
    Back = "interrupt the turn; twice on an empty line: rewind to an earlier turn", "中断回合；空行连按两次：回退到之前的回合";
    Older = "previous prompt", "更早的提示词";
    Newer = "next prompt", "更新的提示词";
    Up = "line up; on the first line: previous prompt", "上一行；首行时：更早的提示词";
    Down = "line down; on the last line: next prompt", "下一行；末行时：更新的提示词";
    Left = "left", "左移";
    Right = "right", "右移";
    WordLeft = "word left", "左移一词";
    WordRight = "word right", "右移一词";
    LineStart = "start of the line", "行首";
    LineEnd = "end of the line", "行尾";
    DeleteBack = "delete the previous character", "删除前一个字符";
    DeleteForward = "delete the next character", "删除后一个字符";
    DeleteWordBack = "delete the previous word", "删除前一个词";
    DeleteWordForward = "delete the next word", "删除后一个词";
    DeleteToStart = "delete to the start of the line", "删除到行首";
    DeleteToEnd = "delete to the end of the line", "删除到行尾";
    Yank = "insert the last deleted text", "粘贴刚删除的文字";
    Undo = "undo", "撤销";
    Redo = "redo", "重做";
    Editor = "edit the prompt in your editor", "用外部编辑器编写";
    // Menus and lists
    Accept = "select", "选定";
    Complete = "insert the entry and keep writing", "补全并继续输入";
    Previous = "previous entry", "上一项";
    Next = "next entry", "下一项";
    First = "go to the start", "到开头";
    Last = "go to the end", "到末尾";
    PageUp = "page up", "上一页";
    PageDown = "page down", "下一页";
    Close = "close", "关闭";
    Filter = "filter", "筛选";
    // Approvals
    AllowOnce = "yes, once", "允许一次";
    AllowSession = "yes, for this session", "本会话内允许";
    AllowAlways = "always allow in this workspace", "在此工作区始终允许";
    Deny = "no, with an optional note", "拒绝，可附说明";
    DenyRest = "no, and to all others of that answer that need approval", "拒绝，连同该回答中其余需要批准的调用";
    ApproveKeepAsking = "approve a plan, but keep asking about calls", "同意计划，但仍照常询问调用";
    EditCommand = "edit the command first", "先修改命令";
    EditScope = "choose the scope of the approval", "选择允许的范围";
    ReadAll = "read all of it in the pager", "在分页器中阅读全部内容";
    SetAside = "answer later (stays open)", "稍后回答（问题保持未答）";
    // Questions
    Choose = "toggle", "选中或取消";
    Other = "write your own answer", "自行填写回答";
    // Processes
    Pause = "pause or resume", "暂停或继续";
    Kill = "stop", "结束";
    Approve = "show its question", "查看它的问题";
    // Queue
    Edit = "edit", "编辑";
    Drop = "remove", "移除";
    MoveUp = "earlier", "提前";
    MoveDown = "later", "延后";
    SteerNow = "send into the running turn", "插入到正在进行的回合";
    // Pager
    OpenOne = "expand or collapse this part", "展开或折叠该部分";
    OpenAll = "expand or collapse all", "全部展开或折叠";
    Raw = "switch between raw and formatted", "切换原文与排版";
    NextPart = "next part", "下一部分";
    PreviousPart = "previous part", "上一部分";
    Search = "search", "搜索";
    SearchNext = "next match", "下一个匹配";
    // Confirm
    Yes = "yes", "是";
    No = "no", "否";
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    pub context: Context,
    /// As `ctrl-p`, `shift-enter`, `?`; each does the same.
    pub keys: &'static [&'static str],
    pub action: Action,
    /// Description of this binding, if the action's own does not fit.
    own_about: Option<Words>,
}

impl Binding {
    /// The description.
    #[must_use]
    pub fn about(&self) -> Words {
        let of_action = Words(self.action.english(), self.action.chinese());
        self.own_about.unwrap_or(of_action)
    }

    /// Its first key, as it is written for people.
    #[must_use]
    pub fn shown(&self) -> String {
        let first = self.keys.first();
        first.map_or_else(String::new, |name| written(name))
    }
}

/// A row for each key of a context: the keys and their action, with words where those of the action do not fit.
macro_rules! keys {
    ($($context:ident [$($key:literal),*] $action:ident $(= $english:literal, $chinese:literal)?;)*) => {
        /// Every key, but for the letters that write.
        pub const BINDINGS: &[Binding] = &[$(Binding {
            context: Context::$context,
            keys: &[$($key),*],
            action: Action::$action,
            own_about: own_about!($($english, $chinese)?),
        }),*];
    };
}

macro_rules! own_about {
    () => {
        None
    };
    ($english:literal, $chinese:literal) => {
        Some(Words($english, $chinese))
    };
}

keys! {
    Everywhere ["ctrl-c"] Interrupt;
    Everywhere ["ctrl-z"] Suspend;
    Everywhere ["ctrl-l"] Redraw;
    Everywhere ["f1"] Help;
    Everywhere ["ctrl-p"] Sessions;
    Everywhere ["ctrl-q"] Attention;
    Everywhere ["ctrl-o"] ApprovalMode;
    Everywhere ["ctrl-t"] Todos;
    Everywhere ["ctrl-b"] Output;
    Everywhere ["ctrl-r"] Reasoning;
    Everywhere ["ctrl-x"] Parent;
    Composer ["enter"] Send;
    Composer ["ctrl-enter", "ctrl-s"] Steer;
    Composer ["shift-enter", "alt-enter", "ctrl-j"] Newline;
    Composer ["?"] Help = "on an empty line: show keys and commands", "空行时：显示按键与命令";
    Composer ["shift-tab"] Mode;
    Composer ["ctrl-d"] Leave;
    Composer ["esc"] Back;
    Composer ["up"] Up;
    Composer ["down"] Down;
    Composer ["alt-up"] Older;
    Composer ["alt-down"] Newer;
    Composer ["left"] Left;
    Composer ["right"] Right;
    Composer ["alt-b", "ctrl-left", "alt-left"] WordLeft;
    Composer ["alt-f", "ctrl-right", "alt-right"] WordRight;
    Composer ["ctrl-a", "home"] LineStart;
    Composer ["ctrl-e", "end"] LineEnd;
    Composer ["backspace", "ctrl-h"] DeleteBack;
    Composer ["delete"] DeleteForward;
    Composer ["ctrl-w", "alt-backspace"] DeleteWordBack;
    Composer ["alt-d", "ctrl-delete"] DeleteWordForward;
    Composer ["ctrl-u"] DeleteToStart;
    Composer ["ctrl-k"] DeleteToEnd;
    Composer ["ctrl-y"] Yank;
    Composer ["ctrl-_", "ctrl-/", "ctrl-7"] Undo;
    Composer ["alt-_", "alt-/"] Redo;
    Composer ["ctrl-g"] Editor;
    Composer ["pageup"] ScrollUp;
    Composer ["pagedown"] ScrollDown;
    Menu ["tab"] Complete;
    Menu ["enter"] Accept = "select the entry", "选用该项";
    Menu ["up", "ctrl-p", "shift-tab"] Previous;
    Menu ["down", "ctrl-n"] Next;
    Menu ["esc"] Close = "close the menu until the text changes", "关闭菜单，直到文字改变";
    Approval ["y"] AllowOnce;
    Approval ["s"] AllowSession;
    Approval ["a"] AllowAlways;
    Approval ["n"] Deny;
    Approval ["r"] DenyRest;
    Approval ["c"] ApproveKeepAsking;
    Approval ["e"] EditCommand;
    Approval ["p"] EditScope;
    Approval ["up", "k"] ScrollUp;
    Approval ["down", "j"] ScrollDown;
    Approval ["pageup"] PageUp;
    Approval ["pagedown", "space"] PageDown;
    Approval ["v"] ReadAll;
    Approval ["enter"] Accept = "send the note, select the scope", "发送说明，选定范围";
    Approval ["esc"] SetAside;
    Question ["up", "k"] Previous;
    Question ["down", "j"] Next;
    Question ["space"] Choose;
    Question ["1", "2", "3", "4", "5", "6", "7", "8", "9"] Choose = "choose this option", "选择该选项";
    Question ["enter"] Accept = "answer", "回答";
    Question ["left", "backspace"] PreviousPart = "previous question", "上一个问题";
    Question ["pageup"] PageUp;
    Question ["pagedown"] PageDown;
    Question ["o"] Other;
    Question ["n"] Deny = "decline to answer an MCP server", "拒绝回答 MCP 服务器";
    Question ["esc"] SetAside;
    List ["up", "k"] Previous;
    List ["down", "j"] Next;
    List ["home", "g"] First;
    List ["end", "G"] Last;
    List ["pageup"] PageUp;
    List ["pagedown"] PageDown;
    List ["/"] Filter;
    List ["enter"] Accept;
    List ["esc", "q"] Close;
    Processes ["p"] Pause;
    Processes ["x"] Kill;
    Processes ["a"] Approve;
    Queue ["e"] Edit;
    Queue ["d"] Drop;
    Queue ["K", "shift-up"] MoveUp;
    Queue ["J", "shift-down"] MoveDown;
    Queue ["s"] SteerNow;
    Pager ["up", "k"] ScrollUp;
    Pager ["down", "j"] ScrollDown;
    Pager ["pageup", "b"] PageUp;
    Pager ["pagedown", "space"] PageDown;
    Pager ["home", "g"] First;
    Pager ["end", "G"] Last;
    Pager ["tab"] NextPart;
    Pager ["shift-tab"] PreviousPart;
    Pager ["enter", "o"] OpenOne;
    Pager ["a"] OpenAll;
    Pager ["m"] Raw;
    Pager ["/"] Search;
    Pager ["n"] SearchNext;
    Pager ["esc", "q"] Close;
    Confirm ["y"] Yes;
    Confirm ["n", "esc"] No;
    Confirm ["up"] ScrollUp;
    Confirm ["down"] ScrollDown;
    Confirm ["pageup"] PageUp;
    Confirm ["pagedown"] PageDown;
}

/// What a key does in a context; `None`: nothing there.
#[must_use]
pub fn find(context: Context, key: &KeyEvent) -> Option<Action> {
    let mut rows = BINDINGS.iter().filter(|row| row.context == context);
    rows.find(|row| row.keys.iter().any(|name| matches(name, key)))
        .map(|row| row.action)
}

/// What a key writes. AltGr comes as Ctrl and Alt on some systems.
#[must_use]
pub fn letter(key: &KeyEvent) -> Option<char> {
    let KeyCode::Char(character) = key.code else {
        return None;
    };
    let held = key.modifiers - KeyModifiers::SHIFT;
    let third_level = held == KeyModifiers::CONTROL | KeyModifiers::ALT;
    (held.is_empty() || (third_level && !character.is_ascii_alphanumeric())).then_some(character)
}

/// The row of an action; `None`: it has no key there.
#[must_use]
pub fn row_of(context: Context, action: Action) -> Option<&'static Binding> {
    let mut rows = BINDINGS.iter();
    rows.find(|row| row.context == context && row.action == action)
}

/// The first key of an action, as written for users; empty if it has none.
#[must_use]
pub fn shown(context: Context, action: Action) -> String {
    row_of(context, action).map_or_else(String::new, Binding::shown)
}

/// A key's name as people write it: `Ctrl-P`, `Shift-Enter`, `Esc`.
#[must_use]
pub fn written(name: &str) -> String {
    let (modifiers, code) = split(name);
    let mut out = String::new();
    for (flag, word) in [
        (KeyModifiers::CONTROL, "Ctrl-"),
        (KeyModifiers::ALT, "Alt-"),
        (KeyModifiers::SHIFT, "Shift-"),
    ] {
        if modifiers.contains(flag) {
            out.push_str(word);
        }
    }
    let mut letters = code.chars();
    match (letters.next(), letters.next()) {
        (Some(one), None) if modifiers.contains(KeyModifiers::CONTROL) => {
            out.extend(one.to_uppercase());
        }
        (Some(one), None) => out.push(one),
        _ if code == "pageup" => out.push_str("PageUp"),
        _ if code == "pagedown" => out.push_str("PageDown"),
        (Some(first), Some(_)) => {
            out.extend(first.to_uppercase());
            out.push_str(code.get(first.len_utf8()..).unwrap_or_default());
        }
        (None, _) => {}
    }
    out
}

/// The key of a name of the table, for tests that press it.
#[must_use]
pub fn key(name: &str) -> Option<KeyEvent> {
    let (modifiers, code) = split(name);
    let code = code_of(code)?;
    let code = match code {
        KeyCode::Tab if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        other => other,
    };
    Some(KeyEvent::new(code, modifiers))
}

fn matches(name: &str, key: &KeyEvent) -> bool {
    let Some(wanted) = self::key(name) else {
        return false;
    };
    // A capital letter says itself that Shift is held, and so does the key of the way back.
    let relevant = |key: &KeyEvent| match key.code {
        KeyCode::Char(_) | KeyCode::BackTab => key.modifiers - KeyModifiers::SHIFT,
        _ => key.modifiers,
    };
    wanted.code == key.code && relevant(&wanted) == relevant(key)
}

fn split(name: &str) -> (KeyModifiers, &str) {
    let mut modifiers = KeyModifiers::empty();
    let mut rest = name;
    loop {
        let found = [
            ("ctrl-", KeyModifiers::CONTROL),
            ("alt-", KeyModifiers::ALT),
            ("shift-", KeyModifiers::SHIFT),
        ]
        .into_iter()
        .find_map(|(word, flag)| Some((rest.strip_prefix(word)?, flag)));
        match found {
            Some((after, flag)) if !after.is_empty() => {
                modifiers |= flag;
                rest = after;
            }
            _ => return (modifiers, rest),
        }
    }
}

fn code_of(name: &str) -> Option<KeyCode> {
    Some(match name {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "space" => KeyCode::Char(' '),
        "backspace" => KeyCode::Backspace,
        "delete" => KeyCode::Delete,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pageup" => KeyCode::PageUp,
        "pagedown" => KeyCode::PageDown,
        "f1" => KeyCode::F(1),
        one => {
            let mut letters = one.chars();
            match (letters.next(), letters.next()) {
                (Some(letter), None) => KeyCode::Char(letter),
                _ => return None,
            }
        }
    })
}

#[cfg(test)]
mod tests;
