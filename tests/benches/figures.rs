//! `cargo bench -p tests`: the first figures of docs/performance.md, each beside its floor. With `-- interface` only those of
//! the terminal interface, with `-- walls` those of the sandbox.

use tests::figures::{FULL, measure, measure_interface, measure_walls, table};

#[allow(clippy::print_stdout, reason = "the table is what it is for")]
fn main() {
    let asked = |word: &str| std::env::args().any(|argument| argument == word);
    let figures = if asked("interface") {
        measure_interface(FULL)
    } else if asked("walls") {
        measure_walls(FULL)
    } else {
        measure(FULL)
    };
    println!("{}", table(&figures));
}
