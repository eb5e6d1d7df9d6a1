//! The lines of a diff, highlighted in the file's language. The old and the new file are highlighted separately, as a
//! string or comment that is open in one of them need not be open in the other.

use ratatui::text::Line;

use super::parse::{Kind, Row};
use crate::render::highlight::Highlighter;
use crate::theme::Theme;

/// Both sides of a diff, as far as they were read.
pub(super) struct Sides {
    /// At the beginning of code; `None` where the language is not known.
    begin: Option<Highlighter>,
    old: Option<Highlighter>,
    new: Option<Highlighter>,
    theme: Theme,
}

impl Sides {
    pub(super) fn of(path: &str, theme: Theme) -> Self {
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let end = name.rsplit('.').next().unwrap_or_default();
        let begin = match theme.highlights() {
            true => Highlighter::of(end),
            false => None,
        };
        Self {
            old: begin.clone(),
            new: begin.clone(),
            begin,
            theme,
        }
    }

    /// The next line in colours. `None`: it stays plain.
    pub(super) fn line(&mut self, row: &Row) -> Option<Line<'static>> {
        match row.kind {
            Kind::Added => self.new.as_mut()?.coloured(&row.text, self.theme),
            Kind::Removed => self.old.as_mut()?.coloured(&row.text, self.theme),
            Kind::Context => {
                self.old.as_mut()?.skip(&row.text);
                self.new.as_mut()?.coloured(&row.text, self.theme)
            }
            Kind::Note => None,
            Kind::Gap => {
                // The state after the hidden lines is unknown.
                (self.old, self.new) = (self.begin.clone(), self.begin.clone());
                None
            }
        }
    }
}
