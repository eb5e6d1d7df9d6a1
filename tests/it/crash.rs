//! Kills of the real daemon: at moments that a seed chooses, and at the most important ones. Acknowledged records are
//! there, calls with side effects ran at most once, and the session continues.
//!
//! `REASONIX_KILLS=1000` kills more often; `REASONIX_SEED=…` repeats one run.

mod damage;
mod driver;
mod moments;
mod ride;
mod story;

/// Kills in the default run of [`sessions_survive_seeded_random_kills`].
const KILLS: u64 = 40;

/// Kills of one ride.
const KILLS_EACH: u64 = 3;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is not a number: `{text}`")),
    )
}

/// Prints the seed, and how to repeat the run.
struct Seeded(u64);

impl Drop for Seeded {
    #[allow(clippy::print_stderr, reason = "a test's own words, next to its panic")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "repeat it: REASONIX_SEED={} cargo test -p tests --test it -- --exact crash::seeded",
                self.0
            );
        }
    }
}

#[test]
fn sessions_survive_seeded_random_kills() {
    let seeds = match number("REASONIX_SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            0..number("REASONIX_KILLS")
                .unwrap_or(KILLS)
                .div_ceil(KILLS_EACH)
        }
    };
    for seed in seeds {
        let _seeded = Seeded(seed);
        ride::ride(seed, KILLS_EACH);
    }
}
