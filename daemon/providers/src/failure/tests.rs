//! Errors for statuses and vendors' messages.

use super::*;

const KEY: &str = "sk-acme-0123456789";

fn site() -> ErrorContext {
    let entry = EntryInfo {
        answer_max: crate::options::ANSWER_MAX,
        name: "acme".to_owned(),
        models: vec!["big".to_owned(), "small".to_owned()],
        key_env: Some("ACME_KEY".to_owned()),
        header_values: vec!["tenant-98765".to_owned(), "1".to_owned()],
    };
    ErrorContext {
        entry: Arc::new(entry),
        key: Some(contract::Secret::new(format!("{KEY}\n"))),
    }
}

fn refused(status: u16, body: &str) -> ProviderError {
    site().refused("big", status, None, &VendorError::from_text(body))
}

#[test]
fn a_status_says_whether_a_retry_helps() {
    use ErrorKind::{ContextLength, Credentials, OutOfCredit, Permanent, Transient};
    for (status, kind) in [
        (400, Permanent),
        (401, Credentials),
        (402, OutOfCredit),
        (403, Permanent),
        (404, Permanent),
        (408, Transient),
        (409, Transient),
        (413, ContextLength),
        (422, Permanent),
        (429, Transient),
        (500, Transient),
        (502, Transient),
        (503, Transient),
        (529, Transient),
        (301, Permanent),
    ] {
        let error = refused(status, r#"{"error":{"message":"because"}}"#);
        assert_eq!((error.kind, error.status), (kind, Some(status)), "{status}");
        let answered = answered(status, kind);
        assert_eq!(error.message, format!("`acme` {answered}: because"));
    }
}

#[test]
fn a_call_that_the_vendor_cannot_read_is_the_models_fault() {
    for (status, body) in [
        (
            400,
            r#"{"error":{"message":"Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=read>{\"path\": \"prompt is too long\"}</function>"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"Parsing failed. The model generated output that could not be parsed.","type":"invalid_request_error","code":"output_parse_failed"}}"#,
        ),
        (
            500,
            r#"{"error":{"message":"error parsing tool call: raw='{\"path\":}', err=invalid character","type":"api_error"}}"#,
        ),
    ] {
        let error = refused(status, body);
        assert_eq!(error.kind, ErrorKind::InvalidCall, "{body}");
        assert!(error.hint.contains("another model"), "{}", error.hint);
    }
    let error = refused(
        400,
        r#"{"error":{"message":"no","code":"tool_use_failed","failed_generation":"<function=read>"}}"#,
    );
    let message = "`acme` answered 400: no (the model wrote: <function=read>)";
    assert_eq!(error.message, message);
}

#[test]
fn a_wrong_key_is_recognised_by_the_words_of_vendors_without_a_code() {
    for body in [
        r#"{"code":"invalid-argument","error":"Incorrect API key provided. You can obtain an API key from https://console.x.ai."}"#,
        r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]"#,
        r#"[{"error":{"code":400,"message":"Missing or invalid Authorization header.","status":"INVALID_ARGUMENT"}}]"#,
        r#"{"error":{"message":"No connected db.","type":"no_db_connection","param":null,"code":"400"}}"#,
    ] {
        let error = refused(400, body);
        assert_eq!(error.kind, ErrorKind::Credentials, "{body}");
        assert!(error.hint.contains("check the key"), "{}", error.hint);
    }
    let leaked = r#"[{"error":{"code":403,"message":"Your API key was reported as leaked. Please use another API key.","status":"PERMISSION_DENIED"}}]"#;
    assert_eq!(refused(403, leaked).kind, ErrorKind::Credentials);
    let prompt = r#"{"error":{"message":"Unknown parameter: 'key'","code":"unknown_parameter"}}"#;
    assert_eq!(refused(400, prompt).kind, ErrorKind::Permanent);
}

const XAI_SPENT: &str = r#"{"code":"The service is currently unavailable","error":"Your team has either used all available credits or reached its monthly spending limit."}"#;

#[test]
fn a_request_that_a_server_calls_wrong_with_another_status_is_not_sent_again() {
    for (status, body) in [
        (
            500,
            r#"{"error":{"code":500,"message":"Value is not callable: null at row 9, Jinja Exception","type":"server_error"}}"#,
        ),
        (
            500,
            r#"{"error":{"message":"litellm.BadRequestError: bad tool"}}"#,
        ),
        (
            502,
            r#"{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"{\"type\":\"invalid_request_error\"}"}}}"#,
        ),
    ] {
        assert_eq!(refused(status, body).kind, ErrorKind::Permanent, "{body}");
    }
}

/// Groq's error as OpenRouter passes it on.
#[test]
fn an_error_within_another_says_what_is_wrong() {
    let wrapped = |raw: &str| {
        let raw = serde_json::Value::from(raw);
        format!(
            r#"{{"error":{{"message":"Provider returned error","code":400,"metadata":{{"raw":{raw},"provider_name":"Groq"}}}}}}"#
        )
    };
    let groq = r#"{"error":{"message":"Failed to call a function.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=x>"}}"#;
    assert_eq!(refused(400, &wrapped(groq)).kind, ErrorKind::InvalidCall);
    assert_eq!(
        site().refused_in("big", &wrapped(groq)).kind,
        ErrorKind::InvalidCall
    );
    let long = r#"{"error":{"message":"Too big","code":"context_length_exceeded"}}"#;
    assert_eq!(refused(400, &wrapped(long)).kind, ErrorKind::ContextLength);
    assert_eq!(refused(400, &wrapped("x")).kind, ErrorKind::Permanent);
}

#[test]
fn a_busy_model_is_told_from_a_busy_key() {
    let of_model = |status, body: &str| refused(status, body).of_model;
    let limited = r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#;
    assert!(!of_model(429, limited));
    assert!(of_model(
        529,
        r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#
    ));
    let moonshot = r#"{"error":{"message":"The engine is currently overloaded","type":"engine_overloaded_error"}}"#;
    assert!(of_model(429, moonshot));
    let openai = r#"{"error":{"message":"Rate limit reached for gpt-6.2-sol in organization org-1 on tokens per min","type":"tokens","code":"rate_limit_exceeded"}}"#;
    let error = site().refused("gpt-6.2-sol", 429, None, &VendorError::from_text(openai));
    assert!(error.of_model);
    let error = site().refused("gpt-5.6-luna", 429, None, &VendorError::from_text(openai));
    assert!(!error.of_model);
    // Nothing but a busy vendor closes a gate so.
    assert!(!of_model(500, moonshot) && !of_model(400, openai));
}

/// From a recording of llama.cpp's server with 3,072 tokens.
#[test]
fn the_window_that_a_refusal_names_is_kept() {
    let body = r#"{"error":{"code":400,"message":"request (3086 tokens) exceeds the available context size (3072 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":3086,"n_ctx":3072}}"#;
    let error = refused(400, body);
    assert_eq!(
        (error.kind, error.window),
        (ErrorKind::ContextLength, Some(3072))
    );
    assert_eq!(
        refused(400, r#"{"error":{"message":"no","n_ctx":9}}"#).window,
        None
    );
}

#[test]
fn an_empty_account_is_named_wherever_it_is_told() {
    let quota = r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    for error in [
        site().refused_in("big", quota),
        refused(429, quota),
        refused(
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#,
        ),
        refused(403, r#"{"error":{"message":"Insufficient Balance"}}"#),
        refused(429, XAI_SPENT),
        refused(403, XAI_SPENT),
        refused(
            429,
            r#"{"type":"error","error":{"type":"insufficient_balance_error","message":"insufficient balance (1008)","http_code":"429"},"request_id":"x"}"#,
        ),
        refused(
            403,
            r#"{"code":30001,"message":"Sorry, your account balance is insufficient","data":null}"#,
        ),
        refused(
            403,
            r#"{"code":403,"reason":"NOT_ENOUGH_BALANCE","message":"not enough balance","metadata":{}}"#,
        ),
        refused(
            403,
            r#"{"code":"The caller does not have permission to execute the specified operation","error":"Your newly created team doesn't have any credits yet. You can purchase credits on https://console.x.ai/team/x."}"#,
        ),
        refused(
            429,
            r#"{"error":{"message":"Your credits are used up.","type":"insufficient_quota_error","code":"credit_balance_exhausted"}}"#,
        ),
        refused(
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"Spend limit.","details":{"error_code":"enforced_spend_limit_reached"}}}"#,
        ),
        refused(
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."}}"#,
        ),
        refused(
            429,
            r#"{"error":{"code":429,"message":"Your prepayment credits are depleted. Please go to AI Studio.","status":"RESOURCE_EXHAUSTED"}}"#,
        ),
        refused(
            403,
            r#"{"error":{"message":"Key limit exceeded (daily limit). Manage it using https://openrouter.ai/settings/keys","code":403}}"#,
        ),
        refused(
            400,
            r#"{"error":{"message":"Budget has been exceeded! Current cost: 1.2, Max budget: 1.0","type":"budget_exceeded","param":null,"code":"400"}}"#,
        ),
        refused(
            403,
            r#"{"error":{"code":"AccountOverdueError","message":"The request failed because your account has an overdue balance."}}"#,
        ),
        refused(
            403,
            r#"{"error":{"code":"AllocationQuota.FreeTierOnly","message":"The free tier of the model has been exhausted."}}"#,
        ),
    ] {
        assert_eq!(error.kind, ErrorKind::OutOfCredit, "{}", error.message);
        assert!(error.hint.contains("add credit"), "{}", error.hint);
    }
    // Gemini says so of a rate, which passes.
    let rate = r#"{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}}"#;
    assert_eq!(refused(429, rate).kind, ErrorKind::Transient);
    // Alibaba, of tokens a minute.
    for rate in [
        r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://help.aliyun.com/zh/model-studio/error-code#token-limit","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
        r#"{"error":{"code":"insufficient_quota","message":"Allocated quota exceeded, please increase your quota limit. For details, see: https://help.aliyun.com/zh/model-studio/error-code#token-limit","type":"insufficient_quota"}}"#,
    ] {
        assert_eq!(refused(429, rate).kind, ErrorKind::Transient, "{rate}");
        assert_eq!(refused(200, rate).kind, ErrorKind::Transient, "{rate}");
    }
}

#[test]
fn a_server_that_demands_alternation_names_the_setting() {
    for (status, body) in [
        (
            500,
            r#"{"error":{"code":500,"message":"Conversation roles must alternate user/assistant/user/assistant/...","type":"server_error"}}"#,
        ),
        (
            400,
            r#"{"object":"error","message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order","param":null,"code":"3230"}"#,
        ),
        (
            400,
            r#"{"object":"error","message":"After the optional system message, conversation roles must alternate user/assistant","type":"BadRequestError","code":400}"#,
        ),
    ] {
        let error = refused(status, body);
        assert_eq!(error.kind, ErrorKind::Permanent, "{body}");
        assert!(error.hint.contains("strict_roles = true"), "{}", error.hint);
    }
}

/// As users of several clients quote it for `gpt-5.4` to `gpt-5.6`, with and without the last words.
#[test]
fn a_vendor_that_takes_tools_over_its_other_api_names_the_kind() {
    for end in [
        "Please use /v1/responses instead.",
        "To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    ] {
        let body = format!(
            r#"{{"error":{{"message":"Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions. {end}","type":"invalid_request_error","param":"reasoning_effort","code":null}}}}"#
        );
        let error = refused(400, &body);
        assert_eq!(error.kind, ErrorKind::Permanent, "{body}");
        let hint = "`kind = \"openai-responses\"`";
        assert!(error.hint.contains(hint), "{}", error.hint);
    }
}

#[test]
fn refusals_name_what_the_user_can_fix() {
    for (status, words) in [
        (400, ["`big`", "`ACME_KEY`"]),
        (401, ["check the key", "`ACME_KEY`"]),
        (402, ["add credit", "`ACME_KEY`"]),
        (403, ["permissions", "`ACME_KEY`"]),
        (404, ["`base_url`", "big, small"]),
        (422, ["`extra`", "`ACME_KEY`"]),
    ] {
        let hint = refused(status, "").hint;
        assert!(
            words.iter().all(|word| hint.contains(word)),
            "{status}: {hint}"
        );
    }
    let missing = site().no_key("ACME_KEY");
    assert_eq!(missing.kind, ErrorKind::Credentials);
    assert_eq!(missing.message, "`acme` has no key: `ACME_KEY` is not set");
}

#[test]
fn too_long_a_request_is_recognised_by_code_and_by_words() {
    for body in [
        r#"{"error":{"code":"context_length_exceeded","message":"too much"}}"#,
        r#"{"error":{"code":400,"type":"exceed_context_size_error","message":"request (9 tokens) exceeds"}}"#,
        r#"{"error":{"message":"This model's maximum context length is 65536 tokens. However, you requested"}}"#,
        r#"{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192"}}"#,
        r#"{"error":{"code":"1261","message":"Prompt exceeds max length"}}"#,
        r#"{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]"}}"#,
        r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","code":400}"#,
        r#"{"error":"This model's maximum prompt length is 131072 but the request contains 200000 tokens."}"#,
        r#"{"error":{"message":"prompt too long; exceeded max context length by 1119046 tokens"}}"#,
        r#"{"error":{"message":"The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length"}}"#,
        r#"{"error":{"message":"The input (516368 tokens) is longer than the model's context length (262144 tokens)."}}"#,
        r#"{"error":{"message":"invalid params, context window exceeds limit (2013)"}}"#,
        r#"{"error":{"message":"prompt token count of 150000 exceeds the limit of 128000"}}"#,
        r#"{"error":{"message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096."}}"#,
        r#"{"error":{"message":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193."}}"#,
        // LM Studio.
        r#"{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens."}"#,
        r#"{"error":"Reached context length of 4096 tokens with this model."}"#,
        // llama.cpp and its Python server.
        r#"{"error":{"message":"Context size has been exceeded.","type":"server_error"}}"#,
        r#"{"error":{"message":"request (9000 tokens) exceeds context size (4096 tokens)"}}"#,
        r#"{"error":{"message":"Requested tokens (9000) exceed context window of 4096"}}"#,
        // vLLM.
        r#"{"error":{"message":"You passed 9000 input tokens and requested 100 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 3996 tokens."}}"#,
        // Lists of pi, LiteLLM, Cline and crewAI.
        r#"{"error":{"message":"Prompt has 9000 tokens, but the configured context size is 4096"}}"#,
        r#"{"error":{"message":"current length is 9000 while limit is 4096"}}"#,
        r#"{"error":{"message":"the input tokens exceed what the model takes"}}"#,
        r#"{"error":{"message":"context window full"}}"#,
        r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        // Volcengine, alone and behind OpenRouter.
        r#"{"error":{"code":"InvalidParameter","message":"Total tokens of image and text exceed max message tokens. Request id: 021750000000000","param":"messages","type":"BadRequest"}}"#,
        r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"Total tokens of image and text exceed max message tokens.\",\"code\":\"InvalidParameter\"}}"}}}"#,
        // SiliconFlow, Baidu, SGLang, Alibaba.
        r#"{"code":20015,"message":"length of prompt_tokens (98316) must be less than max_seq_len (98304).","data":null}"#,
        r#"{"error":{"code":"tokens_too_long","message":"Prompt tokens too long","type":"invalid_request_error"},"id":"as-x"}"#,
        r#"{"object":"error","message":"Input length (140001 tokens) exceeds the maximum allowed length (131066 tokens). Use a shorter input or enable --allow-auto-truncate.","type":"BadRequestError","param":null,"code":400}"#,
        r#"{"error":{"message":"Input length exceeds the maximum length limit","type":"invalid_request_error","param":null,"code":"invalid_parameter_error"}}"#,
        // Text Generation Inference, watsonx, Bedrock, Google, GLM, Snowflake, TensorRT-LLM.
        r#"{"error":"Input validation error: `inputs` must have less than 4095 tokens. Given: 5000","error_type":"validation"}"#,
        r#"{"errors":[{"code":"invalid_input_argument","message":"Invalid input argument for Model 'ibm/granite-3': the number of input tokens 44000 cannot exceed the total tokens limit 8192 for this model"}],"status_code":400}"#,
        r#"{"message":"Malformed input request: expected maxLength: 1000000, actual: 1200345, please reformat your input and try again."}"#,
        r#"[{"error":{"code":400,"message":"Request payload size exceeds the limit: 20971520 bytes.","status":"INVALID_ARGUMENT"}}]"#,
        r#"{"error":{"code":"1210","message":"API 调用参数有误，请检查文档。输入长度超过模型最大上下文长度"}}"#,
        r#"{"message":"max tokens of 131072 exceeded. Request used 150000 tokens","error_code":"100351","request_id":"x"}"#,
        r#"{"object":"error","message":"Prompt length (9000) + max_tokens (1) exceeds max_seq_len (8192)","type":"BadRequestError","param":null,"code":400}"#,
        r#"{"error":{"message":"Invalid 'messages[3].content': string too long. Expected a string with maximum length 10485760, but got a string with length 12485760 instead.","type":"invalid_request_error","param":"messages[3].content","code":"string_above_max_length"}}"#,
    ] {
        assert_eq!(refused(400, body).kind, ErrorKind::ContextLength, "{body}");
        assert_eq!(refused(200, body).kind, ErrorKind::ContextLength, "{body}");
    }
    // OpenAI, where no wait helps.
    let larger = r#"{"error":{"message":"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 61288. The input or output tokens must be reduced in order to run successfully.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#;
    for status in [200, 429] {
        assert_eq!(refused(status, larger).kind, ErrorKind::ContextLength);
    }
    let limited = r#"{"error":{"message":"rate limit: reduce the length of the messages"}}"#;
    assert_eq!(
        refused(429, limited).kind,
        ErrorKind::Transient,
        "a rate limit is one whatever it says"
    );
}

#[test]
fn what_is_too_long_or_too_much_elsewhere_is_not_the_conversation() {
    for body in [
        // Names and ids.
        r#"{"error":{"message":"Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 51 instead.","type":"invalid_request_error","param":"messages[2].tool_calls[0].id","code":"string_above_max_length"}}"#,
        r#"{"error":{"message":"Invalid 'tools[5].function.name': string too long. Expected a string with maximum length 64, but got a string with length 71 instead.","type":"invalid_request_error","param":"tools[5].function.name","code":"string_above_max_length"}}"#,
        r#"{"error":{"message":"Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64, but got a string with length 80 instead.","type":"invalid_request_error","param":"prompt_cache_key","code":"string_above_max_length"}}"#,
        r#"{"message":"Malformed input request: #/tools/0/name: expected maxLength: 64, actual: 71, please reformat your input and try again."}"#,
        r#"{"error":{"message":"The tool name exceeds the maximum allowed length of 64 characters"}}"#,
        // The output.
        r#"{"error":{"message":"max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.","type":"invalid_request_error","param":"max_tokens","code":"invalid_value"}}"#,
    ] {
        assert_eq!(refused(400, body).kind, ErrorKind::Permanent, "{body}");
    }
    // Rates, in an answer too, where no status tells them apart.
    for body in [
        r#"{"error":{"code":"rate_limit_exceeded","message":"Rate limit reached for gpt-5.1 in organization org-AAA on tokens per min (TPM): Limit 30000, Used 22999, Requested 12528. Please try again in 11.054s."}}"#,
        r#"{"error":{"message":"Rate limit reached for model `x` on tokens per day (TPD): Limit 100000, Used 99500, Requested 2000. Please try again in 7m12.5s.","type":"tokens","code":"rate_limit_exceeded"}}"#,
        r#"{"message":"Too many tokens, please wait before trying again."}"#,
        r#"{"error":{"message":"Requests to the ChatCompletions_Create Operation have exceeded token rate limit. Please retry after 2 seconds."}}"#,
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed the rate limit for your organization of 30,000 input tokens per minute."}}"#,
    ] {
        for status in [200, 429] {
            assert_eq!(refused(status, body).kind, ErrorKind::Transient, "{body}");
        }
    }
}

#[test]
fn an_empty_account_is_not_retried() {
    let body = r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    let error = refused(429, body);
    assert_eq!(error.kind, ErrorKind::OutOfCredit);
    assert!(error.hint.contains("add credit"), "{}", error.hint);
}

#[test]
fn errors_inside_an_answer_are_judged_by_code_and_type() {
    for (body, kind, status) in [
        (
            r#"{"error":{"code":502,"message":"upstream"}}"#,
            ErrorKind::Transient,
            Some(502),
        ),
        (
            r#"{"error":{"code":"429","message":"slow down"}}"#,
            ErrorKind::Transient,
            Some(429),
        ),
        (
            r#"{"error":{"code":404,"message":"no such"}}"#,
            ErrorKind::Permanent,
            Some(404),
        ),
        (
            r#"{"error":{"type":"server_error","message":"oops"}}"#,
            ErrorKind::Transient,
            None,
        ),
        (
            r#"{"error":{"type":"invalid_request_error","message":"no"}}"#,
            ErrorKind::Permanent,
            None,
        ),
        (
            r#"{"error":{"code":"invalid_api_key","message":"no"}}"#,
            ErrorKind::Credentials,
            None,
        ),
        (
            r#"{"code":"invalid_image_url","message":"Failed to download image from https://x."}"#,
            ErrorKind::Permanent,
            None,
        ),
        (
            r#"{"code":"image_content_policy_violation","message":"Your request was rejected by the safety system."}"#,
            ErrorKind::Permanent,
            None,
        ),
        (
            r#"{"code":"cyber_policy","message":"This request has been flagged for possible cybersecurity risk."}"#,
            ErrorKind::Permanent,
            None,
        ),
        (
            r#"{"code":"usage_not_included","message":"To use Codex with your ChatGPT plan, upgrade to Plus"}"#,
            ErrorKind::Permanent,
            None,
        ),
        (
            r#"{"code":"server_error","message":"The server had an error."}"#,
            ErrorKind::Transient,
            None,
        ),
        (r#"{"error":"oops"}"#, ErrorKind::Transient, None),
    ] {
        let error = refused(200, body);
        assert_eq!((error.kind, error.status), (kind, status), "{body}");
    }
}

#[test]
fn the_error_message_is_found_in_every_shape() {
    for (body, words) in [
        (r#"{"error":{"message":"a"}}"#, "a"),
        (r#"[{"error":{"message":"b","code":400}}]"#, "b"),
        (r#"{"error":"c"}"#, "c"),
        (r#"{"detail":"d"}"#, "d"),
        (
            r#"{"detail":[{"loc":["body"],"msg":"e"}]}"#,
            r#"[{"loc":["body"],"msg":"e"}]"#,
        ),
        (r#"{"msg":"f"}"#, "f"),
        (
            r#"{"error":"invalid_token","error_description":"The access token expired"}"#,
            "invalid_token: The access token expired",
        ),
        (
            r#"{"type":"x","title":"Validation errors occurred.","status":400,"errors":{"messages":["The messages field is required."]}}"#,
            r#"Validation errors occurred. {"messages":["The messages field is required."]}"#,
        ),
        (
            r#"{"title":"Unauthorized","detail":"expired","status":401}"#,
            "expired",
        ),
        (r#"{"code":400,"reason":"INVALID_MODEL"}"#, "INVALID_MODEL"),
        (
            r#"{"error":[{"code":2009,"message":"Model not allowed"}],"success":false}"#,
            "Model not allowed",
        ),
        (
            r#"{"error":{"message":"Provider returned error","metadata":{"raw":"g"}}}"#,
            "Provider returned error: g",
        ),
        ("no JSON\n at all", "no JSON at all"),
        ("<html><h1>Bad gateway</h1></html>", "a web page"),
        ("", "no reason given"),
        ("{}", "{}"),
    ] {
        assert_eq!(
            refused(500, body).message,
            format!("`acme` answered 500: {words}")
        );
    }
}

#[test]
fn keys_are_redacted_and_other_words_stay() {
    let body = format!("bad key {KEY} for tenant-98765,\u{1b}[31m 1 try\r\nleft");
    let error = refused(401, &body);
    assert_eq!(
        error.message,
        "`acme` answered 401: bad key *** for ***, [31m 1 try left"
    );
    let error = site().transient(&format!("at https://a/?key={KEY}"));
    assert_eq!(error.message, "`acme` at https://a/?key=***");
}

#[test]
fn text_that_looks_like_a_key_is_redacted_too() {
    for (body, shown) in [
        (
            "Incorrect API key provided: sk-proj-ABCDEFGHIJKL****wxyz.",
            "Incorrect API key provided: ***",
        ),
        (
            r#"sent {"authorization":"Bearer abcdef0123456789"}"#,
            r#"sent {"authorization":"***"}"#,
        ),
        ("use AKIAIOSFODNN7EXAMPLE é", "use *** é"),
        (
            "a task-list, an sk-8 and Bearer of news",
            "a task-list, an sk-8 and Bearer of news",
        ),
    ] {
        let error = refused(400, body);
        assert_eq!(error.message, format!("`acme` answered 400: {shown}"));
    }
}

#[test]
fn a_long_error_text_is_truncated() {
    let error = refused(500, &"é".repeat(5000));
    assert!(error.message.chars().count() < WORDS_MAX + 50);
    assert!(error.message.ends_with('…'));
}

#[test]
fn capacity_error_is_retried_whatever_its_status() {
    let flex = r#"{"error":{"message":"Flex tier capacity exceeded for model `x`. Please retry later.","type":"capacity_exceeded","code":"capacity_exceeded"}}"#;
    assert_eq!(refused(498, flex).kind, ErrorKind::Transient);
    assert_eq!(refused(498, "Invalid token").kind, ErrorKind::Permanent);
}

#[test]
fn request_that_the_server_calls_invalid_is_not_retried_whatever_its_status() {
    let body = r#"{"error":{"type":"invalid_request_error","message":"content must be text"}}"#;
    assert_eq!(refused(500, body).kind, ErrorKind::Permanent);
    let vague = r#"{"error":{"type":"server_error","message":"sorry"}}"#;
    assert_eq!(refused(500, vague).kind, ErrorKind::Transient);
}

#[test]
fn a_rate_limit_says_so_and_how_long_it_lasts() {
    let slow = VendorError::from_text(r#"{"error":{"message":"slow down"}}"#);
    let refused = |after| site().refused("big", 429, after, &slow);
    let error = refused(None);
    assert_eq!(
        error.message,
        "`acme` rate-limited the request (429): slow down"
    );
    assert_eq!(
        error.hint,
        "the provider's rate limit was reached: wait, or run fewer sessions"
    );
    for (seconds, wait) in [(90, "90 s"), (250, "5 min"), (7_201, "3 h")] {
        assert_eq!(
            refused(Some(Duration::from_secs(seconds))).hint,
            format!("the provider's rate limit was reached: wait {wait}, or run fewer sessions")
        );
    }
}

/// A header goes before, and other errors do not speak of waits.
#[test]
fn the_wait_that_a_busy_vendor_names_in_its_error_is_taken() {
    let google = r#"[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 10\nPlease retry in 3.07s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.Help"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}]}}]"#;
    let openai = r#"{"error":{"code":"rate_limit_exceeded","message":"Rate limit reached for gpt-5.1 in organization org-AAA on tokens per min (TPM): Limit 30000, Used 22999, Requested 12528. Please try again in 11.054s. Visit https://platform.openai.com/account/rate-limits to learn more."}}"#;
    for (status, body, seconds) in [
        (429, google, Some(3.07)),
        (429, openai, Some(11.054)),
        (200, openai, Some(11.054)),
        (
            503,
            r#"{"error":{"message":"The model is busy, retry in 20s"}}"#,
            Some(20.0),
        ),
        (500, r#"{"error":{"message":"try again in 20s"}}"#, None),
        (400, r#"{"error":{"message":"try again in 20s"}}"#, None),
        (429, r#"{"error":{"message":"try again later"}}"#, None),
    ] {
        let wait = refused(status, body).retry_after;
        assert_eq!(wait.map(|wait| wait.as_secs_f64()), seconds, "{body}");
    }
    let header = Some(Duration::from_secs(9));
    let error = site().refused("big", 429, header, &VendorError::from_text(openai));
    assert_eq!(error.retry_after, header);
}
