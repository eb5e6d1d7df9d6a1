//! What the settings say, for who asks before every request or call: the files are read again if one has changed.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use session::{Guards, SharedBudgets};

use super::{Loaded, project, trust};

/// A file that has changed this shortly before it is checked may change again under the same time stamp: the clock of
/// most file systems goes in steps of the kernel's timer, 10 ms at most.
const SETTLED: Duration = Duration::from_millis(50);
/// Where times have no fractions, as on FAT, the steps are of 2 s.
const SETTLED_COARSE: Duration = Duration::from_secs(3);

/// So many working directories are remembered. Whoever has more sessions at once reads more often.
const REMEMBERED: usize = 256;

/// See the module.
pub struct KnownSettings<T> {
    known: Mutex<HashMap<PathBuf, (FileMarks, T)>>,
}

/// What days and projects may use.
pub type KnownBounds = KnownSettings<SharedBudgets>;

/// The prohibitions.
pub type KnownGuards = KnownSettings<Arc<Guards>>;

impl<T> Default for KnownSettings<T> {
    fn default() -> Self {
        Self {
            known: Mutex::default(),
        }
    }
}

/// The files as they stood, by path: the user's, the project's if there is one, and the list of trust; and the
/// revision of temporary trust.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileMarks([(PathBuf, Option<Mark>); 3], u64);

/// Whatever changes when somebody writes a file, or puts another one in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl KnownBounds {
    /// As the files say now, for sessions in this directory. Blocks.
    pub fn of(
        &self,
        home: &Path,
        cwd: &Path,
        user_home: &Path,
        load: impl FnOnce() -> Loaded,
    ) -> SharedBudgets {
        self.read(home, cwd, user_home, load, |loaded| {
            let budget = loaded.settings.budget;
            SharedBudgets {
                day: budget.day,
                project: budget.project,
            }
        })
    }
}

impl<T: Clone> KnownSettings<T> {
    /// What `pick` takes of the settings of this directory, as the files say now. Blocks.
    pub fn read(
        &self,
        home: &Path,
        cwd: &Path,
        user_home: &Path,
        load: impl FnOnce() -> Loaded,
        pick: impl FnOnce(Loaded) -> T,
    ) -> T {
        let (seen, settled) = FileMarks::now(home, cwd, user_home);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(cwd) {
            Some((before, picked)) if *before == seen => return picked.clone(),
            _ => known.remove(cwd),
        };
        drop(known);
        let loaded = load();
        // What could not be read now may be readable the next time, as it is.
        let lasts = settled && loaded.problems.is_empty();
        let picked = pick(loaded);
        if lasts {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= REMEMBERED {
                known.clear();
            }
            known.insert(cwd.to_path_buf(), (seen, picked.clone()));
        }
        picked
    }
}

impl FileMarks {
    /// Their present state, and whether each has stood so for a while.
    fn now(home: &Path, cwd: &Path, user_home: &Path) -> (Self, bool) {
        let user = home.join("config.toml");
        let project = project::file_of(cwd, user_home).unwrap_or_default();
        let now = SystemTime::now();
        let mut settled = true;
        let trusted = home.join("trust.json");
        let marks = [user, project, trusted].map(|path| {
            let meta = path.metadata();
            settled &= match &meta {
                Ok(meta) => has_settled(meta, now),
                Err(error) => error.kind() == ErrorKind::NotFound,
            };
            let mark = meta.as_ref().ok().map(Mark::of);
            (path, mark)
        });
        (Self(marks, trust::temporary_revision()), settled)
    }
}

/// A time that has yet to come has not settled: who set it may set it again.
fn has_settled(meta: &Metadata, now: SystemTime) -> bool {
    let coarse = meta.mtime_nsec() == 0 || meta.ctime_nsec() == 0;
    let needed = if coarse { SETTLED_COARSE } else { SETTLED };
    let times = [
        (meta.mtime(), meta.mtime_nsec()),
        (meta.ctime(), meta.ctime_nsec()),
    ];
    times.into_iter().all(|(seconds, rest)| {
        let (seconds, rest) = (u64::try_from(seconds), u64::try_from(rest));
        let since =
            Duration::from_secs(seconds.unwrap_or(0)) + Duration::from_nanos(rest.unwrap_or(0));
        let age = now.duration_since(SystemTime::UNIX_EPOCH + since);
        age.is_ok_and(|age| age > needed)
    })
}

impl Mark {
    fn of(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            bytes: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Day and project in steps.
    fn steps(known: &KnownBounds, home: &Path, cwd: &Path) -> (Option<u64>, Option<u64>) {
        let nowhere = Path::new("/nowhere");
        let tools = crate::settings::tests::known_tools();
        let load = || crate::settings::load(home, Some(cwd), nowhere, &tools);
        let bounds = known.of(home, cwd, nowhere, load);
        (bounds.day.steps, bounds.project.steps)
    }

    /// Waits until a file has stood as it is for long enough to be remembered.
    fn settle(file: &Path) {
        while !has_settled(&file.metadata().expect("a file"), SystemTime::now()) {
            std::thread::sleep(SETTLED / 10);
        }
    }

    fn is_remembered(known: &KnownBounds, cwd: &Path) -> bool {
        known.known.lock().unwrap().contains_key(cwd)
    }

    #[test]
    fn what_is_remembered_is_what_the_files_say() {
        let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (home, cwd) = (home.path(), project.path().join("deep"));
        fs::create_dir(&cwd).expect("a directory");
        let known = KnownBounds::default();
        let is = |day, project| {
            // Once as it is read, once as it is remembered.
            assert_eq!(steps(&known, home, &cwd), (day, project));
            assert!(is_remembered(&known, &cwd));
            assert_eq!(steps(&known, home, &cwd), (day, project));
        };
        is(None, None);
        let user = home.join("config.toml");
        let day = |day| format!("[budget.day]\nsteps = {day}\n");
        fs::write(&user, day(10)).expect("a file");
        settle(&user);
        is(Some(10), None);
        // Of the same length; then another file in its place.
        fs::write(&user, day(11)).expect("a file");
        settle(&user);
        is(Some(11), None);
        fs::write(home.join("next"), day(12)).expect("a file");
        settle(&home.join("next"));
        fs::rename(home.join("next"), &user).expect("a file");
        settle(&user);
        is(Some(12), None);
        // A project's, then one that is nearer, then none.
        let far = project.path().join("reasonix.toml");
        let near = cwd.join("reasonix.toml");
        for (file, steps) in [(&far, 3), (&near, 4)] {
            fs::write(file, format!("[budget.project]\nsteps = {steps}\n")).expect("a file");
            settle(file);
            is(Some(12), Some(steps));
        }
        fs::remove_file(&near).expect("a file");
        is(Some(12), Some(3));
        fs::remove_file(&far).expect("a file");
        is(Some(12), None);
    }

    #[test]
    fn changes_within_a_step_of_the_clock_are_seen() {
        let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (home, cwd) = (home.path(), project.path());
        let known = KnownBounds::default();
        for day in 10..30 {
            let text = format!("[budget.day]\nsteps = {day}\n");
            fs::write(home.join("config.toml"), text).expect("a file");
            assert_eq!(steps(&known, home, cwd), (Some(day), None));
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_remembered() {
        let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (home, cwd) = (home.path(), project.path());
        let known = KnownBounds::default();
        let user = home.join("config.toml");
        fs::write(&user, "[budget.day\n").expect("a file");
        settle(&user);
        assert_eq!(steps(&known, home, cwd), (None, None));
        assert!(!is_remembered(&known, cwd));
    }

    #[test]
    fn a_file_that_has_just_changed_is_not_remembered() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("config.toml");
        fs::write(&file, "").expect("a file");
        let meta = file.metadata().expect("it is there");
        let now = SystemTime::now();
        assert!(!has_settled(&meta, now));
        assert!(has_settled(&meta, now + Duration::from_secs(60)));
        assert!(!has_settled(&meta, now - Duration::from_secs(60)));
    }

    #[test]
    fn more_directories_than_are_remembered_are_answered_too() {
        let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let known = KnownBounds::default();
        for number in 0..REMEMBERED + 2 {
            let cwd = project.path().join(number.to_string());
            assert_eq!(steps(&known, home.path(), &cwd), (None, None));
            let remembered = known.known.lock().unwrap().len();
            assert!(remembered <= REMEMBERED);
        }
    }
}
