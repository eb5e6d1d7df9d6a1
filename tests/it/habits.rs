//! What users of other agents type: each is refused with what does it here.

use tests::House;

#[test]
fn commands_and_options_of_other_agents_are_refused_with_ours() {
    let house = House::new();
    for (arguments, ours) in [
        (&["exec", "fix it"][..], "use `reasonix run \"fix it\"`"),
        (
            &["exec", "--full-auto", "fix it"],
            "use `reasonix run --approval-mode auto \"fix it\"`",
        ),
        (&["exec", "-a", "never", "fix it"], "use `reasonix run`"),
        (&["exec"], "use `reasonix run`"),
        (&["sessions"], "use `reasonix ls`"),
        (&["run", "--yolo", "x"], "use `--approval-mode yolo`"),
        (&["--full-auto"], "use `--approval-mode auto`"),
        (&["kill", "-KILL", "3"], "use `--signal KILL`"),
        (&["kill", "-9", "3"], "use `--signal KILL`"),
        (
            &["exec", "--oss", "hi"],
            "use `reasonix run --model PROVIDER/MODEL hi`",
        ),
        (
            &["run", "--dangerously-skip-permissions", "x"],
            "use `--approval-mode yolo`",
        ),
        (&["run", "--max-turns=3", "x"], "use `--max-steps N`"),
        (&["resume"], "`reasonix -r` lets you choose"),
    ] {
        let done = house.reasonix(arguments).expect_code(64);
        assert!(done.err.contains(ours), "{arguments:?}: {}", done.err);
        assert!(done.err.lines().count() <= 2, "{arguments:?}: {}", done.err);
        assert_eq!(done.out, "", "{arguments:?}");
        let chinese = tests::program::run(house.command(arguments).env("LANG", "zh_CN.UTF-8"));
        assert!(
            chinese.err.contains("请用") || chinese.err.contains("从中选择"),
            "{chinese:?}"
        );
    }
    // A script that reads results gets one.
    let done = house
        .reasonix(&["run", "--json", "--yolo", "x"])
        .expect_code(64);
    assert_eq!(done.json()["error"]["name"], "usage");
}
