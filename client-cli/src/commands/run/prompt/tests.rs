//! Scenes for standard input: what joins, and that nothing hangs.

use std::io::{PipeReader, Write, pipe};

use proto::UntypedText;

use super::*;

const SOON: Option<Duration> = Some(Duration::from_millis(1));

fn read_pipe(input: PipeReader, first: Option<Duration>) -> Result<Option<String>, Error> {
    read(&input, &input, first, frame::INBOUND_MAX)
}

fn untyped(start: u64, end: u64, origin: TextOrigin) -> UntypedText {
    UntypedText { start, end, origin }
}

#[test]
fn words_and_input_join() {
    assert_eq!(
        join("explain", Some("text\n".into()), "h").unwrap(),
        Prompt {
            text: "explain\n\ntext\n".into(),
            untyped: vec![untyped(9, 14, TextOrigin::Quoted)],
        }
    );
    assert_eq!(
        join("", Some("text".into()), "h").unwrap(),
        Prompt {
            text: "text".into(),
            untyped: vec![untyped(0, 4, TextOrigin::Stdin)],
        }
    );
    assert_eq!(
        join("explain", None, "h").unwrap(),
        Prompt::typed("explain")
    );
    assert!(matches!(
        join("  ", Some("\n".into()), "h"),
        Err(Error::Usage { .. })
    ));
}

#[test]
fn a_pipe_is_read_to_its_end() {
    let (input, mut output) = pipe().unwrap();
    output.write_all(b"all of it").unwrap();
    drop(output);
    assert_eq!(read_pipe(input, SOON).unwrap(), Some("all of it".into()));
}

/// Parts of an input after each of which its pipe is silent.
struct Parts(PipeReader, Vec<&'static [u8]>);

impl Read for Parts {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1.is_empty() {
            return Ok(0);
        }
        let part = self.1.remove(0);
        buffer[..part.len()].copy_from_slice(part);
        if part == b"begin" {
            self.0.read_exact(&mut [0])?;
        }
        Ok(part.len())
    }
}

#[test]
fn input_that_has_begun_is_read_to_its_end() {
    let (input, mut output) = pipe().unwrap();
    let silent = input.try_clone().unwrap();
    output.write_all(b".").unwrap();
    let parts = Parts(input, vec![b"begin", b" and end"]);
    let read = read(
        &silent,
        parts,
        Some(Duration::from_secs(5)),
        frame::INBOUND_MAX,
    )
    .unwrap();
    assert_eq!(read, Some("begin and end".into()));
    drop(output);
}

#[test]
fn closed_pipe_without_data_is_empty_input() {
    let (input, output) = pipe().unwrap();
    drop(output);
    assert_eq!(read_pipe(input, SOON).unwrap(), Some(String::new()));
}

#[test]
fn an_open_silent_pipe_does_not_hang() {
    let (input, output) = pipe().unwrap();
    assert_eq!(read_pipe(input, SOON).unwrap(), None);
    drop(output);
}

#[test]
fn input_that_is_not_utf8_is_a_usage_error() {
    let (input, mut output) = pipe().unwrap();
    output.write_all(b"\xff\xfe").unwrap();
    drop(output);
    assert!(matches!(read_pipe(input, None), Err(Error::Usage { .. })));
}
