use proto::params::memory::FactType;
use tempfile::TempDir;

use super::*;

const NOW: Stamp = Stamp(1_764_166_804_000);

fn stores() -> (TempDir, FactStores) {
    let top = TempDir::new().unwrap();
    let project = top.path().join("projects/one/memory");
    std::fs::create_dir(top.path().join("projects")).unwrap();
    let stores = FactStores::new(top.path().join("memory"), project);
    (top, stores)
}

fn draft(name: &str, fact_type: FactType, content: &str) -> FactDraft {
    FactDraft {
        name: name.to_owned(),
        description: format!("About {name}"),
        fact_type,
        content: content.to_owned(),
        source: Some("s-1".to_owned()),
        ..FactDraft::default()
    }
}

#[test]
fn fact_in_the_store_of_another_type_is_left_out_with_its_line() {
    let (top, stores) = stores();
    let put = |file: &str, fact_type: &str| {
        let path = top.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = format!("---\ndescription: One\n{fact_type}---\n\nText.\n");
        std::fs::write(path, text).unwrap();
    };
    put("memory/goal.md", "type: project\n");
    put("memory/untyped.md", "");
    put("projects/one/memory/tabs.md", "type: user\n");
    put("projects/one/memory/plain.md", "");
    let loaded = stores.load();
    let top = top.path().display();
    assert_eq!(
        loaded.problems,
        [
            format!(
                "`{top}/memory/goal.md:3` is left out: facts of the type `project` belong in `{top}/projects/one/memory`."
            ),
            format!(
                "`{top}/projects/one/memory/tabs.md:3` is left out: facts of the type `user` belong in `{top}/memory`."
            ),
        ]
    );
    assert_eq!(loaded.facts.len(), 2);
    assert!(matches!(
        stores.find("goal"),
        Err(MemoryError::Unusable { .. })
    ));
    // Saving it puts it where it belongs.
    stores
        .save(draft("goal", FactType::Project, "ship"), NOW)
        .unwrap();
    assert_eq!(stores.find("goal").unwrap().scope, FactScope::Project);
}

#[test]
fn fact_is_saved_by_its_type_found_forgotten_and_restored() {
    let (_top, stores) = stores();
    let saved = stores
        .save(draft("tabs", FactType::Feedback, "one"), NOW)
        .unwrap();
    assert_eq!(saved.scope, FactScope::User);
    stores
        .save(draft("goal", FactType::Project, "ship"), NOW)
        .unwrap();
    let loaded = stores.load();
    assert_eq!(loaded.problems, Vec::<String>::new());
    assert_eq!(
        loaded.index_lines(NOW),
        [
            "- tabs (feedback): About tabs",
            "- goal (project): About goal"
        ]
    );
    // Another type, another store: one fact.
    stores
        .save(draft("tabs", FactType::Project, "two"), NOW)
        .unwrap();
    assert_eq!(stores.find("Tabs").unwrap().scope, FactScope::Project);
    assert_eq!(stores.load().facts.len(), 2);
    assert_eq!(stores.forget("tabs").unwrap().fact.content, "two");
    assert!(matches!(
        stores.forget("tabs"),
        Err(MemoryError::NotFound(_))
    ));
    assert_eq!(stores.archived().unwrap().len(), 2);
    assert_eq!(stores.restore("tabs", None).unwrap().fact.content, "two");
    let found = stores.find("tabs").unwrap();
    assert_eq!(
        (found.fact.content.as_str(), found.fact.source.as_deref()),
        ("two", Some("s-1"))
    );
    assert!(matches!(
        stores.restore("none", None),
        Err(MemoryError::NotArchived(_))
    ));
}

#[test]
fn malformed_file_is_left_out_with_its_line_and_the_rest_works() {
    let (_top, stores) = stores();
    stores
        .save(draft("good", FactType::User, "text"), NOW)
        .unwrap();
    let bad = stores.user.path("bad");
    std::fs::write(&bad, "---\ndescription: [\n---\n").unwrap();
    let hidden = stores.user.path("hidden");
    std::fs::write(&hidden, "---\ndescription: d\n---\n\u{1b}]0;x\u{7}").unwrap();
    let loaded = stores.load();
    assert_eq!(loaded.facts.len(), 1);
    let [first, second] = &loaded.problems[..] else {
        panic!("{:?}", loaded.problems)
    };
    assert!(first.contains("bad.md:2` is left out"), "{first}");
    assert!(second.contains("hidden.md:4` is left out"), "{second}");
    // A fact may take its name.
    stores
        .save(draft("bad", FactType::User, "text"), NOW)
        .unwrap();
    assert_eq!(stores.load().facts.len(), 2);
}

#[test]
fn fact_that_nothing_supersedes_counts_and_is_reported() {
    let (top, stores) = stores();
    for name in ["new", "old", "self", "lost", "a", "b"] {
        stores
            .save(draft(name, FactType::User, "text"), NOW)
            .unwrap();
    }
    let superseded = |name: &str, by: &str| {
        let path = stores.user.path(name);
        let text = std::fs::read_to_string(&path).unwrap();
        let head = format!("---\nsuperseded_by: {by}\n");
        std::fs::write(path, text.replacen("---\n", &head, 1)).unwrap();
    };
    for (name, by) in [
        ("old", "new"),
        ("self", "self"),
        ("lost", "nonesuch"),
        ("a", "b"),
        ("b", "a"),
    ] {
        superseded(name, by);
    }
    let loaded = stores.load();
    let facts = loaded.facts.iter().map(|saved| &saved.fact);
    let stale = facts.filter(|fact| fact.is_stale("2026-01-01"));
    let stale: Vec<_> = stale.map(|fact| fact.name.as_str()).collect();
    assert_eq!(stale, ["old"]);
    let top = top.path().display();
    let circle = "`superseded_by` leads back to it, so the fact counts.";
    assert_eq!(
        loaded.problems,
        [
            format!("`{top}/memory/a.md:2`: {circle}"),
            format!("`{top}/memory/b.md:2`: {circle}"),
            format!("`{top}/memory/lost.md:2`: there is no fact `nonesuch`, so the fact counts."),
            format!("`{top}/memory/self.md:2`: {circle}"),
        ]
    );
    for by in ["tabs", "nonesuch"] {
        let draft = FactDraft {
            superseded_by: Some(by.to_owned()),
            ..draft("tabs", FactType::User, "text")
        };
        let refused = stores.save(draft, NOW);
        assert!(
            matches!(refused, Err(MemoryError::NotSuperseding(_))),
            "{by}"
        );
    }
}

#[test]
fn name_in_both_stores_is_the_projects_fact() {
    let (_top, stores) = stores();
    stores
        .save(draft("tabs", FactType::Project, "ours"), NOW)
        .unwrap();
    let path = stores.user.path("tabs");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "---\ndescription: Mine\ntype: user\n---\n\nMine.\n").unwrap();
    let loaded = stores.load();
    assert_eq!(loaded.facts.len(), 1);
    assert_eq!(loaded.facts[0].scope, FactScope::Project);
    let [problem] = &loaded.problems[..] else {
        panic!("{:?}", loaded.problems)
    };
    assert!(
        problem
            .ends_with("tabs.md` is left out: the project has a fact of this name, which counts."),
        "{problem}"
    );
}

#[test]
fn no_name_leads_out_of_the_store() {
    let (_top, stores) = stores();
    for name in ["../x", "a/b", ".hidden", "", "a\0b", "archive/a.1"] {
        let saved = stores.save(draft(name, FactType::User, "text"), NOW);
        assert!(matches!(saved, Err(MemoryError::Invalid(_))), "{name:?}");
        assert!(stores.find(name).is_err(), "{name:?}");
    }
}
