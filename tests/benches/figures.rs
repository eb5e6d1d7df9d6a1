//! `cargo bench -p tests`: the figures of `docs/performance.md`, each beside its floor. Words after `--` choose groups; with
//! `UPDATE=1` rewrites the tables of the page.

use std::path::Path;

use tests::figures::{FULL, GROUPS, Group, page, table};

#[allow(clippy::print_stdout, reason = "the program prints tables")]
fn main() {
    // Cargo adds an option of its own.
    let words = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'));
    let words: Vec<_> = words.collect();
    let names = GROUPS.map(|group| group.name);
    for word in &words {
        assert!(
            names.contains(&&**word),
            "unknown group `{word}`; known groups: {names:?}"
        );
    }
    let wanted = |group: &&Group| match words.is_empty() {
        true => !group.asked,
        false => words.iter().any(|word| word == group.name),
    };
    let update = std::env::var_os("UPDATE").is_some();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/performance.md");
    for group in GROUPS.iter().filter(wanted) {
        let begun = std::time::Instant::now();
        let table = table(&(group.measure)(FULL));
        println!(
            "{} ({:.0} s)\n\n{table}",
            group.name,
            begun.elapsed().as_secs_f64()
        );
        if update {
            let text = std::fs::read_to_string(&path).expect("the page");
            let made =
                page::replace(&text, group.name, &table).unwrap_or_else(|why| panic!("{why}"));
            std::fs::write(&path, made).expect("the page is written");
        }
    }
}
