//! What may be at a socket's path, and how it is handled.

use std::os::unix::fs::symlink;
use std::os::unix::net::{UnixListener, UnixStream};

use super::*;

fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory");
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).expect("close it");
    let path = dir.path().join("s");
    (dir, path)
}

fn bind(path: &Path) -> Result<Socket, SocketError> {
    Socket::bind(path)
}

#[tokio::test]
async fn a_dead_socket_is_replaced_and_removed_at_the_end() {
    let (_dir, path) = place();
    drop(UnixListener::bind(&path).expect("a socket of nobody"));
    let socket = bind(&path).expect("in its place");
    assert_eq!(socket.there(), There::Ours);
    let mode = fs::symlink_metadata(&path).expect("it").mode() & 0o777;
    assert_eq!(mode, 0o600);
    drop(socket);
    assert!(!path.exists());
}

#[tokio::test]
async fn what_is_no_socket_is_left_alone() {
    let (dir, path) = place();
    let elsewhere = dir.path().join("precious");
    fs::write(&elsewhere, "precious").expect("a file");
    let plant: [&dyn Fn(); 4] = [
        &|| fs::write(&path, "precious").expect("a file"),
        &|| fs::create_dir(&path).expect("a directory"),
        &|| symlink(&elsewhere, &path).expect("a link"),
        &|| symlink(dir.path().join("nowhere"), &path).expect("a link to nothing"),
    ];
    for plant in plant {
        plant();
        let before = fs::symlink_metadata(&path).expect("it").ino();
        let refused = bind(&path).err().expect("it is in the way");
        assert!(
            matches!(refused, SocketError::Foreign { .. }),
            "{refused:?}"
        );
        assert!(refused.to_string().contains("was not removed"), "{refused}");
        assert_eq!(fs::symlink_metadata(&path).expect("it").ino(), before);
        if path.symlink_metadata().expect("it").is_dir() {
            fs::remove_dir(&path).expect("remove");
        } else {
            fs::remove_file(&path).expect("remove");
        }
    }
    assert_eq!(fs::read_to_string(&elsewhere).expect("it"), "precious");
}

#[tokio::test]
async fn a_socket_that_somebody_listens_on_is_not_taken() {
    let (_dir, path) = place();
    let theirs = UnixListener::bind(&path).expect("somebody's");
    let refused = bind(&path).err().expect("it is taken");
    assert!(matches!(refused, SocketError::Taken { .. }), "{refused:?}");
    UnixStream::connect(&path).expect("it is still theirs");
    // Once they are gone it is dead.
    drop(theirs);
    bind(&path).expect("in its place");
}

#[tokio::test]
async fn what_took_the_path_over_is_not_removed_at_the_end() {
    let (_dir, path) = place();
    let socket = bind(&path).expect("a socket");
    fs::remove_file(&path).expect("remove it");
    assert_eq!(socket.there(), There::Nothing);
    fs::write(&path, "another's").expect("a file");
    assert_eq!(socket.there(), There::SomethingElse);
    drop(socket);
    assert_eq!(fs::read_to_string(&path).expect("it"), "another's");
}

#[tokio::test]
async fn a_directory_that_others_can_write_is_refused() {
    let (dir, path) = place();
    for mode in [0o777, 0o770, 0o720, 0o702] {
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(mode)).expect("open it");
        let refused = bind(&path).err().expect("it is open");
        assert!(
            matches!(refused, SocketError::Open { .. }),
            "{mode:o}: {refused:?}"
        );
        assert_eq!(
            fs::metadata(dir.path()).expect("it").mode() & 0o777,
            mode,
            "nothing is changed without the user's knowledge"
        );
    }
}

#[test]
fn refusals_wait_longer_and_longer_but_never_long() {
    let mut refusals = Refusals::default();
    let error = io::Error::other("no more descriptors");
    let waits: Vec<_> = (0..100).map(|_| refusals.refused(&error)).collect();
    assert_eq!(waits.first(), Some(&ACCEPT_WAIT));
    assert!(waits.is_sorted());
    assert_eq!(waits.last(), Some(&ACCEPT_WAIT_MAX));
    assert!(refusals.accepted());
    assert!(!refusals.accepted());
    assert_eq!(refusals.refused(&error), ACCEPT_WAIT);
}
