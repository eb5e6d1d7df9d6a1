//! Variables that earlier commands have changed: which of them may change the effect of a command.
//!
//! Only the names are known here. A name that is in no list is not known to be harmless. Called by `command`.

use crate::tables::tables;

fn is_harmless(name: &str) -> bool {
    tables().harmless_variables.contains(name) || name.starts_with("LC_")
}

/// Whether the value of a variable is code, or the name of a program, for some of the programs that read it.
pub(crate) fn runs_code(name: &str) -> bool {
    proto::program_variables::names_program(name)
}

/// The first of the changed variables that may change which program runs, or its effect.
pub(crate) fn distrusted(altered: &[String]) -> Option<&str> {
    altered
        .iter()
        .map(String::as_str)
        .find(|name| !is_harmless(name))
}
