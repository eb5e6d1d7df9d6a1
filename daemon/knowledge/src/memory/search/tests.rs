use proto::params::memory::{FactScope, FactType};

use super::*;
use crate::memory::Fact;

fn saved(name: &str, description: &str, content: &str) -> SavedFact {
    SavedFact {
        scope: FactScope::Project,
        fact: Fact {
            name: name.to_owned(),
            description: description.to_owned(),
            fact_type: FactType::Project,
            created: None,
            updated: None,
            source: None,
            expires: None,
            superseded_by: None,
            content: content.to_owned(),
        },
    }
}

fn names(facts: &[SavedFact], query: &str) -> Vec<String> {
    let hits = search(facts, query, 10);
    hits.iter().map(|hit| hit.saved.fact.name.clone()).collect()
}

#[test]
fn best_match_is_first_and_the_description_counts_most() {
    let facts = [
        saved("style", "Use tabs", "Indent with tabs in Go files."),
        saved(
            "release",
            "How releases are made",
            "Tag, then run the tabs check.",
        ),
        saved("ci", "Where CI runs", "On the build farm."),
    ];
    assert_eq!(names(&facts, "tabs"), ["style", "release"]);
    assert_eq!(names(&facts, "RELEASES"), ["release"]);
    assert!(names(&facts, "nothing of this").is_empty());
    assert!(names(&facts, "").is_empty());
    assert!(names(&[], "tabs").is_empty());
}

#[test]
fn words_match_whatever_their_english_ending() {
    let facts = [
        saved("style", "Uses tabs", "Indented files."),
        saved("release", "How releases are made", "Tag it."),
    ];
    for query in ["tab", "indenting", "using"] {
        assert_eq!(names(&facts, query), ["style"], "{query}");
    }
    assert_eq!(names(&facts, "released"), ["release"]);
    assert!(names(&facts, "table").is_empty());
}

#[test]
fn accents_and_nouns_of_verbs_do_not_hide_a_fact() {
    let facts = [saved("café", "Deployment on Fridays", "Résumé first.")];
    for query in ["cafe", "deploy", "deployments", "resume", "RÉSUMÉ"] {
        assert_eq!(names(&facts, query).len(), 1, "{query}");
    }
}

#[test]
fn chinese_words_are_found_within_a_sentence() {
    let facts = [
        saved("deploy", "部署流程", "每次发布之前先运行集成测试。"),
        saved("style", "代码风格", "使用制表符缩进。"),
    ];
    assert_eq!(names(&facts, "集成测试"), ["deploy"]);
    assert_eq!(names(&facts, "风格"), ["style"]);
}

#[test]
fn weak_match_of_common_words_alone_is_dropped() {
    let mut facts: Vec<_> = (0..20)
        .map(|n| {
            saved(
                &format!("n{n}"),
                "The project",
                &"the of and ".repeat(n + 1),
            )
        })
        .collect();
    facts.push(saved(
        "rust",
        "The toolchain of the project",
        "rustc nightly",
    ));
    let found = names(&facts, "the nightly rustc toolchain");
    assert_eq!(found, ["rust"], "the others have only `the`");
}

#[test]
fn thousand_facts_are_searched_at_once() {
    let facts: Vec<_> = (0..2_000)
        .map(|n| {
            saved(
                &format!("n{n}"),
                &format!("fact number{n}"),
                "some words here",
            )
        })
        .collect();
    assert_eq!(names(&facts, "number1234"), ["n1234"]);
}
