//! Width and height of an image, and whether it is there to its end. Nothing is decoded.

use memchr::memmem;
use proto::item::ImageFormat;

/// Width and height. `None`: the image is damaged or incomplete.
pub(super) fn of(format: ImageFormat, bytes: &[u8]) -> Option<(u32, u32)> {
    match format {
        ImageFormat::Png => png(bytes),
        ImageFormat::Jpeg => jpeg(bytes),
        ImageFormat::Gif => gif(bytes),
        ImageFormat::Webp => webp(bytes),
    }
}

/// Chunks of length, name, data and checksum, from `IHDR` to `IEND`, with `IDAT` between.
fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut rest = bytes.get(8..)?;
    let mut size = None;
    let mut has_data = false;
    loop {
        let len = usize::try_from(big_endian(rest.get(..4)?)).ok()?;
        let name = rest.get(4..8)?;
        let data = rest.get(8..len.checked_add(8)?)?;
        rest = rest.get(len.checked_add(12)?..)?;
        match (name, size) {
            (b"IHDR", None) => {
                size = Some((big_endian(data.get(..4)?), big_endian(data.get(4..8)?)));
            }
            (_, None) => return None,
            (b"IDAT", Some(_)) => has_data = true,
            (b"IEND", Some(size)) => return has_data.then_some(size),
            _ => {}
        }
    }
}

/// Segments of marker and length. The frame header has the size; after the scan the image ends with a marker.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut rest = bytes.get(2..)?;
    let mut size = None;
    loop {
        let [0xff, marker] = *rest.first_chunk::<2>()? else {
            return None;
        };
        match marker {
            // Fill bytes before a marker.
            0xff => {
                rest = rest.get(1..)?;
                continue;
            }
            // Markers without a length.
            0x01 | 0xd0..=0xd7 => {
                rest = rest.get(2..)?;
                continue;
            }
            _ => {}
        }
        let len = usize::from(u16::from_be_bytes(*rest.get(2..)?.first_chunk()?));
        let segment = rest.get(4..len.checked_add(2)?)?;
        match marker {
            // The frame headers; `c4`, `c8` and `cc` are others.
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                let height = u32::from(u16::from_be_bytes(*segment.get(1..)?.first_chunk()?));
                let width = u32::from(u16::from_be_bytes(*segment.get(3..)?.first_chunk()?));
                size = Some((width, height));
            }
            0xda => {
                memmem::rfind(rest, b"\xff\xd9")?;
                return size;
            }
            _ => {}
        }
        rest = rest.get(len.checked_add(2)?..)?;
    }
}

fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    let end = bytes.iter().rposition(|byte| *byte != 0)?;
    let is_whole = end > 13 && bytes[end] == 0x3b;
    let size = (
        little_endian(bytes.get(6..8)?),
        little_endian(bytes.get(8..10)?),
    );
    is_whole.then_some(size)
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    let len = usize::try_from(little_endian(bytes.get(4..8)?)).ok()?;
    let bytes = bytes.get(..len.checked_add(8)?)?;
    let data = bytes.get(20..)?;
    match bytes.get(12..16)? {
        b"VP8 " => {
            let [0x9d, 0x01, 0x2a] = *data.get(3..)?.first_chunk::<3>()? else {
                return None;
            };
            let side = |at: usize| Some(little_endian(data.get(at..at + 2)?) & 0x3fff);
            Some((side(6)?, side(8)?))
        }
        b"VP8L" => {
            let bits = little_endian(data.strip_prefix(&[0x2f])?.get(..4)?);
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        b"VP8X" => {
            let side = |at: usize| Some(little_endian(data.get(at..at + 3)?) + 1);
            Some((side(4)?, side(7)?))
        }
        _ => None,
    }
}

/// Of at most four bytes.
fn big_endian(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}

fn little_endian(bytes: &[u8]) -> u32 {
    let bytes = bytes.iter().rev();
    bytes.fold(0, |sum, byte| sum << 8 | u32::from(*byte))
}
