//! Which files the model knows by a log: those of its prefix, and those of messages.

use std::path::Path;

use contract::KnownState;
use proto::record::SessionRewound;
use proto::{Body, ErrorName, Failure, Record, Seq};
use store::format::RawRecord;

use crate::assembly::file_knowledge::Knowledge;
use crate::context::change_reports::ChangeReports;
use crate::context::prefix::{FrozenPrefix, known_files};
use crate::journal::elements;

/// A fold over the lines of a log.
#[derive(Default)]
pub struct KnownFilesFold {
    /// As the newest reset left it. `None`: there is no first record yet.
    pub prefix: Option<FrozenPrefix>,
    messages: Knowledge,
    /// The messages that have reported changes.
    pub reports: ChangeReports,
    last: Seq,
}

impl KnownFilesFold {
    /// Reads the log in a directory, which its writer goes on with. Blocks.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn read(dir: &Path) -> Result<Self, Failure> {
        let mut fold = Self::default();
        let read = store::log::read(dir, &mut |raw| {
            fold.take_line(raw);
            if let Ok(record) = raw.record() {
                fold.apply(&record);
            }
        });
        let failed = |error| {
            let text = format!("The log cannot be read: {}", store::reason(&error));
            Failure::new(ErrorName::Storage, text, "")
        };
        read.map(|_| fold).map_err(failed)
    }

    /// The files that the model knows once this rewind, whose record is not in the log yet, has changed the conversation; the
    /// oldest first. `None`: it does not change it.
    pub fn after_rewind(mut self, rewound: &SessionRewound) -> Option<Vec<KnownState>> {
        let shown = rewound.shown.as_deref()?;
        self.messages.note_rewound(self.last.next(), rewound);
        Some(self.shown(shown))
    }

    /// Takes a line in, which may not be readable as a record.
    pub fn take_line(&mut self, raw: &RawRecord<'_>) {
        self.last = raw.seq;
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
        self.reports.apply(record);
        if let Body::CacheReset(reset) = &record.body {
            let folded = self.reports.take_folded(reset);
            let of_prefix = self.prefix.as_ref().map(FrozenPrefix::known_files);
            let of_prefix = of_prefix.unwrap_or_default();
            self.messages.forget_reports(&folded, |path| {
                of_prefix.iter().any(|known| known.file.path == path)
            });
        }
    }

    /// The files that the model knows, the oldest first, where the messages of these runs of records are shown.
    pub fn shown(&mut self, runs: &[(Seq, Seq)]) -> Vec<KnownState> {
        let of_prefix = self.prefix.as_ref().map(FrozenPrefix::known_files);
        std::mem::take(&mut self.messages).shown(runs, of_prefix.unwrap_or_default())
    }
}
