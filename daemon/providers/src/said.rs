//! What a user message says to a model, in the same words for every kind.

use proto::item::{UserMessage, Voice};

use crate::json::push_string;

/// What stands before words of a person that came while the model worked.
const STEER: &str = "[The user says this while you work. Take it into account and go on.]\n\n";
/// What stands before words that no person said.
const DAEMON: &str = "[From the program that runs you, not from the user.]\n\n";

/// The message of a user, as OpenAI began it.
pub(crate) fn user(message: &UserMessage) -> String {
    let mut out = String::from("{\"role\":\"user\",\"content\":");
    push_string(&mut out, &words(message));
    out.push('}');
    out
}

/// The words of a message, with what is told besides.
pub(crate) fn words(message: &UserMessage) -> String {
    let mut words = String::new();
    if let Some(context) = &message.context {
        words.push_str("<context>\n");
        words.push_str(context);
        words.push_str("\n</context>\n\n");
    }
    words.push_str(match message.voice {
        Voice::Prompt => "",
        Voice::Steer => STEER,
        Voice::Daemon => DAEMON,
    });
    words.push_str(&message.text);
    words
}
