use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn mode(path: &Path) -> u32 {
    path.metadata().expect("it is there").mode() & 0o777
}

#[test]
fn a_home_is_made_private_with_all_its_directories() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("some/home");
    let home = Home::open(&path).expect("it can be made");
    assert_eq!(mode(home.root()), 0o700);
    for place in [
        home.sessions(),
        home.run(),
        home.logs(),
        home.open_markers(),
        home.usage(),
    ] {
        assert_eq!(mode(&place), 0o700, "{}", place.display());
    }
    assert_eq!(Home::open(&path).expect("it can be opened again"), home);
}

#[test]
fn a_home_that_others_can_write_is_refused_with_the_remedy() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("home");
    let home = Home::open(&path).expect("it can be made");
    for place in [home.root().to_owned(), home.sessions()] {
        fs::set_permissions(&place, Permissions::from_mode(0o770)).expect("it is ours");
        let error = Home::open(&path).expect_err("others can write").to_string();
        assert!(error.contains("mode 0770"), "{error}");
        assert!(
            error.contains(&format!("chmod go-w {}", place.display())),
            "{error}"
        );
        fs::set_permissions(&place, Permissions::from_mode(0o700)).expect("it is ours");
    }
    fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("it is ours");
    Home::open(&path).expect("reading alone does no harm");
}

#[test]
fn a_link_or_file_in_place_of_a_directory_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("home");
    let home = Home::open(&path).expect("it can be made");
    fs::remove_dir(home.run()).expect("it is empty");
    symlink("/tmp", home.run()).expect("links can be made");
    let refused = Home::open(&path);
    assert!(matches!(refused, Err(HomeError::NotADirectory { path }) if path == home.run()));

    let file = dir.path().join("file");
    fs::write(&file, "").expect("files can be written");
    assert!(matches!(
        Home::open(&file),
        Err(HomeError::NotADirectory { .. })
    ));
}

#[test]
fn only_what_is_named_like_a_session_is_one() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let home = Home::open(dir.path()).expect("it can be opened");
    let session = SessionId::new();
    fs::create_dir(home.session_dir(session)).expect("it is ours");
    for other in [
        "lost+found",
        "0000",
        &SessionId::new().to_string().to_uppercase(),
    ] {
        fs::create_dir(home.sessions().join(other)).expect("it is ours");
    }
    assert_eq!(home.session_ids().expect("it can be read"), [session]);
}
