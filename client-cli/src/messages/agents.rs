//! Words of `agents`.

client::catalog! {
    NoDirectory = "the daemon did not report the directories for agents", "守护进程没有给出代理的目录";
    DoctorVersions = "run `reasonix doctor` to compare the versions of client and daemon", "请运行 `reasonix doctor` 比较客户端和守护进程的版本";
    BadName = "`{0}` cannot be the name of an agent", "`{0}` 不能作为代理的名称";
    BadNameHint = "use 1 to {0} letters, digits, `-` and `_`", "请用 1 到 {0} 个字母、数字、`-` 和 `_`";
    FileExists = "`{0}` exists already", "`{0}` 已经存在";
    FileExistsHint = "give another name: `reasonix agents new --template TEMPLATE NAME`", "请给出另一个名称：`reasonix agents new --template TEMPLATE NAME`";
    NotAnAgent = "wrote `{0}`, but it is not a valid agent definition", "已写入 `{0}`，但它不是有效的代理定义";
    NotAnAgentHint = "`reasonix agents` lists what is wrong with the files", "`reasonix agents` 列出这些文件的问题";
    NewIsHidden = "! `{0}` has no effect: `{1}` has the same name and comes first", "! `{0}` 不起作用：`{1}` 同名且优先";
}
