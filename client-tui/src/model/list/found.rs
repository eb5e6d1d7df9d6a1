//! The rows of skills and of messages that a search found.

use client::transcript::words::author;
use proto::Stamp;
use proto::params::history::{Hit, SearchOutput};
use proto::params::skill::{self, SkillInfo, SkillSource};

use super::rows::{Cell, Row};
use super::{Key, words};
use crate::messages::Language;
use crate::messages::found::Msg;
use crate::theme::TextRole;

fn cell(text: impl Into<String>, ink: TextRole) -> Cell {
    Cell {
        text: text.into(),
        ink,
        marks: Vec::new(),
    }
}

/// Skills by name, then the files that are left out.
pub fn skills(list: &skill::ListOutput, language: Language) -> Vec<Row> {
    let skills = list.skills.iter().map(|skill| self::skill(skill, language));
    let problems = list.problems.iter().enumerate().map(|(index, problem)| {
        let problem = client::text::line(&language.translate(problem));
        Row {
            key: Key::Fault(index),
            mark: ("!", TextRole::Warning),
            cells: vec![
                cell("", TextRole::Dim),
                cell(problem, TextRole::Warning),
                cell(language.say(Msg::Fault), TextRole::Dim),
            ],
        }
    });
    skills.chain(problems).collect()
}

/// Name, description, source.
fn skill(skill: &SkillInfo, language: Language) -> Row {
    let source = match skill.source {
        SkillSource::Project => Msg::OfProject,
        SkillSource::User => Msg::OfUser,
        SkillSource::Configured => Msg::OfSetting,
    };
    let (mark, ink) = match (obstacle(skill, language), skill.offered) {
        (Some(_), _) => (("!", TextRole::Warning), TextRole::Dim),
        (None, true) => (("●", TextRole::Good), TextRole::Text),
        (None, false) => ((" ", TextRole::Text), TextRole::Text),
    };
    let about = obstacle(skill, language);
    let about = about.unwrap_or_else(|| client::text::line(&skill.description));
    Row {
        key: Key::Skill(skill.file.clone()),
        mark,
        cells: vec![
            cell(client::text::line(&skill.name), ink),
            cell(about, TextRole::Dim),
            cell(language.say(source), TextRole::Dim),
        ],
    }
}

/// Why `/name` does not use a skill. `None`: it does.
#[must_use]
pub fn obstacle(skill: &SkillInfo, language: Language) -> Option<String> {
    let name = client::text::line(&skill.name);
    if let Some(why) = &skill.refusal {
        return Some(client::text::line(&language.translate(why)));
    }
    if let Some(file) = &skill.hidden_by {
        let file = client::text::line(file);
        return Some(language.fill(Msg::HiddenBy, &[&file]));
    }
    let is_command = skill.is_command;
    is_command.then(|| language.fill(Msg::IsCommand, &[&name]))
}

/// Details of a skill, one per line.
#[must_use]
pub fn about_skill(skill: &SkillInfo, language: Language) -> Vec<String> {
    let line = |text: &str| client::text::line(text);
    let mut lines = vec![line(&skill.description), line(&skill.file)];
    lines.extend(obstacle(skill, language));
    if !skill.trusted {
        lines.push(language.say(Msg::NotTrusted).to_owned());
    }
    if let Some(tools) = &skill.allowed_tools {
        let tools = line(&tools.join(", "));
        lines.push(language.fill(Msg::OnlyTools, &[&tools]));
    }
    lines
}

/// Messages, best first: session, excerpt, author, age.
pub fn hits(found: &SearchOutput, now: Stamp, language: Language) -> Vec<Row> {
    let rows = found.hits.iter();
    let rows = rows.map(|hit| Row {
        key: Key::Hit(hit.session, hit.seq),
        mark: (" ", TextRole::Text),
        cells: vec![
            cell(hit.pid.to_string(), TextRole::Dim),
            excerpt(hit),
            cell(author(language, hit.role), TextRole::Dim),
            cell(words::aged(language, now, hit.at), TextRole::Dim),
        ],
    });
    rows.collect()
}

/// The excerpt of a hit with its marks. It is cleaned piece by piece: what is cleaned may have another length.
#[must_use]
pub fn excerpt(hit: &Hit) -> Cell {
    let letters: Vec<char> = hit.text.chars().collect();
    let number = |place: u64| {
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        place.min(letters.len())
    };
    let clean = |first: usize, end: usize| {
        let piece: String = letters.get(first..end).unwrap_or_default().iter().collect();
        client::text::line(&piece)
    };
    let (mut text, mut marks, mut done) = (String::new(), Vec::new(), 0);
    for (first, end) in &hit.marks {
        let (first, end) = (number(*first).max(done), number(*end));
        if first >= end {
            continue;
        }
        text.push_str(&clean(done, first));
        let start = text.len();
        text.push_str(&clean(first, end));
        marks.push((start, text.len()));
        done = end;
    }
    text.push_str(&clean(done, letters.len()));
    Cell {
        text,
        ink: TextRole::Text,
        marks,
    }
}

/// What the list of hits does not say.
#[must_use]
pub fn note(found: &SearchOutput, language: Language) -> Option<String> {
    let progress = found.indexing.map(|progress| {
        let (sessions, of) = (progress.sessions.to_string(), progress.of.to_string());
        match progress.of {
            0 => language.say(Msg::IndexingUnknown).to_owned(),
            _ => language.fill(Msg::Indexing, &[&sessions, &of]),
        }
    });
    let behind = found.behind.as_ref().map(|reason| {
        let reason = client::text::line(reason);
        language.fill(Msg::NewestMissing, &[&reason])
    });
    let more = found.too_many || !found.complete;
    let (listed, all) = (found.hits.len().to_string(), found.matches.to_string());
    let first = progress.or(behind);
    first.or_else(|| more.then(|| language.fill(Msg::MoreHits, &[&listed, &all])))
}
