//! Recognises refusals of a request that is too long for the model.
//!
//! Called by `failure`, not for rate limits, whose words may be the same.

use super::VendorError;

/// Whether the request was too long. Some vendors send a code, others only a message.
pub(super) fn is_context_length(vendor: &VendorError) -> bool {
    const CODES: &[&str] = &[
        "context_length_exceeded",
        "exceed_context_size_error",
        "model_context_window_exceeded",
        "request_too_large",
        "1261",
    ];
    const WORDS: &[&str] = &[
        "context_length_exceeded",
        "maximum context length",
        "maximum prompt length",
        "context length exceeded",
        "exceeds the available context size",
        // llama.cpp, and LM Studio, which names its own limit too.
        "context size has been exceeded",
        "exceeds context size",
        "exceed context window",
        "reached context length of",
        "with context length of only",
        "configured context size is",
        "context length is only",
        "maximum input length",
        "context window full",
        "input tokens exceed",
        "exceeds the context window",
        "exceed the context window",
        "exceeds the context length",
        "exceeds the model's context",
        "exceed context limit",
        "exceeded model token limit",
        "prompt is too long",
        "prompt exceeds max length",
        "input is too long",
        "input token count",
        "range of input length should be",
        "reduce the length of the messages",
        "greater than the context length",
        "prompt too long",
        "longer than the model's context",
        "longer than the maximum model length",
        "context window exceeds limit",
        "context window limit",
        "larger than the context window",
        "exceeds the maximum context",
        "maximum context limit",
        "maximum allowed input length",
        "exceed the configured limit",
        "prompt token count",
        "token limit exceeded",
        "too many input tokens",
        "too many tokens: ",
        "tokens + `max_new_tokens` must be",
        "string too long. expected a string with maximum length",
    ];
    if CODES.contains(&&*vendor.code) || CODES.contains(&&*vendor.kind) {
        return true;
    }
    let message = vendor.message.to_lowercase();
    WORDS.iter().any(|words| message.contains(words))
        || message.contains("current length is") && message.contains("while limit is")
}
