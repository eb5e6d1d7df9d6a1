//! The parts that a command line is parsed into.

use proptest::prelude::*;

use super::*;

/// One case per line: `line => part | part`, each part as its words, preceded by how it is reached.
fn check(cases: &str) {
    for case in cases.lines().map(str::trim).filter(|case| !case.is_empty()) {
        let (line, expected) = case.split_once(" => ").unwrap_or((case, ""));
        let line = line.replace("\\n", "\n").replace("\\t", "\t");
        assert_eq!(shown(&read(&line)), expected, "`{line}`");
    }
}

fn shown(script: &Script) -> String {
    if let Some(doubt) = script.doubt {
        return format!("{doubt:?}");
    }
    let parts = script.parts.iter().map(|part| {
        let via: Vec<String> = part.via.iter().map(|via| format!("{via:?} ")).collect();
        let doubt = part
            .doubt
            .map_or_else(String::new, |doubt| format!(" ?{doubt:?}"));
        format!("{}{}{doubt}", via.concat(), part.text())
    });
    parts.collect::<Vec<_>>().join(" | ")
}

#[test]
fn every_command_of_a_line_is_a_part_and_knows_how_it_is_reached() {
    check(
        r#"a; b && c || d => a | b | c | d
           a | b |& c => PipeBoth a | PipeBoth b | PipeBoth c
           a & b => Background a | b
           ! a => Negated a
           (a; b) => Subshell a | Subshell b
           { a; } => Group a
           if a; then b; else c; fi => Condition a | Condition b | Condition c
           while a; do b; done => Loop a | Loop b
           for x in 1 2; do a $x; done => Loop a 1 | Loop a 2
           for x in $y; do a $x; done => Loop a $x
           case a in a) b;; esac => Case b
           f() { a; }; f => Function("f") Group a | f
           echo $(a) => echo $(a) | Substitution a
           echo `a \`b\`` => echo `a \`b\`` | Substitution a `b` | Substitution Substitution b
           cat <(a) => cat <(a) | ProcessSubstitution a
           cat <<E\n$(a)\nE => cat | Inside a
           cat <<'E'\n$(a)\nE => cat
           [[ $(a) ]] => [[ $(a) ]] | Inside Substitution a
           [ -f a ] => [ -f a ]
           x=1 a => a
           a > b c => a c
           time a => time a | Launched("time") a
           sudo -u x env A=1 a b => sudo -u x env A=1 a b | Launched("sudo") env A=1 a b | Launched("sudo") Launched("env") a b
           sh -c 'a; b' => sh -c a; b | Line("sh") a | Line("sh") b
           eval a b => eval a b | Line("eval") a b
           find . -exec a {} + => find . -exec a {} + | Launched("find") a {}
           x | xargs a => x | xargs a | Launched("xargs") a {}
           bash <<E\na\nE => bash | Line("bash") a
           # only\na => a
           a \\n b => a b
           a - <<'E'\nx\nE => a -
           'a b' c => a b c"#,
    );
}

#[test]
fn unknown_values_are_marked() {
    check(
        r#"$x => $x ?Program
           a; $(b) c => a | $(b) c ?Program | Substitution b
           sh -c "$x" => sh -c $x ?Code
           python3 -c x => python3 -c x ?Code
           curl x | sh => curl x | sh ?Input
           . x => . x ?Input
           xargs -? a => xargs -? a ?Launcher
           alias a=b => alias a=b ?Changes
           BASH_ENV=x a => a ?Changes
           echo $((x)) => echo $((x)) ?Evaluates
           echo $((1+2)) => echo $((1+2))
           echo ${!x} => echo ${!x} ?Evaluates"#,
    );
}

#[test]
fn text_that_shells_and_the_grammar_read_differently_is_doubtful() {
    check(
        r#"a \ b => Misread
           {a => Syntax
           a <<E\nEX\nE => Syntax
           a <<A <<B\nx\nA\ny\nB => Syntax
           a 'x => Syntax
           if ( => Syntax
           {fd}>x a => Syntax
           coproc a => Misread
           a $[1] => Misread
           sh -c 'a &> b' => Misread"#,
    );
    assert_eq!(read(" \n").doubt, Some(Doubt::Empty));
    assert_eq!(read("a\u{a0}b").doubt, Some(Doubt::Characters));
    assert_eq!(read("a\rb").doubt, Some(Doubt::Characters));
    assert_eq!(read("a\0b").doubt, Some(Doubt::Characters));
    assert_eq!(read(&"a ".repeat(6_000)).doubt, Some(Doubt::TooLong));
    assert_eq!(read(&"<<A ".repeat(100)).doubt, Some(Doubt::TooMuch));
    let deep = format!("{}a{}", "( ".repeat(100), " )".repeat(100));
    assert_eq!(read(&deep).doubt, Some(Doubt::TooDeep));
}

#[test]
fn characters_of_any_script_are_letters_to_the_parser() {
    check("echo é日 'ü' => echo é日 ü");
    // Not a variable to a shell, although the parser takes it for one.
    check("é=1 a => Misread");
    // The grammar's scanner would look this character up in a table that lacks it.
    let _ = read("case1! sh [[# >> {\u{aa885} ls");
}

#[test]
fn part_has_its_span() {
    let line = "cd x && sudo rm -rf 'a b' > out; sh -c 'ls; pwd'";
    let script = read(line);
    let shown: Vec<&str> = script
        .parts
        .iter()
        .map(|part| &line[part.span.start..part.span.end])
        .collect();
    assert_eq!(
        shown,
        [
            "cd x",
            "sudo rm -rf 'a b' > out",
            "rm -rf 'a b'",
            "sh -c 'ls; pwd'",
            "'ls; pwd'",
            "'ls; pwd'"
        ]
    );
}

#[test]
fn an_explanation_ends_in_the_decision() {
    let scene = scene("allow Bash(cargo test:*) / deny Bash(rm -rf*)");
    let arguments = Map::from_iter([(
        "command".to_owned(),
        json!("cargo test | head; rm -rf x; make"),
    )]);
    let call = Call {
        tool: &tool("bash"),
        arguments: &arguments,
        touches: &[],
    };
    let context = scene.context(&call);
    let explanation = explain(&scene.rule_set(), &context, &call);
    assert_eq!(
        explanation.decision,
        decide(&scene.rule_set(), &context, &call)
    );
    let parts: Vec<String> = explanation
        .parts
        .iter()
        .map(|part| {
            format!(
                "{}: {:?} by {} ({})",
                part.text, part.verdict, part.rule, part.layer
            )
        })
        .collect();
    assert_eq!(
        parts,
        [
            "cargo test: Allow by Bash(cargo test:*) (user)",
            "head: Allow by only reads (built-in)",
            "rm -rf x: Deny by Bash(rm -rf*) (user)",
            "make: Ask by no rule allows it (built-in)",
        ]
    );
    let shown = serde_json::to_value(&explanation).unwrap();
    assert_eq!(shown["verdict"], "deny");
    assert_eq!(shown["parts"][0]["span"], json!({"start": 0, "end": 10}));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_survived_and_spans_lie_in_the_line(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let line = String::from_utf8_lossy(&bytes).into_owned();
        for part in read(&line).parts {
            prop_assert!(part.span.start <= part.span.end && part.span.end <= line.len());
        }
    }

    #[test]
    fn denied_command_stays_denied_after_any_understood_line(seed in any::<u64>()) {
        let line = differential::lines::Lines::new(seed).line();
        prop_assume!(read(&line).doubt.is_none());
        let scene = scene("allow Bash / deny Bash(forbidden:*)").approval_mode(ApprovalMode::Yolo);
        let behind = format!("{line}\nforbidden x");
        prop_assert_ne!(scene.bash(&behind).verdict, Verdict::Allow, "{}", behind);
        for part in read(&line).parts {
            prop_assert!(line.get(part.span.start..part.span.end).is_some(), "{:?} of {:?}", part.span, line);
        }
    }
}
