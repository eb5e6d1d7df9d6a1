//! The keys that are kept: `<home>/credentials.toml`, variable → key, 0600. And where a key of the daemon's own comes from.
//!
//! A key never leaves here but as a `Secret`: no error, problem or log line quotes the file or what was to be written.
//! Called by the assembly, the methods and the doctor; blocks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use contract::Secret;
use proto::{ErrorName, Failure};

use crate::settings::{read, write};

/// The longest name of a variable, and the longest key, in bytes.
const VARIABLE_MAX: usize = 128;
const KEY_MAX: usize = 8192;

/// Two changes at once would lose one of them.
static CHANGING: Mutex<()> = Mutex::new(());

const HEADER: &str = "# Keys of providers, kept by Reasonix. Private: show this file to nobody.\n";

/// Where a key of the daemon's own comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFrom {
    /// The `.env` of a trusted working directory.
    Dotenv,
    /// The store.
    Store,
    /// The daemon's own environment.
    Environment,
}

impl KeyFrom {
    /// As `provider.list` tells it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Dotenv => "dotenv",
            Self::Store => "stored",
            Self::Environment => "environment",
        }
    }
}

/// Keys that sessions of one working directory get, where no client has brought one.
pub struct Own {
    dotenv: BTreeMap<String, Secret>,
    store: BTreeMap<String, Secret>,
}

impl Own {
    /// Reads the store; `dotenv`: what a trusted directory's `.env` holds. A store that cannot be read holds nothing:
    /// [`problem`] says so.
    pub fn open(home: &Path, dotenv: BTreeMap<String, Secret>) -> Self {
        Self {
            dotenv,
            store: stored(home).unwrap_or_default(),
        }
    }

    /// The key, and where it comes from: what is nearest to the work counts first.
    pub fn get(&self, variable: &str) -> Option<(Secret, KeyFrom)> {
        let dotenv = self.dotenv.get(variable).map(|key| (key, KeyFrom::Dotenv));
        let kept = dotenv.or_else(|| self.store.get(variable).map(|key| (key, KeyFrom::Store)));
        kept.map(|(key, from)| (key.clone(), from))
            .or_else(|| Some((environment(variable)?, KeyFrom::Environment)))
    }

    /// Only the key.
    pub fn key(&self, variable: &str) -> Option<Secret> {
        self.get(variable).map(|(key, _)| key)
    }

    /// Whether there is one.
    pub fn has(&self, variable: &str) -> bool {
        self.get(variable).is_some()
    }
}

/// A key of the daemon's own environment.
fn environment(variable: &str) -> Option<Secret> {
    std::env::var(variable)
        .ok()
        .filter(|key| !key.trim().is_empty())
        .map(Secret::new)
}

/// Where keys are kept.
pub fn path(home: &Path) -> PathBuf {
    home.join("credentials.toml")
}

/// Whether a name looks like that of an environment variable.
pub fn is_variable(name: &str) -> bool {
    let mut letters = name.chars();
    let first = letters.next();
    name.len() <= VARIABLE_MAX
        && first.is_some_and(|first| first.is_ascii_uppercase() || first == '_')
        && letters.all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// What is wrong with the store, in words without what is in it; `None`: nothing.
pub fn problem(home: &Path) -> Option<String> {
    let path = path(home);
    if let Err(why) = stored(home) {
        return Some(why);
    }
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(&path).ok()?.permissions().mode();
    (mode & 0o077 != 0).then(|| {
        format!(
            "{}: others may read it (mode {:o}); close it with `chmod 600`",
            path.display(),
            mode & 0o777
        )
    })
}

/// Everything that is kept, or why it cannot be read.
fn stored(home: &Path) -> Result<BTreeMap<String, Secret>, String> {
    let path = path(home);
    let text = match read::following(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(format!("{}: cannot be read: {error}", path.display())),
    };
    let table: toml::Table = toml::from_str(&text).map_err(|error| {
        // The parser's own words may quote a key.
        let line = error.span().map_or(1, |span| {
            text.as_bytes()
                .iter()
                .take(span.start)
                .filter(|byte| **byte == b'\n')
                .count()
                + 1
        });
        format!(
            "{}:{line}: not valid TOML, so no key of it counts",
            path.display()
        )
    })?;
    let mut keys = BTreeMap::new();
    for (variable, key) in table {
        match key {
            toml::Value::String(key) if !key.trim().is_empty() => {
                keys.insert(variable, Secret::new(key));
            }
            _ => {
                return Err(format!(
                    "{}: a key is no text, so none counts",
                    path.display()
                ));
            }
        }
    }
    Ok(keys)
}

/// Keeps a key, or forgets the one that is kept.
///
/// # Errors
/// `invalid_params`: no such variable can be, or no header could hold the key; `invalid_config`: the store cannot be
/// read, and is left as it is; `storage`. None of them quotes the key.
pub fn set(home: &Path, variable: &str, key: Option<&Secret>) -> Result<PathBuf, Failure> {
    // Somebody may have pasted the key here: it is not quoted.
    if !is_variable(variable) {
        return Err(Failure::new(
            ErrorName::InvalidParams,
            "That is no name of an environment variable.",
            "Name the one in the provider's `api_key_env`: capital letters, digits and `_`, for instance `ACME_API_KEY`.",
        ));
    }
    let key = key.map(sound).transpose()?;
    let _one = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    let path = path(home);
    let mut keys = stored(home).map_err(|why| {
        Failure::new(
            ErrorName::InvalidConfig,
            format!("The store of keys is left as it is: {why}."),
            "Mend the file by hand, or move it away.",
        )
        .with("file", path.display().to_string())
    })?;
    match key {
        Some(key) => {
            keys.insert(variable.to_owned(), key);
        }
        None if keys.remove(variable).is_none() => return Ok(path),
        None => {}
    }
    let table: toml::Table = keys
        .iter()
        .map(|(variable, key)| (variable.clone(), key.expose().to_owned().into()))
        .collect();
    let written = toml::to_string(&table)
        .map_err(std::io::Error::other)
        .and_then(|text| write::replace(&path, &format!("{HEADER}{text}")));
    written.map_err(|error| {
        Failure::new(
            ErrorName::Storage,
            format!("{} cannot be written: {error}", path.display()),
            "Look at the disk: is it full, read-only, or away?",
        )
    })?;
    Ok(path)
}

/// The key without blanks around it, where a header can hold it.
fn sound(key: &Secret) -> Result<Secret, Failure> {
    let text = key.expose().trim();
    if text.is_empty() || text.len() > KEY_MAX || !text.bytes().all(|byte| byte.is_ascii_graphic())
    {
        return Err(Failure::new(
            ErrorName::InvalidParams,
            format!(
                "That is no key: 1 to {KEY_MAX} visible ASCII characters on one line are allowed."
            ),
            "Copy it from the vendor's page once more. To forget a key, leave `value` out.",
        ));
    }
    Ok(Secret::new(text.to_owned()))
}

#[cfg(test)]
mod tests;
