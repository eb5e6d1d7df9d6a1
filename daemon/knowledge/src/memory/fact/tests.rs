use proptest::prelude::*;

use super::*;

const NOW: Stamp = Stamp(1_764_166_804_000);

fn draft(name: &str, description: &str, content: &str) -> FactDraft {
    FactDraft {
        name: name.to_owned(),
        description: description.to_owned(),
        content: content.to_owned(),
        ..FactDraft::default()
    }
}

#[test]
fn file_of_a_person_is_read() {
    let text = "---\nname: tabs\ndescription: Use tabs\ntype: feedback\nexpires: 2026-01-31\nother: [1]\n---\n\nAlways.\r\n";
    let fact = Fact::parse("tabs", text).unwrap();
    assert_eq!(
        (fact.description.as_str(), fact.fact_type),
        ("Use tabs", FactType::Feedback)
    );
    assert_eq!(
        (fact.content.as_str(), fact.source.as_ref()),
        ("Always.", None)
    );
    assert!(!fact.is_stale("2026-01-31"));
    assert_eq!(
        fact.stale_mark("2026-02-01").as_deref(),
        Some("expired on 2026-01-31")
    );
}

#[test]
fn fault_has_its_line() {
    let fault = |name: &str, text: &str| {
        let error = Fact::parse(name, text).unwrap_err();
        (error.line, error.reason)
    };
    let (line, reason) = fault("a", "---\nname: b\ndescription: d\n---\nx");
    assert_eq!(
        (line, reason.as_str()),
        (2, "its `name` is not the name of the file")
    );
    assert_eq!(fault("a", "no front matter").0, 1);
    assert_eq!(
        fault("a", "---\ndescription: d\nexpires: soon\n---\nx").0,
        3
    );
    assert_eq!(fault("a", "---\ndescription: d\ntype: secret\n---\nx").0, 3);
    assert_eq!(fault("a", "---\ndescription: [\n---\nx").0, 2);
    assert_eq!(fault("a", "---\ndescription: d\n---\nx\n\u{1b}[2J").0, 5);
    assert_eq!(fault("a", "---\ndescription: d\u{202e}\n---\nx").0, 2);
    assert_eq!(fault("a", "---\ndescription: \"d\\e[2J\"\n---\nx").0, 2);
    assert_eq!(fault("A b", "---\ndescription: d\n---\nx").0, 1);
}

#[test]
fn draft_is_checked() {
    let reason = |draft: FactDraft| draft.into_fact(NOW, None).unwrap_err().0;
    assert!(reason(draft("../a", "d", "c")).contains("cannot be the name of a fact"));
    assert!(reason(draft("", "d", "c")).contains("cannot be the name"));
    assert!(reason(draft("a", " ", "c")).contains("cannot be empty"));
    assert!(reason(draft("a", "d\ne", "c")).contains("one line"));
    assert!(reason(draft("a", "d", "c\u{7}")).contains("control characters"));
    assert!(reason(draft("a", &"d".repeat(201), "c")).contains("more than 200"));
    assert!(reason(draft("a", "d", &"c".repeat(20_000))).contains("more than 16384"));
    let fact = draft("Tabs", "d", "c\r\nd").into_fact(NOW, None).unwrap();
    assert_eq!(
        (fact.name.as_str(), fact.content.as_str()),
        ("tabs", "c\nd")
    );
    let later = Stamp(NOW.0 + 1000);
    let again = draft("tabs", "e", "f")
        .into_fact(later, Some(&fact))
        .unwrap();
    assert_eq!(again.created, fact.created);
    assert_ne!(again.updated, fact.updated);
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_it_was(
        name in "[a-z0-9][a-z0-9_-]{0,20}",
        description in "\\PC{1,60}",
        content in "(\\PC|\n|\t|---\n){1,200}",
        source in proptest::option::of("[0-9a-f-]{36}"),
        expires in proptest::option::of("20[0-9]{2}-0[1-9]-1[0-9]"),
        superseded_by in proptest::option::of("[a-z]{1,10}"),
    ) {
        let draft = FactDraft { source, expires, superseded_by, ..draft(&name, &description, &content) };
        if let Ok(fact) = draft.into_fact(NOW, None) {
            let read = Fact::parse(&name, &fact.render());
            prop_assert_eq!(read, Ok(fact));
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "(---\n)?[a-z:\\[\\]{}&*!\"'\n -]{0,80}(---\n)?.{0,20}") {
        let _ = Fact::parse("a", &text);
    }
}
