//! What a command line is made of. Plain data: made by `statements`, read by everybody.

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
    /// Every simple command that the line may run, in the order in which they stand; what a launcher launches, and
    /// what a shell is given as a line, behind it.
    pub parts: Vec<Part>,
    /// Why the line as such is not understood. Then `parts` may miss some.
    pub doubt: Option<Doubt>,
}

/// One simple command, or a redirection or assignment that stands alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub span: Span,
    /// From the line inwards, how it is reached. Empty: one of the commands that follow each other.
    pub via: Vec<NestingStep>,
    /// The part whose words hold this one: its launcher, or the shell that is given it.
    pub parent: Option<usize>,
    /// Behind how many of the parent's words it begins, if it is a tail of these.
    pub offset: Option<usize>,
    /// Commands that a `|` joins have the same number.
    pub pipeline: usize,
    pub words: Vec<Word>,
    pub assignments: Vec<Assignment>,
    pub redirections: Vec<Redirection>,
    /// Why what it runs is not known before it runs.
    pub doubt: Option<Doubt>,
}

/// One step on the way to a part.
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

/// What is known of a word before the shell runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// As it stands in `text`.
    Known,
    /// The variable of a loop over words that are known: right unless something else sets it.
    Bound,
    /// Holds a variable, and nothing that would run something.
    Variable,
    /// Holds a substitution, an arithmetic, or an expansion that may run something.
    Computed,
    /// A brace expansion: several words.
    Braces,
    /// Given by somebody else: `{}` of `find`, what `xargs` adds.
    Given,
}

/// A word after quotes and backslashes have been taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// What is not known stands as it was written.
    pub text: String,
    pub value: Value,
    /// The shell may put file names in its place.
    pub glob: bool,
    /// Begins with an unquoted `~`.
    pub tilde: bool,
    /// Has `$'…'` or `$"…"` in it: shown otherwise than it is.
    pub coded: bool,
    pub span: Span,
}

/// `NAME=value` before a command, or alone.
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
    /// `2>/dev/null`: messages are dropped.
    Null,
    /// Writes, or opens for writing.
    Write(Word),
    Read(Word),
    /// A here-document or here-string; its text, where the shell changes nothing in it.
    Text(Option<String>),
}

/// Why something is not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    Empty,
    TooLong,
    Characters,
    Syntax,
    TooDeep,
    TooMuch,
    /// The grammar may have read it otherwise than a shell does.
    Misread,
    /// The program is not a plain word.
    Program,
    /// It runs code that stands in its arguments and is not a shell's, or not known.
    Code,
    /// It takes commands from its input, or from a file into this shell.
    Input,
    /// It launches something, but what is not clear.
    Launcher,
    /// It evaluates the values of variables.
    Evaluates,
    /// It changes what later words mean.
    Changes,
}

impl Doubt {
    /// The reason in words.
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

    /// Whether a line was not even read to its end, or not surely so: no rule that allows covers it.
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
    /// A word as if it stood so in the line.
    #[must_use]
    pub(crate) fn plain(text: &str, span: Span) -> Self {
        Self {
            text: text.to_owned(),
            value: Value::Known,
            glob: false,
            tilde: false,
            coded: false,
            span,
        }
    }

    /// A word that somebody else gives.
    pub(crate) fn given(span: Span) -> Self {
        Self {
            value: Value::Given,
            ..Self::plain("{}", span)
        }
    }

    /// Whether file names that the shell puts here may be taken for options.
    #[must_use]
    pub fn may_become_option(&self) -> bool {
        self.glob && self.text.starts_with(['*', '?', '[', '-'])
    }

    /// Whether `text` is what the program gets, but for file names.
    #[must_use]
    pub fn is_known(&self) -> bool {
        matches!(self.value, Value::Known | Value::Bound)
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

    /// The words of the one plain command that a text is, if it is one.
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
