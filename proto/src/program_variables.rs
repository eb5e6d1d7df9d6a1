//! Variables of an environment whose value is code, or names a program, a library or a file that names one, for some of
//! the programs that see it.

/// Their names. A name that ends with `*` means all that begin so; one that begins with it, all that end so.
const NAMES: [&str; 91] = [
    "*EDITOR",
    "*PAGER",
    "*_ASKPASS",
    "*_COMMAND",
    "AR",
    "AS",
    "AWKLIBPATH",
    "AWKPATH",
    "AWS_CONFIG_FILE",
    "BASHOPTS",
    "BASH_*",
    "BAT_CONFIG_PATH",
    "BROWSER",
    "BUNDLE_GEMFILE",
    "CARGO_BUILD_RUSTC*",
    "CC",
    "CDPATH",
    "CLASSPATH",
    "COMPILER_PATH",
    "CVS_RSH",
    "CXX",
    "DOCKER_CONFIG",
    "DYLD_*",
    "ENV",
    "EXINIT",
    "FCEDIT",
    "FZF_DEFAULT_OPTS*",
    "GCC_EXEC_PREFIX",
    "GCONV_PATH",
    "GEM_HOME",
    "GEM_PATH",
    "GIT_*",
    "GNUMAKEFLAGS",
    "GOFLAGS",
    "GRADLE_OPTS",
    "GREP",
    "GREP_OPTIONS",
    "GUILE_LOAD_PATH",
    "HGRCPATH",
    "INPUTRC",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "KUBECONFIG",
    "LD",
    "LD_*",
    "LESS",
    "LESSCLOSE",
    "LESSKEY*",
    "LESSOPEN",
    "LOCPATH",
    "LUA_INIT*",
    "LUA_CPATH*",
    "LUA_PATH*",
    "MAKE",
    "MAKEFILES",
    "MAKEFLAGS",
    "MANOPT",
    "MAVEN_OPTS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_REPL_EXTERNAL_MODULE",
    "PATH",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PERLLIB",
    "PIP_*",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS4",
    "PYTHON*",
    "RIPGREP_CONFIG_PATH",
    "RSYNC_RSH",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC*",
    "RUSTDOC",
    "RUSTFLAGS",
    "SHELL",
    "SHELLOPTS",
    "SVN_SSH",
    "TAR_OPTIONS",
    "TEXTDOMAIN*",
    "VIM",
    "VIMINIT",
    "VISUAL",
    "WGETRC",
    "XPC_*",
    "_JAVA_OPTIONS",
    "npm_config_*",
];

/// Of those, some that say nothing of programs.
const PLAIN: [&str; 12] = [
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_TERMINAL_PROMPT",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
];

/// Whether a variable may name a program or a library, or be code.
#[must_use]
pub fn names_program(name: &str) -> bool {
    !PLAIN.contains(&name) && NAMES.iter().any(|known| fits(known, name))
}

/// Whether what only reads runs without this variable: all that name programs, but for `PATH` and `SHELL`.
#[must_use]
pub fn is_unset_for_read_only_commands(name: &str) -> bool {
    names_program(name) && !matches!(name, "PATH" | "SHELL")
}

fn fits(known: &str, name: &str) -> bool {
    match (known.strip_prefix('*'), known.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_name_a_program_are_recognised_and_others_are_not() {
        for name in [
            "KUBECONFIG",
            "PIP_INDEX_URL",
            "GIT_EXTERNAL_DIFF",
            "GIT_CONFIG_COUNT",
            "GIT_CONFIG_KEY_0",
            "GIT_SSH_COMMAND",
            "GIT_PAGER",
            "PAGER",
            "MANPAGER",
            "RIPGREP_CONFIG_PATH",
            "BASH_ENV",
            "BASH_FUNC_ls%%",
            "ENV",
            "SHELLOPTS",
            "BASHOPTS",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "PYTHONSTARTUP",
            "PYTHONPATH",
            "NODE_OPTIONS",
            "PERL5OPT",
            "RUBYOPT",
            "SSH_ASKPASS",
            "LESSOPEN",
            "RUSTC_WRAPPER",
        ] {
            assert!(
                names_program(name) && is_unset_for_read_only_commands(name),
                "{name}"
            );
        }
        for name in [
            "HOME",
            "LANG",
            "LC_ALL",
            "TERM",
            "GIT_AUTHOR_NAME",
            "A1",
            "USER",
            "PYTHONUTF8",
        ] {
            assert!(!names_program(name), "{name}");
        }
        assert!(names_program("PATH") && !is_unset_for_read_only_commands("PATH"));
    }
}
