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

/// The first of the changed variables that may change which program runs, or what it does.
pub(crate) fn distrusted(altered: &[String]) -> Option<&str> {
    altered
        .iter()
        .map(String::as_str)
        .find(|name| !is_harmless(name))
}
