//! The reasoning effort of a model: the one that the user, the config or the earlier model names, checked against those it knows.

use proto::{ErrorName, Failure};
use session::Effort;

use super::{ProviderEntry, facts};

/// The words of vendors for it (their documentation, 2026). A model of which nothing is known takes any of them as it
/// is, and its vendor has the last word; `efforts` of the entry names others.
const WORDS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// The effort of a model, `None`: as it does by itself.
///
/// # Errors
/// `invalid_params`: a person wants one that the model lacks; `invalid_config`: its entry does.
pub fn resolve(
    entry: &ProviderEntry,
    model: &str,
    effort: Effort<'_>,
) -> Result<Option<String>, Failure> {
    let levels = levels(entry, model);
    let has = |wanted: &str| levels.iter().any(|level| level == wanted);
    match effort {
        Effort::Exactly(None | Some("")) => Ok(None),
        Effort::Exactly(Some(wanted)) if has(wanted) => Ok(Some(wanted.to_owned())),
        Effort::Exactly(Some(wanted)) => Err(lacking(entry, model, wanted, &levels)),
        Effort::Before(before) if has(before) => Ok(Some(before.to_owned())),
        Effort::Before(_) | Effort::Configured => match &entry.effort {
            Some(said) if !has(said) => Err(wrong(entry, model, said, &levels)),
            said => Ok(said.clone()),
        },
    }
}

/// The levels of a model: those that the entry or the catalog lists, else the usual words.
fn levels(entry: &ProviderEntry, model: &str) -> Vec<String> {
    let known = facts::of(entry, model).efforts;
    match known.is_empty() {
        true => WORDS.map(str::to_owned).to_vec(),
        false => known,
    }
}

fn lacking(entry: &ProviderEntry, model: &str, wanted: &str, levels: &[String]) -> Failure {
    Failure::new(
        ErrorName::InvalidParams,
        format!(
            "`{}/{model}` does not know the effort `{wanted}`.",
            entry.name
        ),
        format!(
            "Use one of {}, or `\"\"` for the model's default effort.",
            levels.join(", ")
        ),
    )
    .with("efforts", levels.to_vec())
}

fn wrong(entry: &ProviderEntry, model: &str, said: &str, levels: &[String]) -> Failure {
    let name = &entry.name;
    Failure::new(
        ErrorName::InvalidConfig,
        format!(
            "The provider `{name}` cannot be used: `{model}` does not know the effort `{said}`."
        ),
        format!(
            "Fix `effort` of `{name}` in {}: one of {}; or list what its models know in `efforts`.",
            entry.origin,
            levels.join(", ")
        ),
    )
    .with("file", entry.origin.clone())
    .with("key", "providers.effort")
    .with("efforts", levels.to_vec())
}

#[cfg(test)]
mod tests {
    //! Which effort a model gets.

    use super::*;

    fn entry(base_url: &str) -> ProviderEntry {
        ProviderEntry {
            name: "acme".into(),
            kind: "openai".into(),
            base_url: base_url.into(),
            origin: "/home/me/config.toml".into(),
            ..ProviderEntry::default()
        }
    }

    #[test]
    fn a_level_that_the_model_lacks_is_refused_with_those_that_it_has() {
        let deepseek = entry("https://api.deepseek.com");
        let model = "deepseek-v4-pro";
        let levels = levels(&deepseek, model);
        let refused = resolve(&deepseek, model, Effort::Exactly(Some("hihg"))).unwrap_err();
        assert_eq!(refused.name, ErrorName::InvalidParams);
        assert!(
            refused.hint.contains(&levels.join(", ")),
            "{}",
            refused.hint
        );
        for level in &levels {
            let taken = resolve(&deepseek, model, Effort::Exactly(Some(level)));
            assert_eq!(taken.unwrap().as_ref(), Some(level));
        }
    }

    #[test]
    fn of_an_unknown_model_the_usual_words_are_taken_and_typing_errors_are_not() {
        let acme = entry("https://llm.acme.test");
        for word in WORDS {
            let taken = resolve(&acme, "m", Effort::Exactly(Some(word)));
            assert_eq!(taken.unwrap().as_deref(), Some(word));
        }
        assert!(resolve(&acme, "m", Effort::Exactly(Some("hihg"))).is_err());
    }

    #[test]
    fn unset_effort_is_the_entrys_and_an_empty_one_is_the_models_default() {
        let high = ProviderEntry {
            effort: Some("high".into()),
            ..entry("https://llm.acme.test")
        };
        let of = |effort| resolve(&high, "m", effort).unwrap();
        assert_eq!(of(Effort::Configured).as_deref(), Some("high"));
        assert_eq!(of(Effort::Exactly(Some(""))), None);
        assert_eq!(of(Effort::Exactly(None)), None);
        assert_eq!(of(Effort::Before("low")).as_deref(), Some("low"));
        assert_eq!(of(Effort::Before("ultra")).as_deref(), Some("high"));
    }

    #[test]
    fn a_wrong_effort_of_an_entry_is_fixed_in_its_file() {
        let wrong = ProviderEntry {
            effort: Some("hihg".into()),
            ..entry("https://llm.acme.test")
        };
        let refused = resolve(&wrong, "m", Effort::Configured).unwrap_err();
        assert_eq!(refused.name, ErrorName::InvalidConfig);
        assert!(
            refused.hint.contains("/home/me/config.toml"),
            "{}",
            refused.hint
        );
    }
}
