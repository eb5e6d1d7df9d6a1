//! Joins consecutive user messages into one, for servers whose chat template demands that user and assistant alternate.
//! Pure: works on the rendered messages.

use std::borrow::Cow;

use contract::Fragment;
use contract::codec::FragmentRole;

/// The bytes around the text of a user message, as `user_text::user` renders it.
const HEAD: &[u8] = br#"{"role":"user","content":""#;
const TAIL: &[u8] = br#""}"#;
/// An empty line between two texts, as JSON.
const SEPARATOR: &[u8] = br"\n\n";

/// The messages in their order, each run of user messages as a single one.
pub(super) fn join<'a>(fragments: &[Fragment<'a>]) -> Vec<Cow<'a, [u8]>> {
    let mut joined: Vec<Cow<'a, [u8]>> = Vec::with_capacity(fragments.len());
    let mut follows_user = false;
    for fragment in fragments {
        let text = match fragment.role {
            FragmentRole::User => user_text(fragment.bytes),
            FragmentRole::Assistant | FragmentRole::Tool => None,
        };
        match (text, joined.last_mut()) {
            (Some(text), Some(previous)) if follows_user => {
                let previous = previous.to_mut();
                previous.truncate(previous.len() - TAIL.len());
                for part in [SEPARATOR, text, TAIL] {
                    previous.extend_from_slice(part);
                }
            }
            _ => joined.push(Cow::Borrowed(fragment.bytes)),
        }
        follows_user = text.is_some();
    }
    joined
}

/// The text of a user message, still escaped. `None`: it has another form.
fn user_text(message: &[u8]) -> Option<&[u8]> {
    message.strip_prefix(HEAD)?.strip_suffix(TAIL)
}
