//! Texts within rendered Markdown and diffs.

super::catalog! {
    /// Before the description of an image; `]` follows it.
    Image = "[image: ", "[图片：";
    NoNewline = "no newline at the end of the file", "文件末尾没有换行符";
}
