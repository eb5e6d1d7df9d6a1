//! Attachments of prompts in words.

use proto::item::{Attachment, AttachmentKind};

use super::one_line;
use crate::messages::Language;
use crate::messages::transcript::Msg;

/// What was attached to a prompt: a line for each.
pub fn attached(language: Language, attached: &[Attachment]) -> impl Iterator<Item = String> {
    attached.iter().map(move |one| attachment(language, one))
}

fn attachment(language: Language, attached: &Attachment) -> String {
    let name = one_line(&attached.name);
    let count = attached.count.unwrap_or_default();
    let number = count.to_string();
    let (one, many) = match attached.kind {
        AttachmentKind::Directory => (Msg::Entry, Msg::Entries),
        _ => (Msg::Line, Msg::Lines),
    };
    let size = match (attached.kind, count) {
        (AttachmentKind::Binary | AttachmentKind::Resource, _) => {
            language.fill(Msg::Bytes, &[&attached.bytes.to_string()])
        }
        (_, 1) => language.say(one).to_owned(),
        (_, _) => language.fill(many, &[&number]),
    };
    let tokens = match attached.tokens {
        1 => language.say(Msg::Token).to_owned(),
        count => language.fill(Msg::Tokens, &[&count.to_string()]),
    };
    match (attached.kind, attached.cut) {
        (AttachmentKind::Binary, _) => language.fill(Msg::AttachedBinary, &[&name, &size]),
        (AttachmentKind::Instructions, _) => {
            language.fill(Msg::NewInstructions, &[&name, &size, &tokens])
        }
        (_, true) => language.fill(Msg::AttachedPart, &[&name, &size, &tokens]),
        (_, false) => language.fill(Msg::Attached, &[&name, &size, &tokens]),
    }
}
