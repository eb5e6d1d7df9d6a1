//! The files that an interpreter reads its code from: whoever wrote them decides what runs.
//!
//! Which programs are interpreters, and which of their options and operands name code, is in `programs.toml`.

use super::paths;
use crate::programs::base;
use crate::shell::{Part, Redirection, Word};
use crate::tables::{CodeReader, Names, Operand, tables};

/// What the options of a command say about where its code is.
#[derive(Default)]
struct OptionsRead {
    /// The index of the first operand among the arguments.
    operand: usize,
    /// Values that name files with code, or code that is unknown.
    code: Vec<Word>,
    /// An option has the code or names it.
    has_code: bool,
    takes_line: bool,
    takes_input: bool,
    after_operand: bool,
    /// The first operand may be the value of an option that the table does not have.
    may_be_value: bool,
}

/// The row of an interpreter.
pub(super) fn row_of(program: &str) -> Option<&'static CodeReader> {
    let name = base(program);
    let is_version = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-');
    let plain = match name.trim_end_matches(is_version) {
        // The system's loader starts any program: `ld-linux-x86-64.so.2`.
        _ if name.starts_with("ld-") || name.starts_with("ld64.so") => "ld.so",
        plain => plain,
    };
    let mut rows = tables().code_readers.iter();
    rows.find(|row| row.names.contains(name) || row.names.contains(plain))
}

/// The files with code of a command, as words of the line would name them; code that is unknown as an unknown word.
pub(super) fn code_files(part: &Part) -> Vec<Word> {
    let Some(program) = part.program() else {
        return Vec::new();
    };
    let Some(row) = row_of(program) else {
        return Vec::new();
    };
    let arguments = part.words.get(1..).unwrap_or_default();
    if matches!(arguments, [only] if row.reports.contains(&only.text)) {
        return Vec::new();
    }
    let is_shell = tables().shells.contains(base(program));
    let arguments = row.with_dashes(arguments);
    let read = row.read_options(&arguments, is_shell);
    let mut found = read.code;
    let operand = arguments.get(read.operand);
    if row.has_options_anywhere() {
        found.extend(read_files(part).into_iter().filter(|_| row.reads_input));
    } else if read.takes_line {
        found.extend(
            operand
                .filter(|line| !line.is_known() || line.glob)
                .cloned(),
        );
    } else if read.takes_input {
        found.extend(input(part, program));
    } else if !read.has_code {
        match operand.filter(|word| word.text != "-") {
            Some(first) => found.extend(row.of_operand(first)),
            None if row.reads_input => found.extend(input(part, program)),
            None => {}
        }
        let mut following = arguments.iter().skip(read.operand + 1);
        let second = following.find(|word| !row.is_option(word));
        if let Some(second) = second.filter(|_| read.may_be_value && row.operand == Operand::Script)
        {
            found.extend(row.of_operand(second));
        }
    }
    found
}

/// The files that the code is read from on standard input. Text of the line is none.
fn input(part: &Part, program: &str) -> Vec<Word> {
    let files = read_files(part);
    let texts = part.redirections.iter().filter_map(|one| match one {
        Redirection::Text(text) => Some(text.is_some()),
        _ => None,
    });
    let is_text = texts.eq([true]);
    match files.is_empty() && !is_text {
        true => vec![paths::unknown(format!("input of {}", base(program)))],
        false => files,
    }
}

fn read_files(part: &Part) -> Vec<Word> {
    let files = part.redirections.iter().filter_map(|one| match one {
        Redirection::Read(word) => Some(word),
        _ => None,
    });
    files
        .flat_map(|word| paths::with_suffixes(word, &[]))
        .collect()
}

impl CodeReader {
    /// Whether the value of an option may be the next word.
    pub(super) fn is_valued(&self, option: &str) -> bool {
        self.valued().any(|valued| valued == option)
    }

    fn suffixes(&self) -> Vec<&str> {
        let mut suffixes: Vec<&str> = self.suffixes.iter().map(String::as_str).collect();
        suffixes.sort_unstable();
        suffixes
    }

    fn of_operand(&self, operand: &Word) -> Vec<Word> {
        let is_unknown = !operand.is_known() || operand.glob;
        match self.operand {
            Operand::Code | Operand::Script if is_unknown => vec![operand.clone()],
            Operand::Script if operand.text.starts_with('@') => paths::named_in(operand, &[]),
            Operand::Script => paths::with_suffixes(operand, &self.suffixes()),
            Operand::Module => {
                let suffixes = self.suffixes();
                let mut files = paths::named_in(operand, &suffixes);
                files.extend(paths::of_module(operand, &suffixes));
                files
            }
            Operand::Code | Operand::Data | Operand::Subcommand => Vec::new(),
        }
    }

    /// Whether an argument is an option. Some programs also have options that begin with `+`.
    fn is_option(&self, word: &Word) -> bool {
        let mut names = self.valued.iter().chain(&self.detached);
        let has_plus = names.any(|name| name.starts_with('+'));
        let signs: &[char] = if has_plus { &['-', '+'] } else { &['-'] };
        word.is_known() && word.text.starts_with(signs) && word.text.len() > 1
    }

    fn has_options_anywhere(&self) -> bool {
        matches!(self.operand, Operand::Data | Operand::Subcommand)
    }

    fn read_options(&self, arguments: &[Word], is_shell: bool) -> OptionsRead {
        let mut read = OptionsRead::default();
        let mut after_subcommand = self.subcommands.is_empty();
        while let Some(word) = arguments.get(read.operand) {
            if word.text == "--" || (word.text == "-" && is_shell) {
                read.operand += 1;
                break;
            }
            if self.is_option(word) {
                self.read_option(arguments, &mut read);
                if read.has_code && !self.has_options_anywhere() {
                    break;
                }
                continue;
            }
            if self.has_options_anywhere() {
                read.after_operand = true;
                read.operand += 1;
                continue;
            }
            if after_subcommand || word.text.contains(['.', '/']) || !word.is_known() {
                break;
            }
            if !self.subcommands.contains(&word.text) {
                read.has_code = true;
                break;
            }
            after_subcommand = true;
            read.operand += 1;
        }
        read
    }

    /// Reads the option at the index of the operand, and advances it.
    fn read_option(&self, arguments: &[Word], read: &mut OptionsRead) {
        let Some(word) = arguments.get(read.operand) else {
            return;
        };
        read.operand += 1;
        let options = self.options_in(&word.text, read);
        if options.is_empty() {
            let is_long = word.text.starts_with("--") && !word.text.contains('=');
            read.may_be_value |= is_long;
        }
        for (names, attached) in options {
            let value = match attached {
                Some(value) => Some(Word {
                    text: value.to_owned(),
                    ..word.clone()
                }),
                None => {
                    let next = arguments.get(read.operand);
                    // What looks like an option may be one: `-s` has a value, but not in `vim -e -s -S x`.
                    let is_option = next.is_some_and(|next| self.is_option(next));
                    let is_read_again = is_option && self.has_options_anywhere();
                    read.operand += usize::from(!is_read_again);
                    next.cloned()
                }
            };
            self.take_value(&names, value, read);
        }
    }

    /// Takes the value of an option, which may be one of several.
    fn take_value(&self, names: &[String], value: Option<Word>, read: &mut OptionsRead) {
        let is_of = |table: &Names| names.iter().any(|name| table.contains(name));
        read.has_code |= is_of(&self.code);
        let Some(value) = value else {
            return;
        };
        let suffixes = self.suffixes();
        if is_of(&self.modules) {
            read.code.extend(paths::of_module(&value, &suffixes));
        } else if is_of(&self.files) {
            read.code.extend(paths::named_in(&value, &suffixes));
        } else if is_of(&self.code) && (!value.is_known() || value.glob) {
            read.code.push(value);
        }
    }

    /// The options of a word that have values: the names that each may stand for, and the value if it is in the word.
    fn options_in<'w>(
        &self,
        text: &'w str,
        read: &mut OptionsRead,
    ) -> Vec<(Vec<String>, Option<&'w str>)> {
        let (name, value) = match text.split_once(['=', ':']) {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let names = self.long_options(name);
        if !names.is_empty() {
            return vec![(names, value)];
        }
        let sign = text.get(..1).unwrap_or_default();
        let cluster = text.get(1..).unwrap_or_default();
        // The same letter is another option for a subcommand: `git switch -c x`.
        let is_of_subcommand = read.after_operand && self.operand == Operand::Subcommand;
        let is_flag = text.len() > 2 && self.attached.contains(text);
        if cluster.starts_with('-') || is_flag || is_of_subcommand {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (at, letter) in cluster.char_indices() {
            let name = format!("{sign}{letter}");
            read.takes_line |= self.line.contains(&name);
            read.takes_input |= self.input.contains(&name);
            if self.attached.contains(&name) {
                break;
            }
            if self.detached.contains(&name) {
                found.push((vec![name], None));
            } else if self.valued().any(|valued| *valued == name) {
                let rest = cluster.get(at + letter.len_utf8()..).unwrap_or_default();
                found.push((vec![name], (!rest.is_empty()).then_some(rest)));
                break;
            }
        }
        found
    }

    /// The options of several letters that a name is, or may be short for.
    fn long_options(&self, name: &str) -> Vec<String> {
        if name.len() <= 2 || self.attached.contains(name) {
            return Vec::new();
        }
        if self.valued().any(|valued| valued == name) {
            return vec![name.to_owned()];
        }
        let is_shortened = name.starts_with("--") && self.names.is_disjoint(&tables().whole_names);
        let begun = self.valued().filter(|valued| valued.starts_with(name));
        begun.filter(|_| is_shortened).cloned().collect()
    }

    /// The options that have a value, which need not be in the same word.
    fn valued(&self) -> impl Iterator<Item = &String> {
        let tables = [&self.files, &self.modules, &self.code, &self.valued];
        tables.into_iter().flatten()
    }

    /// The arguments with a dash for each option of a first cluster that has none: `xIf a b` is `-I a -f b`.
    fn with_dashes(&self, arguments: &[Word]) -> Vec<Word> {
        let mut rest = arguments.iter();
        let first = arguments.first().filter(|_| !self.undashed.is_empty());
        let mut dashed = Vec::new();
        if let Some(cluster) = first.filter(|first| first.is_known() && !self.is_option(first)) {
            rest.next();
            let letters = cluster.text.chars();
            for letter in letters.filter(|letter| self.undashed.contains(*letter)) {
                let text = format!("-{letter}");
                let value = rest
                    .next()
                    .filter(|_| self.valued().any(|name| *name == text));
                let option = Word {
                    text,
                    ..cluster.clone()
                };
                dashed.extend(
                    value
                        .into_iter()
                        .flat_map(|value| [option.clone(), value.clone()]),
                );
            }
        }
        dashed.extend(rest.cloned());
        dashed
    }
}
