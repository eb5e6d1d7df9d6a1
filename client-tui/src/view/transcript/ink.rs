//! Renders entries as lines, part by part, with a cache.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use proto::item::Display;
use ratatui::text::Line;

use super::{notices, said, tool, words};
use crate::model::ViewOptions;
use crate::model::transcript::{Entry, EntryKind, Transcript};
use crate::render::{Cache, RenderInputs};

/// The part of an answer that says how it ended, in the cache.
const END: usize = usize::MAX;

/// All of an entry, in the cache.
const ALL: usize = usize::MAX - 1;

/// Renders lines, or takes them from the cache.
pub(super) struct EntryRenderer<'a> {
    entries: &'a [Entry],
    generation: u64,
    look: &'a ViewOptions,
    cache: &'a mut Cache,
    /// With all that an entry holds.
    open: bool,
}

impl<'a> EntryRenderer<'a> {
    pub(super) fn new(
        transcript: &'a Transcript,
        look: &'a ViewOptions,
        cache: &'a mut Cache,
    ) -> Self {
        cache.prepare(transcript.generation, look);
        Self {
            entries: &transcript.entries,
            generation: transcript.generation,
            look,
            cache,
            open: false,
        }
    }

    /// For one entry, independent of the entries before it. `open`: unfolded.
    pub(super) fn one(
        generation: u64,
        look: &'a ViewOptions,
        cache: &'a mut Cache,
        open: bool,
    ) -> Self {
        Self {
            entries: &[],
            generation,
            look,
            cache,
            open,
        }
    }

    /// The lines of a part, without what parts it from others.
    pub(super) fn lines(&mut self, entry: &Entry, part: usize) -> Rc<Vec<Line<'static>>> {
        let (key, made) = self.known(entry, part);
        let (look, open) = (self.look, self.open);
        self.cache
            .lines(key, made, || made_of(entry, part, look, open, true))
    }

    /// The same with code in one colour. They are not kept.
    pub(super) fn plain(&self, entry: &Entry, part: usize) -> Vec<Line<'static>> {
        made_of(entry, part, self.look, self.open, false)
    }

    /// How many they are.
    pub(super) fn count(&mut self, entry: &Entry, part: usize) -> usize {
        let (key, made) = self.known(entry, part);
        let (look, open) = (self.look, self.open);
        self.cache
            .count(key, made, |_| made_of(entry, part, look, open, false).len())
    }

    /// Rows of an entry with the blank one before it.
    pub(super) fn count_all(&mut self, index: usize, entry: &Entry) -> usize {
        let content = match &entry.kind {
            // They grow by parts too.
            EntryKind::Answer {
                text: markdown,
                finish: None,
                ..
            } => 1 + markdown.text().len() as u64,
            EntryKind::Reasoning {
                thought,
                done: false,
            } => 1 + thought.text().len() as u64,
            _ => content(entry, 0, true),
        };
        let key = (self.generation, entry.id, ALL);
        let made = self.made(content);
        let (look, open, generation) = (self.look, self.open, self.generation);
        let count = self.cache.count(key, made, |cache| {
            let mut ink = EntryRenderer::one(generation, look, cache, open);
            (0..parts(entry)).map(|part| ink.count(entry, part)).sum()
        });
        match count {
            0 => 0,
            count => count + usize::from(self.apart(index)),
        }
    }

    /// Whether a blank row precedes this part: it is the first of its entry that has rows.
    pub(super) fn leads(&mut self, index: usize, part: usize) -> bool {
        let Some(entry) = self.entries.get(index).filter(|_| self.apart(index)) else {
            return false;
        };
        (0..part).all(|part| self.count(entry, part) == 0) && self.count(entry, part) > 0
    }

    /// Whether a blank row separates an entry from the one before.
    pub(super) fn apart(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|at| self.entries.get(at));
        match (before, self.entries.get(index)) {
            (Some(before), Some(entry)) => {
                let kind = kind(entry);
                kind != self::kind(before) || matches!(kind, Kind::Said)
            }
            _ => false,
        }
    }

    fn known(&self, entry: &Entry, part: usize) -> (crate::render::Key, RenderInputs) {
        let place = match &entry.kind {
            EntryKind::Answer { text: markdown, .. } if part >= markdown.blocks() => END,
            _ => part,
        };
        let key = (self.generation, entry.id, place);
        let open = self.open || self.look.reasoning;
        (key, self.made(content(entry, part, open)))
    }

    fn made(&self, content: u64) -> RenderInputs {
        let look = self.look;
        let shown = [self.open, look.output, look.reasoning, look.links];
        let mut hasher = DefaultHasher::new();
        (content, shown).hash(&mut hasher);
        RenderInputs::of(look, usize::from(look.columns), hasher.finish())
    }
}

/// Entries of one kind are not separated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Prompts, reasoning, answers: each by itself.
    Said,
    Work,
    Line,
}

fn kind(entry: &Entry) -> Kind {
    match &entry.kind {
        EntryKind::User { .. } | EntryKind::Reasoning { .. } | EntryKind::Answer { .. } => Kind::Said,
        EntryKind::Tool(_) | EntryKind::Child { .. } => Kind::Work,
        EntryKind::Resolved { asked, .. } if asked.is_about_call() => Kind::Work,
        EntryKind::Resolved { .. }
        | EntryKind::Rewound(_)
        | EntryKind::Ended { .. }
        | EntryKind::Status(_)
        | EntryKind::Notice { .. }
        | EntryKind::Divider { .. }
        // Never shown.
        | EntryKind::Interaction(_)
        | EntryKind::Todos(_) => Kind::Line,
    }
}

/// A number that is another one when the part is. 0: it never changes again. `open`: reasoning is.
fn content(entry: &Entry, part: usize, open: bool) -> u64 {
    match &entry.kind {
        EntryKind::Reasoning { thought, done } if !done => match part < thought.whole() {
            true if open || part > 0 => 0,
            // Folded it is one line, the newest.
            _ => 1 + thought.text().len() as u64,
        },
        EntryKind::Answer {
            text: markdown,
            finish: None,
            ..
        } if part >= markdown.whole() => 1 + markdown.text().len() as u64,
        EntryKind::Tool(tool) if tool.outcome.is_none() => {
            // At its largest it changes without growing.
            let mut hasher = DefaultHasher::new();
            tool.output.hash(&mut hasher);
            hasher.finish().max(1)
        }
        // All of its output may take the place of the end.
        EntryKind::Tool(tool) => tool.outcome.as_ref().map_or(0, |done| match &done.display {
            Display::Command { tail, .. } => 1 + tail.len() as u64,
            Display::Line { .. } | Display::Diff { .. } => 0,
        }),
        _ => 0,
    }
}

fn made_of(
    entry: &Entry,
    part: usize,
    look: &ViewOptions,
    open: bool,
    coloured: bool,
) -> Vec<Line<'static>> {
    let output = open || look.output;
    let mut rows = match &entry.kind {
        EntryKind::User {
            text,
            from: Some(session),
            ..
        } => said::message(look, text, *session, output),
        EntryKind::User {
            text,
            steer,
            from: None,
            attached,
            ..
        } => said::prompt(look, text, attached, *steer, output),
        EntryKind::Reasoning { thought, done } => {
            said::reasoning(look, thought, part, *done, open || look.reasoning)
        }
        EntryKind::Answer {
            text: markdown,
            finish,
            ..
        } => match finish {
            Some(finish) if part >= markdown.blocks() => said::end(look, *finish),
            _ if coloured => markdown.lines(part, look, words::width(look)),
            _ => markdown.plain(part, look, words::width(look)),
        },
        EntryKind::Tool(tool) => tool::rows(tool, look, output),
        EntryKind::Resolved { asked, resolved } => notices::resolved(look, asked, resolved),
        EntryKind::Child {
            pid,
            command,
            exited,
            ..
        } => notices::child(look, *pid, command, exited.as_ref()),
        EntryKind::Rewound(rewound) => notices::rewound(look, rewound),
        EntryKind::Ended { ended, explained } => {
            notices::ended(look, ended, |call| explained.contains(call))
        }
        EntryKind::Status(status) => notices::line(look, status),
        EntryKind::Notice { tone, words } => notices::notice(look, *tone, words),
        EntryKind::Divider { words } => notices::divider(look, words),
        EntryKind::Interaction(_) | EntryKind::Todos(_) => Vec::new(),
    };
    rows.iter_mut().for_each(guard);
    rows
}

/// The last gate: whatever made the line, the terminal obeys nothing in it.
fn guard(line: &mut Line<'static>) {
    for span in &mut line.spans {
        if span.content.chars().any(char::is_control) {
            span.content = client::text::line(&span.content).into();
        }
    }
}

/// Parts of an entry.
pub(super) fn parts(entry: &Entry) -> usize {
    match &entry.kind {
        EntryKind::Answer {
            text: markdown,
            finish,
            ..
        } => markdown.blocks() + usize::from(finish.is_some()),
        EntryKind::Reasoning { thought, .. } => thought.whole() + 1,
        _ => 1,
    }
}
