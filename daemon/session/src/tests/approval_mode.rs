//! A session keeps its approval mode; where the config is stricter by now, that is said once, when it works again.

use proto::Body;
use proto::params::session::Until;
use proto::state::ApprovalMode;

use super::house::{House, Scripted, begin_with, prompt};

const SAYS: &str =
    "{\"text\":\"one\"}\n{\"text\":\"two\"}\n{\"text\":\"three\"}\n{\"text\":\"four\"}";

fn warnings(house: &House) -> Vec<String> {
    let records = house.records().into_iter();
    records
        .filter_map(|record| match record.body {
            Body::Notice(notice) if notice.text.contains("approval mode") => Some(notice.text),
            _ => None,
        })
        .collect()
}

async fn resumed(own: ApprovalMode, configured: ApprovalMode) -> House {
    let mut house = begin_with(Scripted::new(SAYS), "first", |created, _| {
        created.options.approval_mode = Some(own);
    });
    house.gate.open();
    house.handle.wait(Until::Turn).await.unwrap();
    let mut script = Scripted::new(SAYS);
    script.approval_mode = configured;
    house.crash(script, None).await;
    assert_eq!(warnings(&house), [""; 0], "it does not work yet");
    for text in ["second", "third"] {
        house
            .handle
            .prompt(prompt(text), "test".into())
            .await
            .unwrap();
        house.handle.wait(Until::Turn).await.unwrap();
    }
    assert_eq!(
        house.handle.summary().approval_mode,
        own,
        "it keeps its own"
    );
    house
}

#[tokio::test(flavor = "multi_thread")]
async fn a_looser_session_says_so_once_a_life() {
    let house = resumed(ApprovalMode::Yolo, ApprovalMode::Ask).await;
    let said = warnings(&house);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("`yolo`") && said[0].contains("`ask`"),
        "{said:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_as_strict_or_stricter_says_nothing() {
    for configured in [ApprovalMode::Auto, ApprovalMode::Yolo] {
        let house = resumed(ApprovalMode::Auto, configured).await;
        assert_eq!(warnings(&house), [""; 0]);
    }
}
