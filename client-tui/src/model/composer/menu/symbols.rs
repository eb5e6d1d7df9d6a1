//! The definitions in source files that match the text after an `@`: inserted as `path#name`.
//!
//! They come from the daemon each time an `@` is typed; until then the previous ones are used.

use nucleo_matcher::{Config, Matcher};
use proto::params::symbol::SymbolInfo;

use super::{FileEntry, Typed, fuzzy, score, typeable};

/// Most symbols in a menu: to narrow them down, the user types more.
const FOUND_MAX: usize = 20;

/// The newest definitions: `path#name`.
#[derive(Debug, Default)]
pub struct MenuSymbols(Vec<String>);

impl MenuSymbols {
    /// Those of the daemon. A name that a file defines twice is there once: the reference has both.
    pub fn came(&mut self, symbols: Vec<SymbolInfo>) {
        let symbols = symbols.into_iter();
        let mut texts: Vec<_> = symbols
            .map(|symbol| format!("{}#{}", symbol.path, symbol.name))
            .collect();
        texts.sort_unstable();
        texts.dedup();
        self.0 = typeable(texts);
    }

    /// The matches, the best first: by their names, or by path and name if some of the path was typed. Nothing typed: none.
    pub fn find(&self, typed: &Typed) -> Vec<FileEntry> {
        let needle = format!("{}{}", typed.parent, typed.name);
        if needle.is_empty() {
            return Vec::new();
        }
        let by_path = needle.contains(['/', '#']);
        let pattern = fuzzy(&needle);
        let mut matcher = Matcher::new(Config::DEFAULT);
        let wanted = typed.name.to_lowercase();
        let mut found: Vec<_> = self
            .0
            .iter()
            .filter_map(|text| {
                let (path, name) = text.rsplit_once('#')?;
                let score = score(&pattern, if by_path { text } else { name }, &mut matcher)?;
                let is_prefix = name.to_lowercase().starts_with(&wanted);
                Some(((!is_prefix, u32::MAX - score, path.len()), (path, name)))
            })
            .collect();
        found.sort_unstable();
        let found = found.into_iter().take(FOUND_MAX);
        found
            .map(|(_, (path, name))| FileEntry {
                parent: format!("{path}#"),
                name: name.to_owned(),
            })
            .collect()
    }
}
