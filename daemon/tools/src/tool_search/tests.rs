//! Scenes.

use super::*;

fn spec(name: &'static str, description: &'static str) -> ToolSpec {
    ToolSpec {
        name,
        description,
        schema: json!({"type": "object"}),
        family: Family::Edit,
        read_only: false,
        deferred: true,
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

fn found(query: &str) -> Vec<&'static str> {
    find(query, &deferred())
        .iter()
        .map(|spec| spec.name)
        .collect()
}

#[test]
fn the_best_five_are_found_by_words() {
    assert_eq!(found("make a directory")[0], "make_dir");
    assert_eq!(found("rename"), ["move_file"]);
    assert_eq!(found("apply_patch"), ["apply_patch"]);
    assert_eq!(found("delete files")[0], "delete_file");
    assert_eq!(found("file").len(), 5);
    assert_eq!(found("unified diffs")[0], "apply_patch");
}

#[test]
fn exact_names_are_found_and_nothing_else() {
    assert_eq!(found("select: zip_file,make_dir"), ["make_dir", "zip_file"]);
    assert_eq!(found("select:file"), [""; 0]);
}

#[test]
fn the_model_gets_schemas_or_else_the_names_of_all() {
    let outcome = answer("rename", &deferred());
    assert_eq!(
        outcome.text,
        "{\"name\":\"move_file\",\"description\":\"Move or rename a file or a folder.\",\"schema\":{\"type\":\"object\"}}\n"
    );
    for query in ["", "weather"] {
        let text = answer(query, &deferred()).text;
        assert_eq!(text.lines().count(), 8, "{text}");
        assert!(
            text.contains("\ncopy_file: Copy a file or a folder\n"),
            "{text}"
        );
    }
}

#[test]
fn the_description_names_what_can_be_found_and_is_one_text() {
    let (one, two) = (ToolSearch::new(deferred()), ToolSearch::new(deferred()));
    assert!(one.spec.description.contains("apply_patch, copy_file,"));
    assert!(std::ptr::eq(one.spec.description, two.spec.description));
}
