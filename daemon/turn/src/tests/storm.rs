//! The invariants, in thousands of worlds. More by `PROPTEST_CASES`.

use proptest::prelude::*;

use super::world::play;

/// Worlds in a default run: seconds in a debug build.
fn storms() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 1_500 };
    // A failure names the call that repeats it; no files are left in the source tree.
    ProptestConfig { cases, failure_persistence: None, ..default }
}

proptest! {
    #![proptest_config(storms())]

    /// Long lives: several turns, crashes and shutdowns.
    #[test]
    fn a_session_survives_everything_in_every_order(seed in any::<u64>().no_shrink(), steps in 0_usize..200) {
        play(seed, steps);
    }

    /// Short lives: most end within their first turn.
    #[test]
    fn a_turn_survives_everything_in_every_order(seed in any::<u64>().no_shrink(), steps in 0_usize..40) {
        play(seed, steps);
    }
}
