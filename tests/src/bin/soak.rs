//! `soak [seconds] [seed] [seconds between two lines]`: everything at once for a long time, see the module `tests::soak`.
//! Prints the daemon's resources, line by line; fails if they grow, if a log is not valid, or if a process is left.

use std::process::ExitCode;
use std::time::Duration;

use tests::soak::{Plan, run};

#[allow(clippy::print_stdout, reason = "the program prints a curve")]
#[allow(clippy::print_stderr, reason = "it prints its usage there")]
fn main() -> ExitCode {
    let mut numbers = Vec::new();
    for argument in std::env::args().skip(1) {
        let Ok(number) = argument.parse::<u64>() else {
            eprintln!(
                "`{argument}` is not a number: soak [seconds] [seed] [seconds between two lines]"
            );
            return ExitCode::from(2);
        };
        numbers.push(number);
    }
    let number = |at: usize, default| numbers.get(at).copied().unwrap_or(default);
    let plan = Plan {
        time: Duration::from_secs(number(0, 1_200)),
        seed: number(1, 1),
        every: Duration::from_secs(number(2, 30).max(1)),
        ..Plan::default()
    };
    run(&plan, |line| println!("{line}"));
    ExitCode::SUCCESS
}
