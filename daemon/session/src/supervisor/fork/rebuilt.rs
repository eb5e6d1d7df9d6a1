//! The replacements of messages, as a fork takes them over: one reset, with all parts of earlier ones that it names.

use std::collections::BTreeMap;

use proto::reset::{CacheReset, Compaction, Piece};
use proto::{Body, Seq};
use store::format::RawRecord;

use crate::journal::elements::{self, Element};

/// The base that is in force, in the making.
pub struct Rebuilt {
    /// The record of its reset.
    pub seq: Seq,
    pieces: Vec<Piece>,
    /// What the pieces name, by reset and place.
    elements: BTreeMap<(Seq, u32), Element>,
}

impl Rebuilt {
    pub fn new((seq, pieces): (Seq, &[Piece])) -> Self {
        Self {
            seq,
            pieces: pieces.to_vec(),
            elements: BTreeMap::new(),
        }
    }

    /// Keeps what the pieces name of this reset.
    pub fn note(&mut self, raw: &RawRecord<'_>) {
        for piece in &self.pieces {
            if let Piece::Element { reset, element } = piece
                && *reset == raw.seq
                && let Some(found) = elements::element(raw, *element)
            {
                self.elements.insert((*reset, *element), found);
            }
        }
    }

    /// The record's `data` and `own`, with the messages' places in the new log.
    ///
    /// # Errors
    /// A piece names a message that is missing.
    pub fn written(
        &self,
        raw: &RawRecord<'_>,
        placed: &BTreeMap<Seq, Seq>,
    ) -> Result<(String, String), String> {
        let record = raw.record().map_err(|error| error.to_string())?;
        let Body::CacheReset(reset) = record.body else {
            return Err(format!("record {} is not a cache reset", raw.seq));
        };
        let (mut pieces, mut elements) = (Vec::new(), Vec::new());
        for piece in &self.pieces {
            match piece {
                Piece::Run(first, last) => {
                    let mut there = placed.range(*first..=*last).map(|(_, new)| *new);
                    if let Some(first) = there.next() {
                        pieces.push(Piece::Run(first, there.next_back().unwrap_or(first)));
                    }
                }
                Piece::Element { reset, element } => {
                    let found = self.elements.get(&(*reset, *element));
                    let found = found.ok_or_else(|| {
                        format!("element {element} of record {reset} cannot be read")
                    })?;
                    pieces.push(Piece::Element {
                        reset: Seq(0),
                        element: u32::try_from(elements.len()).unwrap_or(u32::MAX),
                    });
                    elements.push(found.clone());
                }
            }
        }
        let reset = CacheReset {
            base: Some(pieces),
            carried: true,
            undoes: None,
            wire: None,
            // Its numbers are the origin's.
            compaction: reset.compaction.map(|done| Compaction {
                archive: Vec::new(),
                ..done
            }),
            request_id: None,
            ..reset
        };
        let own = elements::own(None, &elements).map_err(|error| error.to_string())?;
        let data = Body::CacheReset(reset).to_json();
        Ok((data.map_err(|error| error.to_string())?, own))
    }
}
