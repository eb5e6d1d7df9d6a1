//! Invariants for any rule and any command line: fuzzing targets, see `tests/fuzz/README.md`.

use std::path::Path;

use contract::{ArgumentUse, Family, ToolSpec};
use proto::record::Verdict;
use serde_json::{Value, json};

use crate::{cases, read};

/// Rules: any text is accepted without a panic; a further deny or ask rule never loosens; an allow rule never lifts a
/// denial. Each line is a rule, except the last, which is the command. The first byte chooses the list and the approval
/// mode.
pub fn rules(data: &[u8]) {
    let [choice, rest @ ..] = data else {
        return;
    };
    let text = String::from_utf8_lossy(rest);
    let (lines, command) = text.rsplit_once('\n').unwrap_or(("", &text));
    let lines: Vec<&str> = lines.lines().collect();
    let (last, others) = lines.split_last().unwrap_or((&"Bash", &[]));
    let list = ["allow", "ask", "deny"][usize::from(*choice) % 3];
    let approval_mode = ["ask", "auto", "yolo"][usize::from(*choice / 3) % 3];
    let mut rules = json!({"allow": ["Bash", "Edit(**)"], "ask": [], "deny": []});
    rules[list] = json!(others);
    for arguments in [
        json!({"command": command}),
        json!({"path": command, "content": ""}),
    ] {
        let before = verdict(&rules, &arguments, approval_mode);
        assert_eq!(verdict(&rules, &arguments, approval_mode), before);
        for tightening in ["ask", "deny"] {
            let after = verdict(&and(&rules, tightening, last), &arguments, approval_mode);
            assert!(
                strictness(after) >= strictness(before),
                "{before:?} became {after:?}"
            );
        }
        let after = verdict(&and(&rules, "allow", last), &arguments, approval_mode);
        assert!(
            before != Verdict::Deny || after == Verdict::Deny,
            "{last:?} lifts a denial"
        );
    }
}

fn and(rules: &Value, list: &str, rule: &str) -> Value {
    let mut rules = rules.clone();
    if let Some(list) = rules[list].as_array_mut() {
        list.push(rule.into());
    }
    rules
}

fn strictness(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Ask => 1,
        Verdict::Deny => 2,
    }
}

/// The verdict about a command, or about writing a file.
fn verdict(rules: &Value, arguments: &Value, approval_mode: &str) -> Verdict {
    let tool = match arguments.get("command") {
        Some(_) => "bash",
        None => "write_file",
    };
    let case =
        json!({"tool": tool, "args": arguments, "rules": rules, "approval_mode": approval_mode});
    let bash = ToolSpec::new("bash", "", Value::Null, Family::Bash)
        .with_arguments(&[("command", ArgumentUse::Command)]);
    let write = ToolSpec::new("write_file", "", Value::Null, Family::Edit)
        .with_arguments(&[("path", ArgumentUse::Edit)]);
    let is_protected = |path: &Path| path.starts_with(".git");
    let explained = cases::explained(&case, is_protected, &[&bash, &write]);
    explained.expect("arguments that are some").decision.verdict
}

/// Command lines: understood parts have correct spans; lines that are not understood are not allowed; a denied command
/// on a line of its own after any line is found.
pub fn shell(data: &[u8]) {
    let line = String::from_utf8_lossy(data);
    let script = read(&line);
    assert_eq!(read(&line), script);
    let spans = script.parts.iter().flat_map(|part| {
        let words = part.words.iter().map(|word| word.span);
        words.chain([part.span])
    });
    for span in spans {
        assert!(line.get(span.start..span.end).is_some(), "{span:?}");
    }
    for (place, part) in script.parts.iter().enumerate() {
        assert!(part.parent.is_none_or(|parent| parent < place), "{part:?}");
    }
    let rules = json!({"allow": ["Bash"], "ask": ["Bash(git push*)"], "deny": ["Bash(rm -rf*)"]});
    let decided = |line: &str| verdict(&rules, &json!({"command": line}), "yolo");
    let alone = decided(&line);
    if script.doubt.is_some() {
        assert_ne!(alone, Verdict::Allow, "{:?}", script.doubt);
    }
    // A backslash would join the lines, and the end of a here-document is a separate line.
    if script.doubt.is_none() && !line.ends_with('\\') {
        let after = format!("{line}\nrm -rf x");
        assert_ne!(decided(&after), Verdict::Allow, "{after:?}");
        let before = format!("rm -rf x\n{line}");
        assert_eq!(decided(&before), Verdict::Deny, "{before:?}");
    }
}

#[cfg(test)]
#[path = "../../../tests/fuzz/seeds.rs"]
mod seeds;

#[test]
fn seeds_of_rules() {
    seeds::each("rules", rules);
}

#[test]
fn seeds_of_shell() {
    seeds::each("shell", shell);
}
