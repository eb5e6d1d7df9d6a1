//! The planner of the open turn, as its session sees it: started, stopped, and reported to the machine.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use contract::PlanRequest;
use contract::tool::StoppedBy;
use futures::FutureExt as _;
use proto::CallId;

use crate::actor::Actor;
use crate::actor::inbox::Happened;
use crate::calls::call::Stop;
use crate::tasks;

/// The call that a planner works for, in the place of a call of the model.
pub(crate) const PLANNER_CALL: &str = "planner";

/// The name of the planner, as lists show it.
pub(crate) const PLANNER: &str = "planner";

impl Actor {
    /// Has the planner work on the open turn. The same request finds the planner that it had.
    pub(crate) fn begin_plan(&mut self, request: PlanRequest) {
        let stop = Arc::new(Stop::default());
        self.life.planning = Some(Arc::clone(&stop));
        let agents = Arc::clone(&self.calls.call_environment().agents);
        let happened = self.happened.clone();
        tasks::spawn(async move {
            let planned = AssertUnwindSafe(agents.plan(request.clone(), stop));
            let finished = planned.catch_unwind().await.unwrap_or_else(|_| {
                request.failed("The planner could not work, because of a bug in Reasonix.")
            });
            // An actor that has ended takes nothing.
            let _ = happened.send(Happened::Planned(Box::new(finished)));
        });
    }

    /// Stops the planner. It reports by itself what it has used.
    pub(crate) fn cancel_plan(&mut self) {
        if let Some(stop) = self.life.planning.take() {
            stop.stop(self.calls.grace_ms(), StoppedBy::User);
        }
    }

    /// Whether this is the call of the planner, and its plan is waited for.
    pub(crate) fn awaits_planner(&self, call: &CallId) -> bool {
        call.0 == PLANNER_CALL && self.machine.facts().is_planning()
    }
}
