//! `read_file`: numbered lines of a text file, or an image.

use std::path::PathBuf;

use contract::{ArgumentUse, Family, ImageError, Outcome, OutcomeImage, ToolSpec, image};
use proto::item::{Display, ToolKind};
use proto::record::KnownFile;
use schemars::JsonSchema;
use serde::Deserialize;
use workspace::{Access, LineWindow, ResolvedPath, WindowContent};

use crate::arguments::{self, Arguments, path_aliases};
use crate::file_tool::{Call, FileTool};
use crate::files::{self, CallPath};
use crate::memory::Memory;
use crate::truncate;

/// For the model.
const DESCRIPTION: &str = "Read a text file as numbered lines (`number<TAB>text`; the number is not part of the file), or look at an image (PNG, JPEG …). Returns up to 2000 lines; for more, give `offset` and `limit`. `path` is relative to the working directory, absolute, or starts with `~/`. Read a file before you change it.";

const LINES_DEFAULT: u64 = 2000;
const TOKENS_MAX: usize = 64_000;
const LINE_CHARS_MAX: usize = 2000;
/// Bytes of a file that is read quickly: hashing them takes a tenth of a millisecond.
const QUICK_BYTES: u64 = 64 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    path: String,
    /// First line, from 1
    offset: Option<u64>,
    /// Lines; default 2000
    limit: Option<u64>,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] =
        path_aliases![("start_line", "offset"), ("lines", "limit")];
}

pub(crate) struct ReadFile;

impl FileTool for ReadFile {
    type Args = Args;
    type Plan = ResolvedPath;

    fn spec() -> ToolSpec {
        ToolSpec {
            kind: ToolKind::Read,
            shallow: true,
            ..arguments::spec::<Args>("read_file", DESCRIPTION, Family::Read)
                .with_names(Some("Read"), &[])
                .with_arguments(&[("path", ArgumentUse::Read)])
        }
    }

    fn plan(args: &Args, call: &Call<'_>) -> Result<ResolvedPath, Outcome> {
        call.place(CallPath::at(&args.path, Access::Read))
    }

    fn shown(_: &Args, at: &ResolvedPath, _: &Call<'_>) -> Result<Display, Outcome> {
        let text = format!("read {}", at.path().display());
        Ok(Display::Line { text })
    }

    fn act(args: &Args, at: ResolvedPath, call: &Call<'_>) -> Result<Outcome, Outcome> {
        read(call, &at, args)
    }

    fn is_quick(places: &[PathBuf]) -> bool {
        let mut places = places.iter().map(std::fs::symlink_metadata);
        places.all(|found| found.is_ok_and(|file| file.is_file() && file.len() <= QUICK_BYTES))
    }
}

fn read(call: &Call<'_>, at: &ResolvedPath, args: &Args) -> Result<Outcome, Outcome> {
    let first = args.offset.unwrap_or(1).max(1);
    let lines_max = args
        .limit
        .filter(|limit| *limit > 0)
        .unwrap_or(LINES_DEFAULT);
    let window = LineWindow {
        first,
        lines_max,
        // Four bytes make a character, and at least a quarter of a token.
        line_bytes_max: LINE_CHARS_MAX * 4,
        bytes_max: TOKENS_MAX * 4,
    };
    let kept = call
        .memory
        .workspace()
        .window(at, window)
        .map_err(|error| files::file_failed(&error))?;
    let shown = call.name(at);
    if image::format_of(&kept.head).is_some() {
        return read_image(call, at, &shown, &kept);
    }
    if let Some(kind) = not_text(&shown, &kept.head) {
        return Err(Outcome::failed(format!(
            "`{shown}` is {kind} of {} bytes and cannot be read as text; look into it with a program through `bash`",
            kept.stamp.size
        )));
    }
    if kept.total == 0 {
        return Ok(Outcome {
            known: known(&call.memory, at, &kept),
            ..files::done_line("(empty file)".to_owned(), format!("read {shown}: empty"))
        });
    }
    if first > kept.total {
        return Err(Outcome::failed(format!(
            "`{shown}` has {} lines; `offset` {first} is behind its end",
            kept.total
        )));
    }
    let known = known(&call.memory, at, &kept);
    let (mut text, count) = numbered(&kept, first);
    let last = first + count - 1;
    if last < kept.total {
        text.push_str(&format!(
            "[lines {first}–{last} of {}; go on with `offset` {}]\n",
            kept.total,
            last + 1
        ));
    }
    if std::str::from_utf8(&kept.head).is_err_and(|error| error.error_len().is_some()) {
        text.push_str("[not UTF-8: bytes that are none are shown as �]\n");
    }
    let line = format!("read {shown}: lines {first}–{last} of {}", kept.total);
    Ok(Outcome {
        known,
        ..files::done_line(text, line)
    })
}

/// The file as an image for the model.
fn read_image(
    call: &Call<'_>,
    at: &ResolvedPath,
    shown: &str,
    kept: &WindowContent,
) -> Result<Outcome, Outcome> {
    let refused = |error: ImageError| {
        Outcome::failed(format!(
            "`{shown}` is an image that cannot be shown: {error}.\nConvert it or look into it with a program through `bash`."
        ))
    };
    let size = usize::try_from(kept.stamp.size).unwrap_or(usize::MAX);
    if size > image::IMAGE_BYTES_MAX {
        return Err(refused(ImageError::TooManyBytes(size)));
    }
    let file = call.memory.workspace().read(at);
    let file = file.map_err(|error| files::file_failed(&error))?;
    let image = OutcomeImage::read(file.bytes).map_err(refused)?;
    let label = image.image.label();
    Ok(Outcome {
        known: known(&call.memory, at, kept),
        images: vec![image],
        ..files::done_line(format!("[{label}]"), format!("read {shown}: {label}"))
    })
}

/// Remembers that the file was read, at the state of this very reading.
fn known(memory: &Memory, at: &ResolvedPath, kept: &WindowContent) -> Vec<KnownFile> {
    let known = if kept.stamp.size == kept.head.len() as u64 {
        // The beginning is all of it.
        memory.know_content(at.path(), kept.stamp, &kept.head)
    } else {
        // The window may lack any part of a longer one, and the ends of its lines: its content takes a second reading.
        memory.know(at.path(), kept.stamp)
    };
    known.into_iter().collect()
}

/// The lines with their numbers, as many as the token limit holds.
fn numbered(kept: &WindowContent, first: u64) -> (String, u64) {
    let mut text = String::new();
    let mut left = TOKENS_MAX.saturating_sub(64);
    let mut count = 0;
    for (number, line) in (first..).zip(&kept.lines) {
        let whole = String::from_utf8_lossy(&line.bytes);
        // The mark that some editors put at a file's very beginning says nothing to a model.
        let whole = if number == 1 {
            whole.strip_prefix('\u{feff}').unwrap_or(&whole)
        } else {
            &whole
        };
        let end = whole.char_indices().nth(LINE_CHARS_MAX).map(|(end, _)| end);
        let shown = &whole[..end.unwrap_or(whole.len())];
        let left_out = line.left_out + (whole.len() - shown.len()) as u64;
        let note = if left_out > 0 {
            format!(" [… {left_out} bytes of this line left out]")
        } else {
            String::new()
        };
        let row = format!("{number}\t{shown}{note}\n");
        let cost = truncate::tokens(&row);
        if cost > left && count > 0 {
            break;
        }
        left = left.saturating_sub(cost);
        text.push_str(&row);
        count += 1;
    }
    (text, count)
}

/// The kind of a file that is not text.
fn not_text(path: &str, head: &[u8]) -> Option<&'static str> {
    const MAGIC: [(&[u8], &str); 10] = [
        (b"BM\0", "a BMP image"),
        (b"%PDF-", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive (or a document in that form)"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
        (b"\xfd7zXZ", "an XZ archive"),
        (b"\x7fELF", "an ELF program or library"),
        (b"\xcf\xfa\xed\xfe", "a Mach-O program or library"),
        (b"\0asm", "a WebAssembly module"),
        (b"SQLite format 3\0", "an SQLite database"),
    ];
    if let Some((_, name)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(name);
    }
    if path.to_ascii_lowercase().ends_with(".ipynb") {
        return Some("a notebook");
    }
    head.contains(&0).then_some("a binary file")
}

#[cfg(test)]
mod tests;
