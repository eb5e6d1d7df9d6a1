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
    put("projects/one/memory/untyped.md", "");
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
fn no_name_leads_out_of_the_store() {
    let (_top, stores) = stores();
    for name in ["../x", "a/b", ".hidden", "", "a\0b", "archive/a.1"] {
        let saved = stores.save(draft(name, FactType::User, "text"), NOW);
        assert!(matches!(saved, Err(MemoryError::Invalid(_))), "{name:?}");
        assert!(stores.find(name).is_err(), "{name:?}");
    }
}
