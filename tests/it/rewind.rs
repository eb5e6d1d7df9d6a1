//! Going back with the real programs: files that a tool and a command have changed, in a git work tree.

use proto::hello::Role;
use proto::methods::{SessionCheckpoints, SessionRewind};
use proto::params::history::RewindParams;
use proto::params::session::OneParams;
use serde_json::json;
use testkit::Script;
use tests::House;

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
    if !git.is_ok_and(|status| status.success()) {
        return;
    }
    house.daemon();
    let _ = house
        .reasonix(&["run", "--on-ask", "allow", "Mend the greeting"])
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
        let wish = RewindParams {
            session: "1".into(),
            to_turn: Some(0),
            ..RewindParams::default()
        };
        let told = client.call::<SessionRewind>(&wish).await.unwrap();
        assert_eq!(house.read("greet.sh"), "echo helo\n", "{told:?}");
        assert_eq!(house.read("notes"), "mine\n", "{told:?}");
        assert!(!house.project().join("made").exists(), "{told:?}");
        let undo = RewindParams {
            session: "1".into(),
            undo: true,
            ..RewindParams::default()
        };
        let told = client.call::<SessionRewind>(&undo).await.unwrap();
        assert_eq!(house.read("greet.sh"), "echo hello\n# done\n", "{told:?}");
        assert_eq!(house.read("made/new"), "n\n", "{told:?}");
        assert!(!house.project().join("notes").exists(), "{told:?}");
    });
}
