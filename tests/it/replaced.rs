//! Files of a project that were replaced by something else, as a command may do: a device, a FIFO, a file without end. The
//! daemon reads some of them by itself, and stays as small and as quick as before.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use proto::Pid;
use proto::item::CallStatus;
use serde_json::json;
use testkit::model::{Answer, Model};
use tests::House;

use crate::scripted;

/// Files that the daemon, its tools or git look at without being asked for them.
const FILES: [&str; 14] = [
    ".gitignore",
    ".ignore",
    ".rgignore",
    "sub/.gitignore",
    ".git/info/exclude",
    ".git/index",
    ".git/HEAD",
    ".git/commondir",
    ".git/packed-refs",
    ".env",
    "AGENTS.md",
    "reasonix.toml",
    ".reasonix/config.toml",
    "sub/notes.txt",
];

/// Bytes by which the daemon may grow.
const GROWTH_MAX: u64 = 32 * 1024 * 1024;

fn plant(what: &str, path: &Path) {
    match what {
        "device" => symlink("/dev/zero", path).unwrap(),
        "link loop" => symlink(path.file_name().unwrap(), path).unwrap(),
        "sparse file" => fs::File::create(path).unwrap().set_len(10 << 30).unwrap(),
        "directory" => fs::create_dir(path).unwrap(),
        "socket" => {
            // A path may be too long for a socket.
            let made = std::env::temp_dir().join(format!("rx-socket-{}", std::process::id()));
            drop(UnixListener::bind(&made).unwrap());
            fs::rename(&made, path).unwrap();
        }
        "FIFO" => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
        _ => panic!("{what}"),
    }
}

/// The most memory that the daemon ever had, in bytes.
fn peak(house: &House) -> u64 {
    let status = house
        .reasonix(&["daemon", "status", "--json"])
        .expect_code(0);
    let pid = status.json()["pid"].as_u64().unwrap();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.unwrap().trim().strip_suffix(" kB").unwrap();
    kib.parse::<u64>().unwrap() * 1024
}

/// One run that looks at everything.
fn look_around(house: &House, model: &Model) {
    model.push([
        Answer::call("glob", json!({"pattern": "**/*.txt"}))
            .and_call("grep", json!({"pattern": "needle"}))
            .and_call("ls", json!({"path": "."})),
        Answer::call("bash", json!({"command": "echo changed > made.txt"})),
        Answer::call("read_file", json!({"path": "sub/notes.txt"})),
        Answer::call(
            "grep",
            json!({"pattern": "needle", "include_ignored": true}),
        ),
        Answer::text("Seen."),
    ]);
    let _ = scripted::run(house, &["--on-ask", "allow"], "look").expect(0, "completed");
}

#[test]
fn special_files_in_a_project_neither_grow_daemon_memory_nor_block_search() {
    for what in [
        "device",
        "link loop",
        "sparse file",
        "directory",
        "socket",
        "FIFO",
    ] {
        let model = Model::start([]);
        let house = scripted::house(&model);
        house.files("//- src/a.txt\nneedle\n//- sub/b.txt\nneedle\n");
        let git = Command::new("git")
            .args(["init", "-q"])
            .current_dir(house.project())
            .status();
        assert!(git.unwrap().success());
        look_around(&house, &model);
        let before = peak(&house);
        for file in FILES {
            let path = house.project().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if path.symlink_metadata().is_ok() {
                fs::remove_file(&path).unwrap();
            }
            plant(what, &path);
        }
        look_around(&house, &model);
        let _ = house.reasonix(&["doctor"]);
        let grown = peak(&house).saturating_sub(before);
        assert!(grown < GROWTH_MAX, "{what}: grown by {grown} bytes");
        let log = house.log(Pid(2));
        let results = log.check().results();
        let found = |text: &str| results[0].text.contains(text);
        assert!(
            found("src/a.txt") && found("sub/b.txt"),
            "{what}: {}",
            results[0].text
        );
        let grep = &results[1];
        assert_eq!(grep.status, CallStatus::Ok, "{what}: {}", grep.text);
        assert!(grep.text.contains("src/a.txt"), "{what}: {}", grep.text);
        assert!(grep.text.contains("could not be"), "{what}: {}", grep.text);
    }
}

/// Files that the daemon's own git looks for when it saves what commands change.
const FILES_FOR_GIT: [&str; 3] = [
    ".git/objects/info/alternates",
    ".git/info/attributes",
    ".gitattributes",
];

/// A repository with all files of the project in its first commit.
fn commit(house: &House) {
    for arguments in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["commit", "-qm", "first"],
    ] {
        let mut command = Command::new("git");
        // Its own work in the background would outlive the test.
        command.args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"]);
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        let done = command.args(arguments).current_dir(house.project());
        assert!(done.status().unwrap().success(), "{arguments:?}");
    }
}

#[test]
fn rewind_undoes_command_changes_after_a_git_file_became_a_special_file() {
    for what in ["device", "link loop", "sparse file", "directory", "FIFO"] {
        for file in FILES_FOR_GIT {
            let model = Model::start([
                Answer::call("bash", json!({"command": "echo new > kept.txt"})),
                Answer::text("Done."),
            ]);
            let house = scripted::house(&model);
            house.files("//- kept.txt\nold\n");
            commit(&house);
            let path = house.project().join(file);
            if path.symlink_metadata().is_ok() {
                fs::remove_file(&path).unwrap();
            }
            plant(what, &path);
            let _ =
                scripted::run(&house, &["--on-ask", "allow"], "change it").expect(0, "completed");
            assert_eq!(house.read("kept.txt"), "new\n", "{what} {file}");
            let _ = house.reasonix(&["rewind", "1", "0", "-q"]).expect_code(0);
            assert_eq!(house.read("kept.txt"), "old\n", "{what} {file}");
        }
    }
}

#[test]
fn worktree_of_a_repository_with_such_a_file_is_refused_with_its_name() {
    for what in ["device", "sparse file", "FIFO"] {
        for file in [".git/objects/info/alternates", ".gitattributes"] {
            let house = scripted::house(&Model::start([]));
            house.files("//- kept.txt\nold\n");
            commit(&house);
            plant(what, &house.project().join(file));
            let refused = house.reasonix(&["run", "--worktree", "hi"]);
            assert_ne!(refused.code(), Some(0), "{what} {file}");
            let name = file.strip_prefix(".git/").unwrap_or(file);
            assert!(refused.err.contains(name), "{what} {file}: {}", refused.err);
        }
    }
}

#[test]
fn rewind_undoes_command_changes_when_alternates_becomes_a_device_later() {
    let model = Model::start([
        Answer::call(
            "bash",
            json!({"command": "echo new > kept.txt; rm gone.txt"}),
        ),
        Answer::text("Done."),
    ]);
    let house = scripted::house(&model);
    house.files("//- kept.txt\nold\n//- gone.txt\nhere\n");
    commit(&house);
    let _ = scripted::run(&house, &["--on-ask", "allow"], "change it").expect(0, "completed");
    let list = house.project().join(".git/objects/info/alternates");
    plant("device", &list);
    let _ = house.reasonix(&["rewind", "1", "0", "-q"]).expect_code(0);
    assert_eq!(house.read("kept.txt"), "old\n");
    assert_eq!(house.read("gone.txt"), "here\n");
}
