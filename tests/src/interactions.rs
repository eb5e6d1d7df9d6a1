//! Interactions in a test: those that a session opens, those that a client lists, and answers to them.

use std::collections::BTreeSet;

use client::{Client, Follow};
use proto::methods;
use proto::params::interaction::{
    AnswerParams, Approval, ApprovalDecision, Interaction, InteractionAnswer, InteractionRequest,
    ListParams,
};
use proto::{Body, Failure, RequestId};
use serde_json::{Value, json};

use crate::follow::{body, from_the_start};
use crate::log::Log;
use crate::raw::Raw;
use crate::wait::{soon, until};

/// The next interaction that the session opens.
///
/// # Panics
/// None is opened in time.
pub async fn next_opened(follow: &mut Follow) -> Interaction {
    match body(follow, "interaction.opened").await {
        Body::InteractionOpened(interaction) => interaction,
        other => unreachable!("asked for by kind, and got {other:?}"),
    }
}

/// The first interaction that the session opened.
///
/// # Panics
/// None is opened in time, or the session does not exist.
pub async fn first_opened(client: &Client, session: impl ToString) -> Interaction {
    next_opened(&mut from_the_start(client, session).await).await
}

/// The open interactions of all sessions.
///
/// # Panics
/// The daemon does not answer.
pub async fn list(client: &Client) -> Vec<Interaction> {
    let all = ListParams::default();
    let listed = client.call::<methods::InteractionList>(&all);
    let listed = soon("the open interactions", listed).await;
    listed.expect("list the interactions").interactions
}

/// The call that is to be approved.
///
/// # Panics
/// It is not an approval.
#[must_use]
pub fn approval(interaction: &Interaction) -> &Approval {
    match &interaction.request {
        InteractionRequest::Approval(approval) => approval,
        other => panic!("an approval, not {other:?}"),
    }
}

/// This answer, with a fresh request id.
#[must_use]
pub fn answer_with(interaction: &Interaction, answer: InteractionAnswer) -> AnswerParams {
    AnswerParams {
        interaction_id: interaction.interaction_id.clone(),
        shown_hash: interaction.shown_hash.clone(),
        answer,
        request_id: Some(RequestId::new()),
    }
}

/// This decision about a call, without a scope or a note.
#[must_use]
pub fn decide(interaction: &Interaction, decision: ApprovalDecision) -> AnswerParams {
    let answer = InteractionAnswer::Approval {
        decision,
        scope: None,
        note: None,
        edited_command: None,
    };
    answer_with(interaction, answer)
}

/// Allows a call once.
#[must_use]
pub fn allow_once(interaction: &Interaction) -> AnswerParams {
    decide(interaction, ApprovalDecision::AllowOnce)
}

/// Sends an answer.
///
/// # Errors
/// The daemon's refusal.
///
/// # Panics
/// The daemon does not answer.
pub async fn answer(client: &Client, params: &AnswerParams) -> Result<(), Failure> {
    let answered = client.call::<methods::InteractionAnswer>(params);
    let answered = soon("the reply to an answer", answered).await;
    answered.map(drop).map_err(|error| {
        let failure = error.failure().cloned();
        failure.unwrap_or_else(|| panic!("no reply to an answer: {error}"))
    })
}

/// Checks that each interaction is resolved at most once (I6), and that every acknowledged answer is in the log (I3).
///
/// # Panics
/// One of the two does not hold.
pub fn check_answers(log: &Log, acknowledged: &[RequestId]) {
    let resolved = log.resolved();
    let mut seen = BTreeSet::new();
    for resolved in &resolved {
        let id = &resolved.interaction_id;
        assert!(seen.insert(id), "{id} is resolved twice");
    }
    for request_id in acknowledged {
        assert!(
            resolved
                .iter()
                .any(|resolved| resolved.request_id == Some(*request_id)),
            "an answer was acknowledged and is not in the log"
        );
    }
}

/// The open interactions of all sessions, on a raw connection.
///
/// # Panics
/// The daemon refuses to list them.
pub fn raw_list(raw: &mut Raw) -> Vec<Value> {
    let listed = raw.call("interaction.list", &json!({}));
    let listed = listed.expect("list the interactions");
    let open = listed["interactions"].as_array().cloned();
    open.expect("an array of interactions")
}

/// The oldest open interaction, on a raw connection. Waits until there is one.
///
/// # Panics
/// There is none in time.
pub fn raw_first(raw: &mut Raw) -> Value {
    until("an open interaction", || raw_list(raw).into_iter().next())
}

/// Parameters of this decision about a call, without a request id.
#[must_use]
pub fn raw_decide(interaction: &Value, decision: &str) -> Value {
    json!({
        "interaction_id": interaction["interaction_id"], "shown_hash": interaction["shown_hash"],
        "answer": {"type": "approval", "decision": decision},
    })
}
