//! The text of a user message for the model, the same for every kind.

use proto::item::{UserMessage, Voice};

use serde_json::{Value, json};

/// Precedes a message that the user sent while the model worked.
const STEER: &str = "[The user says this while you work. Take it into account and go on.]\n\n";
/// Precedes a message of another session; `{0}` is its number.
const SESSION: &str = "[Message from session {0}, not from the user.]\n\n";
/// Precedes a message that did not come from the user.
const DAEMON: &str = "[From the program that runs you, not from the user.]\n\n";

/// The message of a user in OpenAI's chat format.
pub(crate) fn user(message: &UserMessage) -> Value {
    json!({"role": "user", "content": render(message)})
}

/// The text of a message, with its context.
pub(crate) fn render(message: &UserMessage) -> String {
    let mut words = String::new();
    if let Some(context) = &message.context {
        words.push_str("<context>\n");
        // The files in it are no text of the user's, and must not look like it.
        words.push_str(&context.replace("</context", "<\\/context"));
        words.push_str("\n</context>\n\n");
    }
    match message.voice {
        Voice::Prompt => {}
        Voice::Steer => words.push_str(STEER),
        Voice::Session => {
            let number = message
                .from
                .map_or_else(|| "?".to_owned(), |from| from.to_string());
            words.push_str(&SESSION.replace("{0}", &number));
        }
        Voice::Daemon => words.push_str(DAEMON),
    }
    words.push_str(&message.text);
    words
}
