//! Images of results in requests. A rendered message has placeholders for them; here their bytes are put in, from the
//! blobs beside the log, the same bytes for each request.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contract::Codec;
use contract::codec::FragmentRole;
use contract::image::{self, Placeholder};
use proto::item::Item;
use store::blob::{BlobId, BlobStore};
use store::log::{LogFile, ReadFrom};

use crate::journal::MessageAt;
use crate::journal::elements::Reader;

/// What the model reads in place of images that are gone from the disk.
const GONE: &str = "[The image is gone from the session's files and cannot be shown to you. Call the tool again if you need to see it.]";

/// A message with its images.
pub(crate) struct FilledMessage<'a> {
    pub bytes: Cow<'a, [u8]>,
    /// How many bytes of text take as many tokens as its images.
    pub weight: u64,
}

/// Puts images into a rendered message. If one is gone, the message is rendered without. Blocks if it may read `from` the disk.
///
/// # Errors
/// The log cannot be read, or the message has images, which are on disk, and may only come `from` memory.
pub(crate) fn fill<'a>(
    file: &LogFile,
    from: ReadFrom,
    codec: &dyn Codec,
    part: &MessageAt,
    rendered: &'a [u8],
) -> Result<FilledMessage<'a>, String> {
    let as_it_is = FilledMessage {
        bytes: Cow::Borrowed(rendered),
        weight: 0,
    };
    // Only results have images, and what others say is not looked at.
    if part.role != FragmentRole::Tool {
        return Ok(as_it_is);
    }
    let placeholders = image::placeholders(rendered);
    if placeholders.is_empty() {
        return Ok(as_it_is);
    }
    if from == ReadFrom::Memory {
        return Err("the images are on disk".to_owned());
    }
    match filled(&file.blobs(), rendered, &placeholders) {
        Some(bytes) => Ok(FilledMessage {
            bytes: Cow::Owned(bytes),
            weight: placeholders.iter().map(|place| place.weight).sum(),
        }),
        None => Ok(FilledMessage {
            bytes: Cow::Owned(without_images(file, codec, part)?),
            weight: 0,
        }),
    }
}

/// `None`: the bytes of an image are not there.
fn filled(blobs: &BlobStore, rendered: &[u8], placeholders: &[Placeholder]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut from = 0;
    for place in placeholders {
        let id: BlobId = place.sha256.parse().ok()?;
        let bytes = blobs.read(id, 0, image::IMAGE_BYTES_MAX).ok()?;
        if bytes.is_empty() {
            return None;
        }
        out.extend_from_slice(&rendered[from..place.range.start]);
        out.extend_from_slice(STANDARD.encode(bytes).as_bytes());
        from = place.range.end;
    }
    out.extend_from_slice(&rendered[from..]);
    Some(out)
}

fn without_images(file: &LogFile, codec: &dyn Codec, part: &MessageAt) -> Result<Vec<u8>, String> {
    let (item, _) = Reader::new(file).message(part)?;
    let item = match item {
        Item::Tool(mut message) => {
            message.images.clear();
            message.text = format!("{}\n{GONE}", message.text);
            Item::Tool(message)
        }
        other => other,
    };
    Ok(codec.render(&item).unwrap_or_default().into_bytes())
}

/// The size of a rendered message, where its images count as much as text of as many tokens.
pub(crate) fn counted_bytes(item: &Item, rendered: usize) -> u64 {
    let images = match item {
        Item::Tool(message) => image::weight(&message.images),
        Item::User(_) | Item::Assistant(_) => 0,
    };
    images.saturating_add(rendered as u64)
}
