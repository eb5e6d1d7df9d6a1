//! What a file tool may change: looked at with its content before the call, and without it after.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proto::record::Changed;
use workspace::{PathSnapshot, PathState, Workspace};

use crate::keeper::{CHANGED_MAX, Checkpoint, Keeper, Watched};

/// Files and bytes of a directory that is moved or deleted.
const BELOW_MAX: usize = 2_000;
const BELOW_BYTES: u64 = 32 * 1024 * 1024;

/// What stands at the places of a call.
#[derive(Default)]
pub struct PathSnapshots {
    looks: Vec<PathSnapshot>,
    /// Directories were looked into.
    below: bool,
    /// PathSnapshots where something stands that cannot be kept.
    pub unkept: BTreeSet<PathBuf>,
}

impl PathSnapshots {
    /// Looks at the places that a call may change. `below`: also at what is in those that are directories. Blocks.
    pub fn look_at(workspace: &Workspace, places: &BTreeSet<PathBuf>, below: bool) -> Self {
        let mut found = Self {
            below,
            ..Self::default()
        };
        let mut seen = BTreeSet::new();
        for place in places {
            // Directories that a call makes on its way are there for nobody else.
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
                            // Whose name is no text no record can name.
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
    /// Keeps those that the turn has not kept yet. Blobs are on disk when this returns.
    ///
    /// # Errors
    /// In words: the disk does not take it.
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

    /// What has changed at these places. `below`: directories were looked into, so that what is new in them has come by
    /// the call.
    pub(crate) fn changed_places(
        &self,
        before: &BTreeMap<PathBuf, PathState>,
        below: bool,
    ) -> Vec<Changed> {
        let mut now: BTreeMap<PathBuf, PathState> = BTreeMap::new();
        for (path, was) in before {
            let look = self.workspace.snapshot(path, false);
            // What has come with a directory was not there before, also if it took the place of an empty one.
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
        // What is more than that was not kept either, and a person was asked.
        for look in inside.unwrap_or_default() {
            now.entry(look.path).or_insert(look.there);
        }
    }
}
