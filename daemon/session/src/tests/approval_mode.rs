//! A session keeps its approval mode; where the config is stricter by now, that is said once, when it works again.

use proto::Body;
use proto::params::session::Until;
use proto::state::ApprovalMode;

use super::fixtures::prompt;
use super::house::{House, Scripted, begin_with};

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
async fn session_with_a_looser_mode_than_configured_warns_once() {
    let house = resumed(ApprovalMode::Yolo, ApprovalMode::Ask).await;
    let said = warnings(&house);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("`yolo`") && said[0].contains("`ask`"),
        "{said:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn session_with_a_mode_as_strict_as_configured_does_not_warn() {
    for configured in [ApprovalMode::Auto, ApprovalMode::Yolo] {
        let house = resumed(ApprovalMode::Auto, configured).await;
        assert_eq!(warnings(&house), [""; 0]);
    }
}
