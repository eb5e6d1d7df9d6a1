//! Files that need a user's approval to change, named anywhere in a line that is not read-only.

use std::path::PathBuf;

use contract::Basis;
use proto::record::Verdict;

use super::CommandForms;
use crate::decide::Finding;
use crate::protected;
use crate::shell::{Part, Redirection, Word};

impl CommandForms<'_> {
    /// The finding for one part. A read-only part may name any file, if its output goes to no writing part.
    pub(super) fn guarded(&self, index: usize, masked: &[PathBuf]) -> Option<Finding> {
        let part = self.script.parts.get(index)?;
        if self.reading(index).is_some() && self.feeds_readers(part) {
            return None;
        }
        words(part).find_map(|word| {
            let named = protected::word(&word.text).map(asked);
            named
                .or_else(|| protected::glob(word).map(may_match))
                .or_else(|| protected::own(&word.text, masked).map(asked))
        })
    }

    /// The finding for a line that is not understood: checks its whole text.
    pub(super) fn guarded_as_text(&self, masked: &[PathBuf]) -> Option<Finding> {
        self.rough
            .iter()
            .find_map(|text| protected::word(text).or_else(|| protected::own(text, masked)))
            .map(asked)
    }
}

fn asked(name: &str) -> Finding {
    let words = match protected::is_git_setting(name) {
        true => format!(
            "always asked: the command names `{name}`, a git setting that makes git run a program"
        ),
        false => format!(
            "always asked: the command names `{name}`, which is a config file of the agent, its repository, an editor or a shell"
        ),
    };
    Finding::built_in(Verdict::Ask, Basis::AlwaysAsked, words)
}

fn may_match(name: &str) -> Finding {
    let words = format!(
        "always asked: a pattern of the command may match `{name}`, which is a config file of the agent, its repository, an editor or a shell"
    );
    Finding::built_in(Verdict::Ask, Basis::AlwaysAsked, words)
}

/// Every word of a part that may name a file.
fn words(part: &Part) -> impl Iterator<Item = &Word> {
    let program = part.program().unwrap_or_default();
    // Commit messages and the like may mention such a file.
    let messages = matches!(program, "git" | "gh");
    let own = part
        .words
        .iter()
        .filter(move |word| !(messages && word.text.contains([' ', '\n'])));
    let set = part.assignments.iter().map(|assignment| &assignment.value);
    let files = part
        .redirections
        .iter()
        .filter_map(|redirection| match redirection {
            Redirection::Write(word) | Redirection::Read(word) => Some(word),
            Redirection::Copy | Redirection::Null | Redirection::Text(_) => None,
        });
    own.chain(set).chain(files)
}
