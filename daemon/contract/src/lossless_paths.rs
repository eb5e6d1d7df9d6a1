//! Paths in JSON without a loss: as text where they are text, else as their bytes. For records on this disk alone.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredPath {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&Path> for StoredPath {
    fn from(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
    }
}

impl From<StoredPath> for PathBuf {
    fn from(stored: StoredPath) -> Self {
        match stored {
            StoredPath::Text(text) => text.into(),
            StoredPath::Bytes(bytes) => OsString::from_vec(bytes).into(),
        }
    }
}

/// For `#[serde(with)]` on a path.
pub mod one {
    use super::*;

    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        StoredPath::from(path).serialize(serializer)
    }

    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        StoredPath::deserialize(deserializer).map(Into::into)
    }
}

/// For `#[serde(with)]` on a set of paths.
pub mod many {
    use std::collections::BTreeSet;

    use super::*;

    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(
        paths: &BTreeSet<PathBuf>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| StoredPath::from(path.as_path())))
    }

    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeSet<PathBuf>, D::Error> {
        let stored = Vec::<StoredPath>::deserialize(deserializer)?;
        Ok(stored.into_iter().map(Into::into).collect())
    }
}
