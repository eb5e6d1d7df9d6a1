//! Properties that hold for any patch and any path: fuzz targets, see `tests/fuzz/README.md`.

mod confine;

pub use confine::confine;

use crate::patch::{self, LineKind};

/// Patches: any text is a patch or an error, and applied hunks are in the file. A zero byte
/// separates the patch from the file.
pub fn patch(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == 0);
    let (text, file) = data.split_at(end.unwrap_or(data.len()));
    let file = file.get(1..).unwrap_or_default();
    let Ok(files) = patch::parse(&String::from_utf8_lossy(text)) else {
        return;
    };
    for one in &files {
        let Ok(applied) = patch::apply(file, one) else {
            continue;
        };
        let lines = one.hunks.iter().flat_map(|hunk| &hunk.lines);
        for line in lines.filter(|line| line.kind == LineKind::Added) {
            let added = line.text.trim_end_matches('\r').as_bytes();
            let is_applied = applied
                .bytes
                .windows(added.len().max(1))
                .any(|bytes| bytes == added);
            assert!(added.is_empty() || is_applied, "{:?}", line.text);
        }
        assert_eq!(
            patch::apply(file, one).map(|again| again.bytes),
            Ok(applied.bytes)
        );
    }
}

#[cfg(test)]
#[path = "../../../tests/fuzz/seeds.rs"]
mod seeds;

#[test]
fn seeds_of_patch() {
    seeds::each("patch", patch);
}

#[test]
fn seeds_of_confine() {
    seeds::each("confine", confine);
}
