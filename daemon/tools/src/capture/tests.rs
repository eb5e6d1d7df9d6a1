//! Scenes.

use std::os::unix::fs::PermissionsExt;

use super::spill::EARLY_MAX;
use super::*;

const END_MAX: usize = 128 * 1024;

#[tokio::test]
async fn short_output_makes_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut capture = Capture::new(dir.path().join("spill"), END_MAX);
    capture.push(b"out\n").await;
    capture.push(b"err").await;
    capture.finish().await;
    assert_eq!(
        (capture.pieces().head, capture.spill.path()),
        ("out\nerr", None)
    );
    assert!(!dir.path().join("spill").exists());
}

#[tokio::test]
async fn long_output_is_all_in_a_private_file_and_bounded_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let mut capture = Capture::new(dir.path().join("spill"), END_MAX);
    let line = format!("{}\n", "x".repeat(1023));
    for _ in 0..3 * 1024 {
        capture.push(line.as_bytes()).await;
        let held = capture.pieces().head.len() + capture.pieces().tail.len();
        assert!(held <= 3 * END_MAX, "{held} bytes");
    }
    capture.finish().await;
    let path = capture.spill.path().unwrap();
    let meta = std::fs::metadata(path).unwrap();
    assert_eq!(
        (meta.len(), meta.permissions().mode() & 0o777),
        (3 * 1024 * 1024, 0o600)
    );
    assert_eq!(
        std::fs::metadata(dir.path().join("spill"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o700
    );
    let pieces = capture.pieces();
    assert_eq!(
        pieces.head.len() as u64 + pieces.missing + pieces.tail.len() as u64,
        3 * 1024 * 1024
    );
    assert_eq!(capture.tail(10), format!("{}\n", "x".repeat(9)));
}

#[tokio::test]
async fn capture_beyond_the_output_limit_only_counts_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let mut capture = Capture::new(dir.path().to_owned(), END_MAX);
    capture.bytes = OUTPUT_MAX - 3;
    assert_eq!(capture.push(b"12345").await, "123");
    assert!(capture.too_much());
    assert_eq!(capture.push(b"6").await, "");
    assert_eq!(capture.bytes(), OUTPUT_MAX + 3);
}

#[tokio::test]
async fn failure_to_create_the_spill_file_keeps_the_output_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("spill"), "a file is in the way").unwrap();
    let mut capture = Capture::new(dir.path().join("spill"), END_MAX);
    capture.push(&vec![b'x'; 2 * EARLY_MAX]).await;
    capture.finish().await;
    assert!(
        matches!(capture.keep_spill().await, FullOutput::Nowhere(reason) if reason.contains("spill"))
    );
    assert_eq!(capture.pieces().head.len(), 2 * EARLY_MAX);
}

#[tokio::test]
async fn taken_output_is_not_returned_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut capture = Capture::new(dir.path().join("spill"), END_MAX);
    capture.push(b"10%\r20%\none\nbeg\xe4\xb8").await;
    assert_eq!(capture.take().pieces().head, "20%\none\n");
    assert_eq!(capture.take().pieces().head, "");
    // A line that has not ended, when it is asked for; the character that has not, never.
    capture.take_begun().await;
    assert_eq!(capture.take().pieces().head, "beg");
    capture.push(b"\xadun\n").await;
    capture.push(b"50%\r").await;
    assert_eq!(capture.take().pieces().head, "\u{4e2d}un\n");
    capture.finish().await;
    assert_eq!(capture.take().pieces().head, "50%");
}

#[tokio::test]
async fn reported_spill_file_receives_later_output_until_discarded() {
    let dir = tempfile::tempdir().unwrap();
    let mut capture = Capture::new(dir.path().join("spill"), END_MAX);
    capture.push(b"one\n").await;
    let kept = capture.keep_spill().await;
    let path = kept.file().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), "one\n");
    capture.push(b"two\n").await;
    capture.finish().await;
    assert_eq!(std::fs::read_to_string(path).unwrap(), "one\ntwo\n");
    assert_eq!(capture.keep_spill().await.file(), Some(path));
    capture.discard_spill().await;
    assert!(!path.exists());
}
