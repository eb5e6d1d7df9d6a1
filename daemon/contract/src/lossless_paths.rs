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

/// For `#[serde(with)]` on a list or a set of paths.
pub mod many {
    use super::*;

    /// # Errors
    /// Those of the serializer.
    pub fn serialize<'a, C, S: Serializer>(paths: &'a C, serializer: S) -> Result<S::Ok, S::Error>
    where
        &'a C: IntoIterator<Item = &'a PathBuf>,
    {
        let paths = paths.into_iter();
        serializer.collect_seq(paths.map(|path| StoredPath::from(path.as_path())))
    }

    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, C: FromIterator<PathBuf>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<C, D::Error> {
        let stored = Vec::<StoredPath>::deserialize(deserializer)?;
        Ok(stored.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Paths(#[serde(with = "many")] Vec<PathBuf>);

    #[test]
    fn paths_come_back_byte_for_byte() {
        let odd = PathBuf::from(OsString::from_vec(b"/a/n\xff".to_vec()));
        let paths = Paths(vec!["/a/b c".into(), odd]);
        let json = serde_json::to_string(&paths).unwrap();
        assert!(json.starts_with(r#"["/a/b c",["#), "{json}");
        assert_eq!(serde_json::from_str::<Paths>(&json).unwrap(), paths);
    }
}
