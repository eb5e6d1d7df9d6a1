//! Vim's keys: insert and normal mode, motions, `d` `c` `y` with them, counts. No marks, registers, visual mode.
//!
//! Keys of normal mode are not rows of the key table: they are a language of their own. Text that it deletes or
//! copies goes into the same yank buffer as with the other keys, and is linewise if it ends with a line feed.

use std::ops::Range;

use super::text::{Class, Text};

/// Counts above this are nobody's intention.
const COUNT_MAX: usize = 9999;

/// The mode, and the keys of an incomplete command.
#[derive(Debug, Default)]
pub struct Vim {
    pub normal: bool,
    /// The count before the operator, and the one before the motion.
    counts: [Option<usize>; 2],
    operator: Option<char>,
    /// `g` came: another one follows.
    g: bool,
    /// `f`, `t`, `F`, `T` or `r` came: the character that it is about follows.
    awaits: Option<char>,
}

/// A request of a key that the text alone cannot fulfil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    Nothing,
    /// This many rows up, or through the history.
    Up(usize),
    Down(usize),
}

/// Where a motion goes, and what an operator takes of it.
struct Motion {
    to: usize,
    /// The cluster there belongs to it.
    inclusive: bool,
    /// It is of whole lines.
    lines: bool,
}

impl Vim {
    /// Whether a command is begun.
    #[must_use]
    pub fn pending(&self) -> bool {
        self.operator.is_some() || self.awaits.is_some() || self.g || self.counts != [None, None]
    }

    /// Drops an incomplete command.
    pub fn forget(&mut self) {
        self.counts = [None, None];
        self.operator = None;
        self.awaits = None;
        self.g = false;
    }

    /// From insert to normal mode: the caret moves back onto the last character.
    pub fn enter_normal(&mut self, text: &mut Text) {
        self.normal = true;
        self.forget();
        if text.caret() > text.line_start(text.caret()) {
            text.go(text.previous(text.caret()));
        }
    }

    /// Takes a character of normal mode.
    pub fn key(&mut self, key: char, text: &mut Text) -> Asks {
        if let Some(way) = self.awaits.take() {
            self.about(way, key, text);
            self.forget();
            return Asks::Nothing;
        }
        if self.counted(key) {
            return Asks::Nothing;
        }
        if key == 'g' && !self.g {
            self.g = true;
            return Asks::Nothing;
        }
        let key = match (std::mem::take(&mut self.g), key) {
            (true, 'g') => '<',
            (true, _) => '\0',
            (false, '<' | '\0') => '\u{1}',
            (false, key) => key,
        };
        if matches!(key, 'f' | 't' | 'F' | 'T') || (key == 'r' && self.operator.is_none()) {
            self.awaits = Some(key);
            return Asks::Nothing;
        }
        let asks = match self.operator {
            None if matches!(key, 'd' | 'c' | 'y') => {
                self.operator = Some(key);
                return Asks::Nothing;
            }
            None => self.command(key, text),
            Some(operator) => {
                self.operate(operator, key, text);
                Asks::Nothing
            }
        };
        self.forget();
        if self.normal {
            settle(text);
        }
        asks
    }

    fn counted(&mut self, key: char) -> bool {
        let slot = usize::from(self.operator.is_some());
        let (Some(digit), Some(count)) = (key.to_digit(10), self.counts.get_mut(slot)) else {
            return false;
        };
        if (digit == 0 && count.is_none()) || self.g {
            return false;
        }
        let so_far = count.unwrap_or_default() * 10 + digit as usize;
        *count = Some(so_far.min(COUNT_MAX));
        true
    }

    /// A key that is about a character of the line.
    fn about(&mut self, way: char, character: char, text: &mut Text) {
        let count = self.count();
        if way == 'r' {
            let at = text.caret();
            let end =
                (0..count).try_fold(at, |at, _| (at < text.line_end(at)).then(|| text.next(at)));
            if let Some(end) = end {
                text.replace(at..end, &character.to_string().repeat(count));
                text.go(text.previous(text.caret()));
            }
            return;
        }
        let Some(motion) = find(text, way, character, count) else {
            return;
        };
        match self.operator {
            Some(operator) => self.operate_over(operator, motion, text),
            None => text.go(motion.to),
        }
        if self.normal {
            settle(text);
        }
    }

    fn given(&self) -> Option<usize> {
        match self.counts {
            [None, None] => None,
            [a, b] => Some((a.unwrap_or(1) * b.unwrap_or(1)).clamp(1, COUNT_MAX)),
        }
    }

    fn count(&self) -> usize {
        self.given().unwrap_or(1)
    }

    fn insert(&mut self, text: &mut Text, at: usize) {
        text.go(at);
        self.normal = false;
    }

    fn command(&mut self, key: char, text: &mut Text) -> Asks {
        let at = text.caret();
        let (start, end) = (text.line_start(at), text.line_end(at));
        match key {
            'j' => return Asks::Down(self.count()),
            'k' => return Asks::Up(self.count()),
            'i' => self.insert(text, at),
            'a' => {
                let after = if at < end { text.next(at) } else { at };
                self.insert(text, after);
            }
            'I' => self.insert(text, indent(text, at)),
            'A' => self.insert(text, end),
            'o' => {
                text.replace(end..end, "\n");
                self.insert(text, end + 1);
            }
            'O' => {
                text.replace(start..start, "\n");
                self.insert(text, start);
            }
            'x' => self.operate('d', 'l', text),
            'X' => self.operate('d', 'h', text),
            'D' => self.operate('d', '$', text),
            'C' => self.operate('c', '$', text),
            'p' | 'P' => put(text, key == 'p', self.count()),
            'u' => {
                for _ in 0..self.count() {
                    text.undo();
                }
            }
            key => {
                if let Some(motion) = self.motion(key, text) {
                    text.go(motion.to);
                }
            }
        }
        Asks::Nothing
    }

    /// Where a key moves to.
    fn motion(&self, key: char, text: &Text) -> Option<Motion> {
        let at = text.caret();
        let times = |step: &dyn Fn(usize) -> usize| (0..self.count()).fold(at, |at, _| step(at));
        let (start, end) = (text.line_start(at), text.line_end(at));
        let (to, inclusive, lines) = match key {
            'h' => (times(&|at| text.previous(at)).max(start), false, false),
            'l' => (times(&|at| text.next(at)).min(end), false, false),
            'w' => (times(&|at| word(text, at)), false, false),
            'b' => (times(&|at| word_back(text, at)), false, false),
            'e' => (times(&|at| word_end(text, at)), true, false),
            '0' => (start, false, false),
            '^' => (indent(text, at), false, false),
            '$' => {
                let down = |at| match text.line_end(at) {
                    end if end < text.as_str().len() => end + 1,
                    end => end,
                };
                let line = (1..self.count()).fold(at, |at, _| down(at));
                (text.line_end(line), false, false)
            }
            'G' => {
                let last = text.line_start(text.as_str().len());
                (self.given().map_or(last, |n| line(text, n)), false, true)
            }
            '<' => (line(text, self.count()), false, true),
            'j' if end == text.as_str().len() => return None,
            'k' if start == 0 => return None,
            'j' => {
                let down = |at| (text.line_end(at) + 1).min(text.as_str().len());
                (times(&down), false, true)
            }
            'k' => {
                let up = |at| text.line_start(text.line_start(at).saturating_sub(1));
                (times(&up), false, true)
            }
            _ => return None,
        };
        Some(Motion {
            to,
            inclusive,
            lines,
        })
    }

    /// Applies an operator to a motion, or to lines if it is pressed twice.
    fn operate(&mut self, operator: char, key: char, text: &mut Text) {
        let at = text.caret();
        if key == operator {
            let last = (1..self.count())
                .fold(at, |at, _| (text.line_end(at) + 1).min(text.as_str().len()));
            return self.take_lines(operator, at, last, text);
        }
        // As in Vim, `cw` keeps the blanks after the word.
        let key = match (operator, key, text.class(at)) {
            ('c', 'w', Class::Blank) => 'w',
            ('c', 'w', _) => return self.change_word(text),
            (_, key, _) => key,
        };
        let Some(mut motion) = self.motion(key, text) else {
            return;
        };
        if key == 'w' {
            motion.to = within_line(text, at..motion.to).end;
        }
        self.operate_over(operator, motion, text);
    }

    fn operate_over(&mut self, operator: char, motion: Motion, text: &mut Text) {
        let at = text.caret();
        if motion.lines {
            return self.take_lines(operator, at.min(motion.to), at.max(motion.to), text);
        }
        let end = at.max(motion.to);
        let end = if motion.inclusive {
            text.next(end)
        } else {
            end
        };
        self.take(operator, at.min(motion.to)..end, text);
    }

    fn change_word(&mut self, text: &mut Text) {
        let at = text.caret();
        // The end of the word under the caret, which may already be at that end.
        let mut end = run_end(text, at);
        for _ in 1..self.count() {
            end = text.next(word_end(text, text.previous(end)));
        }
        self.take('c', at..end, text);
    }

    fn take(&mut self, operator: char, range: Range<usize>, text: &mut Text) {
        let part = text.part(range.clone()).to_owned();
        if !part.is_empty() {
            text.keep(&part);
        }
        match operator {
            'y' => text.go(range.start),
            _ => {
                let start = range.start;
                text.delete(range);
                text.go(start);
            }
        }
        self.normal = operator != 'c';
    }

    fn take_lines(&mut self, operator: char, first: usize, last: usize, text: &mut Text) {
        let (start, end) = (text.line_start(first), text.line_end(last));
        let part = format!("{}\n", text.part(start..end));
        text.keep(&part);
        let length = text.as_str().len();
        match operator {
            'y' if first < text.caret() => text.go(first),
            'y' => {}
            'c' => {
                text.delete(start..end);
                self.insert(text, start);
            }
            _ if end < length => {
                text.delete(start..end + 1);
                text.go(indent(text, start));
            }
            _ => {
                text.delete(start.saturating_sub(1)..end);
                text.go(indent(text, text.caret()));
            }
        }
    }
}

/// In normal mode the caret is on a character, if its line has any.
pub fn settle(text: &mut Text) {
    let (at, goal) = (text.caret(), text.goal);
    if at == text.line_end(at) && at > text.line_start(at) {
        text.go(text.previous(at));
        text.goal = goal;
    }
}

fn put(text: &mut Text, after: bool, count: usize) {
    let kept = text.killed().to_owned();
    if kept.is_empty() {
        return;
    }
    let count = count.min(100);
    let at = text.caret();
    let (start, end) = (text.line_start(at), text.line_end(at));
    match (kept.strip_suffix('\n'), after) {
        (Some(lines), true) => {
            text.replace(end..end, &format!("\n{lines}").repeat(count));
            text.go(indent(text, end + 1));
        }
        (Some(_), false) => {
            text.replace(start..start, &kept.repeat(count));
            text.go(indent(text, start));
        }
        (None, after) => {
            let at = if after && at < end { text.next(at) } else { at };
            text.replace(at..at, &kept.repeat(count));
            text.go(text.previous(text.caret()));
        }
    }
}

/// The first cluster of a line that is not blank.
fn indent(text: &Text, at: usize) -> usize {
    let (mut at, end) = (text.line_start(at), text.line_end(at));
    while at < end && text.class(at) == Class::Blank {
        at = text.next(at);
    }
    at
}

/// The start of a line, from 1.
fn line(text: &Text, number: usize) -> usize {
    let starts = text.as_str().match_indices('\n').map(|(at, _)| at + 1);
    let start = std::iter::once(0).chain(starts).take(number.max(1)).last();
    start.unwrap_or_default()
}

/// Finds a character in the line: up to it (`t`) or on it (`f`), backwards with capitals.
fn find(text: &Text, way: char, character: char, count: usize) -> Option<Motion> {
    let (at, letter) = (text.caret(), character.to_string());
    let is = |place: &usize| text.cluster(*place).starts_with(&letter);
    let to = match way {
        'f' | 't' => {
            let end = text.line_end(at);
            let places = std::iter::successors(Some(text.next(at)), |at| Some(text.next(*at)));
            let mut places = places.take_while(|place| *place < end).filter(is);
            places.nth(count - 1)?
        }
        _ => {
            let start = text.line_start(at);
            let before = |at: usize| (at > start).then(|| text.previous(at));
            let mut places = std::iter::successors(before(at), |at| before(*at)).filter(is);
            places.nth(count - 1)?
        }
    };
    let to = match way {
        't' => text.previous(to),
        'T' => text.next(to),
        _ => to,
    };
    Some(Motion {
        to,
        inclusive: matches!(way, 'f' | 't'),
        lines: false,
    })
}

fn run_end(text: &Text, from: usize) -> usize {
    let (mut at, class) = (from, text.class(from));
    while at < text.as_str().len() && text.class(at) == class {
        at = text.next(at);
    }
    at
}

fn word(text: &Text, from: usize) -> usize {
    let mut at = match text.class(from) {
        Class::Blank => from,
        _ => run_end(text, from),
    };
    while at < text.as_str().len() && text.class(at) == Class::Blank {
        at = text.next(at);
    }
    at
}

fn word_back(text: &Text, from: usize) -> usize {
    let mut at = from;
    while at > 0 && text.class(text.previous(at)) == Class::Blank {
        at = text.previous(at);
    }
    let class = text.class(text.previous(at));
    while at > 0 && text.class(text.previous(at)) == class {
        at = text.previous(at);
    }
    at
}

fn word_end(text: &Text, from: usize) -> usize {
    let mut at = text.next(from);
    while at < text.as_str().len() && text.class(at) == Class::Blank {
        at = text.next(at);
    }
    match at < text.as_str().len() {
        true => text.previous(run_end(text, at)),
        false => text.previous(at).max(from),
    }
}

/// The last word of a line is taken without the line feed and the next line's indent.
fn within_line(text: &Text, range: Range<usize>) -> Range<usize> {
    let part = text.part(range.clone());
    match part.rfind('\n') {
        Some(found) if found > 0 && part[found..].trim().is_empty() => {
            range.start..range.start + found
        }
        _ => range,
    }
}

#[cfg(test)]
mod tests;
