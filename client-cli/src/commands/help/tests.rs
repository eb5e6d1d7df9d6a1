use super::{GROUPS, about, overview};

fn names() -> Vec<String> {
    let names = GROUPS.iter().flat_map(|(_, commands)| *commands);
    names.map(|(name, _)| name.to_lowercase()).collect()
}

#[test]
fn every_command_is_in_exactly_one_group() {
    let mut grouped = names();
    grouped.sort();
    let root = crate::command();
    let mut all: Vec<_> = root.get_subcommands().map(|one| one.get_name()).collect();
    all.sort_unstable();
    assert_eq!(grouped, all);
}

#[test]
fn groups_are_short_and_each_command_has_one_line() {
    for (title, commands) in GROUPS {
        let common = commands.iter().filter(|(_, mark)| mark.is_empty()).count();
        assert!((1..=10).contains(&common), "{title}: {common} lines");
    }
    for line in overview(&crate::command(), true).to_string().lines() {
        assert!(line.chars().count() <= 80, "wider than a terminal: {line}");
    }
    for command in crate::command().get_subcommands() {
        assert!(!about(command).is_empty(), "{}", command.get_name());
    }
}

#[test]
fn rare_commands_are_listed_only_with_all() {
    let root = crate::command();
    let (common, all) = (
        overview(&root, false).to_string(),
        overview(&root, true).to_string(),
    );
    for name in names() {
        assert!(all.contains(&format!("\n  {name} ")), "{name}");
    }
    assert!(common.contains("\n  run ") && !common.contains("\n  strace "));
}
