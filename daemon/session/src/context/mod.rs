//! What the model sees before the conversation, and how that changes. Owns the text of the prefix, and what a cache reset
//! in progress has made ready.

pub(crate) mod change_reports;
pub(crate) mod first_message;
pub(crate) mod forecast;
pub(crate) mod known_files;
pub(crate) mod omitted_content;
pub(crate) mod prefix;
pub(crate) mod prefix_parts;
pub(crate) mod reset;
pub(crate) mod system_prompt;

use std::sync::Arc;

use contract::PrefixText;
use proto::params::compact::CompactOutput;

use crate::context::reset::{SummaryRequest, Swap};
use crate::tasks::Reply;

/// The text of the prefix, and a cache reset in progress.
pub(crate) struct ResetState {
    text: Arc<PrefixText>,
    /// What goes into the log beside the record of the reset, until that is made.
    own: Option<String>,
    /// The model that is asked from that record on.
    swap: Option<Box<Swap>>,
    /// The request for a summary, as a job has just made it.
    made: Option<SummaryRequest>,
    /// The request for a summary.
    request: Option<SummaryRequest>,
    /// Viewers know that earlier bytes of requests are being changed.
    announced: bool,
    /// Waits for the end of a compaction.
    reply: Option<Reply<CompactOutput>>,
}

impl ResetState {
    /// A session whose prefix says this.
    pub fn new(text: Arc<PrefixText>) -> Self {
        Self {
            text,
            own: None,
            swap: None,
            made: None,
            request: None,
            announced: false,
            reply: None,
        }
    }

    /// What the prefix says, whichever model is asked.
    pub fn text(&self) -> Arc<PrefixText> {
        Arc::clone(&self.text)
    }

    /// The prefix says this from now on.
    pub fn set_text(&mut self, text: Arc<PrefixText>) {
        self.text = text;
    }

    /// A job has ended: what belongs to its record is ready.
    pub fn put_done(
        &mut self,
        own: Option<String>,
        request: Option<SummaryRequest>,
        swap: Option<Box<Swap>>,
    ) {
        (self.own, self.made, self.swap) = (own, request, swap);
    }

    /// The end of a job that nobody waits for leaves nothing.
    pub fn clear_done(&mut self) {
        (self.own, self.made, self.swap) = (None, None, None);
    }

    /// What goes into the log beside the record of the reset. Once.
    pub fn take_own(&mut self) -> Option<String> {
        self.own.take()
    }

    /// The model that is asked from the reset on, if it changes. Once.
    pub fn take_swap(&mut self) -> Option<Swap> {
        self.swap.take().map(|swap| *swap)
    }

    /// The request for a summary.
    pub fn summary_request(&mut self) -> Option<SummaryRequest> {
        if let Some(made) = self.made.take() {
            self.request = Some(made);
        }
        self.request.clone()
    }

    /// No summary is asked for any more.
    pub fn drop_summary_request(&mut self) {
        self.request = None;
    }

    /// Whether viewers are to be notified that a compaction has begun or ended.
    pub fn announces(&mut self, compacting: bool) -> bool {
        std::mem::replace(&mut self.announced, compacting) != compacting
    }

    /// This client waits for the end of the compaction.
    pub fn put_reply(&mut self, reply: Reply<CompactOutput>) {
        self.reply = Some(reply);
    }

    pub fn take_reply(&mut self) -> Option<Reply<CompactOutput>> {
        self.reply.take()
    }
}
