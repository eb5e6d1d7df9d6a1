//! Skills that limit which tools may be called.

use proptest::prelude::*;
use proto::record::SkillUse;

use super::*;

fn skill(allowed: &[&str]) -> SkillUse {
    SkillUse {
        read_only: false,
        name: "pdf".to_owned(),
        directory: "/home/someone/.agents/skills/pdf".to_owned(),
        allowed_tools: Some(allowed.iter().map(|&entry| entry.to_owned()).collect()),
    }
}

/// The decisions about a call without and with skills.
fn decided(
    rules: &str,
    mode: ApprovalMode,
    skills: &[SkillUse],
    (name, arguments): (&str, Value),
) -> (Decision, Decision) {
    let scene = scene(rules).approval_mode(mode);
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object")
    };
    let call = Call {
        tool: &tool(name),
        arguments: &arguments,
        touches: &[],
    };
    let context = scene.context(&call);
    let before = decide(&scene.rule_set(), &context, &call);
    let after = under_skills(before.clone(), skills, &known_tools(), &context, &call);
    (before, after)
}

fn calls() -> Vec<(&'static str, Value)> {
    let edit = json!({"path": "docs/a.md", "old_string": "a", "new_string": "b"});
    vec![
        ("read_file", json!({"path": "docs/a.md"})),
        (
            "read_file",
            json!({"path": "/home/someone/.agents/skills/pdf/forms.md"}),
        ),
        (
            "read_file",
            json!({"path": "/home/someone/.agents/skills/pdf/../x"}),
        ),
        ("grep", json!({"pattern": "x"})),
        ("edit_file", edit),
        (
            "edit_file",
            json!({"path": ".git/config", "old_string": "a", "new_string": "b"}),
        ),
        ("write_file", json!({"path": "docs/a.md", "content": "b"})),
        ("bash", json!({"command": "git status"})),
        ("bash", json!({"command": "git push && rm -rf x"})),
        ("bash", json!({"command": "$x"})),
        ("todo_write", json!({"todos": []})),
        ("skill", json!({"name": "other"})),
        ("web_fetch", json!({"url": "https://example.org"})),
        ("mcp__server__tool", json!({"path": "x"})),
    ]
}

#[test]
fn only_the_tools_that_a_skill_names_are_left() {
    for (allowed, expected) in [
        (&[][..], "read own, todo, skill"),
        (&["Read"], "read, read own, read beside, grep, todo, skill"),
        (&["Grep"], "read own, grep, todo, skill"),
        (&["Read(docs/**)"], "read, read own, todo, skill"),
        (&["Write"], "read own, edit, config, write, todo, skill"),
        (&["Edit(docs/**)"], "read own, edit, write, todo, skill"),
        (&["Bash"], "read own, status, push, unknown, todo, skill"),
        (&["Bash(*)"], "read own, status, push, unknown, todo, skill"),
        (&["Bash(git:*)"], "read own, status, todo, skill"),
        (
            &["Bash(git push:*)", "Bash(rm:*)"],
            "read own, push, todo, skill",
        ),
        (&["mcp__server"], "read own, todo, skill, mcp"),
        (
            &["WebFetch(domain:example.org)"],
            "read own, todo, skill, web",
        ),
        (&["Nothing", "Bash(", ""], "read own, todo, skill"),
        (
            &["*"],
            "read, read own, read beside, grep, edit, config, write, status, push, unknown, todo, skill, web, mcp",
        ),
    ] {
        let names = [
            "read",
            "read own",
            "read beside",
            "grep",
            "edit",
            "config",
            "write",
            "status",
            "push",
            "unknown",
            "todo",
            "skill",
            "web",
            "mcp",
        ];
        let skills = [skill(allowed)];
        let left: Vec<_> = names
            .into_iter()
            .zip(calls())
            .filter(|(_, call)| {
                let (_, after) = decided("", ApprovalMode::Yolo, &skills, call.clone());
                after.layer != "skill"
            })
            .map(|(name, _)| name)
            .collect();
        assert_eq!(left.join(", "), expected, "{allowed:?}");
    }
}

#[test]
fn refusal_names_the_skill_and_what_it_allows() {
    let call = ("bash", json!({"command": "ls"}));
    let skills = [skill(&["Read", "Grep"])];
    let (_, after) = decided("allow Bash", ApprovalMode::Ask, &skills, call.clone());
    assert_eq!(after.verdict, Verdict::Deny);
    assert_eq!(
        after.rule,
        "the skill `pdf` allows only Read, Grep until the turn ends"
    );
    // Each skill in force must allow the call.
    let both = [skill(&["Bash"]), skill(&["Read"])];
    let (_, after) = decided("allow Bash", ApprovalMode::Ask, &both, call);
    assert_eq!(after.verdict, Verdict::Deny);
}

proptest! {
    /// A skill makes no verdict looser, whatever it names.
    #[test]
    fn no_skill_loosens_a_verdict(
        allowed in prop::option::of(prop::collection::vec(
            "(Bash|Edit|Read|Write|Grep|\\*|skill|WebFetch|mcp__a|[a-z]{0,4})(\\((\\*|git:\\*|docs/\\*\\*|[ -~]{0,6})\\))?",
            0..4,
        )),
        number in 0_usize..14,
        mode in prop::sample::select(vec![ApprovalMode::Ask, ApprovalMode::Auto, ApprovalMode::Yolo]),
        rules in prop::sample::select(vec!["", "allow Bash(git:*)", "deny Bash", "ask Edit", "deny Read(docs/**)"]),
    ) {
        let skill = SkillUse { allowed_tools: allowed, ..skill(&[]) };
        let (before, after) = decided(rules, mode, &[skill], calls()[number].clone());
        prop_assert!(after == before || after.verdict == Verdict::Deny, "{before:?} {after:?}");
    }
}
