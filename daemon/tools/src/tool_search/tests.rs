//! Scenes.

use super::*;

fn spec(name: &str, description: &str) -> ToolSpec {
    ToolSpec {
        deferred: true,
        ..ToolSpec::new(name, description, json!({"type": "object"}), Family::Edit)
    }
}

fn deferred() -> Vec<ToolSpec> {
    vec![
        spec("apply_patch", "Apply a unified diff to several files."),
        spec("copy_file", "Copy a file or a folder. Links stay links."),
        spec("delete_file", "Delete a file or an empty folder."),
        spec("make_dir", "Make a folder and those above it."),
        spec("move_file", "Move or rename a file or a folder."),
        spec("view_file", "Show a file."),
        spec("zip_file", "Pack a file."),
    ]
}

fn found(query: &str) -> Vec<String> {
    let deferred = deferred();
    let found = find(query, &deferred.iter().collect::<Vec<_>>());
    found.iter().map(|spec| spec.name.to_string()).collect()
}

fn answer(query: &str) -> Outcome {
    super::answer(query, &deferred().iter().collect::<Vec<_>>())
}

#[test]
fn the_best_five_are_found_by_words() {
    assert_eq!(found("make a directory")[0], "make_dir");
    assert_eq!(found("rename"), ["move_file"]);
    assert_eq!(found("apply_patch"), ["apply_patch"]);
    assert_eq!(found("delete files")[0], "delete_file");
    assert_eq!(answer("file").text.lines().count(), 5);
    assert_eq!(found("unified diffs")[0], "apply_patch");
}

#[test]
fn exact_names_are_found_and_nothing_else() {
    assert_eq!(found("select: zip_file,make_dir"), ["make_dir", "zip_file"]);
    assert_eq!(found("select:file"), [""; 0]);
    let all: Vec<_> = deferred()
        .iter()
        .map(|spec| spec.name.to_string())
        .collect();
    let text = answer(&format!("select:{}", all.join(","))).text;
    let last = text.lines().last().expect("a note");
    assert_eq!(text.lines().count(), 6, "{text}");
    let rest = last
        .strip_prefix("At most 5 at a time; the others: ")
        .expect("a note");
    assert_eq!(found(rest).len(), all.len() - 5, "{text}");
}

#[test]
fn the_model_gets_schemas_or_else_the_names_of_all() {
    let outcome = answer("rename");
    assert_eq!(
        outcome.text,
        "{\"name\":\"move_file\",\"description\":\"Move or rename a file or a folder.\",\"schema\":{\"type\":\"object\"}}\n"
    );
    for query in ["", "weather"] {
        let text = answer(query).text;
        assert_eq!(text.lines().count(), 8, "{text}");
        assert!(
            text.contains("\ncopy_file: Copy a file or a folder\n"),
            "{text}"
        );
    }
}

#[test]
fn description_names_the_searchable_tools() {
    let search = super::spec(&["apply_patch", "copy_file"]);
    assert!(
        search
            .description
            .contains(" here: apply_patch, copy_file. "),
    );
}
