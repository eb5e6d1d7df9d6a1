//! The report about names that were moved away.

use super::*;

fn item(path: &str, kept: Option<&str>, problem: Option<&str>) -> Quarantined {
    Quarantined {
        path: path.to_owned(),
        kept: kept.map(str::to_owned),
        restored: false,
        problem: problem.map(str::to_owned),
    }
}

#[test]
fn the_notice_has_a_command_that_takes_it_back() {
    let moved = notice(&item(
        "/it's/.mcp.json",
        Some("/home/q/7-1/.mcp.json"),
        None,
    ));
    assert!(
        moved
            .text
            .ends_with(r"mv '/home/q/7-1/.mcp.json' '/it'\''s/.mcp.json'"),
        "{}",
        moved.text
    );
    let stuck = notice(&item("/p/.mcp.json", None, Some("the disk is full")));
    assert!(stuck.text.contains("(the disk is full)"), "{}", stuck.text);
}

#[test]
fn quarantine_note_for_the_model_follows_the_call_result() {
    let mut outcome = Outcome::failed("exit code 0\n");
    note_for_model(&mut outcome, &[item("/p/.mcp.json", Some("/q"), None)]);
    assert!(
        outcome
            .text
            .starts_with("exit code 0\n\n[Reasonix moved away")
    );
    assert!(outcome.text.contains("`/p/.mcp.json`"));
}

#[test]
fn file_that_was_replaced_is_told_as_such() {
    let moved = Quarantined {
        restored: true,
        ..item("/w/.git/config", Some("/home/q/7-1/config"), None)
    };
    let text = notice(&moved).text;
    assert!(text.contains("the original is back"), "{text}");
    let left = item("/w/.vscode/tasks.json", None, None);
    let text = notice(&left).text;
    assert!(text.contains("replaced by another program"), "{text}");
    let mut outcome = Outcome::with_status(CallStatus::Ok, "out".to_owned());
    note_for_model(&mut outcome, &[left]);
    assert_eq!(outcome.text, "out", "nothing was moved away");
}
