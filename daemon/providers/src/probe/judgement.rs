//! What a response means: the state of the key, a text for the user and a hint.

use contract::provider::ErrorKind;
use proto::params::config::KeyState;

use super::ProbeRequest;
use super::response::ProbeResponse;
use crate::failure::{ErrorContext, VendorError, classify, is_out_of_credit};

/// The state of the key, a text and a hint.
pub(super) type Judgement = (KeyState, String, String);

/// Interprets the answer to a prompt.
pub(super) fn judge_prompt(
    what: &ProbeRequest,
    site: &ErrorContext,
    answer: &ProbeResponse,
) -> Judgement {
    match answer.status {
        200..=299 if answer.answers_a_prompt() => (
            match what.key {
                Some(_) => KeyState::Works,
                None => KeyState::NotNeeded,
            },
            "has no list of models, but answered a prompt of one token".to_owned(),
            String::new(),
        ),
        400 | 404 | 405 | 422 if answer.is_about_the_model() => (
            KeyState::Unknown,
            format!(
                "has no list of models, and refused a prompt to `{}`: {}",
                what.model,
                site.clean(VendorError::from_text(&answer.text()).words())
            ),
            "give the model that it has".to_owned(),
        ),
        _ => judge(what, site, answer, 0, false),
    }
}

/// Interprets a response: the state of the key, a text and a hint.
pub(super) fn judge(
    what: &ProbeRequest,
    site: &ErrorContext,
    answer: &ProbeResponse,
    count: usize,
    shown_to_all: bool,
) -> Judgement {
    let body = answer.text();
    let key_named = match &what.key_env {
        Some(variable) => format!("the key in `{variable}`"),
        None => "the key".to_owned(),
    };
    let vendor = answer.error();
    let is_found = vendor.is_some();
    let vendor = vendor.unwrap_or_else(|| VendorError::from_text(&body));
    // Some gateways send their errors with a 200.
    let is_error = count == 0
        && (is_found || body.trim_start().starts_with('{') && body.contains("\"error\""));
    let status = Some(answer.status).filter(|status| *status != 200);
    if status.is_none() && !is_error {
        return listed(what, answer, count, shown_to_all);
    }
    // Truncated here too, so that the duration after it stays readable.
    let words = site.clean(vendor.words());
    let refuses = matches!(answer.status, 401 | 403)
        || matches!(classify(status, &vendor), ErrorKind::Credentials);
    let said = format!("answered {}: {words}", answer.status);
    if is_out_of_credit(status, &vendor) && what.key.is_some() {
        return (
            KeyState::Wrong,
            format!("takes no prompts of this key, whose account is empty: it {said}"),
            format!("add credit to the account of {key_named}"),
        );
    }
    if refuses {
        return judge_refusal(what, &said, &key_named);
    }
    judge_trouble(what, site, answer, said)
}

/// Interprets a response that refuses the key, or the lack of one.
fn judge_refusal(what: &ProbeRequest, said: &str, key_named: &str) -> Judgement {
    match (&what.key, &what.key_env) {
        (Some(_), _) => (
            KeyState::Wrong,
            format!("refuses the key: it {said}"),
            format!("check {key_named}, and that it belongs to this provider"),
        ),
        (None, Some(variable)) => (
            KeyState::Missing,
            format!("requires a key, and none is set: it {said}"),
            format!("set `{variable}` in the environment, or store the key"),
        ),
        (None, None) => (
            KeyState::Missing,
            format!("requires a key, and the provider has no `api_key_env`: it {said}"),
            "set `api_key_env` to the variable that holds the key".to_owned(),
        ),
    }
}

/// Interprets a response that says nothing about the key.
fn judge_trouble(
    what: &ProbeRequest,
    site: &ErrorContext,
    answer: &ProbeResponse,
    said: String,
) -> Judgement {
    let key = match (&what.key, &what.key_env) {
        (None, Some(_)) => KeyState::Missing,
        _ => KeyState::Unknown,
    };
    match (answer.status, &answer.to) {
        (300..=399, Some(to)) => (
            key,
            format!("redirects to {}", site.clean(to)),
            "if you trust the new address, set it as `base_url`".to_owned(),
        ),
        (408 | 425 | 429 | 500..=599, _) => (
            key,
            said,
            "the provider has a problem: try again later".to_owned(),
        ),
        _ => (
            key,
            said,
            "check `base_url` and `headers` of this provider".to_owned(),
        ),
    }
}

/// Interprets a successful response: "answered with one model", "answered with 2 models; the key works", "answered with 2
/// models; no key is set". Clients translate these sentences whole.
fn listed(
    what: &ProbeRequest,
    answer: &ProbeResponse,
    count: usize,
    shown_to_all: bool,
) -> Judgement {
    let models = model_count(count, answer.cut);
    match (&what.key, &what.key_env) {
        (Some(_), _) if shown_to_all => (
            KeyState::Unknown,
            format!(
                "answered {models}, but it does so without a key too, so the key was not checked"
            ),
            "send a prompt to check the key".to_owned(),
        ),
        (Some(_), _) => (
            KeyState::Works,
            format!("answered {models}; the key works"),
            String::new(),
        ),
        (None, Some(variable)) => (
            KeyState::Missing,
            format!("answered {models}; no key is set"),
            format!("set `{variable}` in the environment, or store the key"),
        ),
        (None, None) => (
            KeyState::Unknown,
            format!("answered {models}, but no prompt, so whether it needs a key is unknown"),
            "send a prompt to check it".to_owned(),
        ),
    }
}

/// How many models an answer has. `cut`: not all of it was read.
pub(super) fn model_count(count: usize, cut: bool) -> String {
    match count {
        _ if cut => "with more than 1 MiB of models".to_owned(),
        0 => "without a list of models".to_owned(),
        1 => "with one model".to_owned(),
        count => format!("with {count} models"),
    }
}
