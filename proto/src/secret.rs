//! Which variables of an environment commands never see, by their names. Pure.
//!
//! One rule for clients, which keep such variables to themselves, and for the daemon, which gives them to no command.

/// Words that a secret's name holds, in whatever case.
const WORDS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD"];

/// Whether a variable of this name is taken for a secret.
#[must_use]
pub fn secret_name(name: &str) -> bool {
    let name = name.to_uppercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// Whether a variable of this name changes how programs are loaded.
#[must_use]
pub fn loader_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.starts_with("LD_") || name.starts_with("DYLD_")
}

/// Whether commands do not get this variable: a key of `keys`, in every case; a secret or a loader's by its name, unless
/// an entry of `pass` fits it.
#[must_use]
pub fn held_back(name: &str, keys: &[String], pass: &[String]) -> bool {
    keys.iter().any(|key| key == name)
        || (secret_name(name) || loader_name(name))
            && !pass.iter().any(|pattern| fits(pattern, name))
}

/// Whether a name fits a pattern whose `*` stands for any letters.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<_> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        // The first place is as good as any later one.
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests;
