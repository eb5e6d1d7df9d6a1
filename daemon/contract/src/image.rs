//! Images that tools return: which ones are accepted, and where their bytes go in a request.
//!
//! A rendered message does not contain the bytes of an image, only its [`placeholder`]: the bytes are in the session's
//! blobs, and are put in when a request is assembled. So log lines stay short, and the message is rendered once. Pure.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;
use proto::item::{Image, ImageFormat};
use sha2::{Digest as _, Sha256};

mod dimensions;

/// Maximum bytes of an image: a vendor takes 5 MiB of base64.
pub const IMAGE_BYTES_MAX: usize = 5 * 1024 * 1024 / 4 * 3;
/// Maximum pixels of a side: vendors refuse more.
pub const IMAGE_SIDE_MAX: u32 = 8_000;

/// Pixels of a token, and the bounds of an image's tokens: vendors scale larger images down.
const PIXELS_PER_TOKEN: u64 = 750;
const TOKENS: std::ops::RangeInclusive<u64> = 100..=1_600;
/// Bytes of text that count like a token.
const BYTES_PER_TOKEN: u64 = 4;

/// An image of an outcome, with its bytes until the session has stored them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeImage {
    pub image: Image,
    /// Empty once they are stored.
    pub bytes: Arc<[u8]>,
}

/// Why bytes are not sent as an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    #[error("it is not a PNG, JPEG, GIF or WebP image")]
    Unknown,
    #[error("it is a damaged or incomplete {} image", .0.as_str())]
    Broken(ImageFormat),
    #[error("it has {0} bytes, and at most {IMAGE_BYTES_MAX} can be sent")]
    TooManyBytes(usize),
    #[error("it has {0}x{1} pixels, and a side may have at most {IMAGE_SIDE_MAX}")]
    TooManyPixels(u32, u32),
}

impl OutcomeImage {
    /// Recognises an image by its own bytes, whatever its sender calls it.
    ///
    /// # Errors
    /// It cannot be sent to a model.
    pub fn read(bytes: Vec<u8>) -> Result<Self, ImageError> {
        let format = format_of(&bytes).ok_or(ImageError::Unknown)?;
        if bytes.len() > IMAGE_BYTES_MAX {
            return Err(ImageError::TooManyBytes(bytes.len()));
        }
        let size = dimensions::of(format, &bytes).ok_or(ImageError::Broken(format))?;
        let (width, height) = size;
        if width == 0 || height == 0 {
            return Err(ImageError::Broken(format));
        }
        if width.max(height) > IMAGE_SIDE_MAX {
            return Err(ImageError::TooManyPixels(width, height));
        }
        let image = Image {
            sha256: hex::encode(Sha256::digest(&bytes)),
            format,
            bytes: bytes.len() as u64,
            width,
            height,
        };
        Ok(Self {
            image,
            bytes: bytes.into(),
        })
    }
}

/// The format that the first bytes name. `None`: it is no image that models take.
#[must_use]
pub fn format_of(bytes: &[u8]) -> Option<ImageFormat> {
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some(ImageFormat::Png),
        [0xff, 0xd8, 0xff, ..] => Some(ImageFormat::Jpeg),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(ImageFormat::Gif),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some(ImageFormat::Webp),
        _ => None,
    }
}

/// Estimated tokens of an image.
#[must_use]
pub fn tokens(image: &Image) -> u64 {
    let pixels = u64::from(image.width) * u64::from(image.height);
    let tokens = pixels.div_ceil(PIXELS_PER_TOKEN);
    tokens.clamp(*TOKENS.start(), *TOKENS.end())
}

/// How many bytes of text take as many tokens as these images: sizes of messages count them so, and not their base64.
#[must_use]
pub fn weight(images: &[Image]) -> u64 {
    images.iter().map(tokens).sum::<u64>() * BYTES_PER_TOKEN
}

/// The start of a placeholder. Serialised text never contains it: there a slash is never escaped.
const START: &[u8] = br"\/blob\/";
/// Made once: each request looks at each result.
static START_FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(START));
const SEPARATOR: &[u8] = br"\/";
const HASH_LEN: usize = 64;

/// What is in a rendered message in place of an image's base64: characters within a JSON string.
#[must_use]
pub fn placeholder(image: &Image) -> String {
    format!(r"\/blob\/{}\/{}\/", image.sha256, tokens(image))
}

/// A placeholder in a rendered message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placeholder {
    pub range: Range<usize>,
    /// Of the image.
    pub sha256: String,
    pub weight: u64,
}

/// The placeholders in a message that was rendered as JSON, in their order.
#[must_use]
pub fn placeholders(rendered: &[u8]) -> Vec<Placeholder> {
    let starts = START_FINDER.find_iter(rendered);
    starts
        .filter_map(|start| placeholder_at(rendered, start))
        .collect()
}

fn placeholder_at(rendered: &[u8], start: usize) -> Option<Placeholder> {
    // After another backslash it is an escaped backslash and a slash: text.
    if start > 0 && rendered[start - 1] == b'\\' {
        return None;
    }
    let hash = start + START.len();
    let after = hash + HASH_LEN;
    let sha256 = std::str::from_utf8(rendered.get(hash..after)?).ok()?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let rest = rendered.get(after..)?.strip_prefix(SEPARATOR)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let tokens = std::str::from_utf8(&rest[..digits]).ok()?;
    let tokens: u64 = tokens.parse().ok()?;
    if !sha256.bytes().all(is_digit) || !rest[digits..].starts_with(SEPARATOR) {
        return None;
    }
    let end = after + SEPARATOR.len() + digits + SEPARATOR.len();
    Some(Placeholder {
        range: start..end,
        sha256: sha256.to_owned(),
        weight: tokens.saturating_mul(BYTES_PER_TOKEN),
    })
}

#[cfg(test)]
mod tests;
