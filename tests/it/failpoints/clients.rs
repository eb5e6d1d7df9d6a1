//! The clients of a session that is killed: one gives prompts and has second thoughts, one says yes, one looks on. They
//! remember acknowledgements over all lives, and repeat requests without one.

use proto::hello::Role;
use proto::params::interaction::AnswerParams;
use proto::params::session::{
    AttachParams, CreateParams, EditParams, PromptParams, ReorderParams, Signal, Until, When,
};
use proto::state::{OnAsk, State};
use proto::{
    ErrorName, Event, Failure, InteractionId, PromptId, RequestId, Seq, SessionId, SessionOptions,
};
use session::{Attach, Following, SessionHandle};
use tests::Chance;
use tests::interactions::allow_once;
use tokio::sync::Notify;
use turn::RecoverPolicy;

use super::world::{Point, World};

/// Prompts of a session, those that get it going again left out.
const PROMPTS: usize = 3;

/// A prompt, over all lives.
pub struct Prompt {
    pub request_id: RequestId,
    pub when: When,
    pub acknowledged: Option<(PromptId, Seq)>,
    /// It is to be taken back, once.
    take_back: bool,
    /// It was, and the client got the answer.
    pub taken_back: bool,
    /// It is to get other words.
    edit: Option<RequestId>,
    /// It did, and the client got the answer.
    pub edited: Option<String>,
    /// It is to go before all others.
    reorder: Option<RequestId>,
    pause: Pause,
}

/// The state of a pause and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    None,
    Wanted(RequestId),
    /// It may hold by now; this ends it.
    Sent(RequestId),
}

impl Prompt {
    fn plain() -> Self {
        Self {
            request_id: RequestId::new(),
            when: When::Queue,
            acknowledged: None,
            take_back: false,
            taken_back: false,
            edit: None,
            edited: None,
            reorder: None,
            pause: Pause::None,
        }
    }

    fn of(index: usize, chance: &mut Chance) -> Self {
        let mut wished = |times| chance.once_in(times).then(RequestId::new);
        Self {
            edit: wished(4),
            reorder: wished(4),
            pause: wished(4).map_or(Pause::None, Pause::Wanted),
            when: if index > 0 && chance.once_in(4) {
                When::Steer
            } else {
                When::Queue
            },
            take_back: index > 0 && chance.once_in(5),
            ..Self::plain()
        }
    }
}

/// What the clients of a session want and know.
pub struct Clients {
    pub session: SessionId,
    pub prompts: Vec<Prompt>,
    /// One at a time, or all at once.
    pub ahead: bool,
    /// The turn is interrupted after so many more events.
    pub interrupts: Vec<usize>,
    pub answers: Vec<(InteractionId, RequestId)>,
    pub answered: Vec<RequestId>,
    /// Turns that nobody cut off are expected of it.
    pub undisturbed: bool,
}

impl Clients {
    pub fn of(session: SessionId, chance: &mut Chance, recover: RecoverPolicy) -> Self {
        let prompts: Vec<_> = (0..PROMPTS)
            .map(|index| Prompt::of(index, chance))
            .collect();
        let count = chance.below(6).saturating_sub(3);
        let interrupts: Vec<_> = (0..count).map(|_| 5 + chance.index(60)).collect();
        let plain = prompts
            .iter()
            .all(|prompt| prompt.when == When::Queue && !prompt.take_back);
        Self {
            session,
            undisturbed: plain && interrupts.is_empty() && recover == RecoverPolicy::Continue,
            prompts,
            ahead: chance.once_in(2),
            interrupts,
            answers: Vec::new(),
            answered: Vec::new(),
        }
    }

    pub fn create(&self, project: &std::path::Path) -> CreateParams {
        CreateParams {
            session: self.session,
            cwd: project.to_string_lossy().into_owned(),
            options: SessionOptions {
                on_ask: Some(OnAsk::Wait),
                ..SessionOptions::default()
            },
            ..CreateParams::default()
        }
    }
}

pub fn rests(handle: &SessionHandle) -> bool {
    let summary = handle.summary();
    summary.state == State::Idle && summary.queued == 0
}

/// The answer to a call; an engine with a dead disk may answer anything.
pub async fn heard<T>(world: &World, answer: Result<T, Failure>) -> T {
    match answer {
        Ok(answer) => answer,
        Err(failure) => {
            // The world stops before the engine can notice: a failure of its own is a bug.
            assert!(world.is_stopped(), "{failure:?}");
            std::future::pending().await
        }
    }
}

/// Gives the prompts that nobody has acknowledged, waits for their turns, interrupts, takes back.
pub async fn drive(
    world: &World,
    handle: &SessionHandle,
    prompts: &mut Vec<Prompt>,
    ahead: bool,
    interrupts: &mut Vec<usize>,
) {
    // A pause of an earlier life may hold still.
    for prompt in prompts.iter_mut() {
        resume(world, handle, prompt).await;
    }
    let count = prompts.len();
    for (index, prompt) in prompts.iter_mut().enumerate() {
        if prompt.acknowledged.is_none() {
            give(world, handle, prompt, &format!("Prompt {index}.")).await;
        }
        second_thoughts(world, handle, prompt).await;
        if prompt.take_back && !prompt.taken_back {
            take_back(world, handle, prompt).await;
        }
        if !ahead || index + 1 == count {
            settle(world, handle, interrupts).await;
        }
    }
    // A session that was cut off waits for its person, with its queue.
    if !rests(handle) {
        prompts.push(Prompt::plain());
    }
}

async fn give(world: &World, handle: &SessionHandle, prompt: &mut Prompt, text: &str) {
    let params = PromptParams {
        untyped: Vec::new(),
        on_ask: None,
        session: String::new(),
        text: text.to_owned(),
        when: prompt.when,
        credentials: std::collections::BTreeMap::new(),
        env: std::collections::BTreeMap::new(),
        request_id: Some(prompt.request_id),
    };
    let output = heard(world, handle.prompt(params, "driver".into()).await).await;
    let seq = output.seq;
    world
        .pass_or_wait(Point::Acknowledged, |state| {
            state.acknowledged_seq = state.acknowledged_seq.max(seq.0);
            prompt.acknowledged = Some((output.prompt_id, seq));
        })
        .await;
}

/// Other words, another place, a pause: each once, whatever happens in between.
async fn second_thoughts(world: &World, handle: &SessionHandle, prompt: &mut Prompt) {
    let Some((prompt_id, _)) = prompt.acknowledged else {
        return;
    };
    if let Pause::Wanted(id) = prompt.pause {
        prompt.pause = Pause::Sent(RequestId::new());
        signal(world, handle, Signal::Pause, id).await;
    }
    if let Some(request_id) = prompt.edit {
        let params = EditParams {
            session: String::new(),
            prompt_id,
            text: format!("{prompt_id} in other words."),
            steer: None,
            request_id: Some(request_id),
        };
        let text = params.text.clone();
        let done = unless_started(world, handle.edit(params, "driver".into()).await).await;
        prompt.edited = done.then_some(text);
        prompt.edit = None;
    }
    if let Some(request_id) = prompt.reorder {
        let params = ReorderParams {
            session: String::new(),
            prompt_id,
            position: 0,
            request_id: Some(request_id),
        };
        unless_started(world, handle.reorder(params, "driver".into()).await).await;
        prompt.reorder = None;
    }
    resume(world, handle, prompt).await;
}

async fn resume(world: &World, handle: &SessionHandle, prompt: &mut Prompt) {
    if let Pause::Sent(id) = prompt.pause {
        signal(world, handle, Signal::Resume, id).await;
        prompt.pause = Pause::None;
    }
}

async fn signal(world: &World, handle: &SessionHandle, signal: Signal, id: RequestId) {
    let sent = handle.signal(signal, Some(id), "driver".into()).await;
    heard(world, sent).await;
    world.pass_or_wait(Point::Acknowledged, |_| ()).await;
}

/// Whether it was done: a started prompt cannot be changed any more.
async fn unless_started<T>(world: &World, answer: Result<T, Failure>) -> bool {
    match answer {
        Err(failure) if failure.name == ErrorName::NotFound => false,
        answer => {
            heard(world, answer).await;
            world.pass_or_wait(Point::Acknowledged, |_| ()).await;
            true
        }
    }
}

async fn take_back(world: &World, handle: &SessionHandle, prompt: &mut Prompt) {
    let Some((id, _)) = prompt.acknowledged else {
        return;
    };
    match handle.unqueue(id).await {
        Err(failure) if failure.name == ErrorName::NotFound => prompt.take_back = false,
        answer => {
            heard(world, answer).await;
            world
                .pass_or_wait(Point::Acknowledged, |_| prompt.taken_back = true)
                .await;
        }
    }
}

/// Waits until nothing runs; interrupts on request.
async fn settle(world: &World, handle: &SessionHandle, interrupts: &mut Vec<usize>) {
    let waiting = handle.wait(Until::Turn);
    tokio::pin!(waiting);
    let from = world.state().seen.len();
    loop {
        let due = interrupts.last().map(|after| from + after);
        if due.is_some_and(|due| world.state().seen.len() >= due) {
            interrupts.pop();
            signal(world, handle, Signal::Int, RequestId::new()).await;
        }
        // An interrupted session keeps its queue for its person.
        tokio::select! {
            answer = &mut waiting => {
                heard(world, answer).await;
                return;
            }
            // The newest word may have come before anybody listened: looked at again after a moment.
            () = tests::wait::step() => {
                let summary = handle.summary();
                if summary.state == State::Idle && summary.queued > 0 && waits_for_person(world) {
                    return;
                }
            }
        }
    }
}

/// The newest turn was cut off, and nothing has followed.
fn waits_for_person(world: &World) -> bool {
    let state = world.state();
    let ended = state
        .seen
        .iter()
        .rev()
        .find(|event| matches!(event.kind.as_str(), "turn.ended" | "turn.started"));
    ended.is_some_and(|event| {
        event.kind == "turn.ended" && event.data.get().contains(r#""interrupted""#)
    })
}

/// Sees every durable event, from the first one that no earlier life saw.
pub async fn follow(world: &World, handle: &SessionHandle, news: &Notify) {
    let after = world.state().seen.last().and_then(|event| event.seq);
    let attach = Attach {
        name: "follower".into(),
        role: Role::Drive,
        interactive: true,
        params: AttachParams {
            session: String::new(),
            subscription: "s".into(),
            after_seq: Some(after.unwrap_or(Seq(0))),
            epoch: None,
            ephemeral: true,
            backlog: None,
        },
    };
    let (_, mut following) = heard(world, handle.attach(attach).await).await;
    loop {
        match following.next().await {
            Following::Event { seq: Some(_), text } => {
                let event: Event = serde_json::from_str(&text).expect("an event");
                world
                    .pass_or_wait(Point::Published, |state| {
                        let next = state.seen.len() as u64 + 1;
                        assert_eq!(event.seq, Some(Seq(next)), "each event once, in order (I5)");
                        state.seen.push(event);
                    })
                    .await;
                news.notify_waiters();
            }
            Following::Event { seq: None, .. } => news.notify_waiters(),
            Following::Ended(why) => {
                assert!(world.is_stopped(), "the subscription ended: {why:?}");
                std::future::pending().await
            }
        }
    }
}

/// Allows every call that waits for an approval, until the answer is acknowledged.
pub async fn approve(
    world: &World,
    handle: &SessionHandle,
    answers: &mut Vec<(InteractionId, RequestId)>,
    answered: &mut Vec<RequestId>,
    news: &Notify,
) {
    loop {
        let notified = news.notified();
        for open in handle.interactions() {
            let known = answers
                .iter()
                .find(|(id, _)| *id == open.interaction_id)
                .map(|(_, by)| *by);
            let request_id = known.unwrap_or_else(|| {
                let fresh = RequestId::new();
                answers.push((open.interaction_id.clone(), fresh));
                fresh
            });
            let params = AnswerParams {
                request_id: Some(request_id),
                ..allow_once(&open)
            };
            match handle.answer(params, "approver".into()).await {
                // The turn was interrupted in the meantime, and the question went with it.
                Err(failure) if failure.name == ErrorName::AlreadyResolved => {}
                answer => {
                    heard(world, answer).await;
                    world
                        .pass_or_wait(Point::Acknowledged, |_| answered.push(request_id))
                        .await;
                }
            }
        }
        tokio::select! {
            () = notified => {}
            () = tests::wait::step() => {}
        }
    }
}
