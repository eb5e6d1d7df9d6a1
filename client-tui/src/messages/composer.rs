//! Words of the composer.

super::catalog! {
    Placeholder = "Ask a question or describe a task. `/` commands, `@` files, `?` help", "提问或下达任务。`/` 命令，`@` 文件，`?` 帮助";
    /// Where there is no room for more.
    PlaceholderShort = "`/` commands, `@` files, `?` help", "`/` 命令，`@` 文件，`?` 帮助";
    /// How many lines, which paste of this draft.
    PastedLines = "[pasted {0} lines #{1}]", "[粘贴 {0} 行 #{1}]";
    PastedCharacters = "[pasted {0} characters #{1}]", "[粘贴 {0} 字符 #{1}]";
    /// Behind a command that needs a session, before there is one.
    NeedsSession = "needs a session", "需要先有会话";
    /// Entries of a menu: which one, how many.
    Place = "{0} of {1}", "{0}/{1}";
}
