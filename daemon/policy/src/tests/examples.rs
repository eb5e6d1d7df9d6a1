//! Rules with examples.

use super::*;

fn problems(list: List, rule: &str, matches: &[&str], not_match: &[&str]) -> Vec<String> {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let examples = Examples {
        rule: rule.to_owned(),
        list,
        matches: owned(matches),
        not_match: owned(not_match),
    };
    let problems = examples.check(Layer::User, &known_tools());
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn passing_examples_are_not_reported() {
    for (list, rule, matches, not_match) in [
        (
            List::Allow,
            "Bash(npm run test:*)",
            vec!["npm run test -- -v", "npm run test"],
            vec!["npm run testx", "npm run test; rm x", "npm run test > out"],
        ),
        (
            List::Deny,
            "Bash(rm -rf*)",
            vec!["rm -rf x", "sudo rm -rf x", "ls; rm -rf x"],
            vec!["rm x", "echo rm -rf"],
        ),
        (
            List::Ask,
            "Bash(git push:*)",
            vec!["git push", "git -C x push -f"],
            vec!["git pull"],
        ),
        (
            List::Allow,
            "Edit(docs/**)",
            vec!["docs/a.md", "./docs/a/b"],
            vec!["src/a", "docs/../src/a"],
        ),
        (
            List::Deny,
            "Read(~/.ssh/**)",
            vec!["~/.ssh/id"],
            vec!["~/.sshd/id"],
        ),
        (
            List::Allow,
            "mcp__a__get",
            vec!["mcp__a__get"],
            vec!["mcp__a__get_all"],
        ),
        (
            List::Allow,
            "WebFetch(domain:example.org)",
            vec!["https://www.example.org/x"],
            vec!["https://example.org.evil/x"],
        ),
    ] {
        assert_eq!(
            problems(list, rule, &matches, &not_match),
            [""; 0],
            "{rule}"
        );
    }
}

#[test]
fn failing_example_is_reported_with_its_line() {
    assert_eq!(
        problems(
            List::Allow,
            "Bash(npm run:*)",
            &["npm test"],
            &["npm run build"]
        ),
        [
            "user: allow rule `Bash(npm run:*)`: it does not match its example `npm test`",
            "user: allow rule `Bash(npm run:*)`: it matches `npm run build`, which it is not to",
        ]
    );
    // A rule that cannot be parsed is reported only once, when rules are parsed.
    assert!(problems(List::Allow, "Bash(", &["x"], &[]).is_empty());
}

#[test]
fn examples_are_read_from_a_table_of_the_settings() {
    let table =
        json!({"rule": "Bash(make:*)", "list": "allow", "match": ["make"], "not_match": ["makes"]});
    let examples: Examples = serde_json::from_value(table).unwrap();
    assert!(examples.check(Layer::Project, &known_tools()).is_empty());
    assert_eq!(examples.matches, ["make"]);
}
