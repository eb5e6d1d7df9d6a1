//! The keys that are kept, variable → key, and the logins to MCP servers: in the system's keyring, or in
//! `<home>/credentials.toml`, 0600. And where a key of the daemon's own comes from.
//!
//! A key never leaves here but as a `Secret`: no error, problem or log line quotes the file or the text to be written.
//! Called by the assembly, the methods and the doctor; blocks.

mod logins;
mod ring;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use contract::Secret;
use proto::{ErrorName, Failure};

use crate::settings::{read, write};
pub use logins::StoredLogins;
use ring::KeyringEntry;

/// The longest name of a variable, and the longest key, in bytes.
const VARIABLE_MAX: usize = 128;
const KEY_MAX: usize = 8192;

/// Two changes at once would lose one of them.
static CHANGING: Mutex<()> = Mutex::new(());

const HEADER: &str = "# Keys of providers and logins to MCP servers, kept by Reasonix. Private: show this file to nobody.\n";

/// Where a key of the daemon's own comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// The `.env` of a trusted working directory.
    Dotenv,
    /// The store.
    Store,
    /// The daemon's own environment.
    Environment,
}

impl KeySource {
    /// As `provider.list` names it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Dotenv => "dotenv",
            Self::Store => "stored",
            Self::Environment => "environment",
        }
    }
}

/// Keys that sessions of one working directory get, if no client has brought one.
pub struct FallbackKeys {
    dotenv: BTreeMap<String, Secret>,
    store: BTreeMap<String, Secret>,
}

impl FallbackKeys {
    /// Reads the store; `dotenv`: what a trusted directory's `.env` holds. A store that cannot be read holds nothing:
    /// [`Store::problem`] says so.
    pub fn open(store: &Store, dotenv: BTreeMap<String, Secret>) -> Self {
        let mut store = store.keys();
        // No provider gets a login to something else.
        store.retain(|name, _| !logins::is_login(name));
        Self { dotenv, store }
    }

    /// The key, and its source: the source nearest to the work counts first.
    pub fn get(&self, variable: &str) -> Option<(Secret, KeySource)> {
        let dotenv = self
            .dotenv
            .get(variable)
            .map(|key| (key, KeySource::Dotenv));
        let kept = dotenv.or_else(|| self.store.get(variable).map(|key| (key, KeySource::Store)));
        kept.map(|(key, from)| (key.clone(), from))
            .or_else(|| Some((environment(variable)?, KeySource::Environment)))
    }

    /// The variables whose keys are in the store.
    pub fn stored(&self) -> Vec<String> {
        self.store.keys().cloned().collect()
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

/// The file in which keys are kept.
fn path(home: &Path) -> PathBuf {
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

/// The setting `credentials_store`: where to keep keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoreChoice {
    /// In the keyring if there is one, else in the file.
    #[default]
    Auto,
    File,
    /// As `Auto`, and it is a problem if there is none.
    Keyring,
}

/// Where keys are kept.
pub struct Store {
    home: PathBuf,
    choice: StoreChoice,
    /// None is wanted; or why there is none.
    ring: Option<Result<Arc<dyn KeyringEntry>, String>>,
}

/// Where a change of the store has ended up.
#[derive(Debug, PartialEq, Eq)]
pub struct KeptIn {
    place: String,
    /// Why it is not in the place that was chosen.
    instead: Option<String>,
}

impl std::fmt::Display for KeptIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.instead {
            Some(why) => write!(f, "{} ({why})", self.place),
            None => f.write_str(&self.place),
        }
    }
}

const KEYRING: &str = "the system's keyring";

impl Store {
    /// The store of a home. Asks whether there is a keyring, if one is wanted.
    pub fn open(home: &Path, choice: StoreChoice) -> Self {
        let wanted = match choice {
            StoreChoice::File => false,
            StoreChoice::Auto => ring::is_built_in(),
            StoreChoice::Keyring => true,
        };
        Self {
            home: home.to_owned(),
            choice,
            ring: wanted.then(|| ring::system(home)),
        }
    }

    /// All keys: what the keyring has comes before what the file has, unless that was changed while the keyring was
    /// away. What cannot be read holds nothing.
    fn keys(&self) -> BTreeMap<String, Secret> {
        let file = in_file(&self.home).unwrap_or_default();
        let mut keys = file.keys;
        let ring = self.in_ring().and_then(Result::ok).unwrap_or_default();
        keys.extend(
            ring.into_iter()
                .filter(|(name, _)| !file.newer.contains(name)),
        );
        keys
    }

    /// The keys of the keyring, if one is wanted; or why they are not known.
    fn in_ring(&self) -> Option<Result<BTreeMap<String, Secret>, String>> {
        let ring = match self.ring.as_ref()? {
            Ok(ring) => ring,
            Err(why) => return Some(Err(why.clone())),
        };
        Some(ring.read().and_then(|text| {
            let table = toml::from_str(&text.unwrap_or_default());
            // The parser's own words may quote a key.
            let table = table.map_err(|_| format!("the content of {KEYRING} is not valid"))?;
            keys_of(table).map_err(|why| format!("{KEYRING}: {why}"))
        }))
    }

    /// Keeps a key, or forgets the one that is kept, wherever it is.
    ///
    /// # Errors
    /// `invalid_params`: no such variable can be, or no header could hold the key; `invalid_config`: the file cannot be
    /// read, and is left as it is; `storage`. None of them quotes the key.
    pub fn set(&self, variable: &str, key: Option<&Secret>) -> Result<KeptIn, Failure> {
        // Somebody may have pasted the key here: it is not quoted.
        if !is_variable(variable) {
            return Err(Failure::new(
                ErrorName::InvalidParams,
                "That is not a valid environment variable name.",
                "Use the name from the provider's `api_key_env`: capital letters, digits and `_`, for example `ACME_API_KEY`.",
            ));
        }
        let key = key.map(sound).transpose()?;
        self.put(variable, key.as_ref())
    }

    /// Keeps a text under a name, or forgets it, wherever it is.
    fn put(&self, variable: &str, key: Option<&Secret>) -> Result<KeptIn, Failure> {
        let _one = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = to_change(&self.home)?;
        let newer = std::mem::take(&mut file.newer);
        let done = self.in_ring().map(|ring| {
            let mut ring = ring?;
            // Changes made while it was away are applied first.
            for name in &newer {
                match file.keys.get(name) {
                    Some(key) => ring.insert(name.clone(), key.clone()),
                    None => ring.remove(name),
                };
            }
            let had = ring.contains_key(variable);
            self.set_in_ring(ring, variable, key, had || !newer.is_empty())
        });
        let (place, instead) = match done {
            // One that is left in the file would come back when the keyring is away.
            Some(Ok(())) => {
                file.keys.remove(variable);
                file.keys.retain(|name, _| !newer.contains(name));
                (KEYRING.to_owned(), None)
            }
            other => {
                let why = other.and_then(Result::err);
                file.newer = newer;
                // One that is not built in has nothing that could come back.
                if why.as_ref().is_some_and(|why| why != ring::ABSENT) {
                    file.newer.insert(variable.to_owned());
                }
                match key {
                    Some(key) => file.keys.insert(variable.to_owned(), key.clone()),
                    None => file.keys.remove(variable),
                };
                let away = why.filter(|why| key.is_some() || why != ring::ABSENT);
                let instead = away.map(|why| match key {
                    Some(_) => why,
                    None => format!(
                        "{why}; a key in {KEYRING} is no longer used and is removed when you next change a key"
                    ),
                });
                (path(&self.home).display().to_string(), instead)
            }
        };
        write_file(&self.home, &file)?;
        Ok(KeptIn { place, instead })
    }

    fn set_in_ring(
        &self,
        mut keys: BTreeMap<String, Secret>,
        variable: &str,
        key: Option<&Secret>,
        changed: bool,
    ) -> Result<(), String> {
        let Some(Ok(ring)) = &self.ring else {
            return Err(ring::ABSENT.to_owned());
        };
        match key {
            Some(key) => keys.insert(variable.to_owned(), key.clone()),
            None if !changed => return Ok(()),
            None => keys.remove(variable),
        };
        let text = text_of(&keys).map_err(|_| "the keys cannot be written as TOML".to_owned())?;
        ring.write(&text)
    }

    /// The problem with the store, in words without its content; `None`: there is none.
    pub fn problem(&self) -> Option<String> {
        let ring = self.in_ring().and_then(Result::err);
        // Without it the file does as well, unless it was asked for by name.
        let ring = ring
            .filter(|_| self.choice == StoreChoice::Keyring)
            .map(|why| {
                let file = path(&self.home);
                format!(
                    "{why}; keys are kept in {} instead (`credentials_store`)",
                    file.display()
                )
            });
        ring.or_else(|| problem(&self.home))
    }
}

/// The problem with the store, in words without its content; `None`: there is none.
fn problem(home: &Path) -> Option<String> {
    let path = path(home);
    if let Err(why) = in_file(home) {
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

/// What the file holds.
#[derive(Default, Clone, PartialEq)]
struct InFile {
    keys: BTreeMap<String, Secret>,
    /// Variables that were set or forgotten here while the keyring did not answer: its values for them are old.
    newer: BTreeSet<String>,
}

/// Where the file says which those are. No variable is called so.
const NEWER: &str = "newer_than_the_keyring";

/// The keys of the file, or why it cannot be read.
#[cfg(test)]
fn stored(home: &Path) -> Result<BTreeMap<String, Secret>, String> {
    in_file(home).map(|file| file.keys)
}

/// Everything that the file holds, or why it cannot be read.
fn in_file(home: &Path) -> Result<InFile, String> {
    let path = path(home);
    let text = match read::following(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(InFile::default()),
        Err(error) => return Err(format!("{}: cannot be read: {error}", path.display())),
    };
    let mut table: toml::Table = toml::from_str(&text).map_err(|error| {
        // The parser's own words may quote a key.
        let line = read::line_of(&text, error.span().map_or(0, |span| span.start));
        format!(
            "{}:{line}: not valid TOML, so its keys are ignored",
            path.display()
        )
    })?;
    let newer = table.remove(NEWER).map_or(Ok(BTreeSet::new()), |names| {
        let not = |_| format!("{}: `{NEWER}` is not a list of names", path.display());
        names.try_into().map_err(not)
    })?;
    let keys = keys_of(table).map_err(|why| format!("{}: {why}", path.display()))?;
    Ok(InFile { keys, newer })
}

fn keys_of(table: toml::Table) -> Result<BTreeMap<String, Secret>, &'static str> {
    let keys = table.into_iter().map(|(variable, key)| match key {
        toml::Value::String(key) if !key.trim().is_empty() => Ok((variable, Secret::new(key))),
        _ => Err("a key is not text, so all are ignored"),
    });
    keys.collect()
}

fn text_of(keys: &BTreeMap<String, Secret>) -> Result<String, toml::ser::Error> {
    toml::to_string(&table_of(keys))
}

fn table_of(keys: &BTreeMap<String, Secret>) -> toml::Table {
    let keys = keys.iter();
    keys.map(|(variable, key)| (variable.clone(), key.expose().to_owned().into()))
        .collect()
}

/// What the file holds, to be changed.
fn to_change(home: &Path) -> Result<InFile, Failure> {
    in_file(home).map_err(|why| {
        Failure::new(
            ErrorName::InvalidConfig,
            format!("The key store was not changed: {why}."),
            "Fix the file by hand, or move it away.",
        )
        .with("file", path(home).display().to_string())
    })
}

/// Writes this into the file, if its content differs.
fn write_file(home: &Path, file: &InFile) -> Result<(), Failure> {
    if to_change(home)? == *file {
        return Ok(());
    }
    let path = path(home);
    let mut table = table_of(&file.keys);
    if !file.newer.is_empty() {
        let names: Vec<String> = file.newer.iter().cloned().collect();
        table.insert(NEWER.to_owned(), names.into());
    }
    let written = toml::to_string(&table)
        .map_err(std::io::Error::other)
        .and_then(|text| write::replace_own(&path, &format!("{HEADER}{text}")));
    written.map_err(|error| {
        Failure::new(
            ErrorName::Storage,
            format!("{} cannot be written: {error}", path.display()),
            "Check whether the disk is full, read-only or missing.",
        )
    })
}

/// The key without blanks around it, where a header can hold it.
fn sound(key: &Secret) -> Result<Secret, Failure> {
    let text = key.expose().trim();
    if text.is_empty() || text.len() > KEY_MAX || !text.bytes().all(|byte| byte.is_ascii_graphic())
    {
        return Err(Failure::new(
            ErrorName::InvalidParams,
            format!(
                "Not a valid key: a key has 1 to {KEY_MAX} visible ASCII characters on one line."
            ),
            "Copy it from the provider's page again. To delete a key, leave out `value`.",
        ));
    }
    Ok(Secret::new(text.to_owned()))
}

#[cfg(test)]
mod tests;
