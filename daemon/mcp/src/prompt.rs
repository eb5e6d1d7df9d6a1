//! Prompts of servers: the commands that they are, the arguments of a use, and the text that comes back. Pure.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::client::ResultPart;
use crate::name::tool_name;
use crate::text::{clean, cut};

/// Prompts of one server.
const PROMPTS_MAX: usize = 200;
/// Arguments of one prompt.
const ARGUMENTS_MAX: usize = 32;
/// Bytes of a name.
const NAME_MAX: usize = 200;
/// Letters of a description: one line of a menu.
const DESCRIPTION_MAX: usize = 100;

/// A prompt as its server lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct RawPrompt {
    pub name: String,
    pub description: String,
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptArgument {
    pub name: String,
    pub required: bool,
}

/// A prompt that users can run as a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedPrompt {
    /// The command, without its slash: `mcp__server__prompt`.
    pub name: String,
    /// The name that the server uses.
    pub prompt: String,
    /// One line.
    pub description: String,
    pub arguments: Vec<PromptArgument>,
}

/// The prompts of a server as commands, and which are left out.
#[must_use]
pub fn listed_prompts(server: &str, raw: &[RawPrompt]) -> (Vec<ListedPrompt>, Vec<String>) {
    let mut taken = BTreeSet::new();
    let (mut prompts, mut problems) = (Vec::new(), Vec::new());
    for prompt in raw {
        let left_out = |reason: &str| {
            let name = cut(&prompt.name, NAME_MAX).0;
            format!("the prompt {name:?} of the MCP server `{server}` is left out: {reason}")
        };
        if prompts.len() == PROMPTS_MAX {
            problems.push(left_out(&format!("a server may have {PROMPTS_MAX}")));
            break;
        }
        let names = prompt.arguments.iter().map(|argument| &argument.name);
        if names
            .chain([&prompt.name])
            .any(|name| name.len() > NAME_MAX)
            || prompt.arguments.len() > ARGUMENTS_MAX
        {
            problems.push(left_out("it has too long names or too many arguments"));
            continue;
        }
        let name = tool_name(server, &prompt.name);
        if !taken.insert(name.clone()) {
            problems.push(left_out(&format!("another one is `/{name}` already")));
            continue;
        }
        let description = clean(&prompt.description);
        let line = description.lines().next().unwrap_or_default().trim();
        prompts.push(ListedPrompt {
            name,
            prompt: prompt.name.clone(),
            description: line.chars().take(DESCRIPTION_MAX).collect(),
            arguments: prompt.arguments.clone(),
        });
    }
    (prompts, problems)
}

impl ListedPrompt {
    /// Its arguments as a user reads of them: `<path> [depth]`. `None`: it has none.
    #[must_use]
    pub fn argument_hint(&self) -> Option<String> {
        let hint = self.arguments.iter().map(|argument| {
            let name = clean(&argument.name).replace(char::is_whitespace, " ");
            match argument.required {
                true => format!("<{name}>"),
                false => format!("[{name}]"),
            }
        });
        let hint = hint.collect::<Vec<_>>().join(" ");
        (!hint.is_empty()).then_some(hint)
    }

    /// The arguments of a use, in their order: blanks separate them, unless they are in quotes; the last one is all of the rest.
    ///
    /// # Errors
    /// One is missing, or there are too many: a text for the user.
    pub fn arguments_of(&self, text: &str) -> Result<Map<String, Value>, String> {
        let mut given = Map::new();
        let mut rest = text.trim();
        for (at, argument) in self.arguments.iter().enumerate() {
            let is_last = at + 1 == self.arguments.len();
            let (value, behind) = match is_last {
                true => (unquoted(rest), ""),
                false => first_word(rest),
            };
            rest = behind.trim_start();
            if !value.is_empty() {
                given.insert(argument.name.clone(), value.into());
            } else if argument.required {
                let hint = self.argument_hint().unwrap_or_default();
                let name = clean(&argument.name);
                return Err(format!("it needs the argument `{name}` ({hint})"));
            }
        }
        match rest.is_empty() {
            true => Ok(given),
            false => Err("it takes no arguments".to_owned()),
        }
    }
}

/// The first word, or the text in quotes that this begins with; and what comes after it.
fn first_word(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some((word, behind)) = text
            .strip_prefix(quote)
            .and_then(|inside| inside.split_once(quote))
            && (behind.is_empty() || behind.starts_with(char::is_whitespace))
        {
            return (word, behind);
        }
    }
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

/// A text that is in quotes as a whole, without them.
fn unquoted(text: &str) -> &str {
    match first_word(text) {
        (word, "") => word,
        _ => text,
    }
}

/// Content of a server as the model reads it: what is no text becomes a note.
#[must_use]
pub fn text_of(part: &ResultPart) -> String {
    match part {
        ResultPart::Text(text) => clean(text),
        ResultPart::Image { media_type, base64 } => {
            let media_type = clean(cut(media_type, 100).0);
            format!(
                "[binary image, {media_type}, {} bytes]",
                base64.len() / 4 * 3
            )
        }
        ResultPart::Binary {
            kind,
            media_type,
            bytes,
        } => {
            let media_type = clean(cut(media_type, 100).0);
            format!("[binary {kind}, {media_type}, {bytes} bytes]")
        }
    }
}

/// The messages of a prompt as one text. One that has only messages of the user is just what they say.
#[must_use]
pub fn prompt_text(messages: &[(Speaker, ResultPart)]) -> String {
    let all_user = messages
        .iter()
        .all(|(speaker, _)| *speaker == Speaker::User);
    let texts = messages.iter().map(|(speaker, part)| {
        let text = text_of(part);
        match (all_user, speaker) {
            (true, _) => text,
            (false, Speaker::User) => format!("User: {text}"),
            (false, Speaker::Assistant) => format!("Assistant: {text}"),
        }
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Who says a message of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    User,
    Assistant,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn prompt(arguments: &[(&str, bool)]) -> ListedPrompt {
        let arguments = arguments.iter().map(|(name, required)| PromptArgument {
            name: (*name).to_owned(),
            required: *required,
        });
        let raw = RawPrompt {
            name: "write it".to_owned(),
            description: "Writes\u{1b}[31m.\nMore.".to_owned(),
            arguments: arguments.collect(),
        };
        let (mut prompts, problems) = listed_prompts("s", &[raw.clone(), raw]);
        assert_eq!((prompts.len(), problems.len()), (1, 1), "{problems:?}");
        prompts.remove(0)
    }

    #[test]
    fn words_are_arguments_and_the_last_one_is_the_rest() {
        let two = prompt(&[("city", true), ("more", false)]);
        assert_eq!(
            (&*two.name, &*two.description),
            ("mcp__s__write_it", "Writes.")
        );
        assert_eq!(two.argument_hint().as_deref(), Some("<city> [more]"));
        for (text, wanted) in [
            ("Rome", json!({"city": "Rome"})),
            (
                "Rome and  the rest",
                json!({"city": "Rome", "more": "and  the rest"}),
            ),
            (
                "\"New York\" 'a b'",
                json!({"city": "New York", "more": "a b"}),
            ),
            ("it's", json!({"city": "it's"})),
        ] {
            let given = two.arguments_of(text).unwrap();
            assert_eq!(Value::Object(given), wanted, "{text}");
        }
        assert!(
            two.arguments_of(" ")
                .unwrap_err()
                .contains("needs the argument `city`")
        );
        assert!(
            prompt(&[])
                .arguments_of("x")
                .unwrap_err()
                .contains("no arguments")
        );
        assert_eq!(prompt(&[]).arguments_of("").unwrap(), Map::new());
    }

    #[test]
    fn a_prompt_of_one_speaker_is_its_text_and_others_are_told_apart() {
        let text = |text: &str| ResultPart::Text(text.to_owned());
        let image = ResultPart::Image {
            media_type: "image/png".to_owned(),
            base64: "AAAAAAAA".to_owned(),
        };
        let user = |part| (Speaker::User, part);
        assert_eq!(
            prompt_text(&[user(text("Look.")), user(image)]),
            "Look.\n\n[binary image, image/png, 6 bytes]"
        );
        assert_eq!(
            prompt_text(&[user(text("A?")), (Speaker::Assistant, text("B."))]),
            "User: A?\n\nAssistant: B."
        );
    }
}
