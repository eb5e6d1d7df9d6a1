//! Where toolchains keep their caches in the user's home. Called by `layers`.

use std::path::{Path, PathBuf};

/// Directories of which all that is there may be made again. None holds keys, and none is a place
/// where programs are looked for by name.
const DIRS: [&str; 18] = [
    ".cargo/registry",
    ".cargo/git",
    ".cache/go-build",
    "go/pkg/mod",
    ".npm",
    ".cache/yarn",
    ".yarn/berry/cache",
    ".local/share/pnpm/store",
    ".cache/pnpm",
    ".bun/install/cache",
    ".cache/deno",
    ".cache/pip",
    ".cache/uv",
    ".cache/ccache",
    ".ccache",
    ".cache/sccache",
    ".gradle/caches",
    ".m2/repository",
];

/// The directories; absolute, without links, only those that are there.
pub fn of(user_home: &Path) -> Vec<PathBuf> {
    let places = DIRS
        .iter()
        .filter_map(|name| user_home.join(name).canonicalize().ok());
    // A cache that is a link out of the home is not where its name says.
    let home = user_home.canonicalize().unwrap_or_default();
    places.filter(|place| place.starts_with(&home)).collect()
}
