//! Which variables of an environment commands never see, by their names and by what a value shows. Pure.
//!
//! One rule for clients, which keep such variables to themselves, and for the daemon, which gives them to no command.

/// Words that a secret's name holds, in whatever case.
const WORDS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE"];
/// The same, as a whole part between `_`: shorter words occur in many names (`COMPASS`).
const PARTS: [&str; 2] = ["PASS", "PGPASS"];
/// How tokens begin that are the user in the address of a repository or a registry.
const TOKENS: [&str; 10] = [
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "gldt-",
    "npm_",
    "hf_",
];
/// What a list of settings calls its password.
const PASSWORDS: [&str; 5] = ["password", "passwd", "pwd", "accountkey", "sharedaccesskey"];
/// Words beside it, if the list is for a connection.
const CONNECTS: [&str; 16] = [
    "server",
    "host",
    "hostaddr",
    "data source",
    "address",
    "addr",
    "endpoint",
    "database",
    "dbname",
    "initial catalog",
    "user",
    "username",
    "user id",
    "uid",
    "accountname",
    "sharedaccesskeyname",
];

/// Whether a variable of this name is taken for a secret.
#[must_use]
pub fn secret_name(name: &str) -> bool {
    let name = name.to_uppercase();
    WORDS.iter().any(|word| name.contains(word))
        || name.split('_').any(|part| PARTS.contains(&part))
}

/// Whether a value carries a password, whatever its variable is called: an address with one, or with a token, before
/// its `@`, or the settings of a connection with one among them.
#[must_use]
pub fn secret_value(value: &str) -> bool {
    let in_address = value.split_whitespace().any(|word| {
        word.match_indices("://")
            .any(|(at, mark)| in_authority(word.get(at + mark.len()..).unwrap_or_default()))
    });
    in_address || in_data_source(value) || in_settings(value)
}

/// An address, from its authority on: `user:password@host` or `token@host`.
fn in_authority(rest: &str) -> bool {
    let ends = |letter: char| "/?#\"'`<>".contains(letter);
    let authority = rest.split(ends).next().unwrap_or_default();
    if let Some((user, _)) = authority.rsplit_once('@') {
        return has_password(user) || TOKENS.iter().any(|token| user.starts_with(token));
    }
    // A password with such a letter in it ends what looks like the authority before its `@`. The text after the `:`
    // there is a port in every other case.
    !authority.starts_with('[') && !authority.split(',').all(is_host) && rest.contains('@')
}

/// `host` or `host:port`.
fn is_host(text: &str) -> bool {
    text.split_once(':')
        .is_none_or(|(_, port)| port.parse::<u16>().is_ok())
}

/// `user:password`.
fn has_password(user: &str) -> bool {
    user.split_once(':')
        .is_some_and(|(_, password)| !password.is_empty())
}

/// `user:password@tcp(host:1)/name`, an address without a scheme. More `@` may be in the password and after it.
fn in_data_source(value: &str) -> bool {
    value.match_indices('@').any(|(at, mark)| {
        let user = value.get(..at).unwrap_or_default();
        let rest = value.get(at + mark.len()..).unwrap_or_default();
        let network: String = rest
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        let opens = rest
            .get(network.len()..)
            .is_some_and(|rest| rest.starts_with('('));
        !network.is_empty() && opens && has_password(user)
    })
}

/// `Server=x;User Id=y;Password=z`, or the same with spaces or `&` between, at the end of an address too.
fn in_settings(value: &str) -> bool {
    // A function that a shell hands on assigns its variables in the same way.
    if value.starts_with("()") {
        return false;
    }
    let among = |names: &[&str], separators: &[char]| {
        value.split(separators).any(|part| {
            let Some((name, said)) = part.split_once('=') else {
                return false;
            };
            let name = name.trim().to_lowercase();
            names.contains(&name.as_str()) && !said.trim().is_empty()
        })
    };
    [&[';'][..], &[' '], &['?', '&']]
        .iter()
        .any(|separators| among(&PASSWORDS, separators) && among(&CONNECTS, separators))
}

/// Whether a variable of this name changes how programs are loaded.
#[must_use]
pub fn loader_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.starts_with("LD_") || name.starts_with("DYLD_")
}

/// Whether commands do not get this variable: a key of `keys`, in every case; a secret or a loader's by its name, or one
/// whose value carries a password, unless an entry of `pass` fits its name. A value that is not known is empty.
#[must_use]
pub fn held_back(name: &str, value: &str, keys: &[String], pass: &[String]) -> bool {
    keys.iter().any(|key| key == name)
        || (secret_name(name) || loader_name(name) || secret_value(value))
            && !pass.iter().any(|pattern| fits(pattern, name))
}

/// Whether a name fits a pattern whose `*` matches any letters.
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
