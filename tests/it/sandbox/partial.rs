//! Landlock alone: it restricts files, but neither sockets nor processes. The user is notified, and no decision relies on it.

use proto::item::CallStatus;
use serde_json::json;
use testkit::Script;

use super::{SandboxHouse, attacks};

#[test]
fn a_partial_sandbox_is_reported_and_replaces_no_approval() {
    let Some(place) = SandboxHouse::held_partly() else {
        return;
    };
    let doctor = place.house.reasonix(&["doctor"]).out;
    assert!(
        doctor.contains("partial sandbox") && doctor.contains("sandbox.layer"),
        "{doctor}"
    );
    let status = place.house.reasonix(&["daemon", "status"]).out;
    assert!(status.contains("partial sandbox"), "{status}");

    // `auto` lets file tools work, and asks about commands; so do runs that nobody sits in front of.
    for (name, arguments) in [("one", &["--approval-mode", "auto"][..]), ("two", &[])] {
        let script = Script::new()
            .runs("touch made")
            .calls("write_file", &json!({"path": name, "content": "x"}))
            .says("Done.");
        let done = place.run(&script, arguments);
        let logs = place.house.logs();
        let results = logs.last().expect("a session").check().results();
        assert_eq!(results[0].status, CallStatus::Denied, "{done:?}");
        assert_eq!(results[1].status, CallStatus::Ok, "{done:?}");
        assert!(!place.house.project().join("made").exists());
    }
}

#[test]
fn partial_sandbox_blocks_file_network_and_process_attacks() {
    let Some(place) = SandboxHouse::held_partly() else {
        return;
    };
    let words = place.words();
    let ways = [
        "cat $RXHOME/config.toml",
        "echo x > $OUT/canary",
        "touch $USERHOME/x",
        "kill -9 $DAEMON",
        "python3 -c 'import socket; socket.socket(socket.AF_INET)'",
        attacks::READS_THE_KERNELS_LOG,
        "head -c 1 /dev/kmsg",
        "head -c 1 /proc/kmsg",
        "echo x > /dev/kmsg",
    ];
    let body: String = ways
        .iter()
        .map(|way| format!("( {way} ) >/dev/null 2>&1 && echo REACHED\n"))
        .collect();
    let said = place.sh(&place.script("ways.sh", &format!("{words}{body}echo end\n")));
    assert!(said.contains("end") && !said.contains("REACHED"), "{said}");
    assert!(place.house.daemon_pid().is_some());
}

#[test]
fn daemon_gives_no_answer_to_processes_of_a_sandboxed_command() {
    // Its socket is closed. Even if the user opens it, the daemon knows who speaks.
    let Some(place) = SandboxHouse::held_partly_with("sockets = [\"$SOCKET\"]") else {
        return;
    };
    attacks::assert_question_stays_open(&place);
    assert_eq!(place.house.read("answers"), "", "not a word was heard");
    // Nor to a process that has left its command: it speaks when the shell that started it has ended. (When the command itself
    // ends, its orphans are stopped.)
    let body = format!(
        "{}export REASONIX_HOME=$RXHOME REASONIX_SOCKET=$SOCK RX WS\n{LEAVES}",
        place.words()
    );
    let said = place.sh(&place.script("left.sh", &body));
    assert!(said.contains("sandboxed command"), "{said}");
    assert_eq!(place.house.read("said"), "");
}

/// Starts somebody who calls the daemon without a parent, and waits for the answer.
const LEAVES: &str = r#"
cat > $WS/speak.sh <<'END'
while kill -0 $1 2>/dev/null; do sleep 0.05; done
$RX ls > $WS/said 2> $WS/refused
touch $WS/over
END
sh -c 'setsid sh $WS/speak.sh $$ > /dev/null 2>&1 &'
tries=0
while [ ! -e $WS/over ] && [ $tries -lt 600 ]; do sleep 0.05; tries=$((tries + 1)); done
cat $WS/over $WS/said $WS/refused
"#;
