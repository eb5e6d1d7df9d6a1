//! Variables that earlier commands have left to later ones: which of them may change what a command does.
//!
//! Only the names are known here. A name that stands in no list is not known to be harmless. Called by `command`.

/// Variables that change how programs write, and not what they do.
const HARMLESS: &[&str] = &[
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "FORCE_COLOR",
    "GREP_COLORS",
    "LANG",
    "LINES",
    "LS_COLORS",
    "NO_COLOR",
    "OLDPWD",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
];

fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name) || name.starts_with("LC_")
}

/// Whether the value of a variable is code, or the name of a program, for some of the programs that see it.
pub(crate) fn runs_code(name: &str) -> bool {
    const CODE: &[&str] = &[
        "BASH_ENV",
        "BROWSER",
        "EDITOR",
        "ENV",
        "LESSCLOSE",
        "LESSOPEN",
        "NODE_OPTIONS",
        "PERL5DB",
        "PERL5OPT",
        "PROMPT_COMMAND",
        "PS0",
        "PS1",
        "PS4",
        "PYTHONSTARTUP",
        "RUBYOPT",
        "SHELLOPTS",
        "VISUAL",
    ];
    CODE.contains(&name)
        || name.ends_with("PAGER")
        || name.ends_with("_COMMAND")
        || ["GIT_", "LD_", "DYLD_", "BASH_FUNC_"]
            .iter()
            .any(|start| name.starts_with(start))
}

/// The first of the changed variables that may change which program runs, or what it does.
pub(crate) fn distrusted(altered: &[String]) -> Option<&str> {
    altered
        .iter()
        .map(String::as_str)
        .find(|name| !is_harmless(name))
}
