//! Cache resets as a fold: the current provider and model, the provider that messages are rendered for, the pieces that
//! replace messages, and the compaction that can be undone.

use proto::record::SessionCreated;
use proto::reset::{CacheReset, Compaction, Piece, Pinned, Wire};
use proto::{ItemId, Record, Seq};

use super::view::ConversationBase;
use super::{Facts, content_of_pin};

/// A compaction that can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoableCompaction {
    /// Its record.
    pub seq: Seq,
    pub done: Compaction,
}

impl Facts {
    pub(super) fn apply_pinned(&mut self, pinned: &Pinned, record: &Record) {
        match pinned.pinned {
            true => self.pins.insert(pinned.item.clone()),
            false => self.pins.remove(&pinned.item),
        };
        let content = content_of_pin(pinned);
        self.remember(pinned.request_id, record, content, None);
    }

    /// Whether the next request needs a new prefix, or messages rendered for another provider.
    #[must_use]
    pub fn wants_rebase(&self) -> bool {
        !self.wire.is_asked_by(&self.options) || !self.is_rendered()
    }

    /// Whether the messages are rendered for the current provider. A rewind past a change of provider makes it false.
    #[must_use]
    pub fn is_rendered(&self) -> bool {
        self.view.generation() == self.generation
    }

    /// Whether the next request needs messages to be rendered again, not only the prefix.
    #[must_use]
    pub fn wants_rendering(&self) -> bool {
        let vendor = self.options.provider() != self.wire.provider;
        vendor || !self.is_rendered()
    }

    /// The session's first record, with the current provider and model instead of the original ones.
    #[must_use]
    pub fn created_now(&self) -> Option<SessionCreated> {
        let wire = self.wire.clone();
        let mut created = self.created.clone()?;
        created.options.model = Some(wire.full_model());
        created.options.effort = wire.effort;
        Some(SessionCreated {
            provider_kind: wire.provider_kind,
            context_window: wire.context_window,
            prefix_sha256: wire.prefix_sha256,
            ..created
        })
    }

    /// Whether a message or turn with this id exists, in the form that pins use.
    #[must_use]
    pub fn knows_item(&self, item: &ItemId) -> bool {
        let Some(rest) = item.0.strip_prefix('m') else {
            return false;
        };
        let (turn, message) = match rest.split_once('.') {
            Some((turn, message)) => (turn, message.parse::<u64>().ok()),
            None => (rest, Some(1)),
        };
        let whole = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let turn = turn.parse::<u64>().ok().filter(|_| whole(turn));
        let is_turn = turn.is_some_and(|turn| (1..=self.turns).contains(&turn));
        is_turn && message.is_some_and(|message| message > 0)
    }

    /// The compaction that can be undone: the newest one, until a turn that started after it has ended.
    #[must_use]
    pub fn undoable_compaction(&self) -> Option<&UndoableCompaction> {
        let newest = self.compacted.as_ref();
        newest.filter(|undoable| self.view.has_base(undoable.seq))
    }

    pub(super) fn apply_reset(&mut self, reset: &CacheReset, record: &Record) {
        self.reset_due = false;
        // The cached tokens belong to other bytes.
        self.cached_tokens = None;
        // After a carried reset, all older messages must be rendered again.
        self.generation += u64::from(reset.carried);
        if let Some(wire) = &reset.wire {
            let same = wire.provider == self.wire.provider
                && wire.provider_kind == self.wire.provider_kind;
            self.generation += u64::from(!same);
            if wire.context_window != self.wire.context_window {
                // The limit was computed for another window.
                self.no_compaction_below = 0;
            }
            if wire.model != self.wire.model || !same {
                // The measurement belongs to another model.
                self.measure = None;
            }
            self.window_given = wire.context_window;
            self.wire.clone_from(wire);
        }
        if let Some(undone) = reset.undoes {
            let before = self.view.clone();
            if self.view.drop_base(undone) {
                self.dropped.push((record.seq, before));
                let back = self.compacted.take().filter(|back| back.seq == undone);
                let tokens = back.map_or(0, |back| back.done.tokens_before);
                self.context_tokens = self.context_tokens.max(tokens);
                // The user wants the original messages: do not compact again at once.
                self.no_compaction_below = self
                    .context_tokens
                    .saturating_add(self.wire.context_window / 20);
            }
        }
        if let Some(pieces) = &reset.base {
            // Messages that a compaction keeps are not rendered again.
            let generation = match reset.compaction {
                Some(_) if !reset.carried => self.view.generation(),
                Some(_) | None => self.generation,
            };
            self.view.push_base(ConversationBase {
                seq: record.seq,
                pieces: pieces
                    .iter()
                    .map(|piece| with_own_seq(piece, record.seq))
                    .collect(),
                generation,
            });
        }
        if let Some(done) = &reset.compaction {
            self.compactions += 1;
            self.context_tokens = done.tokens_after;
            self.no_compaction_below = 0;
            // The notice of permissions may have been folded: report it again.
            self.repeat_permissions = self.permissions_reported;
            let undoable = UndoableCompaction {
                seq: record.seq,
                done: done.clone(),
            };
            // In a fork, the original messages belong to the parent session.
            self.compacted = Some(undoable).filter(|_| !reset.carried);
        }
        self.remember(
            reset.request_id,
            record,
            super::content_of_reset(reset),
            None,
        );
    }

    /// After the end of a turn, a compaction from before its start can no longer be undone.
    pub(super) fn settle_compaction(&mut self) {
        let began = self.marks.last().map_or(Seq(0), |mark| mark.seq);
        self.compacted = self.compacted.take().filter(|done| done.seq > began);
    }

    pub(super) fn first_wire(created: &SessionCreated) -> Wire {
        Wire {
            provider: created.options.provider().to_owned(),
            provider_kind: created.provider_kind.clone(),
            model: created.options.model_name().to_owned(),
            effort: created.options.effort.clone(),
            context_window: created.context_window,
            prefix_sha256: created.prefix_sha256.clone(),
        }
    }
}

/// Replaces the reset number 0, which means this very record, by the record's number.
fn with_own_seq(piece: &Piece, seq: Seq) -> Piece {
    match piece {
        Piece::Element {
            reset: Seq(0),
            element,
        } => Piece::Element {
            reset: seq,
            element: *element,
        },
        other => other.clone(),
    }
}
