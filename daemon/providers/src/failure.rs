//! Maps failures to an error kind for the engine and a message for the user.
//!
//! Only this module interprets HTTP statuses and vendors' error objects. Every text from here names
//! the provider, is a single line, is truncated, and contains no key. Called by `read`, `http`,
//! `probe` and the kinds.

use std::sync::Arc;
use std::time::Duration;

use contract::provider::{ErrorKind, ProviderError};
use serde_json::Value;

use crate::options::{ANSWER_MAX, ProviderOptions};
use context_length::{exceeds_rate_alone, is_context_length};

pub(crate) use vendor_error::VendorError;

mod context_length;
mod vendor_error;

/// Maximum characters shown of a vendor's message.
const WORDS_MAX: usize = 400;

/// The shortest header value that is redacted. Shorter ones could match ordinary words.
const HEADER_MIN: usize = 8;

/// The request that failed, as far as messages need it.
#[derive(Clone)]
pub(crate) struct ErrorContext {
    pub entry: Arc<EntryInfo>,
    /// The key of this request, if any.
    pub key: Option<contract::Secret>,
}

/// A provider's entry, as far as messages need it.
pub(crate) struct EntryInfo {
    pub name: String,
    pub models: Vec<String>,
    pub key_env: Option<String>,
    /// Maximum bytes of an answer's content.
    pub answer_max: usize,
    /// Values of the entry's own headers, which may be keys too.
    pub header_values: Vec<String>,
}

impl EntryInfo {
    pub(crate) fn of(options: ProviderOptions) -> Self {
        Self {
            name: options.name,
            models: options.models,
            key_env: options.api_key_env,
            answer_max: options.answer_max,
            header_values: options
                .headers
                .into_iter()
                .map(|(_, value)| value)
                .collect(),
        }
    }
}

impl ErrorContext {
    /// The error if the entry names a key and there is none.
    pub(crate) fn lacks_key(&self) -> Option<ProviderError> {
        let has_key = self
            .key
            .as_ref()
            .is_some_and(|key| !key.expose().trim().is_empty());
        let variable = self.entry.key_env.as_ref().filter(|_| !has_key)?;
        Some(self.no_key(variable))
    }

    /// A failure where a retry may help: the connection, or a broken answer.
    pub(crate) fn transient(&self, what: &str) -> ProviderError {
        let hint = "this may be temporary: try again; if it persists, check the network, `base_url` and the provider's status page";
        self.error(what, hint.to_owned(), ErrorKind::Transient, None)
    }

    /// Nothing listens at an address on this machine.
    pub(crate) fn not_running(&self, what: &str) -> ProviderError {
        let hint = self.hint("", ErrorKind::NotRunning, None);
        self.error(what, hint, ErrorKind::NotRunning, None)
    }

    /// Nothing came for this long.
    pub(crate) fn silent(&self, what: &str, how_long: Duration) -> ProviderError {
        self.transient(&format!("{what} for {how_long:?}"))
    }

    /// A failure that a retry would repeat.
    pub(crate) fn permanent(&self, what: &str, hint: &str) -> ProviderError {
        self.error(what, hint.to_owned(), ErrorKind::Permanent, None)
    }

    /// A piece of an answer that cannot be read. Plain words may say what is wrong.
    pub(crate) fn no_event(&self, data: &str) -> ProviderError {
        let what = "sent data that is not an event";
        match data.trim_start().starts_with(char::is_alphabetic) {
            true => self.transient(&format!("{what}: {data}")),
            false => self.transient(what),
        }
    }

    /// A document that cannot be read.
    pub(crate) fn no_answer(&self) -> ProviderError {
        self.transient("sent data that is not an answer")
    }

    /// The answer has grown beyond `answer_max`.
    pub(crate) fn too_long(&self) -> ProviderError {
        let most = self.entry.answer_max >> 20;
        let what = format!("sent an answer of more than {most} MB: it was ended");
        let hint = match self.entry.answer_max < ANSWER_MAX {
            true => "try again, or another model; `network.answer_max_mb` sets the limit",
            false => "try again, or another model",
        };
        self.permanent(&what, hint)
    }

    /// The answer was cut off before its first word.
    pub(crate) fn context_full(&self) -> ProviderError {
        let hint = self.hint("", ErrorKind::ContextLength, None);
        let what = "has no room for an answer behind this conversation";
        self.error(what, hint, ErrorKind::ContextLength, None)
    }

    /// The vendor ended the answer because it could not read a call in it.
    pub(crate) fn invalid_call(&self, model: &str, reason: &str) -> ProviderError {
        let hint = self.hint(model, ErrorKind::InvalidCall, None);
        let what = format!("could not read a tool call of the model: `{reason}`");
        self.error(&what, hint, ErrorKind::InvalidCall, None)
    }

    /// The answer has more calls than `Calls` takes.
    pub(crate) fn too_many_calls(&self) -> ProviderError {
        self.endless("requests too many calls in one answer")
    }

    fn endless(&self, what: &str) -> ProviderError {
        self.permanent(what, "try again, or another model")
    }

    /// The entry names a key, and there is none.
    fn no_key(&self, variable: &str) -> ProviderError {
        let hint = format!("set `{variable}` in the environment or store the key, then try again");
        self.error(
            &format!("has no key: `{variable}` is not set"),
            hint,
            ErrorKind::Credentials,
            None,
        )
    }

    /// The vendor refused the request, or sent an error instead of an answer (`status` is then
    /// 200).
    pub(crate) fn refused(
        &self,
        model: &str,
        status: u16,
        retry_after: Option<Duration>,
        vendor: &VendorError,
    ) -> ProviderError {
        // Inside an answer, some vendors send the intended status as the error code.
        let meant = if status == 200 {
            vendor
                .code
                .parse()
                .ok()
                .filter(|code| (400..600).contains(code))
        } else {
            Some(status)
        };
        let kind = classify(meant, vendor);
        let is_busy = kind == ErrorKind::Transient && is_busy(meant, vendor);
        let retry_after = retry_after.or_else(|| vendor.named_wait().filter(|_| is_busy));
        let words = vendor.words();
        let what = match meant {
            Some(status) => format!("{}: {words}", answered(status, kind)),
            None => format!("answered with an error: {words}"),
        };
        let hint = match kind {
            ErrorKind::Permanent if demands_alternation(vendor) => ALTERNATION_HINT.to_owned(),
            ErrorKind::Permanent if demands_responses(vendor) => RESPONSES_HINT.to_owned(),
            ErrorKind::Transient if meant == Some(429) => rate_hint(retry_after),
            _ => self.hint(model, kind, meant),
        };
        let mut error = self.error(&what, hint, kind, retry_after);
        error.status = meant;
        error.of_model = kind == ErrorKind::Transient && is_of_model(meant, vendor, model);
        error.window = vendor.window.filter(|_| kind == ErrorKind::ContextLength);
        error
    }

    /// An error in place of an answer, or of the rest of one.
    pub(crate) fn refused_in(&self, model: &str, data: &str) -> ProviderError {
        let value: Option<Value> = serde_json::from_str(data).ok();
        let vendor = value.as_ref().and_then(VendorError::from_value);
        self.refused(model, 200, None, &vendor.unwrap_or_default())
    }

    /// The variable of the key, for messages.
    fn variable(&self) -> String {
        match &self.entry.key_env {
            Some(variable) => format!("`{variable}`"),
            None => "`api_key_env` (not set)".to_owned(),
        }
    }

    fn credit_hint(&self) -> String {
        let variable = self.variable();
        format!("add credit to the account of the key in {variable}")
    }

    /// What the user can do.
    fn hint(&self, model: &str, kind: ErrorKind, status: Option<u16>) -> String {
        let variable = self.variable();
        match (kind, status) {
            (ErrorKind::ContextLength, _) => "the conversation is too long for the model: compact it, or use a model with a larger context window".to_owned(),
            (ErrorKind::Credentials, _) => format!(
                "check the key in {variable}, or set another one with `reasonix login {}`",
                self.entry.name
            ),
            (ErrorKind::Transient, _) => "the provider has a problem: try again later, and check its status page".to_owned(),
            (ErrorKind::Permanent, Some(403)) => format!("the key in {variable} may not use `{model}`, or not from this location: check the account's permissions"),
            (ErrorKind::Permanent, Some(404)) => {
                let others = self.entry.models.join(", ");
                format!("check that `base_url` is right (many end in `/v1`) and that the provider has the model `{model}` (configured: {others}; key: {variable})")
            }
            (ErrorKind::Permanent, Some(300..=399)) => "if you trust the new address, set it as `base_url`".to_owned(),
            (ErrorKind::InvalidCall, _) => format!("`{model}` wrote a tool call that the provider cannot read: send the prompt again, or use another model"),
            (ErrorKind::NotRunning, _) => "start the server on this machine, or check the port in `base_url`".to_owned(),
            // Nothing was sent. The budget's owner provides the hint.
            (ErrorKind::Budget, _) => String::new(),
            (ErrorKind::OutOfCredit, _) => self.credit_hint(),
            (ErrorKind::Permanent, _) => format!("the request was refused: check the model `{model}`, `extra` and `headers` of this provider (key: {variable})"),
        }
    }

    /// An error of this kind, with the provider's name and without keys.
    pub(crate) fn error(
        &self,
        what: &str,
        hint: String,
        kind: ErrorKind,
        retry_after: Option<Duration>,
    ) -> ProviderError {
        let message = format!("`{}` {}", self.entry.name, self.clean(what));
        ProviderError {
            message,
            hint,
            kind,
            status: None,
            retry_after,
            of_model: false,
            empty: false,
            window: None,
        }
    }

    /// One truncated line without keys.
    pub(crate) fn clean(&self, text: &str) -> String {
        let headers = self.entry.header_values.iter().map(|value| value.trim());
        let headers = headers.filter(|value| value.len() >= HEADER_MIN);
        let key = self.key.iter().map(|key| key.expose().trim());
        let more: Vec<&str> = headers.chain(key).collect();
        let text = contract::scrub::scrub_with(text, &more);
        let words = text
            .split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|word| !word.is_empty());
        let mut line = words.collect::<Vec<_>>().join(" ");
        if let Some((end, _)) = line.char_indices().nth(WORDS_MAX) {
            line.truncate(end);
            line.push('…');
        }
        line
    }
}

/// That a vendor refused a request. A 429 is not always a rate limit: some send it for an empty account.
pub(crate) fn answered(status: u16, kind: ErrorKind) -> String {
    match (status, kind) {
        (429, ErrorKind::Transient) => "rate-limited the request (429)".to_owned(),
        _ => format!("answered {status}"),
    }
}

/// What to do about a rate limit, for as long as the vendor says. In whole units, rounded up: trying too early fails.
fn rate_hint(retry_after: Option<Duration>) -> String {
    let seconds = retry_after.map(|after| after.as_millis().div_ceil(1_000));
    let wait = match seconds {
        None | Some(0) => String::new(),
        Some(seconds @ ..=120) => format!(" {seconds} s"),
        Some(seconds @ ..=7_200) => format!(" {} min", seconds.div_ceil(60)),
        Some(seconds) => format!(" {} h", seconds.div_ceil(3_600)),
    };
    format!("the provider's rate limit was reached: wait{wait}, or run fewer sessions")
}

/// Determines the error kind.
pub(crate) fn classify(status: Option<u16>, vendor: &VendorError) -> ErrorKind {
    let says = |names: &[&str]| names.contains(&&*vendor.code) || names.contains(&&*vendor.kind);
    // First: the message may quote what the model wrote, which can be anything.
    if !matches!(status, Some(401..=404 | 429)) && is_invalid_call(vendor) {
        return ErrorKind::InvalidCall;
    }
    if !matches!(status, Some(401..=404 | 429)) && is_context_length(vendor)
        || exceeds_rate_alone(vendor)
    {
        return ErrorKind::ContextLength;
    }
    let is_refusal = matches!(status, None | Some(400 | 401 | 403));
    if is_refusal && (says(CREDENTIALS) || names_key(vendor)) {
        return ErrorKind::Credentials;
    }
    // OpenAI also sends 429 for an empty account, where waiting does not help.
    if is_out_of_credit(status, vendor) {
        return ErrorKind::OutOfCredit;
    }
    match status {
        Some(401) => ErrorKind::Credentials,
        Some(413) => ErrorKind::ContextLength,
        // A request that the server itself calls wrong stays so, whatever its status.
        Some(500..=599)
            if says(INVALID_REQUEST) || demands_alternation(vendor) || blames_request(vendor) =>
        {
            ErrorKind::Permanent
        }
        Some(408 | 409 | 425 | 429 | 500..=599) => ErrorKind::Transient,
        // Groq, of its flexible capacity.
        Some(498) if says(&["capacity_exceeded"]) => ErrorKind::Transient,
        Some(_) => ErrorKind::Permanent,
        None if says(PERMANENT) => ErrorKind::Permanent,
        // Inside an answer, an unclear error counts as the vendor's.
        None => ErrorKind::Transient,
    }
}

const OVERLOADED: &[&str] = &[
    "engine_overloaded_error",
    "model_overloaded",
    "overloaded",
    "overloaded_error",
];

/// Whether a rate limit was reached, or the vendor has too much to do.
fn is_busy(status: Option<u16>, vendor: &VendorError) -> bool {
    const RATE_LIMITS: &[&str] = &["rate_limit_exceeded", "rate_limit_error"];
    let mut codes = RATE_LIMITS.iter().chain(OVERLOADED);
    matches!(status, Some(429 | 503 | 529))
        || codes.any(|code| vendor.code == *code || vendor.kind == *code)
}

/// Whether a vendor that is too busy means this model alone: it is overloaded, or the limit is the model's, as with OpenAI and
/// Groq.
fn is_of_model(status: Option<u16>, vendor: &VendorError, model: &str) -> bool {
    let says = |name: &&str| vendor.code == *name || vendor.kind == *name;
    // A shorter name could be any word.
    let names_model = model.len() >= 4 && vendor.message.contains(model);
    match status {
        Some(529) => true,
        Some(429) => names_model || OVERLOADED.iter().any(says),
        _ => false,
    }
}

const INVALID_REQUEST: &[&str] = &[
    "invalid_request_error",
    "BadRequestError",
    "INVALID_ARGUMENT",
];

/// Whether the words of a server's error say that the request is wrong: a gateway that passes on the refusal of another,
/// and a chat template that cannot render the messages.
fn blames_request(vendor: &VendorError) -> bool {
    const WORDS: &[&str] = &[
        "litellm.badrequesterror",
        "invalid_request_error",
        "jinja exception",
    ];
    let message = vendor.message.to_lowercase();
    WORDS.iter().any(|words| message.contains(words))
}

/// Errors inside an answer that another try repeats.
const PERMANENT: &[&str] = &[
    "invalid_request_error",
    "not_found_error",
    "permission_error",
    "billing_error",
    "model_not_found",
    "invalid_prompt",
    // OpenAI, of images in the request.
    "invalid_image",
    "invalid_image_format",
    "invalid_image_mode",
    "invalid_image_url",
    "invalid_base64_image",
    "image_too_large",
    "image_too_small",
    "image_parse_error",
    "image_content_policy_violation",
    "image_file_too_large",
    "image_file_not_found",
    "unsupported_image_media_type",
    "empty_image_file",
    // OpenAI, of what the request is about, and of an account without access.
    "cyber_policy",
    "bio_policy",
    "usage_not_included",
];

const CREDENTIALS: &[&str] = &[
    "invalid_api_key",
    "authentication_error",
    "invalid_authentication_error",
    "incorrect_api_key_error",
    "invalid_authentication",
    "unauthorized",
    "UNAUTHENTICATED",
];

/// Whether the message is about a wrong key, of vendors that send no code for it.
fn names_key(vendor: &VendorError) -> bool {
    const WORDS: &[&str] = &[
        "incorrect api key",
        "invalid api key",
        "api key not valid",
        "api key is invalid",
        "api key expired",
        "api key not found",
        // Google.
        "api key was reported as leaked",
        "missing or invalid authorization header",
        // LiteLLM, where a key is not its own: it has no database to look up others.
        "no connected db",
    ];
    let message = vendor.message.to_lowercase();
    WORDS.iter().any(|words| message.contains(words))
}

/// Whether the account has nothing left to pay with.
pub(crate) fn is_out_of_credit(status: Option<u16>, vendor: &VendorError) -> bool {
    const CODES: &[&str] = &[
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "billing_error",
        "exceeded_current_quota_error",
        "Arrearage",
        // MiniMax.
        "insufficient_balance_error",
        // GLM.
        "1113",
        // OpenAI.
        "credit_balance_exhausted",
        "project_spend_limit_exceeded",
        "organization_spend_limit_exceeded",
        // Anthropic.
        "enforced_spend_limit_reached",
        // LiteLLM.
        "budget_exceeded",
        // Volcengine.
        "AccountOverdueError",
        // Alibaba.
        "AllocationQuota.FreeTierOnly",
    ];
    const WORDS: &[&str] = &[
        "credit balance is too low",
        "insufficient balance",
        "insufficient credits",
        "insufficient_quota",
        "requires more credits",
        // SiliconFlow, Novita, xAI.
        "account balance is insufficient",
        "not enough balance",
        "doesn't have any credits yet",
        // Anthropic, OpenRouter, LiteLLM.
        "reached your specified api usage limits",
        "key limit exceeded",
        "budget has been exceeded",
    ];
    // Where the status says otherwise: xAI, Google.
    const PLAIN_WORDS: &[&str] = &[
        "used all available credits",
        "prepayment credits are depleted",
    ];
    if is_passing_quota(vendor) {
        return false;
    }
    if CODES.contains(&&*vendor.code) || CODES.contains(&&*vendor.kind) || status == Some(402) {
        return true;
    }
    let message = vendor.message.to_lowercase();
    if PLAIN_WORDS.iter().any(|words| message.contains(words)) {
        return true;
    }
    // A 429 in words alone may be a rate limit, which passes.
    matches!(status, None | Some(400 | 401 | 403))
        && WORDS.iter().any(|words| message.contains(words))
}

/// Whether it is a rate that is used up, although the code is that of an empty account: Alibaba, where the page that it names
/// says which.
fn is_passing_quota(vendor: &VendorError) -> bool {
    vendor.message.contains("error-code#token-limit")
}

/// Whether the vendor could not read a call that the model wrote.
fn is_invalid_call(vendor: &VendorError) -> bool {
    // Groq. The second is of models that write calls in a format of their own.
    const CODES: &[&str] = &["tool_use_failed", "output_parse_failed"];
    // How Ollama begins it.
    const WORDS: &[&str] = &["error parsing tool call"];
    let says = |code: &&str| vendor.code == *code || vendor.kind == *code;
    CODES.iter().any(says) || WORDS.iter().any(|words| vendor.message.starts_with(words))
}

/// Whether the server refused the order of user and assistant messages: Mistral's API by its code, the others by the words
/// of the model's chat template, which llama.cpp, vLLM and LM Studio pass on.
fn demands_alternation(vendor: &VendorError) -> bool {
    let message = vendor.message.to_lowercase();
    vendor.kind == "invalid_request_message_order" || message.contains("roles must alternate")
}

const ALTERNATION_HINT: &str = "the server demands that user and assistant alternate: set `strict_roles = true` for this provider";

/// Whether the provider takes tools for this model over its other API only: OpenAI, for models that reason, since GPT-5.4.
fn demands_responses(vendor: &VendorError) -> bool {
    let message = vendor.message.to_lowercase();
    message.contains("function tools with reasoning_effort are not supported")
        && message.contains("/v1/responses")
}

const RESPONSES_HINT: &str = "the provider takes tools for this model over its other API: set `kind = \"openai-responses\"` for this provider";

#[cfg(test)]
mod tests;
