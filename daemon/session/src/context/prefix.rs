//! The frozen prefix of a session: rendered once, hashed, kept in the first record.

use contract::{Codec, Prefix, ToolSpec};
use sha2::{Digest, Sha256};

use crate::assembly::setup::Setup;
use crate::assembly::tool_repair;

/// The shipped system prompt.
const SYSTEM: &str = include_str!("../../prompts/system.md");

/// Renders system prompt and tool schemas. Nothing variable goes in: same build, same bytes.
/// Deferred tools are left out, unless they are pinned.
pub fn render(codec: &dyn Codec, setup: &Setup) -> Prefix {
    let is_pinned = |spec: &ToolSpec| setup.pinned.iter().any(|pinned| *pinned == *spec.name);
    let in_prefix = |spec: &&ToolSpec| !spec.deferred || is_pinned(spec);
    let shown = |spec: &ToolSpec| match setup.repair {
        true => tool_repair::shown(spec),
        false => spec.clone(),
    };
    let specs: Vec<_> = setup.tools.specs().filter(in_prefix).map(shown).collect();
    codec.prefix(&setup.model, SYSTEM.trim_end(), &specs)
}

/// SHA-256 over the prefix, hexadecimal.
pub fn hash(prefix: &Prefix) -> String {
    let mut hasher = Sha256::new();
    for part in [&prefix.model, &prefix.system, &prefix.tools, &prefix.extra] {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hex::encode(hasher.finalize())
}

/// SHA-256 over parts, each with its length, hexadecimal.
pub fn digest(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hex::encode(hasher.finalize())
}
