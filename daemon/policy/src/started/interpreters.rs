//! The files and lines that a program reads its code from: whoever wrote them decides what runs.
//!
//! Which programs are interpreters, and which of their options and operands name code, is in `programs.toml`.

use super::code_lines::{self, CodeLine};
use super::inputs::{input, input_of, is_piped, read_files};
use super::{inputs, languages, paths, rows};
use crate::programs::base;
use crate::shell::{Part, Redirection, Script, Word};
use crate::tables::{CodeReader, Names, Operand, tables};

/// The row for options that mean the same in every program without a row.
const ANY_PROGRAM: &str = "*";

/// Where a command's code is.
#[derive(Default)]
pub(super) struct CodeFound {
    /// Files, as words of the line would name them; code that is unknown as an unknown word.
    pub(super) files: Vec<Word>,
    pub(super) lines: Vec<CodeLine>,
}

/// What the options of a command say about where its code is.
#[derive(Default)]
struct OptionsRead {
    /// The index of the first operand among the arguments.
    operand: usize,
    /// The operands of a command whose options may be anywhere.
    operands: Vec<Word>,
    /// Values that name files with code, or code that is unknown.
    code: Vec<Word>,
    /// Values that are code.
    texts: Vec<Word>,
    /// Values that are lines for a shell.
    lines: Vec<Word>,
    /// An option with which it may run anything.
    is_unclear: bool,
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

/// The code of a command.
pub(super) fn code_of(script: &Script, index: usize, part: &Part) -> CodeFound {
    let mut found = CodeFound::default();
    let Some(program) = part.program() else {
        return found;
    };
    let arguments = part.words.get(1..).unwrap_or_default();
    let own_row = row_of(program).or_else(|| row_of(ANY_PROGRAM));
    if let Some(row) = own_row {
        row.find_code(part, arguments, &mut found);
        let has_piped_code = row.reads_input && row.has_options_anywhere();
        if has_piped_code && is_piped(script, index) && !row.has_code(arguments) {
            found.files.push(input_of(program));
        }
    }
    let rows = tables().code_readers.iter();
    for row in rows.filter(|row| row.names.iter().any(|name| name.contains(' '))) {
        if let Some(arguments) = rows::arguments(&row.names, part) {
            row.find_code(part, arguments, &mut found);
        }
    }
    found
}

/// Whether the code that a command of awk, sed or make is given in the line may run programs, or is unknown.
pub(crate) fn may_run_code(part: &Part) -> bool {
    let Some(row) = part.program().and_then(row_of) else {
        return false;
    };
    let arguments = part.words.get(1..).unwrap_or_default();
    !row.language.is_empty()
        && (inputs::are_options_for_code(arguments) || row.may_run_code(arguments))
}

impl CodeReader {
    /// Adds the code that the arguments name.
    fn find_code(&self, part: &Part, arguments: &[Word], found: &mut CodeFound) {
        if matches!(arguments, [only] if self.reports.contains(&only.text)) {
            return;
        }
        let program = part.program().unwrap_or_default();
        let is_shell = tables().shells.contains(base(program));
        let arguments = self.with_dashes(arguments);
        let read = self.read_options(&arguments, is_shell);
        self.find_in_texts(part, &read, arguments.get(read.operand), found);
        let operand = arguments.get(read.operand);
        found.files.extend(read.code);
        for value in read.lines {
            self.add_lines(&value, found);
        }
        if self.has_options_anywhere() {
            found
                .files
                .extend(read_files(part).into_iter().filter(|_| self.reads_input));
            let paths = read
                .operands
                .iter()
                .filter(|_| self.operand == Operand::Path);
            found.files.extend(paths.flat_map(paths::if_path));
        } else if self.operand == Operand::Line {
            let words = arguments.get(read.operand..).unwrap_or_default();
            self.add_command(words, found);
        } else if read.takes_line {
            let unknown = operand.filter(|line| !line.is_known() || line.glob);
            found.files.extend(unknown.cloned());
        } else if read.takes_input {
            found.files.extend(input(part, program));
        } else if !read.has_code {
            match operand.filter(|word| word.text != "-") {
                Some(first) => found.files.extend(self.of_operand(first)),
                None if self.reads_input => found.files.extend(input(part, program)),
                None => {}
            }
            let mut following = arguments.iter().skip(read.operand + 1);
            let second = following.find(|word| !self.is_option(word));
            let is_script = self.operand == Operand::Script;
            if let Some(second) = second.filter(|_| read.may_be_value && is_script) {
                found.files.extend(self.of_operand(second));
            }
        }
    }

    /// Adds an unknown program, since code in the line may run some.
    fn find_in_texts(
        &self,
        part: &Part,
        read: &OptionsRead,
        operand: Option<&Word>,
        found: &mut CodeFound,
    ) {
        let first = match self.operand {
            Operand::Code => operand,
            _ => read.operands.first(),
        };
        let code = first.filter(|_| !read.has_code && !self.language.is_empty());
        let operands = read.operands.iter();
        let operands = operands.filter(|_| self.operand == Operand::Texts);
        let mut words = read.texts.iter().chain(code).chain(operands);
        let given = part.redirections.iter().find_map(|one| match one {
            Redirection::Text(Some(text)) => {
                Some(text.as_str()).filter(|text| self.leads_out(text))
            }
            // The shell changes something in it.
            Redirection::Text(None) => part.program().filter(|_| !self.escapes.is_empty()),
            _ => None,
        });
        let given = given.filter(|_| self.reads_input);
        let is_unclear = read.is_unclear.then(|| part.program()).flatten();
        let by_word = words.find(|word| {
            let is_all_unknown = !word.is_known() && paths::is_expansion(&word.text);
            self.leads_out(&word.text) || (is_all_unknown && !self.language.is_empty())
        });
        let text = by_word
            .map(|word| word.text.as_str())
            .or(given)
            .or(is_unclear);
        found
            .files
            .extend(text.map(|text| paths::unknown(text.to_owned())));
    }

    fn may_run_code(&self, arguments: &[Word]) -> bool {
        let read = self.read_options(arguments, false);
        let operand = match self.operand {
            Operand::Code => arguments.get(read.operand),
            _ => read.operands.first(),
        };
        let operand = operand.filter(|_| !read.has_code);
        let mut code = read.texts.iter().chain(operand);
        read.is_unclear || code.any(|code| languages::may_run(&self.language, &code.text))
    }

    /// Whether code in the line may run programs or read files.
    fn leads_out(&self, text: &str) -> bool {
        let mut escapes = self.escapes.iter();
        languages::may_run(&self.language, text) || escapes.any(|escape| text.contains(escape))
    }

    /// Adds a value that is a line for a shell.
    fn add_lines(&self, value: &Word, found: &mut CodeFound) {
        found.files.extend(paths::named_in(value, &[]));
        if !value.is_known() || value.glob {
            return;
        }
        for text in code_lines::in_value(&value.text) {
            found.lines.push(CodeLine {
                text: text.to_owned(),
                elsewhere: self.elsewhere,
            });
        }
    }

    /// Adds a command that is the arguments from an operand on.
    fn add_command(&self, words: &[Word], found: &mut CodeFound) {
        if let Some(unknown) = words.iter().find(|word| !word.is_known()) {
            found.files.push(unknown.clone());
            return;
        }
        for text in code_lines::from_words(words) {
            found.lines.push(CodeLine {
                text,
                elsewhere: self.elsewhere,
            });
        }
    }

    /// Whether the arguments have the code, so that standard input is none.
    fn has_code(&self, arguments: &[Word]) -> bool {
        self.read_options(arguments, false).has_code
    }

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
            Operand::Code
            | Operand::Data
            | Operand::Line
            | Operand::Path
            | Operand::Subcommand
            | Operand::Texts => Vec::new(),
        }
    }

    /// Whether an argument is an option. Some programs also have options that begin with `+`.
    fn is_option(&self, word: &Word) -> bool {
        let mut names = self.valued.iter().chain(&self.detached).chain(&self.texts);
        let has_plus = names.any(|name| name.starts_with('+'));
        let signs: &[char] = if has_plus { &['-', '+'] } else { &['-'] };
        word.is_known() && word.text.starts_with(signs) && word.text.len() > 1
    }

    fn has_options_anywhere(&self) -> bool {
        let anywhere = [
            Operand::Data,
            Operand::Path,
            Operand::Subcommand,
            Operand::Texts,
        ];
        anywhere.contains(&self.operand)
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
                read.operands.push(word.clone());
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
        let is_code = is_of(&self.code) || is_of(&self.texts);
        let is_file = names.iter().all(|name| self.files.contains(name));
        if is_code && !is_file && !is_of(&self.modules) {
            read.texts.push(value.clone());
        }
        // Of a script of sed, variables are mostly only a part.
        let is_unknown = self.language != "sed" && (!value.is_known() || value.glob);
        if is_of(&self.lines) {
            read.lines.push(value);
        } else if is_of(&self.modules) {
            read.code.extend(paths::of_module(&value, &suffixes));
        } else if is_of(&self.files) {
            read.code.extend(paths::named_in(&value, &suffixes));
        } else if is_code && is_unknown {
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
        // `+call f()`, the commands of an editor.
        if let Some(command) = text.strip_prefix('+').filter(|_| self.texts.contains("+")) {
            return vec![(vec!["+".to_owned()], Some(command))];
        }
        read.is_unclear |= self.is_unclear(name);
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
            read.is_unclear |= self.unclear.contains(&name);
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
        let begun = self.valued().filter(|valued| valued.starts_with(name));
        begun.filter(|_| self.is_shortened(name)).cloned().collect()
    }

    /// Whether a long option may be an abbreviation.
    fn is_shortened(&self, name: &str) -> bool {
        let has_own_row = !self.names.contains(ANY_PROGRAM);
        name.starts_with("--") && has_own_row && self.names.is_disjoint(&tables().whole_names)
    }

    /// Whether it may run anything with an option of several letters.
    fn is_unclear(&self, name: &str) -> bool {
        let mut begun = self.unclear.iter().filter(|known| known.starts_with(name));
        let is_long = name.len() > 2;
        self.unclear.contains(name)
            || (is_long && self.is_shortened(name) && begun.next().is_some())
    }

    /// The options that have a value, which need not be in the same word.
    fn valued(&self) -> impl Iterator<Item = &String> {
        let tables = [
            &self.files,
            &self.modules,
            &self.code,
            &self.lines,
            &self.texts,
            &self.valued,
        ];
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
