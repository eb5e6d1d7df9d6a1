//! Which options of which programs start others, load code or write where they are told: the reading of one option.
//!
//! Called by `options` and `git`.

use crate::tables::{DangerousOptions, Names, tables};

/// The rows of a program. One that is not known has one too: names of options that mean the same everywhere.
pub(crate) fn dangers_of(program: &str) -> Vec<&'static DangerousOptions> {
    let rows = tables().dangers.iter();
    let found: Vec<&DangerousOptions> = rows
        .filter(|danger| danger.programs.contains(program))
        .collect();
    match found.is_empty() {
        true => vec![&tables().unknown],
        false => found,
    }
}

impl DangerousOptions {
    /// Whether a word is, or may be read as, one of these options.
    pub(crate) fn has(&self, word: &str) -> bool {
        let shortened =
            !self.programs.is_empty() && self.programs.is_disjoint(&tables().whole_names);
        has_option(word, &self.short, &self.long, shortened)
    }
}

/// Whether a word is one of these options of one letter, or of these long ones; or, where `shortened`, how a long one begins.
pub(crate) fn has_option(word: &str, short: &str, long: &Names, shortened: bool) -> bool {
    let Some(option) = word.strip_prefix('-').filter(|option| !option.is_empty()) else {
        return false;
    };
    let name = option.strip_prefix('-').unwrap_or(option);
    let name = name.split('=').next().unwrap_or(name).to_ascii_lowercase();
    if option.starts_with('-') {
        // Shortened names too, but for `--` itself.
        let begins = || shortened && long.iter().any(|long| long.starts_with(&name));
        return !name.is_empty() && (long.contains(&name) || begins());
    }
    long.contains(&name) || option.chars().any(|c| short.contains(c))
}
