//! What history and other sessions cost: the floor is the same without them.

use super::endpoint::Endpoint;
use super::load::{self, Beside};
use super::table::{Figure, row};
use super::{Size, history};

/// All rows.
pub fn figures(size: Size) -> Vec<Figure> {
    let endpoint = Endpoint::start();
    let mut figures = history::figures(size, &endpoint);
    for (what, beside, budget) in [
        (
            "a round of one read beside a client that reads nothing (floor: without)",
            Beside::DeafClient,
            "1.2 ×",
        ),
        (
            "… beside a session that prints without end",
            Beside::Printer,
            "2 ×",
        ),
        (
            "… beside a session that forks without end",
            Beside::Forks,
            "2 ×",
        ),
    ] {
        let (loaded, alone) = load::rounds_beside(size, &endpoint, beside);
        figures.push(row(what, loaded, alone, budget));
    }
    figures
}
