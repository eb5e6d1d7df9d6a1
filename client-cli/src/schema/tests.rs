use super::*;

#[test]
fn each_command_stands_in_the_table_once() {
    let mut names: Vec<_> = commands().collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn a_schema_is_complete_in_itself() {
    for command in commands() {
        let text = schema(command).expect(command).to_string();
        for name in text
            .split("\"#/$defs/")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
        {
            assert!(
                schema(command).expect(command)["$defs"][name].is_object(),
                "{command}: {name}"
            );
        }
    }
    assert!(schema("no such command").is_none());
}

#[test]
fn what_is_always_printed_is_required() {
    let stats = schema("stats").expect("stats");
    let required = stats["$defs"]["StatsRow"]["required"].to_string();
    assert!(required.contains("usage"), "{stats}");
    let all = all();
    assert_eq!(all["commands"]["logs"]["lines"], true);
    assert!(all["commands"]["ls"]["schema"]["items"]["$ref"].is_string());
}
