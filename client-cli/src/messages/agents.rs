//! Words of `agents`.

client::catalog! {
    NoDirectory = "the daemon does not say where agents are defined", "守护进程没有说明代理在何处定义";
    DoctorVersions = "`reasonix doctor` checks the versions of client and daemon", "`reasonix doctor` 检查客户端和守护进程的版本";
    BadName = "`{0}` cannot be the name of an agent", "`{0}` 不能作为代理的名称";
    BadNameHint = "use 1 to {0} letters, digits, `-` and `_`", "请用 1 到 {0} 个字母、数字、`-` 和 `_`";
    FileExists = "`{0}` exists already", "`{0}` 已经存在";
    FileExistsHint = "give another name: `reasonix agents new --template TEMPLATE NAME`", "请给出另一个名称：`reasonix agents new --template TEMPLATE NAME`";
    DoWriteAgent = "write `{0}`", "写入 `{0}`";
    NotAnAgent = "`{0}` is written, but it is not read as an agent", "`{0}` 已写入，但没有被识别为代理";
    NotAnAgentHint = "`reasonix agents` lists what is wrong with the files", "`reasonix agents` 列出这些文件的问题";
    NewIsHidden = "! `{0}` has no effect: `{1}` has the same name and comes first", "! `{0}` 不起作用：`{1}` 同名且优先";
}
