//! The bench of the first figures runs; how fast is not asked here.

use tests::figures::{SMOKE, measure, table};

#[test]
fn the_first_figures_can_be_measured() {
    let figures = measure(SMOKE);
    assert!(
        figures
            .iter()
            .all(|figure| figure.ratio.is_none_or(f64::is_finite)),
        "{}",
        table(&figures)
    );
    // Two rows more where `rg` is there to be compared with, and one for each full layer of the sandbox.
    assert!((28..=32).contains(&figures.len()), "{}", table(&figures));
}
