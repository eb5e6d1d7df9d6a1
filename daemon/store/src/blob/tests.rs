use std::fs;
use std::os::unix::fs::MetadataExt;

use super::*;

#[test]
fn a_blob_is_named_by_its_content_and_kept_once() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let blobs = BlobStore::new(dir.path());
    let id = blobs.put(b"abc").expect("it can be put");
    assert_eq!(
        id.to_string(),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    let before = blobs.path(id).metadata().expect("it is there");
    assert_eq!(before.mode() & 0o777, 0o600);
    assert_eq!(blobs.put(b"abc").expect("it can be put again"), id);
    let after = blobs.path(id).metadata().expect("it is there");
    assert_eq!(before.ino(), after.ino());
    assert_eq!(
        fs::read_dir(dir.path().join("blobs"))
            .expect("it is there")
            .count(),
        1
    );
}

#[test]
fn a_truncated_blob_is_written_again() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let blobs = BlobStore::new(dir.path());
    let id = blobs.put(b"abc").expect("it can be put");
    fs::write(blobs.path(id), "a").expect("it is ours");
    blobs.put(b"abc").expect("it can be put again");
    assert_eq!(blobs.read(id, 0, 10).expect("it can be read"), b"abc");
}

#[test]
fn ranges_end_where_the_blob_ends() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let blobs = BlobStore::new(dir.path());
    let id = blobs.put(b"0123456789").expect("it can be put");
    let read = |offset, len| blobs.read(id, offset, len).expect("it can be read");
    assert_eq!(read(2, 3), b"234");
    assert_eq!(read(8, usize::MAX), b"89");
    assert_eq!(read(10, 1), b"");
    assert_eq!(read(u64::MAX, 1), b"");
    assert_eq!(blobs.len(id).expect("it is there"), 10);
    assert!(blobs.read(BlobId::from_content(b"else"), 0, 1).is_err());
}

#[test]
fn only_64_lower_case_digits_name_a_blob() {
    let good = BlobId::from_content(b"abc").to_string();
    assert_eq!(good.parse(), Ok(BlobId::from_content(b"abc")));
    for bad in [
        "",
        "../../etc/passwd",
        &good[1..],
        &good.to_uppercase(),
        &format!("{good}0"),
    ] {
        assert_eq!(bad.parse::<BlobId>(), Err(InvalidBlobId), "{bad}");
    }
}

#[test]
fn sweeping_removes_what_an_interrupted_put_left() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let blobs = BlobStore::new(dir.path());
    blobs.sweep().expect("nothing is there yet");
    let id = blobs.put(b"abc").expect("it can be put");
    fs::write(dir.path().join("blobs/.new-1"), "ab").expect("it is ours");
    blobs.sweep().expect("it can be swept");
    assert_eq!(
        fs::read_dir(dir.path().join("blobs"))
            .expect("it is there")
            .count(),
        1
    );
    assert_eq!(blobs.len(id).expect("it is there"), 3);
}

#[test]
fn a_blob_of_another_session_outlives_it() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (dir.path().join("one"), dir.path().join("other"));
    for dir in [&one, &other] {
        std::fs::create_dir(dir).unwrap();
    }
    let (from, to) = (BlobStore::new(&one), BlobStore::new(&other));
    let id = from.put(b"content").unwrap();
    for _ in 0..2 {
        to.adopt(&from, id).unwrap();
    }
    std::fs::remove_dir_all(&one).unwrap();
    assert_eq!(to.read(id, 0, 100).unwrap(), b"content");
    assert!(from.len(id).is_err());
    assert!(to.adopt(&from, BlobId::from_content(b"none")).is_err());
}
