//! Decides whether a command line can change the shell's directory or variables. If it cannot, they are not read back.
//!
//! Pure. Does not parse quotes: every place where a command could begin is checked, and anything unusual counts as a change.

use crate::lasting::Environment;

/// The characters that a line may have besides ASCII letters and digits. They cannot form an expansion, a group, an escape, a
/// comment or a definition.
const PLAIN: &str = " \t\n_-./:,@%+=^*?[]'\"&|;<>";

/// Builtins and keywords that can change the shell's state or begin another command (`compgen -bk` of bash 5.2, and `chdir`
/// of dash).
const SHELL_WORDS: [&str; 73] = [
    ".",
    ":",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "case",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "do",
    "done",
    "elif",
    "else",
    "enable",
    "esac",
    "eval",
    "exec",
    "exit",
    "export",
    "fc",
    "fg",
    "fi",
    "for",
    "function",
    "getopts",
    "hash",
    "help",
    "history",
    "if",
    "in",
    "jobs",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "select",
    "set",
    "setvar",
    "shift",
    "shopt",
    "source",
    "suspend",
    "then",
    "time",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "until",
    "wait",
    "while",
    "chdir",
];

/// Whether `line` changes neither the directory nor a variable of a shell that starts with `env`.
pub(crate) fn is_stateless(line: &str, env: &Environment) -> bool {
    // Exported functions can have any name, and these files can define more.
    let defines = |name: &String| {
        name.starts_with("BASH_FUNC_") || matches!(name.as_str(), "BASH_ENV" | "ENV")
    };
    let is_plain = |char: char| char.is_ascii_alphanumeric() || PLAIN.contains(char);
    !env.keys().any(defines)
        && line.chars().all(is_plain)
        && line.split(['&', '|', ';', '\n']).all(is_program)
}

/// Whether a part of a line begins with the name of a program, if with anything.
fn is_program(part: &str) -> bool {
    let Some(first) = part.split_ascii_whitespace().next() else {
        return true;
    };
    let is_name = |char: char| char.is_ascii_alphanumeric() || "_-./+".contains(char);
    first.chars().all(is_name) && !SHELL_WORDS.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_commands_change_nothing_and_whatever_may_change_something_counts() {
        let none = Environment::new();
        for line in [
            "",
            "ls -la",
            "cargo test --workspace 2>&1 | tail -5",
            "git status; git diff --stat && make -j4 test CFLAGS=-O2",
            "grep -rn \"fn main\" src > out.txt",
            "./run.sh &\nsleep 1",
            "echo cd /tmp",
            "env A=1 make",
        ] {
            assert!(is_stateless(line, &none), "{line}");
        }
        for line in [
            "cd src",
            "ls; cd src",
            "ls\ncd src",
            "ls &&cd src",
            "ls | cd src",
            "\"cd\" src",
            "c'd' src",
            ">x cd src",
            "2>x cd src",
            "> x cd src",
            "A=1",
            "A=1 make",
            "export A=1",
            "f() { :; }",
            "eval ls",
            "command cd src",
            ". ./env.sh",
            "source env.sh",
            "echo ${A:=1}",
            "echo $((A=1))",
            "echo `cd`",
            "{ cd src; }",
            "if true; then cd src; fi",
            "c\\d src",
            "! cd src",
            "printf -v A x",
            "read A < x",
            "time cd src",
            "echo 'a' # b\ncd src",
            "ls é",
        ] {
            assert!(!is_stateless(line, &none), "{line}");
        }
        for name in ["BASH_FUNC_ls%%", "BASH_ENV", "ENV"] {
            let env = Environment::from([(name.to_owned(), String::new())]);
            assert!(!is_stateless("ls", &env), "{name}");
        }
    }

    #[test]
    fn all_words_of_the_shell_are_known() {
        let shell = std::process::Command::new("bash")
            .args(["-c", "compgen -bk"])
            .output()
            .expect("bash");
        let harmless = [
            "[", "[[", "]]", "{", "}", "!", "echo", "false", "kill", "pwd", "test", "true",
        ];
        for word in String::from_utf8_lossy(&shell.stdout).split_whitespace() {
            let known = SHELL_WORDS.contains(&word) || harmless.contains(&word);
            assert!(known, "`{word}` may change something");
        }
    }
}
