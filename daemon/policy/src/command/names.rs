//! The names of a command, for rules that deny or ask: with and without the options before its subcommand, and by other
//! names of its program or subcommand.
//!
//! If in doubt, finds too many. Called by `tightening`.

use std::borrow::Cow;

use super::target;
use crate::budget::Budget;
use crate::git;
use crate::programs;
use crate::ruleset::TighteningRules;
use crate::shell::{self, Part, Span, Word};
use crate::tables::tables;
use crate::textrules::RuleMatch;

/// Maximum options before a subcommand to skip.
pub(super) const OPTIONS_MAX: usize = 32;

/// A command as it may also be written.
pub(super) struct CommandName<'p> {
    program: Cow<'p, str>,
    arguments: Vec<Cow<'p, Word>>,
    /// It is certainly the same command.
    pub(super) certain: bool,
    /// No options are left out.
    pub(super) is_whole: bool,
    /// Its program or subcommand has another name than in the line.
    is_renamed: bool,
}

impl<'p> CommandName<'p> {
    /// A command by all its names, as written first.
    pub(super) fn all(words: &'p [Word]) -> Vec<Self> {
        let Some((program, rest)) = words.split_first() else {
            return Vec::new();
        };
        let starts = std::iter::once((0, true)).chain(skipped_options(words));
        let mut found: Vec<Self> = starts
            .map(|(from, certain)| Self {
                program: Cow::Borrowed(&program.text),
                arguments: rest.iter().skip(from).map(Cow::Borrowed).collect(),
                certain,
                is_whole: from == 0,
                is_renamed: false,
            })
            .collect();
        let others: Vec<Self> = found.iter().flat_map(Self::other_names).collect();
        found.extend(others);
        found
    }

    /// A command with the files that the shell opens for it as further words, if one of them is a pattern.
    pub(super) fn with_files(part: &'p Part) -> Option<Self> {
        let files = part.redirections.iter().filter_map(target);
        let files: Vec<&Word> = files.map(|(word, _)| word).collect();
        let program = part.words.first();
        files.iter().any(|word| word.glob).then(|| Self {
            program: Cow::Borrowed(program.map_or("", |program| &program.text)),
            arguments: part
                .words
                .iter()
                .skip(1)
                .chain(files)
                .map(Cow::Borrowed)
                .collect(),
            certain: false,
            is_whole: false,
            is_renamed: false,
        })
    }

    /// The same command by other names: `git-push` is `git push`, `pip3` and `python3 -m pip` may be `pip`, and `docker
    /// container run` is `docker run`.
    fn other_names(&self) -> Vec<Self> {
        const KINDS: &[&str] = &["builder", "buildx", "container", "image", "system"];
        let base = programs::base(&self.program);
        let plain = programs::unversioned(base);
        let first = self.arguments.first().map_or("", |word| &word.text);
        let mut found = Vec::new();
        if let Some(subcommand) = base.strip_prefix("git-") {
            let subcommand = Cow::Owned(Word::plain(subcommand, Span::default()));
            let arguments = std::iter::once(subcommand).chain(self.arguments.iter().cloned());
            found.push(self.renamed("git", arguments.collect()));
        }
        if plain != base && !plain.is_empty() {
            found.push(self.renamed(plain, self.arguments.clone()));
        }
        if matches!(base, "docker" | "nerdctl" | "podman") && KINDS.contains(&first) {
            found.push(self.renamed(&self.program, self.arguments[1..].to_vec()));
        }
        if matches!(plain, "python" | "pypy") {
            let arguments = self.arguments.as_slice();
            match arguments {
                [_, module, rest @ ..] if first == "-m" => {
                    found.push(self.renamed(&module.text, rest.to_vec()));
                }
                [_, rest @ ..] => {
                    let module = first.strip_prefix("-m");
                    found.extend(module.map(|module| self.renamed(module, rest.to_vec())));
                }
                [] => {}
            }
        }
        found
    }

    fn renamed(&self, program: &str, arguments: Vec<Cow<'p, Word>>) -> Self {
        Self {
            program: Cow::Owned(program.to_owned()),
            arguments,
            certain: false,
            is_whole: self.is_whole,
            is_renamed: true,
        }
    }

    pub(super) fn words(&self) -> Vec<&str> {
        let arguments = self.arguments.iter().map(|word| word.text.as_str());
        std::iter::once(self.program.as_ref())
            .chain(arguments)
            .collect()
    }

    pub(super) fn text(&self) -> String {
        shell::join(self.words().into_iter())
    }

    /// Whether some of the words may stand for others (patterns) or may be skipped (options).
    pub(super) fn may_differ(&self) -> bool {
        let is_option = |word: &Cow<'_, Word>| word.text.starts_with('-');
        // The options directly after the program are left out in another name.
        let first = usize::from(!self.is_renamed);
        let is_short = tables().shortened_subcommands.contains_key(self.base());
        is_short
            || self.arguments.iter().any(|word| word.glob)
            || self.arguments.iter().skip(first).any(is_option)
    }

    /// A rule that may match if some words stand for others, or are skipped.
    pub(super) fn find_inserted(
        &self,
        list: &TighteningRules,
        budget: &mut Budget,
    ) -> Option<RuleMatch> {
        let (program, texts) = (self.base(), &list.texts);
        let short = self.with_short_subcommand();
        let arguments = short.as_ref().unwrap_or(&self.arguments);
        let found = texts.find_inserted(program, arguments, budget);
        // A `--` is left out with the options before it.
        let as_option = || texts.find_inserted_option(program, &self.arguments, budget);
        found.or_else(|| self.is_whole.then(as_option).flatten())
    }

    fn base(&self) -> &str {
        programs::base(&self.program)
    }

    /// The arguments, with a pattern for a subcommand that may be short for others: `npm pub` is `npm pub*`.
    fn with_short_subcommand(&self) -> Option<Vec<Cow<'p, Word>>> {
        tables().shortened_subcommands.get(self.base())?;
        let mut arguments = self.arguments.clone();
        let subcommand = arguments.first_mut()?;
        if !subcommand.is_known() || subcommand.text.starts_with('-') {
            return None;
        }
        let subcommand = subcommand.to_mut();
        subcommand.text.push('*');
        subcommand.glob = true;
        Some(arguments)
    }
}

pub(super) fn options_before(words: &[Word]) -> usize {
    words
        .iter()
        .skip(1)
        .take_while(|word| word.text.starts_with(['-', '+']))
        .count()
}

/// How many words after the program to leave out, to get the command without the options before its subcommand. `true`:
/// certainly the same command; `false`: only if a removed word was an option's value.
fn skipped_options(words: &[Word]) -> Vec<(usize, bool)> {
    let Some((program, rest)) = words.split_first() else {
        return Vec::new();
    };
    if programs::base(&program.text) == "git" {
        let from = git::globals(words) - 1;
        return if from == 0 {
            Vec::new()
        } else {
            vec![(from, true)]
        };
    }
    let mut found = Vec::new();
    let mut certain = true;
    let mut after_option = false;
    for (index, word) in rest.iter().enumerate().take(OPTIONS_MAX) {
        let text = word.text.as_str();
        let is_option = text.starts_with(['-', '+']);
        if !is_option && !after_option {
            break;
        }
        certain &= is_option;
        after_option = is_option && !text.contains('=');
        found.push((index + 1, certain));
    }
    found
}
