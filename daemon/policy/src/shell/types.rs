//! The elements of a command line. Plain data, built by `statements`.

use serde::{Deserialize, Serialize};

/// Bytes of the line, from `start` to before `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// A whole command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Every simple command that the line may run, in their order. A launched command, and a line that a shell is
    /// given, come after the command that contains them.
    pub parts: Vec<Part>,
    /// Why the line is not understood as a whole. Then `parts` may be incomplete.
    pub doubt: Option<Doubt>,
}

/// One simple command, or a redirection or assignment without a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub span: Span,
    /// How it is reached, from the outermost step inwards. Empty: it is at the top level.
    pub via: Vec<NestingStep>,
    /// The part whose words contain this one: its launcher, or the shell that is given it.
    pub parent: Option<usize>,
    /// The number of the parent's words before it, if it is a tail of them.
    pub offset: Option<usize>,
    /// Commands joined by `|` have the same number.
    pub pipeline: usize,
    pub words: Vec<Word>,
    pub assignments: Vec<Assignment>,
    pub redirections: Vec<Redirection>,
    /// A redirection gives it an input.
    pub has_input: bool,
    /// Why its effect is unknown before it runs.
    pub doubt: Option<Doubt>,
}

/// One nesting step on the way to a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NestingStep {
    /// `… &`
    Background,
    /// `|&`, on either side.
    PipeBoth,
    /// `! …`
    Negated,
    /// `( … )`
    Subshell,
    /// `{ …; }`
    Group,
    /// `for`, `while`, `until`, `select`
    Loop,
    /// `if`, `elif`, `else`
    Condition,
    Case,
    /// The body of a function of this name.
    Function(String),
    /// `$( … )` or backticks.
    Substitution,
    /// `<( … )` or `>( … )`
    ProcessSubstitution,
    /// Inside `$(( … ))`, `[[ … ]]` or a here-document.
    Inside,
    /// Launched by this program.
    Launched(String),
    /// A line that this program is given: `sh -c`, `eval`.
    Line(String),
}

/// How much is known about a word before the shell runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// Exactly `text`.
    Known,
    /// The variable of a loop over known words: correct unless something else sets it.
    Bound,
    /// One of the words that a list in braces stands for: correct in a shell that has such lists.
    Listed,
    /// Contains a variable, and nothing that would run something.
    Variable,
    /// Contains a substitution, arithmetic, or an expansion that may run something.
    Computed,
    /// A brace expansion: several words.
    Braces,
    /// The name of a file with the output of commands: `<(a)`, and nothing else.
    CommandOutput,
    /// Supplied by another program: `{}` of `find`, words that `xargs` adds.
    Given,
}

/// A word without its quotes and backslashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Parts that are not known are kept as written.
    pub text: String,
    pub value: Value,
    /// The shell may replace it by file names.
    pub glob: bool,
    /// Starts with an unquoted `~`.
    pub tilde: bool,
    /// Contains `$'…'` or `$"…"`: the displayed text differs from its value.
    pub coded: bool,
    /// The shell may make several words of it: it has a variable or the output of commands outside quotes, or `"$@"`.
    pub splits: bool,
    /// The shell has read it as a list: `NAME=(…)` outside quotes.
    pub is_list: bool,
    pub span: Span,
}

/// `NAME=value` before a command, or without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub name: String,
    pub value: Word,
}

/// A redirection of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Redirection {
    /// `2>&1`, `<&-`: touches no file.
    Copy,
    /// `2>/dev/null`, `&>/dev/null`: output is discarded.
    Null,
    /// Writes, or opens for writing.
    Write(Word),
    Read(Word),
    /// A here-document or here-string; its text, if the shell changes nothing in it.
    Text(Option<String>),
}

/// Why a line or part is not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    Empty,
    TooLong,
    Characters,
    Syntax,
    TooDeep,
    TooMuch,
    /// The grammar may have read it differently from a shell.
    Misread,
    /// The program is not a plain word.
    Program,
    /// It runs code from its arguments that is not shell code, or is not known.
    Code,
    /// It takes commands from its input, or from a file into this shell.
    Input,
    /// It launches something, but it is unclear what.
    Launcher,
    /// It evaluates the values of variables.
    Evaluates,
    /// It changes the meaning of later words.
    Changes,
}

impl Doubt {
    /// The reason as text.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Empty => "the command is empty",
            Self::TooLong => "it has more than 10,000 characters",
            Self::Characters => "it contains control, invisible or text-direction characters",
            Self::Syntax => "it cannot be parsed",
            Self::TooDeep => "it is nested too deeply",
            Self::TooMuch => "it is too long to analyse",
            Self::Misread => "shells may read it in different ways",
            Self::Program => "it runs a program whose name is not a plain word",
            Self::Code => "it runs inline code",
            Self::Input => "it runs commands from a file or from standard input",
            Self::Launcher => "it starts another program, and it is unclear which",
            Self::Evaluates => "it evaluates variables as code",
            Self::Changes => "it changes the meaning of later commands",
        }
    }

    /// Whether a line was not read to its end, or not reliably: no allow rule covers it.
    #[must_use]
    pub fn is_hard(self) -> bool {
        match self {
            Self::Empty
            | Self::TooLong
            | Self::Characters
            | Self::Syntax
            | Self::TooDeep
            | Self::TooMuch
            | Self::Misread => true,
            Self::Program
            | Self::Code
            | Self::Input
            | Self::Launcher
            | Self::Evaluates
            | Self::Changes => false,
        }
    }
}

impl Word {
    /// Creates a word as if it were written so in the line.
    #[must_use]
    pub(crate) fn plain(text: &str, span: Span) -> Self {
        Self {
            text: text.to_owned(),
            value: Value::Known,
            glob: false,
            tilde: false,
            coded: false,
            splits: false,
            is_list: false,
            span,
        }
    }

    /// Creates a word that another program supplies.
    pub(crate) fn given(span: Span) -> Self {
        Self {
            value: Value::Given,
            ..Self::plain("{}", span)
        }
    }

    /// Whether file names that the shell inserts here could be read as options.
    #[must_use]
    pub fn may_become_option(&self) -> bool {
        self.glob && self.text.starts_with(['*', '?', '[', '-'])
    }

    /// Whether `text` is what the program gets, apart from file names.
    #[must_use]
    pub fn is_known(&self) -> bool {
        matches!(self.value, Value::Known | Value::Bound | Value::Listed)
    }
}

impl Redirection {
    /// The redirection with this operator, whatever its descriptor.
    pub(super) fn of_file(sign: &str, word: Word) -> Self {
        let is_number = |text: &str| {
            let text = text.strip_suffix('-').unwrap_or(text);
            text.bytes().all(|byte| byte.is_ascii_digit())
        };
        match sign {
            "<&" | ">&" if word.is_known() && is_number(&word.text) => Self::Copy,
            "<" => Self::Read(word),
            // Exactly so: another spelling may lead to another file.
            ">" | ">>" | "&>" | "&>>"
                if word.value == Value::Known && !word.coded && word.text == "/dev/null" =>
            {
                Self::Null
            }
            _ => Self::Write(word),
        }
    }

    /// The file that the command gets as its input, if it is a plain one.
    #[must_use]
    pub(crate) fn plain_input(&self) -> Option<&Word> {
        let Self::Read(word) = self else {
            return None;
        };
        // The shell opens connections for names like `/dev/tcp/host/80`.
        let is_plain = word.value == Value::Known
            && !word.glob
            && !word.coded
            && !word.text.is_empty()
            && !word.text.starts_with("/dev/");
        is_plain.then_some(word)
    }
}

impl Part {
    /// The words joined by one blank.
    #[must_use]
    pub fn text(&self) -> String {
        super::join(self.words.iter().map(|word| word.text.as_str()))
    }

    /// The program, if it is known.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.words
            .first()
            .filter(|word| word.is_known())
            .map(|word| word.text.as_str())
    }
}

impl Script {
    /// A doubt about the line or any of its parts.
    #[must_use]
    pub fn any_doubt(&self) -> Option<Doubt> {
        self.doubt
            .or_else(|| self.parts.iter().find_map(|part| part.doubt))
    }

    pub(crate) fn is_hard(&self) -> bool {
        self.doubt.is_some_and(Doubt::is_hard)
            || self
                .parts
                .iter()
                .any(|part| part.doubt.is_some_and(Doubt::is_hard))
    }

    /// The words of a text that is one plain command.
    #[must_use]
    pub(crate) fn into_plain(self) -> Option<Vec<Word>> {
        if self.doubt.is_some() {
            return None;
        }
        let mut parts = self.parts.into_iter();
        let part = parts.next()?;
        if parts.any(|part| part.parent.is_none()) {
            return None;
        }
        let plain = part.via.is_empty() && part.assignments.is_empty();
        let known = part.words.iter().all(|word| word.value == Value::Known);
        (plain && known && part.redirections.is_empty() && !part.words.is_empty())
            .then_some(part.words)
    }
}
