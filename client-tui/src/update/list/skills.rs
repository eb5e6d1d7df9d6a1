//! Choosing a skill, and reading why a file is left out.

use client::prompt::Prompt;

use crate::effect::Effect;
use crate::model::list::{Content, found};
use crate::model::{Model, Tone};

use super::dialog;

/// Begins the prompt with `/name`: what is written there already are its arguments.
pub fn take(model: &mut Model, file: &str) -> Vec<Effect> {
    let language = model.look.language;
    let Some(Content::Skills(list)) = dialog(model).map(|dialog| &dialog.content) else {
        return Vec::new();
    };
    let Some(skill) = list.skills.iter().find(|skill| skill.file == file) else {
        return Vec::new();
    };
    if let Some(obstacle) = found::obstacle(skill, language) {
        model.toast(Tone::Warning, obstacle);
        return Vec::new();
    }
    let mut prompt = Prompt::typed(format!("/{} ", skill.name));
    prompt.push(&model.composer.prompt());
    model.dialog = None;
    model.composer.restore(&prompt, language);
    Vec::new()
}

/// Shows why a file is left out.
pub fn explain(model: &mut Model, index: usize) -> Vec<Effect> {
    let language = model.look.language;
    let problem = match dialog(model).map(|dialog| &dialog.content) {
        Some(Content::Skills(list)) => list.problems.get(index),
        _ => None,
    };
    if let Some(problem) = problem.map(|problem| language.translate(problem).into_owned()) {
        model.toast(Tone::Warning, problem);
    }
    Vec::new()
}
