//! Every file that the product makes is its user's alone (I32), and another user gets no word out of it (I10).

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use testkit::Script;
use tests::house::client_program;
use tests::program::run;
use tests::{House, skip};

/// Everything below a directory whose mode lets others in, with it.
fn open_to_others(directory: &Path, found: &mut Vec<(PathBuf, u32)>) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        let meta = path.symlink_metadata().expect("its mode");
        if meta.file_type().is_symlink() {
            continue;
        }
        count += 1;
        if meta.mode() & 0o077 != 0 {
            found.push((path.clone(), meta.permissions().mode()));
        }
        if meta.is_dir() {
            count += open_to_others(&path, found);
        }
    }
    count
}

#[test]
fn files_in_the_home_are_private_even_with_umask_0() {
    let script = Script::new()
        .runs("seq 1 200000")
        .calls("write_file", &json!({"path": "b.txt", "content": "made\n"}))
        .runs("echo more >> b.txt")
        .says("Done.")
        .says("Again.");
    let house = House::playing(&script);
    house.files("//- a.txt\nwords\n//- reasonix.toml\n[permissions]\nmode = \"auto\"\n");
    let _ = Command::new("git")
        .args(["init", "-q"])
        .current_dir(house.project())
        .status();
    // What the test itself has put there does not count.
    let own: Vec<PathBuf> = ["config.toml", "cassette.jsonl"]
        .map(|name| house.home_file(name))
        .to_vec();
    let before = files_in(Path::new("/tmp"));
    // The loosest mask that there is: nothing may depend on it.
    let reasonix = |arguments: &[&str]| {
        let mut line = vec!["-c", "umask 0; exec \"$@\"", "sh"];
        let program = client_program();
        let program = program.to_string_lossy();
        line.push(&program);
        line.extend(arguments);
        let mut command = house.program(Path::new("/bin/sh"));
        run(command.args(line))
    };
    let _ = reasonix(&["run", "--on-ask", "allow", "go"]).expect_code(0);
    let _ = reasonix(&["fork", "1"]);
    let _ = reasonix(&["run", "-s", "1", "again"]);
    let _ = reasonix(&["trust", "--yes"]).expect_code(0);
    let _ = reasonix(&["config", "set", "agent.max_steps", "40"]).expect_code(0);
    let _ = house
        .reasonix_reading(
            &["login", "deepseek", "--key-stdin", "--no-probe"],
            "sk-a-key-of-the-test-1\n",
        )
        .expect_code(0);
    let _ = reasonix(&["search", "Done"]);
    let _ = reasonix(&["doctor"]);
    let mut found = Vec::new();
    let count = open_to_others(&house.home(), &mut found);
    found.retain(|(path, _)| !own.contains(path));
    assert!(count > 20, "{count}");
    assert!(found.is_empty(), "others may look: {found:?}");
    assert!(house.home().metadata().expect("the home").mode() & 0o077 == 0);
    assert!(
        house
            .socket()
            .metadata()
            .expect("the socket")
            .file_type()
            .is_socket()
    );
    // In directories that all users share nothing was made under a name that others can foresee.
    let after = files_in(Path::new("/tmp"));
    let made: Vec<_> = after
        .iter()
        .filter(|name| !before.contains(name) && name.contains("reasonix"))
        .collect();
    assert!(made.is_empty(), "{made:?}");
}

fn files_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn another_user_gets_no_answer_even_where_the_files_would_let_them_in() {
    let can = || {
        skip::works(&["setpriv", "--reuid", "65534", "--clear-groups", "true"])
            && skip::works(&["/usr/bin/python3", "-c", ""])
    };
    if skip::unless_root("becoming another user") || skip::unless(can(), "setpriv and python3") {
        return;
    }
    let house = House::playing(&Script::new().says("Hello."));
    house.daemon();
    // As if somebody had opened everything by mistake.
    for path in [
        house.root().to_path_buf(),
        house.home(),
        house.home().join("run"),
        house.socket(),
    ] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).expect("a mode");
    }
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "daemon.hello", "params":
        tests::raw::hello_params("stranger", proto::hello::Role::Watch)});
    let say = "import socket,sys\ns=socket.socket(socket.AF_UNIX);s.settimeout(20);s.connect(sys.argv[1])\n\
               try:\n  s.sendall(sys.argv[2].encode()+b'\\n')\n  print('GOT',len(s.recv(65536)))\n\
               except OSError as e:\n  print('GOT 0',e)\n";
    let talk = |user: &[&str]| {
        let mut command = Command::new("setpriv");
        command
            .args(user)
            .args(["/usr/bin/python3", "-c", say])
            .arg(house.socket())
            .arg(hello.to_string());
        run(&mut command).expect_code(0).out
    };
    let own = talk(&["--reuid", "0"]);
    assert!(
        own.starts_with("GOT ") && !own.starts_with("GOT 0"),
        "the test can talk: {own}"
    );
    let other = talk(&["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    assert!(
        other.starts_with("GOT 0"),
        "a stranger was answered: {other}"
    );
    for path in [
        house.home().join("run"),
        house.home(),
        house.root().to_path_buf(),
    ] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).expect("a mode");
    }
}
