//! Forks, rewinds and checkpoints in words. Pure.

use proto::params::history::What;
use proto::record::{Origin, RewoundFile, RewoundResult, SessionRewound};

use super::{Piece, Tone, block};

/// Files that are named; of more there is only the number.
const FILES: usize = 5;

/// Where a fork comes from.
#[must_use]
pub fn origin_words(origin: &Origin) -> String {
    match origin.turn {
        0 => format!("forked from {} before its first turn", origin.pid),
        turn => format!("forked from {} after turn {turn}", origin.pid),
    }
}

/// A rewind, and what became of the files.
pub(super) fn rewound_pieces(rewound: &SessionRewound) -> Vec<Piece> {
    let mut pieces = block(Tone::State, rewound_words(rewound));
    for (tone, line) in file_lines(&rewound.files) {
        pieces.extend(block(tone, line));
    }
    pieces
}

/// Who went back where, and what that hides.
#[must_use]
pub fn rewound_words(rewound: &SessionRewound) -> String {
    let by = &rewound.by;
    let turn = match rewound.to_turn {
        0 => "the beginning".to_owned(),
        turn => format!("turn {turn}"),
    };
    if rewound.undoes.is_some() {
        return match rewound.what {
            What::Conversation | What::Both => {
                format!("{by} took the rewind back: the conversation goes up to {turn} again")
            }
            What::Code => format!("{by} took the rewind of files back"),
        };
    }
    match rewound.what {
        What::Conversation => {
            format!("{by} went back to {turn}: what came after is hidden; files stay as they are")
        }
        What::Both => format!("{by} went back to {turn}: what came after is hidden"),
        What::Code => format!("{by} took files back to {turn}; the conversation stays"),
    }
}

/// What became of files, a line a kind of end; those that were so already are not told.
#[must_use]
pub fn file_lines(files: &[RewoundFile]) -> Vec<(Tone, String)> {
    let of = |result: &RewoundResult| {
        let of = files.iter().filter(|file| file.result == *result);
        of.map(|file| file.path.as_str()).collect::<Vec<_>>()
    };
    let mut lines = Vec::new();
    for (word, removed) in [("restored", false), ("removed", true)] {
        let files = files
            .iter()
            .filter(|file| file.result == RewoundResult::Restored && file.was_removed() == removed);
        let files: Vec<_> = files.map(|file| file.path.as_str()).collect();
        if !files.is_empty() {
            lines.push((Tone::State, format!("{word}: {}", named(&files))));
        }
    }
    let changed = of(&RewoundResult::ChangedSince);
    if !changed.is_empty() {
        let words = format!(
            "left alone, because somebody else has changed it since: {}",
            named(&changed)
        );
        lines.push((Tone::Warning, words));
    }
    for file in files {
        if let RewoundResult::Failed { why } = &file.result {
            lines.push((Tone::Warning, format!("not restored: {}: {why}", file.path)));
        }
    }
    lines
}

fn named(paths: &[&str]) -> String {
    let names = paths
        .iter()
        .take(FILES)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    match paths.len().checked_sub(FILES) {
        None | Some(0) => names,
        Some(more) => format!("{names} and {more} more"),
    }
}
