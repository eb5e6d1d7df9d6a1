//! The answer to a request while it comes: its parts, what subscribers have seen of it, and how long nothing came.

use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::provider::Part;
use proto::live::{Delta, Live};
use proto::record::ReasoningExtracted;
use proto::{CallId, ItemId, Stamp};
use tokio_util::sync::CancellationToken;
use turn::{Answer, AskedModel};

use crate::request::side_requests::UsageRecorder;

/// How long an answer must be silent before a notice, and between two notices.
const SILENCE: Duration = Duration::from_secs(10);

/// The answer in progress.
pub struct Gather {
    number: u64,
    item: ItemId,
    answer: Answer,
    cancel: CancellationToken,
    /// It was sent without a key although the provider takes one.
    keyless: bool,
    /// It is not part of the conversation: nobody is shown it as it comes.
    unseen: bool,
    /// What other samples of the request, and extractions of all, take; `None`: it has one sample.
    beside: Option<UsageRecorder>,
    /// Which sample is taken: the record of the answer names its usage.
    won: Option<u32>,
    /// The extraction from it.
    found: Option<ReasoningExtracted>,
    /// Of the model that is asked.
    price: Option<Arc<catalog::Price>>,
    started: Instant,
    first: Option<Instant>,
    text_shown: usize,
    reasoning_shown: usize,
    arguments: Vec<Growing>,
    /// When something of the answer came last, or it was asked for.
    heard: tokio::time::Instant,
    silence: Option<Silence>,
    /// It is not sent yet: it waits for its turn, and that was reported.
    gated: bool,
}

/// Nothing has come for so long that it was reported.
#[derive(Clone, Copy)]
struct Silence {
    since: Stamp,
    reported: tokio::time::Instant,
}

/// Arguments of a call in progress.
struct Growing {
    index: u32,
    call: CallId,
    /// Bytes that subscribers have been sent.
    shown: u64,
    fresh: String,
}

impl Gather {
    pub fn new(
        number: u64,
        item: ItemId,
        keyless: bool,
        price: Option<Arc<catalog::Price>>,
    ) -> Self {
        Self {
            number,
            item,
            answer: Answer::default(),
            cancel: CancellationToken::new(),
            keyless,
            unseen: false,
            beside: None,
            won: None,
            found: None,
            price,
            started: Instant::now(),
            first: None,
            text_shown: 0,
            reasoning_shown: 0,
            arguments: Vec::new(),
            heard: tokio::time::Instant::now(),
            silence: None,
            gated: false,
        }
    }

    /// The number of its request.
    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn item(&self) -> &ItemId {
        &self.item
    }

    /// The part that has come so far.
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Stops its request; so does dropping this.
    pub fn canceller(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Whether it was sent without a key although the provider takes one.
    pub fn is_keyless(&self) -> bool {
        self.keyless
    }

    /// Whether subscribers are shown it as it comes.
    pub fn is_shown(&self) -> bool {
        !self.unseen
    }

    /// Other samples and extractions of the request. `None`: it has one sample.
    pub fn side_requests(&self) -> Option<&UsageRecorder> {
        self.beside.as_ref()
    }

    /// The usage of the sample that was taken goes with the answer, not with the side requests.
    pub fn leave_out_taken(&self) {
        if let Some(recorder) = &self.beside {
            recorder.leave_out(self.won);
        }
    }

    /// The extraction from the reasoning of the chosen sample. Returned once.
    pub fn take_found(&mut self) -> Option<ReasoningExtracted> {
        self.found.take()
    }

    /// The request was sent.
    pub fn note_sent(&mut self, request_bytes: u64, rewritten: Option<String>) {
        self.answer.request_bytes = request_bytes;
        self.answer.rewritten = rewritten;
    }

    /// This sample is chosen; `found`: the extraction from its reasoning.
    pub(crate) fn choose(&mut self, sample: u32, found: Option<ReasoningExtracted>) {
        (self.won, self.found) = (Some(sample), found);
    }

    /// Other requests go with this one: their usage is noted here.
    pub(crate) fn with_side_requests(mut self, recorder: UsageRecorder) -> Self {
        self.beside = Some(recorder);
        self
    }

    /// The same, of which nobody is shown anything as it comes.
    pub fn unseen(mut self) -> Self {
        self.unseen = true;
        self
    }

    /// Another model than the session's is asked.
    pub fn asking(mut self, asked: AskedModel) -> Self {
        self.answer.asked = Some(asked);
        self
    }

    /// Takes a part in. True when the answer is whole.
    pub fn take(&mut self, part: Part) -> bool {
        self.heard = tokio::time::Instant::now();
        self.silence = None;
        if self.first.is_none()
            && !matches!(
                part,
                Part::Usage(_) | Part::Waiting { .. } | Part::Sent | Part::Restarted
            )
        {
            self.first = Some(Instant::now());
        }
        match part {
            Part::Waiting { .. } => self.gated = true,
            Part::Sent => self.sent(),
            Part::Restarted => drop(self.restart()),
            Part::Text(text) => self.answer.text.push_str(&text),
            Part::Reasoning(text) => self.answer.reasoning.push_str(&text),
            Part::CallDelta {
                index,
                id,
                arguments,
                ..
            } => self.grow(index, id, &arguments),
            Part::Call(call) => self.answer.calls.push(call),
            Part::Thought(thought) => self.answer.thoughts.push(thought),
            Part::Usage(reported) => {
                // The last report counts, and so does its cost: however the answer ends, it goes with it.
                let price = self.price.as_deref();
                let cost = price.map(|price| price.cost(&reported, Stamp::now()));
                self.answer.reported = Some(reported);
                self.answer.cost_micros = cost;
            }
            Part::Done(finish) => {
                self.answer.finish = Some(finish);
                return true;
            }
        }
        false
    }

    /// Another message begins in its place. Returns what came before, which is billed and is not part of the answer.
    pub fn restart(&mut self) -> Answer {
        let fresh = Answer {
            request_bytes: self.answer.request_bytes,
            asked: self.answer.asked.clone(),
            ..Answer::default()
        };
        let dropped = std::mem::replace(&mut self.answer, fresh);
        let dropped = self.timed(dropped);
        self.first = None;
        self.arguments.clear();
        (self.text_shown, self.reasoning_shown) = (0, 0);
        dropped
    }

    /// Its time counts from now: before, it waited for its turn.
    fn sent(&mut self) {
        self.gated = false;
        self.started = Instant::now();
    }

    fn grow(&mut self, index: u32, id: String, arguments: &str) {
        match self
            .arguments
            .iter_mut()
            .find(|growing| growing.index == index)
        {
            Some(growing) => growing.fresh.push_str(arguments),
            None => self.arguments.push(Growing {
                index,
                call: CallId(id),
                shown: 0,
                fresh: arguments.to_owned(),
            }),
        }
    }

    /// Whether there is something that subscribers have not been sent.
    pub fn has_fresh(&self) -> bool {
        if self.unseen {
            return false;
        }
        self.text_shown < self.answer.text.len()
            || self.reasoning_shown < self.answer.reasoning.len()
            || self
                .arguments
                .iter()
                .any(|growing| !growing.fresh.is_empty())
    }

    /// When to report (again) that nothing comes; not of a request that is not sent yet.
    pub fn silence_due(&self) -> Option<tokio::time::Instant> {
        let reported = self.silence.map_or(self.heard, |silence| silence.reported);
        // Of samples nothing comes before one is taken: the notice says how many are in.
        let waits = !self.gated && self.beside.is_none();
        waits.then_some(reported + SILENCE)
    }

    /// Notes that the silence is reported now. Returns its length in milliseconds.
    pub fn report_silence(&mut self) -> u64 {
        let reported = tokio::time::Instant::now();
        let silent = reported.duration_since(self.heard).as_millis();
        let ms = i64::try_from(silent).unwrap_or(i64::MAX);
        let since = Stamp(Stamp::now().0.saturating_sub(ms));
        let since = self.silence.map_or(since, |silence| silence.since);
        self.silence = Some(Silence { since, reported });
        u64::try_from(silent).unwrap_or(u64::MAX)
    }

    /// Since when nothing has come, if that was reported.
    pub fn silent_since(&self) -> Option<Stamp> {
        self.silence.map(|silence| silence.since)
    }

    /// What subscribers have not been sent.
    pub fn fresh(&mut self) -> Vec<Live> {
        if self.unseen {
            return Vec::new();
        }
        let mut lives = Vec::new();
        if let Some(delta) = grown(
            &self.item,
            &self.answer.reasoning,
            &mut self.reasoning_shown,
        ) {
            lives.push(Live::Reasoning(delta));
        }
        if let Some(delta) = grown(&self.item, &self.answer.text, &mut self.text_shown) {
            lives.push(Live::Text(delta));
        }
        for growing in self
            .arguments
            .iter_mut()
            .filter(|growing| !growing.fresh.is_empty())
        {
            let text = std::mem::take(&mut growing.fresh);
            let offset = growing.shown;
            growing.shown += text.len() as u64;
            let call = Some(growing.call.clone());
            lives.push(Live::ToolArgs(Delta {
                item: self.item.clone(),
                call,
                offset,
                text,
            }));
        }
        lives
    }

    /// The answer as far as it has come, with its times.
    pub fn finish(mut self) -> Answer {
        let answer = std::mem::take(&mut self.answer);
        self.timed(answer)
    }

    /// The same of one that goes on.
    pub fn so_far(&self) -> Answer {
        self.timed(self.answer.clone())
    }

    fn timed(&self, mut answer: Answer) -> Answer {
        let ms = |from: Instant, to: Instant| {
            u64::try_from(to.duration_since(from).as_millis()).unwrap_or(u64::MAX)
        };
        let now = Instant::now();
        answer.first_token_ms = ms(self.started, self.first.unwrap_or(now));
        answer.duration_ms = ms(self.started, now);
        answer
    }
}

impl Drop for Gather {
    fn drop(&mut self) {
        // Whoever drops an answer in progress wants no more of it; after its end this does nothing.
        self.cancel.cancel();
    }
}

fn grown(item: &ItemId, text: &str, shown: &mut usize) -> Option<Delta> {
    let fresh = text.get(*shown..).filter(|fresh| !fresh.is_empty())?;
    let delta = Delta {
        item: item.clone(),
        call: None,
        offset: *shown as u64,
        text: fresh.to_owned(),
    };
    *shown = text.len();
    Some(delta)
}
