//! Every error has its exit code and, where a person can act, a hint.

use super::*;
use client::start::StartError;

#[test]
fn each_name_has_the_exit_code_of_who_can_act() {
    let codes: Vec<_> = ErrorName::ALL
        .iter()
        .map(|name| (name.as_str(), failure_code(*name)))
        .collect();
    let of = |name: &str| {
        codes
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, code)| *code)
    };
    assert_eq!(of("not_found"), Some(USAGE));
    assert_eq!(of("protocol_mismatch"), Some(NO_DAEMON));
    assert_eq!(of("not_allowed"), Some(NOT_PERMITTED));
    assert_eq!(of("invalid_config"), Some(CONFIG));
    assert_eq!(of("provider_failed"), Some(1));
    assert!(codes.iter().all(|(_, code)| *code != 0));
}

#[test]
fn a_closed_output_is_no_error() {
    assert_eq!(Error::Closed.code(), 0);
}

#[test]
fn errors_that_people_can_repair_have_hints() {
    let log = Vec::new();
    let errors: [Error; 8] = [
        Error::usage("what", "do this"),
        ConnectError::Absent {
            socket: "/s".into(),
        }
        .into(),
        ConnectError::Start(StartError::NotFound).into(),
        ConnectError::Foreign {
            path: "/s".into(),
            owner: 1001,
            own: 1000,
        }
        .into(),
        ConnectError::Open {
            path: "/d".into(),
            owner: 1000,
        }
        .into(),
        ConnectError::Silent {
            after: std::time::Duration::from_secs(5),
            log,
        }
        .into(),
        CallError::TooLarge {
            method: "m".into(),
            bytes: 1,
        }
        .into(),
        client::paths::PathsError::NoHome.into(),
    ];
    for error in errors {
        assert_ne!(error.hint(), "", "{error}");
        assert_ne!(error.describe()["hint"], "", "{error}");
    }
}

#[test]
fn a_failure_of_the_daemon_keeps_its_details_for_programs() {
    let failure =
        Failure::new(ErrorName::NotFound, "no session `9`", "is it 3?").with("nearest", "3");
    let described = Error::from(CallError::from(failure)).describe();
    assert_eq!(described["name"], "not_found");
    assert_eq!(described["message"], "no session `9`");
    assert_eq!(described["nearest"], "3");
}

#[test]
fn another_users_socket_is_told_by_its_owner() {
    let error: Error = ConnectError::Foreign {
        path: "/s".into(),
        owner: 1001,
        own: 1000,
    }
    .into();
    assert_eq!(error.code(), NOT_PERMITTED);
    assert!(error.to_string().contains("user 1001"), "{error}");
}
