//! Readers that are slow, readers that are stuck, and connections that end badly.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proto::hello::{ClientInfo, HelloParams, Role};
use tokio::io::AsyncReadExt as _;

use super::*;

const STUCK: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn a_reader_that_is_slow_gets_everything() {
    let (mut ours, mut theirs) = tokio::io::duplex(1);
    let reader = tokio::spawn(async move {
        let mut got = Vec::new();
        while got.len() < 10 {
            tokio::time::sleep(STUCK / 2).await;
            got.push(theirs.read_u8().await.expect("a byte"));
        }
        got
    });
    assert_eq!(write_all(&mut ours, b"0123456789", STUCK).await, Ok(()));
    assert_eq!(reader.await.expect("no panic"), b"0123456789");
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_takes_nothing_is_let_go() {
    let (mut ours, _theirs) = tokio::io::duplex(1);
    let written = write_all(&mut ours, b"0123456789", STUCK).await;
    assert_eq!(written, Err(WriteError::Stuck));
}

#[test]
fn a_connection_whose_task_panics_is_not_listed_any_more() {
    let clients = Clients::default();
    let (outgoing, _waiting) = mpsc::channel(1);
    let peer = Arc::new(Peer::new(
        1,
        crate::rpc::peer::Origin::Elsewhere,
        outgoing,
        clients.room(),
    ));
    let client = ClientInfo {
        name: "x".into(),
        version: String::new(),
        build: String::new(),
        kind: "test".into(),
        pid: 1,
        interactive: false,
    };
    let hello = HelloParams {
        client,
        protocol: proto::PROTOCOL,
        role: Role::Watch,
        cwd: None,
        credentials: std::collections::BTreeMap::new(),
    };
    peer.greet(hello, Role::Watch);
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let _here = Here::new(&clients, &peer);
        assert_eq!(clients.list().len(), 1);
        std::panic::panic_any("a bug");
    }));
    assert!(ended.is_err());
    assert!(clients.list().is_empty());
}
