//! The bound on the work of one decision.

use super::*;

#[test]
fn the_work_is_bounded_for_the_longest_input_and_many_rules() {
    let many = |make: &dyn Fn(usize) -> String| (0..10_000).map(make).collect::<Vec<_>>();
    let lists = [
        many(&|index| format!("Bash(tool-{index}:*)")),
        many(&|index| format!("Bash(*x{index}*)")),
        many(&|index| format!("Bash(a a a a a a {index}*)")),
        many(&|index| format!("Bash(rm -{index})")),
        many(&|index| format!("Edit(a/**/x{index}*/b)")),
        many(&|index| format!("Read(a/b{index}/**)")),
    ];
    let inputs = [
        "a ".repeat(100_000),
        "rm ".repeat(66_000),
        "(".repeat(200_000),
        "'".repeat(199_999),
        "a/".repeat(100_000),
        "a/".repeat(2_000),
        "a ".repeat(4_990),
        "rm -x ".repeat(1_600),
        format!("rm {}", "-a=a:a ".repeat(60)),
    ];
    let inputs = &inputs;
    std::thread::scope(|threads| {
        for list in lists {
            threads.spawn(move || bounded(&list, inputs));
        }
    });
}

fn bounded(list: &[String], inputs: &[String]) {
    for (allow, deny) in [(Vec::new(), list.to_vec()), (list.to_vec(), Vec::new())] {
        let rules = Rules {
            allow,
            deny,
            ask: Vec::new(),
        };
        let scene = Scene {
            rules,
            approval_mode: ApprovalMode::Yolo,
            effective_permissions: EffectivePermissions::default(),
            sandbox: SandboxStrength::None,
            ..scene("")
        };
        let set = scene.rule_set();
        for input in inputs {
            for (name, key) in [("bash", "command"), ("write_file", "path")] {
                let arguments = Map::from_iter([(key.to_owned(), json!(input))]);
                let call = Call {
                    tool: &tool(name),
                    arguments: &arguments,
                    touches: &[],
                };
                let context = scene.context(&call);
                let started = std::time::Instant::now();
                let decision = decide(&set, &context, &call);
                let took = started.elapsed();
                // The bound of 50 ms is for an optimised build; this build and machine may be far slower.
                assert!(
                    took.as_secs() < 5,
                    "`{name}` with {:?}… took {took:?}",
                    &input[..4]
                );
                if took.as_millis() < 50 {
                    // Slow inputs are skipped here: `properties` checks the same for any call.
                    assert_eq!(decision, decide(&set, &context, &call));
                }
            }
        }
    }
}

#[test]
fn commands_too_long_for_the_deny_rules_are_denied() {
    let rules = Rules {
        deny: (0..10_000)
            .map(|index| format!("Bash(*x{index}*)"))
            .collect(),
        ..Rules::default()
    };
    let scene = Scene {
        rules,
        approval_mode: ApprovalMode::Yolo,
        effective_permissions: EffectivePermissions::default(),
        sandbox: SandboxStrength::None,
        ..scene("")
    };
    let decision = scene.bash(&"a ".repeat(100_000));
    assert_eq!(decision.verdict, Verdict::Deny);
    assert!(decision.rule.contains("too long"), "{}", decision.rule);
}
