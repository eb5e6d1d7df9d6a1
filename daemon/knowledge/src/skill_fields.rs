//! The front matter of a skill: our keys, and those of other products for the same. Pure.

use proto::params::skill::RunAs;
use serde::Deserialize;

use crate::front_matter::Described;

/// Letters of a description, or of another text that is shown.
const TEXT_MAX: usize = 1024;
/// Tools that one skill may name, and letters of one entry.
const TOOLS_MAX: usize = 64;
const TOOL_MAX: usize = 200;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Fields {
    pub name: Option<String>,
    pub description: Option<String>,
    #[serde(alias = "allowed_tools")]
    allowed_tools: Option<ToolNames>,
    #[serde(alias = "runAs", alias = "run_as")]
    run_as: Option<RunAs>,
    /// How another product says it: `fork` is a sub-agent.
    context: Option<String>,
    /// The agent that works by it: in the other product, `Explore` for instance.
    pub agent: Option<String>,
    pub model: Option<String>,
    #[serde(default, alias = "disable_model_invocation")]
    pub disable_model_invocation: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum ToolNames {
    /// Separated by commas or blanks.
    Text(String),
    List(Vec<String>),
}

impl Described for Fields {
    fn describe(&mut self, description: String) {
        self.description = Some(description);
    }
}

impl Fields {
    pub fn run_as(&self) -> RunAs {
        let forks = self.context.as_deref() == Some("fork");
        let by_context = if forks {
            RunAs::Subagent
        } else {
            RunAs::Inline
        };
        self.run_as.unwrap_or(by_context)
    }

    /// The tools that it names, each with the text in its parentheses. `None`: it names no tools and limits nothing.
    pub fn allowed_tools(&self) -> Option<Vec<String>> {
        let names = match self.allowed_tools.as_ref()? {
            ToolNames::Text(text) => split_names(text),
            ToolNames::List(list) => list.iter().flat_map(|text| split_names(text)).collect(),
        };
        let names = names.into_iter().take(TOOLS_MAX);
        Some(names.map(|name| cut(&cleaned(&name), TOOL_MAX)).collect())
    }
}

/// Separates at commas and blanks that are not in parentheses.
fn split_names(text: &str) -> Vec<String> {
    let (mut names, mut name, mut depth) = (Vec::new(), String::new(), 0_usize);
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (letter == ',' || letter.is_whitespace()) {
            names.push(std::mem::take(&mut name));
        } else {
            name.push(letter);
        }
    }
    names.push(name);
    names.retain(|name| !name.is_empty());
    names
}

/// One line of text that a terminal and a reader see as it is, of limited length.
pub(crate) fn printable(text: &str) -> String {
    cut(&cleaned(text), TEXT_MAX)
}

fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Without control characters and without those that cannot be seen, and each run of blanks as one.
fn cleaned(text: &str) -> String {
    let seen: String = text
        .chars()
        .filter(|letter| !is_invisible(*letter))
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    seen.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Characters that change what is read without being seen: directions, joiners, tags.
fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::front_matter::split;

    fn fields(yaml: &str) -> Fields {
        let text = format!("---\n{yaml}\n---\nBody");
        split(&text).expect("document").fields().expect("fields")
    }

    #[test]
    fn tools_are_read_in_every_form() {
        for (yaml, expected) in [
            ("name: a", None),
            ("allowed-tools:", None),
            ("allowed-tools: \"\"", Some(vec![])),
            ("allowed-tools: []", Some(vec![])),
            (
                "allowed-tools: Read, Bash(git add:*), Grep",
                Some(vec!["Read", "Bash(git add:*)", "Grep"]),
            ),
            (
                "allowed-tools: Bash(git:*) Bash(jq:*) Read",
                Some(vec!["Bash(git:*)", "Bash(jq:*)", "Read"]),
            ),
            (
                "allowed-tools:\n  - Read\n  - Bash(npm run test:*)",
                Some(vec!["Read", "Bash(npm run test:*)"]),
            ),
            ("allowed-tools: [Read, Write]", Some(vec!["Read", "Write"])),
        ] {
            let expected: Option<Vec<String>> =
                expected.map(|names| names.into_iter().map(str::to_owned).collect());
            assert_eq!(fields(yaml).allowed_tools(), expected, "{yaml}");
        }
    }

    #[test]
    fn keys_of_other_products_mean_the_same() {
        for (yaml, expected) in [
            ("name: a", RunAs::Inline),
            ("run-as: inline\ncontext: fork", RunAs::Inline),
            ("run-as: subagent", RunAs::Subagent),
            ("runAs: subagent", RunAs::Subagent),
            ("context: fork\nagent: Explore", RunAs::Subagent),
        ] {
            assert_eq!(fields(yaml).run_as(), expected, "{yaml}");
        }
        assert!(fields("disable-model-invocation: true").disable_model_invocation);
        assert!(!fields("user-invocable: false").disable_model_invocation);
    }

    #[test]
    fn description_has_nothing_that_hides_or_commands() {
        assert_eq!(
            printable("Fill\u{1b}[31m forms\n\tnow\u{202e}!\u{e0041}"),
            "Fill [31m forms now!"
        );
        assert_eq!(printable(&"x".repeat(2000)).chars().count(), TEXT_MAX + 1);
    }

    proptest! {
        #[test]
        fn texts_are_bounded_single_lines(text in "\\PC{0,40}[\u{0}-\u{1f}\u{7f}-\u{9f}\u{2028}]{0,4}.{0,2000}") {
            let shown = printable(&text);
            prop_assert!(shown.chars().count() <= TEXT_MAX + 1);
            prop_assert!(!shown.chars().any(char::is_control));
            for name in split_names(&text) {
                prop_assert!(!name.is_empty());
            }
        }
    }
}
