//! The directory that `git worktree add` makes: the user may be asked whether the session works there too.

use crate::programs::base;
use crate::shell::{self, Part};

/// Options of `git` and of `git worktree add` that are followed by a value.
const WITH_VALUE: [&str; 6] = ["-c", "-b", "-B", "--reason", "--git-dir", "--work-tree"];

/// The directory that a line's `git worktree add` names, as it is written; `None`: the line makes none, or several, or
/// makes it where this does not show.
#[must_use]
pub fn added_work_tree(line: &str) -> Option<String> {
    let script = shell::read(line);
    let mut found = script
        .parts
        .iter()
        .enumerate()
        .filter_map(|(at, part)| Some((at, named(part)?)));
    let (at, first) = found.next()?;
    let is_alone = found.next().is_none();
    // Before it the line stays where it is: there is nothing that changes the directory, and no shell of its own.
    let stays = script.parts[..at].iter().all(|part| !moves(part));
    let part = &script.parts[at];
    let is_plain = part.via.is_empty() && part.parent.is_none();
    (is_alone && stays && is_plain).then_some(first)
}

/// Whether a command may change the directory of those after it.
fn moves(part: &Part) -> bool {
    let name = part.program();
    name.is_none_or(|name| matches!(name, "cd" | "pushd" | "popd" | "eval" | "source" | "."))
}

fn named(part: &Part) -> Option<String> {
    if base(part.program()?) != "git"
        || !part.words.iter().all(|word| word.is_known() && !word.glob)
    {
        return None;
    }
    let mut operands = Vec::new();
    let mut words = part.words.iter().skip(1);
    while let Some(word) = words.next() {
        match word.text.as_str() {
            // The path starts elsewhere.
            "-C" => return None,
            text if WITH_VALUE.contains(&text) => drop(words.next()),
            text if text.starts_with('-') && text.len() > 1 => {}
            _ => operands.push(word),
        }
    }
    match operands.as_slice() {
        [worktree, add, path, ..]
            if worktree.text == "worktree" && add.text == "add" && !path.tilde =>
        {
            Some(path.text.clone())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_is_the_first_operand() {
        for line in [
            "git worktree add ../x",
            "git worktree add -b fix ../x main",
            "git -c core.x=y worktree add --detach ../x && cd ../x && ls",
            "git status && git worktree add -q --reason 'for now' ../x HEAD~2",
        ] {
            assert_eq!(added_work_tree(line).as_deref(), Some("../x"), "{line}");
        }
        for line in [
            "git worktree list",
            "git worktree add",
            "git -C sub worktree add ../x",
            "cd sub && git worktree add ../x",
            "(cd sub; git worktree add ../x)",
            "sh -c 'git worktree add ../x'",
            "env -C sub git worktree add ../x",
            "git worktree add $DIR",
            "git worktree add ~/x",
            "echo git worktree add ../x",
            "git worktree add ../x; git worktree add ../y",
        ] {
            assert_eq!(added_work_tree(line), None, "{line}");
        }
    }
}
