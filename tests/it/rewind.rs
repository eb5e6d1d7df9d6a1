//! Going back with the real programs: files that a tool and a command have changed, in a git work tree.

use proto::hello::Role;
use proto::methods::{SessionCheckpoints, SessionRewind};
use proto::params::history::RewindParams;
use proto::params::session::OneParams;
use serde_json::json;
use testkit::Script;
use tests::{House, until};

const PROJECT: &str = "\
//- greet.sh
echo helo
//- notes
mine
";

#[test]
fn a_rewind_takes_back_what_a_tool_and_a_command_did_and_its_undoing_gives_it_again() {
    let script = Script::new()
        .calls("read_file", &json!({"path": "greet.sh"}))
        .calls(
            "edit_file",
            &json!({"path": "greet.sh", "old_string": "helo", "new_string": "hello"}),
        )
        .runs("rm notes; mkdir made; echo n > made/new; echo '# done' >> greet.sh")
        .says("Done.");
    let house = House::playing(&script);
    house.files(PROJECT);
    let git = std::process::Command::new("git")
        .args(["init", "-q", "."])
        .current_dir(house.project())
        .status();
    assert!(git.is_ok_and(|status| status.success()), "git is installed");
    house.daemon();
    let _ = house
        .reasonix(&["run", "--on-ask", "allow", "Fix the greeting"])
        .expect_code(0);
    assert_eq!(house.read("greet.sh"), "echo hello\n# done\n");
    house.log(proto::Pid(1)).check();

    house.block_on(async {
        let client = house.client("ann", Role::Drive).await;
        let one = OneParams {
            session: "1".into(),
        };
        let listed = client.call::<SessionCheckpoints>(&one).await.unwrap();
        let turn = &listed.turns[0];
        assert_eq!(turn.files, ["greet.sh", "made/new", "notes"]);
        assert!(turn.notes.is_empty(), "{:?}", turn.notes);
        let params = RewindParams {
            session: "1".into(),
            to_turn: Some(0),
            ..RewindParams::default()
        };
        let outcome = client.call::<SessionRewind>(&params).await.unwrap();
        assert_eq!(house.read("greet.sh"), "echo helo\n", "{outcome:?}");
        assert_eq!(house.read("notes"), "mine\n", "{outcome:?}");
        assert!(!house.project().join("made").exists(), "{outcome:?}");
        let undo = RewindParams {
            session: "1".into(),
            undo: true,
            ..RewindParams::default()
        };
        let outcome = client.call::<SessionRewind>(&undo).await.unwrap();
        assert_eq!(
            house.read("greet.sh"),
            "echo hello\n# done\n",
            "{outcome:?}"
        );
        assert_eq!(house.read("made/new"), "n\n", "{outcome:?}");
        assert!(!house.project().join("notes").exists(), "{outcome:?}");
    });
}

/// The daemon is killed while it puts some hundreds of files back. The client asks again by itself, or it is gone too:
/// either way one undoing gives back every file as it was before the rewind.
#[test]
fn a_daemon_that_is_killed_in_a_rewind_loses_no_file() {
    for repeats in [true, false] {
        let script = Script::new()
            .runs("for i in $(seq 300); do echo changed >> $i; done; for i in $(seq 600); do echo $i > new$i; done")
            .says("Done.");
        let house = House::playing(&script);
        for number in 1..=300 {
            std::fs::write(house.project().join(number.to_string()), "one\n").unwrap();
        }
        let git = std::process::Command::new("git")
            .args(["init", "-q", "."])
            .current_dir(house.project())
            .status();
        assert!(git.is_ok_and(|status| status.success()), "git is installed");
        house.daemon();
        let _ = house
            .reasonix(&["run", "--on-ask", "allow", "Change it all"])
            .expect_code(0);
        let before = tree(&house);
        assert_eq!(before.len(), 900);
        let rewind = house.start(&["rewind", "1", "0", "-q"]);
        // What goes, goes from the end.
        let first = house.project().join("new99");
        until("the first file to be gone", || {
            (!first.exists()).then_some(())
        });
        if !repeats {
            rewind.signal(rustix::process::Signal::KILL);
        }
        house.kill_daemon();
        house.wait_for_daemon();
        let done = rewind.done();
        if repeats {
            let _ = done.expect_code(0);
            let after = tree(&house);
            assert_eq!(after.len(), 300);
            assert!(after.values().all(|content| content == "one\n"));
        }
        let _ = house
            .reasonix(&["rewind", "1", "--undo", "-q"])
            .expect_code(0);
        assert_eq!(tree(&house), before, "repeated: {repeats}");
        let _ = house
            .reasonix(&["rewind", "1", "--undo", "-q"])
            .expect_code(64);
        assert_eq!(tree(&house), before, "repeated: {repeats}");
        house.log(proto::Pid(1)).check();
    }
}

/// All files of the project, which has no directories.
fn tree(house: &House) -> std::collections::BTreeMap<String, String> {
    let entries = std::fs::read_dir(house.project()).unwrap();
    let files = entries
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_name() != ".git");
    files
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, std::fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

#[test]
fn rewind_and_its_undo_say_which_to_do_list_is_in_force() {
    let todo = json!({"todos": [{"content": "Write it", "active_form": "Writing it", "status": "in_progress"}]});
    let script = Script::new().calls("todo_write", &todo).says("Begun.");
    let house = House::playing(&script.says("Nothing to do."));
    let _ = house.reasonix(&["run", "Begin."]).expect_code(0);
    let _ = house.reasonix(&["run", "-s", "1", "Go on."]).expect_code(0);
    let rewind = |arguments: &[&str]| {
        let line = [&["rewind", "1"], arguments, &["--conversation"]].concat();
        let _ = house.reasonix(&line).expect_code(0);
        let log = house.log(proto::Pid(1));
        log.check();
        let rewound = log.bodies().into_iter().rev().find_map(|body| match body {
            proto::Body::SessionRewound(rewound) => Some(rewound),
            _ => None,
        });
        let todos = rewound.expect("a rewind").todos;
        todos.map(|todos| todos.len())
    };
    assert_eq!(rewind(&["1"]), None, "the list stays");
    assert_eq!(rewind(&["0"]), Some(0));
    assert_eq!(rewind(&["--undo"]), Some(1));
}
