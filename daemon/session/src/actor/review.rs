//! The review of risky calls in the actor: a second model looks at a call before the user is asked about it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt as _;
use proto::record::{CallReviewed, ReviewVerdict};
use proto::{Body, CallId};
use turn::facts::{CallStage, OpenCall};
use turn::review::{self, ReviewedCall};
use turn::{Input, Judgement};

use crate::actor::Actor;
use crate::actor::inbox::Happened;
use crate::request::reasoning::{SideRequestContext, SideRequestTarget};
use crate::request::side_requests::UsageRecorder;
use crate::tasks::{self, blocking};

/// What a reviewer has said of a call.
pub struct Review {
    verdict: ReviewVerdict,
    reason: String,
    model: String,
    /// The settings let it allow calls.
    allows: bool,
    duration_ms: u64,
}

impl Actor {
    /// A call was judged. If the user would be asked, a reviewer looks at it first, if the settings want one.
    pub(crate) fn judged(&mut self, call: CallId, mut judgement: Box<Judgement>) {
        self.attend(&mut judgement);
        self.count_following(&call, &mut judgement);
        match self.call_to_review(&call, &judgement) {
            Some(shown) => self.begin_review(call, judgement, shown),
            None => self.step(Input::Judged { call, judgement }),
        }
    }

    /// Counts the other calls of the answer that may be asked about too. A reading call counts once it is asked about.
    fn count_following(&self, id: &CallId, judgement: &mut Judgement) {
        let Judgement::Decided(decided) = judgement else {
            return;
        };
        let tools = &self.calls.call_environment().tools;
        let changes = |open: &OpenCall| {
            let tool = tools.get(&open.call.name);
            tool.is_some_and(|tool| !tool.spec().read_only)
        };
        let open = self.machine.facts().open.iter();
        let others = open.flat_map(|turn| &turn.calls).filter(|open| {
            let may_ask = match &open.stage {
                CallStage::Answered { .. }
                | CallStage::Denied { .. }
                | CallStage::KeptInside { .. }
                | CallStage::Closed => false,
                CallStage::Waiting(_) => true,
                CallStage::Open
                | CallStage::Approved { .. }
                | CallStage::Edited
                | CallStage::Started { .. }
                | CallStage::Blocked => changes(open),
            };
            may_ask && open.call.id != *id
        });
        decided.approval.following = u32::try_from(others.count()).unwrap_or(u32::MAX);
    }

    /// What a reviewer is shown of this call. `None`: nobody is asked about it, or the user has answered.
    fn call_to_review(&self, id: &CallId, judgement: &Judgement) -> Option<ReviewedCall> {
        let Judgement::Decided(decided) = judgement else {
            return None;
        };
        let facts = self.machine.facts();
        let open = facts.open.as_ref()?;
        let call = open.calls.iter().find(|open| open.call.id == *id)?;
        let is_new = call.stage == CallStage::Open && facts.blocked(id).is_none();
        let goes_on =
            self.life.closing.is_empty() && !self.life.handed_over && !self.journal.is_closed();
        let reviewed = is_new && goes_on && review::is_reviewed(decided);
        let cwd = self.calls.call_environment().workspace.cwd();
        reviewed.then(|| ReviewedCall {
            tool: decided.tool.clone(),
            arguments: call.effective().arguments,
            rule: decided.decision.rule.clone(),
            prompt: open.prompt.clone(),
            is_agent: self.parent().is_some(),
            cwd: cwd.to_string_lossy().into_owned(),
        })
    }

    fn begin_review(&mut self, call: CallId, judgement: Box<Judgement>, shown: ReviewedCall) {
        let item = self
            .machine
            .facts()
            .open
            .as_ref()
            .map(|open| open.next_item());
        let around = self.around(item.unwrap_or_else(|| proto::ItemId("m0.0".into())));
        let (number, recorder, cancel) = self.requests.start_extraction();
        let happened = self.happened.clone();
        tasks::spawn(async move {
            let reviewing = AssertUnwindSafe(review_call(around, &shown, &recorder));
            let found = tokio::select! {
                // The turn does not go on in this life.
                () = cancel.cancelled() => return,
                found = reviewing.catch_unwind() => found,
            };
            let review = found.unwrap_or_else(|_| Some(failed("a bug in Reasonix", false)));
            // The actor may have ended.
            let _ = happened.send(Happened::Reviewed {
                number,
                call,
                judgement,
                review,
            });
        });
    }

    /// The reviewer has looked at a call, or there is none.
    pub(crate) fn reviewed(
        &mut self,
        number: u64,
        call: CallId,
        mut judgement: Box<Judgement>,
        review: Option<Review>,
    ) {
        if let Some(recorder) = self.requests.finish_extraction(number) {
            self.note_spent(&recorder);
        }
        // Whoever was there when it began may have gone.
        self.attend(&mut judgement);
        if let (Some(review), Judgement::Decided(decided)) = (review, &mut *judgement)
            && self.machine.judging() == Some(&call)
        {
            let Review {
                verdict,
                reason,
                model,
                allows,
                duration_ms,
            } = review;
            let tool = decided.tool.clone();
            let decided = review::apply(decided, verdict, &reason, allows);
            self.note(Body::CallReviewed(CallReviewed {
                call: call.clone(),
                tool,
                verdict,
                reason,
                decided,
                model,
                duration_ms,
            }));
        }
        self.step(Input::Judged { call, judgement });
    }
}

fn failed(why: &str, allows: bool) -> Review {
    Review {
        verdict: ReviewVerdict::Failed,
        reason: why.to_owned(),
        model: String::new(),
        allows,
        duration_ms: 0,
    }
}

/// Asks the reviewer of this directory. `None`: there is none.
async fn review_call(
    around: SideRequestContext,
    shown: &ReviewedCall,
    recorder: &UsageRecorder,
) -> Option<Review> {
    let (assembly, cwd) = (Arc::clone(&around.assembly), around.cwd.clone());
    let settings = blocking(move || assembly.reviewer(&cwd)).await;
    let settings = settings.ok().filter(|settings| settings.reviews)?;
    let since = Instant::now();
    let asked = async {
        let aide = SideRequestTarget::reviewer(around).await?;
        let answer = aide.ask_text(&review::demand(shown), (recorder, 0)).await?;
        let (verdict, reason) = review::parse(&answer).ok_or("its answer has no verdict")?;
        let model = aide.model().to_owned();
        Ok::<_, String>(Review {
            verdict,
            reason,
            model,
            allows: settings.allows,
            duration_ms: 0,
        })
    };
    let review = asked
        .await
        .unwrap_or_else(|why| failed(&why, settings.allows));
    Some(Review {
        duration_ms: u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX),
        ..review
    })
}
