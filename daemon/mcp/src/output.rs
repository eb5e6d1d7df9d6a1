//! What a tool returned, as the model and the user read it. Pure, but for the file of an output that is cut.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contract::{Outcome, OutcomeImage};
use proto::item::{CallStatus, Display};
use serde_json::Value;

use crate::client::{ResultPart, ToolResult};
use crate::text::{clean, cut};

/// Bytes of a result that the model reads.
const TEXT_MAX: usize = 48 * 1024;
/// Bytes of a result that are looked at.
const ALL_MAX: usize = 16 * 1024 * 1024;
/// Images that the model is shown, and notes on other content that is not text.
const BINARY_MAX: usize = 10;
/// Bytes of all images that the model is shown.
const IMAGES_BYTES_MAX: usize = 20 * 1024 * 1024;
/// Characters of the line for the user.
const LINE_MAX: usize = 200;
/// Images that this line names.
const LINE_IMAGES: usize = 3;

/// The outcome of a call. `file`: where all of a text goes that is cut.
#[must_use]
pub fn outcome(result: &ToolResult, file: &Path) -> Outcome {
    let Rendered {
        text,
        notes,
        images,
    } = rendered(result);
    let line = line(&text, &notes, &images);
    let (text, spill) = bounded(&text, file);
    let mut whole = text;
    for note in notes {
        if !whole.is_empty() && !whole.ends_with('\n') {
            whole.push('\n');
        }
        whole.push_str(&note);
    }
    if whole.trim().is_empty() {
        whole = NO_OUTPUT.to_owned();
    }
    let status = match result.is_error {
        true => CallStatus::Failed,
        false => CallStatus::Ok,
    };
    Outcome {
        display: Display::Line { text: line },
        spill,
        images,
        ..Outcome::with_status(status, whole)
    }
}

const NO_OUTPUT: &str = "(no output)";

/// The line for the user: the first line of the text, and the images.
fn line(text: &str, notes: &[String], images: &[OutcomeImage]) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty());
    let first: String = first.unwrap_or_default().chars().take(LINE_MAX).collect();
    let mut parts: Vec<String> = Some(first)
        .filter(|text| !text.is_empty())
        .into_iter()
        .collect();
    let shown = images.iter().take(LINE_IMAGES);
    parts.extend(shown.map(|image| format!("[{}]", image.image.label())));
    if let more @ 1.. = images.len().saturating_sub(LINE_IMAGES) {
        parts.push(format!("(+{more})"));
    }
    match (&*parts, notes.first()) {
        ([], Some(note)) => note.clone(),
        ([], None) => NO_OUTPUT.to_owned(),
        (parts, _) => parts.join(" "),
    }
}

/// A result, taken apart.
#[derive(Default)]
struct Rendered {
    text: String,
    /// On what is not text: they stay when the text is cut.
    notes: Vec<String>,
    images: Vec<OutcomeImage>,
}

fn rendered(result: &ToolResult) -> Rendered {
    let mut texts = Vec::new();
    let mut out = Rendered::default();
    let mut left_out = 0_usize;
    for part in &result.parts {
        match part {
            ResultPart::Text(text) => texts.push(clean(cut(text, ALL_MAX).0)),
            _ if out.notes.len() >= BINARY_MAX => left_out += 1,
            ResultPart::Image { media_type, base64 } => match image(base64, &out.images) {
                Ok(image) => {
                    out.notes.push(format!("[{}]", image.image.label()));
                    out.images.push(image);
                }
                Err(reason) => out.notes.push(format!(
                    "[image ({}, {} bytes): it cannot be shown to you: {reason}]",
                    clean(cut(media_type, 100).0),
                    base64.len() / 4 * 3
                )),
            },
            ResultPart::Binary {
                kind,
                media_type,
                bytes,
            } => out.notes.push(format!(
                "[{kind} ({}, {bytes} bytes): it cannot be shown to you]",
                clean(cut(media_type, 100).0)
            )),
        }
    }
    if left_out > 0 {
        let note = format!(
            "[{left_out} more images or other parts that are not text: they are left out; a result may have {BINARY_MAX}]"
        );
        out.notes.push(note);
    }
    if let Some(structured) = &result.structured
        && !repeats(&result.parts, structured)
    {
        texts.retain(|text| !text.trim().is_empty());
        texts.push(clean(cut(&structured.to_string(), ALL_MAX).0));
    }
    out.text = texts.join("\n");
    out
}

/// Whether the texts of a result have its structured content: servers repeat it as text, in whatever form, for clients
/// that do not know it.
fn repeats(parts: &[ResultPart], structured: &Value) -> bool {
    let mut texts = parts.iter().filter_map(|part| match part {
        ResultPart::Text(text) => Some(text),
        ResultPart::Image { .. } | ResultPart::Binary { .. } => None,
    });
    if structured.is_null() {
        return texts.any(|text| !text.trim().is_empty());
    }
    // Some put what they return into an object: `{"content": "…"}`. Of a number its name says what it is.
    let wrapped = match structured.as_object().map(|members| members.values()) {
        Some(mut members) if members.len() == 1 => members.next(),
        Some(_) | None => None,
    };
    let wrapped =
        wrapped.filter(|value| value.is_string() || value.is_array() || value.is_object());
    let compact = structured.to_string();
    texts.any(|text| {
        let is_it = |value: Value| value == *structured || Some(&value) == wrapped;
        let is_text = wrapped.and_then(Value::as_str) == Some(text);
        is_text || text.contains(&compact) || serde_json::from_str(text).is_ok_and(is_it)
    })
}

/// An image that fits beside the others. The error is a text for the model.
fn image(base64: &str, others: &[OutcomeImage]) -> Result<OutcomeImage, String> {
    let others: usize = others.iter().map(|image| image.bytes.len()).sum();
    if base64.len() / 4 * 3 > IMAGES_BYTES_MAX.saturating_sub(others) {
        return Err(format!(
            "the images of a call may have {IMAGES_BYTES_MAX} bytes together"
        ));
    }
    // Some servers break its lines.
    let base64: Vec<u8> = base64
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    let bytes = STANDARD
        .decode(base64)
        .map_err(|_| "its base64 is damaged".to_owned())?;
    OutcomeImage::read(bytes).map_err(|error| error.to_string())
}

/// A text that fits: its head and tail, with the whole in a file.
fn bounded(text: &str, file: &Path) -> (String, Option<PathBuf>) {
    if text.len() <= TEXT_MAX {
        return (text.to_owned(), None);
    }
    let head = cut(text, TEXT_MAX / 2).0;
    let start = text.ceil_char_boundary(text.len() - TEXT_MAX / 2);
    let tail = text.get(start..).unwrap_or_default();
    let missing = text.len() - head.len() - tail.len();
    let mut options = std::fs::OpenOptions::new();
    let written = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(file)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    let (place, spill) = match written {
        Ok(()) => (
            format!("all of it is in {}", file.display()),
            Some(file.to_path_buf()),
        ),
        Err(error) => (format!("it could not be kept: {error}"), None),
    };
    (
        format!("{head}\n[… {missing} bytes left out; {place} …]\n{tail}"),
        spill,
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(text: &str) -> ResultPart {
        ResultPart::Text(text.to_owned())
    }

    /// 3x2 pixels.
    const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAC0lEQVR4nGNgwAQAABQAAX3+Hu4AAAAASUVORK5CYII=";

    fn image(base64: &str) -> ResultPart {
        ResultPart::Image {
            media_type: "image/png".to_owned(),
            base64: base64.to_owned(),
        }
    }

    #[test]
    fn text_errors_and_structured_content_are_told_apart() {
        let file = Path::new("/dev/null/x");
        let done = outcome(
            &ToolResult {
                parts: vec![text("a\u{1b}[31m"), text("b")],
                structured: Some(json!({"x": 1})),
                is_error: false,
            },
            file,
        );
        assert_eq!(
            (done.status, &*done.text),
            (CallStatus::Ok, "a\nb\n{\"x\":1}")
        );
        let structured = ToolResult {
            structured: Some(json!({"x": 1})),
            is_error: true,
            ..ToolResult::default()
        };
        let done = outcome(&structured, file);
        assert_eq!(
            (done.status, &*done.text),
            (CallStatus::Failed, r#"{"x":1}"#)
        );
        assert_eq!(outcome(&ToolResult::default(), file).text, "(no output)");
    }

    #[test]
    fn structured_content_is_shown_unless_a_text_repeats_it_in_whatever_form() {
        let file = Path::new("/dev/null/x");
        let structured = json!({"rows": [1, 2], "name": "ä"});
        let pretty = serde_json::to_string_pretty(&structured).unwrap();
        let compact = structured.to_string();
        let quoted = format!("It is {compact}.");
        let summary = format!("2 rows\n{compact}");
        for (said, wanted) in [
            (&*pretty, &*pretty),
            (&*compact, &*compact),
            (&*quoted, &*quoted),
            ("2 rows", &*summary),
        ] {
            let result = ToolResult {
                parts: vec![text(said)],
                structured: Some(structured.clone()),
                is_error: false,
            };
            assert_eq!(outcome(&result, file).text, wanted);
        }
        for (said, structured) in [
            ("a b", json!({"content": "a b"})),
            ("[{\n \"name\": 1}]", json!({"entities": [{"name": 1}]})),
        ] {
            let result = ToolResult {
                parts: vec![text(said)],
                structured: Some(structured),
                is_error: false,
            };
            assert_eq!(outcome(&result, file).text, said);
        }
        let nothing = ToolResult {
            parts: vec![text("done")],
            structured: Some(Value::Null),
            is_error: false,
        };
        assert_eq!(outcome(&nothing, file).text, "done");
    }

    #[test]
    fn long_structured_content_is_cut_like_text() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("all.txt");
        let result = ToolResult {
            parts: vec![text("2 rows")],
            structured: Some(json!("x".repeat(TEXT_MAX * 2))),
            is_error: false,
        };
        let done = outcome(&result, &file);
        assert!(done.text.starts_with("2 rows\n\"xxx") && done.text.len() < TEXT_MAX + 2_000);
        assert_eq!(done.spill.as_deref(), Some(&*file));
    }

    #[test]
    fn the_note_on_an_eleventh_image_survives_a_cut() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("all.txt");
        let long = format!("first{}last", "ä".repeat(TEXT_MAX));
        let mut parts = vec![text(&long)];
        parts.extend((0..11).map(|_| image(PNG)));
        let result = ToolResult {
            parts,
            ..ToolResult::default()
        };
        let done = outcome(&result, &file);
        assert!(done.text.len() < TEXT_MAX + 2_000);
        assert!(done.text.starts_with("first") && done.text.contains("last\n[image"));
        assert!(
            done.text
                .ends_with("[1 more images or other parts that are not text: they are left out; a result may have 10]"),
            "{}",
            done.text.len()
        );
        assert_eq!(done.images.len(), 10);
        assert_eq!(done.spill.as_deref(), Some(&*file));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), long);
    }

    #[test]
    fn images_are_checked_and_named_for_the_model_and_the_user() {
        let file = Path::new("/dev/null/x");
        let with = |parts: Vec<ResultPart>| ToolResult {
            parts,
            ..ToolResult::default()
        };
        let broken_lines = format!("{}\r\n{}", &PNG[..40], &PNG[40..]);
        let done = outcome(&with(vec![text("Look."), image(&broken_lines)]), file);
        assert_eq!(done.text, "Look.\n[image 3x2 png]");
        let line = Display::Line {
            text: "Look. [image 3x2 png]".to_owned(),
        };
        assert_eq!((done.images.len(), done.display), (1, line));
        let many = outcome(&with(vec![image(PNG); 5]), file);
        let line = Display::Line {
            text: "[image 3x2 png] [image 3x2 png] [image 3x2 png] (+2)".to_owned(),
        };
        assert_eq!((many.images.len(), many.display), (5, line));
        for (bad, why) in [
            ("!", "its base64 is damaged"),
            ("aGVsbG8=", "it is not a PNG, JPEG, GIF or WebP image"),
            (&PNG[..80], "it is a damaged or incomplete png image"),
        ] {
            let done = outcome(&with(vec![image(bad)]), file);
            assert_eq!(done.images, []);
            assert!(done.text.contains(why), "{}", done.text);
        }
    }
}
