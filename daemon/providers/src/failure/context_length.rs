//! Recognises refusals of a request that is too long for the model.
//!
//! Called by `failure`. Rate limits may use the same words: of them only `exceeds_rate_alone` is asked.

use super::VendorError;

/// Whether the request was too long. Some vendors send a code, others only a message.
pub(super) fn is_context_length(vendor: &VendorError) -> bool {
    const CODES: &[&str] = &[
        "context_length_exceeded",
        "exceed_context_size_error",
        "model_context_window_exceeded",
        "request_too_large",
        // Baidu.
        "tokens_too_long",
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
        // Volcengine.
        "exceed max message tokens",
        // SiliconFlow and TensorRT-LLM.
        "must be less than max_seq_len",
        "exceeds max_seq_len",
        "prompt tokens too long",
        // Alibaba.
        "input length exceeds the maximum length",
        // Text Generation Inference.
        "`inputs` must have less than",
        // watsonx.
        "cannot exceed the total tokens limit",
        // Google, also where images make the request too large.
        "request payload size exceeds the limit",
        // GLM.
        "超过模型最大上下文长度",
    ];
    // Each word of a pair alone may be about anything.
    const PAIRS: &[(&str, &str)] = &[
        ("current length is", "while limit is"),
        // SGLang.
        ("input length (", "exceeds the maximum allowed length"),
        // Snowflake.
        ("max tokens of ", " exceeded. request used"),
    ];
    if CODES.contains(&&*vendor.code) || CODES.contains(&&*vendor.kind) {
        return true;
    }
    let message = vendor.message.to_lowercase();
    WORDS.iter().any(|words| message.contains(words))
        || PAIRS
            .iter()
            .any(|(one, two)| message.contains(one) && message.contains(two))
        || exceeds_text_limit(&message)
}

/// Whether the request alone is larger than what a minute may have, so that no wait lets it pass (OpenAI, Groq).
pub(super) fn exceeds_rate_alone(vendor: &VendorError) -> bool {
    vendor.message.starts_with("Request too large for")
        && vendor.message.contains("on tokens per min")
}

/// Whether a text is longer than the vendor takes of any (OpenAI, Bedrock). The limits of names and ids are far shorter.
fn exceeds_text_limit(message: &str) -> bool {
    const LEAST: u64 = 100_000;
    const BEFORE_LIMIT: &[&str] = &[
        "string too long. expected a string with maximum length ",
        "expected maxlength: ",
    ];
    let limit = |before: &&str| {
        let (_, after) = message.split_once(before)?;
        let digits = after.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse::<u64>().ok()
    };
    let mut limits = BEFORE_LIMIT.iter().filter_map(limit);
    limits.any(|limit| limit >= LEAST)
}
