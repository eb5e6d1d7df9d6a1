//! Settings that become stricter while a session runs: they hold from its next call on, however they were written; what
//! is lifted waits.

use std::fs;

use proto::item::CallStatus;
use proto::{Body, Pid};
use testkit::Script;
use tests::House;
use tests::gate::Gate;

const DENY: &str = "permissions = { deny = [\"Bash(make:*)\"] }\n";

/// A command at each of these gates, and `make test` after it.
fn house_of(gates: &[&str]) -> House {
    let script = gates.iter().fold(Script::new(), |script, gate| {
        script.runs(&Gate::command(gate)).runs("make test")
    });
    let house = House::playing(&script.says("Done."));
    house.files("//- Makefile\ntest:\n\t@echo tested\n");
    house.daemon();
    house
}

/// What became of `make test`, call by call, where each of these changes is made while the command before it runs.
fn after(house: &House, changes: &[(&str, &dyn Fn())]) -> Vec<CallStatus> {
    let running = house.start(&["run", "--on-ask", "allow", "work"]);
    for (name, change) in changes {
        let gate = Gate::new(house, name);
        gate.wait();
        change();
        gate.open();
    }
    let _ = running.done();
    let results = house.log(Pid(1)).check().results();
    let calls = results.into_iter().map(|result| result.status);
    calls.skip(1).step_by(2).collect()
}

/// The notices about stricter settings.
fn stricter_notices(house: &House) -> Vec<String> {
    let bodies = house.log(Pid(1)).bodies();
    let notices = bodies.into_iter().filter_map(|body| match body {
        Body::Notice(notice) => Some(notice.text),
        _ => None,
    });
    notices.filter(|text| text.contains("stricter")).collect()
}

/// Writes the user's config again, with this before it.
fn put_before(house: &House, text: &str) {
    let file = house.home_file("config.toml");
    let whole = fs::read_to_string(&file).expect("the config");
    fs::write(&file, format!("{text}{whole}")).expect("write the config");
}

#[test]
fn a_deny_rule_written_by_hand_holds_in_a_running_turn_and_stays_when_it_is_taken_away() {
    let house = house_of(&["one", "two"]);
    let file = house.home_file("config.toml");
    let before = fs::read_to_string(&file).expect("the config");
    let add = || put_before(&house, DENY);
    let lift = || fs::write(&file, &before).expect("write the config");
    let statuses = after(&house, &[("one", &add), ("two", &lift)]);
    assert_eq!(statuses, [CallStatus::Denied, CallStatus::Denied]);
    let [notice] = &stricter_notices(&house)[..] else {
        panic!("not reported once: {:?}", stricter_notices(&house))
    };
    assert!(notice.contains("deny Bash(make:*)"), "{notice}");
}

#[test]
fn the_rules_of_a_project_that_nobody_trusts_and_rules_kept_for_it_tighten_a_running_turn() {
    let house = house_of(&["one"]);
    let project = house.project().join("reasonix.toml");
    // One that came while a command runs would be moved to quarantine.
    fs::write(&project, "# nothing yet\n").expect("write the project's config");
    let add = || fs::write(&project, DENY).expect("write the project's config");
    assert_eq!(after(&house, &[("one", &add)]), [CallStatus::Denied]);

    let house = house_of(&["one"]);
    let slug = store::home::Home::open(&house.home()).expect("the home");
    let root = house.project().canonicalize().expect("the project");
    let kept = slug.project_dir(&root).join("permissions.toml");
    let add = || {
        fs::create_dir_all(kept.parent().expect("a directory")).expect("make it");
        fs::write(&kept, "[permissions]\ndeny = [\"Bash(make:*)\"]\n").expect("write");
    };
    assert_eq!(after(&house, &[("one", &add)]), [CallStatus::Denied]);
}

#[test]
fn settings_that_break_in_a_running_turn_ask_about_what_changes_something() {
    let house = house_of(&["one"]);
    let broken = || put_before(&house, "permissions = { deny = [\"Bash(make:*)\" }\n");
    // Nobody is there to be asked.
    assert_eq!(after(&house, &[("one", &broken)]), [CallStatus::Denied]);
}

#[test]
fn config_set_says_which_running_sessions_it_reached() {
    let house = house_of(&["one"]);
    let set = || {
        let rules = "[\"Bash(make:*)\"]";
        let done = house
            .reasonix(&["config", "set", "permissions.deny", rules])
            .expect_code(0);
        let said = format!("{}{}", done.out, done.err);
        assert!(
            said.contains("follow it from their next call: 1;"),
            "{said}"
        );
        let listed = house.reasonix(&["permissions", "list", "-s", "1"]);
        assert!(listed.out.contains("Bash(make:*)"), "{}", listed.out);
    };
    assert_eq!(after(&house, &[("one", &set)]), [CallStatus::Denied]);
}
