//! A silent provider: reported, never interrupted.

use proto::params::session::Until;
use proto::state::State;

use super::house::{begin, next_of, until, watching};

#[tokio::test(start_paused = true)]
async fn silence_is_told_every_ten_seconds_and_changes_nothing() {
    // Each piece takes 25 s.
    let script = r#"{"text":"slowly","chunk_bytes":3,"delay_ms":25000}"#;
    let mut house = begin(script, "first");
    house.gate.open();
    let (_, mut follow) = house.handle.attach(watching(true)).await.unwrap();
    (&mut house.created_on_disk).await.unwrap().unwrap();
    assert_eq!(house.handle.summary().silent_since, None);
    let first = next_of(&mut follow, "status").await["no_data_ms"]
        .as_u64()
        .unwrap();
    assert!((10_000..11_000).contains(&first), "{first}");
    let since = house.handle.summary().silent_since;
    assert!(since.is_some());
    let second = next_of(&mut follow, "status").await["no_data_ms"]
        .as_u64()
        .unwrap();
    assert!((20_000..21_000).contains(&second), "{second}");
    assert_eq!(
        house.handle.summary().silent_since,
        since,
        "since the same moment"
    );
    assert_eq!(house.handle.summary().state, State::Running);

    next_of(&mut follow, "delta.text").await;
    until("data came", || {
        house.handle.summary().silent_since.is_none()
    })
    .await;
    let third = next_of(&mut follow, "status").await["no_data_ms"]
        .as_u64()
        .unwrap();
    assert!(
        (10_000..11_000).contains(&third),
        "counted from the newest part: {third}"
    );

    let ended = house.handle.wait(Until::Turn).await.unwrap().ended.unwrap();
    assert_eq!(ended.text, "slowly");
    assert_eq!(house.handle.summary().silent_since, None);
    assert!(
        house
            .records()
            .iter()
            .all(|record| record.body.kind() != "status"),
        "nothing of it is in the log"
    );
}
