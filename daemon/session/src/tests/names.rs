//! Names and labels: text that a user can type, and that means nothing else.

use proto::ErrorName;
use proto::SessionOptions;
use proto::params::session::Until;
use proto::record::{Rules, SessionSet};

use super::house::begin;
use crate::assembly::names::{check_labels, check_name};

#[test]
fn a_name_is_no_pid_no_path_and_no_option() {
    for good in [
        "a",
        "demo",
        "fix 2",
        "7b",
        "grün-ok",
        "x.y",
        &"n".repeat(64),
    ] {
        check_name(good).unwrap();
    }
    for (bad, why) in [
        ("", "is empty"),
        ("12", "is a number"),
        ("a/b", "holds a `/`"),
        ("-x", "starts with"),
        (".x", "starts with"),
        ("a\nb", "control character"),
        ("\u{7f}", "control character"),
        (" a", "space"),
        (&"ü".repeat(65), "longer than 64"),
    ] {
        let refusal = check_name(bad).unwrap_err();
        assert_eq!(refusal.name, ErrorName::InvalidParams);
        assert!(
            refusal.message.contains(why),
            "`{bad}`: {}",
            refusal.message
        );
        assert!(!refusal.message.contains('\n'), "{}", refusal.message);
    }
    let labels = ["night".to_owned(), "5".to_owned()];
    assert!(
        check_labels(&labels)
            .unwrap_err()
            .message
            .contains("label `5`")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setting_is_refused_with_such_a_name_and_an_empty_one_takes_the_name_away() {
    let house = begin(r#"{"text":"one"}"#, "first");
    house.gate.open();
    house.handle.wait(Until::Turn).await.unwrap();
    let set = |name: &str, labels: Option<Vec<String>>| {
        house.handle.set(SessionSet {
            options: SessionOptions {
                name: Some(name.to_owned()),
                labels,
                ..SessionOptions::default()
            },
            ..SessionSet::default()
        })
    };
    assert_eq!(
        set("good", None).await.unwrap().name.as_deref(),
        Some("good")
    );
    let before = house.handle.summary().seq;
    for (name, labels) in [("1", None), ("b", Some(vec!["-l".to_owned()]))] {
        let refusal = set(name, labels).await.unwrap_err();
        assert_eq!(refusal.name, ErrorName::InvalidParams);
    }
    let rules = house.handle.set(SessionSet {
        options: SessionOptions {
            rules: Some(Rules::default()),
            ..SessionOptions::default()
        },
        ..SessionSet::default()
    });
    let refusal = rules.await.unwrap_err();
    assert_eq!(refusal.name, ErrorName::InvalidParams, "rules are fixed");
    assert_eq!(house.handle.summary().seq, before, "nothing was written");
    assert_eq!(set("", None).await.unwrap().name, None);
}
