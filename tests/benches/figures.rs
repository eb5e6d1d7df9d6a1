//! `cargo bench -p tests`: the first figures of docs/performance.md, each beside its floor. With `-- interface` only those of
//! the terminal interface.

use tests::figures::{FULL, measure, measure_interface, table};

#[allow(clippy::print_stdout, reason = "the table is what it is for")]
fn main() {
    let figures = match std::env::args().any(|argument| argument == "interface") {
        true => measure_interface(FULL),
        false => measure(FULL),
    };
    println!("{}", table(&figures));
}
