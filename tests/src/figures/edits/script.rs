//! What the model says in an edit session, and the project that it works on.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::Round;

/// Files of the project, and lines of each.
const FILES: usize = 40;
const LINES: usize = 28;

/// So many rounds, and words at the end.
pub fn rounds(count: usize) -> Vec<Round> {
    let mut rounds: Vec<_> = (0..count)
        .map(|number| Round::Calls(vec![call(number)]))
        .collect();
    rounds.push(Round::Words(24));
    rounds
}

/// Of six rounds: two files are read and edited, something is searched for, and a command is run.
fn call(number: usize) -> (&'static str, Value) {
    let (part, step) = (number / 6, number % 6);
    let path = path(part * 2 + step / 2);
    match step {
        0 | 2 => ("read_file", json!({"path": path})),
        1 | 3 => (
            "edit_file",
            json!({"path": path, "old_string": line(part * 2 + step / 2, 7), "new_string": edited(part)}),
        ),
        4 => (
            "grep",
            json!({"pattern": format!("line {part} of file 1[0-9]:"), "path": "docs"}),
        ),
        _ => (
            "bash",
            json!({"command": format!("grep -c edited {}; ls docs | wc -l", self::path(part * 2))}),
        ),
    }
}

/// The files as they are at first.
pub fn plant(project: &Path) {
    fs::create_dir_all(project.join("docs")).expect("a directory");
    for file in 0..FILES {
        let lines: String = (0..LINES).map(|number| line(file, number) + "\n").collect();
        fs::write(project.join(path(file)), lines).expect("a file");
    }
}

/// Every edit was made.
pub fn check(project: &Path, rounds: usize) {
    let edits = (0..rounds).filter(|number| matches!(number % 6, 1 | 3));
    let has = |file: usize| {
        let text = fs::read_to_string(project.join(path(file))).expect("a file");
        text.contains("edited in part")
    };
    let made = (0..FILES).filter(|file| has(*file)).count();
    assert_eq!(made, edits.count(), "files that were edited");
}

fn path(file: usize) -> String {
    format!("docs/f_{:02}.txt", file % FILES)
}

fn line(file: usize, number: usize) -> String {
    format!("line {number} of file {file}: word {number} of a text that is worked on")
}

fn edited(part: usize) -> String {
    format!("edited in part {part}: these words stand here now, and those of before do not")
}
