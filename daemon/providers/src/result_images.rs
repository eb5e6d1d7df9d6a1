//! Images of tool results: whether a model is sent them, and what each kind's wire has for one.

use std::borrow::Cow;

use contract::image::placeholder;
use proto::item::{Image, ToolMessage};

const NOT_ACCEPTED: &str = "[The image is not shown to you: your model does not accept images. Do not guess what it shows.]";
const UNKNOWN: &str = "[The image is not shown to you: it is not known whether your model accepts images. If it does, the user can set `vision = true` for its provider. Do not guess what it shows.]";

/// The images of a result that its model is sent. `vision`: whether it accepts images; `None`: not known.
pub(crate) fn sent(message: &ToolMessage, vision: Option<bool>) -> &[Image] {
    match vision {
        Some(true) => &message.images,
        Some(false) | None => &[],
    }
}

/// The text of a result, with a note on images that are not sent.
pub(crate) fn text(message: &ToolMessage, vision: Option<bool>) -> Cow<'_, str> {
    let note = match vision {
        _ if message.images.is_empty() => return Cow::Borrowed(&message.text),
        Some(true) => return Cow::Borrowed(&message.text),
        Some(false) => NOT_ACCEPTED,
        None => UNKNOWN,
    };
    Cow::Owned(format!("{}\n{note}", message.text))
}

/// An image as a URL, within a JSON string.
pub(crate) fn data_url(image: &Image) -> String {
    let media_type = image.format.media_type();
    format!("data:{media_type};base64,{}", placeholder(image))
}
