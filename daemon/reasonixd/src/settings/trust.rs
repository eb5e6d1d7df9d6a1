//! Which projects' config may take effect: `<home>/trust.json`, directory → hash of what was shown.
//!
//! A yes is bound to exactly the lines that were shown: when they change, it is asked again.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use sha2::{Digest, Sha256};

/// SHA-256 over lines, hexadecimal.
#[must_use]
pub fn hash(lines: &[String]) -> String {
    let digest = Sha256::digest(lines.join("\n").as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether the user trusts this directory with these lines. What cannot be read is not trusted.
#[must_use]
pub fn is_trusted(home: &Path, directory: &Path, hash: &str) -> bool {
    read(home)
        .get(&*directory.to_string_lossy())
        .is_some_and(|known| known == hash)
}

/// Remembers or forgets that a directory is trusted with these lines.
///
/// # Errors
/// The file cannot be written; what was there before is still there.
pub fn set(home: &Path, directory: &Path, hash: Option<&str>) -> std::io::Result<()> {
    let mut trusted = read(home);
    let key = directory.to_string_lossy().into_owned();
    match hash {
        Some(hash) => trusted.insert(key, hash.to_owned()),
        None => trusted.remove(&key),
    };
    let text = serde_json::to_string_pretty(&trusted).map_err(std::io::Error::other)?;
    let temporary = home.join("trust.json.tmp");
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&temporary, home.join("trust.json"))
}

fn read(home: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(home.join("trust.json")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
