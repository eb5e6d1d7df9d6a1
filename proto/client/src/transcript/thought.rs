//! Reasoning as it grows: in parts that stay as they are, so that they are not drawn again and again.

/// Lines of a part, at least.
const LINES: usize = 8;

/// What a model thinks.
#[derive(Clone, Debug, Default)]
pub struct Thought {
    text: String,
    /// Where complete parts end: after a line with words in it, so that the next one begins with the blank ones.
    ends: Vec<usize>,
    /// Lines before it were looked at.
    seen: usize,
    /// No end of a line is before it but those that were looked at.
    searched: usize,
    /// Lines that are in no part yet.
    lines: usize,
}

impl Thought {
    /// More of it.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        while let Some(at) = self.rest(self.searched).find('\n') {
            let end = self.searched + at + 1;
            let blank = self.rest(self.seen).get(..end - self.seen);
            let blank = blank.is_none_or(|line| line.trim().is_empty());
            (self.seen, self.searched) = (end, end);
            self.lines += 1;
            if self.lines >= LINES && !blank {
                self.ends.push(end);
                self.lines = 0;
            }
        }
        self.searched = self.text.len();
    }

    fn rest(&self, from: usize) -> &str {
        self.text.get(from..).unwrap_or_default()
    }

    /// All of it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Parts that are whole: there is always one more, which grows.
    #[must_use]
    pub fn whole(&self) -> usize {
        self.ends.len()
    }

    /// The words of a part, without blank lines where all of it begins or ends.
    #[must_use]
    pub fn part(&self, part: usize) -> &str {
        let end = |part: usize| self.ends.get(part).copied();
        let begin = part.checked_sub(1).map_or(Some(0), end);
        let Some(begin) = begin else {
            return "";
        };
        let until = end(part).unwrap_or(self.text.len());
        let words = self.text.get(begin..until).unwrap_or_default();
        let words = match part {
            0 => words.trim_start(),
            _ => words,
        };
        match part < self.ends.len() {
            true => words,
            false => words.trim_end(),
        }
    }
}

impl From<&str> for Thought {
    fn from(text: &str) -> Self {
        let mut thought = Self::default();
        thought.push(text);
        thought
    }
}

#[cfg(test)]
mod tests;
