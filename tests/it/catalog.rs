//! The catalog is only an index: deleted, damaged or old, it changes no answer. Names and numbers of sessions.

use std::fs;

use proto::Pid;
use proto::hello::Role;
use serde_json::{Value, json};
use testkit::Script;
use tests::{Done, House};

/// A stopped house with three sessions in several states.
fn stored() -> House {
    let house = House::playing(&Script::new().says("Hello.").says("Again."));
    let _ = house
        .reasonix(&["run", "--name", "first", "--label", "night", "one"])
        .expect_code(0);
    let _ = house.reasonix(&["run", "two"]).expect_code(0);
    let _ = house
        .reasonix(&["run", "-s", "first", "three"])
        .expect_code(0);
    let mut raw = house.raw_as(Role::Drive);
    let params = json!({"session": "0189aaaa-0000-7000-8000-000000000001", "cwd": house.project(), "name": "idle one"});
    raw.call("session.create", &params).expect("create");
    drop(raw);
    house.stop_daemon();
    house
}

/// What the listings say, without the number of the newest change, which is another one for each daemon.
fn listings(house: &House) -> [Value; 2] {
    let list = |arguments: &[&str]| -> Value {
        let mut listed: Value = Done::json(&house.reasonix(arguments).expect_code(0));
        if let Some(listing) = listed.as_object_mut() {
            listing.remove("change");
        }
        listed
    };
    [list(&["ls", "--json"]), list(&["ps", "-a", "--json"])]
}

/// Removes the catalog and what SQLite keeps beside it.
fn delete(house: &House) {
    let mut deleted = 0;
    for entry in fs::read_dir(house.home()).expect("the home").flatten() {
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with("reasonix.db")
        {
            fs::remove_file(entry.path()).expect("remove the catalog");
            deleted += 1;
        }
    }
    assert!(deleted > 0, "there was a catalog");
}

#[test]
fn a_deleted_catalog_changes_no_answer() {
    let house = stored();
    let before = {
        house.daemon();
        listings(&house)
    };
    assert_eq!(before[0].as_array().map(Vec::len), Some(3));
    house.stop_daemon();
    delete(&house);
    house.daemon();
    assert_eq!(listings(&house), before);
    // Also lookups by name and by a part of the id.
    for name in ["first", "idle one", "0189aaaa", "1"] {
        let _ = house.reasonix(&["logs", name]).expect_code(0);
    }
}

#[test]
fn a_damaged_catalog_is_made_again() {
    let house = stored();
    let before = {
        house.daemon();
        listings(&house)
    };
    house.stop_daemon();
    delete(&house);
    fs::write(
        house.home_file("reasonix.db"),
        "this is not a database, whatever its name says\n".repeat(100),
    )
    .expect("damage it");
    house.daemon();
    assert_eq!(listings(&house), before);
}

#[test]
fn doctor_makes_the_catalog_again_while_everything_runs() {
    let house = stored();
    house.daemon();
    let before = listings(&house);
    let doctor = house.reasonix(&["doctor", "--rebuild-index"]);
    assert!(
        doctor.out.contains("rebuilt from the logs: 3 sessions"),
        "{doctor:?}"
    );
    assert_eq!(listings(&house), before);
    // And it goes on being kept.
    let _ = house.reasonix(&["run", "more"]).expect_code(0);
    assert_eq!(listings(&house)[0].as_array().map(Vec::len), Some(4));
}

#[test]
fn a_session_with_an_invalid_log_is_left_out_and_reported() {
    let house = stored();
    let strange = house
        .home()
        .join("sessions")
        .join("0189aaaa-0000-7000-8000-0000000000ff");
    fs::create_dir(&strange).expect("a directory");
    fs::write(strange.join("log.jsonl"), "not a record\n".repeat(3)).expect("a log that is none");
    fs::create_dir(house.home().join("sessions").join("not-a-session")).expect("a directory");
    delete(&house);
    house.daemon();
    assert_eq!(listings(&house)[0].as_array().map(Vec::len), Some(3));
    let doctor = house.reasonix(&["doctor", "--rebuild-index"]);
    assert!(doctor.out.contains("0000000000ff"), "{doctor:?}");
    assert_eq!(
        fs::read_to_string(strange.join("log.jsonl"))
            .expect("still there")
            .lines()
            .count(),
        3
    );
}

#[test]
fn names_that_are_paths_or_nothing_are_refused() {
    let house = stored();
    fs::write(house.root().join("secret"), "kept to itself").expect("a file outside");
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    for name in [
        "",
        " ",
        "..",
        "../x",
        "a/b",
        "../../secret",
        "/etc/passwd",
        "x\0y",
        "\n",
        "0189",
        "018",
        "99",
    ] {
        for method in [
            "session.get",
            "session.read",
            "session.attach",
            "session.wait",
            "session.prompt",
            "session.signal",
        ] {
            let params = json!({"session": name, "from_seq": 1, "subscription": "s", "text": "x", "signal": "INT"});
            // Four characters of an id are enough if they are unique.
            if name == "0189" {
                continue;
            }
            let refused = raw.call(method, &params).expect_err(name);
            assert_eq!(
                refused.name,
                proto::ErrorName::NotFound,
                "{method} {name:?}: {refused:?}"
            );
        }
    }
    for id in [
        "../x",
        "a/b",
        "",
        "0189aaaa-0000-7000-8000-000000000001/../x",
    ] {
        let refused = raw
            .call(
                "session.create",
                &json!({"session": id, "cwd": house.project()}),
            )
            .expect_err("no id");
        assert_eq!(refused.name, proto::ErrorName::InvalidParams, "{id:?}");
    }
    assert_eq!(house.logs().len(), 3);
}

#[test]
fn numbers_are_never_used_again() {
    let house = House::playing(&Script::new().says("Hello."));
    let mut last = 0;
    for round in 0..4 {
        for _ in 0..2 {
            let pid = house
                .reasonix(&["run", "--output-format", "json", "x"])
                .expect_code(0)
                .json()["pid"]
                .as_u64()
                .expect("a pid");
            assert!(pid > last, "{pid} after {last}, in round {round}");
            last = pid;
        }
        match round {
            0 => house.stop_daemon(),
            // A crash may skip numbers.
            1 => house.kill_daemon_and_parent(),
            // The newest session is gone with its log, and so is the catalog: its number is not free again.
            _ => {
                house.stop_daemon();
                let newest = house.log(Pid(last)).path;
                fs::remove_dir_all(newest.parent().expect("its directory"))
                    .expect("delete the session");
                delete(&house);
            }
        }
    }
}

#[test]
fn listings_filter_and_page() {
    let house = House::playing(&Script::new().says("Hello."));
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let elsewhere = house.root().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a directory");
    for number in 0..7 {
        let cwd = if number % 2 == 0 {
            house.project()
        } else {
            elsewhere.clone()
        };
        let labels = if number == 3 {
            json!(["marked"])
        } else {
            json!([])
        };
        let id = format!("0189aaaa-0000-7000-8000-00000000000{number}");
        raw.call(
            "session.create",
            &json!({"session": id, "cwd": cwd, "labels": labels}),
        )
        .expect("create");
    }
    let pids = |answer: &Value| -> Vec<u64> {
        answer["sessions"]
            .as_array()
            .expect("sessions")
            .iter()
            .filter_map(|session| session["pid"].as_u64())
            .collect()
    };
    let mut seen = Vec::new();
    let mut before = Value::Null;
    loop {
        let page = raw
            .call("session.list", &json!({"limit": 3, "before": before}))
            .expect("a page");
        seen.extend(pids(&page));
        before = page["next"].clone();
        if before.is_null() {
            break;
        }
    }
    assert_eq!(seen, [7, 6, 5, 4, 3, 2, 1], "newest first, each once");
    let list = |raw: &mut tests::Raw, params: Value| {
        pids(&raw.call("session.list", &params).expect("a list"))
    };
    assert_eq!(list(&mut raw, json!({"cwd": elsewhere})), [6, 4, 2]);
    assert_eq!(list(&mut raw, json!({"label": "marked"})), [4]);
    raw.call("session.close", &json!({"session": "5"}))
        .expect("close");
    assert_eq!(list(&mut raw, json!({"state": "exited"})), [5]);
    assert_eq!(list(&mut raw, json!({"state": "idle"})), [7, 6, 4, 3, 2, 1]);
}

#[test]
fn a_home_that_takes_no_catalog_is_served_all_the_same() {
    let house = stored();
    let before = {
        house.daemon();
        listings(&house)
    };
    house.stop_daemon();
    delete(&house);
    // Nothing can be opened there, and nothing moved away.
    fs::create_dir_all(house.home().join("reasonix.db/x")).expect("make a directory");
    house.daemon();
    assert_eq!(listings(&house), before);
}
