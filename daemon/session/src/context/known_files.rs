//! Which files the model knows by a log: those of its prefix, and those of messages.

use std::path::Path;

use contract::KnownState;
use proto::record::SessionRewound;
use proto::{Failure, Record, Seq};
use store::format::RawRecord;

use crate::assembly::file_knowledge::Knowledge;
use crate::context::prefix::{FrozenPrefix, known_files};
use crate::journal::elements;

/// A fold over the lines of a log.
#[derive(Default)]
pub struct KnownFilesFold {
    /// As the newest reset left it. `None`: there is no first record yet.
    pub prefix: Option<FrozenPrefix>,
    messages: Knowledge,
}

impl KnownFilesFold {
    /// Takes a line in, which may not be readable as a record.
    pub fn take_line(&mut self, raw: &RawRecord<'_>) {
        if let Some(own) = raw.own
            && self.prefix.is_none()
        {
            self.prefix = FrozenPrefix::read(own.get());
        }
        if raw.kind == "cache.reset" {
            self.take_reset(raw);
        }
    }

    /// Who is asked from a reset on is asked with another prefix.
    fn take_reset(&mut self, raw: &RawRecord<'_>) {
        if let Some(frozen) = &mut self.prefix
            && let Some(before) = elements::update_prefix(raw, &mut frozen.prefix, &mut frozen.text)
        {
            // Of these files the model knows what the new prefix says.
            let (before, after) = (known_files(&before), frozen.known_files());
            let replaced = before.iter().filter(|file| !after.contains(file));
            let new = after.iter().filter(|file| !before.contains(file));
            let changed = replaced.chain(new).map(|known| &known.file.path);
            self.messages.forget(changed);
        }
    }

    /// Takes the record of the last line in.
    pub fn apply(&mut self, record: &Record) {
        self.messages.apply(record);
    }

    /// The files that the model knows, the oldest first, where the messages of these runs of records are shown.
    pub fn shown(&mut self, runs: &[(Seq, Seq)]) -> Vec<KnownState> {
        let of_prefix = self.prefix.as_ref().map(FrozenPrefix::known_files);
        std::mem::take(&mut self.messages).shown(runs, of_prefix.unwrap_or_default())
    }
}

/// The files that the model knows once a rewind has changed the conversation, the oldest first. `rewound`: its record, which
/// is not in the log of `dir` yet. Blocks.
///
/// # Errors
/// The log cannot be read.
pub fn known_after_rewind(
    dir: &Path,
    rewound: &SessionRewound,
) -> Result<Vec<KnownState>, Failure> {
    let mut fold = KnownFilesFold::default();
    let mut last = Seq(0);
    let read = store::log::read(dir, &mut |raw| {
        last = raw.seq;
        fold.take_line(raw);
        if let Ok(record) = raw.record() {
            fold.apply(&record);
        }
    });
    read.map_err(|error| {
        let text = format!("The log cannot be read: {}", store::reason(&error));
        Failure::new(proto::ErrorName::Storage, text, "")
    })?;
    fold.messages.note_rewound(last.next(), &rewound.files);
    Ok(fold.shown(rewound.shown.as_deref().unwrap_or_default()))
}
