//! What one vendor demands of a chat-completions request and others do not. Pure.
//!
//! A rule is found by the vendor's host, or by the name of its models where others serve them: their chat templates
//! demand the same.

use crate::options::ProviderOptions;

/// The rules for the requests of an entry. The default: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct VendorRules {
    /// Empty reasoning of an answer counts as missing, so a blank stands for it. Moonshot: tried by users of other clients
    /// with `kimi-k2.5` and `kimi-k2.6` (theopenco/llmgateway 2093).
    pub fills_reasoning: bool,
    /// Only the vendor's own temperature is accepted. Moonshot: "only 1 is allowed for this model".
    pub fixes_temperature: bool,
    /// Call ids have exactly nine letters and digits. Mistral: error 3280, "must be a-z, A-Z, 0-9, with a length of 9".
    pub short_call_ids: bool,
}

/// Domains of Moonshot's API, and how the names of its models begin.
const MOONSHOT: &[&str] = &["moonshot.ai", "moonshot.cn", "kimi.com", "kimi.ai"];
const MOONSHOT_MODELS: &[&str] = &["kimi", "moonshot"];
/// The same of Mistral.
const MISTRAL: &[&str] = &["mistral.ai"];
const MISTRAL_MODELS: &[&str] = &[
    "codestral",
    "devstral",
    "magistral",
    "ministral",
    "mistral",
    "mixtral",
    "open-mistral",
    "open-mixtral",
    "pixtral",
];

impl VendorRules {
    pub(super) fn of(options: &ProviderOptions) -> Self {
        let host = reqwest::Url::parse(options.base_url.trim()).ok();
        let host = host.as_ref().and_then(|url| url.host_str());
        let host = host.unwrap_or_default();
        let is_at = |domains: &[&str]| domains.iter().any(|domain| is_within(host, domain));
        let model = options.model.to_lowercase();
        let name = model.rsplit('/').next().unwrap_or_default();
        let serves = |names: &[&str]| names.iter().any(|begin| name.starts_with(begin));
        Self {
            fills_reasoning: is_at(MOONSHOT) || serves(MOONSHOT_MODELS),
            // Others who serve its models take what they like.
            fixes_temperature: is_at(MOONSHOT),
            short_call_ids: is_at(MISTRAL) || serves(MISTRAL_MODELS),
        }
    }
}

/// Whether this model's chat template opens `<think>` in the prompt, so that the answer begins within it: DeepSeek-R1, QwQ and
/// Qwen's thinking models, by vLLM's and `SGLang`'s documents. A server with a parser for it separates it before.
pub(super) fn thinks_from_the_start(model: &str) -> bool {
    let model = model.to_lowercase();
    let name = model.rsplit('/').next().unwrap_or_default();
    name.contains("deepseek-r1")
        || name.starts_with("r1")
        || name.starts_with("qwq")
        || (name.starts_with("qwen3") && name.contains("thinking"))
}

/// Whether the vendor leaves the reasoning of this model out of `completion_tokens` and does not name it, so that only the
/// total has it: Gemini over chat. It is billed as output.
pub(super) fn counts_reasoning_in_total(model: &str) -> bool {
    let model = model.to_lowercase();
    model
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .starts_with("gemini")
}

/// Whether a host is this domain, or below it.
fn is_within(host: &str, domain: &str) -> bool {
    let before = host.strip_suffix(domain);
    before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    #[test]
    fn models_that_think_from_the_start_are_known_by_name() {
        for model in [
            "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B",
            "QwQ-32B",
            "Qwen/Qwen3-30B-A3B-Thinking-2507",
        ] {
            assert!(thinks_from_the_start(model), "{model}");
        }
        for model in [
            "deepseek-v4-flash",
            "qwen3-coder-plus",
            "kimi-k2-thinking",
            "smol",
        ] {
            assert!(!thinks_from_the_start(model), "{model}");
        }
    }

    #[test]
    fn rules_are_found_by_the_vendors_host_and_by_its_models() {
        let of = |base: &str, model: &str| {
            VendorRules::of(&ProviderOptions {
                model: model.to_owned(),
                ..fake::options("openai", base)
            })
        };
        let none = VendorRules::default();
        assert_eq!(of("https://api.deepseek.com", "deepseek-v4-flash"), none);
        assert_eq!(of("https://notmoonshot.ai/v1", "big"), none);
        assert_eq!(of("https://moonshot.ai.test/v1", "big"), none);
        let moonshot = VendorRules {
            fills_reasoning: true,
            fixes_temperature: true,
            short_call_ids: false,
        };
        for base in ["https://api.moonshot.ai/v1", "https://API.moonshot.cn/v1"] {
            assert_eq!(of(base, "any"), moonshot, "{base}");
        }
        assert_eq!(
            of("https://gateway.test/v1", "moonshotai/Kimi-K2.5"),
            VendorRules {
                fixes_temperature: false,
                ..moonshot
            }
        );
        let mistral = VendorRules {
            short_call_ids: true,
            ..none
        };
        assert_eq!(of("https://api.mistral.ai/v1", "any"), mistral);
        assert_eq!(
            of("http://127.0.0.1:8000/v1", "mistralai/Devstral-Small-2507"),
            mistral
        );
    }
}
