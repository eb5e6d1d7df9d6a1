//! Images of an outcome, stored beside the log before the record that names them.

use contract::Outcome;
use store::blob::BlobStore;

/// Stores the images of an outcome. One that cannot be stored is left out, and the model gets a note. Blocks.
pub(super) fn store_images(blobs: &BlobStore, outcome: &mut Outcome) {
    let mut failed = None;
    outcome.images.retain_mut(|image| {
        let stored = blobs.put(&std::mem::take(&mut image.bytes));
        let error = stored.err().map(|error| store::reason(&error));
        let is_stored = error.is_none();
        failed = failed.take().or(error);
        is_stored
    });
    if let Some(reason) = failed {
        let note = format!("\n[An image could not be stored and is not shown to you: {reason}]");
        outcome.text.push_str(&note);
    }
}
