//! Files that a file tool may change: recorded with their content before the call, and without it afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proto::record::Changed;
use workspace::{PathSnapshot, PathState, Workspace};

use crate::keeper::{CHANGED_MAX, Checkpoint, Keeper, Watched};

/// Maximum files and bytes of a directory that is moved or deleted.
const BELOW_MAX: usize = 2_000;
const BELOW_BYTES: u64 = 32 * 1024 * 1024;

/// The state of the places of a call.
#[derive(Default)]
pub struct PathSnapshots {
    looks: Vec<PathSnapshot>,
    /// Whether the contents of directories were recorded.
    below: bool,
    /// Places whose state cannot be saved.
    pub unkept: BTreeSet<PathBuf>,
}

impl PathSnapshots {
    /// Records the places that a call may change. `below`: also the contents of directories. Blocks.
    pub fn look_at(workspace: &Workspace, places: &BTreeSet<PathBuf>, below: bool) -> Self {
        let mut found = Self {
            below,
            ..Self::default()
        };
        let mut seen = BTreeSet::new();
        for place in places {
            // Missing parent directories, which the call will create.
            let missing = place
                .ancestors()
                .skip(1)
                .map(|above| workspace.snapshot(above, false));
            let missing: Vec<_> = missing
                .take_while(|look| look.there == PathState::Absent)
                .collect();
            for look in missing.into_iter().rev() {
                if seen.insert(look.path.clone()) {
                    found.looks.push(look);
                }
            }
            if !seen.insert(place.clone()) {
                continue;
            }
            let look = workspace.snapshot(place, true);
            match look.there {
                PathState::Unknown { .. } => {
                    found.unkept.insert(place.clone());
                }
                PathState::Directory if below => {
                    match workspace.snapshots_below(place, true, BELOW_MAX, BELOW_BYTES) {
                        Ok(inside) => {
                            // Records cannot contain a name that is not valid text.
                            if inside.iter().any(|look| look.path.to_str().is_none()) {
                                found.unkept.insert(place.clone());
                            }
                            let fresh = inside
                                .into_iter()
                                .filter(|look| seen.insert(look.path.clone()));
                            found.looks.extend(fresh);
                        }
                        Err(_) => {
                            found.unkept.insert(place.clone());
                        }
                    }
                }
                PathState::Directory
                | PathState::Absent
                | PathState::File { .. }
                | PathState::Link { .. } => {}
            }
            found.looks.push(look);
        }
        found
    }
}

impl Keeper {
    /// Saves the places that the turn has not saved yet. Blobs are on disk when this returns.
    ///
    /// # Errors
    /// The disk refused the content, as text.
    pub fn keep(
        &self,
        places: PathSnapshots,
        kept: &BTreeSet<String>,
    ) -> Result<(Watched, Option<Checkpoint>), String> {
        let before = places.looks.iter();
        let before = before.map(|look| (look.path.clone(), look.there.clone()));
        let watched = Watched::Places {
            before: before.collect(),
            below: places.below,
        };
        let mut fresh = places.looks;
        fresh.retain(|look| {
            let name = look.path.to_str();
            name.is_some_and(|name| !kept.contains(name))
        });
        if fresh.is_empty() {
            return Ok((watched, None));
        }
        let (files, own) = self.seal(fresh)?;
        let own = (!own.content.is_empty()).then(|| own.to_json());
        Ok((watched, Some(Checkpoint::of_files(files, own))))
    }

    /// The changes at these places. `below`: the contents of directories were recorded, so that new files in them come
    /// from the call.
    pub(crate) fn changed_places(
        &self,
        before: &BTreeMap<PathBuf, PathState>,
        below: bool,
    ) -> Vec<Changed> {
        let mut now: BTreeMap<PathBuf, PathState> = BTreeMap::new();
        for (path, was) in before {
            let look = self.workspace.snapshot(path, false);
            // Files that arrived with a directory did not exist before, even if it replaced an empty one.
            let is_outermost = || {
                let above = path.parent().and_then(|above| before.get(above));
                above != Some(&PathState::Directory)
            };
            let looks_below = *was != PathState::Directory || (below && is_outermost());
            if look.there == PathState::Directory && looks_below {
                self.whole(path, &mut now);
            }
            now.insert(look.path, look.there);
        }
        now.into_iter()
            .filter(|(path, there)| before.get(path) != Some(there))
            .filter_map(|(path, there)| {
                let path = path.into_os_string().into_string().ok()?;
                let now = there.into();
                Some(Changed { path, now })
            })
            .collect()
    }

    fn whole(&self, dir: &Path, now: &mut BTreeMap<PathBuf, PathState>) {
        let inside = self
            .workspace
            .snapshots_below(dir, false, CHANGED_MAX, BELOW_BYTES * 8);
        // More files than the limit were not saved either; a user approved that.
        for look in inside.unwrap_or_default() {
            now.entry(look.path).or_insert(look.there);
        }
    }
}
