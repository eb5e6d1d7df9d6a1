//! Moves to another disk and back.

use crate::absent::AbsentName;

use super::*;

fn arrival(root: &Path, name: &str) -> Arrival {
    let name = AbsentName {
        root: root.to_path_buf(),
        path: root.join(name),
        at_once: false,
    };
    name.arrival().unwrap().expect("it came")
}

#[test]
fn everything_is_copied_to_another_disk_and_the_name_is_free() {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    let from = top.join(".reasonix");
    fs::create_dir_all(from.join("deep")).unwrap();
    fs::write(from.join("deep/tool"), "text").unwrap();
    fs::set_permissions(from.join("deep/tool"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("/etc/passwd", from.join("link")).unwrap();
    rustix::fs::mkfifoat(CWD, from.join("pipe"), Mode::from_bits_truncate(0o600)).unwrap();
    let to = top.join("kept");
    let moved = copy_away(&arrival(&top, ".reasonix"), &to).unwrap();
    assert_eq!(moved, QuarantineOutcome::To(to.clone()));
    let left: Vec<_> = fs::read_dir(&top).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(fs::read_to_string(to.join("deep/tool")).unwrap(), "text");
    let mode = to.join("deep/tool").metadata().unwrap().mode();
    assert_eq!(mode & 0o777, 0o755);
    let link = fs::read_link(to.join("link")).unwrap();
    assert_eq!(link, Path::new("/etc/passwd"));
    let pipe = to.join("pipe").symlink_metadata().unwrap();
    assert!(pipe.file_type().is_fifo());
}

#[test]
fn what_cannot_be_copied_is_kept_beside_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(top.join(".mcp.json")).unwrap();
    let moved = copy_away(&arrival(&top, ".mcp.json"), &top.join("kept")).unwrap();
    assert_eq!(
        moved,
        QuarantineOutcome::To(top.join(".mcp.json.quarantined-1"))
    );
    assert!(!top.join(".mcp.json").exists() && top.join(".mcp.json.quarantined-1").exists());
}

#[test]
fn file_put_back_from_quarantine_overwrites_nothing_and_breaks_hard_links() {
    let dir = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(dir.path()).unwrap();
    let quarantine = Quarantine::new(top.join("quarantine"));
    let path = top.join("ws/.mcp.json");
    fs::create_dir(top.join("ws")).unwrap();
    fs::write(&path, "agreed").unwrap();
    fs::hard_link(&path, top.join("ws/twin")).unwrap();
    let moved = quarantine.take("7", &arrival(&top.join("ws"), ".mcp.json"));
    let Ok(QuarantineOutcome::To(kept)) = moved else {
        panic!("{moved:?}")
    };
    fs::write(&path, "another").unwrap();
    let why = quarantine.put_back(&kept, &path, false).unwrap_err();
    assert!(why.starts_with("there is another `"), "{why}");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "agreed");
    fs::remove_file(&path).unwrap();
    quarantine.put_back(&kept, &path, false).unwrap();
    fs::write(top.join("ws/twin"), "changed").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "agreed");
    let left: Vec<_> = fs::read_dir(top.join("quarantine")).unwrap().collect();
    assert_eq!(left.len(), 0, "{left:?}");
}
