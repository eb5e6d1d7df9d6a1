//! Which variables of an environment hold secrets, by their names. Pure.
//!
//! One rule for clients, which keep such variables to themselves, and for the daemon, which gives them to no tool.

/// Words that a secret's name holds, in whatever case.
const WORDS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD"];

/// Whether a variable of this name is taken for a secret.
#[must_use]
pub fn secret_name(name: &str) -> bool {
    let name = name.to_uppercase();
    WORDS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests;
