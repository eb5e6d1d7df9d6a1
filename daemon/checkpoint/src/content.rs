//! Storage of a checkpoint's content: small files in the `own` member of its log line, larger ones in blobs.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proto::record::{FileState, Kept};
use serde::{Deserialize, Serialize};
use store::blob::{BlobId, BlobStore, INLINE_MAX};
use workspace::PathSnapshot;

use crate::keeper::Keeper;

/// Maximum bytes of content in one line.
const LINE_MAX: usize = 1024 * 1024;

/// The daemon's own part of a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Own {
    /// Base64 content by SHA-256.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub content: BTreeMap<String, String>,
    /// Facts about a tree that git does not store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeExtras>,
}

/// Facts about a work tree that its git tree does not store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TreeExtras {
    /// The most frequent permission bits of files that are not executable, and of files that are.
    pub plain: u32,
    pub executable: u32,
    /// The permission bits of other files, by path from the root.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub modes: BTreeMap<String, u32>,
    /// Empty directories.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub empty: BTreeSet<String>,
    /// Files that are too large, or cannot be read.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub left_out: BTreeSet<String>,
    /// Paths that were skipped, with everything below them: ignored files, other repositories.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub hidden: BTreeSet<String>,
    /// The lists above are incomplete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

impl Own {
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Keeper {
    /// Builds a checkpoint from snapshots and their content. Blobs are on disk when this returns.
    ///
    /// # Errors
    /// The disk refused the content, as text.
    pub(crate) fn seal(
        &self,
        looks: impl IntoIterator<Item = PathSnapshot>,
    ) -> Result<(Vec<Kept>, Own), String> {
        let (mut kept, mut own, mut held) = (Vec::new(), Own::default(), 0);
        for look in looks {
            let was = FileState::from(look.there);
            if let (FileState::File { sha256, .. }, Some(bytes)) = (&was, look.content)
                && !own.content.contains_key(sha256)
            {
                if bytes.len() <= INLINE_MAX && held + bytes.len() <= LINE_MAX {
                    held += bytes.len();
                    own.content.insert(sha256.clone(), STANDARD.encode(&bytes));
                } else {
                    let put = self.blobs.put(&bytes);
                    put.map_err(|error| store::reason(&error))?;
                }
            }
            let path = look.path.to_string_lossy().into_owned();
            kept.push(Kept { path, was });
        }
        Ok((kept, own))
    }
}

/// Reads the wanted content, by SHA-256, from the checkpoint lines of a log. Blocks.
///
/// # Errors
/// The log cannot be read, as text.
pub(crate) fn read_back(
    dir: &Path,
    wanted: &HashSet<String>,
) -> Result<HashMap<String, Vec<u8>>, String> {
    let mut found = HashMap::new();
    if wanted.is_empty() {
        return Ok(found);
    }
    let read = store::log::read(dir, &mut |raw| {
        if raw.kind != "checkpoint.created" {
            return;
        }
        let own = raw.own.and_then(|own| serde_json::from_str(own.get()).ok());
        let Some(Own { content, .. }) = own else {
            return;
        };
        for (sha256, text) in content {
            if wanted.contains(&sha256)
                && let Ok(bytes) = STANDARD.decode(&text)
            {
                found.insert(sha256, bytes);
            }
        }
    });
    read.map_err(|error| store::reason(&error))?;
    found.retain(|sha256, bytes| BlobId::from_content(bytes).to_string() == *sha256);
    Ok(found)
}

/// Content from a blob. `None`: the blob is missing, or its content has changed.
pub(crate) fn from_blob(blobs: &BlobStore, sha256: &str, bytes: u64) -> Option<Vec<u8>> {
    let id = BlobId::from_str(sha256).ok()?;
    if blobs.len(id).ok()? != bytes {
        return None;
    }
    let content = blobs.read(id, 0, usize::try_from(bytes).ok()?).ok()?;
    (BlobId::from_content(&content) == id).then_some(content)
}
