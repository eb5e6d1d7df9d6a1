use super::*;

fn absolute(path: &str) -> Result<PathBuf, String> {
    Ok(PathBuf::from("/home/ann").join(path))
}

/// Takes these entries; the problems.
fn check(entries: &[&str]) -> (Autostart, Vec<String>) {
    let mut found = Autostart::default();
    let mut problems = Vec::new();
    for (index, text) in entries.iter().enumerate() {
        let place = format!("config.toml:{}", index + 1);
        problems.extend(found.take(text, place, &absolute).err());
    }
    (found, problems)
}

#[test]
fn a_goal_and_a_server_are_read_with_their_options() {
    let (found, problems) = check(&[
        "name = \"nightly\"\ngoal = \" Keep it green. \"\ndir = \"app\"\nmax_turns = 9\ncheck = [\"make test\"]\n\
         budget_usd = 0.5\nbudget_minutes = 2\nrestart = \"on-failure\"\nmodel = \"m\"\nrequired = true",
        "name = \"docs\"\nserver = \"docs\"",
    ]);
    assert_eq!(problems, Vec::<String>::new());
    let [nightly, docs] = found.entries.as_slice() else {
        panic!("two entries: {found:?}");
    };
    let AutostartAction::Goal(goal) = &nightly.what else {
        panic!("a goal: {nightly:?}");
    };
    assert!(nightly.required && !docs.required);
    assert_eq!(
        (goal.text.as_str(), goal.max_turns),
        ("Keep it green.", Some(9))
    );
    assert_eq!(goal.dir, PathBuf::from("/home/ann/app"));
    let budget = goal.options.budget.expect("a budget");
    assert_eq!(
        (budget.cost_micros, budget.ms),
        (Some(500_000), Some(120_000))
    );
    assert_eq!(goal.options.on_ask, Some(OnAsk::Sandboxed));
    assert_eq!(goal.options.restart, Some(RestartPolicy::OnFailure));
    assert_eq!(
        docs.what,
        AutostartAction::Server {
            name: "docs".to_owned(),
            dir: None
        }
    );
    let keys: Vec<_> = found.values().map(|value| value.key).collect();
    assert_eq!(keys, ["autostart.nightly", "autostart.docs"]);
}

#[test]
fn an_entry_that_cannot_be_used_is_ignored_alone_and_refused_if_it_is_required() {
    let (found, problems) = check(&[
        "name = \"a\"",
        "name = \"b\"\ngoal = \"x\"",
        "name = \"c\"\ngoal = \"x\"\nserver = \"y\"\ndir = \"z\"",
        "name = \"d d\"\nserver = \"y\"",
        "name = \"e\"\nserver = \"y\"\nmax_turns = 3\nrequired = true",
        "name = \"f\"\nserver = \"y\"\nshape = 1\nrequired = true",
        "name = \"g\"\ngoal = \"x\"\ndir = \"z\"\nbudget_usd = -1",
        "name = \"h\"\nserver = \"y\"",
        "name = \"h\"\nserver = \"z\"",
    ]);
    let wanted = [
        "config.toml:1: this autostart entry is ignored: it needs a `goal` or a `server`",
        "config.toml:2: this autostart entry is ignored: a goal needs `dir`, the directory to work in",
        "config.toml:3: this autostart entry is ignored: it has both `goal` and `server`",
        "config.toml:4: this autostart entry is ignored: `name` must have",
        "config.toml:5: this autostart entry is ignored: a server has no `max_turns`",
        "config.toml:6: this autostart entry is ignored: unknown field `shape`",
        "config.toml:7: this autostart entry is ignored: `budget_usd` must be",
        "config.toml:9: this autostart entry is ignored: another entry has the name `h`",
    ];
    assert_eq!(problems.len(), wanted.len(), "{problems:#?}");
    for (problem, wanted) in problems.iter().zip(wanted) {
        assert!(problem.starts_with(wanted), "{problem}");
    }
    assert_eq!(found.entries.len(), 1);
    assert_eq!(found.refused, problems[4..6]);
}

#[test]
fn every_field_of_an_entry_is_described() {
    let text = "name = \"n\"\ngoal = \"x\"\nserver = \"y\"\ndir = \"z\"\nrequired = true\nmax_turns = 1\n\
                check = []\nbudget_usd = 1\nbudget_tokens = 1\nbudget_steps = 1\nbudget_minutes = 1\nmax_steps = 1\n\
                model = \"m\"\neffort = \"low\"\napproval_mode = \"ask\"\non_ask = \"deny\"\nrestart = \"never\"";
    let table: toml::Table = text.parse().expect("TOML");
    toml::from_str::<Written>(text).expect("all fields are known");
    let mut written: Vec<_> = table.keys().map(String::as_str).collect();
    let mut described: Vec<_> = FIELDS.iter().map(|(name, _)| *name).collect();
    written.sort_unstable();
    described.sort_unstable();
    assert_eq!(written, described);
}
