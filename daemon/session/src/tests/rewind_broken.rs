//! A daemon that is killed while it puts files back: whatever it had come to, nothing is lost, and the next life finishes
//! it or takes it back.

use std::path::{Path, PathBuf};

use proto::Body;
use proto::params::history::{RewindOutput, RewindParams, What};
use proto::record::{FileState, RewoundResult};
use serde_json::json;

use super::house::until;
use super::workshop::{Workshop, has_git, results, run};

/// Names of files that are being written.
const OURS: &str = ".reasonix-0123456789abcdef.tmp";
const OTHERS: &str = ".reasonix-fedcba9876543210.tmp";

/// A copy of the project's present files.
struct Snapshot(PathBuf);

impl Snapshot {
    fn take(shop: &Workshop, name: &str) -> Self {
        let at = shop.project.parent().unwrap().join(name);
        let line = format!("rm -rf '{0}'; cp -a . '{0}'", at.display());
        run(&shop.project, &line);
        Self(at)
    }

    /// The project is as it was then.
    fn restore(&self, project: &Path) {
        let line = format!(
            "find . -mindepth 1 -maxdepth 1 -exec rm -rf {{}} +; cp -a '{}/.' .",
            self.0.display()
        );
        run(project, &line);
    }

    /// Puts back what was at this path then, without the content of a directory.
    fn put(&self, project: &Path, place: &Path) {
        let (from, to) = (self.0.join(place), project.join(place));
        match to.symlink_metadata() {
            Ok(meta) if meta.is_dir() => {
                // Not where something is in it: then it stays a directory.
                let _ = std::fs::remove_dir(&to);
            }
            Ok(_) => std::fs::remove_file(&to).unwrap(),
            Err(_) => {}
        }
        match from.symlink_metadata() {
            Ok(meta) if meta.is_dir() => std::fs::create_dir_all(&to).unwrap(),
            Ok(_) => run(
                project,
                &format!(
                    "mkdir -p '{1}'; cp -a '{0}' '{2}'",
                    from.display(),
                    to.parent().unwrap().display(),
                    to.display()
                ),
            ),
            Err(_) => {}
        }
    }
}

/// The places of a rewind in the order in which they change.
fn order(shop: &Workshop, files: &[proto::record::RewoundFile]) -> Vec<PathBuf> {
    let restored = files
        .iter()
        .filter(|file| file.result == RewoundResult::Restored);
    let (gone, come): (Vec<_>, Vec<_>) = restored.partition(|file| file.after == FileState::Absent);
    let all = gone.into_iter().rev().chain(come);
    all.map(|file| {
        Path::new(&file.path)
            .strip_prefix(&shop.project)
            .unwrap()
            .to_owned()
    })
    .collect()
}

/// The log as it was before the newest rewind came to its end.
fn cut(dir: &Path) -> String {
    let log = std::fs::read_to_string(dir.join("log.jsonl")).unwrap();
    let lines: Vec<_> = log.split_inclusive('\n').collect();
    let end = lines
        .iter()
        .rposition(|line| line.contains("\"session.rewound\""))
        .unwrap();
    lines[..end].concat()
}

fn all_came(reported: &RewindOutput) -> bool {
    reported.notes.is_empty()
        && reported
            .files
            .iter()
            .all(|file| matches!(file.result, RewoundResult::Restored | RewoundResult::Same))
}

async fn shop() -> Workshop {
    let shop = Workshop::open(true, |project| {
        for (path, content) in [
            ("a", "one\n"),
            ("b", "two\n"),
            ("d/a", "in d\n"),
            ("d/e/a", "deep\n"),
            ("f", "a file\n"),
            ("g/in", "a directory\n"),
            ("large", &"0123456789abcdef".repeat(20_000)),
        ] {
            let path = project.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        std::os::unix::fs::symlink("a", project.join("link")).unwrap();
    })
    .await;
    shop.turn(&[("put", json!({"path": "mine", "content": "by a tool\n"}))])
        .await;
    shop.turn(&[
        ("sh", json!({"command": "echo more >> a; for i in 1 2 3; do echo $i > new$i; done; rm -r d; \
            mkdir -p made/by; echo m > made/by/it; ln -sf b link; rm f; mkdir f; echo in > f/in; rm -r g; echo g > g; \
            echo x >> large; chmod 755 b"})),
        ("put", json!({"path": "mine", "content": "again\n"})),
        // In no repository, and written by nobody else.
        ("put", json!({"path": "new1", "content": "only here\n"})),
    ])
    .await;
    shop
}

/// What the next life is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum AfterRestart {
    Undo,
    /// The undoing is killed too, so many places before its end, and asked for again.
    BrokenUndo(usize),
    Again,
    /// The repeat is killed too, and then all is taken back.
    BrokenAgain(usize),
    /// Another turn than the one that it was to go to.
    Other,
}

struct Case {
    shop: Workshop,
    /// Before the rewind, after it, and at the end of the first turn.
    there: Snapshot,
    back: Snapshot,
    first: Snapshot,
    log: String,
    order: Vec<PathBuf>,
}

impl Case {
    async fn new() -> Self {
        let mut shop = shop().await;
        let there = Snapshot::take(&shop, "there");
        shop.rewind(1, What::Code).await;
        let first = Snapshot::take(&shop, "first");
        shop.undo().await;
        let reported = shop.rewind(0, What::Both).await;
        assert!(all_came(&reported), "{:?}", results(&shop, &reported));
        let back = Snapshot::take(&shop, "back");
        let order = order(&shop, &reported.files);
        let mut log = String::new();
        shop.restart_over(|dir| log = cut(dir)).await;
        Self {
            shop,
            there,
            back,
            first,
            log,
            order,
        }
    }

    /// The daemon was killed when these places had been changed by what led from one picture to the other.
    async fn killed(&mut self, log: String, from: &str, to: &str, changed: &[PathBuf]) {
        let project = self.shop.project.clone();
        let of = |name: &str| Snapshot(project.parent().unwrap().join(name));
        let (from, to) = (of(from), of(to));
        self.shop
            .restart_over(|dir| {
                std::fs::write(dir.join("log.jsonl"), log).unwrap();
                from.restore(&project);
                for place in changed {
                    to.put(&project, place);
                }
            })
            .await;
    }

    /// The rewind that was just done was killed before its end: so many of its places were left.
    async fn killed_in(&mut self, reported: &RewindOutput, from: &str, left: usize) {
        let order = order(&self.shop, &reported.files);
        let _ = Snapshot::take(&self.shop, "reached");
        let mut log = String::new();
        self.shop.restart_over(|dir| log = cut(dir)).await;
        let done = order.len().saturating_sub(left);
        self.killed(log, from, "reached", &order[..done]).await;
    }

    fn assert_matches(&self, as_in: &Snapshot, why: &str) {
        let now = self.shop.tree();
        let mut wanted = std::collections::BTreeMap::new();
        super::workshop::look(&as_in.0, &as_in.0, &mut wanted);
        assert_eq!(now, wanted, "{why}");
    }

    async fn try_(&mut self, done: usize, then: AfterRestart) {
        let why = format!("{done} of {} places, then {then:?}", self.order.len());
        let changed = self.order[..done].to_vec();
        self.killed(self.log.clone(), "there", "back", &changed)
            .await;
        let _ = Snapshot::take(&self.shop, "half");
        assert!(self.shop.handle.checkpoints().await.unwrap().undo, "{why}");
        match then {
            AfterRestart::Undo => {}
            AfterRestart::BrokenUndo(left) => {
                let reported = self.shop.undo().await;
                self.killed_in(&reported, "half", left).await;
            }
            AfterRestart::Again | AfterRestart::BrokenAgain(_) => {
                let reported = self.shop.rewind(0, What::Both).await;
                assert!(
                    all_came(&reported),
                    "{why} {:?}",
                    results(&self.shop, &reported)
                );
                assert_eq!(reported.turn, 0, "{why}");
                self.assert_matches(&self.back, &why);
                if let AfterRestart::BrokenAgain(left) = then {
                    self.killed_in(&reported, "half", left).await;
                }
            }
            AfterRestart::Other => {
                let reported = self.shop.rewind(1, What::Both).await;
                assert!(
                    all_came(&reported),
                    "{why} {:?}",
                    results(&self.shop, &reported)
                );
                self.assert_matches(&self.first, &why);
            }
        }
        let reported = self.shop.undo().await;
        assert!(
            all_came(&reported),
            "{why} {:?}",
            results(&self.shop, &reported)
        );
        assert_eq!(reported.turn, 2, "{why}");
        self.assert_matches(&self.there, &why);
        let more = RewindParams {
            undo: true,
            ..RewindParams::default()
        };
        let more = self.shop.handle.rewind(more, "ann".into()).await;
        assert!(more.is_err(), "{why}: nothing is left to be taken back");
    }
}

/// Every place at which it may have been killed.
#[tokio::test(flavor = "multi_thread")]
async fn a_rewind_that_was_killed_at_any_place_is_taken_back_or_finished() {
    if !has_git() {
        return;
    }
    let mut case = Case::new().await;
    for done in 0..=case.order.len() {
        for then in [AfterRestart::Undo, AfterRestart::Again, AfterRestart::Other] {
            case.try_(done, then).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rewind_killed_repeatedly_loses_nothing() {
    if !has_git() {
        return;
    }
    let mut case = Case::new().await;
    let all = case.order.len();
    for done in [1, all / 2, all] {
        for left in [1, all / 2] {
            case.try_(done, AfterRestart::BrokenUndo(left)).await;
            case.try_(done, AfterRestart::BrokenAgain(left)).await;
        }
    }
}

/// The undoing of a whole rewind: asking again completes it.
#[tokio::test(flavor = "multi_thread")]
async fn killed_undo_is_completed_by_the_next_undo() {
    if !has_git() {
        return;
    }
    let mut case = Case::new().await;
    case.killed(case.log.clone(), "there", "there", &[]).await;
    for left in [0, 3, 7, 100] {
        case.shop.rewind(0, What::Both).await;
        let reported = case.shop.undo().await;
        case.killed_in(&reported, "back", left).await;
        let reported = case.shop.undo().await;
        assert!(all_came(&reported), "{:?}", results(&case.shop, &reported));
        assert_eq!((reported.turn, reported.turns), (2, 2));
        case.assert_matches(&case.there, "undone");
    }
}

/// Later changes by others are reported, and kept unless forced; a turn that came since does not justify losing
/// the rest. What the daemon had not finished writing is cleared away.
#[tokio::test(flavor = "multi_thread")]
async fn undo_of_a_killed_rewind_keeps_and_reports_later_changes() {
    if !has_git() {
        return;
    }
    let mut case = Case::new().await;
    let all = case.order.clone();
    case.killed(case.log.clone(), "there", "back", &all).await;
    // It is in the log soon: who loads a session does not wait for the disk.
    until("that it is reported", || {
        case.shop.records().into_iter().any(|record| {
            matches!(&record.body, Body::Notice(notice) if notice.text.contains("was interrupted while restoring"))
        })
    })
    .await;
    case.shop
        .turn(&[("sh", json!({"command": "echo turn > new2"}))])
        .await;
    case.shop.write("new3", "by a person\n");
    // One that was being written when the rewind was at work, and one that is somebody else's.
    let begun = case.shop.records().into_iter().rev().find(|record| {
        matches!(&record.body, Body::CheckpointCreated(checkpoint) if checkpoint.call.is_none())
    });
    let begun = u64::try_from(begun.unwrap().at.0).unwrap();
    let begun = std::time::UNIX_EPOCH + std::time::Duration::from_millis(begun);
    for (name, at) in [
        (OURS, begun),
        (OTHERS, begun - std::time::Duration::from_secs(60)),
    ] {
        case.shop.write(name, "of a f");
        let file = std::fs::File::options()
            .write(true)
            .open(case.shop.project.join(name));
        file.unwrap().set_modified(at).unwrap();
    }
    let reported = case.shop.undo().await;
    let left = results(&case.shop, &reported).into_iter();
    let left: Vec<_> = left
        .filter(|(_, result)| *result == RewoundResult::ChangedSince)
        .map(|(path, _)| path)
        .collect();
    assert_eq!(left, ["new2", "new3"]);
    let tree = case.shop.tree();
    assert!(!tree.contains_key(OURS) && tree.contains_key(OTHERS));
    assert_eq!(tree["new1"], "644 only here\n");
    assert_eq!(
        (tree["new2"].as_str(), tree["new3"].as_str()),
        ("644 turn\n", "644 by a person\n")
    );
    case.killed(case.log.clone(), "there", "back", &all).await;
    case.shop.write("new3", "by a person\n");
    let forced = RewindParams {
        undo: true,
        force: true,
        ..RewindParams::default()
    };
    case.shop.handle.rewind(forced, "ann".into()).await.unwrap();
    case.assert_matches(&case.there, "forced");
}
