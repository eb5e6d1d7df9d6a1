//! Finds the files that a read-only command may show: its words that may be paths, relative to the directories that the
//! line may be in.
//!
//! Examines words only, and if in doubt finds too much: a pattern that looks like a path is resolved too, and usually
//! does not exist. Called by `call`, whose paths the session resolves, and by `command`.

use crate::git;
use crate::shell::{Part, Redirection, Script, Word};
use crate::tables::tables;

/// Maximum paths to resolve for one command; a command with more asks.
const PLACES_MAX: usize = 256;
/// Maximum `cd` commands of a line to follow.
const MOVES_MAX: usize = 8;
/// Maximum letters before a value in a cluster of short options (`-rfFILE`) to skip.
const CLUSTER_MAX: usize = 4;
/// Maximum directories at the start of a path to leave out.
const FOLDERS_MAX: usize = 8;

/// A path that a command may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadPath {
    pub(crate) text: String,
    /// The shell inserts file names from below this directory.
    pub(crate) glob: bool,
}

/// The paths that a plain command may read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadPaths {
    pub(crate) places: Vec<ReadPath>,
    /// Why some words cannot be resolved before the shell has run, if so.
    pub(crate) unclear: Option<&'static str>,
    /// Some paths are missing, because there are too many.
    pub(crate) is_cut: bool,
    /// Whether directories are searched recursively, not only listed.
    pub(crate) walks: bool,
}

/// The paths that a part, which is known to be read-only, may show.
pub(crate) fn places(script: &Script, index: usize) -> ReadPaths {
    let Some(part) = script.parts.get(index) else {
        return ReadPaths::default();
    };
    let mut found = places_here(&part.words);
    for word in part
        .redirections
        .iter()
        .filter_map(Redirection::plain_input)
    {
        found.form(&word.text, word);
    }
    let before = script.parts.get(..index).unwrap_or_default();
    let moves: Vec<&Part> = before
        .iter()
        .filter(|part| part.program() == Some("cd"))
        .collect();
    if !moves.is_empty() {
        found.move_by(&moves);
    }
    found
}

/// The paths relative to the current directory.
fn places_here(words: &[Word]) -> ReadPaths {
    let Some((program, arguments)) = words.split_first() else {
        return ReadPaths::default();
    };
    let mut found = ReadPaths {
        walks: walks(&program.text, arguments),
        ..ReadPaths::default()
    };
    // Without an operand, these programs search the current directory. Which words are operands is not determined here.
    if found.walks && program.text != "git" || has_long(arguments, &["no-index", "untracked"]) {
        found.add(".", false);
    }
    for word in arguments {
        found.take(word, program.text != "find");
        if program.text == "git" {
            found.take_of_git(word);
        }
    }
    found
}

impl ReadPaths {
    /// Adds the paths after each `cd`: any of them may have failed, so all directories count.
    fn move_by(&mut self, moves: &[&Part]) {
        let mut at = vec![String::new()];
        for part in moves {
            let operands: Vec<&Word> = part
                .words
                .iter()
                .skip(1)
                .filter(|word| word.text != "--")
                .collect();
            let [to] = operands.as_slice() else {
                self.unclear = Some("cannot tell which directory the command changes to");
                return;
            };
            let plain =
                to.is_known() && !to.glob && !to.text.is_empty() && !to.text.starts_with('-');
            if !plain || (to.text.starts_with('~') && !to.tilde) || at.len() > MOVES_MAX {
                self.unclear = Some("cannot tell which directory the command changes to");
                return;
            }
            let next: Vec<String> = at.iter().map(|base| joined(base, &to.text)).collect();
            at.extend(next);
        }
        for place in std::mem::take(&mut self.places) {
            for base in &at {
                self.add(&joined(base, &place.text), place.glob);
            }
        }
    }

    fn add(&mut self, text: &str, glob: bool) {
        let place = ReadPath {
            text: text.to_owned(),
            glob,
        };
        if text.is_empty() || self.places.contains(&place) {
            return;
        }
        if self.places.len() >= PLACES_MAX {
            self.unclear = Some("the command names too many files to check them all");
            self.is_cut = true;
            return;
        }
        self.places.push(place);
    }

    /// Adds a word. `clusters`: whether a short option may be followed by its value in the same word.
    fn take(&mut self, word: &Word, clusters: bool) {
        let text = word.text.as_str();
        if let Some((_, value)) = text.split_once('=') {
            self.form(value, word);
        }
        if text.starts_with("--") {
            return;
        }
        if let Some(cluster) = text.strip_prefix('-') {
            if clusters {
                let values = cluster.char_indices().skip(1).take(CLUSTER_MAX);
                for (at, _) in values {
                    self.form(&cluster[at..], word);
                }
            }
            return;
        }
        self.form(text, word);
        // `HEAD:file`, and a file with further arguments.
        if let Some((_, file)) = text.split_once(':') {
            self.form(file, word);
        }
        if let Some(file) = text.strip_prefix('@') {
            self.form(file, word);
        }
    }

    /// Adds the paths in an argument of git. Some start at the top of its work tree, which may be above the workspace, so
    /// that any end of such a path may be a path here.
    fn take_of_git(&mut self, word: &Word) {
        for path in git::paths_in(&word.text) {
            self.form(path, word);
            for (at, _) in path.match_indices('/').take(FOLDERS_MAX) {
                self.form(&path[at + 1..], word);
            }
        }
    }

    fn form(&mut self, text: &str, word: &Word) {
        // A quoted `~` is an ordinary character.
        let plain = if text.starts_with('~') && !word.tilde {
            format!("./{text}")
        } else {
            text.to_owned()
        };
        if !word.glob || !plain.contains(['*', '?', '[']) {
            self.add(&plain, false);
            return;
        }
        let parts: Vec<&str> = plain.split('/').collect();
        let is_glob = |part: &&str| part.contains(['*', '?', '[']);
        let fixed = parts.iter().take_while(|part| !is_glob(part)).count();
        // `.*` may match `..`.
        let climbs = |part: &&str| **part == *".." || (part.starts_with('.') && is_glob(part));
        if parts[fixed..].iter().any(climbs) {
            self.unclear = Some("cannot tell which files the shell inserts");
        }
        match parts[..fixed].join("/").as_str() {
            "" if plain.starts_with('/') => self.add("/", true),
            "" => self.add(".", true),
            base => self.add(base, true),
        }
    }
}

/// A path relative to a directory.
fn joined(base: &str, text: &str) -> String {
    if base.is_empty() || text.starts_with(['/', '~']) {
        text.to_owned()
    } else {
        format!("{}/{text}", base.trim_end_matches('/'))
    }
}

fn has_long(arguments: &[Word], names: &[&str]) -> bool {
    arguments.iter().any(|word| {
        let option = word.text.strip_prefix("--").unwrap_or_default();
        // Abbreviations too.
        option.len() > 1 && names.iter().any(|name| name.starts_with(option))
    })
}

/// Whether a program shows the contents of files or directories below a directory that it is given.
fn walks(program: &str, arguments: &[Word]) -> bool {
    let short = |letters: &[char]| {
        arguments.iter().any(|word| {
            let option = word.text.strip_prefix('-').unwrap_or_default();
            !option.starts_with('-') && option.contains(letters)
        })
    };
    let long = |start: &str| arguments.iter().any(|word| word.text.starts_with(start));
    match program {
        "ls" => short(&['R']) || long("--rec"),
        "grep" | "egrep" | "fgrep" => {
            short(&['r', 'R', 'd']) || long("--r") || long("--de") || long("--di")
        }
        program => !tables().shallow_readers.contains(program),
    }
}
