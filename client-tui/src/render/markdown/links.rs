//! Reference definitions of links: `[name]: https://…`.

use std::collections::HashMap;

/// All that were found so far, in order. The first of a name counts.
#[derive(Debug, Default)]
pub(super) struct Links {
    targets: HashMap<String, (usize, String)>,
}

/// Those that stood before some place of the text.
pub(super) struct DefinedLinks<'a> {
    links: &'a Links,
    count: usize,
}

impl Links {
    /// Another one, unless the name has one.
    pub(super) fn add(&mut self, name: &str, target: &str) {
        let index = self.targets.len();
        self.targets
            .entry(plain(name))
            .or_insert_with(|| (index, target.to_owned()));
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.targets.len()
    }

    /// The first ones.
    pub(super) fn up_to(&self, count: usize) -> DefinedLinks<'_> {
        DefinedLinks { links: self, count }
    }
}

impl DefinedLinks<'_> {
    /// The target of this name.
    pub(super) fn target(&self, name: &str) -> Option<&str> {
        let (index, target) = self.links.targets.get(&plain(name))?;
        (*index < self.count).then_some(target.as_str())
    }
}

/// Case and blanks do not count in names.
fn plain(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    words.join(" ").to_lowercase()
}
