//! Options with which programs start others, load code or write to a given file: matches a single option.
//!
//! Called by `options` and `git`.

use crate::tables::{DangerousOptions, Names, tables};

/// The rows of a program. An unknown program has one, too: option names that mean the same everywhere.
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

/// Whether a word is one of these short or long options; if `shortened`, also an abbreviation of a long one.
pub(crate) fn has_option(word: &str, short: &str, long: &Names, shortened: bool) -> bool {
    let Some(option) = word.strip_prefix('-').filter(|option| !option.is_empty()) else {
        return false;
    };
    let name = option.strip_prefix('-').unwrap_or(option);
    let name = name.split('=').next().unwrap_or(name).to_ascii_lowercase();
    if option.starts_with('-') {
        // Abbreviations too, but not `--` itself.
        let begins = || shortened && long.iter().any(|long| long.starts_with(&name));
        return !name.is_empty() && (long.contains(&name) || begins());
    }
    long.contains(&name) || option.chars().any(|c| short.contains(c))
}
