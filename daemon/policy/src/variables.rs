//! Variables that earlier commands have changed: which of them may change the effect of a command.
//!
//! Only the names are known here. A name that is in no list is not known to be harmless. Called by `command` and `shell`.

use crate::tables::tables;

fn is_harmless(name: &str) -> bool {
    tables().harmless_variables.contains(name) || name.starts_with("LC_")
}

/// Whether the value of a variable is code, or the name of a program, for some of the programs that read it.
pub(crate) fn runs_code(name: &str) -> bool {
    proto::program_variables::names_program(name)
}

/// Whether a text with the name of a variable looks like that of a secret.
pub(crate) fn may_be_secret(text: &str) -> bool {
    const SECRET: &[&str] = &[
        "KEY",
        "TOKEN",
        "SECRET",
        "PASS",
        "CREDENTIAL",
        "AUTH",
        "COOKIE",
        "PRIVATE",
        "DSN",
        "WEBHOOK",
        "CONNECTION",
        "BEARER",
        "JWT",
        "_PW",
        "_URL",
        "_URI",
    ];
    let upper = text.to_ascii_uppercase();
    // A personal access token, unlike `PATH`.
    let is_access_token = upper.split('_').any(|part| part == "PAT");
    is_access_token || SECRET.iter().any(|name| upper.contains(name))
}

/// Whether a loop's variable holds only the words of the loop: no shell and no program reads it. They name theirs in
/// capital letters, apart from a few; of some such names it is known that no program reads them.
pub(crate) fn is_plain_loop_variable(name: &str) -> bool {
    const PLAIN: &[&str] = &["CRATE", "DIR", "FILE", "ITEM", "NAME", "PKG", "WORD"];
    let is_small = name.len() == 1 || !name.contains(|c: char| c.is_ascii_uppercase());
    let is_small = is_small || PLAIN.contains(&name);
    is_small && !runs_code(name) && !name.ends_with("_proxy")
}

/// One of the changed variables that may change which program runs, or its effect: one whose value is a program, if there
/// is one.
pub(crate) fn distrusted(altered: &[String]) -> Option<&str> {
    let names = altered.iter().map(String::as_str);
    let mut names = names.filter(|name| !is_harmless(name));
    let first = names.next()?;
    if runs_code(first) {
        return Some(first);
    }
    names.find(|name| runs_code(name)).or(Some(first))
}
