//! Frames, however they are cut.

use tokio::io::BufReader;

use super::*;

async fn frames(bytes: &[u8], buffer: usize, max: usize) -> Vec<Frame> {
    let mut reader = BufReader::with_capacity(buffer, bytes);
    let mut frames = Vec::new();
    loop {
        let frame = read(&mut reader, max).await.unwrap();
        let last = matches!(frame, Frame::End | Frame::TooLong);
        frames.push(frame);
        if last {
            return frames;
        }
    }
}

#[tokio::test]
async fn lines_are_frames_however_they_are_cut_and_half_a_line_is_none() {
    let line = |text: &str| Frame::Line(text.as_bytes().to_vec());
    for buffer in 1..12 {
        let found = frames(b"{\"a\":1}\n\n{\"b\":2}\n{\"half", buffer, 100).await;
        assert_eq!(
            found,
            [line("{\"a\":1}"), line(""), line("{\"b\":2}"), Frame::End],
            "buffer {buffer}"
        );
    }
}

#[tokio::test]
async fn a_line_that_is_too_long_ends_it_without_being_kept() {
    for buffer in [1, 3, 64] {
        assert_eq!(
            frames(b"12345\n123456\nnever", buffer, 5).await,
            [Frame::Line(b"12345".to_vec()), Frame::TooLong]
        );
    }
}
