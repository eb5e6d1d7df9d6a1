//! Scenes.

use std::os::unix::fs::PermissionsExt;

use super::*;

#[tokio::test]
async fn short_output_makes_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut capture = Capture::new(dir.path().join("spill"));
    capture.push(Stream::Stdout, b"out\n").await;
    capture.push(Stream::Stderr, b"err").await;
    capture.finish().await;
    assert_eq!(
        (capture.pieces().head, capture.spilled()),
        ("out\nerr", None)
    );
    assert!(!dir.path().join("spill").exists());
}

#[tokio::test]
async fn long_output_is_all_in_a_private_file_and_bounded_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let mut capture = Capture::new(dir.path().join("spill"));
    let line = format!("{}\n", "x".repeat(1023));
    for _ in 0..3 * 1024 {
        capture.push(Stream::Stdout, line.as_bytes()).await;
        let held = capture.ends.head.capacity() + capture.ends.tail.capacity();
        assert!(held <= 1024 * 1024 + 64 * 1024, "{held} bytes");
    }
    capture.finish().await;
    let path = capture.spilled().unwrap();
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
async fn beyond_the_limit_it_only_counts() {
    let dir = tempfile::tempdir().unwrap();
    let mut capture = Capture::new(dir.path().to_owned());
    capture.bytes = OUTPUT_MAX - 3;
    assert_eq!(capture.push(Stream::Stdout, b"12345").await, "123");
    assert!(capture.too_much());
    assert_eq!(capture.push(Stream::Stdout, b"6").await, "");
    assert_eq!(capture.bytes(), OUTPUT_MAX + 3);
}

#[tokio::test]
async fn a_disk_that_fails_costs_the_file_alone() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("spill"), "a file is in the way").unwrap();
    let mut capture = Capture::new(dir.path().join("spill"));
    capture
        .push(Stream::Stdout, &vec![b'x'; 2 * EARLY_MAX])
        .await;
    capture.finish().await;
    assert!(
        capture
            .spill_failure()
            .is_some_and(|reason| reason.contains("spill"))
    );
    assert_eq!(capture.pieces().head.len(), 2 * EARLY_MAX);
}
