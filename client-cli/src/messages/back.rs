//! Words of `rewind` and `rm`.

client::catalog! {
    NoTurn = "· there is no turn to rewind to yet", "· 还没有可以回退的回合";
    TurnNote = "! Turn {0}: {1}", "! 第 {0} 回合：{1}";
    UndoNewest = "· `reasonix rewind {0} --undo` undoes the newest rewind", "· `reasonix rewind {0} --undo` 撤销最近一次回退";
    ForceAlso = "  `--force` also restores files that were changed since", "  `--force` 还会恢复之后有改动的文件";
    UndoIt = "  `reasonix rewind {0} --undo` undoes it", "  `reasonix rewind {0} --undo` 可撤销";
    WouldRemove = "would be removed", "将删除";
    WouldRestore = "would be restored", "将恢复";
    AlreadySo = "already in that state", "已是目标状态";
    Skipped = "skipped, changed since", "已跳过，之后有改动";
    WouldSkip = "would be skipped, changed since", "将跳过，之后有改动";
    NotRestored = "not restored: {0}", "未能恢复：{0}";
    BeforeFirst = "before its first turn", "第一回合之前";
    AtEnd = "at the end of turn {0}", "第 {0} 回合结束处";
    WouldBe = "would be", "将位于";
    IsNow = "is now", "现在位于";
    Stands = "session {0} {1} {2}", "会话 {0} {1}{2}";
    StandsHidden = "session {0} {1} {2}; hidden: {3}", "会话 {0} {1}{2}；隐藏 {3}";
    StandsShown = "session {0} {1} {2}; shown again: {3}", "会话 {0} {1}{2}；重新显示 {3}";
    NothingDeletedAsk = "nothing was deleted: cannot ask without a terminal", "未删除任何内容：没有终端，无法询问";
    NothingDeletedAskHint = "`--yes` deletes without asking; `--dry-run` shows what would be deleted", "`--yes` 不询问直接删除；`--dry-run` 显示将删除的内容";
    NothingDeleted = "· nothing was deleted", "· 未删除任何内容";
    DeleteOne = "Permanently delete session {0}?", "永久删除会话 {0}？";
    DeleteMany = "Permanently delete these {0}?", "永久删除这 {0}？";
    DeletedUnasked = "The daemon deleted session {0} unasked.", "守护进程未经询问就删除了会话 {0}。";
    DoctorVersions = "`reasonix doctor` checks the versions of client and daemon", "`reasonix doctor` 检查客户端和守护进程的版本";
    DeleteThem = "Permanently delete them?", "永久删除它们？";
    NotDeleted = "· not deleted, because they are running, waiting or paused: {0}", "· 未删除，因为正在运行、等待或已暂停：{0}";
    NoneUnused = "· no session was unused for more than {0}", "· 没有闲置超过 {0}的会话";
    Ago = "{0} ago", "{0}前";
    Would = "would be ", "将";
    WorktreeStays = "· the git worktree {0} has changes and was kept; to delete it, run in its repository: `git worktree remove --force --force {0}`", "· git 工作树 {0} 有更改，已保留；要删除，请在其仓库中运行 `git worktree remove --force --force {0}`";
    Deleted = "· {0} {1}deleted, {2} freed", "· {1}删除 {0}，释放 {2}";
    Removed = "removed", "已删除";
    Restored = "restored", "已恢复";
}
