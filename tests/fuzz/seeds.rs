//! Runs every seed of a fuzzing target, so that a fixed bug stays fixed. Taken by path into the tests
//! of the crates that have targets.

use std::path::Path;

/// Calls `check` with each file in `tests/fuzz/seeds/TARGET`.
#[allow(
    clippy::print_stderr,
    reason = "shown where the test fails only: which seed it was"
)]
pub fn each(target: &str, check: fn(&[u8])) {
    let place = Path::new("tests/fuzz/seeds").join(target);
    let mut above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let seeds = above.find_map(|above| std::fs::read_dir(above.join(&place)).ok());
    let mut count = 0;
    for seed in seeds.expect("the seeds of the target") {
        let path = seed.expect("an entry").path();
        // Shown only where the test fails.
        eprintln!("{}", path.display());
        check(&std::fs::read(&path).expect("a seed"));
        count += 1;
    }
    assert!(count > 0, "{target} has no seeds");
}
