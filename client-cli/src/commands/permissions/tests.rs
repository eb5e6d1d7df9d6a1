//! Words of a command as a line, and portions of a file of cases.

use super::one_line;

#[test]
fn words_are_put_together_so_that_a_shell_reads_them_back() {
    for (words, line) in [
        (vec!["git status; rm x"], "git status; rm x"),
        (vec!["git", "log", "--oneline"], "git log --oneline"),
        (vec!["rm", "a b", ";", "it's"], "rm 'a b' ';' 'it'\\''s'"),
        (vec!["echo", ""], "echo ''"),
        (vec!["ls", "~/x", "*"], "ls '~/x' '*'"),
    ] {
        let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        assert_eq!(one_line(&words), line);
    }
}
