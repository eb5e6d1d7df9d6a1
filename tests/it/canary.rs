//! A key is put where keys belong, a whole life is lived with it, and then it is searched for everywhere else (I11).

use std::path::Path;

use proto::hello::Role;
use serde_json::json;
use testkit::model::{Answer, Fault, Model};
use tests::program::run;
use tests::{Done, House};

use crate::scripted::FAST_RETRIES;

const IN_ENVIRONMENT: &str = "cnry-Zq81Xw77aa55bb33-Env";
const IN_STORE: &str = "cnry-Pk42Lm90cc11dd66-Store";
const IN_DOTENV: &str = "cnry-Rt63Gh58ee22ff77-Dotenv";
const IN_HEADER: &str = "cnry-Wv74Jn36gg44hh88-Header";
const ALL: [&str; 4] = [IN_ENVIRONMENT, IN_STORE, IN_DOTENV, IN_HEADER];

/// What nobody else may read of a key: it, and what its encodings have in their middle.
fn traces(key: &str) -> Vec<String> {
    let mut traces = vec![
        key.to_owned(),
        key.replace('-', "%2D"),
        key.replace('-', "%2d"),
    ];
    for before in ["", "x", "xy"] {
        let text = base64(format!("{before}{key}").as_bytes());
        // Without what depends on the letters beside it.
        traces.push(text[4..text.len() - 4].to_owned());
    }
    traces.push(key.bytes().map(|byte| format!("{byte:02x}")).collect());
    traces
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = bytes.chunks(3).map(|group| {
        let at = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        let all: String = (0..4)
            .map(|index| char::from(LETTERS[(bits >> (18 - 6 * index) & 63) as usize]))
            .collect();
        all[..group.len() + 1].to_owned()
    });
    groups.collect()
}

#[track_caller]
fn assert_clean(what: &str, text: &str) {
    for key in ALL {
        for trace in traces(key) {
            assert!(
                !text.contains(&trace),
                "{what} holds `{trace}` of {key}:\n{text}"
            );
        }
    }
}

/// Every file below a directory, but those where a key was put.
fn search(directory: &Path, but: &[&str]) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let (path, name) = (
            entry.path(),
            entry.file_name().to_string_lossy().into_owned(),
        );
        if path.is_symlink() || but.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            count += search(&path, but);
        } else if path.is_file() {
            let bytes = std::fs::read(&path).expect("a file");
            assert_clean(
                &path.display().to_string(),
                &String::from_utf8_lossy(&bytes),
            );
            count += 1;
        }
    }
    count
}

/// Refusals that say the key again, in all the ways in which vendors and their proxies do.
fn echoes(key: &str) -> Vec<Answer> {
    let bodies = [
        json!({"error": {"message": format!("Incorrect API key provided: {key}. Look at your account.")}}).to_string(),
        json!({"error": {"message": "no", "code": key, "type": key}, "headers": {"authorization": format!("Bearer {key}")}}).to_string(),
        format!("upstream said: Authorization: Bearer {key}\r\nx-key={}", key.replace('-', "%2D")),
        format!("<html>{key}</html>"),
        json!({"detail": base64(format!("user:{key}").as_bytes())}).to_string(),
        json!({"msg": format!("key {} {}", &key[..9], &key[9..])}).to_string(),
    ];
    let mut answers: Vec<_> = bodies
        .iter()
        .zip([401, 403, 500, 502, 400, 429])
        .map(|(body, status)| {
            Answer::text("").fault(Fault::Status {
                status,
                retry_after: Some(key.to_owned()),
                body: body.clone(),
            })
        })
        .collect();
    answers.push(Answer::text("").fault(Fault::ErrorDocument(
        json!({"error": {"message": format!("bad {key}")}}).to_string(),
    )));
    answers
}

#[test]
fn a_key_is_found_nowhere_but_where_it_was_put() {
    let mut answers = Vec::new();
    for key in [IN_ENVIRONMENT, IN_HEADER] {
        answers.extend(echoes(key));
    }
    let model = Model::start(answers);
    let house = House::new();
    house.settings(&format!(
        "{FAST_RETRIES}retry_cap_seconds = 1\n[daemon]\nlog = \"trace\"\n"
    ));
    let header = format!(
        "{}headers = {{ \"x-proxy\" = \"{IN_HEADER}\" }}",
        model.entry("acme", Some("ACME_KEY"))
    );
    house.provider(&header);
    house.provider("name = \"other\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\napi_key_env = \"OTHER_KEY\"");
    house.files(&format!(
        "//- .env\nOTHER_KEY={IN_DOTENV}\n//- a.txt\nwords\n"
    ));

    let mut said: Vec<(String, Done)> = Vec::new();
    let mut ran = |arguments: &[&str]| {
        let done = run(house
            .command(arguments)
            .env("ACME_KEY", IN_ENVIRONMENT)
            .env("NPM_TOKEN", IN_ENVIRONMENT));
        said.push((arguments.join(" "), done));
    };
    let stored = run_reading(
        &house,
        &["login", "acme", "--key-stdin", "--no-probe"],
        &format!("{IN_STORE}\n"),
    );
    ran(&["trust", "--show"]);
    ran(&["trust", "--yes"]);
    for _ in 0..8 {
        ran(&["run", "hello"]);
        ran(&["run", "--output-format", "jsonl", "hello"]);
    }
    model.push([
        Answer::call(
            "bash",
            json!({"command": "env; printenv ACME_KEY; printenv NPM_TOKEN"}),
        ),
        Answer::call(
            "bash",
            json!({"command": "cat /proc/self/environ /proc/$PPID/environ; false"}),
        ),
        Answer::call(
            "read_file",
            json!({"path": house.home_file("credentials.toml").to_string_lossy()}),
        ),
        Answer::call(
            "grep",
            json!({"pattern": "cnry", "path": house.home().to_string_lossy()}),
        ),
        Answer::call("nosuch", json!({"a": 1})),
        Answer::text("Done."),
    ]);
    ran(&["run", "--on-ask", "allow", "--name", "tools", "look"]);
    assert!(model.requests().iter().any(
        |request| request.authorization.as_deref() == Some(&format!("Bearer {IN_ENVIRONMENT}"))
    ));
    for part in ["status", "context", "files", "children", "env"] {
        ran(&["inspect", "tools", part]);
        ran(&["inspect", "tools", part, "--json"]);
    }
    for arguments in [
        &["doctor"][..],
        &["doctor", "--probe"],
        &["doctor", "--json"],
        &["config"],
        &["config", "--json"],
        &["models"],
        &["models", "--json"],
        &["ls", "-a", "--json"],
        &["ps", "-a", "--json"],
        &["show", "tools"],
        &["logs", "tools"],
        &["steps", "tools"],
        &["steps", "tools", "--json"],
        &["strace", "tools"],
        &["strace", "1"],
        &["stats", "--json"],
        &["export", "tools"],
        &["export", "1"],
        &["search", "cnry"],
        &["daemon", "status"],
        &["daemon", "logs"],
        &["run", "--model", "other", "hello"],
        &["trust", "--json"],
        &["inbox"],
    ] {
        ran(arguments);
    }
    said.push(("login".to_owned(), stored));
    for (what, done) in &said {
        assert_clean(what, &format!("{}{}", done.out, done.err));
    }
    assert!(
        said.iter()
            .any(|(_, done)| format!("{}{}", done.out, done.err).contains("***")),
        "the echoes were reported, without the key"
    );

    // Every event, over the socket.
    let mut raw = house.raw_as(Role::Watch);
    let list = raw.call("session.list", &json!({})).expect("the sessions");
    let count = list["sessions"].as_array().map_or(0, Vec::len);
    assert!(count > 10, "{list}");
    for pid in 1..=count {
        let read = raw
            .call(
                "session.read",
                &json!({"session": pid.to_string(), "from_seq": 1, "limit": 1000}),
            )
            .expect("its records");
        assert_clean(&format!("the events of {pid}"), &read.to_string());
    }
    drop(raw);
    let _ = house.reasonix(&["daemon", "stop"]);

    let files = search(&house.home(), &["credentials.toml", "config.toml"]);
    assert!(files > 20, "{files} files were searched");
    let stored = std::fs::read_to_string(house.home_file("credentials.toml")).expect("the store");
    assert!(stored.contains(IN_STORE), "the search would have found it");
}

fn run_reading(house: &House, arguments: &[&str], stdin: &str) -> Done {
    house.reasonix_reading(arguments, stdin).expect_code(0)
}
