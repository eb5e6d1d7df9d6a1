//! What a change of a file costs that is on disk before the model hears of it: rounds of one write.

use super::endpoint::{Endpoint, Round};
use super::table::{Figure, median, p95, row};
use super::{Size, floors};
use crate::House;

/// All rows.
pub fn figures(size: Size) -> Vec<Figure> {
    let endpoint = Endpoint::start();
    let house = House::new();
    house.provider_config(&endpoint.base_url());
    house.daemon();
    let writes = (0..size.rounds).map(|number| {
        let arguments =
            serde_json::json!({"path": format!("made_{number}.txt"), "content": "one\ntwo\n"});
        Round::Calls(vec![("write_file", arguments)])
    });
    endpoint.play(writes.chain([Round::Words(24)]).collect());
    let done = house.reasonix(&["run", "--approval-mode", "yolo", "write them"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert_eq!(
        house.read(&format!("made_{}.txt", size.rounds - 1)),
        "one\ntwo\n"
    );
    let gaps = endpoint.gaps();
    let syncs = floors::sync(&house.project(), size.rounds) * 2;
    vec![
        row(
            "a round with a file write, durable, p50 (floor: two syncs, one after the other)",
            median(gaps.clone()),
            syncs,
            "two syncs + 1 ms",
        ),
        row("… p95", p95(gaps), syncs, "–"),
    ]
}
