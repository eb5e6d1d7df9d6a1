//! Words of the composer.

super::catalog! {
    Placeholder = "Ask a question or describe a task. `/` commands, `@` files, `?` help", "提问或下达任务。`/` 命令，`@` 文件，`?` 帮助";
    /// If there is no room for more.
    PlaceholderShort = "`/` commands, `@` files, `?` help", "`/` 命令，`@` 文件，`?` 帮助";
    /// In place of that, for a client that may not prompt; the second of each is for little room.
    Watching = "Watching only: this client cannot prompt or answer. `/` commands, `?` help", "仅旁观：此客户端不能提问或答复。`/` 命令，`?` 帮助";
    WatchingShort = "Watching only. `/` commands, `?` help", "仅旁观。`/` 命令，`?` 帮助";
    Answering = "Answering only: this client cannot prompt. `/` commands, `?` help", "仅可答复：此客户端不能提问。`/` 命令，`?` 帮助";
    AnsweringShort = "Answering only. `/` commands, `?` help", "仅可答复。`/` 命令，`?` 帮助";
    /// How many lines, which paste of this draft.
    PastedLines = "[pasted {0} lines #{1}]", "[粘贴 {0} 行 #{1}]";
    PastedCharacters = "[pasted {0} characters #{1}]", "[粘贴 {0} 字符 #{1}]";
    QuotedLines = "[quoted {0} lines #{1}]", "[引用 {0} 行 #{1}]";
    QuotedCharacters = "[quoted {0} characters #{1}]", "[引用 {0} 字符 #{1}]";
    /// Follows a command that needs a session, before there is one.
    NeedsSession = "needs a session", "需要先有会话";
    /// What a command of a project that is not trusted does.
    NotTrusted = "project, not trusted: {0}", "项目，未受信任：{0}";
    /// Entries of a menu: which one, how many.
    Place = "{0} of {1}", "{0}/{1}";
}
