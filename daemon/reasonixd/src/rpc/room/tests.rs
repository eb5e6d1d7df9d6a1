//! Who gets room, and who waits for it.

use futures::FutureExt as _;

use super::*;

/// Takes frames of the largest size until one has to wait; how many there were.
fn fill(room: &Room) -> Vec<FrameShare> {
    std::iter::from_fn(|| room.take(OUTBOUND_MAX).now_or_never().flatten()).collect()
}

#[test]
fn one_connection_gets_its_room_and_one_frame_more() {
    let room = Room::new(SharedRoom::default());
    let mut shares = fill(&room);
    assert_eq!(shares.len(), ONE / OUTBOUND_MAX + 1);
    // What turns out small leaves room for others.
    shares[1].shrink_to(OUTBOUND_MAX / 2);
    shares[2].shrink_to(OUTBOUND_MAX / 2);
    assert_eq!(fill(&room).len(), 1);
    drop(shares);
    assert_eq!(fill(&room).len(), ONE / OUTBOUND_MAX + 1);
}

#[test]
fn each_connection_may_queue_one_frame_when_the_room_is_full() {
    let all = SharedRoom::default();
    let rooms: Vec<Room> = (0..20).map(|_| Room::new(all.clone())).collect();
    let shares: Vec<FrameShare> = rooms.iter().flat_map(fill).collect();
    assert_eq!(shares.len(), ALL / OUTBOUND_MAX + rooms.len());
    let late = Room::new(all);
    let first = fill(&late);
    assert_eq!(first.len(), 1);
    drop(first);
    assert_eq!(fill(&late).len(), 1);
}

#[tokio::test]
async fn waiter_for_room_continues_after_a_written_frame_or_the_end_of_the_connection() {
    let room = Arc::new(Room::new(SharedRoom::default()));
    let mut shares = fill(&room);
    let waits = || {
        let room = Arc::clone(&room);
        tokio::spawn(async move { room.take(OUTBOUND_MAX).await.is_some() })
    };
    let waiting = waits();
    shares.pop();
    assert!(waiting.await.expect("no panic"));
    shares.extend(fill(&room));
    let waiting = waits();
    room.close();
    assert!(!waiting.await.expect("no panic"));
}
