//! Restores files: compares the current state with the one that the session left, saves it, and reverts it.
//!
//! Changes by others since then are kept unless the rewind is forced. Blocks.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use proto::record::{FileState, RewoundFile, RewoundResult};
use proto::{ErrorName, Failure, Seq};
use store::blob::BlobId;
use workspace::{FileError, PathSnapshot, PathState, RestoreTarget};

use crate::content::{from_blob, read_back};
use crate::cut_off::{InterruptedRewinds, PlannedRewind};
use crate::keeper::{Checkpoint, Keeper};
use crate::past::{EarlierState, FileHistory, PlaceHistory};
use crate::trees::{Source, Trees};

/// Maximum bytes of content in memory.
const HELD_MAX: u64 = 32 * 1024 * 1024;

/// The planned changes, and the means to make them.
pub struct Restore<'a> {
    keeper: &'a Keeper,
    /// Where to find `git`.
    path: &'a str,
    request: RestoreOptions,
    /// By path.
    items: Vec<Item>,
}

/// How to restore.
pub struct RestoreOptions {
    /// Earlier rewinds that were interrupted.
    pub broken: InterruptedRewinds,
    /// The rewind to undo.
    pub undoes: Option<Seq>,
    /// Whether to undo the interrupted rewinds.
    pub undoes_interrupted: bool,
    /// Whether to revert changes by others, too.
    pub force: bool,
}

struct Item {
    look: PathSnapshot,
    was: FileState,
    source: Source,
    /// The result, or the planned one.
    result: RewoundResult,
    /// Whether the place must be changed.
    due: bool,
    /// The state before; with interrupted rewinds, the state before them.
    before: FileState,
    /// The current state, before any change.
    current: FileState,
}

impl<'a> Restore<'a> {
    /// Examines all places.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn plan(
        keeper: &'a Keeper,
        path: &'a str,
        mut past: FileHistory,
        request: RestoreOptions,
    ) -> Result<Self, Failure> {
        add_cut_off(keeper, path, &mut past);
        let mut trees = Trees::new(keeper, path, &past);
        let mut items = Vec::new();
        for (place, touched) in &past.places {
            let (was, source) = match &touched.was {
                EarlierState::State(was) => (was.clone(), Source::Kept),
                EarlierState::Tree(turn) => trees.was(*turn, place),
            };
            items.extend(item(keeper, place, was, source, touched, &request));
        }
        let others = request.broken.places();
        let others = others.filter(|place| !past.places.contains_key(*place));
        let others: Vec<_> = others
            .filter_map(|place| back_from_broken(keeper, place, &request))
            .collect();
        items.extend(
            others
                .into_iter()
                .map(|item| item.unless_needed(&items))
                .collect::<Vec<_>>(),
        );
        let mut restore = Self {
            keeper,
            path,
            request,
            items,
        };
        restore.add_directories();
        Ok(restore)
    }

    /// Adds parent directories of restored files, even if others have removed them. Each is reported, and is removed
    /// again when this rewind is undone.
    fn add_directories(&mut self) {
        let comes = |item: &&Item| item.due && item.was != FileState::Absent;
        let coming = self.items.iter().filter(comes);
        let above = coming.flat_map(|item| item.look.path.ancestors().skip(1));
        let above: BTreeSet<PathBuf> = above.map(Path::to_owned).collect();
        let mut missing: BTreeMap<&Path, PathSnapshot> = BTreeMap::new();
        for path in &above {
            let look = self.keeper.workspace.snapshot(path, false);
            if look.there == PathState::Absent {
                missing.insert(path, look);
            }
        }
        for item in &mut self.items {
            if above.contains(&item.look.path) {
                item.hold_what_comes(missing.remove(item.look.path.as_path()).is_some());
            }
        }
        self.items.extend(missing.into_values().map(|look| Item {
            look,
            was: FileState::Directory,
            source: Source::Kept,
            result: RewoundResult::Restored,
            due: true,
            before: FileState::Absent,
            current: FileState::Absent,
        }));
        self.items
            .sort_by(|one, other| one.look.path.cmp(&other.look.path));
    }

    /// The result for each place if it were restored now.
    pub fn planned_results(self) -> Vec<RewoundFile> {
        reported(self.items)
    }

    /// Restores the files. `keep` saves the current states to disk before any change.
    ///
    /// # Errors
    /// The current states could not be saved; nothing was changed.
    pub fn run(
        mut self,
        keep: impl FnOnce(Checkpoint) -> Result<(), Failure>,
    ) -> Result<Vec<RewoundFile>, Failure> {
        let contents = self.kept_contents()?;
        self.keep(keep)?;
        self.clear_temporary_files();
        // First remove places, from the bottom up; then create places, from the top down.
        for item in self.items.iter_mut().rev() {
            if item.due && item.was == FileState::Absent {
                item.put(self.keeper, RestoreTarget::Absent);
            }
        }
        let mut next = 0;
        while next < self.items.len() {
            let (end, round) = self.round(next);
            for place in next..end {
                let Some(item) = self.items.get_mut(place).filter(|item| item.due) else {
                    continue;
                };
                item.create_earlier_state(self.keeper, &contents, round.get(&place));
            }
            next = end;
        }
        Ok(reported(self.items))
    }

    /// Saves to disk everything that will be changed.
    fn keep(
        &mut self,
        keep: impl FnOnce(Checkpoint) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let keeper = self.keeper;
        let looks = self.items.iter_mut().filter(|item| item.due);
        let looks = looks.filter_map(|item| {
            let mut look = keeper.workspace.snapshot(&item.look.path, true);
            if let PathState::Unknown { why } = &look.there {
                let why = format!("the current content cannot be saved: {why}");
                item.give_up(RewoundResult::Failed { why });
                return None;
            }
            if look.there != item.look.there {
                item.give_up(RewoundResult::ChangedSince);
                return None;
            }
            let content = look.content.take();
            item.look = look.clone();
            look.content = content;
            Some(look)
        });
        let (files, own) = keeper.seal(looks).map_err(|why| storage(&why))?;
        if files.is_empty() {
            return Ok(());
        }
        // This tells the next daemon process how far the rewind came, if it is interrupted.
        let due = self.items.iter().filter(|item| item.due);
        let planned = PlannedRewind {
            undoes: self.request.undoes,
            after: due.map(|item| (item.name(), item.was.clone())).collect(),
        };
        keep(Checkpoint::of_files(files, Some(planned.own_member(&own))))
    }

    /// Removes temporary files of a daemon that died while restoring files.
    fn clear_temporary_files(&self) {
        let workspace = &self.keeper.workspace;
        for path in self.request.broken.temporary_files() {
            let look = workspace.snapshot(&path, false);
            // Best effort: it is not a user's file.
            let _ = workspace.restore(&look, RestoreTarget::Absent);
        }
    }

    /// Content in lines of the log.
    fn kept_contents(&self) -> Result<HashMap<String, Vec<u8>>, Failure> {
        let due = self.items.iter().filter(|item| item.due);
        let wanted: HashSet<String> = due
            .filter_map(|item| match (&item.was, &item.source) {
                (FileState::File { sha256, .. }, Source::Kept) => Some(sha256.clone()),
                _ => None,
            })
            .collect();
        read_back(self.keeper.dir(), &wanted).map_err(|why| storage(&why))
    }

    /// The next items whose content fits into memory, and their content from git, by index.
    fn round(&self, from: usize) -> (usize, HashMap<usize, Option<Vec<u8>>>) {
        let (mut held, mut end) = (0_u64, from);
        let (mut places, mut entries) = (Vec::new(), Vec::new());
        for (place, item) in self.items.iter().enumerate().skip(from) {
            if held > HELD_MAX {
                break;
            }
            end = place + 1;
            if let (true, Source::Git(entry)) = (item.due, &item.source) {
                held = held.saturating_add(entry.bytes);
                places.push(place);
                entries.push(entry.clone());
            }
        }
        if entries.is_empty() {
            return (end, HashMap::new());
        }
        let (mut contents, mut places) = (HashMap::new(), places.into_iter());
        // Content that cannot be read fails when its file is restored.
        let _ = self
            .keeper
            .read_contents(self.path, &entries, |_, content| {
                contents.extend(places.next().map(|place| (place, content)));
            });
        (end, contents)
    }
}

/// Adds all differences from the state before a command that was cut off: it may have made them. That is not certain,
/// so they are kept unless the rewind is forced.
fn add_cut_off(keeper: &Keeper, path: &str, past: &mut FileHistory) {
    let cut_off = past.cut_off.iter();
    let trees: Vec<_> = cut_off
        .filter_map(|turn| Some((*turn, past.trees.get(turn)?.tree.clone())))
        .collect();
    if trees.is_empty() {
        return;
    }
    // If a tree cannot be read, nothing is added: the notes already say that its changes are unknown.
    let Ok(now) = keeper.entries_now(path) else {
        return;
    };
    let root = keeper.workspace.root();
    for (turn, tree) in trees {
        let Ok(then) = keeper.entries(path, &tree) else {
            continue;
        };
        let all = then.keys().chain(now.keys());
        for place in all.filter(|place| then.get(*place) != now.get(*place)) {
            let place = root.join(place).to_string_lossy().into_owned();
            past.places.entry(place).or_insert(PlaceHistory {
                was: EarlierState::Tree(turn),
                now: None,
            });
        }
    }
}

fn storage(why: &str) -> Failure {
    Failure::new(
        ErrorName::Storage,
        format!("The current content could not be saved: {why}"),
        "Nothing was changed. Free space or repair the disk, then try again.",
    )
}

/// The planned change of a place. `None`: the session has not changed it.
fn item(
    keeper: &Keeper,
    place: &str,
    was: FileState,
    source: Source,
    touched: &PlaceHistory,
    request: &RestoreOptions,
) -> Option<Item> {
    let look = keeper.workspace.snapshot(Path::new(place), false);
    let current = FileState::from(look.there.clone());
    let before = request.broken.before(place, &current);
    let (result, due) = match (&was, &current) {
        // An interrupted rewind has restored it already.
        _ if was == current && before != current => (RewoundResult::Restored, false),
        _ if was == current => {
            // Recorded before a call that did not change it.
            touched.now.as_ref()?;
            (RewoundResult::Same, false)
        }
        (FileState::Unknown { why }, _) => (RewoundResult::Failed { why: why.clone() }, false),
        (_, FileState::Unknown { why }) => (RewoundResult::Failed { why: why.clone() }, false),
        // Changes by an interrupted rewind are not changes by others.
        _ if request.force || before != current || touched.now.as_ref() == Some(&current) => {
            (RewoundResult::Restored, true)
        }
        _ => (RewoundResult::ChangedSince, false),
    };
    Some(Item {
        look,
        was,
        source,
        result,
        due,
        before,
        current,
    })
}

/// The planned change of a place that only interrupted rewinds would have changed: back to the state before them.
/// `None`: it has that state; or others have changed it since, and the interrupted rewinds are not being undone.
fn back_from_broken(keeper: &Keeper, place: &str, request: &RestoreOptions) -> Option<Item> {
    let look = keeper.workspace.snapshot(Path::new(place), false);
    let current = FileState::from(look.there.clone());
    let mut was = request.broken.before(place, &current);
    let (mut result, mut due) = (RewoundResult::Restored, true);
    if was == current {
        if !request.undoes_interrupted || request.broken.is_untouched(place, &current) {
            return None;
        }
        was = request.broken.first(place)?.clone();
        if let FileState::Unknown { why } = &current {
            (result, due) = (RewoundResult::Failed { why: why.clone() }, false);
        } else if !request.force {
            (result, due) = (RewoundResult::ChangedSince, false);
        }
    }
    let before = if request.undoes_interrupted {
        current.clone()
    } else {
        was.clone()
    };
    Some(Item {
        look,
        was,
        source: Source::Kept,
        result,
        due,
        before,
        current,
    })
}

fn reported(items: Vec<Item>) -> Vec<RewoundFile> {
    let reported = items.into_iter().map(|item| RewoundFile {
        path: item.name(),
        after: if item.result == RewoundResult::Restored {
            item.was
        } else {
            item.current
        },
        result: item.result,
        before: item.before,
    });
    reported.collect()
}

impl Item {
    fn name(&self) -> String {
        self.look.path.to_string_lossy().into_owned()
    }

    /// Keeps a directory that an interrupted rewind created if files are restored in it, as if it were created now.
    fn unless_needed(mut self, others: &[Self]) -> Self {
        let made = self.was == FileState::Absent && self.current == FileState::Directory;
        let holds = |other: &Self| {
            other.was != FileState::Absent && other.look.path.starts_with(&self.look.path)
        };
        if made && others.iter().any(holds) {
            (self.before, self.was) = (FileState::Absent, FileState::Directory);
            self.due = false;
        }
        self
    }

    /// Plans a directory, because something below it is restored. Others had removed it before the session created
    /// something in its place.
    fn hold_what_comes(&mut self, is_missing: bool) {
        let goes = self.due && self.was == FileState::Absent;
        if self.was == FileState::Absent && (goes || is_missing) {
            self.was = FileState::Directory;
        }
        if goes && self.current == FileState::Directory {
            self.due = false;
            if self.before == self.current {
                self.result = RewoundResult::Same;
            }
        }
        if is_missing && self.was == FileState::Directory {
            self.due = true;
            self.result = RewoundResult::Restored;
        }
    }

    fn give_up(&mut self, result: RewoundResult) {
        self.due = false;
        self.result = result;
    }

    /// Creates the place in its earlier state, if it existed.
    fn create_earlier_state(
        &mut self,
        keeper: &Keeper,
        kept: &HashMap<String, Vec<u8>>,
        from_git: Option<&Option<Vec<u8>>>,
    ) {
        match self.was.clone() {
            FileState::Absent | FileState::Unknown { .. } => {}
            FileState::Directory => self.put(keeper, RestoreTarget::Directory),
            FileState::Link { target } => {
                let target = Path::new(&target);
                self.put(keeper, RestoreTarget::Link { target });
            }
            FileState::File {
                sha256,
                bytes,
                mode,
            } => {
                let content = match &self.source {
                    Source::Git(_) => from_git.cloned().flatten(),
                    Source::Kept => kept
                        .get(&sha256)
                        .cloned()
                        .or_else(|| from_blob(&keeper.blobs, &sha256, bytes)),
                };
                match content.filter(|content| BlobId::from_content(content).to_string() == sha256)
                {
                    Some(bytes) => self.put(
                        keeper,
                        RestoreTarget::File {
                            bytes: &bytes,
                            mode,
                        },
                    ),
                    None => self.give_up(RewoundResult::Failed {
                        why: "its earlier content is no longer stored".into(),
                    }),
                }
            }
        }
    }

    fn put(&mut self, keeper: &Keeper, wanted: RestoreTarget<'_>) {
        self.due = false;
        let workspace = &keeper.workspace;
        let done = if self.current == FileState::Directory || self.current == FileState::Absent {
            // Its contents are removed by now, or its parent is created.
            let look = workspace.snapshot(&self.look.path, false);
            if look.there == self.look.there || look.there == PathState::Directory {
                workspace.restore(&look, wanted)
            } else {
                let path = self.look.path.clone();
                Err(FileError::Changed(path))
            }
        } else {
            workspace.restore(&self.look, wanted)
        };
        if let Err(error) = done {
            self.result = match &error {
                FileError::Changed { .. } => RewoundResult::ChangedSince,
                // Others have created something in it, or at its path.
                FileError::Io { source, .. }
                    if matches!(
                        source.kind(),
                        ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory
                    ) =>
                {
                    RewoundResult::ChangedSince
                }
                _ => RewoundResult::Failed {
                    why: error.to_string(),
                },
            };
        }
    }
}
