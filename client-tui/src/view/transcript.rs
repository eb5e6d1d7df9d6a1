//! Entries of the transcript as lines: what goes into the terminal's own scrollback, what is still alive, a page of all.
//!
//! An entry has parts (the blocks of an answer; others have one), and a part that is printed never changes. A blank line
//! parts entries of different kinds; it belongs to the first row of the later one.

mod said;
mod told;
mod tool;
mod words;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use ratatui::text::Line;

use crate::model::Look;
use crate::model::transcript::{Entry, Transcript, What};
use crate::render::{Cache, Made};

/// How far the transcript stands in the terminal's scrollback.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    pub generation: u64,
    /// Entries that are printed whole.
    pub entries: usize,
    /// Blocks of the next one that are.
    pub blocks: usize,
}

/// The part of an answer that tells how it ended, in the cache.
const END: usize = usize::MAX;

/// All of an entry, in the cache.
const ALL: usize = usize::MAX - 1;

/// What has settled since, and goes into the scrollback now; `printed` moves on.
pub fn settled(
    transcript: &Transcript,
    printed: &mut Printed,
    look: &Look,
    cache: &mut Cache,
) -> Vec<Line<'static>> {
    *printed = since(transcript, printed);
    let mut rows = Vec::new();
    let mut ink = Inked::new(transcript, look, cache);
    while let Some(entry) = transcript.entries.get(printed.entries) {
        let done = entry.settled();
        let upto = match (&entry.what, done) {
            (_, true) => parts(entry),
            (What::Answer { markdown, .. }, false) => markdown.whole(),
            (_, false) => 0,
        };
        for part in printed.blocks..upto {
            let lines = ink.lines(entry, part);
            if ink.leads(printed.entries, part) {
                rows.push(Line::default());
            }
            rows.extend(lines.iter().cloned());
        }
        if !done {
            printed.blocks = printed.blocks.max(upto);
            break;
        }
        printed.entries += 1;
        printed.blocks = 0;
    }
    rows
}

/// What is not printed yet: its last rows.
pub fn live(
    transcript: &Transcript,
    printed: &Printed,
    look: &Look,
    cache: &mut Cache,
    rows: usize,
) -> Vec<Line<'static>> {
    let printed = since(transcript, printed);
    let mut ink = Inked::new(transcript, look, cache);
    let mut back = Back::new(0, rows);
    for (index, entry) in transcript.entries.iter().enumerate().rev() {
        if index < printed.entries || back.full() {
            break;
        }
        let from = match index == printed.entries {
            true => printed.blocks,
            false => 0,
        };
        back.entry(&mut ink, index, entry, from..parts(entry));
    }
    back.rows()
}

/// The last rows of what is printed, to be printed again after a change of width or look: at least `rows` of them, from
/// the beginning of an entry, where there are so many.
pub fn last(
    transcript: &Transcript,
    printed: &Printed,
    look: &Look,
    cache: &mut Cache,
    rows: usize,
) -> Vec<Line<'static>> {
    let printed = since(transcript, printed);
    let mut ink = Inked::new(transcript, look, cache);
    let mut back = Back::new(0, usize::MAX);
    let mut first = transcript.entries.len();
    for (index, entry) in transcript.entries.iter().enumerate().rev() {
        let upto = match index.cmp(&printed.entries) {
            std::cmp::Ordering::Greater => continue,
            std::cmp::Ordering::Equal => printed.blocks,
            std::cmp::Ordering::Less => parts(entry),
        };
        // What parts the first one from the entry before will go.
        let apart = usize::from(ink.apart(first));
        if back.rows.len() >= rows.saturating_add(apart) {
            break;
        }
        back.entry(&mut ink, index, entry, 0..upto);
        first = index;
    }
    let apart = ink.apart(first);
    let mut rows = back.rows();
    if apart && rows.first().is_some_and(|row| row.spans.is_empty()) {
        rows.remove(0);
    }
    rows
}

/// A page of the whole transcript in full screen: exactly `rows` rows, the last of them `scroll` rows above the end.
pub fn page(
    transcript: &Transcript,
    look: &Look,
    cache: &mut Cache,
    scroll: usize,
    rows: usize,
) -> Vec<Line<'static>> {
    let mut found = above(transcript, look, cache, scroll, rows);
    if found.len() < rows && scroll > 0 {
        let most = height(transcript, look, cache).saturating_sub(rows);
        found = above(transcript, look, cache, scroll.min(most), rows);
    }
    // A short transcript stands at the bottom, by the composer.
    let missing = rows.saturating_sub(found.len());
    let mut page = vec![Line::default(); missing];
    page.extend(found);
    page
}

/// The last `rows` rows but for the newest `scroll` ones; fewer where there are no more.
fn above(
    transcript: &Transcript,
    look: &Look,
    cache: &mut Cache,
    scroll: usize,
    rows: usize,
) -> Vec<Line<'static>> {
    let mut ink = Inked::new(transcript, look, cache);
    let mut back = Back::new(scroll, rows);
    for (index, entry) in transcript.entries.iter().enumerate().rev() {
        if back.full() {
            break;
        }
        if back.skip > 0 {
            let count = ink.count_all(index, entry);
            if count <= back.skip {
                back.skip -= count;
                continue;
            }
        }
        back.entry(&mut ink, index, entry, 0..parts(entry));
    }
    back.rows()
}

/// Rows of the whole transcript in full screen: it can be scrolled by these less those that are seen.
pub fn height(transcript: &Transcript, look: &Look, cache: &mut Cache) -> usize {
    let mut ink = Inked::new(transcript, look, cache);
    let entries = transcript.entries.iter().enumerate();
    entries
        .map(|(index, entry)| ink.count_all(index, entry))
        .sum()
}

/// The lines of one entry. `open`: with all that it holds.
pub fn entry(
    entry: &Entry,
    look: &Look,
    cache: &mut Cache,
    generation: u64,
    open: bool,
) -> Vec<Line<'static>> {
    let mut ink = Inked {
        entries: &[],
        generation,
        look,
        cache,
        open,
    };
    let all = (0..parts(entry)).flat_map(|part| {
        let lines = ink.lines(entry, part);
        lines.iter().cloned().collect::<Vec<_>>()
    });
    all.collect()
}

/// How far it is printed of these entries: nothing, where they have begun anew.
fn since(transcript: &Transcript, printed: &Printed) -> Printed {
    match printed.generation == transcript.generation {
        true => printed.clone(),
        false => Printed {
            generation: transcript.generation,
            ..Printed::default()
        },
    }
}

/// Parts of an entry.
fn parts(entry: &Entry) -> usize {
    match &entry.what {
        What::Answer {
            markdown, finish, ..
        } => markdown.blocks() + usize::from(finish.is_some()),
        _ => 1,
    }
}

/// Rows gathered from the end backwards.
struct Back {
    /// Rows that are left out yet.
    skip: usize,
    most: usize,
    /// The last one first.
    rows: Vec<Line<'static>>,
}

impl Back {
    fn new(skip: usize, most: usize) -> Self {
        Self {
            skip,
            most,
            rows: Vec::new(),
        }
    }

    fn full(&self) -> bool {
        self.rows.len() >= self.most
    }

    fn entry(
        &mut self,
        ink: &mut Inked<'_>,
        index: usize,
        entry: &Entry,
        parts: std::ops::Range<usize>,
    ) {
        for part in parts.rev() {
            if self.full() {
                return;
            }
            let hidden = match self.skip {
                0 => 0,
                _ => ink.count(entry, part).min(self.skip),
            };
            self.skip -= hidden;
            if self.skip == 0 {
                let lines = ink.lines(entry, part);
                let left = self.most - self.rows.len();
                let wanted = lines.iter().rev().skip(hidden).take(left);
                self.rows.extend(wanted.cloned());
            }
            if ink.leads(index, part) {
                match self.skip {
                    0 if self.full() => {}
                    0 => self.rows.push(Line::default()),
                    _ => self.skip -= 1,
                }
            }
        }
    }

    fn rows(mut self) -> Vec<Line<'static>> {
        self.rows.reverse();
        self.rows
    }
}

/// Makes lines, or finds them where they were made.
struct Inked<'a> {
    entries: &'a [Entry],
    generation: u64,
    look: &'a Look,
    cache: &'a mut Cache,
    open: bool,
}

impl<'a> Inked<'a> {
    fn new(transcript: &'a Transcript, look: &'a Look, cache: &'a mut Cache) -> Self {
        Self {
            entries: &transcript.entries,
            generation: transcript.generation,
            look,
            cache,
            open: false,
        }
    }

    /// The lines of a part, without what parts it from others.
    fn lines(&mut self, entry: &Entry, part: usize) -> Rc<Vec<Line<'static>>> {
        let (key, made) = self.known(entry, part);
        let (look, open) = (self.look, self.open);
        self.cache
            .lines(key, made, || made_of(entry, part, look, open))
    }

    /// How many they are.
    fn count(&mut self, entry: &Entry, part: usize) -> usize {
        let (key, made) = self.known(entry, part);
        let (look, open) = (self.look, self.open);
        self.cache
            .count(key, made, |_| count_of(entry, part, look, open))
    }

    /// Rows of an entry with the blank one before it.
    fn count_all(&mut self, index: usize, entry: &Entry) -> usize {
        let content = match &entry.what {
            What::Answer {
                markdown,
                finish: None,
                ..
            } => 1 + markdown.text().len() as u64,
            _ => content(entry, 0),
        };
        let key = (self.generation, entry.id, ALL);
        let made = self.made(content);
        let (look, open, generation) = (self.look, self.open, self.generation);
        let count = self.cache.count(key, made, |cache| {
            let mut ink = Inked {
                entries: &[],
                generation,
                look,
                cache,
                open,
            };
            (0..parts(entry)).map(|part| ink.count(entry, part)).sum()
        });
        match count {
            0 => 0,
            count => count + usize::from(self.apart(index)),
        }
    }

    /// Whether a blank row stands before this part: it is the first of its entry that has rows.
    fn leads(&mut self, index: usize, part: usize) -> bool {
        let Some(entry) = self.entries.get(index).filter(|_| self.apart(index)) else {
            return false;
        };
        (0..part).all(|part| self.count(entry, part) == 0) && self.count(entry, part) > 0
    }

    /// Whether an entry stands apart from the one before.
    fn apart(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|at| self.entries.get(at));
        match (before, self.entries.get(index)) {
            (Some(before), Some(entry)) => {
                let kind = kind(entry);
                kind != self::kind(before) || matches!(kind, Kind::Said)
            }
            _ => false,
        }
    }

    fn known(&self, entry: &Entry, part: usize) -> (crate::render::Key, Made) {
        let place = match &entry.what {
            What::Answer { markdown, .. } if part >= markdown.blocks() => END,
            _ => part,
        };
        let key = (self.generation, entry.id, place);
        (key, self.made(content(entry, part)))
    }

    fn made(&self, content: u64) -> Made {
        let look = self.look;
        let shown = [self.open, look.output, look.reasoning, look.links];
        let mut hasher = DefaultHasher::new();
        (content, shown).hash(&mut hasher);
        Made::of(look, usize::from(look.columns), hasher.finish())
    }
}

/// What stands together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Prompts, reasoning, answers: each by itself.
    Said,
    Work,
    Line,
}

fn kind(entry: &Entry) -> Kind {
    match &entry.what {
        What::User { .. } | What::Reasoning { .. } | What::Answer { .. } => Kind::Said,
        What::Tool(_) | What::Resolved { .. } | What::Child { .. } => Kind::Work,
        What::Answered { .. }
        | What::Rewound(_)
        | What::Ended(_)
        | What::Told(_)
        | What::Notice { .. }
        | What::Divider { .. } => Kind::Line,
    }
}

/// A number that is another one when the part is. 0: it never changes again.
fn content(entry: &Entry, part: usize) -> u64 {
    match &entry.what {
        What::Reasoning { text, done, .. } if !done => 1 + text.len() as u64,
        What::Answer {
            markdown,
            finish: None,
            ..
        } if part >= markdown.whole() => 1 + markdown.text().len() as u64,
        What::Tool(tool) if tool.done.is_none() => {
            // At its largest it changes without growing.
            let mut hasher = DefaultHasher::new();
            tool.output.hash(&mut hasher);
            hasher.finish().max(1)
        }
        _ => 0,
    }
}

fn made_of(entry: &Entry, part: usize, look: &Look, open: bool) -> Vec<Line<'static>> {
    let output = open || look.output;
    let mut rows = match &entry.what {
        What::User { text, steer } => said::prompt(look, text, *steer, output),
        What::Reasoning { text, done, .. } => {
            said::reasoning(look, text, *done, open || look.reasoning)
        }
        What::Answer {
            markdown, finish, ..
        } => match finish {
            Some(finish) if part >= markdown.blocks() => said::end(look, *finish),
            _ => markdown.lines(part, look, words::width(look)),
        },
        What::Tool(tool) => tool::rows(tool, look, output),
        What::Resolved {
            tool,
            subject,
            resolved,
        } => told::resolved(look, tool, subject, resolved),
        What::Answered { asked, replies, by } => told::answered(look, asked, replies, by),
        What::Child {
            pid,
            command,
            exited,
        } => told::child(look, *pid, command, exited.as_ref()),
        What::Rewound(rewound) => told::rewound(look, rewound),
        What::Ended(ended) => told::ended(look, ended),
        What::Told(what) => told::line(look, what),
        What::Notice { tone, words } => told::notice(look, *tone, words),
        What::Divider { words } => told::divider(look, words),
    };
    rows.iter_mut().for_each(guard);
    rows
}

/// How many rows [`made_of`] makes.
fn count_of(entry: &Entry, part: usize, look: &Look, open: bool) -> usize {
    match &entry.what {
        What::Answer { markdown, .. } if part < markdown.blocks() => {
            markdown.count(part, look, words::width(look))
        }
        _ => made_of(entry, part, look, open).len(),
    }
}

/// The last gate: whatever made the line, the terminal obeys nothing in it.
fn guard(line: &mut Line<'static>) {
    for span in &mut line.spans {
        if span.content.chars().any(char::is_control) {
            span.content = client::text::line(&span.content).into();
        }
    }
}

#[cfg(test)]
mod tests;
