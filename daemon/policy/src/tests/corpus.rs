//! Our own cases: calls that must not be allowed, and calls that must be allowed.

use serde_json::Value;

use crate::cases;

const FILES: &[(&str, &str)] = &[
    ("arguments", include_str!("../../cases/arguments.json")),
    ("boundaries", include_str!("../../cases/boundaries.json")),
    ("calls", include_str!("../../cases/calls.json")),
    ("denied", include_str!("../../cases/denied.json")),
    ("hidden", include_str!("../../cases/hidden.json")),
    ("honest", include_str!("../../cases/honest.json")),
    ("launchers", include_str!("../../cases/launchers.json")),
    ("operators", include_str!("../../cases/operators.json")),
    ("own-files", include_str!("../../cases/own-files.json")),
    ("sample", include_str!("../../cases/sample.json")),
    (
        "substitution",
        include_str!("../../cases/substitution.json"),
    ),
];

#[test]
fn hostile_corpus_calls_are_not_allowed_and_honest_ones_are() {
    let (mut hostile, mut honest) = (0, 0);
    let mut wrong = Vec::new();
    for (name, text) in FILES {
        let file: Value =
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for case in file["cases"].as_array().expect("cases") {
            let case = cases::run(case, workspace::is_protected, &super::known_tools());
            if case.honest {
                honest += 1;
            } else {
                hostile += 1;
            }
            if !case.ok {
                wrong.push(format!(
                    "{name} {}: {} by `{}`",
                    case.id, case.verdict, case.rule
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(hostile >= 250 && honest >= 120, "{hostile} and {honest}");
}
