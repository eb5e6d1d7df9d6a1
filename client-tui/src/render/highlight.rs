//! Syntax highlighting. Its definitions are loaded on first use.
//!
//! Line by line, with what a line leaves open carried to the next one, so code that grows is not read again. Long code
//! and long lines stay plain: colours are not worth waiting for.

mod paint;

use std::sync::OnceLock;

use ratatui::text::{Line, Span};
use syntect::parsing::{ParseState, ScopeStack, SyntaxReference, SyntaxSet};

use crate::theme::{TextRole, Theme};

/// Lines beyond this one are plain.
pub const LINES_MAX: usize = 2_000;

/// Bytes of a line that is coloured.
const LINE_MAX: usize = 2_000;

fn syntaxes() -> &'static SyntaxSet {
    static SYNTAXES: OnceLock<SyntaxSet> = OnceLock::new();
    SYNTAXES.get_or_init(two_face::syntax::extra_newlines)
}

/// Loads everything, so that the first code does not wait for it. For a thread in the background.
pub fn warm() {
    let samples = [
        ("rust", "fn main() { let a: u8 = 1; } // end\n"),
        ("python", "def f(a): return \"a\" # end\n"),
        ("ts", "const a: string = `b`; // end\n"),
        ("sh", "if [ -f a ]; then echo \"$b\"; fi # end\n"),
        ("json", "{\"a\": [1, true]}\n"),
    ];
    for (language, code) in samples {
        if let Some(mut code_state) = Highlighter::of(language) {
            code_state.line(code, Theme::Dark);
        }
    }
}

/// A language by the info string of a fence, or by a file extension.
fn find(token: &str) -> Option<&'static SyntaxReference> {
    let token = token.trim().trim_start_matches(['.', '{']);
    let end = token.find([',', ' ', '{', '}', ':', ';']);
    let token = token.get(..end.unwrap_or(token.len()))?;
    let lower = token.to_ascii_lowercase();
    let known = match lower.as_str() {
        "" | "text" | "txt" | "plain" | "plaintext" | "output" | "none" => return None,
        "shell" | "console" | "shellsession" | "terminal" | "zsh" | "bash" => "sh",
        "golang" => "go",
        "jsonc" | "json5" | "jsonl" => "json",
        "typescript" | "mts" | "cts" => "ts",
        "javascript" | "mjs" | "cjs" | "node" => "js",
        "jsx" => "tsx",
        "patch" => "diff",
        "python3" | "py3" => "py",
        "csharp" => "cs",
        "docker" => "dockerfile",
        other => other,
    };
    syntaxes().find_syntax_by_token(known)
}

/// How far code was read.
#[derive(Clone, Debug)]
pub struct Highlighter {
    parse: ParseState,
    stack: ScopeStack,
    lines: usize,
}

impl Highlighter {
    /// The state at the beginning of code in this language; `None` if it is unknown.
    #[must_use]
    pub fn of(language: &str) -> Option<Self> {
        find(language).map(|syntax| Self {
            parse: ParseState::new(syntax),
            stack: ScopeStack::new(),
            lines: 0,
        })
    }

    /// The next line in colours, without what ends it.
    pub fn line(&mut self, line: &str, theme: Theme) -> Line<'static> {
        let line = line.trim_end_matches(['\n', '\r']);
        self.coloured(line, theme)
            .unwrap_or_else(|| plain(line, theme))
    }

    /// Highlights the next line. `None` if it stays plain: it is too long, or too much came before it.
    pub fn coloured(&mut self, line: &str, theme: Theme) -> Option<Line<'static>> {
        let mut spans: Vec<Span<'static>> = Vec::new();
        let read = self.read(line, |part, stack| {
            let style = paint::style(stack, theme);
            match spans.last_mut() {
                Some(last) if last.style == style => last.content.to_mut().push_str(part),
                _ => spans.push(Span::styled(part.to_owned(), style)),
            }
        });
        read.map(|()| Line::from(spans))
    }

    /// Whether all that follows is plain.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.lines >= LINES_MAX
    }

    /// Goes over a line without colours.
    pub fn skip(&mut self, line: &str) {
        self.read(line.trim_end_matches(['\n', '\r']), |_, _| ());
    }

    /// Reads a line, and gives away its parts with what each of them is. `None`: it stays plain.
    fn read(&mut self, line: &str, mut part: impl FnMut(&str, &ScopeStack)) -> Option<()> {
        self.lines += 1;
        if self.lines > LINES_MAX || line.len() > LINE_MAX {
            return None;
        }
        let ended = format!("{line}\n");
        let Ok(changes) = self.parse.parse_line(&ended, syntaxes()) else {
            self.lines = LINES_MAX;
            return None;
        };
        let mut at = 0;
        for (index, change) in changes {
            let index = index.min(line.len());
            if let Some(words) = line.get(at..index)
                && !words.is_empty()
            {
                part(words, &self.stack);
                at = index;
            }
            if self.stack.apply(&change).is_err() {
                self.lines = LINES_MAX;
                return None;
            }
        }
        if let Some(words) = line.get(at..)
            && !words.is_empty()
        {
            part(words, &self.stack);
        }
        Some(())
    }
}

/// A line of code in a language that is not known.
#[must_use]
pub fn plain(line: &str, theme: Theme) -> Line<'static> {
    let line = line.trim_end_matches(['\n', '\r']);
    Line::from(Span::styled(line.to_owned(), theme.style(TextRole::Code)))
}

#[cfg(test)]
mod tests;
