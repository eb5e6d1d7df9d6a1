//! Invariants for every input.

use proptest::prelude::*;

use super::*;

fn a_command() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("rm"),
        Just("-rf"),
        Just("git"),
        Just("push"),
        Just("status"),
        Just("ls"),
        Just("sudo"),
        Just("sh"),
        Just("-c"),
        Just("'"),
        Just("\""),
        Just("\\"),
        Just("$X"),
        Just(";"),
        Just("&&"),
        Just("|"),
        Just("("),
        Just(")"),
        Just("`"),
        Just("\n"),
        Just("{"),
        Just("}"),
        Just("A=1"),
        Just(">x"),
        Just("2>&1"),
        Just("#"),
        Just("é"),
        Just("*"),
    ];
    prop_oneof![
        prop::collection::vec((word, prop_oneof![Just(" "), Just("")]), 0..12).prop_map(|parts| {
            parts
                .into_iter()
                .map(|(word, blank)| format!("{word}{blank}"))
                .collect()
        }),
        any::<String>(),
    ]
}

fn a_rule() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("Bash".to_owned()),
        Just("Bash(rm -rf*)".to_owned()),
        Just("Bash(git push:*)".to_owned()),
        Just("Bash(git status:*)".to_owned()),
        Just("Bash(ls)".to_owned()),
        Just("Bash(*push*)".to_owned()),
        Just("Edit(secrets/**)".to_owned()),
        Just("Edit".to_owned()),
        Just("Read(**/*.key)".to_owned()),
        any::<String>(),
        "[A-Za-z_]{1,8}\\([a-z*/. :~-]{0,12}\\)",
    ]
}

fn rules_of() -> impl Strategy<Value = Rules> {
    let list = || prop::collection::vec(a_rule(), 0..4);
    (list(), list(), list()).prop_map(|(allow, ask, deny)| Rules { allow, ask, deny })
}

fn a_call() -> impl Strategy<Value = (&'static str, Family, Value)> {
    prop_oneof![
        a_command().prop_map(|command| ("bash", Family::Bash, json!({ "command": command }))),
        "[a-z./~*]{0,20}".prop_map(|path| (
            "write_file",
            Family::Edit,
            json!({"path": path, "content": ""})
        )),
        any::<String>().prop_map(|path| ("read_file", Family::Read, json!({ "path": path }))),
        "secrets/[a-z.]{0,8}".prop_map(|path| ("edit_file", Family::Edit, json!({ "path": path }))),
    ]
}

fn an_approval_mode() -> impl Strategy<Value = (ApprovalMode, SandboxStrength)> {
    (
        prop_oneof![
            Just(ApprovalMode::Ask),
            Just(ApprovalMode::Auto),
            Just(ApprovalMode::Yolo)
        ],
        prop_oneof![
            Just(SandboxStrength::None),
            Just(SandboxStrength::Partial),
            Just(SandboxStrength::Full)
        ],
    )
}

fn decided(
    rules: &Rules,
    (approval_mode, sandbox): (ApprovalMode, SandboxStrength),
    call: &(&'static str, Family, Value),
) -> Decision {
    let scene = Scene {
        rules: rules.clone(),
        approval_mode,
        effective_permissions: EffectivePermissions::default(),
        sandbox,
        ..scene("")
    };
    let Value::Object(arguments) = &call.2 else {
        panic!("arguments are an object")
    };
    let call = Call {
        tool: &tool(call.0),
        arguments,
        touches: &[],
    };
    decide(&scene.rule_set(), &scene.context(&call), &call)
}

fn strictness(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Ask => 1,
        Verdict::Deny => 2,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_global_rejects: 100_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_input_has_an_answer_and_always_the_same(rules in rules_of(), setting in an_approval_mode(), call in a_call()) {
        let first = decided(&rules, setting, &call);
        prop_assert_eq!(&first, &decided(&rules, setting, &call));
        prop_assert!(first.verdict != Verdict::Deny || first.scopes.is_empty());
    }

    #[test]
    fn a_rule_that_tightens_never_loosens(rules in rules_of(), rule in a_rule(), deny in any::<bool>(), setting in an_approval_mode(), call in a_call()) {
        let before = decided(&rules, setting, &call);
        let mut tighter = rules.clone();
        if deny { tighter.deny.push(rule) } else { tighter.ask.push(rule) };
        let after = decided(&tighter, setting, &call);
        prop_assert!(strictness(after.verdict) >= strictness(before.verdict), "{before:?} became {after:?}");
    }

    #[test]
    fn nothing_lifts_a_denial(rules in rules_of(), allow in a_rule(), sandbox in an_approval_mode(), call in a_call()) {
        let before = decided(&rules, (ApprovalMode::Ask, sandbox.1), &call);
        prop_assume!(before.verdict == Verdict::Deny);
        let mut looser = rules.clone();
        looser.allow.push(allow);
        for approval_mode in [ApprovalMode::Ask, ApprovalMode::Auto, ApprovalMode::Yolo] {
            prop_assert_eq!(decided(&looser, (approval_mode, sandbox.1), &call).verdict, Verdict::Deny);
        }
    }

    #[test]
    fn a_bare_deny_always_wins(mut rules in rules_of(), setting in an_approval_mode(), call in a_call()) {
        rules.deny.extend(["Bash".to_owned(), "Edit".to_owned(), "Read".to_owned()]);
        prop_assert_eq!(decided(&rules, setting, &call).verdict, Verdict::Deny);
    }

    #[test]
    fn built_in_questions_are_lifted_by_nothing(rules in rules_of(), setting in an_approval_mode()) {
        let call = ("write_file", Family::Edit, json!({"path": "reasonix.toml", "content": ""}));
        prop_assert_ne!(decided(&rules, setting, &call).verdict, Verdict::Allow);
    }

    #[test]
    fn a_denied_command_stays_denied_inside_any_line(before in "[a-z ;&|]{0,12}", after in "[a-z ;&|]{0,12}") {
        let rules = read_rules("allow Bash / deny Bash(rm -rf*)");
        let line = format!("{before}; rm -rf x; {after}");
        let call = ("bash", Family::Bash, json!({ "command": line }));
        prop_assert_eq!(decided(&rules, (ApprovalMode::Yolo, SandboxStrength::Full), &call).verdict, Verdict::Deny);
    }

    #[test]
    fn quotes_are_removed_as_in_the_shell(words in prop::collection::vec("[ -~]{1,12}", 1..5)) {
        let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        let line = format!("tool {}", quoted.join(" "));
        let script = read(&line);
        prop_assert_eq!(script.doubt, None, "{}", line);
        let read: Vec<String> = script.parts[0].words.iter().skip(1).map(|word| word.text.clone()).collect();
        prop_assert_eq!(read, words);
    }
}
