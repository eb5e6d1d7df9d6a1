//! `cargo bench -p tests`: the first figures of docs/performance.md, each beside its floor.

#[allow(clippy::print_stdout, reason = "the table is what it is for")]
fn main() {
    println!(
        "{}",
        tests::figures::table(&tests::figures::measure(tests::figures::FULL))
    );
}
