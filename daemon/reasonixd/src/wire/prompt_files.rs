//! The system prompt and the examples of new sessions, which settings may keep in files.

use crate::settings::{self, Settings};

/// Bytes of the file that holds a system prompt.
const SYSTEM_PROMPT_BYTES_MAX: u64 = 64 * 1024;

/// Files of the system prompt and of the examples that cannot be used, each with what new sessions do without.
pub fn unusable_prompt_files(settings: &Settings) -> Vec<String> {
    let system_prompt = read_system_prompt(settings).err();
    let examples = read_examples(settings).err();
    system_prompt.into_iter().chain(examples).collect()
}

/// Examples for the model of new sessions. Adds why there are none, if they cannot be read.
pub(super) fn examples(settings: &Settings, notices: &mut Vec<String>) -> Option<String> {
    read_examples(settings).unwrap_or_else(|problem| {
        notices.push(problem);
        None
    })
}

/// The error says why there are none.
fn read_examples(settings: &Settings) -> Result<Option<String>, String> {
    let Some(file) = &settings.examples_file else {
        return Ok(None);
    };
    let reason = match settings::read::following_up_to(file, SYSTEM_PROMPT_BYTES_MAX) {
        Ok(text) if !text.trim().is_empty() => return Ok(Some(text)),
        Ok(_) => "it is empty".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(format!(
        "The model gets no examples: `agent.examples_file` names `{}`: {reason}.",
        file.display()
    ))
}

/// The sentence that asks for a language of the reasoning.
fn reasoning_language(settings: &Settings) -> Option<&'static str> {
    match settings.reasoning_language.as_deref()? {
        "en" => Some("Reason in English, whatever language the user writes in."),
        "zh" => Some("Reason in Chinese (简体中文), whatever language the user writes in."),
        _ => None,
    }
}

/// The system prompt of new sessions. Adds why it is the shipped one, if theirs cannot be read.
pub(super) fn system_prompt(settings: &Settings, notices: &mut Vec<String>) -> String {
    let system_prompt = read_system_prompt(settings).unwrap_or_else(|problem| {
        notices.push(problem);
        session::SYSTEM_PROMPT.to_owned()
    });
    match reasoning_language(settings) {
        Some(sentence) => format!("{}\n\n{sentence}", system_prompt.trim_end()),
        None => system_prompt,
    }
}

/// The error says why the shipped one is used.
fn read_system_prompt(settings: &Settings) -> Result<String, String> {
    let Some(file) = &settings.system_prompt_file else {
        let own = settings.system_prompt.as_deref();
        return Ok(own.unwrap_or(session::SYSTEM_PROMPT).to_owned());
    };
    let reason = match settings::read::following_up_to(file, SYSTEM_PROMPT_BYTES_MAX) {
        Ok(text) if !text.trim().is_empty() => return Ok(text),
        Ok(_) => "it is empty".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(format!(
        "The shipped system prompt is used: `agent.system_prompt_file` names `{}`: {reason}.",
        file.display()
    ))
}
