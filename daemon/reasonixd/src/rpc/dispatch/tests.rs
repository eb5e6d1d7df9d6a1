//! A call that panics is answered like any other.

use tokio::sync::mpsc;

use super::*;
use crate::rpc::room::SharedRoom;

#[tokio::test]
async fn a_call_that_panics_is_answered_with_internal() {
    let mut module = RpcModule::new(());
    module
        .register_async_method("bug", |_, _, _| async move {
            "no number".parse::<u64>().expect("a bug")
        })
        .expect("a free name");
    let (outgoing, _waiting) = mpsc::channel(1);
    let peer = Arc::new(Peer::new(
        1,
        crate::rpc::peer::Origin::Elsewhere,
        outgoing,
        SharedRoom::default(),
    ));
    let line = br#"{"jsonrpc": "2.0", "id": 7, "method": "bug"}"#;
    let Answer::Later { call, .. } = call(line, peer, &module.into()) else {
        panic!("a call")
    };
    let answer: serde_json::Value = serde_json::from_slice(&call.await).expect("JSON");
    assert_eq!(answer["id"], 7);
    assert_eq!(answer["error"]["data"]["name"], "internal");
}
