//! The states of places in the trees of turns. Reads each tree once, and only what is needed. Called by `restore`.
//! Blocks.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use proto::record::FileState;
use store::blob::BlobId;

use crate::content::TreeExtras;
use crate::keeper::Keeper;
use crate::past::{EarlierState, FileHistory};
use crate::shadow::{Entry, Kind};

/// The source of a place's content.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// The log or a blob, depending on the state.
    Kept,
    Git(Entry),
}

/// The trees of turns, read on demand.
pub(crate) struct Trees<'a> {
    keeper: &'a Keeper,
    path: &'a str,
    past: &'a FileHistory,
    of: BTreeMap<u64, Result<TreeContents, String>>,
}

/// The requested places in a tree.
struct TreeContents {
    entries: BTreeMap<PathBuf, Entry>,
    /// SHA-256 and length by object, without objects that git has lost.
    known: HashMap<String, (String, u64)>,
    beside: TreeExtras,
}

impl<'a> Trees<'a> {
    pub fn new(keeper: &'a Keeper, path: &'a str, past: &'a FileHistory) -> Self {
        Self {
            keeper,
            path,
            past,
            of: BTreeMap::new(),
        }
    }

    /// The state of a place in the tree of a turn.
    pub fn was(&mut self, turn: u64, place: &str) -> (FileState, Source) {
        let unknown = |why: &str| {
            let why = why.to_owned();
            (FileState::Unknown { why }, Source::Kept)
        };
        let root = self.keeper.workspace.root().to_owned();
        let Ok(relative) = Path::new(place).strip_prefix(&root) else {
            return unknown("it is outside of the workspace");
        };
        if !self.of.contains_key(&turn) {
            let held = self.read(turn, &root);
            self.of.insert(turn, held);
        }
        let held = match self.of.get(&turn) {
            Some(Ok(held)) => held,
            Some(Err(why)) => return unknown(why),
            None => return unknown("its content was not saved"),
        };
        let name = relative.to_string_lossy();
        if held.beside.left_out.contains(name.as_ref()) {
            return unknown("it was too large for a checkpoint, or could not be read");
        }
        if held.hides(relative) {
            return unknown("git ignored it or it could not be read, so no checkpoint has it");
        }
        if let Some(entry) = held.entries.get(relative) {
            return held.state_of(&name, entry);
        }
        let below = held.entries.range(relative.to_owned()..);
        let holds = below.take(64).any(|(path, _)| path.starts_with(relative));
        let directory = holds || held.holds_unlisted(relative);
        let was = match directory {
            true => FileState::Directory,
            false if held.beside.cut => return unknown("it is unknown whether it existed"),
            false => FileState::Absent,
        };
        (was, Source::Kept)
    }

    fn read(&self, turn: u64, root: &Path) -> Result<TreeContents, String> {
        let Some(kept) = self.past.trees.get(&turn) else {
            return Err("a command changed it, and its content was not saved".into());
        };
        let entries = self.keeper.entries(self.path, &kept.tree)?;
        let asked = self.past.places.iter().filter_map(|(place, touched)| {
            let relative = Path::new(place).strip_prefix(root).ok()?;
            (touched.was == EarlierState::Tree(turn)).then(|| entries.get(relative))?
        });
        let mut asked: Vec<Entry> = asked
            .filter(|entry| entry.bytes <= workspace::SIZE_MAX)
            .cloned()
            .collect();
        asked.sort_by(|one, other| one.object.cmp(&other.object));
        asked.dedup_by(|one, other| one.object == other.object);
        let mut known = HashMap::new();
        self.keeper
            .read_contents(self.path, &asked, |entry, content| {
                let Some(content) = content else { return };
                let text = match entry.kind {
                    Kind::Link => String::from_utf8_lossy(&content).into_owned(),
                    Kind::Plain | Kind::Executable => BlobId::from_content(&content).to_string(),
                };
                known.insert(entry.object.clone(), (text, content.len() as u64));
            })?;
        let beside = kept.beside.clone();
        Ok(TreeContents {
            entries,
            known,
            beside,
        })
    }
}

impl TreeContents {
    fn hides(&self, path: &Path) -> bool {
        let mut above = path.ancestors().filter_map(Path::to_str);
        above.any(|above| self.beside.hidden.contains(above))
    }

    /// Whether a directory contains, at any depth, something that is not in the tree.
    fn holds_unlisted(&self, relative: &Path) -> bool {
        let TreeExtras {
            empty,
            left_out,
            hidden,
            ..
        } = &self.beside;
        let mut named = empty.iter().chain(left_out).chain(hidden);
        named.any(|path| Path::new(path).starts_with(relative))
    }

    fn state_of(&self, name: &str, entry: &Entry) -> (FileState, Source) {
        let Some((known, bytes)) = self.known.get(&entry.object).cloned() else {
            let why = "git no longer has it".to_owned();
            return (FileState::Unknown { why }, Source::Kept);
        };
        let usual = match entry.kind {
            Kind::Link => return (FileState::Link { target: known }, Source::Kept),
            Kind::Plain => self.beside.plain,
            Kind::Executable => self.beside.executable,
        };
        let mode = self.beside.modes.get(name).copied().unwrap_or(usual);
        let was = FileState::File {
            sha256: known,
            bytes,
            mode,
        };
        (was, Source::Git(entry.clone()))
    }
}
