//! Screens as files: compares a terminal's screen with the expected one.
//!
//! `tests/it/tui/golden/NAME.txt` holds the screen between two rulers, and for screens whose colours count a second
//! block that lists every run of cells that is not plain. `UPDATE=1` writes the files. What differs from run to run is
//! made alike first, cell for cell, by [`steady`].

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::Terminal;
use super::emulator::Emulator;

/// How long a screen may take to match.
const PATIENCE: Duration = Duration::from_secs(10);

/// A screen that does not change for so long is drawn.
const STILL: Duration = Duration::from_millis(400);

/// The compared parts of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoldenContent {
    /// Its text.
    Text,
    /// Its text, and what each part of it looks like.
    Colours,
}

/// Compares a terminal with its file, as soon as it is as that says; with `UPDATE=1` writes the file.
///
/// # Panics
/// It does not become what the file says; the message shows both.
pub fn golden(name: &str, of: GoldenContent, terminal: &Terminal) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("it/tui/golden")
        .join(format!("{name}.txt"));
    settled(&path, terminal, &|emulator| picture(of, emulator));
}

/// The same for every kind of picture.
pub(super) fn settled(path: &Path, terminal: &Terminal, picture: &dyn Fn(&Emulator) -> String) {
    if std::env::var_os("UPDATE").is_some() {
        let found = still(terminal, picture);
        let directory = path.parent().expect("a directory of goldens");
        fs::create_dir_all(directory).expect("make the directory of goldens");
        fs::write(path, found).expect("write a golden");
        return;
    }
    let wanted = fs::read_to_string(path).unwrap_or_default();
    let begun = Instant::now();
    let mut emulator = terminal.shared.lock();
    loop {
        let found = picture(&emulator);
        if emulator.is_whole() && found == wanted {
            return;
        }
        let left = PATIENCE.saturating_sub(begun.elapsed());
        if left.is_zero() || emulator.ended {
            drop(emulator);
            panic!(
                "{} is not what is shown ({}).\n{found}\nIf that is right, write it with `UPDATE=1` and look at what \
                 has changed.",
                path.display(),
                first_difference(&wanted, &found),
            );
        }
        emulator = terminal.wait_on(emulator, left);
    }
}

/// The picture that does not change any more. Spinners turn and seconds pass for ever: only the normalised picture counts.
fn still(terminal: &Terminal, picture: &dyn Fn(&Emulator) -> String) -> String {
    let begun = Instant::now();
    let mut emulator = terminal.shared.lock();
    let mut since = Instant::now();
    let mut found = picture(&emulator);
    while begun.elapsed() < PATIENCE && !emulator.ended {
        if emulator.is_whole() && since.elapsed() >= STILL {
            break;
        }
        let left = STILL.saturating_sub(since.elapsed());
        emulator = terminal.wait_on(emulator, left.max(Duration::from_millis(1)));
        let now = picture(&emulator);
        if now != found {
            (found, since) = (now, Instant::now());
        }
    }
    found
}

fn first_difference(wanted: &str, found: &str) -> String {
    if wanted.is_empty() {
        return "the file does not exist yet".to_owned();
    }
    let mut lines = wanted.lines().zip(found.lines()).enumerate();
    match lines.find(|(_, (wanted, found))| wanted != found) {
        Some((line, (wanted, _))) => format!("line {} is to be {wanted:?}", line + 1),
        None => "one is longer".to_owned(),
    }
}

/// The text form of a screen.
fn picture(of: GoldenContent, emulator: &Emulator) -> String {
    let (columns, rows) = emulator.size();
    let ruler: String = (0..columns)
        .map(|column| if column % 10 == 0 { '+' } else { '-' })
        .collect();
    let shown = emulator.rows();
    let steady: Vec<_> = shown.iter().map(|row| short(steady(row))).collect();
    let cursor = match emulator.vt().hide_cursor() {
        true => "no cursor".to_owned(),
        false => {
            let (row, column) = emulator.vt().cursor_position();
            format!("cursor in row {row}, column {column}")
        }
    };
    let mut text = format!("{columns} x {rows}, {cursor}\n{ruler}\n");
    for (row, _) in &steady {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{row}");
    }
    let _ = writeln!(text, "{ruler}");
    if of == GoldenContent::Colours {
        for (number, (row, gone)) in (0..).zip(&steady) {
            for run in runs(emulator, number, columns) {
                let run = run.without(*gone);
                let words = cut(row, run.from, run.to);
                let _ = writeln!(
                    text,
                    "{number}: {}..{} {} {:?}",
                    run.from,
                    run.to,
                    run.look,
                    words.trim_end()
                );
            }
        }
    }
    text
}

/// A row in which the time of a running turn has one digit, and the column of the second that it had: a busy machine
/// takes longer to get to the same screen.
fn short(row: String) -> (String, Option<u16>) {
    const LONG: &str = "· ## s ·";
    let Some(at) = row.find(LONG) else {
        return (row, None);
    };
    let column = row[..at].width() + "· #".width();
    let row = row.replacen(LONG, "· # s ·", 1);
    (row, u16::try_from(column).ok())
}

/// Cells beside each other that look alike.
struct Run {
    from: u16,
    to: u16,
    look: String,
}

impl Run {
    /// The same where the cell of a column is gone.
    fn without(self, gone: Option<u16>) -> Self {
        let moved = |column: u16| column - u16::from(gone.is_some_and(|gone| gone < column));
        Self {
            from: moved(self.from),
            to: moved(self.to),
            ..self
        }
    }
}

/// The runs of a row that are not plain.
fn runs(emulator: &Emulator, row: u16, columns: u16) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for column in 0..columns {
        let Some(cell) = emulator.vt().cell(row, column) else {
            break;
        };
        // The second half of a wide character looks as the first.
        if cell.is_wide_continuation() {
            if let Some(last) = runs.last_mut().filter(|last| last.to == column) {
                last.to += 1;
            }
            continue;
        }
        let look = look(cell);
        match runs.last_mut() {
            Some(last) if last.to == column && last.look == look => last.to += 1,
            _ if look.is_empty() => {}
            _ => runs.push(Run {
                from: column,
                to: column + 1,
                look,
            }),
        }
    }
    runs
}

/// How a cell looks; empty: plain. An empty cell shows nothing but its ground.
fn look(cell: &vt100::Cell) -> String {
    let blank = cell.contents().trim().is_empty();
    let mut words = Vec::new();
    for (is, word) in [
        (cell.bold() && !blank, "bold".to_owned()),
        (cell.dim() && !blank, "dim".to_owned()),
        (cell.italic() && !blank, "italic".to_owned()),
        (cell.underline(), "underline".to_owned()),
        (cell.inverse(), "inverse".to_owned()),
        (!blank, colour("", cell.fgcolor())),
        (true, colour("on-", cell.bgcolor())),
    ] {
        if is && !word.is_empty() {
            words.push(word);
        }
    }
    words.join(" ")
}

fn colour(before: &str, colour: vt100::Color) -> String {
    match colour {
        vt100::Color::Default => String::new(),
        vt100::Color::Idx(index) => format!("{before}{index}"),
        vt100::Color::Rgb(r, g, b) => format!("{before}#{r:02x}{g:02x}{b:02x}"),
    }
}

/// The text in some columns of a row.
fn cut(row: &str, from: u16, to: u16) -> String {
    let (from, to) = (usize::from(from), usize::from(to));
    let mut column = 0;
    let mut text = String::new();
    for letter in row.chars() {
        if (from..to).contains(&column) {
            text.push(letter);
        }
        column += letter.width().unwrap_or_default();
    }
    text
}

/// A row with everything made alike that differs from run to run, each in as many cells as it had:
///
/// - frames of a spinner (Braille, or a turning circle) become its first;
/// - the directory of a test (`/tmp/rxAbCdEf`) loses its name;
/// - digits become `#` in durations and ages (`1.2s`, `3 min`, `5 分钟`), times of day, percents, sums of money, counts of
///   tokens, versions, ports of this machine and ids; in a column of ages one digit is as two.
#[must_use]
pub fn steady(row: &str) -> String {
    let mut letters: Vec<char> = row.chars().map(turned).collect();
    unname(&mut letters);
    let mut at = 0;
    while at < letters.len() {
        let length = number(&letters, at);
        if length > 0 {
            let from = column(&letters, at, length);
            letters[from..at].fill('#');
            letters[at..at + length]
                .iter_mut()
                .filter(|letter| letter.is_ascii_hexdigit())
                .for_each(|letter| *letter = '#');
            at += length;
        } else {
            at += word(&letters, at).max(1);
        }
    }
    let steady: String = letters.into_iter().collect();
    debug_assert_eq!(steady.width(), row.width());
    steady
}

/// Where a number begins in a column of ages, in which it may have one digit or two: `  4s` is as ` 12s`.
fn column(letters: &[char], at: usize, length: usize) -> usize {
    let after = (letters.get(at + 1), letters.get(at + 2));
    let aged = matches!(
        after,
        (
            Some('s' | 'm' | 'h' | 'd' | '秒' | '分' | '时' | '天'),
            None | Some(' ')
        )
    );
    match length == 1 && aged && at >= 3 && letters[at - 3..at] == [' ', ' ', ' '] {
        true => at - 1,
        false => at,
    }
}

/// A spinner's frame as its first.
fn turned(letter: char) -> char {
    match letter {
        '\u{2800}'..='\u{28ff}' => '⠋',
        '◐' | '◓' | '◑' | '◒' => '◐',
        other => other,
    }
}

/// Takes the names of directories of tests away.
fn unname(letters: &mut [char]) {
    const NAME: usize = 6;
    let mut at = 0;
    while at + 3 + NAME <= letters.len() {
        let ends = letters
            .get(at + 3 + NAME)
            .is_none_or(|next| !next.is_ascii_alphanumeric());
        let name = &mut letters[at..at + 3 + NAME];
        if name.starts_with(&['/', 'r', 'x'])
            && name[3..].iter().all(char::is_ascii_alphanumeric)
            && ends
        {
            name[3..].fill('_');
        }
        at += 1;
    }
}

/// The letters and digits up to the next other character: a number within a word does not count.
fn word(letters: &[char], at: usize) -> usize {
    let rest = &letters[at..];
    rest.iter()
        .position(|letter| !letter.is_ascii_alphanumeric())
        .unwrap_or(rest.len())
}

/// How much from here is a number that differs from run to run; 0: none.
fn number(letters: &[char], at: usize) -> usize {
    let rest: String = letters[at..].iter().collect();
    if let Some(id) = rest.get(..36).filter(|id| is_id(id)) {
        return id.len();
    }
    let local = "127.0.0.1:";
    if let Some(port) = rest.strip_prefix(local) {
        return local.len() + digits(port);
    }
    let count = numeral(&rest);
    if count == 0 {
        return 0;
    }
    let (figure, after) = rest.split_at(count);
    let parts = figure.split(['.', ':']).count();
    let money = at > 0 && matches!(letters[at - 1], '$' | '¥');
    // A version, or a time of day.
    let alone = parts == 3 || (figure.contains(':') && figure.len() == 5);
    match money || alone || has_unit(after) {
        true => count,
        false => 0,
    }
}

/// Digits with dots or colons between them.
fn numeral(text: &str) -> usize {
    let mut count = digits(text);
    while count > 0 {
        let after = &text[count..];
        let more = match after.strip_prefix(['.', ':']) {
            Some(more) => digits(more),
            None => 0,
        };
        if more == 0 {
            break;
        }
        count += 1 + more;
    }
    count
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Whether a unit of time, of tokens, or a percent sign follows a number.
fn has_unit(after: &str) -> bool {
    const WORDS: [&str; 16] = [
        "ms", "s", "sec", "min", "m", "h", "d", "k", "K", "M", "kB", "tok", "tokens", "token", "%",
        "s)",
    ];
    const CHINESE: [&str; 8] = ["毫秒", "秒", "分", "小时", "天", "词元", "万", "千"];
    let after = after.strip_prefix(' ').unwrap_or(after);
    let is_end = |rest: &str| !rest.starts_with(|next: char| next.is_ascii_alphabetic());
    WORDS
        .iter()
        .any(|unit| after.strip_prefix(unit).is_some_and(is_end))
        || CHINESE.iter().any(|unit| after.starts_with(unit))
}

/// Whether this is an id of a session, a prompt, a question.
fn is_id(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.concat().bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::{Run, cut, short, steady};

    #[test]
    fn what_differs_from_run_to_run_is_made_alike_cell_for_cell() {
        for (row, alike) in [
            ("⠙ working 3s · 1m 04s", "⠋ working #s · #m ##s"),
            (
                "a.txt in /tmp/rxa1B2c3/project",
                "a.txt in /tmp/rx______/project",
            ),
            ("5 分钟前 · 上下文 12%", "# 分钟前 · 上下文 ##%"),
            (
                "at 12:04, $0.0012, 1.2k tokens",
                "at ##:##, $#.####, #.#k tokens",
            ),
            ("reasonix 0.1.0", "reasonix #.#.#"),
            ("http://127.0.0.1:41234/v1", "http://###.#.#.#:#####/v1"),
            (
                "01890000-0000-7000-8000-0000000000aa",
                "########-####-####-####-############",
            ),
            (
                "session 12, step 3, sha256, b2s",
                "session 12, step 3, sha256, b2s",
            ),
            (
                "2 sessions, line 10: 4 steps",
                "2 sessions, line 10: 4 steps",
            ),
            ("    1  + let x = 5;", "    1  + let x = 5;"),
        ] {
            assert_eq!(steady(row), alike);
            assert_eq!(steady(row).width(), row.width(), "{row}");
        }
    }

    #[test]
    fn a_part_of_a_row_is_cut_by_cells() {
        assert_eq!(cut("a中b", 1, 3), "中");
        assert_eq!(cut("a中b", 3, 4), "b");
        assert_eq!(cut("ab", 1, 9), "b");
    }

    #[test]
    fn a_turn_of_ten_seconds_looks_as_one_of_less() {
        let row = "⠋ 工作中 · ## s · Esc".to_owned();
        let (row, gone) = short(row);
        assert_eq!((row.as_str(), gone), ("⠋ 工作中 · # s · Esc", Some(12)));
        let run = |from, to| Run {
            from,
            to,
            look: String::new(),
        };
        for (before, after) in [((2, 8), (2, 8)), ((11, 13), (11, 12)), ((14, 15), (13, 14))] {
            let run = run(before.0, before.1).without(gone);
            assert_eq!((run.from, run.to), after);
        }
        assert_eq!(short("· # s ·".into()), ("· # s ·".into(), None));
    }
}
