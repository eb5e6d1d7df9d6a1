use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Of 3x2 pixels, as far as their structure goes.
const SAMPLES: [(ImageFormat, &str); 3] = [
    (
        ImageFormat::Png,
        "89504e470d0a1a0a0000000d49484452000000030000000208020000001216f14d0000000b49444154789c6360c00400001400017dfe1eee0000000049454e44ae426082",
    ),
    (
        ImageFormat::Gif,
        "47494638396103000200800000000000ffffff21f90401000000002c00000000030002000002028451003b",
    ),
    (
        ImageFormat::Webp,
        "524946461c000000574542505650384c100000002f024000000710fd8ffe0722a2ff0100",
    ),
];

/// A JPEG as far as its structure goes: a comment, a frame of 3x2 pixels, a scan and the end.
const JPEG: &str = "ffd8fffe00046162ffc0000b080002000301011100ffda0008010100003f0012345678ffd9";

fn samples() -> Vec<(ImageFormat, Vec<u8>)> {
    let all = SAMPLES.into_iter().chain([(ImageFormat::Jpeg, JPEG)]);
    all.map(|(format, hex)| (format, hex::decode(hex).unwrap()))
        .collect()
}

#[test]
fn images_are_known_by_their_bytes_with_their_size() {
    for (format, bytes) in samples() {
        let read = OutcomeImage::read(bytes.clone()).unwrap();
        let image = &read.image;
        assert_eq!((image.format, image.width, image.height), (format, 3, 2));
        assert_eq!(image.bytes, bytes.len() as u64);
        assert_eq!(image.label(), format!("image 3x2 {}", format.as_str()));
        assert_eq!(*read.bytes, *bytes);
    }
}

#[test]
fn what_is_incomplete_too_large_or_no_image_is_not_sent() {
    for (format, bytes) in samples() {
        for len in 12..bytes.len() {
            let read = OutcomeImage::read(bytes[..len].to_vec());
            assert_eq!(read, Err(ImageError::Broken(format)), "{len} bytes");
        }
    }
    assert_eq!(
        OutcomeImage::read(b"<svg/>".to_vec()),
        Err(ImageError::Unknown)
    );
    assert_eq!(OutcomeImage::read(Vec::new()), Err(ImageError::Unknown));
    let (_, mut png) = samples().remove(0);
    png[16..20].copy_from_slice(&9_000_u32.to_be_bytes());
    assert_eq!(
        OutcomeImage::read(png.clone()),
        Err(ImageError::TooManyPixels(9_000, 2))
    );
    png.resize(IMAGE_BYTES_MAX + 1, 0);
    assert_eq!(
        OutcomeImage::read(png),
        Err(ImageError::TooManyBytes(IMAGE_BYTES_MAX + 1))
    );
}

fn image(width: u32, height: u32) -> Image {
    Image {
        sha256: "0123456789abcdef".repeat(4),
        format: ImageFormat::Png,
        bytes: 9,
        width,
        height,
    }
}

#[test]
fn a_large_image_counts_no_more_than_a_vendor_scales_it_to() {
    assert_eq!(tokens(&image(1, 1)), 100);
    assert_eq!(tokens(&image(640, 480)), 410);
    assert_eq!(tokens(&image(8_000, 8_000)), 1_600);
    assert_eq!(weight(&[image(640, 480), image(1, 1)]), 4 * 510);
}

#[test]
fn a_placeholder_is_found_and_has_its_images_weight() {
    let place = placeholder(&image(640, 480));
    let rendered = format!(r#"{{"a":"data:image/png;base64,{place}","b":"{place}"}}"#);
    let found = placeholders(rendered.as_bytes());
    assert_eq!(found.len(), 2);
    for one in found {
        assert_eq!(&rendered[one.range], place);
        assert_eq!((one.sha256.len(), one.weight), (64, 4 * 410));
    }
    assert!(serde_json::from_str::<serde_json::Value>(&rendered).is_ok());
}

proptest! {
    /// A tool's text may say what it likes: no text is taken for an image.
    #[test]
    fn no_text_is_a_placeholder(text in r#"(\\|/|blob|"|[a-f0-9]{64}|,|[0-9]){0,24}"#, before in ".{0,3}") {
        let place = placeholder(&image(1, 1));
        for text in [text, format!("{before}{place}"), format!("{before}/blob/{}/1/", "a".repeat(64))] {
            let rendered = json!({"content": text}).to_string();
            prop_assert_eq!(placeholders(rendered.as_bytes()), []);
        }
    }

    #[test]
    fn bytes_that_are_no_image_are_refused_without_a_panic(
        head in prop::sample::select(vec!["89504e470d0a1a0a", "ffd8ff", "474946383961", "524946460400000057454250"]),
        rest in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = hex::decode(head).unwrap();
        bytes.extend(rest);
        let _ = OutcomeImage::read(bytes);
    }
}
