//! Which blocks are whole: decided line by line.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use super::code::Fence;
use super::{Block, BlockKind, Markdown};

/// Lines of code that make a block.
const CODE_LINES: usize = 8;

/// So much text that is in no whole block yet may be read again at each chance.
const UNSETTLED: usize = 16 * 1024;

/// So often a reading may be in vain before more must have come for the next one.
const VAIN: usize = 4;

/// Beyond that, how much more text must have come since the last parse.
const STEP: usize = 1024;

/// How far the text is looked at. Offsets into the cleaned text.
#[derive(Debug, Default)]
pub(super) struct Settling {
    /// No end of a line is before it but those that were looked at.
    searched: usize,
    /// Lines before it were looked at.
    seen: usize,
    /// End of the finished blocks.
    settled: usize,
    /// How far the last reading went.
    read: usize,
    /// Bytes that were read in all.
    #[cfg(test)]
    pub(super) work: usize,
    /// Readings since then that made nothing whole.
    vain: usize,
    /// The line before was blank.
    blank: bool,
    /// The text is within this fence; so many of its lines are in no block yet.
    fence: Option<(usize, usize)>,
}

pub(super) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

impl Markdown {
    /// Looks at the lines that are complete; with `finish` at all, and nothing is left.
    pub(super) fn settle(&mut self, finish: bool) {
        loop {
            while let Some(end) = self.next_line(finish) {
                match self.settling.fence {
                    Some((fence, lines)) => self.code_line(end, fence, lines),
                    None => self.prose_line(end),
                }
            }
            if !finish {
                return;
            }
            match self.settling.fence {
                Some((fence, _)) => self.close(fence),
                None if self.settling.settled < self.cleaned.len() => self.read(true),
                None => return,
            }
        }
    }

    /// Where the next line ends.
    fn next_line(&mut self, finish: bool) -> Option<usize> {
        let from = self.settling.searched.max(self.settling.seen);
        let end = self.cleaned.get(from..)?.find('\n').map(|at| from + at + 1);
        self.settling.searched = end.unwrap_or(self.cleaned.len());
        let partial = finish && self.settling.seen < self.cleaned.len();
        end.or(partial.then_some(self.cleaned.len()))
    }

    fn prose_line(&mut self, end: usize) {
        let line = self
            .cleaned
            .get(self.settling.seen..end)
            .unwrap_or_default();
        let line = line.trim();
        let fence = line.starts_with("```") || line.starts_with("~~~");
        let begins = self.settling.blank && !line.is_empty();
        self.settling.blank = line.is_empty();
        self.settling.seen = end;
        let rest = end - self.settling.settled;
        let new = end - self.settling.read;
        // A chance may bring nothing, as within a list: where much was read in vain, it is tried less often.
        let chance = rest <= UNSETTLED && (fence || begins);
        let due = match chance {
            true => self.settling.vain < VAIN || new >= rest / 8,
            false => new >= STEP.max(rest / 4),
        };
        if due {
            self.read(false);
        }
    }

    /// Parses the text that is not in a finished block. All blocks but the last are finished; with `finish` the last
    /// one too.
    fn read(&mut self, finish: bool) {
        let from = self.settling.settled;
        let rest = self
            .cleaned
            .get(from..self.settling.seen)
            .unwrap_or_default();
        #[cfg(test)]
        {
            self.settling.work += rest.len();
        }
        let found = ParsedBlocks::of(rest);
        let fence = found
            .fence
            .and_then(|at| Fence::of(rest.get(at..)?).map(|fence| (at, fence)));
        let end = match (&fence, finish) {
            (Some((at, _)), _) => *at,
            (None, true) => rest.len(),
            (None, false) => found.starts.last().copied().unwrap_or_default(),
        };
        let mut links = found.links.into_iter().peekable();
        let mut starts = found.starts.iter().filter(|start| **start < end).peekable();
        let mut begin = 0;
        while starts.next().is_some() {
            let until = starts.peek().map_or(end, |next| **next);
            while let Some((_, name, target)) = links.next_if(|link| link.0 < until) {
                self.links.add(&name, &target);
            }
            self.add(Block {
                range: from + begin..from + until,
                what: BlockKind::Prose {
                    links: self.links.len(),
                },
            });
            begin = until;
        }
        while let Some((_, name, target)) = links.next_if(|link| link.0 < end) {
            self.links.add(&name, &target);
        }
        self.settling.vain = if end > 0 { 0 } else { self.settling.vain + 1 };
        self.settling.settled = from + end;
        self.settling.read = self.settling.seen;
        if let Some((at, fence)) = fence {
            self.open(from + at, fence);
        }
    }

    /// Within a fence from here on; its lines are looked at again, as lines of code.
    fn open(&mut self, at: usize, mut fence: Fence) {
        let rest = self.cleaned.get(at..).unwrap_or_default();
        let content = at + rest.find('\n').map_or(rest.len(), |end| end + 1);
        fence.block = self.blocks.len();
        self.fences.push(fence);
        self.settling.fence = Some((self.fences.len() - 1, 0));
        self.settling.settled = content;
        self.settling.seen = content;
        self.settling.searched = content;
    }

    fn code_line(&mut self, end: usize, fence: usize, lines: usize) {
        let line = self
            .cleaned
            .get(self.settling.seen..end)
            .unwrap_or_default();
        if self
            .fences
            .get(fence)
            .is_some_and(|fence| fence.closes(line))
        {
            self.close(fence);
            self.settling.seen = end;
            self.settling.settled = end;
            self.settling.read = end;
            return;
        }
        self.settling.seen = end;
        self.settling.fence = Some((fence, lines + 1));
        if lines + 1 == CODE_LINES {
            self.part(fence);
            self.settling.fence = Some((fence, 0));
        }
    }

    /// No more of this code comes.
    fn close(&mut self, fence: usize) {
        if self.settling.seen > self.settling.settled || self.is_first(fence) {
            self.part(fence);
        }
        self.settling.read = self.settling.settled;
        self.settling.blank = true;
        self.settling.fence = None;
    }

    /// The lines of code that are in no block yet make one.
    fn part(&mut self, fence: usize) {
        let first = self.is_first(fence);
        self.add(Block {
            range: self.settling.settled..self.settling.seen,
            what: BlockKind::Code { fence, first },
        });
        self.settling.settled = self.settling.seen;
    }

    fn is_first(&self, fence: usize) -> bool {
        let fence = self.fences.get(fence);
        fence.is_some_and(|fence| fence.block == self.blocks.len())
    }

    /// The unfinished block, including the incomplete last line.
    pub(super) fn growing(&self) -> Option<Block> {
        let start = self.settling.settled;
        let rest = self.cleaned.get(start..)?;
        let last = self.cleaned.get(self.settling.seen..)?;
        let Some((fence, _)) = self.settling.fence else {
            let what = BlockKind::Prose {
                links: self.links.len(),
            };
            let count = if is_undecided(last) {
                rest.len() - last.len()
            } else {
                rest.len()
            };
            let shown = rest
                .get(..count)
                .is_some_and(|shown| !shown.trim().is_empty());
            let range = start..start + count;
            return shown.then_some(Block { range, what });
        };
        // A line that may become the closing fence is not shown as code.
        let closing = self
            .fences
            .get(fence)
            .is_some_and(|fence| fence.may_close(last));
        let end = if closing {
            self.settling.seen
        } else {
            self.cleaned.len()
        };
        let first = self.is_first(fence);
        let what = BlockKind::Code { fence, first };
        (end > start || first).then_some(Block {
            range: start..end,
            what,
        })
    }
}

/// Whether the beginning of a line may still become anything: `-` below words looks like a heading, and is mostly the
/// first item of a list.
fn is_undecided(line: &str) -> bool {
    let open = |character: char| {
        character.is_ascii_punctuation() || character.is_ascii_digit() || character.is_whitespace()
    };
    line.chars().all(open)
}

/// The result of a parse.
#[derive(Default)]
struct ParsedBlocks {
    /// Where blocks begin, always at the beginning of a line.
    starts: Vec<usize>,
    /// The first of them that is code in a fence.
    fence: Option<usize>,
    /// Link targets: where, name, target.
    links: Vec<(usize, String, String)>,
}

impl ParsedBlocks {
    fn of(text: &str) -> Self {
        let events = Parser::new_ext(text, options()).into_offset_iter();
        let mut found = Self::default();
        for (name, link) in events.reference_definitions().iter() {
            let (name, target) = (name.to_owned(), link.dest.to_string());
            found.links.push((link.span.start, name, target));
        }
        found.links.sort_by_key(|link| link.0);
        let mut depth = 0_usize;
        for (event, range) in events {
            if depth == 0 && !matches!(event, Event::End(_)) {
                let before = text.get(..range.start).unwrap_or_default();
                let start = before.rfind('\n').map_or(0, |at| at + 1);
                if found.starts.last().is_none_or(|last| *last < start) {
                    found.starts.push(start);
                }
                let fenced = matches!(
                    event,
                    Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_)))
                );
                if fenced && found.fence.is_none() {
                    found.fence = Some(start);
                }
            }
            match event {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        found
    }
}
