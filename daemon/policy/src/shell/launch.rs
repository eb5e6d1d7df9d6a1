//! The commands that a command launches: the program after a launcher, or the line that a shell is given.
//!
//! A launcher whose options are not understood is doubtful. Called by `commands` for every part, and by `options` for
//! rules that name a launched program.

use super::launchers::{LaunchForm, row};
use super::parse::Reader;
use super::types::{Doubt, NestingStep, Part, Span, Value, Word};
use super::{evaluating, option_lines, shells};
use crate::git;
use crate::tables::tables;

/// The index of the program that a subcommand launches, if only `--` is between them.
fn behind_subcommand(words: &[Word]) -> Option<usize> {
    let text = |at: usize| words.get(at).map(|word| word.text.as_str());
    let subcommands = tables().launching_subcommands.get(base(text(0)?))?;
    let from = *subcommands.get(text(1)?)?;
    let from = from + usize::from(text(from) == Some("--"));
    text(from)
        .filter(|text| !text.starts_with('-'))
        .map(|_| from)
}

/// Whether a subcommand that launches a program has options before or behind it, which are not known here.
fn launches_behind_options(program: &str, words: &[Word]) -> bool {
    let Some(row) = tables().launching_subcommands.get(program) else {
        return false;
    };
    let is_option = |at: usize| {
        let word = words.get(at).map_or("", |word| word.text.as_str());
        word.starts_with('-') && word != "--"
    };
    let mut rest = words.iter().skip(2);
    match words.get(1).and_then(|word| row.get(&word.text)) {
        Some(from) => is_option(*from),
        None => is_option(1) && rest.any(|word| row.contains_key(&word.text)),
    }
}

/// Whether a program launches another one with this subcommand.
pub(crate) fn launches_by(program: &str, subcommand: &str) -> bool {
    let subcommands = tables().launching_subcommands.get(program);
    subcommands.is_some_and(|row| row.contains_key(subcommand))
}

/// What a launcher launches.
pub(super) enum Launched {
    /// The words from this index on; whether more are given.
    Tail {
        from: usize,
        more: bool,
    },
    /// Words from anywhere among the launcher's.
    Words(Vec<Word>),
    /// A line, if it is known, and whether its shell may support only POSIX.
    Line {
        text: Option<String>,
        span: Span,
        posix: bool,
    },
    Doubt(Doubt),
}

/// The program's name without its directory.
fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The index of the program that a command launches, if it is a plain launcher with plain options.
pub(crate) fn launched(words: &[Word]) -> Option<usize> {
    let program = base(&words.first()?.text);
    if let Some(from) = behind_subcommand(words) {
        return Some(from);
    }
    let row = row(program).filter(|row| row.then == LaunchForm::Program)?;
    let from = row.program(words)?;
    words.get(from).map(|_| from)
}

/// Whether a path is one of a descriptor or of a process that runs.
pub(super) fn leads_to_running(path: &str) -> bool {
    let mut names = path.split('/');
    path.contains('/') && names.any(|name| matches!(name, "dev" | "proc"))
}

/// What a command launches, if it is a known launcher.
fn inner(part: &Part) -> Vec<Launched> {
    let words = part.words.as_slice();
    let Some(first) = words.first() else {
        return Vec::new();
    };
    if !first.is_known() || first.glob || first.tilde || first.text.is_empty() {
        return vec![Launched::Doubt(Doubt::Program)];
    }
    let program = base(&first.text);
    // Another name of a program that runs, and a keyword behind a launcher, where it is none for us.
    if leads_to_running(&first.text) || program == "!" {
        return vec![Launched::Doubt(Doubt::Program)];
    }
    if option_lines::has_line(program, words) {
        return vec![Launched::Doubt(Doubt::Launcher)];
    }
    if let Some(found) = shells::inner(program, part) {
        return found;
    }
    match program {
        "find" | "gfind" => return found_by_find(words),
        "fd" | "fdfind" => return found_by_fd(words),
        "git" => return run_by_git(words),
        "command" if asks_only(words) => return Vec::new(),
        "env" | "genv" if split_string(words).is_some() => {
            let at = split_string(words).unwrap_or(1);
            return vec![
                line_of(words.get(at..).unwrap_or_default(), false),
                Launched::Doubt(Doubt::Launcher),
            ];
        }
        "xargs" if words.len() == 1 => return Vec::new(),
        _ => {}
    }
    if let Some(from) = behind_subcommand(words) {
        return vec![Launched::Tail { from, more: false }];
    }
    if launches_behind_options(program, words) {
        return vec![Launched::Doubt(Doubt::Launcher)];
    }
    let Some(row) = row(program) else {
        return match launches_unread(program, words) {
            true => vec![Launched::Doubt(Doubt::Launcher)],
            false => Vec::new(),
        };
    };
    let Some(from) = row.program(words) else {
        return vec![Launched::Doubt(Doubt::Launcher)];
    };
    if words
        .get(1..from.min(words.len()))
        .is_some_and(|before| before.iter().any(|word| !word.is_known()))
    {
        return vec![Launched::Doubt(Doubt::Launcher)];
    }
    let rest = words.get(from..).unwrap_or_default();
    // Options may follow operands, and be lines or change what follows.
    let is_unread = |word: &Word| match program {
        "strace" => word.text.starts_with('|') || word.text.starts_with("-o|"),
        "watch" => word.text.starts_with('-') && word.text.contains('x'),
        _ => false,
    };
    if rest.first().is_some_and(|word| word.text.starts_with('-'))
        || words.iter().take(from).any(is_unread)
    {
        return vec![Launched::Doubt(Doubt::Launcher)];
    }
    if rest.is_empty() {
        return match runs_own_shell(program, words) {
            true => vec![Launched::Doubt(Doubt::Input)],
            false => Vec::new(),
        };
    }
    match row.then {
        LaunchForm::Program => vec![Launched::Tail { from, more: false }],
        LaunchForm::ProgramWithMore => vec![Launched::Tail { from, more: true }],
        LaunchForm::Line => vec![line_of(rest, program == "watch" || program == "ssh")],
    }
}

/// Whether a launcher whose options are not known here may launch something. Some do much else.
fn launches_unread(program: &str, words: &[Word]) -> bool {
    const ALSO_MANAGE: &[&str] = &[
        "ansible-playbook",
        "asdf",
        "direnv",
        "flatpak",
        "heroku",
        "ip",
        "machinectl",
        "mise",
        "nc",
        "ncat",
        "netcat",
        "pipx",
        "puppet",
        "scriptreplay",
        "snap",
        "socat",
        "sponge",
        "tmux",
        "vagrant",
    ];
    const LAUNCHING: &[&str] = &[
        "-c",
        "--command",
        "exec",
        "new",
        "new-session",
        "new-window",
        "neww",
        "run",
        "run-shell",
        "shell",
        "split-window",
        "splitw",
        "x",
    ];
    let launches = |word: &Word| word.splits || LAUNCHING.contains(&word.text.as_str());
    tables().launchers.contains(program)
        && !tables().changing_builtins.contains(program)
        && words.len() > 1
        && (!ALSO_MANAGE.contains(&program) || words.iter().skip(1).any(launches))
}

/// Whether a launcher that is given no program runs a shell, which reads its input.
fn runs_own_shell(program: &str, words: &[Word]) -> bool {
    let asks_for_shell = |word: &Word| match word.text.strip_prefix("--") {
        Some(long) => matches!(long, "login" | "shell"),
        None => word.text.starts_with('-') && word.text.contains(['i', 's']),
    };
    // With these ssh shows something, or only forwards connections.
    let runs_nothing = |word: &Word| {
        let options = [
            "-G", "-N", "-O", "-Q", "-V", "-W", "-fN", "-nN", "-NT", "-fNT", "-NL", "-fNL",
        ];
        options.contains(&word.text.as_str())
    };
    match program {
        "ssh" => !words.iter().any(runs_nothing),
        "chroot" | "fakeroot" | "i386" | "linux32" | "linux64" | "newgrp" | "proot" | "setarch"
        | "x86_64" => true,
        "doas" | "sudo" => words.iter().any(asks_for_shell),
        _ => false,
    }
}

/// What `xargs` starts has no input, unless it takes its words from a file.
fn gives_no_input(words: &[Word]) -> bool {
    let from_file = |word: &Word| word.text.starts_with("-a") || word.text.starts_with("--a");
    let is_xargs = words
        .first()
        .is_some_and(|first| base(&first.text) == "xargs");
    is_xargs && !words.iter().any(from_file)
}

/// Whether a program whose input may be commands is called so that it reads them.
fn takes_commands(program: &str, words: &[Word]) -> bool {
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.text.as_str()));
    let is_open = |word: &Word| {
        let text = word.text.as_str();
        let is_cluster = text.starts_with('-') && !text.starts_with("--") && text.contains('i');
        is_cluster || matches!(text, "--interactive" | "--stdin") || !word.is_known()
    };
    match program {
        "adb" => has(&["shell"]),
        "bun" | "deno" => words.len() == 1 || has(&["-", "repl"]),
        "docker" | "kubectl" | "nerdctl" | "oc" | "podman" => {
            has(&["attach", "debug", "exec", "run", "start"])
                && (words.iter().any(is_open) || has(&["attach", "compose"]))
        }
        "lxc" => has(&["exec", "shell"]),
        "vagrant" => has(&["ssh"]),
        _ => true,
    }
}

/// The line that words form together.
pub(super) fn line_of(words: &[Word], posix: bool) -> Launched {
    let known = words.iter().all(|word| word.is_known() && !word.glob);
    let span = match (words.first(), words.last()) {
        (Some(first), Some(last)) => Span {
            start: first.span.start,
            end: last.span.end.max(first.span.start),
        },
        _ => Span::default(),
    };
    let text = known.then(|| super::join(words.iter().map(|word| word.text.as_str())));
    Launched::Line { text, span, posix }
}

/// `command -v x` only prints where a program is.
fn asks_only(words: &[Word]) -> bool {
    let option = words.get(1).map_or("", |word| word.text.as_str());
    option.starts_with('-') && option != "--" && option.contains(['v', 'V'])
}

/// `env -S 'a b'`: the index of the line.
fn split_string(words: &[Word]) -> Option<usize> {
    words
        .iter()
        .skip(1)
        .position(|word| {
            let text = word.text.as_str();
            let short = text.starts_with('-') && !text.starts_with("--") && text.contains('S');
            short || text.starts_with("--split") || text.starts_with("--s")
        })
        .map(|at| at + 1)
}

/// `-exec program words ;`, for each occurrence.
fn found_by_find(words: &[Word]) -> Vec<Launched> {
    let mut found = Vec::new();
    let mut at = 1;
    while at < words.len() {
        let Some(word) = words.get(at) else { break };
        at += 1;
        if !word.is_known() {
            found.push(Launched::Doubt(Doubt::Launcher));
            continue;
        }
        if !matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            continue;
        }
        let rest = words.get(at..).unwrap_or_default();
        let ends = |(index, word): (usize, &Word)| {
            let plus = word.text == "+"
                && index > 0
                && rest.get(index - 1).is_some_and(|word| word.text == "{}");
            word.text == ";" || plus
        };
        let length = rest
            .iter()
            .enumerate()
            .position(|(index, word)| ends((index, word)));
        let length = length.unwrap_or(rest.len());
        found.push(Launched::Words(
            rest.iter().take(length).map(given).collect(),
        ));
        at += length + 1;
    }
    found
}

/// `-x program words`, up to the end or a `;`.
fn found_by_fd(words: &[Word]) -> Vec<Launched> {
    let starts = |word: &Word| {
        let text = word.text.as_str();
        let short = text.starts_with('-') && !text.starts_with("--") && text.ends_with(['x', 'X']);
        short || text == "--exec" || text == "--exec-batch"
    };
    let Some(at) = words.iter().position(starts) else {
        let attached = words.iter().any(|word| word.text.starts_with("--exec"));
        return if attached {
            vec![Launched::Doubt(Doubt::Launcher)]
        } else {
            Vec::new()
        };
    };
    let rest = words.get(at + 1..).unwrap_or_default();
    let words: Vec<Word> = rest
        .iter()
        .take_while(|word| word.text != ";")
        .map(given)
        .collect();
    vec![Launched::Words(words)]
}

/// `git grep -O'less -R'`: the line that opens the files found. Without a value, a setting names it.
fn run_by_git(words: &[Word]) -> Vec<Launched> {
    let (_, rest) = words.split_at(git::globals(words).min(words.len()));
    let Some((subcommand, rest)) = rest.split_first() else {
        return Vec::new();
    };
    if subcommand.text != "grep" {
        return Vec::new();
    }
    let options = rest.iter().take_while(|word| word.text != "--");
    let mut found = Vec::new();
    for (word, pager) in options.filter_map(|word| Some((word, pager(&word.text)?))) {
        let known = word.is_known() && !word.glob;
        if !known || !pager.is_empty() {
            found.push(Launched::Line {
                text: known.then(|| pager.to_owned()),
                span: word.span,
                posix: true,
            });
        }
        // It gets the names of files as further words.
        found.push(Launched::Doubt(Doubt::Launcher));
    }
    found
}

/// The pager in an option of `git grep`, if it is that option.
fn pager(option: &str) -> Option<&str> {
    if let Some(long) = option.strip_prefix("--") {
        let (name, value) = long.split_once('=').unwrap_or((long, ""));
        return (name.starts_with("op") && "open-files-in-pager".starts_with(name))
            .then_some(value);
    }
    let letters = option.strip_prefix('-')?;
    // The rest of a cluster after these is their value.
    let at = letters.find(['O', 'A', 'B', 'C', 'e', 'f', 'm'])?;
    letters[at..].strip_prefix('O')
}

/// The placeholder that `xargs` replaces by its input: `-I SIGN`, `--replace=SIGN`.
fn replaced(words: &[Word], from: usize) -> Option<String> {
    let options = words.get(1..from.min(words.len()))?;
    options.iter().enumerate().find_map(|(index, word)| {
        let text = word.text.as_str();
        let sign = match text.strip_prefix("--replace") {
            Some(rest) => rest.strip_prefix('=').unwrap_or("{}"),
            None => match text
                .strip_prefix('-')
                .filter(|text| !text.starts_with('-'))?
                .split_once(['I', 'J'])
            {
                Some((_, "")) => options
                    .get(index + 1)
                    .map_or("{}", |word| word.text.as_str()),
                Some((_, sign)) => sign,
                None => return None,
            },
        };
        Some(if sign.is_empty() {
            "{}".to_owned()
        } else {
            sign.to_owned()
        })
    })
}

/// A word into which the launcher inserts something.
fn given(word: &Word) -> Word {
    let mut word = word.clone();
    if word.text.contains('{') && word.text.contains('}') && word.value == Value::Known {
        word.value = Value::Given;
    }
    word
}

impl Reader {
    /// Adds the commands that a part launches, and notes doubts about it.
    pub(super) fn launch(&mut self, index: usize, posix: bool) {
        let Some(part) = self.parts.get(index) else {
            return;
        };
        if part.words.is_empty() {
            if shells::sets_code(part) {
                self.doubt_part(index, Doubt::Changes);
            }
            return;
        }
        let found = inner(part);
        let sets_input = part.program() == Some("exec") && part.words.len() == 1 && part.has_input;
        let runs_input = sets_input || self.runs_input(part);
        let evaluates = evaluating::evaluates(part, self.has_lists);
        let sets_code = shells::sets_code(part);
        let pipeline = part.pipeline;
        let words = if found.is_empty() {
            Vec::new()
        } else {
            part.words.clone()
        };
        let program = words
            .first()
            .map_or_else(String::new, |word| base(&word.text).to_owned());
        if evaluates {
            self.doubt_part(index, Doubt::Evaluates);
        }
        if runs_input {
            self.doubt_part(index, Doubt::Input);
        }
        if sets_code {
            self.doubt_part(index, Doubt::Changes);
        }
        let (parent, outer, had_input) = (self.parent, self.pipeline, self.has_input);
        self.pipeline = Some(pipeline);
        self.has_input &= !gives_no_input(&words);
        for inner in found {
            self.parent = Some(index);
            match inner {
                Launched::Doubt(doubt) => self.doubt_part(index, doubt),
                Launched::Line { text: None, .. } => self.doubt_part(index, Doubt::Code),
                Launched::Line {
                    text: Some(text),
                    span,
                    posix: own,
                } => {
                    self.line(
                        &text,
                        span,
                        posix || own,
                        NestingStep::Line(program.clone()),
                    );
                }
                Launched::Words(words) => self.launch_words(&words, None, posix, &program),
                Launched::Tail { from, more } => {
                    let mut tail = words.get(from..).unwrap_or_default().to_vec();
                    if let Some(sign) = replaced(&words, from).filter(|_| more) {
                        for word in tail.iter_mut().filter(|word| word.text.contains(&sign)) {
                            word.value = Value::Given;
                        }
                    }
                    if more {
                        let span = tail.last().map_or_else(Span::default, |word| word.span);
                        tail.push(Word::given(span));
                    }
                    self.launch_words(&tail, (!more).then_some(from), posix, &program);
                }
            }
        }
        self.parent = parent;
        self.pipeline = outer;
        self.has_input = had_input;
    }

    /// Whether a program gets an input that may have it run commands.
    fn runs_input(&self, part: &Part) -> bool {
        let program = part.program().map(base).unwrap_or_default();
        if !tables().input_runners.contains(program) || !takes_commands(program, &part.words) {
            return false;
        }
        let mut above = Some(part);
        while let Some(one) = above {
            if one.has_input {
                return true;
            }
            if gives_no_input(&one.words) {
                break;
            }
            above = one.parent.and_then(|parent| self.parts.get(parent));
        }
        self.has_input
    }

    fn doubt_part(&mut self, index: usize, doubt: Doubt) {
        if let Some(part) = self.parts.get_mut(index) {
            part.doubt = part.doubt.or(Some(doubt));
        }
    }

    fn launch_words(&mut self, words: &[Word], offset: Option<usize>, posix: bool, program: &str) {
        let (Some(first), Some(last)) = (words.first(), words.last()) else {
            return;
        };
        let part = Part {
            span: Span {
                start: first.span.start,
                end: last.span.end.max(first.span.start),
            },
            parent: self.parent,
            offset,
            pipeline: self.pipeline.unwrap_or(0),
            words: words.to_vec(),
            ..Part::default()
        };
        self.within(NestingStep::Launched(program.to_owned()), |reader| {
            let index = reader.parts.len();
            let part = Part {
                via: reader.via.clone(),
                ..part
            };
            reader.push(part);
            reader.launch(index, posix);
        });
    }
}
