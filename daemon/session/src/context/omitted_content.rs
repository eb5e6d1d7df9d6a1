//! Content that a switch of the model leaves out of later requests, counted so that the user sees it before confirming.

use proto::item::Item;
use serde::Serialize;

use crate::assembly::setup::ModelSetup;
use crate::context::reset::without_reasoning;
use crate::journal::elements::Reader;
use crate::request::blocks::RequestComposition;

/// How much content the new model will not receive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OmittedContent {
    /// Answers whose reasoning is sent to their own provider only.
    pub reasoning: u64,
    /// Images in tool results, if the new model accepts no images.
    pub images: u64,
}

impl RequestComposition {
    /// Counts the content of this request that another model would not receive. Reads the log.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn count_omitted(&self, other: &ModelSetup) -> Result<OmittedContent, String> {
        let mut omitted = OmittedContent::default();
        // As `reset::rebase` decides.
        let is_other_provider = self.wire.provider != other.provider_name
            || self.wire.provider_kind != other.provider_kind;
        let loses_images = self.material.codec.sends_images() && !other.codec.sends_images();
        if !is_other_provider && !loses_images {
            return Ok(omitted);
        }
        let codec = &*self.material.codec;
        let mut reader = Reader::new(&self.material.file);
        for part in &self.material.parts {
            match reader.message(part)?.0 {
                // Some codecs never send reasoning back; nothing is lost then.
                item @ Item::Assistant(_) if is_other_provider => {
                    let with = codec.render(&item);
                    let is_lost = with != codec.render(&without_reasoning(item));
                    omitted.reasoning += u64::from(is_lost);
                }
                Item::Tool(message) if loses_images => {
                    omitted.images += message.images.len() as u64;
                }
                _ => {}
            }
        }
        Ok(omitted)
    }
}

impl OmittedContent {
    /// Sentence for the user, with a leading space; empty if nothing is left out.
    #[must_use]
    pub fn sentence(self) -> String {
        let omitted = match (self.reasoning, self.images) {
            (0, 0) => return String::new(),
            (answers, 0) => format!("the reasoning of earlier answers ({answers})"),
            (0, images) => format!("images in tool results ({images})"),
            (answers, images) => format!(
                "the reasoning of earlier answers ({answers}) and images in tool results ({images})"
            ),
        };
        format!(" The new model will not receive {omitted}.")
    }
}
