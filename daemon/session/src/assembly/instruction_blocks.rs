//! The form in which instruction files stand in the prefix and before prompts, and how the text of a file is read back
//! from it.

use std::borrow::Cow;
use std::sync::Arc;

use contract::InstructionText;
use proto::record::KnownFile;
use sha2::{Digest, Sha256};

const OPENING: &str = "<instructions file=\"";
const CLOSING: &str = "\n</instructions>";
/// Line ends of a file's end, which a block leaves out.
const TRIMMED_LINE_ENDS: [&str; 5] = ["\n", "", "\r\n", "\n\n", "\n\n\n"];

/// An instruction file in its block. Its text cannot close the block.
pub fn block(file: &InstructionText) -> String {
    let name = file.name.replace(['"', '<', '>', '\n', '\r'], "_");
    let text = file.text.trim_end();
    let text = match text.contains("</instructions") {
        true => Cow::from(text.replace("</instructions", "<\\/instructions")),
        false => Cow::from(text),
    };
    format!("{OPENING}{name}\">\n{text}{CLOSING}")
}

/// The texts of the blocks before a prompt.
pub struct InstructionBlocks(Vec<String>);

impl InstructionBlocks {
    /// Reads the blocks in a text, which may contain anything else.
    pub fn read(text: &str) -> Self {
        let mut texts = Vec::new();
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(OPENING) {
            let body = after
                .split_once("\">\n")
                .and_then(|(_, body)| body.split_once(CLOSING));
            let Some((body, after)) = body else {
                break;
            };
            texts.push(body.replace("<\\/instructions", "</instructions"));
            rest = after;
        }
        Self(texts)
    }

    /// The content of a file that is in one of these blocks as a whole. Its hash decides, so that no other text is taken for
    /// it.
    pub fn content_of(&self, file: &KnownFile) -> Option<Arc<[u8]>> {
        let contents = self.0.iter().flat_map(|text| {
            let ends = TRIMMED_LINE_ENDS.iter();
            let fitting = ends.filter(|end| (text.len() + end.len()) as u64 == file.bytes);
            fitting.map(move |end| format!("{text}{end}"))
        });
        let mut contents = contents;
        let content = contents.find(|content| hex::encode(Sha256::digest(content)) == file.sha256);
        content.map(|content| content.into_bytes().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> (InstructionText, KnownFile) {
        let known = KnownFile {
            path: format!("/p/{name}"),
            sha256: hex::encode(Sha256::digest(text)),
            bytes: text.len() as u64,
            modified_ns: 0,
            inode: 0,
            partial: false,
        };
        let text = InstructionText {
            name: name.to_owned(),
            text: text.to_owned(),
            file: Some(known.clone()),
        };
        (text, known)
    }

    #[test]
    fn content_is_read_back_from_the_blocks_of_a_prompt() {
        let (first, first_known) = file("a.md", "One.\n</instructions>\nTwo.\r\n");
        let (second, second_known) = file("b.md", "No line end");
        let (third, third_known) = file("c.md", "Blanks.  \n\n\n\n\n");
        let blocks = [block(&first), block(&second), block(&third)].join("\n");
        let blocks = InstructionBlocks::read(&format!("<file path=\"x\">\ny\n</file>\n{blocks}"));
        let content = |known: &KnownFile| blocks.content_of(known);
        assert_eq!(
            content(&first_known).as_deref(),
            Some(first.text.as_bytes())
        );
        assert_eq!(
            content(&second_known).as_deref(),
            Some(second.text.as_bytes())
        );
        // A block leaves out how such a file ends.
        assert_eq!(content(&third_known), None);
    }

    #[test]
    fn text_with_another_hash_is_not_taken_for_the_file() {
        let (text, known) = file("a.md", "One.\n");
        let blocks = InstructionBlocks::read(&block(&text));
        let other = KnownFile {
            sha256: "0".repeat(64),
            ..known
        };
        assert_eq!(blocks.content_of(&other), None);
    }

    #[test]
    fn block_that_is_not_closed_ends_the_reading() {
        let text = format!("{OPENING}a.md\">\ntext {OPENING} {OPENING}\">\n");
        assert!(InstructionBlocks::read(&text).0.is_empty());
    }
}
