use super::*;

/// A file of which the disk is full once something is written.
async fn on_a_full_disk(path: &Path) -> SpillFile {
    std::fs::write(path, "the beginning").unwrap();
    SpillFile::Open {
        path: path.to_owned(),
        file: tokio::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .await
            .unwrap(),
    }
}

#[tokio::test]
async fn partial_file_on_a_full_disk_is_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bash.txt");
    let mut spill = on_a_full_disk(&path).await;
    spill.push(b"more").await;
    spill.close().await;
    assert!(spill.failure().unwrap().starts_with("write "));
    assert_eq!(spill.path(), None);
    spill.discard().await;
    assert!(!path.exists(), "half a file fills the disk for nothing");
}
