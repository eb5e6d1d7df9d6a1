//! Walks a tree as ripgrep does: without hidden and ignored files, with globs and file types.
//!
//! The `ignore` crate lists the directories; what is left out is decided here, because it would read
//! whatever was put in the place of an ignore file (`ignore_rules`).

use std::path::Path;
use std::sync::Arc;

use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use ignore::{DirEntry, WalkBuilder, WalkParallel};

use crate::ignore_rules::{IgnoreKinds, IgnoreRules};
use crate::search::SearchError;

/// Maximum number of threads of a walk.
const THREADS_MAX: usize = 8;

/// What to walk.
pub(crate) struct WalkedFiles<'a> {
    pub(crate) root: &'a Path,
    /// The directory that the globs are relative to.
    pub(crate) base: &'a Path,
    /// As for `rg -g`.
    pub(crate) globs: &'a [String],
    /// As for `rg -t`.
    pub(crate) file_type: Option<&'a str>,
    /// Also hidden and ignored files, but not `.git`.
    pub(crate) include_ignored: bool,
}

/// A walk of a tree. Follows no links.
pub(crate) struct TreeWalk {
    walk: WalkBuilder,
    rules: Arc<IgnoreRules>,
}

impl TreeWalk {
    /// # Errors
    /// A glob or the file type is invalid.
    pub(crate) fn new(files: &WalkedFiles<'_>) -> Result<Self, SearchError> {
        let overrides = overrides(files)?;
        let types = types(files.file_type)?;
        let rules = Arc::new(IgnoreRules::new(IgnoreKinds::Search));
        let mut walk = WalkBuilder::new(files.root);
        walk.standard_filters(false)
            .follow_links(false)
            .threads(threads());
        if files.include_ignored {
            walk.overrides(overrides).types(types);
        } else {
            let rules = Arc::clone(&rules);
            walk.filter_entry(move |entry| is_listed(entry, &overrides, &types, &rules));
        }
        Ok(Self { walk, rules })
    }

    pub(crate) fn parallel(&self) -> WalkParallel {
        self.walk.build_parallel()
    }

    /// Number of ignore files that could not be used.
    pub(crate) fn unusable(&self) -> u64 {
        self.rules.unusable()
    }
}

/// Globs count most, then ignore files, then file types. A hidden file is listed if one of them
/// names it.
fn is_listed(entry: &DirEntry, globs: &Override, types: &Types, rules: &IgnoreRules) -> bool {
    let path = entry.path();
    let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
    let by_glob = globs.matched(path, is_dir);
    if !by_glob.is_none() {
        return by_glob.is_whitelist();
    }
    let by_rules = rules.decide(path, is_dir);
    let by_type = types.matched(path, is_dir);
    if by_rules.is_ignore() || by_type.is_ignore() {
        return false;
    }
    let is_named = by_rules.is_whitelist() || by_type.is_whitelist();
    is_named || !entry.file_name().as_encoded_bytes().starts_with(b".")
}

fn overrides(files: &WalkedFiles<'_>) -> Result<Override, SearchError> {
    let bad = |glob: &str, error: &ignore::Error| SearchError::Glob {
        glob: glob.to_owned(),
        reason: error.to_string(),
    };
    let mut overrides = OverrideBuilder::new(files.base);
    let no_git = files.include_ignored.then_some("!.git");
    for glob in files.globs.iter().map(String::as_str).chain(no_git) {
        overrides.add(glob).map_err(|error| bad(glob, &error))?;
    }
    let built = overrides.build();
    built.map_err(|error| bad(&files.globs.join(" "), &error))
}

fn types(name: Option<&str>) -> Result<Types, SearchError> {
    let Some(name) = name else {
        return Ok(Types::empty());
    };
    let mut builder = TypesBuilder::new();
    builder.add_defaults().select(name);
    builder.build().map_err(|_| SearchError::Type {
        name: name.to_owned(),
    })
}

/// Number of threads to walk and search.
fn threads() -> usize {
    let here = std::thread::available_parallelism();
    here.map_or(1, usize::from).min(THREADS_MAX)
}
