//! Jobs that change earlier bytes of requests, and their outcomes: compactions and changes of the model, at any moment.

use proto::item::{Finish, UserMessage, Voice};
use proto::reset::{CacheReset, Compaction, Piece, Wire};
use proto::{Body, ErrorName, Failure, ItemId, Record, Seq};

use super::Simulation;
use crate::Input;
use crate::compacting::{ResetJob, ResetJobOutcome, ResetReason, Summary};
use crate::compaction::{FullContext, NothingToCompact, shorten};
use crate::tests::checker::MessageRef;

/// A job in progress.
#[derive(Clone, Debug)]
pub struct Work {
    pub job: ResetJob,
    /// Provider and model to render for, as of the job's start.
    wire: Wire,
    /// Whether messages are rendered too.
    renders: bool,
}

/// The new messages of requests: their pieces, and the contents of new elements.
type Made = (Vec<Piece>, Vec<Body>);

impl Simulation {
    /// Starts a job.
    pub(super) fn job_begins(&mut self, job: ResetJob) {
        assert!(self.outside.request.is_none(), "one thing at a time");
        assert_eq!(job.upto.0, self.seq(), "the whole conversation is read");
        let facts = self.machine.facts();
        let options = &facts.options;
        let wire = Wire {
            provider: options.provider().to_owned(),
            model: options.model_name().to_owned(),
            effort: options.effort.clone(),
            ..facts.wire.clone()
        };
        let renders = facts.wants_rendering();
        self.outside.job = Some(Work { job, wire, renders });
    }

    /// Ends a job, successfully or not.
    pub(super) fn job_ends(&mut self) {
        let Some(work) = self.outside.job.take() else {
            return;
        };
        let by_chance = if self.peace { 0 } else { self.chance.below(8) };
        let rebase = work.job.why == ResetReason::Rebase;
        let asked = !matches!(
            work.job.summary,
            Summary::Wanted | Summary::WantedByModel | Summary::WantedShort
        );
        let (end, elements) = match by_chance {
            0..3 if rebase => self.switched(&work),
            _ if rebase => (failed(), Vec::new()),
            0..3 => self.compacted(&work),
            3 => (
                ResetJobOutcome::Nothing(NothingToCompact::TooLittle),
                Vec::new(),
            ),
            4 => (ResetJobOutcome::Full(FullContext::default()), Vec::new()),
            5 => (failed(), Vec::new()),
            _ if asked => self.compacted(&work),
            6 if work.job.summary == Summary::Wanted => (ResetJobOutcome::AskServer, Vec::new()),
            _ => (ResetJobOutcome::Ask, Vec::new()),
        };
        let resets = matches!(end, ResetJobOutcome::Reset(_)) && self.machine.is_compacting();
        if resets {
            let at = self.machine.facts().seq.next();
            let elements = elements.into_iter().zip(0..);
            let elements = elements.map(|(body, element)| ((at, element), body));
            self.check.shown.elements.extend(elements);
            // The next request is a new one, not a retry.
            self.tried = None;
        }
        let (number, before) = (work.job.number, self.log.len());
        let awaited = self.machine.is_compacting();
        self.step(Input::JobEnded {
            number,
            end: Box::new(end),
        });
        let reset = self.log.get(before).map(|record| &record.body);
        let logged = matches!(reset, Some(Body::CacheReset(_)));
        assert!(!logged || awaited, "what nobody waits for is not logged");
        if !resets {
            self.assert_nothing_logged(before);
        }
    }

    /// Checks that a failed job logs only usage and notices, followed by the session's next step.
    pub(super) fn assert_nothing_logged(&self, before: usize) {
        let side_record =
            |record: &&Record| matches!(record.body, Body::Usage(_) | Body::Notice(_));
        let mut later = self.log[before..].iter().skip_while(side_record);
        let next = later.next().map(|record| &record.body);
        let goes_on = match next {
            None | Some(Body::TurnEnded(_) | Body::TurnStarted(_) | Body::SessionSuspended(_)) => {
                true
            }
            Some(Body::SessionReopened(_) | Body::SessionState(_)) => true,
            Some(Body::GoalContinued(_) | Body::GoalEnded(_)) => true,
            // A session that became headless while idle exits as its next step.
            Some(Body::SessionExited(_)) => true,
            Some(Body::User(message)) => message.voice != Voice::Prompt,
            Some(_) => false,
        };
        assert!(goes_on, "a failed job is followed by: {next:?}");
    }

    /// Renders everything for the new provider, or only the prefix.
    fn switched(&mut self, work: &Work) -> (ResetJobOutcome, Vec<Body>) {
        let mut elements = Vec::new();
        let base = work.renders.then(|| {
            for place in self.check.shown.messages() {
                elements.push(self.check.shown.body_of(place).clone());
            }
            (0..elements.len()).map(element).collect()
        });
        let reset = CacheReset {
            reason: "switch".into(),
            base,
            wire: Some(work.wire.clone()),
            ..CacheReset::default()
        };
        (ResetJobOutcome::Reset(reset), elements)
    }

    /// Removes some old units, puts a summary in their place, and shortens some results.
    fn compacted(&mut self, work: &Work) -> (ResetJobOutcome, Vec<Body>) {
        let ResetReason::Compaction { trigger, .. } = work.job.why else {
            panic!("another model is no compaction");
        };
        let places = self.check.shown.messages();
        let (mut pieces, mut elements): Made = (Vec::new(), Vec::new());
        let tail = self.tail(&places);
        let mut folds = false;
        for (at, place) in places.iter().enumerate() {
            if at == tail {
                let number = self.machine.facts().compactions + 1;
                pieces.push(element(elements.len()));
                elements.push(summary(number));
            }
            let says = self.check.shown.body_of(*place);
            // A call stays together with its results.
            folds = match says {
                Body::Tool(_) => folds,
                Body::User(said) if said.voice != Voice::Daemon => false,
                _ => self.chance.once_in(2),
            };
            match says.clone() {
                _ if at < tail && folds => {}
                Body::Tool(tool) if at < tail && self.chance.once_in(3) => {
                    pieces.push(element(elements.len()));
                    let long = proto::item::ToolMessage {
                        text: tool.text.clone() + &"x".repeat(3_000),
                        ..tool
                    };
                    let short = shorten(&long, Some(Seq(1)));
                    elements.push(Body::Tool(short.expect("it is long")));
                }
                _ => match *place {
                    MessageRef::Element(reset, element) => {
                        pieces.push(Piece::Element { reset, element });
                    }
                    MessageRef::Record(seq) => pieces.push(Piece::Run(seq, seq)),
                },
            }
        }
        let context = self.machine.facts().context_tokens;
        let reset = CacheReset {
            reason: "compaction".into(),
            base: Some(pieces),
            compaction: Some(Compaction {
                trigger,
                tokens_before: context,
                tokens_after: context / 2,
                mechanical: work.job.summary == Summary::Mechanical,
                ..Compaction::default()
            }),
            ..CacheReset::default()
        };
        (ResetJobOutcome::Reset(reset), elements)
    }

    /// Start of the messages that stay unchanged. It is not a result, and the newest message stays.
    fn tail(&mut self, places: &[MessageRef]) -> usize {
        let newest = places.len().saturating_sub(1);
        let mut tail = self.chance.below(newest + 1);
        let is_result = |at: usize| {
            let says = places.get(at).map(|place| self.check.shown.body_of(*place));
            matches!(says, Some(Body::Tool(_)))
        };
        while is_result(tail) {
            tail -= 1;
        }
        tail
    }

    /// A user compacts, or undoes a compaction.
    pub(super) fn compact(&mut self) {
        let request_id = None;
        let compacts = self.machine.is_compacting();
        let rests = self.machine.is_idle() && !self.handing;
        // An undoable compaction is usually undone.
        let odds = 1 + self.check.shown.undoable().map_or(0, |_| 3);
        if self.chance.below(odds) == 0 && !self.chance.once_in(4) {
            self.step(Input::Compact {
                instructions: String::new(),
                request_id,
            });
            let begins = self.machine.is_compacting() && !compacts;
            assert_eq!(begins, rests, "at rest it begins, and only then");
            return;
        }
        let (before, at_rest) = (self.log.len(), self.machine.is_idle());
        let undone = self.check.shown.undoable().filter(|_| at_rest);
        let whole = self.check.shown.messages();
        self.step(Input::UndoCompaction { request_id });
        match undone {
            None => assert_eq!(self.log.len(), before, "there is nothing to take back"),
            Some(undone) => {
                let facts = self.machine.facts();
                let then = facts.pieces_upto(Seq(undone.0 - 1));
                let then = self.check.shown.places(&then, undone);
                let since =
                    |place: &&MessageRef| matches!(place, MessageRef::Record(seq) if *seq > undone);
                let since = whole.iter().filter(since).copied();
                let all: Vec<_> = then.into_iter().chain(since).collect();
                let now = self.check.shown.messages();
                let switched = whole
                    .iter()
                    .any(|place| matches!(place, MessageRef::Element(reset, _) if *reset > undone));
                assert!(
                    switched || now == all,
                    "what was before, and what came since"
                );
            }
        }
    }

    /// The pieces of earlier requests can be computed from the log at any time.
    pub(super) fn history_holds(&self) {
        for (upto, places) in &self.requests {
            let pieces = self.machine.facts().pieces_upto(*upto);
            let then = self.check.shown.places(&pieces, *upto);
            assert_eq!(then, *places, "what the request up to {upto} was made of");
        }
    }

    /// The model's summary, complete or not.
    pub(super) fn summary(&mut self) {
        let mut answer = self.answer();
        answer.calls.clear();
        if self.peace {
            answer.text = "summary".into();
        }
        if self.peace || !self.chance.once_in(4) {
            answer.finish = Some(Finish::Stop);
        }
        let before = self.log.len();
        self.step(Input::Answered(Box::new(answer)));
        self.assert_nothing_logged(before);
    }
}

fn failed() -> ResetJobOutcome {
    ResetJobOutcome::Failed(Failure::new(ErrorName::Storage, "no", ""))
}

/// An element of the reset that is being built.
fn element(number: usize) -> Piece {
    Piece::Element {
        reset: Seq(0),
        element: u32::try_from(number).expect("small"),
    }
}

fn summary(number: u64) -> Body {
    Body::User(UserMessage {
        item: ItemId(format!("d{number}")),
        prompt_id: None,
        text: "what was before".into(),
        context: None,
        voice: Voice::Daemon,
        from: None,
        attached: Vec::new(),
        reported: Vec::new(),
    })
}
