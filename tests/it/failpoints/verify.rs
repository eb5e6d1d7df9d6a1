//! What must be true of a session that was killed often and has come to its end.

use proto::Body;
use proto::item::CallStatus;
use proto::outcome::{OutcomeKind, UsageTotals};
use proto::params::session::When;
use tests::interactions::check_answers;
use tests::log::Log;

use super::life::Scenario;

/// Compares log, clients and side effects.
pub fn verify(scenario: &Scenario) {
    let log = Log::read(&scenario.log());
    log.check();
    prompts(&log, scenario);
    check_answers(&log, &scenario.clients.answered);
    seen(&log, scenario);
    effects(&log, scenario);
    sums(&log);
}

/// I3: acknowledged prompts are at the acknowledged position, and became one message each or were taken back.
fn prompts(log: &Log, scenario: &Scenario) {
    let bodies = log.bodies();
    let mut completed = 0;
    for prompt in &scenario.clients.prompts {
        let (id, seq) = prompt.acknowledged.expect("every prompt was acknowledged");
        let at = usize::try_from(seq.0 - 1).expect("a number");
        let Body::PromptQueued(queued) = &bodies[at] else {
            panic!("record {seq} is `{}`, no prompt", bodies[at].kind());
        };
        assert_eq!(
            (queued.prompt_id, queued.request_id),
            (id, Some(prompt.request_id))
        );
        let said = |body: &&Body| matches!(body, Body::User(user) if user.prompt_id == Some(id));
        let back =
            |body: &&Body| matches!(body, Body::PromptUnqueued(taken) if taken.prompt_id == id);
        let (said, back) = (
            bodies.iter().filter(said).count(),
            bodies.iter().filter(back).count(),
        );
        assert_eq!(said + back, 1, "prompt {id}: said {said}, back {back}");
        assert!(!prompt.taken_back || back == 1, "{id} was taken back");
        let words = |body: &Body| match (body, &prompt.edited) {
            (Body::User(user), Some(text)) if user.prompt_id == Some(id) => user.text == *text,
            _ => true,
        };
        assert!(
            bodies.iter().all(words),
            "{id} got other words: {:?}",
            prompt.edited
        );
        completed += usize::from(prompt.when == When::Queue && back == 0);
    }
    let queued = log.count("prompt.queued");
    assert_eq!(
        queued,
        scenario.clients.prompts.len(),
        "a repeat is not a second prompt"
    );
    if scenario.clients.undisturbed {
        let ended = bodies.iter().filter(
            |body| matches!(body, Body::TurnEnded(ended) if ended.outcome == OutcomeKind::Completed),
        );
        assert_eq!(ended.count(), completed, "each prompt has its whole turn");
    }
}

/// I5: the events that were seen match the log.
fn seen(log: &Log, scenario: &Scenario) {
    let state = scenario.world.state();
    assert!(!state.seen.is_empty());
    for (event, line) in state.seen.iter().zip(&log.lines) {
        assert_eq!(
            (event.kind.as_str(), event.data.get()),
            (line.kind.as_str(), line.data.as_str()),
            "record {}",
            line.seq
        );
    }
}

/// I4: a call with side effects ran at most once, and its result is true.
fn effects(log: &Log, scenario: &Scenario) {
    let state = scenario.world.state();
    for (call, (begun, ended)) in &state.runs {
        assert!(*begun <= 1 && ended <= begun, "{call}: {begun} {ended}");
    }
    for result in log.results().iter().filter(|result| result.tool == "mark") {
        let ran = state.runs.get(&result.call.0).copied().unwrap_or_default();
        match result.status {
            CallStatus::Ok => assert_eq!(ran, (1, 1), "{result:?}"),
            CallStatus::Unknown | CallStatus::Interrupted => {}
            // The kill came when the stop of its turn had answered its question, and not yet the call.
            CallStatus::Denied => assert_eq!(ran, (0, 0), "{result:?}"),
            other => panic!("{other:?}: {result:?}"),
        }
    }
}

/// I15: the sums of the turns equal the reported usage.
fn sums(log: &Log) {
    let (mut reported, mut turns) = (UsageTotals::default(), UsageTotals::default());
    for body in log.bodies() {
        match body {
            Body::Usage(usage) if usage.reported => {
                reported.prompt_tokens += usage.prompt_tokens;
                reported.cached_tokens += usage.cached_tokens;
                reported.output_tokens += usage.output_tokens;
            }
            Body::TurnEnded(ended) => turns.add(&ended.usage),
            _ => {}
        }
    }
    assert_eq!(
        (
            reported.prompt_tokens,
            reported.cached_tokens,
            reported.output_tokens
        ),
        (
            turns.prompt_tokens,
            turns.cached_tokens,
            turns.output_tokens
        )
    );
}
