//! Memory and sockets of commands, end to end.

use std::path::PathBuf;

use proto::item::CallStatus;
use testkit::Script;

use super::{FULL, SandboxHouse, foreign_socket};

/// A command that takes too much memory is ended; the daemon and other commands stay, and the model is informed why.
#[test]
fn a_command_that_takes_too_much_memory_is_ended_and_the_model_is_told() {
    for layer in FULL {
        let Some(place) = SandboxHouse::held_fully_with(layer, "memory_limit_mb = 200") else {
            continue;
        };
        let daemon = place.house.daemon_pid();
        let eats = "python3 -c 'import time
x = []
while True: x.append(bytearray(b\"x\") * (8 << 20)); time.sleep(0.001)'";
        let script = Script::new().runs(eats).runs("echo lives");
        let results = place.results(&script);
        let (status, text) = &results[0];
        assert_eq!(*status, CallStatus::Failed, "{layer}: {text}");
        let words = "killed for its memory: with all its processes it used more than the limit of 200 MB \
                     (`sandbox.memory_limit_mb`)";
        assert!(text.contains(words), "{layer}: {text}");
        assert!(results[1].1.contains("lives"), "{layer}: {results:?}");
        assert_eq!(place.house.daemon_pid(), daemon);
        let doctor = place.house.reasonix(&["doctor"]).out;
        assert!(
            doctor.contains("memory of a command limited to 200 MB by"),
            "{doctor}"
        );
    }
}

/// The sockets that programs leave in a person's home answer nobody in the sandbox, unless the person opens one.
#[test]
fn sockets_in_the_home_answer_only_if_the_user_opens_them() {
    let asks = "python3 -c 'import socket, sys
for name in \"one\", \"two\":
    s = socket.socket(socket.AF_UNIX)
    try: s.connect(\"OUT/\" + name); print(name, \"reached\")
    except OSError as error: print(name, \"closed\")'";
    for layer in FULL {
        let Some(place) = SandboxHouse::held_fully_with(layer, "sockets = ['$SOCKET-one']") else {
            continue;
        };
        let one = PathBuf::from(format!("{}-one", place.house.socket().display()));
        let two = place.house.root().join("out/two");
        let _listening = [one.clone(), two].map(foreign_socket);
        std::os::unix::fs::symlink(&one, place.house.root().join("out/one")).expect("a link");
        let out = place.house.root().join("out").display().to_string();
        let script = Script::new().runs(&asks.replace("OUT", &out));
        let (_, text) = place.results(&script).remove(0);
        assert!(text.contains("one reached\ntwo closed"), "{layer}: {text}");
    }
}
