use super::*;

fn names(typed: &str, names: &[&str]) -> Vec<String> {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    files(typed, &names)
}

#[test]
fn files_are_ordered_as_people_look_for_them() {
    let all = &[
        ".git/",
        "target/",
        "b.rs",
        "src/",
        "a.rs",
        ".env",
        "node_modules/",
    ];
    assert_eq!(
        names("", all),
        ["src/", "a.rs", "b.rs", "node_modules/", "target/"]
    );
    assert_eq!(names(".", all), [".env", ".git/"]);
    assert_eq!(names("t", all), ["target/"]);
    assert_eq!(names("ars", all), ["a.rs"]);
    assert_eq!(names("zz", all), Vec::<String>::new());
}

/// The menu for a typed name when the names of its directory have come.
fn listed(name: &str, names: &[&str]) -> Menu {
    let mut menu = Menu {
        typed: Some(Typed {
            at: 0,
            parent: String::new(),
            name: name.to_owned(),
        }),
        asked: Some("/p".into()),
        ..Menu::default()
    };
    assert!(menu.tree.needs("/p".as_ref()));
    menu.listed(
        "/p".into(),
        names.iter().map(|&name| name.to_owned()).collect(),
    );
    menu
}

fn walked(menu: &mut Menu, paths: &[&str]) -> Vec<String> {
    let paths = paths.iter().map(|&path| path.to_owned());
    menu.walked("/p".into(), paths.collect());
    let Entries::Files(files) = &menu.entries else {
        panic!("no files")
    };
    let paths = files
        .iter()
        .map(|file| format!("{}{}", file.parent, file.name));
    paths.collect()
}

#[test]
fn later_file_matches_do_not_change_an_explicit_selection() {
    let all = ["src/log.rs", "colours.rs", "src/"];
    let wanted = ["src/log.rs", "colours.rs"];
    let mut menu = listed("lo", &["colours.rs", "src/"]);
    assert_eq!(walked(&mut menu, &all), wanted);
    assert_eq!(menu.selected, 0);
    let mut menu = listed("lo", &["colours.rs", "src/"]);
    menu.step(true);
    assert_eq!(walked(&mut menu, &all), wanted);
    assert_eq!(menu.selected, 1, "the one that was chosen");
}

#[test]
fn what_git_ignores_is_found_by_its_first_letters_only() {
    let names = ["node_modules/", "lib/", "dist/"];
    let mut menu = listed("l", &names);
    assert_eq!(walked(&mut menu, &["lib/"]), ["lib/"]);
    let mut menu = listed("i", &names);
    assert_eq!(walked(&mut menu, &["lib/"]), ["lib/"]);
    let mut menu = listed("no", &names);
    assert_eq!(walked(&mut menu, &["lib/"]), ["node_modules/"]);
}

#[test]
fn a_path_begins_where_a_word_does() {
    let typed = |text: &str| path(text, text.len()).map(|it| (it.at, it.parent, it.name));
    let is = |at: usize, parent: &str, name: &str| Some((at, parent.to_owned(), name.to_owned()));
    assert_eq!(typed("@"), is(0, "", ""));
    assert_eq!(typed("see @src/ma"), is(4, "src/", "ma"));
    assert_eq!(typed("(@~/x"), is(1, "~/", "x"));
    assert_eq!(typed("a\n@../b"), is(2, "../", "b"));
    assert_eq!(typed("@\"my dir/a b"), is(0, "my dir/", "a b"));
    assert_eq!(typed("看@src/中"), is(3, "src/", "中"));
    assert_eq!(typed("me@example.org"), None);
    assert_eq!(typed("some/@types/x"), None);
    assert_eq!(typed("@src x"), None);
    assert_eq!(typed("@\"my file\" x"), None);
    assert_eq!(path("@src", 1), None, "in the middle of a word");
}

#[test]
fn commands_that_begin_so_come_first() {
    let names = |word, role| {
        let found = choices::fitting(word, role, &[]);
        found
            .iter()
            .map(|it| it.name().to_owned())
            .collect::<Vec<_>>()
    };
    let first = |word, role| names(word, role).first().cloned();
    assert_eq!(names("", Role::Drive).len(), COMMANDS.len());
    assert_eq!(first("q", Role::Drive), Some("quit".to_owned()));
    assert_eq!(first("que", Role::Drive), Some("queue".to_owned()));
    assert_eq!(first("exi", Role::Drive), Some("quit".to_owned()));
    assert_eq!(first("apm", Role::Drive), Some("approval-mode".to_owned()));
    assert_eq!(first("rewi", Role::Watch), None, "not for who only reads");
    assert!(names("zzz", Role::Drive).is_empty());
}
