//! The report about names that were moved away.

use super::*;

fn item(path: &str, kept: Option<&str>, problem: Option<&str>) -> Quarantined {
    Quarantined {
        path: path.to_owned(),
        kept: kept.map(str::to_owned),
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
fn the_model_reads_it_after_the_result() {
    let mut outcome = Outcome::failed("exit code 0\n");
    note_for_model(&mut outcome, &[item("/p/.mcp.json", Some("/q"), None)]);
    assert!(
        outcome
            .text
            .starts_with("exit code 0\n\n[Reasonix moved away")
    );
    assert!(outcome.text.contains("`/p/.mcp.json`"));
}
