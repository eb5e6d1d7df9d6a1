//! Reading `/proc`, and signalling only the intended processes.

use rustix::process::{Pid, getpid};

use super::proc::{Process, each_descendant, parse, read};
use super::{kill_below, kill_session};

fn one() -> Pid {
    Pid::from_raw(7).unwrap()
}

#[test]
fn a_name_cannot_forge_the_fields_after_it() {
    let line = b"7 (a) S 1 1 1 (b) \n) R 3 4 5 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 10";
    let expected = Process {
        pid: one(),
        parent: 3,
        group: 4,
        session: 5,
        state: b'R',
        started: 987_654,
    };
    assert_eq!(parse(one(), line), Some(expected));
}

#[test]
fn an_incomplete_line_is_not_a_process() {
    assert_eq!(parse(one(), b""), None);
    assert_eq!(parse(one(), b"7 (sh"), None);
    assert_eq!(parse(one(), b"7 (sh) S 1 2"), None);
    assert_eq!(parse(one(), b"7 (sh) S 1 2 3 4 5 6"), None);
}

/// A shell in its own Unix session, with a `sleep` below it.
struct Family {
    shell: std::process::Child,
}

impl Family {
    fn start() -> Self {
        use std::io::BufRead as _;
        let mut shell = std::process::Command::new("setsid")
            .args(["sh", "-c", "sleep 1000 & echo ready; wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufReader::new(shell.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        Self { shell }
    }

    fn pid(&self) -> Pid {
        super::pid(self.shell.id()).unwrap()
    }

    fn below(&self) -> Vec<Pid> {
        below(self.pid(), None)
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        kill_below(self.pid(), None);
        self.shell.kill().unwrap();
        self.shell.wait().unwrap();
    }
}

fn below(root: Pid, spared: Option<Pid>) -> Vec<Pid> {
    let mut below = Vec::new();
    each_descendant(root, spared, |process| {
        if !process.is_dead() {
            below.push(process.pid);
        }
    })
    .unwrap();
    below
}

#[test]
fn a_process_tree_holds_the_children_and_no_other_process() {
    let family = Family::start();
    let below = below(getpid(), None);
    assert!(below.contains(&family.pid()));
    assert!(family.below().iter().all(|pid| below.contains(pid)));
    assert!(!below.contains(&getpid()) && !below.contains(&Pid::INIT));
}

#[test]
fn a_spared_process_and_its_family_are_not_listed() {
    let (family, other) = (Family::start(), Family::start());
    let below = below(getpid(), Some(family.pid()));
    assert!(!below.contains(&family.pid()) && below.contains(&other.pid()));
    assert_eq!(family.below().len(), 1);
    assert!(!family.below().iter().any(|pid| below.contains(pid)));
}

#[test]
fn a_process_of_another_start_is_another_process() {
    let now = read(getpid()).unwrap();
    assert!(now.is_still_there());
    let earlier = Process {
        started: now.started - 1,
        ..now
    };
    assert!(!earlier.is_still_there());
}

#[test]
fn a_unix_session_with_a_reused_id_is_left_alone() {
    let family = Family::start();
    let leader = read(family.pid()).unwrap();
    let before = Process {
        started: leader.started - 1,
        ..leader
    };
    assert_eq!(kill_session(&before), 0);
    assert_eq!(family.below().len(), 1, "the sleeper lives");
    assert_eq!(kill_session(&leader), 2);
    assert_eq!(family.below(), []);
}
