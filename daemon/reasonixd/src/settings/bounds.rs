//! What a day and a project may use, for who asks before every request: the files are read again where one has changed.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use session::Bounds;

use super::{layers, project};

/// A file that has changed this shortly before it is looked at may change again without its stamp telling: the clock of
/// most file systems goes in steps of the kernel's timer, 10 ms at most.
const SETTLED: Duration = Duration::from_millis(50);
/// Where times have no fractions, as on FAT, the steps are of 2 s.
const SETTLED_COARSE: Duration = Duration::from_secs(3);

/// So many working directories are remembered. Whoever has more sessions at once reads more often.
const REMEMBERED: usize = 256;

/// See the module.
#[derive(Default)]
pub struct KnownBounds {
    known: Mutex<HashMap<PathBuf, (Seen, Bounds)>>,
}

/// The two files as they stood, by path: the user's, and the project's where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen([(PathBuf, Option<Mark>); 2]);

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
    pub fn of(&self, home: &Path, cwd: &Path, user_home: &Path) -> Bounds {
        let (seen, settled) = Seen::now(home, cwd, user_home);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(cwd) {
            Some((before, bounds)) if *before == seen => return *bounds,
            _ => known.remove(cwd),
        };
        drop(known);
        let budget = layers::load(home, Some(cwd), user_home).settings.budget;
        let bounds = Bounds {
            day: budget.day,
            project: budget.project,
        };
        if settled {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= REMEMBERED {
                known.clear();
            }
            known.insert(cwd.to_path_buf(), (seen, bounds));
        }
        bounds
    }
}

impl Seen {
    /// How they stand, and whether each has stood so for a while.
    fn now(home: &Path, cwd: &Path, user_home: &Path) -> (Self, bool) {
        let user = home.join("config.toml");
        let project = project::file_of(cwd, user_home).unwrap_or_default();
        let now = SystemTime::now();
        let mut settled = true;
        let marks = [user, project].map(|path| {
            let meta = path.metadata().ok();
            settled &= meta.as_ref().is_none_or(|meta| has_settled(meta, now));
            (path, meta.as_ref().map(Mark::of))
        });
        (Self(marks), settled)
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
        let bounds = known.of(home, cwd, Path::new("/nowhere"));
        (bounds.day.steps, bounds.project.steps)
    }

    fn age(file: &Path) {
        let before = SystemTime::now() - Duration::from_secs(60);
        let file = fs::File::options().write(true).open(file).expect("a file");
        file.set_modified(before).expect("a time");
    }

    #[test]
    fn what_is_remembered_is_what_the_files_say() {
        let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (home, cwd) = (home.path(), project.path());
        let known = KnownBounds::default();
        assert_eq!(steps(&known, home, cwd), (None, None));
        assert_eq!(steps(&known, home, cwd), (None, None));
        let user = home.join("config.toml");
        for day in 10..20 {
            // The same length, and within one step of the clock.
            fs::write(&user, format!("[budget.day]\nsteps = {day}\n")).expect("a file");
            assert_eq!(steps(&known, home, cwd), (Some(day), None));
            assert_eq!(steps(&known, home, cwd), (Some(day), None));
        }
        let theirs = cwd.join("reasonix.toml");
        fs::write(&theirs, "[budget.project]\nsteps = 3\n").expect("a file");
        assert_eq!(steps(&known, home, cwd), (Some(19), Some(3)));
        age(&theirs);
        assert_eq!(steps(&known, home, cwd), (Some(19), Some(3)));
        fs::remove_file(&theirs).expect("a file");
        assert_eq!(steps(&known, home, cwd), (Some(19), None));
        fs::remove_file(&user).expect("a file");
        assert_eq!(steps(&known, home, cwd), (None, None));
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
