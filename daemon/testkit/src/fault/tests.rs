//! What befalls `cp`, `mv` and `sync`, and what does not.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use super::{Fault, FaultAction};

fn spawn(fault: &Fault, program: &[&str]) -> Child {
    let words = fault.words();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(program);
    command.stderr(std::process::Stdio::null());
    command.spawn().expect("a program")
}

fn run(fault: &Fault, program: &[&str]) -> ExitStatus {
    spawn(fault, program).wait().expect("its end")
}

fn sync(fault: &Fault, path: &Path) -> ExitStatus {
    run(fault, &["sync", &path.display().to_string()])
}

#[test]
fn a_call_on_the_file_that_is_meant_fails_and_is_counted() {
    let place = tempfile::tempdir().expect("a place");
    let (meant, other) = (place.path().join("meant"), place.path().join("other"));
    fs::write(&meant, "").expect("a file");
    fs::write(&other, "").expect("a file");
    let fault = Fault::new(place.path(), "fsync", FaultAction::Fail, 1, 1).on(&meant);
    assert!(sync(&fault, &other).success());
    assert_eq!(fault.hits(), 0);
    assert!(!sync(&fault, &meant).success());
    assert_eq!(fault.hits(), 1);
}

#[test]
fn only_the_calls_between_two_numbers_are_hit_also_after_a_program_begins_anew() {
    let place = tempfile::tempdir().expect("a place");
    let out = place.path().join("out");
    let fault = Fault::new(place.path(), "write", FaultAction::Kill, 2, 2);
    let shell = format!("echo one > {0}; echo two > {0}", out.display());
    assert!(
        !run(
            &fault,
            &["sh", "-c", "exec \"$@\"", "-", "sh", "-c", &shell]
        )
        .success()
    );
    assert_eq!(fault.hits(), 1);
    let text = fs::read_to_string(out).expect("a file");
    assert_eq!(text, "", "killed before its second write");
}

#[test]
fn a_call_is_held_until_the_fault_is_lifted() {
    let place = tempfile::tempdir().expect("a place");
    let file = place.path().join("file");
    fs::write(&file, "").expect("a file");
    let fault = Fault::new(place.path(), "fsync", FaultAction::Hold, 1, u64::MAX >> 1);
    let mut held = spawn(&fault, &["sync", &file.display().to_string()]);
    let bound = Instant::now() + Duration::from_secs(60);
    while fault.hits() == 0 {
        assert!(Instant::now() < bound, "it never came to its call");
        std::thread::yield_now();
    }
    assert!(held.try_wait().expect("a look").is_none());
    fault.lift();
    assert!(held.wait().expect("its end").success());
}
