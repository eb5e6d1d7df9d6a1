//! Scenes of reading `/proc`.

use rustix::process::{Pid, getpid};

use super::linux::{Process, each_descendant, parse};

fn one() -> Pid {
    Pid::from_raw(7).unwrap()
}

#[test]
fn a_name_cannot_forge_the_fields_after_it() {
    let line = b"7 (a) S 1 1 1 (b) \n) R 3 4 5 0 -1 4194304 1 2";
    let expected = Process {
        pid: one(),
        parent: 3,
        group: 4,
        session: 5,
        state: b'R',
    };
    assert_eq!(parse(one(), line), Some(expected));
}

#[test]
fn half_a_line_is_no_process() {
    assert_eq!(parse(one(), b""), None);
    assert_eq!(parse(one(), b"7 (sh"), None);
    assert_eq!(parse(one(), b"7 (sh) S 1 2"), None);
}

#[test]
fn a_child_is_seen_below_its_parent_and_nobody_else_is() {
    let mut child = std::process::Command::new("sleep")
        .arg("1000")
        .spawn()
        .unwrap();
    let mut below = Vec::new();
    each_descendant(getpid(), |process| {
        below.push(process.pid.as_raw_nonzero().get())
    })
    .unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(below.contains(&i32::try_from(child.id()).unwrap()));
    assert!(!below.contains(&getpid().as_raw_nonzero().get()));
    assert!(!below.contains(&1));
}
