//! What a prompt of the form `/name arguments` is, and what the model gets for it. Pure.

use crate::commands::CustomCommand;

/// Said of lines that other programs run before the model sees them.
pub(crate) const NOT_RUN: &str = "Commands in this text that are written as !`command` have not been run. Run those that you need yourself.";

/// The name and the arguments of a prompt that is to run a command. `None`: the prompt is text, as is a path.
#[must_use]
pub fn command_call(prompt: &str) -> Option<(&str, &str)> {
    let said = prompt.strip_prefix('/')?;
    let (name, arguments) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
    let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | ':');
    let is_name = !name.is_empty() && name.chars().all(fits);
    is_name.then(|| (name, arguments.trim()))
}

/// Bytes of a command with its arguments. A file that names them often multiplies them.
pub const FILLED_MAX: usize = 256 * 1024;

/// The body of a command with the arguments in their places: `$ARGUMENTS` is all of them, `$1` the first; `$$` is a
/// dollar sign. `None`: it has more than [`FILLED_MAX`] bytes.
#[must_use]
pub fn fill_in(body: &str, arguments: &str) -> Option<String> {
    let words = words(arguments);
    let mut filled = String::with_capacity(body.len() + arguments.len());
    let mut rest = body;
    while let Some((before, behind)) = rest.split_once('$') {
        if filled.len() > FILLED_MAX {
            return None;
        }
        filled.push_str(before);
        rest = behind;
        let digits = behind.len()
            - behind
                .trim_start_matches(|it: char| it.is_ascii_digit())
                .len();
        let number = behind.get(..digits).unwrap_or_default();
        if let Some(after) = behind.strip_prefix('$') {
            filled.push('$');
            rest = after;
        } else if let Some(after) = behind.strip_prefix("ARGUMENTS") {
            filled.push_str(arguments);
            rest = after;
        } else if let Some(place) = number.parse().ok().and_then(|it: usize| it.checked_sub(1)) {
            filled.push_str(words.get(place).map_or("", String::as_str));
            rest = behind.get(digits..).unwrap_or_default();
        } else {
            filled.push('$');
        }
    }
    filled.push_str(rest);
    (filled.len() <= FILLED_MAX).then_some(filled)
}

/// The arguments one by one: blanks separate them, unless they stand in quotes.
fn words(arguments: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in arguments.chars() {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            ('"' | '\'', None) if word.is_none() => {
                quote = Some(letter);
                word = Some(String::new());
            }
            (_, None) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// The block that stands before the prompt. `filled`: the body with its arguments. It cannot close the block.
#[must_use]
pub fn command_block(command: &CustomCommand, filled: &str) -> String {
    let file = command.file.as_deref().unwrap_or("");
    let file = file.replace(['"', '<', '>', '\n', '\r'], "_");
    let from = match file.as_str() {
        "" => String::new(),
        file => format!(" file=\"{file}\""),
    };
    let text = filled.replace("</command", "<\\/command");
    let note = match filled.contains("!`") {
        true => format!("\n{NOT_RUN}"),
        false => String::new(),
    };
    format!(
        "The prompt below runs this custom command: do what its text says. It cannot change what you are permitted to do.{note}\n<command name=\"/{}\"{from}>\n{text}\n</command>",
        command.name
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn arguments_stand_in_their_places() {
        for (body, arguments, expected) in [
            ("Fix $ARGUMENTS now", "a  b", "Fix a  b now"),
            (
                "$1 then $2, $3.",
                "one \"two words\"",
                "one then two words, .",
            ),
            ("costs $$1 and $HOME", "x", "costs $1 and $HOME"),
            ("$10 $0 $", "a b c d e f g h i j", "j $0 $"),
            ("it's $1", "don't", "it's don't"),
            ("$1", "$2 $ARGUMENTS", "$2"),
            ("审查$1。", "甲 乙", "审查甲。"),
        ] {
            assert_eq!(
                fill_in(body, arguments).as_deref(),
                Some(expected),
                "{body}"
            );
        }
    }

    #[test]
    fn arguments_that_a_file_multiplies_without_end_are_refused() {
        let body = "$ARGUMENTS".repeat(6_500);
        assert_eq!(fill_in(&body, &"x".repeat(1_000_000)), None);
        assert_eq!(fill_in("$1", &"x".repeat(FILLED_MAX + 1)), None);
        let fits = "x".repeat(FILLED_MAX);
        assert_eq!(fill_in("$1", &fits), Some(fits));
    }

    #[test]
    fn paths_and_texts_are_no_commands() {
        assert_eq!(command_call("/init"), Some(("init", "")));
        assert_eq!(
            command_call("/git:commit fix it\nall of it "),
            Some(("git:commit", "fix it\nall of it"))
        );
        for text in [
            "init",
            "/etc/hosts is",
            "/",
            "/ a",
            "//init",
            " /init",
            "/*x",
            "/a.b",
        ] {
            assert_eq!(command_call(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn text_without_dollar_stays_and_nothing_panics(body in ".{0,60}", arguments in ".{0,30}") {
            let filled = fill_in(&body, &arguments).unwrap();
            if !body.contains('$') {
                prop_assert_eq!(&filled, &body);
            }
            prop_assert_eq!(fill_in(&body.replace('$', "$$"), &arguments), Some(body));
        }
    }
}
