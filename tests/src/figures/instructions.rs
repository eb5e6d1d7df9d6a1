//! How many instructions of the daemon's own code a round takes: they do not depend on the hour, as times do. Counted by
//! valgrind, which needs minutes for it.

use std::path::Path;
use std::process::{Command, Stdio};

use super::Size;
use super::endpoint::{Endpoint, Round};
use super::table::{Figure, plain};
use crate::{House, until};

/// The first release of valgrind (3.22) that knows all system calls of the daemon.
const VALGRIND_MINOR_MIN: u32 = 22;
/// Rounds that are not counted, while caches fill.
const WARM_UP_ROUNDS: usize = 10;

/// Rows for rounds of one read and of four. Without a valgrind that is new enough there are none.
pub fn figures(size: Size) -> Vec<Figure> {
    if !has_valgrind() {
        return Vec::new();
    }
    let row = |what, reads| {
        let count = of_a_round(size, reads);
        plain(what, format!("{:.2} million", count / 1e6), "–")
    };
    vec![
        row("instructions of the daemon, a round of one read", 1),
        row("… of four reads", 4),
    ]
}

/// Whether there is a valgrind that is new enough.
pub(super) fn has_valgrind() -> bool {
    minor_version().is_some_and(|minor| minor >= VALGRIND_MINOR_MIN)
}

/// The `22` of `valgrind-3.22.0`.
fn minor_version() -> Option<u32> {
    let said = Command::new("valgrind").arg("--version").output().ok()?;
    let said = String::from_utf8(said.stdout).ok()?;
    said.trim().split('.').nth(1)?.parse().ok()
}

/// Two daemons are counted from their start to their end, one of which has more rounds: the difference is theirs.
#[allow(
    clippy::cast_precision_loss,
    reason = "counts of instructions are far below 2^53"
)]
fn of_a_round(size: Size, reads: usize) -> f64 {
    let few = of_a_daemon(WARM_UP_ROUNDS, reads);
    let more = of_a_daemon(WARM_UP_ROUNDS + size.rounds, reads);
    more.saturating_sub(few) as f64 / size.rounds as f64
}

/// Instructions of a daemon that has one session with so many rounds.
fn of_a_daemon(rounds: usize, reads: usize) -> u64 {
    let endpoint = Endpoint::start();
    let house = House::new();
    house.provider_config(&endpoint.base_url());
    for number in 0..reads {
        house.files(&format!("//- read_{number}.txt\nline one\nline two\n"));
    }
    let counts = house.root().join("counts");
    let mut daemon = daemon_under_valgrind(&house, &counts, &crate::house::daemon_program())
        .spawn()
        .expect("start strace");
    until("the daemon to answer", || house.daemon_pid());
    let mut script = vec![Round::Reads(reads); rounds];
    script.push(Round::Words(24));
    endpoint.play(script);
    drop(house.reasonix(&["run", "read them"]).expect_code(0));
    drop(house.reasonix(&["daemon", "stop"]).expect_code(0));
    daemon.wait().expect("the daemon ends");
    let counts = std::fs::read_to_string(&counts).expect("the counts");
    let total = counts
        .lines()
        .find_map(|line| line.strip_prefix("totals: "));
    total
        .and_then(|total| total.trim().parse().ok())
        .expect("a total")
}

/// The daemon proper in valgrind.
pub(super) fn daemon_under_valgrind(house: &House, counts: &Path, program: &Path) -> Command {
    let mut command = under_valgrind(house, counts, program);
    command
        .arg("serve")
        // Descriptors of valgrind are no reason to begin again.
        .env("REASONIX_SHED", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// A program in valgrind, which counts into a file. The call for the addresses of a process's start (`PR_GET_AUXV`) returns
/// those of valgrind: it is refused, so that they are read where valgrind gives the right ones.
pub(super) fn under_valgrind(house: &House, counts: &Path, program: &Path) -> Command {
    let mut command = house.program(Path::new("strace"));
    command
        .args(["-f", "--seccomp-bpf", "-qq", "-o", "/dev/null"])
        .args(["-e", "trace=prctl", "-e", "inject=prctl:error=EINVAL"])
        .args(["valgrind", "--quiet", "--tool=callgrind", "--demangle=no"])
        .arg(format!("--callgrind-out-file={}", counts.display()))
        .arg(program);
    if let Some(at) = std::env::var_os("VALGRIND_LIB") {
        command.env("VALGRIND_LIB", at);
    }
    command
}
