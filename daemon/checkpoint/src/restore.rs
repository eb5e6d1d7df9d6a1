//! Files as they were: what stands there is compared with what the session left, kept, and changed back.
//!
//! What somebody else has changed since is left alone, unless it is forced. Blocks.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use proto::record::{FileState, RewoundFile, RewoundResult};
use proto::{ErrorName, Failure, Seq};
use store::blob::BlobId;
use workspace::{FileError, PathSnapshot, PathState, RestoreTarget};

use crate::content::{from_blob, read_back};
use crate::cut_off::{Broken, PlannedRewind};
use crate::keeper::{Checkpoint, Keeper};
use crate::past::{Past, Touched, Was};
use crate::trees::{Source, Trees};

/// Bytes of content that are held at once.
const HELD_MAX: u64 = 32 * 1024 * 1024;

/// What is to be done, and with what.
pub struct Restore<'a> {
    keeper: &'a Keeper,
    /// Where `git` is looked for.
    path: &'a str,
    request: RestoreOptions,
    /// By path.
    items: Vec<Item>,
}

/// How it is to be done.
pub struct RestoreOptions {
    /// Rewinds that broke off before.
    pub broken: Broken,
    /// The rewind that is taken back.
    pub undoes: Option<Seq>,
    /// What is taken back are those that broke off.
    pub takes_back_broken: bool,
    /// Also what somebody else has changed since.
    pub force: bool,
}

struct Item {
    look: PathSnapshot,
    was: FileState,
    source: Source,
    /// What became of it, or is to.
    result: RewoundResult,
    /// It is to be changed.
    due: bool,
    /// What stood there before: with those that broke off, before them.
    before: FileState,
    /// What stands there, before anything is changed.
    stands: FileState,
}

impl<'a> Restore<'a> {
    /// Looks at all the places.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn plan(
        keeper: &'a Keeper,
        path: &'a str,
        mut past: Past,
        request: RestoreOptions,
    ) -> Result<Self, Failure> {
        add_cut_off(keeper, path, &mut past);
        let mut trees = Trees::new(keeper, path, &past);
        let mut items = Vec::new();
        for (place, touched) in &past.places {
            let (was, source) = match &touched.was {
                Was::State(was) => (was.clone(), Source::Kept),
                Was::Tree(turn) => trees.was(*turn, place),
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

    /// What comes back has its directories made, also those that somebody else has removed: each is told, and goes again
    /// when all this is taken back.
    fn add_directories(&mut self) {
        let comes = |item: &&Item| item.due && item.was != FileState::Absent;
        let coming = self.items.iter().filter(comes);
        let above = coming.flat_map(|item| item.look.path.ancestors().skip(1));
        let mut missing: BTreeMap<PathBuf, PathSnapshot> = BTreeMap::new();
        for path in above {
            if !missing.contains_key(path) {
                let look = self.keeper.workspace.snapshot(path, false);
                if look.there == PathState::Absent {
                    missing.insert(path.to_owned(), look);
                }
            }
        }
        for item in &mut self.items {
            if missing.remove(&item.look.path).is_none() {
                continue;
            }
            // Somebody had removed it before the session made one there: what comes needs it all the same.
            if item.was == FileState::Absent {
                item.was = FileState::Directory;
            }
            if item.was == FileState::Directory {
                item.due = true;
                item.result = RewoundResult::Restored;
            }
        }
        self.items.extend(missing.into_values().map(|look| Item {
            look,
            was: FileState::Directory,
            source: Source::Kept,
            result: RewoundResult::Restored,
            due: true,
            before: FileState::Absent,
            stands: FileState::Absent,
        }));
        self.items
            .sort_by(|one, other| one.look.path.cmp(&other.look.path));
    }

    /// What would become of each, were it done now.
    pub fn foretold(self) -> Vec<RewoundFile> {
        reported(self.items)
    }

    /// Does it. `keep` puts on disk what stood there, before anything is touched.
    ///
    /// # Errors
    /// What stands there could not be kept: nothing was touched.
    pub fn run(
        mut self,
        keep: impl FnOnce(Checkpoint) -> Result<(), Failure>,
    ) -> Result<Vec<RewoundFile>, Failure> {
        let contents = self.kept_contents()?;
        self.keep(keep)?;
        self.clear_litter();
        // What goes, goes first and from below; then what comes, from above.
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
                item.come(self.keeper, &contents, round.get(&place));
            }
            next = end;
        }
        Ok(reported(self.items))
    }

    /// Has all that will be changed put on disk.
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
        // With it the next life knows how far this came, should it break off.
        let due = self.items.iter().filter(|item| item.due);
        let planned = PlannedRewind {
            undoes: self.request.undoes,
            after: due.map(|item| (item.name(), item.was.clone())).collect(),
        };
        keep(Checkpoint::of_files(files, Some(planned.beside(&own))))
    }

    /// Removes what a daemon that died while it put files back had not finished writing.
    fn clear_litter(&self) {
        let workspace = &self.keeper.workspace;
        for path in self.request.broken.litter() {
            let look = workspace.snapshot(&path, false);
            // Best effort: it is no file of anybody.
            let _ = workspace.restore(&look, RestoreTarget::Absent);
        }
    }

    /// Content that stands in lines of the log.
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

    /// The next items whose contents fit, and those contents that git has, by place.
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
        // What could not be read fails where it is put back.
        let _ = self
            .keeper
            .read_contents(self.path, &entries, |_, content| {
                contents.extend(places.next().map(|place| (place, content)));
            });
        (end, contents)
    }
}

/// All that is not as it was before a command that was cut off: it may have changed it. Nobody said so, thus it is left
/// alone unless it is forced.
fn add_cut_off(keeper: &Keeper, path: &str, past: &mut Past) {
    let cut_off = past.cut_off.iter();
    let trees: Vec<_> = cut_off
        .filter_map(|turn| Some((*turn, past.trees.get(turn)?.tree.clone())))
        .collect();
    if trees.is_empty() {
        return;
    }
    // Where one cannot be read nothing is added: the notes say already that it is not known.
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
            past.places.entry(place).or_insert(Touched {
                was: Was::Tree(turn),
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

/// What is to become of a place. `None`: the session has not changed it.
fn item(
    keeper: &Keeper,
    place: &str,
    was: FileState,
    source: Source,
    touched: &Touched,
    request: &RestoreOptions,
) -> Option<Item> {
    let look = keeper.workspace.snapshot(Path::new(place), false);
    let stands = FileState::from(look.there.clone());
    let before = request.broken.before(place, &stands);
    let (result, due) = match (&was, &stands) {
        // One that broke off has done it already.
        _ if was == stands && before != stands => (RewoundResult::Restored, false),
        _ if was == stands => {
            // Looked at before a call that did nothing there.
            touched.now.as_ref()?;
            (RewoundResult::Same, false)
        }
        (FileState::Unknown { why }, _) => (RewoundResult::Failed { why: why.clone() }, false),
        (_, FileState::Unknown { why }) => (RewoundResult::Failed { why: why.clone() }, false),
        // What one that broke off has left is nobody else's.
        _ if request.force || before != stands || touched.now.as_ref() == Some(&stands) => {
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
        stands,
    })
}

/// What is to become of a place that only rewinds that broke off were to change: what it was before them. `None`: it is
/// that, or, where it is not them that are taken back, what somebody has made of it since.
fn back_from_broken(keeper: &Keeper, place: &str, request: &RestoreOptions) -> Option<Item> {
    let look = keeper.workspace.snapshot(Path::new(place), false);
    let stands = FileState::from(look.there.clone());
    let mut was = request.broken.before(place, &stands);
    let (mut result, mut due) = (RewoundResult::Restored, true);
    if was == stands {
        if !request.takes_back_broken || request.broken.is_untouched(place, &stands) {
            return None;
        }
        was = request.broken.first(place)?.clone();
        if let FileState::Unknown { why } = &stands {
            (result, due) = (RewoundResult::Failed { why: why.clone() }, false);
        } else if !request.force {
            (result, due) = (RewoundResult::ChangedSince, false);
        }
    }
    let before = if request.takes_back_broken {
        stands.clone()
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
        stands,
    })
}

fn reported(items: Vec<Item>) -> Vec<RewoundFile> {
    let reported = items.into_iter().map(|item| RewoundFile {
        path: item.name(),
        after: if item.result == RewoundResult::Restored {
            item.was
        } else {
            item.stands
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

    /// A directory that one that broke off has made stays where something comes in it, as if it were made now.
    fn unless_needed(mut self, others: &[Self]) -> Self {
        let made = self.was == FileState::Absent && self.stands == FileState::Directory;
        let holds = |other: &Self| {
            other.was != FileState::Absent && other.look.path.starts_with(&self.look.path)
        };
        if made && others.iter().any(holds) {
            (self.before, self.was) = (FileState::Absent, FileState::Directory);
            self.due = false;
        }
        self
    }

    fn give_up(&mut self, result: RewoundResult) {
        self.due = false;
        self.result = result;
    }

    /// Makes it what it was, where that is something.
    fn come(
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
        let done = if self.stands == FileState::Directory || self.stands == FileState::Absent {
            // What was in it is gone by now, or what it is in has come.
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
                // Somebody has put something in it, or in its way.
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
