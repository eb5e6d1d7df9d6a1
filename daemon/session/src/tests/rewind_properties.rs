//! Whatever tools, commands and others do to the files: a rewind restores the earlier state, and its undo the later one.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proto::params::history::What;
use proto::record::RewoundResult;
use serde_json::{Value, json};

use super::workshop::{Tree, Workshop, has_git, results};

const PLACES: &[&str] = &["a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "l", "x/y"];

#[derive(Clone, Debug)]
enum Act {
    Put(usize, u8),
    Drop(usize),
    Move(usize, usize),
    Sh(Vec<Command>),
}

#[derive(Clone, Debug)]
enum Command {
    Write(usize, u8),
    Append(usize),
    Remove(usize),
    Move(usize, usize),
    Directory(usize),
    Link(usize, usize),
    Mode(usize, bool),
}

#[derive(Clone, Debug)]
enum Step {
    Turn(Vec<Act>),
    Rewind { to: usize, code: bool },
    Undo,
}

impl Command {
    fn line(&self) -> String {
        let at = |place: &usize| PLACES[*place];
        match self {
            // Often of the same length, and in place: only the content shows the change.
            Self::Write(place, byte) => format!("echo {byte} > {}", at(place)),
            Self::Append(place) => format!("echo more >> {}", at(place)),
            Self::Remove(place) => format!("rm -rf {}", at(place)),
            Self::Move(from, to) => format!("mv -T {} {}", at(from), at(to)),
            Self::Directory(place) => format!("mkdir -p {}", at(place)),
            Self::Link(place, to) => format!("ln -sfn {} {}", at(to), at(place)),
            Self::Mode(place, true) => format!("chmod 755 {}", at(place)),
            // 600; a directory stays one that its owner may enter.
            Self::Mode(place, false) => format!("chmod a-x,u=rwX,go= {}", at(place)),
        }
    }
}

fn lines(commands: &[Command]) -> String {
    let lines = commands.iter().map(|command| {
        let line = command.line();
        format!("({line}) 2>/dev/null; ")
    });
    lines.chain(["true".to_owned()]).collect()
}

impl Act {
    fn call(&self) -> (&'static str, Value) {
        let at = |place: &usize| PLACES[*place];
        match self {
            Self::Put(place, byte) => {
                let content = format!("{byte}\n");
                ("put", json!({"path": at(place), "content": content}))
            }
            Self::Drop(place) => ("drop", json!({"path": at(place)})),
            Self::Move(from, to) => ("move", json!({"source": at(from), "destination": at(to)})),
            Self::Sh(commands) => ("sh", json!({"command": lines(commands)})),
        }
    }
}

fn place() -> impl Strategy<Value = usize> {
    0..PLACES.len()
}

fn command() -> impl Strategy<Value = Command> {
    prop_oneof![
        4 => (place(), 0_u8..4).prop_map(|(at, byte)| Command::Write(at, byte)),
        1 => place().prop_map(Command::Append),
        2 => place().prop_map(Command::Remove),
        2 => (place(), place()).prop_map(|(from, to)| Command::Move(from, to)),
        2 => place().prop_map(Command::Directory),
        1 => (place(), place()).prop_map(|(at, to)| Command::Link(at, to)),
        1 => (place(), any::<bool>()).prop_map(|(at, runs)| Command::Mode(at, runs)),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => (place(), 0_u8..4).prop_map(|(at, byte)| Act::Put(at, byte)),
        1 => place().prop_map(Act::Drop),
        1 => (place(), place()).prop_map(|(from, to)| Act::Move(from, to)),
        3 => prop::collection::vec(command(), 1..5).prop_map(Act::Sh),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop::collection::vec(act(), 0..4).prop_map(Step::Turn),
        2 => (0_usize..4, any::<bool>()).prop_map(|(to, code)| Step::Rewind { to, code }),
        2 => Just(Step::Undo),
    ]
}

fn block<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(work)
}

async fn shop() -> Workshop {
    Workshop::open(true, |project| {
        for (path, content) in [("a", "0\n"), ("d/a", "1\n"), ("d/e/a", "2\n")] {
            let path = project.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
    })
    .await
}

async fn alone(steps: Vec<Step>) {
    let shop = shop().await;
    // Turns that are shown, with what stood there before each; rewinds that can be undone, with the state that was shown.
    let mut shown: Vec<(u64, Tree)> = Vec::new();
    let mut back: Vec<(Vec<(u64, Tree)>, Tree)> = Vec::new();
    let mut number = 0;
    for step in steps {
        match step {
            Step::Turn(acts) => {
                number += 1;
                shown.push((number, shop.tree()));
                back.clear();
                let calls: Vec<_> = acts.iter().map(Act::call).collect();
                shop.turn(&calls).await;
            }
            Step::Rewind { to, code } => {
                // So many turns back.
                let keep = shown.len().saturating_sub(to);
                let to_turn = keep.checked_sub(1).map_or(0, |last| shown[last].0);
                let wanted = shown
                    .get(keep)
                    .map_or_else(|| shop.tree(), |(_, tree)| tree.clone());
                let before = (shown.clone(), shop.tree());
                let what = if code { What::Code } else { What::Both };
                let reported = shop.rewind(to_turn, what).await;
                assert_eq!(shop.tree(), wanted, "{:?}", results(&shop, &reported));
                if code {
                    // What a turn finds is not what the one before it left then: only the way back is looked at.
                    let reported = shop.undo().await;
                    assert_eq!(shop.tree(), before.1, "{:?}", results(&shop, &reported));
                } else {
                    back.push(before);
                    shown.truncate(keep);
                }
            }
            Step::Undo => {
                if let Some((turns, tree)) = back.pop() {
                    let reported = shop.undo().await;
                    assert_eq!(shop.tree(), tree, "{:?}", results(&shop, &reported));
                    shown = turns;
                }
            }
        }
    }
}

/// Turns with somebody else at work between them.
async fn among_others(rounds: Vec<(Vec<Act>, Vec<Command>)>) {
    let shop = shop().await;
    // What the calls left at the places that they wrote.
    let mut left: BTreeMap<String, Option<String>> = BTreeMap::new();
    for (acts, commands) in rounds {
        let calls: Vec<_> = acts.iter().map(Act::call).collect();
        shop.turn(&calls).await;
        shop.seen()
            .into_iter()
            .for_each(|written| left.extend(written));
        super::workshop::run(&shop.project, &lines(&commands));
    }
    let before = shop.tree();
    let reported = shop.rewind(0, What::Both).await;
    let after = shop.tree();
    let results = results(&shop, &reported);
    for (path, result) in &results {
        // A directory that is gone is made again for files that are put back below it: nobody loses anything.
        let carries = !before.contains_key(path)
            && results.iter().any(|(below, result)| {
                matches!(result, RewoundResult::Restored) && below.starts_with(&format!("{path}/"))
            });
        match result {
            RewoundResult::Restored => {
                let known = left.get(path);
                let ours = known.is_none_or(|left| left.as_ref() == before.get(path));
                assert!(
                    ours || carries,
                    "{path} was changed by somebody else: {results:?}"
                );
            }
            RewoundResult::Same | RewoundResult::ChangedSince => {
                assert_eq!(before.get(path), after.get(path), "{path} {results:?}");
            }
            RewoundResult::Failed { why } => panic!("{path}: {why}"),
        }
    }
    let touched = |path: &String| results.iter().any(|(name, _)| name == path);
    for path in before
        .keys()
        .chain(after.keys())
        .filter(|path| !touched(path))
    {
        assert_eq!(before.get(path), after.get(path), "{path} {results:?}");
    }
    shop.undo().await;
    assert_eq!(shop.tree(), before, "{results:?}");
}

/// Each starts a dozen programs: few by default, more by proptest's own variable.
fn cases() -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(16)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 100, ..ProptestConfig::default() })]

    #[test]
    fn rewind_restores_the_earlier_tree_and_undo_the_later_one(
        steps in prop::collection::vec(step(), 2..9),
    ) {
        if has_git() {
            block(alone(steps));
        }
    }

    #[test]
    fn rewinds_never_lose_changes_by_others(
        rounds in prop::collection::vec(
            (prop::collection::vec(act(), 0..4), prop::collection::vec(command(), 0..3)),
            1..4,
        ),
    ) {
        if has_git() {
            block(among_others(rounds));
        }
    }
}

#[test]
fn rewind_restores_removed_files_even_if_others_removed_their_directory() {
    if has_git() {
        // A directory became a file, and then went with all that was around it.
        let turn = vec![Act::Sh(vec![Command::Remove(5), Command::Write(5, 0)])];
        block(among_others(vec![(turn, vec![Command::Remove(2)])]));
    }
}

#[test]
fn a_directory_that_is_made_where_a_later_turn_wrote_a_file_becomes_that_file_again() {
    if has_git() {
        let remove = vec![Act::Sh(vec![Command::Remove(5)])];
        let write = vec![Act::Sh(vec![Command::Write(2, 0)])];
        let rounds = vec![(remove, vec![Command::Remove(2)]), (write, vec![])];
        block(among_others(rounds));
    }
}

#[test]
fn rewind_handles_files_that_one_call_creates_and_another_removes() {
    if has_git() {
        let write = vec![Act::Sh(vec![Command::Write(3, 2)])];
        let put = vec![Act::Put(3, 0), Act::Drop(2)];
        let moved = vec![(write, vec![Command::Move(3, 0)]), (put, vec![])];
        block(among_others(moved));
        let remove = vec![Act::Sh(vec![Command::Remove(5)])];
        let there = Act::Sh(vec![Command::Move(5, 4)]);
        let back = Act::Sh(vec![Command::Move(4, 5)]);
        let made = vec![
            (remove, vec![Command::Directory(6)]),
            (vec![there, back], vec![]),
        ];
        block(among_others(made));
    }
}

#[test]
fn undo_removes_a_directory_created_for_a_file_the_rewind_restored() {
    if has_git() {
        let link = vec![Act::Sh(vec![Command::Link(3, 0)])];
        let later = [
            Command::Directory(2),
            Command::Write(3, 0),
            Command::Remove(2),
        ];
        let later = later.map(|command| Act::Sh(vec![command])).to_vec();
        block(among_others(vec![
            (link, vec![Command::Remove(2)]),
            (later, vec![]),
        ]));
    }
}

#[test]
fn a_directory_that_was_moved_over_an_empty_one_of_the_same_turn_goes_back() {
    if has_git() {
        let turn = vec![Act::Sh(vec![Command::Directory(7)]), Act::Move(2, 7)];
        block(alone(vec![
            Step::Turn(turn),
            Step::Rewind { to: 1, code: false },
        ]));
    }
}
