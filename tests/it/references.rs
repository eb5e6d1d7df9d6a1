//! What prompts refer to: `@path` is read in the daemon, for every client, and stands before the prompt.

use proto::item::CallStatus;
use serde_json::json;
use testkit::model::{Answer, Model, Request};
use tests::House;

use crate::scripted::{Ran, house, run};

fn answering(answers: impl IntoIterator<Item = Answer>) -> (Model, House) {
    let model = Model::start(answers.into_iter().collect::<Vec<_>>());
    let house = house(&model);
    (model, house)
}

/// The user's messages of a request.
fn prompts(request: &Request) -> Vec<String> {
    let messages = request.messages().iter();
    let prompts = messages.filter(|message| message["role"] == "user");
    let text = |message: &serde_json::Value| message["content"].as_str().map(str::to_owned);
    prompts
        .map(|message| text(message).expect("text"))
        .collect()
}

fn notices(ran: &Ran) -> String {
    let texts = ran.all("notice").into_iter();
    let texts: Vec<_> = texts.filter_map(|notice| notice["text"].as_str()).collect();
    texts.join("\n")
}

#[test]
fn files_that_a_prompt_refers_to_stand_before_it_and_stay_there() {
    let (model, house) = answering([
        Answer::text("One."),
        Answer::text("Two."),
        Answer::text("Three."),
    ]);
    house.files("//- src/a.rs\nfn a() {}\n//- src/b.rs\nfn b() {}\n");
    let session = run(&house, &[], "What does @src/a.rs do? Ask ann@example.com.")
        .expect(0, "completed")
        .pid();
    run(&house, &["-s", &session], "And @src/b.rs:1, @src?").expect(0, "completed");
    house.kill_daemon_and_parent();
    house.daemon();
    run(&house, &["-s", &session], "Thanks.").expect(0, "completed");
    model.assert_prefix();
    let prompts = prompts(&model.requests()[2]);
    assert!(
        prompts[0].contains("<file path=\"src/a.rs\">\nfn a() {}\n</file>"),
        "{prompts:#?}"
    );
    assert!(prompts[0].ends_with("What does @src/a.rs do? Ask ann@example.com."));
    assert!(
        prompts[1].contains("<file path=\"src/b.rs:1-1\">\nfn b() {}\n</file>\n<directory path=\"src\">\na.rs\nb.rs\n</directory>"),
        "{prompts:#?}"
    );
    assert_eq!(prompts[2], "Thanks.");
}

#[test]
fn file_that_was_referred_to_as_a_whole_can_be_edited_at_once() {
    let edit = |old: &str| {
        let arguments = json!({"path": "a.txt", "old_string": old, "new_string": "new"});
        Answer::call("edit_file", arguments)
    };
    let (model, house) = answering([edit("old"), Answer::text("Done.")]);
    house.files("//- a.txt\nold\n");
    run(&house, &["--on-ask", "allow"], "Change @a.txt").expect(0, "completed");
    let log = &house.logs()[0];
    let results = log.results();
    assert_eq!(results[0].status, CallStatus::Ok, "{results:?}");
    assert_eq!(house.read("a.txt"), "new\n");
    assert_eq!(model.count(), 2);
}

#[test]
fn files_that_rules_deny_are_not_sent() {
    let (model, house) = answering([Answer::text("One.")]);
    house.settings("[permissions]\ndeny = [\"Read(secret/**)\"]\n");
    house.files("//- secret/key.txt\nvery secret\n//- plain.txt\nplain text\n");
    let ran = run(&house, &[], "Compare @secret/key.txt with @plain.txt").expect(0, "completed");
    let body = String::from_utf8_lossy(&model.requests()[0].body).into_owned();
    assert!(
        body.contains("plain text") && !body.contains("very secret"),
        "{body}"
    );
    assert!(
        notices(&ran).contains("`@secret/key.txt` is not attached: `Read(secret/**)` denies it."),
        "{}",
        notices(&ran)
    );
}

#[test]
fn rules_of_the_run_count_for_its_first_prompt() {
    let (model, house) = answering([Answer::text("One.")]);
    house.files("//- secret.txt\nvery secret\n");
    let ran = run(&house, &["--deny", "Read(secret.txt)"], "See @secret.txt");
    let ran = ran.expect(0, "completed");
    let body = String::from_utf8_lossy(&model.requests()[0].body).into_owned();
    assert!(!body.contains("very secret"), "{body}");
    assert!(notices(&ran).contains("denies it"), "{}", notices(&ran));
}

#[test]
fn whatever_cannot_be_attached_is_told_and_the_turn_goes_on() {
    let (model, house) = answering([Answer::text("Done.")]);
    let project = house.project();
    let made = std::process::Command::new("mkfifo")
        .arg(project.join("pipe.txt"))
        .status();
    assert!(made.expect("mkfifo").success());
    std::os::unix::fs::symlink("/etc/passwd", project.join("link.txt")).expect("link");
    std::fs::create_dir(project.join("many")).expect("directory");
    for n in 0..2_000 {
        std::fs::write(project.join(format!("many/{n}")), "").expect("file");
    }
    house.files(&format!(
        "//- big.txt\n{}",
        "a line of some words\n".repeat(100_000)
    ));
    let prompt = "@pipe.txt @link.txt @none.txt @many @big.txt";
    let ran = run(&house, &[], prompt).expect(0, "completed");
    let notices = notices(&ran);
    for expected in [
        "`@pipe.txt` is not attached: `",
        "`@link.txt` is not attached: its links lead out of the workspace, to `/etc/passwd`",
        "`@none.txt` is not attached: there is no such file or directory.",
        "`big.txt` is attached only up to line",
        "`many` is listed only in part: 500 entries.",
    ] {
        assert!(notices.contains(expected), "{expected}: {notices}");
    }
    let prompts = prompts(&model.requests()[0]);
    assert!(prompts[0].contains("[only 500 entries are listed]"));
    assert!(prompts[0].contains("[cut here: the file has 100000 lines]"));
    assert!(!prompts[0].contains("root:"), "{prompts:#?}");
    assert!(prompts[0].ends_with(prompt));
}

#[test]
fn files_are_attached_by_an_option_too() {
    let (model, house) = answering([Answer::text("Done.")]);
    house.files("//- my notes.txt\nNotes.\n");
    let file = house.project().join("my notes.txt");
    run(&house, &["--file", file.to_str().expect("text")], "Read.").expect(0, "completed");
    let prompts = prompts(&model.requests()[0]);
    assert!(
        prompts[0].contains("<file path=\"my notes.txt\">\nNotes.\n</file>"),
        "{prompts:#?}"
    );
    let refused = house
        .reasonix(&["run", "--file", "none.txt", "Read."])
        .expect_code(64);
    assert!(
        refused.err.contains("cannot attach `none.txt`"),
        "{refused:?}"
    );
}
