//! Scenes for a lost daemon's fate.

use std::fs::{self, File};
use std::time::{Duration, UNIX_EPOCH};

use super::*;
use crate::paths::of_home;

const STARTED: i64 = 1_700_000_000_500;

#[test]
fn a_stop_counts_from_the_daemons_start_on() {
    let directory = tempfile::tempdir().unwrap();
    let paths = of_home(directory.path());
    let known = DaemonFacts::new(&paths, Stamp(STARTED));
    assert_eq!(
        known.fate(&paths),
        LossCause::Crashed,
        "nobody wrote of a stop"
    );
    fs::create_dir(directory.path().join("run")).unwrap();
    let stop = File::create(directory.path().join("run/stop")).unwrap();
    for (at, fate) in [
        (STARTED - 1, LossCause::Crashed),
        (STARTED, LossCause::Stopped),
        (STARTED + 1, LossCause::Stopped),
    ] {
        let at = UNIX_EPOCH + Duration::from_millis(u64::try_from(at).unwrap());
        stop.set_modified(at).unwrap();
        assert_eq!(known.fate(&paths), fate);
    }
}

#[test]
fn a_home_that_is_gone_or_another_one_is_not_the_daemons() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let paths = of_home(&home);
    assert_eq!(
        DaemonFacts::new(&paths, Stamp(STARTED)).fate(&paths),
        LossCause::Unclear,
        "it was not seen when it was there"
    );
    fs::create_dir(&home).unwrap();
    let known = DaemonFacts::new(&paths, Stamp(STARTED));
    fs::rename(&home, directory.path().join("moved")).unwrap();
    assert_eq!(known.fate(&paths), LossCause::Homeless);
    fs::create_dir(&home).unwrap();
    assert_eq!(
        known.fate(&paths),
        LossCause::Homeless,
        "made again by somebody"
    );
}
