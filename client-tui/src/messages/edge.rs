//! Texts about the user's editor and the clipboard.

super::catalog! {
    /// The program of `$VISUAL` or `$EDITOR`, and why.
    EditorMissing = "cannot start the editor `{0}`: {1}", "无法启动编辑器 `{0}`：{1}";
    EditorMissingHint = "set `VISUAL` or `EDITOR` to one that is installed", "请将 `VISUAL` 或 `EDITOR` 设为已安装的编辑器";
    /// The program, and how it ended.
    EditorFailed = "the editor `{0}` failed ({1}); the draft is unchanged", "编辑器 `{0}` 异常退出（{1}），草稿未改动";
    EditorFile = "cannot write the draft for the editor: {0}", "无法把草稿交给编辑器：{0}";
    /// The file.
    ExportThere = "not exported: {0} already exists", "未导出：{0} 已存在";
    ExportThereHint = "choose another file name", "请换一个文件名";
    EditorRead = "cannot read the edited draft: {0}", "无法读取编辑器保存的内容：{0}";
    CopyFile = "cannot write the copy to a file: {0}", "无法把复制的内容写入文件：{0}";
    CopyTerminal = "cannot write to the terminal: {0}", "无法写入终端：{0}";
}
