//! Lists of real servers.

use super::*;

/// Entries of real lists: llama.cpp's server, vLLM, LM Studio's `/api/v0/models`, OpenRouter, Groq, Mistral, Ollama's
/// `/api/ps`, OpenAI.
#[test]
fn windows_are_read_from_the_lists_of_servers_that_name_them() {
    for (entry, window) in [
        (
            r#"{"id":"smol","object":"model","meta":{"vocab_type":2,"n_ctx":2048,"n_ctx_train":131072}}"#,
            Some(2_048),
        ),
        (
            r#"{"id":"q","owned_by":"vllm","max_model_len":32768}"#,
            Some(32_768),
        ),
        (
            r#"{"id":"d","state":"loaded","max_context_length":131072,"loaded_context_length":4096}"#,
            Some(4_096),
        ),
        (
            r#"{"id":"d","state":"not-loaded","max_context_length":131072}"#,
            None,
        ),
        (r#"{"id":"a/b","context_length":262144}"#, Some(262_144)),
        (r#"{"id":"g","context_window":131072}"#, Some(131_072)),
        (r#"{"id":"m","max_context_length":131072}"#, Some(131_072)),
        (
            r#"{"name":"gemma4:latest","model":"gemma4:latest","context_length":4096}"#,
            Some(4_096),
        ),
        (
            r#"{"id":"gpt-6","object":"model","owned_by":"openai"}"#,
            None,
        ),
        (r#"{"id":"x","meta":null,"max_model_len":0}"#, None),
    ] {
        let listed = models(format!(r#"{{"data":[{entry}]}}"#).as_bytes());
        assert_eq!(listed[0].context_window, window, "{entry}");
    }
}
